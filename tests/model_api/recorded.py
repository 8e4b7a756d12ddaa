"""What the agent asked: a request of any dialect, kept for the test to look at."""

from enum import Enum
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct, field

Json: TypeAlias = dict[str, Any]


class DialectName(Enum):
    ANTHROPIC = "anthropic messages"
    GEMINI = "gemini generateContent"
    RESPONSES = "openai responses"
    CHAT = "openai chat completions"


class HttpRequest(Struct, frozen=True):
    """As it came from the socket; names of headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path


class UserText(Struct, frozen=True):
    text: str


class AssistantText(Struct, frozen=True):
    text: str


class Called(Struct, frozen=True):
    """A tool call of the model's, as the agent tells it back."""

    id: str
    name: str


class ToolResult(Struct, frozen=True):
    """What the agent's tool gave. Only Anthropic and Gemini say whether it failed."""

    call_id: str
    text: str
    failed: bool = False


class Image(Struct, frozen=True):
    """A picture in the prompt: base64, or an address."""

    media_type: str
    data: str

    @classmethod
    def at(cls, address: str) -> "Image":
        """From an address that may be a `data:` one, which holds the picture itself."""
        media_type, _, data = address.removeprefix("data:").partition(";base64,")
        return cls(media_type, data) if data else cls("", address)


Entry: TypeAlias = UserText | AssistantText | Called | ToolResult | Image


class OfferedTool(Struct, frozen=True):
    """A tool that the model may call, with the JSON schema of its arguments."""

    name: str
    parameters: Json = field(default_factory=dict[str, Any])
    freeform: bool = False
    namespace: str = ""

    @property
    def argument_names(self) -> set[str]:
        return set(self.parameters.get("properties") or ())

    @property
    def full_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


# Tools that are no tools: an agent asks so for an answer in JSON (qwen-code 0.15).
SCHEMA_TOOLS = {"respond_in_schema"}


# How texts begin that an agent puts into the user's mouth.
NOT_OF_THE_USER = ("<", "[Image", "[Request interrupted")


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call of the model. `entries` is the conversation so far, in order."""

    dialect: DialectName
    http: HttpRequest
    body: Json
    model: str
    streams: bool
    system_prompt: str
    offered: list[OfferedTool]
    entries: list[Entry]
    # The JSON schema that the answer must fit, if the agent wants one.
    schema: Json | None = None

    @property
    def path(self) -> str:
        return self.http.path

    @property
    def headers(self) -> dict[str, str]:
        return self.http.headers

    @property
    def api_key(self) -> str:
        """The key that the agent signed in with, by whichever header."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        named = (self.headers.get(name, "") for name in ("x-api-key", "x-goog-api-key"))
        return next(filter(None, named), bearer)

    @property
    def is_main(self) -> bool:
        """Of the agent's main loop; what offers no tools is a side call: a title, a probe."""
        return bool(set(self.tools) - SCHEMA_TOOLS)

    @property
    def tools(self) -> list[str]:
        """The names of the tools; those in a namespace as `namespace.name`."""
        return [tool.full_name for tool in self.offered]

    @property
    def user_texts(self) -> list[str]:
        return [entry.text for entry in self.entries if isinstance(entry, UserText)]

    @property
    def assistant_texts(self) -> list[str]:
        return [entry.text for entry in self.entries if isinstance(entry, AssistantText)]

    @property
    def tool_results(self) -> list[ToolResult]:
        return [entry for entry in self.entries if isinstance(entry, ToolResult)]

    @property
    def images(self) -> list[Image]:
        return [entry for entry in self.entries if isinstance(entry, Image)]

    @property
    def prompt(self) -> str:
        """The last that the user said, without what the agent adds."""
        at = self._prompt_at()
        entry = self.entries[at] if at is not None else UserText("")
        return entry.text if isinstance(entry, UserText) else ""

    @property
    def round(self) -> int:
        """How often the model has answered since the prompt."""
        rounds, is_answering = 0, False
        for entry in self.entries[(self._prompt_at() or 0) + 1 :]:
            answers = isinstance(entry, AssistantText | Called)
            rounds += answers and not is_answering
            is_answering = answers
        return rounds

    def _prompt_at(self) -> int | None:
        places = range(len(self.entries))
        return max((at for at in places if _is_prompt(self.entries[at])), default=None)


def _is_prompt(entry: Entry) -> bool:
    return isinstance(entry, UserText) and not entry.text.lstrip().startswith(NOT_OF_THE_USER)
