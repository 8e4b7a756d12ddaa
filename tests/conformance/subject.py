"""An avatar under test: it plays scripts, and a recorder checks all of its events."""

import json
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, Unpack

import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    AvatarOptions,
    BridgeResponse,
    BridgeState,
    ContinuityEvent,
    EventsLostEvent,
    EventStream,
    Restarts,
    StateEvent,
    TextEvent,
    Timeouts,
    Turn,
    TurnEndedEvent,
    TurnStartedEvent,
    open_avatar,
)
from tests.conformance.dialects import Dialect

# For a machine that is busy with other things; on a quiet one a test takes half a second.
PATIENCE = 60
QUICK = Timeouts(interrupt=20, stop=5)
# As often as a test likes, and soon.
UNTIRING = Restarts(max_restarts=100, factor=1.0)
EVERYTHING = 10**6

E = TypeVar("E", bound=AvatarEvent)
Step = dict[str, Any]


def script(*steps: Step) -> str:
    """The prompt that makes the embedded agent play these steps."""
    return f"SCRIPT:{json.dumps(steps)}"


class EventRecorder:
    """Sees every event of an avatar, from its start to its last."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self.seen: list[AvatarEvent] = []

    async def until(self, kind: type[E], is_it: Callable[[E], object] = lambda _: True) -> E:
        """The next such event after those that were waited for."""
        async for event in self._stream:
            self.seen.append(event)
            if isinstance(event, kind) and is_it(event):
                return event
        raise AssertionError(f"the avatar ended without such a {kind.__name__}")

    async def until_state(self, state: BridgeState) -> StateEvent:
        return await self.until(StateEvent, lambda event: event.new_state is state)

    async def until_text(self, end: str) -> TextEvent:
        return await self.until(TextEvent, lambda event: event.text.endswith(end))

    async def rest(self) -> None:
        """All that is still to come, once the avatar has stopped."""
        self.seen += [event async for event in self._stream]

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.seen if isinstance(event, kind)]

    def check(self) -> None:
        """Every turn has one end, nothing of it follows, and its text is what was told of it."""
        assert not self.all(EventsLostEvent)
        numbers = [event.seq for event in self.seen]
        assert numbers == sorted(set(numbers))
        begun = Counter(event.turn_id for event in self.all(TurnStartedEvent))
        ended = Counter(event.turn_id for event in self.all(TurnEndedEvent))
        assert set(begun.values()) | set(ended.values()) <= {1}
        assert set(begun) <= set(ended)
        over: set[int] = set()
        for event in self.seen:
            assert event.turn_id not in over, f"after the end of its turn: {event}"
            if isinstance(event, TurnEndedEvent):
                over.add(event.turn_id)
                assert event.text == self.text_of(event.turn_id)

    def text_of(self, turn_id: int) -> str:
        return "".join(event.text for event in self.all(TextEvent) if event.turn_id == turn_id)


class Subject:
    """An avatar, its recorder, and the directory that they have to themselves."""

    def __init__(self, avatar: Avatar, recorder: EventRecorder, place: Path) -> None:
        self.avatar = avatar
        self.recorder = recorder
        self.place = place

    def turn(self, *steps: Step) -> Turn:
        return self.avatar.turn(script(*steps))

    async def play(self, *steps: Step, timeout: float | None = None) -> BridgeResponse:  # noqa: ASYNC109 - the turn's
        return await self.avatar.chat(script(*steps), timeout=timeout)

    async def says(self, text: str) -> bool:
        """Whether it answers as it should: the sign of life after every fault."""
        answer = await self.play({"say": text})
        return answer.success and answer.content == text

    async def pid(self) -> int:
        """The agent's process now."""
        pid = (await self.avatar.health()).pid
        assert pid is not None
        return pid

    async def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(await self.pid(), number)

    async def memory(self) -> list[str]:
        """The prompts that the agent remembers."""
        answer = await self.play({"echo": "history"})
        assert answer.success
        return [line["text"] for line in json.loads(answer.content) if line["role"] == "user"]

    async def back_again(self) -> ContinuityEvent:
        """Until the next life is ready, and what it says of itself."""
        await self.recorder.until_state(BridgeState.WARMING_UP)
        continuity = await self.recorder.until(ContinuityEvent)
        await self.recorder.until_state(BridgeState.READY)
        return continuity

    # A side effect, to see how often a prompt is really played.

    def leave_a_trace(self) -> Step:
        return {"tool": "Bash", "run": True, "input": {"command": f"echo x >> {self._trace}"}}

    def traces(self) -> int:
        return self._trace.read_text().count("x") if self._trace.exists() else 0

    @property
    def _trace(self) -> Path:
        return self.place / "trace"


def subject_options(dialect: Dialect, place: Path, *start: Step) -> AvatarOptions:
    """Options of an avatar that plays this dialect; `start` are its start steps."""
    work, home = place / "work", place / "home"
    work.mkdir(exist_ok=True)
    return AvatarOptions(
        working_dir=work,
        env={"AVATAR_EMBEDDED_HOME": str(home), "AVATAR_EMBEDDED_START": json.dumps(start)},
        timeouts=QUICK,
        restarts=UNTIRING,
        priority="normal",
    )


@asynccontextmanager
async def open_subject(
    dialect: Dialect, place: Path, *start: Step, **options: Unpack[AvatarOptions]
) -> AsyncGenerator[Subject]:
    """The avatar for the length of a block; afterwards its recorder checks what it saw."""
    chosen = subject_options(dialect, place, *start)
    chosen.update(options)
    with trio.fail_after(PATIENCE):
        async with open_avatar(dialect.provider, **chosen) as avatar, recorded(avatar) as recorder:
            yield Subject(avatar, recorder, place)


@asynccontextmanager
async def recorded(avatar: Avatar) -> AsyncGenerator[EventRecorder]:
    """Also the end of it is seen."""
    async with avatar.events(capacity=EVERYTHING) as stream:
        recorder = EventRecorder(stream)
        yield recorder
        await avatar.stop()
        await recorder.rest()
        recorder.check()
