"""What the app's keys and palette do with an avatar: each asks, acts, and tells the result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec
from rich.text import Text

from avatar_actors import (
    AgentNeedsLogin,
    AgentNotFound,
    Avatar,
    AvatarError,
    CancelResult,
    Choice,
    Escalation,
    PermissionEvent,
    ProviderCapabilities,
    StoredSession,
    WhileBusy,
    ready_agents,
)
from avatar_actors.cli.display.permission_question import named
from avatar_actors.cli.exit_codes import failure_of
from avatar_actors.cli.terminal.formatting import ago, moment_of
from avatar_actors.cli.terminal.permissions import Approvals, ToolInput, edited
from avatar_actors.cli.terminal.questions import QuestionForm
from avatar_actors.cli.terminal.text import one_line

if TYPE_CHECKING:
    from avatar_actors.gui.app import AvatarApp
    from avatar_actors.gui.pane import AvatarPane

EMBEDDED: Final = "embedded"
_ANSWER: Final = "answer"
_STOPPED: Final = {
    CancelResult.STOPPED: "stopped",
    CancelResult.ALREADY_DONE: "it had already ended",
    CancelResult.ESCALATED: "the turn was ended",
    CancelResult.UNSUPPORTED: "it goes on",
}
KEY_HELP: Final = (
    ("enter", "send; while the avatar works, you are asked how"),
    ("shift+enter, ^J", "a new line"),
    ("up, down", "what you sent before, at the edges of the input"),
    ("esc", "end the turn; twice: clear the input"),
    ("y n a e", "answer a permission request: yes, no, always, edit (with an empty input)"),
    ("tab", "conversation, activities, input"),
    ("page up, page down, wheel", "scroll the conversation"),
    ("alt+up, alt+down", "choose a block of the conversation"),
    ("^Y", "copy the chosen block, or the last answer; ^C copies what the mouse selected"),
    ("F8", "stop the chosen activity, or the last one that runs"),
    ("^K", "stop the turn and what runs in the background"),
    ("enter, space, e", "in the activities: show one whole, fold, expand all"),
    ("^B", "side bar"),
    ("^N", "next avatar; first one that needs you"),
    ("^R ^O", "sessions; model or mode"),
    ("^T ^P", "next theme; palette"),
    ("F12", "capabilities, health, supervision tree, log of events"),
    ("^Z", "back to the shell; fg continues"),
    ("^Q", "quit"),
)


class PaneAnswers:
    """Answers of the person to what an avatar asks: permissions, and questions of its model."""

    def __init__(self, app: AvatarApp) -> None:
        self._app = app
        self._approvals: dict[str, Approvals] = {}

    def _approvals_of(self, pane: AvatarPane) -> Approvals:
        async def edit(given: ToolInput) -> ToolInput:
            with self._app.suspend():
                return await edited(given, _run_editor)

        approvals = Approvals(edit, pane.note)
        approvals.call = pane.host.engine.run
        return approvals

    async def answer(self, pane: AvatarPane, key: str, request: PermissionEvent) -> None:
        """Answer a permission request with a key."""
        approvals = self._approvals.setdefault(pane.host.name, self._approvals_of(pane))
        pane.answer_keys.take(request)
        try:
            await approvals.press(key, request)
        finally:
            pane.answer_keys.give_back(time.monotonic())

    async def hear(self, pane: AvatarPane, request: PermissionEvent) -> None:
        """Answer a request for a tool that was allowed for good."""
        approvals = self._approvals.setdefault(pane.host.name, self._approvals_of(pane))
        await approvals.hear(request)

    async def takes(self, pane: AvatarPane, text: str) -> bool:
        """Whether the person means this as the answer to the model's question; then it is sent."""
        form = pane.answer_keys.form_since(time.monotonic())
        choices = [(_ANSWER, "[a]nswer it with this"), ("", "[s]end this as a prompt")]
        if form is None or await self._app.choose(named(form.event), choices) != _ANSWER:
            return False
        if problem := form.enter(text):
            pane.note(problem, "warning")
        if form.is_done:
            pane.host.spawn(self._give(pane, form))
        pane.prompt.restart()
        return True

    async def escape(self, pane: AvatarPane) -> None:
        """Decline the model's question, or end the turn if there is none."""
        if (form := pane.answer_keys.form_since(time.monotonic())) is None:
            await pane.host.interrupt()
            return
        form.decline()
        await self._give(pane, form)

    async def _give(self, pane: AvatarPane, form: QuestionForm) -> None:
        approvals = self._approvals.setdefault(pane.host.name, self._approvals_of(pane))
        pane.answer_keys.take(form.event)
        try:
            await approvals.give(form)
        finally:
            pane.answer_keys.give_back(time.monotonic())


