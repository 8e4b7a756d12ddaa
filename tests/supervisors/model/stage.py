"""Plays a script on a real tree, on virtual time, and compares it with the prediction at each step."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
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
    SupervisorGaveUp,
    SupervisorOptions,
    SupervisorSpec,
    TreeNode,
    open_supervisor,
)
from supervisors.testing import InjectedCrash, crash, freeze
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
)
from tests.supervisors.model.trace import Event, Trace, explains, spell_trace

# Virtual seconds. A script lasts minutes; who is not done by then waits for something for ever.
LONG = 100_000.0


@dataclass(frozen=True)
class Prediction:
    """What the model says about one step: when all is at rest again, and how things stand then."""

    step: Step | None
    now: float
    trace: Trace
    answers: dict[int, str]
    picture: list[str]


@dataclass(frozen=True)
class Script:
    """A tree, what is done to it, and what must come of it."""

    plan: Team
    predictions: Sequence[Prediction]
    raised: str | None


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
        raise Disagreement(stage.disagreement)


@dataclass
class _Stage:
    script: Script
    disagreement: str | None = None
    answers: dict[int, str] = field(default_factory=dict[int, str])
    addresses: dict[str, Address[ExitKind]] = field(default_factory=dict[str, Address[ExitKind]])
    outcomes: dict[str, list[ExitKind]] = field(default_factory=dict[str, list[ExitKind]])
    asked: int = 0

    async def play(self) -> None:
        raised: str | None = None
        with trio.move_on_after(LONG) as patience, ExitStack() as reading:
            try:
                async with open_supervisor("r", **self.options(self.script.plan)) as self.root:
                    self.notices = reading.enter_context(self.root.notices(10_000))
                    await self.play_steps()
            except (SupervisorGaveUp, InjectedCrash) as error:
                raised = type(error).__name__
            if self.disagreement is None:
                self.compare(self.script.predictions[-1])
                self.expect("what the host's block raised", self.script.raised, raised)
        if patience.cancelled_caught:
            self.disagreement = f"stuck for {LONG:g} s\n{self.disagreement}"

    async def play_steps(self) -> None:
        with ExitStack() as self.frozen:
            async with trio.open_nursery() as self.nursery:
                # Somebody waits for the root's end: so it does not cancel this block.
                self.nursery.start_soon(self.root.wait)
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
            case Start(plan=Worker() as plan):
                await supervisor.start(self.worker_spec(plan))
            case Start(plan=Team() as plan):
                await supervisor.start(self.team_spec(plan))
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
        elif self.answers != prediction.answers:
            self.disagree(
                prediction, "answers", spell_answers(prediction.answers), spell_answers(self.answers)
            )
        elif (picture := self.picture()) != prediction.picture:
            self.disagree(prediction, "tree", prediction.picture, picture)

    def expect(self, what: str, predicted: str | None, real: str | None) -> None:
        if self.disagreement is None and predicted != real:
            self.disagree(self.script.predictions[-1], what, [str(predicted)], [str(real)])

    def picture(self) -> list[str]:
        nodes = living(self.root.tree())
        return [f"{node.path} {node.phase.value}, life {node.life}" for node in nodes]

    def disagree(
        self, at: Prediction, what: str, predicted: Iterator[str] | list[str], real: Iterator[str] | list[str]
    ) -> None:
        number = self.script.predictions.index(at)
        steps = [str(each.step or "Leave()") for each in self.script.predictions[: number + 1]]
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
        case Started(life=life):
            return f"started {life}"
        case Ready(life=life):
            return f"ready {life}"
        case Crashed(life=life):
            return f"crashed {life}"
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
def _silence() -> Iterator[None]:
    logger = logging.getLogger("supervisors")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
