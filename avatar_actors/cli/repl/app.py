"""The REPL at work: keys and events come in, and what they mean is carried out."""

from __future__ import annotations

import asyncio
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
from avatar_actors.cli.repl.approvals import Approving
from avatar_actors.cli.repl.completion import SlashCompleter
from avatar_actors.cli.repl.context import NotSent, ReplContext, Untold
from avatar_actors.cli.repl.conversation import ClearInput, Decision, InterruptTurn, Leave, Send
from avatar_actors.cli.repl.history_file import HistoryFile
from avatar_actors.cli.repl.key_bindings import AnswerKeys, bindings_for
from avatar_actors.cli.repl.screen import PromptScreen, StderrLines
from avatar_actors.cli.repl.slash_commands import Typed, carry_out, typed_command
from avatar_actors.cli.repl.view import ReplView


class Background:
    """For one loop. `failed` is called when a task ends with an error, which is `failure` then."""

    def __init__(self, failed: Callable[[], None]) -> None:
        self.failure: BaseException | None = None
        self._failed = failed
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Have this done."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def end(self) -> None:
        """Cancel what is under way, and wait for it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failure = self.failure or error
            self._failed()


# A program that is ended by signal n exits with this and n, as a shell would say it.
_KILLED: Final = 128
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)


class ReplApp:
    """A person at a terminal and an avatar; for one asyncio loop, once."""

    def __init__(self, desk: ReplContext, display: Display, history: HistoryFile) -> None:
        self._desk, self._history = desk, history
        self._conversation = desk.conversation
        self._answer_keys = AnswerKeys()
        self._line = Buffer(
            multiline=True,
            history=history,
            completer=SlashCompleter(desk),
            complete_while_typing=Condition(lambda: self._line.text.startswith("/")),
            on_text_changed=lambda _: self._typed(),
        )
        self._screen = PromptScreen(self._line, bindings_for(self, self._line))
        self._scene = ReplView(display, self._conversation, self._answer_keys, self._screen)
        self._approving = Approving(desk.engine, self._answer_keys, self._scene, self._screen)
        self._background = Background(self._exit)
        self._in_turn = asyncio.Lock()  # what a command says stands below it

    async def run(self) -> int:
        """Until the person leaves; the exit code. An AvatarError: the avatar did not start."""
        loop = asyncio.get_running_loop()
        self._desk.engine.on_any(self._hear, dispatcher=loop.call_soon_threadsafe)
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._leave, _KILLED + number)
        try:
            with redirect_stderr(StderrLines(self._scene.say)):
                await self._screen.run(self._begin)
        except (EOFError, OSError, termios.error):
            # The terminal is gone; Python would fail to flush what is left for it at its end.
            self._leave(_KILLED + signal.SIGHUP)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        finally:
            await self._end()
        if self._background.failure is not None:
            raise self._background.failure
        return self._conversation.left.code if self._conversation.left else ExitCode.OK

    async def _end(self) -> None:
        self._conversation.leave(ExitCode.OK)
        # The turn ends as cancelled, which its task then hears.
        await self._desk.engine.stop()
        await self._background.end()
        await self._desk.runtime.stop()
        for line in self._scene.rest():
            click.echo(line)

    # What the keys mean; see key_bindings.Listener.

    def sent(self, text: str) -> None:
        """A prompt, a command or an empty line."""
        own = [one.choice_id for one in self._desk.minutes.commands]
        typed = typed_command(text, own)
        if typed is None:
            self._obey(self._conversation.enter(text))
        else:
            self._background.spawn(self._command(text, typed))

    def ctrl_c(self) -> None:
        """The line, the turn, or the REPL."""
        if not self._screen.is_lent:  # else it is meant for the editor
            self._obey(self._conversation.ctrl_c(self._line.text, self._scene.now))

    def ctrl_d(self) -> None:
        """Leave."""
        self._obey(self._conversation.ctrl_d(self._line.text))

    def takes_back(self) -> str:
        """The prompt that was queued last."""
        self._scene.stir()
        return self._conversation.take_back()

    @property
    def can_answer(self) -> bool:
        """Whether a request is open, and the person had the time to see it."""
        return self._approving.request is not None

    def answer(self, key: str) -> None:
        """To the oldest request."""
        if (request := self._approving.request) is not None:
            self._background.spawn(self._approving.press(key, request))

    # What comes of it.

    def _obey(self, decision: Decision) -> None:
        match decision:
            case Send(prompt):
                self._background.spawn(self._turn(prompt))
            case InterruptTurn():
                self._background.spawn(self._interrupt())
            case ClearInput():
                self._line.reset()
            case Leave():
                self._exit()
            case _:
                pass
        self._scene.stir()

    def _begin(self) -> None:
        self._background.spawn(self._scene.live())
        self._background.spawn(self._start())

    async def _start(self) -> None:
        # Without an avatar there is nothing to talk with; one that is lost later is replaced.
        await self._desk.turns.start()
        can = await self._desk.ask(Avatar.capabilities)
        if caution := self._desk.casting.caution(can):
            self._scene.say([f"! {caution}"])
        if self._history.trouble:
            self._scene.say([self._history.trouble])

    async def _turn(self, prompt: str) -> None:
        self._scene.quote(prompt)
        self._obey(self._conversation.ended(await self._outcome(prompt)))

    async def _outcome(self, prompt: str) -> Outcome:
        try:
            end = await self._desk.turns.run(prompt)
        except NotSent:
            self._scene.say(["interrupted; the agent did not get it"])
            return Outcome.CANCELLED
        except AvatarError as error:
            self._complain(error)
            return Outcome.FAILED
        if isinstance(end, Untold):
            self._hear(end.ending)
        return end.outcome

    async def _interrupt(self) -> None:
        await self._desk.turns.interrupt()

    async def _command(self, text: str, typed: Typed) -> None:
        async with self._in_turn:
            self._scene.quote(text)
            try:
                self._scene.say(await carry_out(self._desk, typed))
            except AvatarError as error:
                self._complain(error)
        if self._conversation.left is not None:
            self._exit()

    def _hear(self, event: AvatarEvent) -> None:
        self._desk.minutes.tell(event)
        self._scene.tell(event)
        if isinstance(event, PermissionEvent):
            self._background.spawn(self._approving.hear(event))
        self._desk.turns.tell(event)

    def _complain(self, error: AvatarError) -> None:
        self._scene.say([f"✗ {failure_of(error).format_message()}"])

    def _leave(self, code: int) -> None:
        self._conversation.leave(code)
        self._exit()

    def _exit(self) -> None:
        self._approving.end()
        self._screen.exit()

    def _typed(self) -> None:
        self._answer_keys.typed(self._scene.now)
