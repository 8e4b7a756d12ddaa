"""What outlives a session: its id, whether it can be resumed, and the history of prompts. Pure."""

from __future__ import annotations

from sys import getsizeof

from msgspec.structs import astuple, replace

from avatar_actors.avatar.messages import ModelChosen, ResumeThis
from avatar_actors.model.events import AvatarEvent, ErrorEvent, StateEvent, TurnEndedEvent
from avatar_actors.model.values import BridgeState, Continuity, Message, ToolCall
from avatar_actors.session.messages import ResumePlan, SessionLost, SessionReady
from avatar_actors.wire.commands import Beginning

_KNOWS_MORE = frozenset({Continuity.RESUMED, Continuity.PENDING})


class SessionRecord:
    """The state of the connection, and what the next life of the agent should continue."""

    def __init__(self, resume: str, begins: Beginning = Beginning.AS_NAMED) -> None:
        self.state: BridgeState = BridgeState.DISCONNECTED
        self.ready: SessionReady | None = None
        self.session_id: str = resume
        self.continuity: Continuity = Continuity.NEW
        self.continuity_why: str = ""
        self.restarts: int = 0
        self.returncode: int | None = None
        self.last_words: str = "the avatar has ended"
        self.has_been_open: bool = False
        self._is_wanted = bool(resume)
        self._has_spoken = bool(resume)
        self._can_resume = bool(resume)
        self._lost = ""
        self._is_demanded = bool(resume)
        self._wants_last = begins is Beginning.LAST and not resume
        # The session that this one was forked from, until something is said in the fork: an agent
        # may store it only then.
        self._fork_of = resume if begins is Beginning.FORK else ""
        self._starts = 0
        self._chosen = ModelChosen()

    @property
    def can_steer(self) -> bool:
        """Whether the agent accepts prompts during a turn."""
        return self.ready is not None and self.ready.capabilities.steering

    def starting(self) -> list[StateEvent]:
        """A process is being started."""
        self.restarts = self._starts
        self._starts += 1
        return self._move(BridgeState.WARMING_UP)

    def opened(self, ready: SessionReady) -> list[StateEvent]:
        """The agent takes prompts."""
        knows_more = ready.continuity in _KNOWS_MORE
        if not knows_more:
            self._fork_of = ""
        if ready.session_id != self.session_id:
            self._has_spoken = knows_more
        self._wants_last = False
        self.ready, self.has_been_open = ready, True
        self.continuity, self.continuity_why = ready.continuity, ready.why
        self.session_id = ready.session_id
        self._can_resume = ready.capabilities.can_load_session
        self._is_wanted = True
        self._is_demanded = False
        self._lost = ""
        return self._move(BridgeState.READY)

    def spoken(self) -> list[StateEvent]:
        """A prompt goes to the agent: from now on the session is worth resuming."""
        self._has_spoken = True
        self._fork_of = ""
        return self._move(BridgeState.BUSY)

    def silent(self) -> list[StateEvent]:
        """The turn is over."""
        return self._move(BridgeState.READY) if self.state is BridgeState.BUSY else []

    def lost(self, lost: SessionLost) -> list[AvatarEvent]:
        """The session has ended; if it died, the supervisor decides whether another comes."""
        self.ready = None
        if self.state is BridgeState.ERROR:
            return []  # who noticed first has told why
        self.returncode = lost.returncode
        if not lost.has_died:
            return [*self._move(BridgeState.DISCONNECTED, lost.why)]
        self.last_words = f"the avatar has ended: {lost.why}"
        return [*self._move(BridgeState.ERROR, lost.why), ErrorEvent(error=lost.why)]

    def cannot_resume(self, why: str) -> None:
        """The stored session cannot be resumed."""
        self._lost = why
        self._is_wanted = True
        self._can_resume = self._is_demanded = self._wants_last = False
        self._fork_of = ""

    def switch_to(self, wanted: ResumeThis) -> None:
        """The next life resumes this stored session."""
        self.session_id = wanted.session_id
        self._fork_of = wanted.session_id if wanted.begins is Beginning.FORK else ""
        self._has_spoken = self._can_resume = self._is_wanted = self._is_demanded = True
        self._lost = ""

    def choose(self, chosen: ModelChosen) -> None:
        """The next lives begin with this model, this mode."""
        self._chosen = ModelChosen(
            chosen.model or self._chosen.model, chosen.mode or self._chosen.mode
        )

    def plan(self) -> ResumePlan:
        """What the next life should continue, and how it is set."""
        return replace(self._continuing(), model=self._chosen.model, mode=self._chosen.mode)

    def _continuing(self) -> ResumePlan:
        if self._wants_last:
            return ResumePlan("", Continuity.RESUMED, begins=Beginning.LAST)
        if not self._is_wanted:
            return ResumePlan()
        if self._fork_of:
            return ResumePlan(
                self._fork_of,
                Continuity.RESUMED,
                begins=Beginning.FORK,
                is_demanded=self._is_demanded,
            )
        lost = self._lost
        if not lost and not self._has_spoken:
            lost = "nothing had been said yet"
        elif not lost and not self._can_resume:
            lost = "this agent cannot take up a session again"
        elif not lost and not self.session_id:
            lost = "the agent has named no session that can be asked for"
        if lost:
            return ResumePlan("", Continuity.FRESH, lost)
        return ResumePlan(self.session_id, Continuity.RESUMED, is_demanded=self._is_demanded)

    def _move(self, new: BridgeState, detail: str = "") -> list[StateEvent]:
        old, self.state = self.state, new
        if old is new:
            return []
        pid = self.ready.pid if self.ready is not None else None
        return [StateEvent(old_state=old, new_state=new, detail=detail, pid=pid)]


class History:
    """The last messages: at most `limit` of them (0 keeps none), in `most_bytes` of memory.

    Prompt and answer go together; of an unasked turn there is only the answer. The latest turn is
    kept in any case.
    """

    def __init__(self, limit: int, most_bytes: int) -> None:
        # Each with its size when it came: that of a text grows when somebody encodes it.
        self._turns: list[tuple[tuple[Message, ...], int]] = []
        self._limit, self._most_bytes = limit, most_bytes
        self._length = self._bytes = 0

    def __len__(self) -> int:
        return self._length

    def add(self, prompt: str, ended: TurnEndedEvent, now: float) -> None:
        """A turn has ended."""
        turn_id, unasked = ended.turn_id, ended.unasked
        answer = Message("assistant", ended.text, turn_id, now, ended.tool_calls, unasked)
        asked = () if unasked else (Message("user", prompt, turn_id, now),)
        turn = (*asked, answer)
        size = sum(getsizeof(each.content) for each in turn) + _size(ended.tool_calls)
        self._turns.append((turn, size))
        self._length, self._bytes = self._length + len(turn), self._bytes + size
        while self._length > self._limit or (
            self._bytes > self._most_bytes and len(self._turns) > 1
        ):
            gone, size = self._turns.pop(0)
            self._length, self._bytes = self._length - len(gone), self._bytes - size

    def messages(self) -> tuple[Message, ...]:
        """All of it, the oldest first."""
        return tuple(message for turn, _ in self._turns for message in turn)

    def clear(self) -> None:
        """Forget all messages."""
        self._turns.clear()
        self._length = self._bytes = 0


def _size(calls: tuple[ToolCall, ...]) -> int:
    """The memory of the calls, as far as it is text."""
    total, waiting = 0, [value for call in calls for value in astuple(call)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            total += getsizeof(value)
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value
    return total
