"""What a contestant has to offer, and how the work reaches its event loop; no code of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Ready: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Setting:
    """The agent to start, where it works, and the wire that it speaks."""

    wire: str
    launcher: str
    home: str

    @property
    def environment(self) -> dict[str, str]:
        """What makes the embedded agent keep its sessions there and play scripts."""
        return {"AVATAR_EMBEDDED_HOME": self.home, "AVATAR_EMBEDDED_SCRIPTS": "1"}


class NotCompleted(Exception):
    """The library told the caller, by a value of its own, that the turn has not completed."""


@dataclass(slots=True)
class Came:
    """How many pieces of text came, and how many characters in all."""

    pieces: int = 0
    characters: int = 0

    def add(self, text: str) -> None:
        self.pieces += 1
        self.characters += len(text)


class Client(Protocol):
    """One agent that takes prompts, in the way that its library's documentation shows."""

    async def call(self, prompt: str) -> str:
        """The whole answer."""
        ...

    def stream(self, prompt: str) -> AsyncIterator[str]:
        """The answer's pieces as they come."""
        ...

    async def count(self, prompt: str) -> Came:
        """What came, each piece by itself, until the call was over."""
        ...


class Library(Protocol):
    """A host of agents. What it opened it also closes, in its own normal way."""

    async def open(self) -> Client:
        """Start one more agent; it is ready for prompts then."""
        ...

    async def apart(self, count: int) -> Sequence[Client]:
        """So many conversations in the agent that was opened last; none where there is one."""
        ...

    async def close(self) -> None:
        """End them all."""
        ...


class Loop(Protocol):
    """The event loop that the library lives on."""

    def run(self, main: Callable[[], Awaitable[None]]) -> None: ...

    async def within(self, seconds: float, work: Callable[[], Awaitable[T]]) -> T:
        """What the work gives; TimeoutError, and the work cancelled, if it takes longer."""
        ...

    async def together(self, works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """All at once; what each gave, in their order."""
        ...

    async def beside(
        self, work: Callable[[Ready], Awaitable[None]], then: Callable[[], Awaitable[None]]
    ) -> None:
        """Start the work; once it says that it is ready do the other, then cancel the work."""
        ...
