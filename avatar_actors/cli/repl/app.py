"""The REPL's application: takes keys and events, and carries out what they mean."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
import termios
from collections.abc import Callable, Coroutine
from contextlib import redirect_stderr
from typing import Any, Final

import click
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition

from avatar_actors import Avatar, AvatarError, AvatarEvent, Outcome, PermissionEvent
from avatar_actors.cli.display import Display
from avatar_actors.cli.exit_codes import ExitCode, failure_of
from avatar_actors.cli.repl.context import NotSent, ReplContext
from avatar_actors.cli.repl.conversation import ClearInput, Decision, InterruptTurn, Leave, Send
from avatar_actors.cli.repl.history_file import HistoryFile
from avatar_actors.cli.repl.input_line import SlashCompleter, bindings_for
from avatar_actors.cli.repl.screen import PromptScreen, StderrLines
from avatar_actors.cli.repl.slash_commands import TypedCommand, carry_out, typed_command
from avatar_actors.cli.repl.view import ReplView
from avatar_actors.cli.terminal.permissions import AnswerKeys, Approvals, ToolInput, edited
from avatar_actors.cli.terminal.questions import QuestionForm


class Background:
    """The tasks of one loop. The first error is kept in `failure`, and `failed` is called."""

    def __init__(self, failed: Callable[[], None]) -> None:
        self.failure: BaseException | None = None
        self._failed = failed
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def end(self) -> None:
        """Cancel all tasks and wait for them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failure = self.failure or error
            self._failed()


# A program that is ended by signal n exits with this plus n, by the convention of shells.
_KILLED: Final = 128
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)


