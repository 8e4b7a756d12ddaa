"""The turns of one connection: the one asked for, and one that the agent began by itself."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import JsonObject, Usage
from avatar_actors.session import messages
from avatar_actors.session.messages import Spent, TurnEnding
from avatar_actors.session.turn_outcome import EndRequest, ending_of
from avatar_actors.wire import facts
from avatar_actors.wire.json_values import decoded, is_object
from supervisors import Address, Reply

# Bytes of a turn that are kept as the agent wrote them.
MOST_RAW: Final = 1024 * 1024


class RawEvents:
    """What an agent writes during a turn, up to MOST_RAW."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._written = bytearray()

    def add(self, block: bytes) -> None:
        """Keep a block of its output."""
        self._written += block[: MOST_RAW - len(self._written)]

    def messages(self) -> tuple[JsonObject, ...]:
        """The messages, one of each line, without secrets; a line that is none is its `text`."""
        whole, _, rest = self._written.rpartition(b"\n")
        is_cut = len(self._written) >= MOST_RAW
        text = bytes(whole if is_cut else whole + b"\n" + rest).decode("utf-8", "replace")
        lines = filter(str.strip, self._redactor.hide(text).split("\n"))
        return tuple(_message(line) for line in lines)


def _message(line: str) -> JsonObject:
    value = decoded(line.encode())
    return value if is_object(value) else {"text": line}


class AskedTurn(Struct):
    """A prompt that the agent has."""

    turn_id: int
    reply: Reply[TurnEnding]
    raw: RawEvents | None = None
    request: EndRequest | None = None
    used: Usage | None = None
    """The last usage report."""
    is_told: bool = True
    """Whether the turn queue has heard of that report."""
    has_asked: bool = False
    """Whether the gatekeeper has heard of a question of this turn."""
    session_id: str = ""
    """The id that the session got during this turn, if it got one."""

    def end(self, ending: TurnEnding) -> None:
        """Answer the turn queue; the last usage report goes along."""
        raw = self.raw.messages() if self.raw is not None else ()
        ending = replace(ending, spent=self.used, has_asked=self.has_asked, raw_events=raw)
        self.reply.send(replace(ending, session_id=self.session_id))


class UnaskedTurn(Struct):
    """A turn that nobody asked for."""

    turn_id: int
    request: EndRequest | None = None


class RunningTurns:
    """Which turn the agent speaks in, and who hears how it ended.

    A prompt may have been sent while an unasked turn runs; up to its end all that comes is of it.
    """

    def __init__(
        self, turn_queue: Address[messages.QueueNews], address: Address[messages.BridgeMessage]
    ) -> None:
        self._queue, self._address = turn_queue, address
        self.raw: RawEvents | None = None
        """Takes the agent's output, if the prompt asked for it."""
        self._asked: AskedTurn | None = None
        self._unasked: UnaskedTurn | None = None

    @property
    def turn_id(self) -> int:
        """The turn of what the agent says now; 0: none."""
        present = self._unasked or self._asked
        return present.turn_id if present is not None else 0

    def begin(self, turn_id: int, reply: Reply[TurnEnding], raw: RawEvents | None) -> None:
        """A prompt is being sent."""
        self._asked, self.raw = AskedTurn(turn_id, reply, raw), raw

    async def begin_unasked(self, cause: str) -> None:
        """The agent speaks by itself; the turn queue numbers the turn."""
        started = messages.UnaskedTurnStarted(self._address, cause)
        self._unasked = UnaskedTurn(await self._queue.ask(started))

    def requested(self, turn_id: int, request: EndRequest) -> AskedTurn | UnaskedTurn | None:
        """The turn that is to end now; None if it has ended, or was told to end before."""
        turn = self._unasked if turn_id < 0 else self._asked
        if turn is None or turn.turn_id != turn_id or turn.request is not None:
            return None
        turn.request = request
        return turn

    def is_running(self, turn: AskedTurn | UnaskedTurn) -> bool:
        """Whether it has not ended yet."""
        return turn is self._asked or turn is self._unasked

    async def over(self, over: facts.TurnOver) -> None:
        """The agent has ended a turn."""
        if over.turn_id == facts.UNASKED and self._unasked is not None:
            await self.end_unasked(ending_of(over, self._unasked.request))
        elif self._asked is not None and self._asked.turn_id == over.turn_id:
            self.end_asked(ending_of(over, self._asked.request))

    def end_asked(self, ending: TurnEnding) -> None:
        """End the turn that was asked for, if there is one."""
        turn, self._asked, self.raw = self._asked, None, None
        if turn is not None:
            turn.end(ending)

    async def end_unasked(self, ending: TurnEnding) -> None:
        """End the other one, if there is one."""
        turn, self._unasked = self._unasked, None
        if turn is not None:
            await self._queue.tell(messages.UnaskedTurnEnded(turn.turn_id, ending))

    @property
    def request(self) -> EndRequest | None:
        """Why the turn that was asked for is to end, if it is."""
        return self._asked.request if self._asked is not None else None

    def session_is(self, session_id: str) -> None:
        """The session has this id now; the turn's ending overtakes the news of it."""
        if self._asked is not None:
            self._asked.session_id = session_id

    def has_asked(self) -> None:
        """The gatekeeper hears of a question."""
        if self._asked is not None:
            self._asked.has_asked = True

    async def used(self, usage: Usage) -> None:
        """Note a usage report; that of a prompt's turn is told at the end of its block or turn."""
        if self._asked is not None and self._unasked is None:
            self._asked.used, self._asked.is_told = usage, False
        else:
            await self._queue.tell(Spent(self.turn_id, usage))

    async def tell_usage(self) -> None:
        """Tell the turn queue of the last report, if it has not heard of it."""
        turn = self._asked
        if turn is not None and turn.used is not None and not turn.is_told:
            turn.is_told = True
            await self._queue.tell(Spent(turn.turn_id, turn.used))