class PaneActions:
    """Actions on the pane of one avatar."""

    def __init__(self, app: AvatarApp) -> None:
        self._app = app
        self.answers = PaneAnswers(app)

    # Life.

    async def start(self, pane: AvatarPane) -> None:
        """Start the agent, and say what was chosen and why."""
        choice = pane.host.choice
        pane.note(f"{choice.name}: {choice.why}")
        try:
            await pane.host.start()
            await self._introduce(pane)
        except AvatarError as error:
            _complain(pane, error)
            if isinstance(error, AgentNotFound | AgentNeedsLogin):
                self._app.run_worker(self._offer_embedded(pane))

    async def _introduce(self, pane: AvatarPane) -> None:
        can = await pane.host.engine.run(Avatar.capabilities)
        pane.set_class(not can.thinking_supported, "thoughtless")
        pane.answer_keys.can_edit = can.editable_input
        pane.add_class("introduced")
        if caution := pane.host.choice.caution(can):
            pane.note(f"⚠ {caution}", "warning")

    async def _offer_embedded(self, pane: AvatarPane) -> None:
        title = f"{pane.host.choice.name} cannot be started. Use the embedded agent instead?"
        choices = [
            (EMBEDDED, "[y]es: a small program with a few tools, without a model or an account"),
            ("", "[n]o"),
        ]
        if await self._app.choose(title, choices):
            await self._switch(pane, EMBEDDED)

    # Turns.

    async def send(self, pane: AvatarPane, text: str, how: WhileBusy, caption: str = "") -> None:
        """Send a prompt, to its end; the conversation shows the caption, where there is one."""
        pane.past.append(caption or text)
        pane.talk.transcript.quote(caption or text)
        problem = await pane.host.send(text, how)
        if problem:
            pane.note(f"✗ {one_line(problem)}", "failed")

    async def ask_while_busy(self, pane: AvatarPane, text: str) -> WhileBusy | None:
        """How to send this while a turn runs; None: not at all, or it was an answer."""
        if await self.answers.takes(pane, text):
            return None
        choices = [
            (WhileBusy.QUEUE.value, "[s]end after this turn"),
            (WhileBusy.INTERRUPT.value, "[i]nterrupt and send"),
        ]
        try:
            can = await pane.host.engine.run(Avatar.capabilities)
        except AvatarError:
            can = ProviderCapabilities()
        if can.steering:
            choices.append((WhileBusy.STEER.value, "s[t]eer: tell it without ending the turn"))
        choices.append(("", "[c]ancel: go on editing"))
        how = await self._app.choose("The avatar is working. Send anyway?", choices)
        return WhileBusy(how) if how else None

    async def stop_one(self, pane: AvatarPane, job_id: str) -> None:
        """Stop a job; where it cannot be stopped alone, ask whether to end the turn."""
        result = await pane.host.cancel(job_id, Escalation.NEVER)
        if result is CancelResult.UNSUPPORTED:
            choices = [("turn", "[y]es"), ("", "[n]o")]
            title = "It cannot be stopped by itself. End the whole turn?"
            if await self._app.choose(title, choices):
                result = await pane.host.cancel(job_id, Escalation.TURN)
        job = pane.picture.work.jobs.get(job_id)
        pane.note(f"⊘ {job.label if job else job_id}: {_STOPPED[result]}")

    async def stop_all(self, pane: AvatarPane) -> None:
        """Stop the turn and everything in the background."""
        running = [job.job_id for job in pane.picture.running()]
        await pane.host.interrupt()
        for job_id in running:
            await pane.host.cancel(job_id, Escalation.NEVER)

    # Choices.

    async def choose_provider(self, pane: AvatarPane) -> None:
        """Switch this tab to another agent."""
        names = dict.fromkeys([*(agent.name for agent in ready_agents()), EMBEDDED])
        choices = [(name, name) for name in names]
        name = await self._app.choose("Which agent? Only those that are ready are listed", choices)
        if name:
            await self._switch(pane, name)

    async def _switch(self, pane: AvatarPane, name: str) -> None:
        pane.renew()
        pane.note(f"↻ switching to {name}")
        try:
            await pane.host.switch(self._app.options.wanted, name)
            await self._introduce(pane)
        except AvatarError as error:
            _complain(pane, error)

    async def choose_model(self, pane: AvatarPane) -> None:
        """Switch the model or the mode."""
        try:
            can = await pane.host.engine.run(Avatar.capabilities)
            choices = [*_choices("model", can.models), *_choices("mode", can.modes)]
            if not choices:
                self._app.notify("the agent lists no models and no modes")
                return
            kind, _, name = (await self._app.choose("Model or mode", choices)).partition(" ")
            if kind == "model":
                await pane.host.engine.run(lambda avatar: avatar.set_model(name))
            elif kind == "mode":
                await pane.host.engine.run(lambda avatar: avatar.set_mode(name))
        except AvatarError as error:
            _complain(pane, error)

    async def choose_session(self, pane: AvatarPane) -> None:
        """Continue a stored session, and show what was said in it."""
        try:
            stored = await pane.host.sessions()
            if not stored:
                self._app.notify("no session is stored for this directory")
                return
            choices = [(one.session_id, _titled(one)) for one in stored[:50]]
            chosen = await self._app.choose("Continue which session?", choices)
            session = next((one for one in stored if one.session_id == chosen), None)
            if session is None:
                return
            read = await pane.host.resume(session)
        except AvatarError as error:
            _complain(pane, error)
            return
        pane.renew()
        transcript = pane.talk.transcript
        transcript.clear()
        for message in read.messages:
            if message.role == "user":
                transcript.quote(message.text)
            else:
                transcript.say(message.text)
                transcript.close()
        pane.note(f"↻ continued: {one_line(session.title) or session.session_id}")
        for line in read.diagnostics:
            pane.note(one_line(line))

    # Windows.

    async def show_debug(self, pane: AvatarPane) -> None:
        """What the agent can do, how it does, the tree of supervisors, and the log of events."""
        rows: list[Text] = []
        try:
            can = await pane.host.engine.run(Avatar.capabilities)
            rows += _table("capabilities", msgspec.structs.asdict(can))
            health = await pane.host.engine.run(Avatar.health)
            rows += _table("health", msgspec.structs.asdict(health))
            tree = str(await pane.host.runtime.tree()).splitlines()
            rows += [Text("supervision", "title"), *map(Text, tree), Text()]
        except AvatarError as error:
            rows.append(Text(str(error), "failed"))
        rows += [Text("log", "title"), *(Text(line) for line in pane.view.log)]
        self._app.read("debug", rows)

    def key_rows(self) -> list[Text]:
        """The keys and what they do."""
        return [Text.assemble((f"{key:<28}", "key"), words) for key, words in KEY_HELP]

    def palette(self) -> list[tuple[str, str, Callable[[], None]]]:
        """Title, explanation and action of each command."""
        app = self._app
        own = [
            ("Provider…", "Switch this tab to another agent", app.action_provider),
            ("Sessions…", "Continue a stored session", app.action_sessions),
            ("Model or mode…", "Choose what the agent offers", app.action_model),
            (
                "Stop everything",
                "End the turn and what runs in the background",
                app.action_stop_all,
            ),
            ("Side bar", "Show or hide figure, thoughts and activities", app.pane.action_side),
            ("Copy", "Copy the chosen block, or the last answer", app.pane.action_copy_block),
            ("Debug", "Capabilities, health, supervision tree, log", app.action_debug),
            ("All keys", "Show what each key does", app.action_keys),
        ]
        tabs = [
            (f"Avatar {pane.host.name}", "Bring it to the front", lambda p=pane: app.show_pane(p))
            for pane in app.panes
            if len(app.panes) > 1
        ]
        return own + tabs


def _complain(pane: AvatarPane, error: AvatarError) -> None:
    """An error in the conversation, with what to do."""
    pane.note(f"✗ {failure_of(error).format_message()}", "failed")


async def _run_editor(command: list[str]) -> int:
    process = await asyncio.create_subprocess_exec(*command)
    return await process.wait()


def _choices(kind: str, offered: tuple[Choice, ...]) -> list[tuple[str, str]]:
    return [
        (f"{kind} {one.choice_id}", f"{kind:<6} {one_line(one.name or one.choice_id)}")
        for one in offered
    ]


def _titled(session: StoredSession) -> str:
    when = ago(moment_of(session.updated_at), datetime.now().astimezone())
    return f"{one_line(session.title, 60) or session.session_id}  ({when})"


def _table(title: str, values: dict[str, object]) -> list[Text]:
    rows = [Text(title, "title")]
    for name, value in values.items():
        shown = one_line(str(value))
        rows.append(Text.assemble((f"  {name:<24}", "muted"), shown))
    return [*rows, Text()]