class ReplApp:
    """Connects a person at a terminal with an avatar; for one asyncio loop, once."""

    def __init__(self, context: ReplContext, display: Display, history: HistoryFile) -> None:
        self._context, self._history = context, history
        self._conversation = context.conversation
        self._answer_keys = AnswerKeys()
        self._line = Buffer(
            multiline=True,
            history=history,
            completer=SlashCompleter(context),
            complete_while_typing=Condition(lambda: self._line.text.startswith("/")),
            on_text_changed=lambda line: self._typed(line.text),
        )
        self._screen = PromptScreen(self._line, bindings_for(self, self._line))
        self._view = ReplView(display, self._conversation, self._answer_keys, self._screen)
        self._approvals = Approvals(self._edit, lambda text: self._view.say([text]))
        self._approvals.call = context.engine.run
        self._editor: asyncio.Task[ToolInput] | None = None
        self._background = Background(self._exit)
        # When the line was last begun; emptying it by `reset` does not call `_typed`.
        self._line_began = math.inf
        self._in_turn = asyncio.Lock()  # the output of a command stands below its line

    async def run(self) -> int:
        """Run until the person leaves; the exit code. AvatarError: the avatar did not start."""
        loop = asyncio.get_running_loop()
        self._context.engine.on_any(self._hear, dispatcher=loop.call_soon_threadsafe)
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._leave, _KILLED + number)
        try:
            with redirect_stderr(StderrLines(self._view.say)):
                await self._screen.run(self._begin)
        except (EOFError, OSError, termios.error):
            # The terminal is gone; at exit Python would fail to flush what is left for it.
            self._leave(_KILLED + signal.SIGHUP)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        finally:
            await self._end()
        if self._background.failure is not None:
            raise self._background.failure
        return self._conversation.left.code if self._conversation.left else ExitCode.OK

    async def _end(self) -> None:
        self._conversation.leave(ExitCode.OK)
        # This cancels the turn; its task then sees the outcome.
        await self._context.engine.stop()
        await self._background.end()
        await self._context.runtime.stop()
        for line in self._view.rest():
            click.echo(line)

    # What the keys mean; input_line calls these.

    def sent(self, text: str) -> None:
        """Send a prompt, run a command, or release held prompts with an empty line."""
        self._line_began = math.inf
        own = [one.choice_id for one in self._context.log.commands]
        typed = typed_command(text, own)
        if typed is None:
            self._obey(self._conversation.enter(text))
        else:
            self._background.spawn(self._command(text, typed))

    def ctrl_c(self) -> None:
        """Clear the line, interrupt the turn, or leave."""
        if not self._screen.is_lent:  # else it is for the editor
            self._obey(self._conversation.ctrl_c(self._line.text, self._view.now))

    def ctrl_d(self) -> None:
        """Leave."""
        self._obey(self._conversation.ctrl_d(self._line.text))

    def takes_back(self) -> str:
        """Remove the prompt that was queued last and return it."""
        self._view.stir()
        return self._conversation.take_back()

    @property
    def can_answer(self) -> bool:
        """Whether a request is open and the person had time to see it."""
        return self._answer_keys.request(self._view.now) is not None

    @property
    def can_edit(self) -> bool:
        """Whether the agent takes another input than it asked for."""
        return self._answer_keys.can_edit

    def answer(self, key: str) -> None:
        """Answer the oldest request."""
        if (request := self._answer_keys.request(self._view.now)) is not None:
            self._background.spawn(self._answer(key, request))

    def answers(self, text: str) -> bool:
        """Whether the line answers the model's question: not if it was begun before that came."""
        form = self._answer_keys.form_since(self._line_began)
        if form is None or not text.strip():
            return False
        self._line_began = math.inf
        if problem := form.enter(text):
            self._view.say([problem])
        self._background.spawn(self._give(form))
        return True

    @property
    def can_decline(self) -> bool:
        """Whether Esc declines the model's question."""
        return self._answer_keys.form(self._view.now) is not None

    def decline(self) -> None:
        """Decline the model's question."""
        if (form := self._answer_keys.form(self._view.now)) is not None:
            form.decline()
            self._background.spawn(self._give(form))

    # What the app does.

    def _obey(self, decision: Decision) -> None:
        match decision:
            case Send(prompt):
                self._background.spawn(self._turn(prompt))
            case InterruptTurn():
                self._background.spawn(self._interrupt())
            case ClearInput():
                self._line.reset()
                self._line_began = math.inf
            case Leave():
                self._exit()
            case _:
                pass
        self._view.stir()

    def _begin(self) -> None:
        self._background.spawn(self._view.live())
        self._background.spawn(self._start())

    async def _start(self) -> None:
        # Without a first avatar the REPL ends; one that is lost later is replaced.
        await self._context.turns.start()
        can = await self._context.ask(Avatar.capabilities)
        self._view.meet(can)
        if caution := self._context.choice.caution(can):
            self._view.say([f"! {caution}"])
        if self._history.problem:
            self._view.say([self._history.problem])

    async def _turn(self, prompt: str) -> None:
        self._view.quote(prompt)
        self._obey(self._conversation.ended(await self._outcome(prompt)))

    async def _outcome(self, prompt: str) -> Outcome:
        try:
            outcome, missing = await self._context.turns.run(prompt)
        except NotSent:
            self._view.say(["interrupted; the prompt was not sent"])
            return Outcome.CANCELLED
        except AvatarError as error:
            self._complain(error)
            return Outcome.FAILED
        if missing is not None:
            self._hear(missing)
        return outcome

    async def _interrupt(self) -> None:
        await self._context.turns.interrupt()

    async def _command(self, text: str, typed: TypedCommand) -> None:
        async with self._in_turn:
            self._view.quote(text)
            try:
                self._view.say(await carry_out(self._context, typed))
            except AvatarError as error:
                self._complain(error)
        if self._conversation.left is not None:
            self._exit()

    def _hear(self, event: AvatarEvent) -> None:
        self._context.log.tell(event)
        self._view.tell(event)
        if isinstance(event, PermissionEvent):
            self._background.spawn(self._approvals.hear(event))
        self._context.turns.tell(event)

    async def _answer(self, key: str, request: PermissionEvent) -> None:
        self._answer_keys.take(request)
        try:
            await self._approvals.press(key, request)
        finally:
            self._answer_keys.give_back(self._view.now)
            self._view.stir()

    async def _give(self, form: QuestionForm) -> None:
        if form.is_done:
            self._answer_keys.take(form.event)
            try:
                await self._approvals.give(form)
            finally:
                self._answer_keys.give_back(self._view.now)
        self._view.stir()

    async def _edit(self, given: ToolInput) -> ToolInput:
        async with self._screen.lent():
            self._editor = asyncio.create_task(edited(given, _run_editor))
            try:
                return await self._editor
            finally:
                self._editor = None

    def _complain(self, error: AvatarError) -> None:
        self._view.say([f"✗ {failure_of(error).format_message()}"])

    def _leave(self, code: int) -> None:
        self._conversation.leave(code)
        self._exit()

    def _exit(self) -> None:
        if self._editor is not None:  # it has the terminal and would keep it
            self._editor.cancel()
        self._screen.exit()

    def _typed(self, text: str) -> None:
        self._line_began = min(self._line_began, self._view.now) if text else math.inf
        self._answer_keys.typed(self._view.now)


async def _run_editor(command: list[str]) -> int:
    process = await asyncio.create_subprocess_exec(*command)
    try:
        return await process.wait()
    except asyncio.CancelledError:  # the person leaves, so the editor must end too
        process.terminate()
        await process.wait()
        raise
