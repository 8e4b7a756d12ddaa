"""Plays a script on a real tree, on virtual time, and compares each step with its prediction."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import trio
import trio.testing

from supervisors import (
    Address,
    ChildSpec,
    Crashed,
    ExitKind,
    GaveUp,
    Ignore,
    Inbox,
    Notice,
    NoticeStream,
    OrderlyExit,
    Phase,
    Ready,
    Restarting,
    Shutdown,
    Spec,
    Started,
    Stopped,
    SupervisionError,
    Supervisor,
    SupervisorOptions,
    SupervisorSpec,
    TreeNode,
    open_supervisor,
)
from supervisors.testing import crash, freeze
from tests.supervisors.model.plans import (
    BRUTAL,
    INFINITE,
    Count,
    CrashTeam,
    Delete,
    Describe,
    Finish,
    Freeze,
    NextStarts,
    Plan,
    Request,
    RestartChild,
    Start,
    Step,
    Team,
    Terminate,
    Thaw,
    Wait,
    Worker,
    spell,
    spell_step,
)
from tests.supervisors.model.rehearsal import Prediction, Script
from tests.supervisors.model.trace import Event, explains, spell_trace

# Virtual seconds. A script lasts minutes; who is not done by then waits for something for ever.
LONG = 100_000.0


class Disagreement(AssertionError):
    """The real tree did not do what the rules say."""


class Deliberate(Exception):
    """What a worker crashes with, because it was told to."""


def perform(script: Script) -> None:
    """Play it; Disagreement at the first step that goes otherwise than predicted."""
    stage = _Stage(script)
    with _silence():
        trio.run(stage.play, clock=trio.testing.MockClock(autojump_threshold=0))
    if stage.disagreement is not None:
        raise Disagreement(stage.disagreement) from stage.raised


@dataclass
class _Stage:
    script: Script
    disagreement: str | None = None
    raised: Exception | None = None
    answers: dict[int, str] = field(default_factory=dict[int, str])
    addresses: dict[str, Address[ExitKind]] = field(default_factory=dict[str, Address[ExitKind]])
    outcomes: dict[str, list[ExitKind]] = field(default_factory=dict[str, list[ExitKind]])
    asked: int = 0

    async def play(self) -> None:
        # Who is still frozen when the host leaves stays so: both end after the block.
        with (
            trio.move_on_after(LONG) as patience,
            ExitStack() as reading,
            ExitStack() as self.frozen,
        ):
            try:
                async with open_supervisor("r", **self.options(self.script.plan)) as self.root:
                    self.notices = reading.enter_context(self.root.notices(10_000))
                    await self.play_steps()
            except Exception as error:  # noqa: BLE001  whatever leaves the block is compared
                self.raised = error
            if self.disagreement is None:
                self.compare_raised(self.script.predictions[-1])
            if self.disagreement is None:
                self.compare(self.script.predictions[-1])
        if patience.cancelled_caught:
            self.disagreement = f"stuck for {LONG:g} s\n{self.disagreement}"

    async def play_steps(self) -> None:
        async with trio.open_nursery() as self.nursery:
            self.nursery.start_soon(self.play_in_order)
            # The host waits for the root's end: so it does not cancel this block.
            await self.root.wait()
            await trio.sleep_forever()

    async def play_in_order(self) -> None:
        for prediction in self.script.predictions[:-1]:
            assert prediction.step is not None
            await trio.testing.wait_all_tasks_blocked()
            await self.do(prediction.step)
            await trio.sleep_until(prediction.now)
            await trio.testing.wait_all_tasks_blocked()
            self.compare(prediction)
            if self.disagreement is not None:
                break
        self.nursery.cancel_scope.cancel()

    async def do(self, step: Step) -> None:
        match step:
            case Wait():
                pass
            case NextStarts(path=path, outcomes=outcomes):
                self.outcomes[path] = list(outcomes)
            case Finish(path=path, how=how):
                await self.addresses[path].tell(how)
            case CrashTeam(path=path):
                self.nursery.start_soon(crash, self.supervisor(path))
            case Freeze(path=path):
                self.frozen.enter_context(freeze(self.supervisor(path)))
            case Thaw():
                self.frozen.close()
            case _:
                self.asked += 1
                self.nursery.start_soon(self.ask, self.asked, step)

    async def ask(self, number: int, request: Request) -> None:
        try:
            self.answers[number] = await self.answer(self.supervisor(request.path), request)
        except SupervisionError as error:
            self.answers[number] = type(error).__name__

    async def answer(self, supervisor: Supervisor, request: Request) -> str:
        match request:
            case Count():
                count = await supervisor.count()
                return (
                    f"{count.specs} specs, {count.active} active, "
                    f"{count.supervisors} supervisors, {count.workers} workers"
                )
            case Describe():
                children = await supervisor.children()
                return ", ".join(f"{child.name} {child.phase.value}" for child in children)
            case Start(plan=plan):
                if isinstance(plan, Team):
                    await supervisor.start(self.team_spec(plan))
                else:
                    await supervisor.start(self.worker_spec(plan))
            case Terminate(child=child):
                await supervisor.terminate(child)
            case RestartChild(child=child):
                await supervisor.restart(child)
            case Delete(child=child):
                await supervisor.delete(child)
        return "ok"

    def supervisor(self, path: str) -> Supervisor:
        supervisor = self.root
        for name in path.split("/")[1:]:
            supervisor = supervisor.supervisor(name)
        return supervisor

    def compare(self, prediction: Prediction) -> None:
        seen = list(events(self.notices))
        if not explains(prediction.trace, seen):
            self.disagree(prediction, "trace", spell_trace(prediction.trace), map(str, seen))
        elif prediction.step is not None and self.answers != prediction.answers:
            self.disagree(
                prediction,
                "answers",
                spell_answers(prediction.answers),
                spell_answers(self.answers),
            )
        elif (picture := self.picture()) != prediction.picture:
            self.disagree(prediction, "tree", prediction.picture, picture)

    def compare_raised(self, prediction: Prediction) -> None:
        real = type(self.raised).__name__ if self.raised else None
        if self.script.raised != real:
            self.disagree(prediction, "error", [str(self.script.raised)], [str(real)])

    def picture(self) -> list[str]:
        nodes = living(self.root.tree())
        return [f"{node.path} {node.phase.value}, life {node.life}" for node in nodes]

    def disagree(
        self, at: Prediction, what: str, predicted: Iterable[str], real: Iterable[str]
    ) -> None:
        number = self.script.predictions.index(at)
        steps = [spell_step(each.step) for each in self.script.predictions[: number + 1]]
        story = [f"{index:3}  {step}" for index, step in enumerate(steps, start=1)]
        self.disagreement = "\n".join(
            [
                f"the {what} of the last step is not as the rules say",
                *("", "tree:", spell(self.script.plan)),
                *("", "script:", *story),
                *("", f"{what}, by the rules:", *predicted),
                *("", f"{what}, in the real tree:", *real),
            ]
        )

    def options(self, team: Team) -> SupervisorOptions:
        return SupervisorOptions(
            strategy=team.strategy,
            intensity=team.intensity,
            period=team.period,
            auto_shutdown=team.auto_shutdown,
            max_children=team.max_children,
            children=[self.spec(child) for child in team.children],
        )

    def spec(self, plan: Plan) -> Spec:
        return self.team_spec(plan) if isinstance(plan, Team) else self.worker_spec(plan)

    def team_spec(self, team: Team) -> SupervisorSpec:
        options = self.options(team)
        return SupervisorSpec(
            team.name, restart=team.restart, significant=team.significant, **options
        )

    def worker_spec(self, plan: Worker) -> ChildSpec[ExitKind]:
        async def worker(inbox: Inbox[ExitKind]) -> None:
            self.addresses[inbox.address.path] = inbox.address
            outcomes = self.outcomes.get(inbox.address.path)
            if outcomes:
                finish(outcomes.pop(0))
            try:
                async for how in inbox:
                    finish(how)
                    return
            except trio.Cancelled:
                if plan.cleanup:
                    with inbox.grace():
                        await trio.sleep(plan.cleanup)
                raise

        return ChildSpec(
            plan.name,
            worker,
            restart=plan.restart,
            significant=plan.significant,
            shutdown={BRUTAL: Shutdown.BRUTAL, INFINITE: Shutdown.INFINITE}.get(
                plan.patience, plan.patience
            ),
        )


def living(node: TreeNode) -> Iterator[TreeNode]:
    """The node and all below it that has a living supervisor."""
    yield node
    if node.phase is Phase.RUNNING:
        for child in node.children:
            yield from living(child)


def finish(how: ExitKind) -> None:
    match how:
        case ExitKind.CRASHED:
            raise Deliberate
        case ExitKind.SHUTDOWN:
            raise OrderlyExit
        case ExitKind.IGNORED:
            raise Ignore
        case _:
            pass


def events(notices: NoticeStream) -> Iterator[Event]:
    """What the notices since the last call say, in the model's words."""
    return (Event(notice.time, notice.path, words(notice)) for notice in notices.seen_so_far())


def words(notice: Notice) -> str:
    match notice:
        case Started(life=life) | Ready(life=life) | Crashed(life=life):
            return f"{type(notice).__name__.lower()} {life}"
        case Stopped(life=life, exit=exit):
            return f"{exit.kind.value} {life}"
        case Restarting(delay=delay):
            return f"restarting in {delay:g} s"
        case GaveUp(child=child):
            return f"gave up on {child}"
        case _:
            return repr(notice)


def spell_answers(answers: dict[int, str]) -> list[str]:
    return [f"request {number}: {answer}" for number, answer in sorted(answers.items())]


@contextmanager
def _silence() -> Generator[None]:
    logger = logging.getLogger("supervisors")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
