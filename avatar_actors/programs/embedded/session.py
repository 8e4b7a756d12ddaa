"""A conversation: where it works, what was said, and its turns, one at a time."""

from __future__ import annotations

import threading
from collections import deque

from avatar_actors.programs.embedded.json_lines import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.store import Store, Stored
    from avatar_actors.programs.embedded.turn import AgentTurn


MOST_REMEMBERED = 100_000


class Session:
    """What is remembered between the turns; the store keeps the messages for a later process."""

    def __init__(self, session_id: str, cwd: str, store: Store) -> None:
        self.id = session_id
        self.cwd = cwd
        self.argv: list[str] = []
        self.model = ""
        self.mode = ""
        self.system = ""
        self.mcp: object = []
        self.options: dict[str, str] = {}
        self.always_allowed: set[str] = set()
        self.history: list[Record] = []
        self.cost = 0.0
        self.is_titled = False
        self._store = store

    def remember(self, role: str, text: str) -> None:
        """Adds a message, also to the store; of a flood only the beginning."""
        if not self.history:
            self._store.create(self.id, self.cwd)
        entry: Record = {"role": role, "text": text[:MOST_REMEMBERED]}
        self.history.append(entry)
        self._store.append(self.id, entry)

    def remember_cost(self) -> None:
        """Stores what the conversation has cost so far."""
        if self.cost:
            self._store.append(self.id, {"role": "cost", "cost": self.cost})

    def recall(self, stored: Stored) -> None:
        """Takes up a stored conversation where it ended."""
        self.history = stored.history
        self.cost = stored.cost


class TurnLine:
    """The turns that wait for their session; a thread lives while there are any."""

    def __init__(
        self, play: Callable[[AgentTurn], None], on_idle: Callable[[], None] = lambda: None
    ) -> None:
        self._play = play
        self._on_idle = on_idle
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

    def waiting(self) -> list[AgentTurn]:
        """The turns that have not begun."""
        with self._changed:
            return list(self._waiting)

    def take(self, wanted: Callable[[AgentTurn], bool]) -> list[AgentTurn]:
        """Takes out those of the waiting turns that are wanted."""
        with self._changed:
            taken = [turn for turn in self._waiting if wanted(turn)]
            self._waiting = deque(turn for turn in self._waiting if turn not in taken)
        return taken

    def wait_until_idle(self) -> None:
        """Returns once nothing is played and nothing waits."""
        with self._changed:
            while self._is_running:
                # Not for ever, so that a signal is never seen late.
                self._changed.wait(1)

    def settle(self) -> None:
        """Looks again whether all is idle, after something outside of the line has ended."""
        with self._changed:
            if not self._is_running:
                self._on_idle()

    def _run(self) -> None:
        while (turn := self._next()) is not None:
            self._play(turn)

    def _next(self) -> AgentTurn | None:
        with self._changed:
            self._current = self._waiting.popleft() if self._waiting else None
            if self._current is None:
                self._on_idle()
                self._is_running = False
                self._changed.notify_all()
            return self._current


def title_of(history: list[Record]) -> str:
    """The first thing that the user said, shortened."""
    said = next((entry["text"] for entry in history if entry.get("role") == "user"), "")
    return str(said)[:60]
