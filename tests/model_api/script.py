"""What the model says, in words that no dialect owns; the dialects put it on the wire."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import trio
from msgspec import Struct, field

from tests.model_api.recorded import Json, ModelRequest

# What the Anthropic API answers when it has too much to do; the other dialects say 503.
OVERLOADED = 529


class Text(Struct, frozen=True):
    """Words for the user, in as many pieces as asked."""

    text: str
    chunks: int = 1


class Thinking(Struct, frozen=True):
    """Thoughts that come before the answer."""

    text: str
    chunks: int = 1


class ToolCall(Struct, frozen=True):
    """A call by the agent's own name of the tool; several in one reply are parallel.

    Arguments that are a string are the input of a free-form tool. A namespace is Codex's: MCP.
    """

    name: str
    arguments: Json | str
    id: str = ""
    namespace: str = ""


class Shell(Struct, frozen=True):
    """A command, in whichever shell tool the agent offers.

    Escalated: asks to leave the sandbox, where the agent knows such a thing (Codex).
    """

    command: str
    escalated: bool = False
    id: str = ""


class ReadFile(Struct, frozen=True):
    """Read a file, with `cat` where the agent has no tool for it."""

    path: str
    id: str = ""


class WriteFile(Struct, frozen=True):
    """Write a new file, as a patch where the agent wants one."""

    path: str
    text: str
    id: str = ""


class Mcp(Struct, frozen=True):
    """Call a tool of an MCP server that the agent was given."""

    server: str
    tool: str
    arguments: Json = field(default_factory=dict[str, Any])
    id: str = ""


class AskUser(Struct, frozen=True):
    """Ask the user, with whichever tool the agent offers for it."""

    question: str
    options: tuple[str, ...]
    id: str = ""


class Usage(Struct, frozen=True):
    """Tokens of the reply: `input` counts the cached ones too, `output` the reasoning."""

    input: int = 10
    output: int = 5
    cached: int = 0
    reasoning: int = 0


class Fail(Struct, frozen=True):
    """The HTTP status, if it is the first thing said; else an error in the middle of the stream."""

    status: int
    kind: str = ""
    message: str = "scripted failure"
    retry_after: int | None = None


class Pause(Struct, frozen=True):
    """Nothing more until the test sets the event."""

    until: trio.Event


class Hang(Struct, frozen=True):
    """Nothing any more; the connection stays open until the agent leaves."""


class Drop(Struct, frozen=True):
    """The connection is cut."""


Wait: TypeAlias = Pause | Hang | Drop
AnyTool: TypeAlias = Shell | ReadFile | WriteFile | Mcp | AskUser
# What a dialect can say.
Utterance: TypeAlias = Text | Thinking | ToolCall | Usage | Fail | Wait
Step: TypeAlias = Utterance | AnyTool
Reply: TypeAlias = Sequence[Step]
# Replies in order, one for each request of the agent's main loop; or chosen by what is asked.
Script: TypeAlias = Sequence[Reply] | Callable[[ModelRequest], Reply]

AFTERWARDS: Reply = (Text("done"),)


def echo(request: ModelRequest) -> Reply:
    """The script of a test to which the model's words do not matter."""
    return (Text(f"echo: {request.prompt}"),)


def always(*steps: Step) -> Script:
    """The same each time: for a failure that outlasts the agent's patience."""
    return lambda _: steps


def by_prompt(replies: dict[str, Sequence[Reply]]) -> Script:
    """Chooses by a word in the prompt, for several agents or turns that share one server.

    Which of the replies is counted by the agent's own history: one that asks again hears the same.
    """

    def choose(request: ModelRequest) -> Reply:
        for word, its_replies in replies.items():
            if word in request.prompt:
                return (
                    its_replies[request.round] if request.round < len(its_replies) else AFTERWARDS
                )
        return echo(request)

    return choose


def in_order(replies: Sequence[Reply]) -> Callable[[ModelRequest], Reply]:
    """Plays each reply once; an agent that asks again after a failure hears the next."""
    waiting = iter(replies)
    return lambda _: next(waiting, AFTERWARDS)


def pieces(said: Text | Thinking) -> list[str]:
    """The text, cut into its chunks."""
    size = max(1, -(-len(said.text) // said.chunks))
    return [said.text[at : at + size] for at in range(0, len(said.text), size)]


def joined(steps: Iterable[Utterance], kind: type[Text] | type[Thinking]) -> str:
    """All that is said in this way, for an answer that comes in one piece."""
    return "".join(step.text for step in steps if isinstance(step, kind))


def calls(steps: Iterable[Utterance]) -> list[ToolCall]:
    return [step for step in steps if isinstance(step, ToolCall)]


def usage_of(steps: Iterable[Utterance]) -> Usage:
    return next((step for step in steps if isinstance(step, Usage)), Usage())
