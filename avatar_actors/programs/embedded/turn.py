"""One turn: what it shows and asks, and the queue of a session; messages are left to `acp`."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque

from avatar_actors.programs.embedded.cancellation import Cancellable, TurnCancelled
from avatar_actors.programs.embedded.json_lines import Record, decode, is_record, to_json
from avatar_actors.programs.embedded.tools import ToolUse, scripted_call
from avatar_actors.programs.embedded.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import LineOutput
    from avatar_actors.programs.embedded.session import Session

ALLOWED = "allowed"
DENIED = "denied"
CANCELLED = "cancelled"


class TurnEnded(Exception):
    """The turn ends here, with its `ending` set; nothing that would follow is played."""


class TurnResult:
    """How a turn ends: a stop reason, or an error with a code and a message."""

    def __init__(self, reason: str = "end_turn") -> None:
        self.reason = reason
        self.error: Record | None = None
        self.is_told_twice = False


class AgentTurn(Cancellable, ABC):
    """A prompt being answered; its thread calls what shows, the reader's thread calls `cancel`."""

    def __init__(self, session: Session, output: LineOutput, prompt: str) -> None:
        super().__init__(session.cwd)
        self.session = session
        self.output = output
        self.prompt = prompt
        self.context, self.words = context_and_words(prompt)
        self.ending = TurnResult()
        self.said: list[str] = []
        self.usage: dict[str, float] = {}
        self.cost = 0.0
        self.late: list[Record] = []

    @abstractmethod
    def begin(self) -> None:
        """Tells the client that the work begins."""

    @abstractmethod
    def show_text(self, text: str) -> None:
        """Shows a piece of the answer."""

    @abstractmethod
    def text_line(self, text: str) -> bytes:
        """A piece of the answer as the bytes of its line; what must stand before it is sent."""

    @abstractmethod
    def show_thought(self, text: str) -> None:
        """Shows a thought."""

    @abstractmethod
    def show_plan(self, entries: list[Record]) -> None:
        """Shows the plan: entries with `content` and `status`."""

    @abstractmethod
    def show_tool_start(self, call: ToolUse) -> None:
        """Shows that the tool begins."""

    @abstractmethod
    def show_tool_end(self, call: ToolUse) -> None:
        """Shows how the tool ended."""

    @abstractmethod
    def ask_permission(self, call: ToolUse) -> str:
        """Asks whether the tool may run: allowed, denied or cancelled."""

    @abstractmethod
    def request(self, method: str, params: Record) -> object:
        """Asks the client something and gives its reply."""

    @abstractmethod
    def notify(self, method: str, params: Record) -> None:
        """Tells the client something."""

    @abstractmethod
    def report_usage(self) -> None:
        """Tells what was used so far, if that is told within the turn."""

    @abstractmethod
    def finish(self) -> None:
        """Tells the client how the turn ended."""

    def run_tools(self, calls: list[ToolUse]) -> None:
        """Runs the tools side by side; their ends are shown as they come."""
        for call in calls:
            self.show_tool_start(call)
        threads = [threading.Thread(target=self._finish_tool, args=(call,)) for call in calls[1:]]
        for thread in threads:
            thread.start()
        for call in calls[:1]:
            self._finish_tool(call)
        for thread in threads:
            thread.join()
        self.check()

    def _finish_tool(self, call: ToolUse) -> None:
        try:
            call.perform()
        except TurnCancelled:
            # It had not begun; the thread of the turn sees the same.
            return
        if not self.is_cancelled:
            self.show_tool_end(call)

    def start_task(self, step: Record) -> None:
        """Starts the background task of a step; this agent has none and runs a tool."""
        self.run_tools([scripted_call(step, self.start_child)])

    def ask_user(self, question: Record) -> str:
        """Asks the user a question and gives the answer; here nobody can be asked."""
        return "nobody can be asked"

    def read_file(self, name: str) -> str:
        """The text of a file of the working directory; raises ToolFailed."""
        return Workspace(self.session.cwd).read(name)

    def write_file(self, name: str, text: str) -> None:
        """Writes a file of the working directory; raises ToolFailed."""
        Workspace(self.session.cwd).write(name, text)

    def say(self, text: str) -> None:
        """Shows a piece of the answer and remembers it."""
        self.check()
        self.said.append(text)
        self.show_text(text)

    def give_data(self, value: object) -> None:
        """Gives structured output, here as text."""
        self.say(to_json(value))

    def note_text(self, text: str) -> None:
        """Remembers a piece of the answer that was shown as bytes."""
        self.said.append(text)

    def think(self, text: str) -> None:
        """Shows a thought."""
        self.check()
        self.show_thought(text)

    def add_usage(self, counts: dict[str, float], cost: float) -> None:
        """Adds to what the turn used."""
        for key, count in counts.items():
            self.usage[key] = self.usage.get(key, 0) + count
        self.cost += cost
        self.session.cost += cost
        self.report_usage()

    def run(self, perform: Callable[[AgentTurn], None]) -> None:
        """Plays the turn to its one end."""
        self.session.remember("user", self.words)
        try:
            self.begin()
            perform(self)
        except TurnCancelled:
            self.ending = TurnResult(CANCELLED)
        except TurnEnded:
            # Its ending is set already.
            pass
        self.session.remember("assistant", "".join(self.said))
        self.session.remember_cost()
        self.finish()
        if self.ending.is_told_twice:
            self.finish()
        self.output.release()


def context_and_words(prompt: str) -> tuple[Record, str]:
    """What a host gave with the prompt, in a marked block in front of it, and what was said."""
    begin, end = "<context>\n", "\n</context>"
    block, mark, words = prompt.removeprefix(begin).partition(end)
    if not prompt.startswith(begin) or not mark:
        return {}, prompt
    try:
        context = decode(block.encode("utf-8", "surrogatepass"))
    except ValueError:
        return {}, prompt
    return (context, words.strip()) if is_record(context) else ({}, prompt)


class PendingTurns:
    """The turns of one session, played one at a time by a thread that lives while there are any."""

    def __init__(self, play: Callable[[AgentTurn], None]) -> None:
        self._play = play
        self._changed = threading.Condition()
        self._waiting: deque[AgentTurn] = deque()
        self._current: AgentTurn | None = None
        self._is_running = False

    def add(self, turn: AgentTurn) -> None:
        """Plays the turn once those before it have ended."""
        with self._changed:
            self._waiting.append(turn)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, daemon=True).start()

    def current(self) -> AgentTurn | None:
        """The turn that is being played."""
        with self._changed:
            return self._current

    def cancel_current(self) -> None:
        """Cancels the turn that is being played, if any."""
        if (current := self.current()) is not None:
            current.cancel()

    def cancel_all(self) -> None:
        """Cancels the turn that is being played and those that wait."""
        with self._changed:
            waiting = list(self._waiting)
        for turn in waiting:
            turn.cancel()
        self.cancel_current()

    def _run(self) -> None:
        while (turn := self._next()) is not None:
            self._play(turn)

    def _next(self) -> AgentTurn | None:
        with self._changed:
            self._current = self._waiting.popleft() if self._waiting else None
            if self._current is None:
                self._is_running = False
            return self._current
