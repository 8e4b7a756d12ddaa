"""The dialect of OpenAI's Responses: both Codex adapters."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct, field

from tests.model_api.dialect import Dialect
from tests.model_api.openai_error import error
from tests.model_api.recorded import (
    AssistantText,
    Called,
    DialectName,
    Entry,
    HttpRequest,
    Image,
    Json,
    ModelRequest,
    OfferedTool,
    ToolResult,
    UserText,
)
from tests.model_api.responses_stream import stream, whole


class _Part(Struct):
    type: str = ""
    text: str = ""
    image_url: str | None = None


class _Tool(Struct):
    type: str = "function"
    name: str = ""
    parameters: Json | None = None
    # Of a namespace, which is how Codex offers an MCP server.
    tools: list["_Tool"] = field(default_factory=list["_Tool"])


class _Item(Struct):
    type: str = "message"
    role: str = ""
    content: str | list[_Part] | None = None
    call_id: str = ""
    name: str = ""
    output: str | list[_Part] | None = None
    # Of `additional_tools`, which is how Codex's newest models are offered them.
    tools: list[_Tool] = field(default_factory=list[_Tool])


class _Format(Struct):
    schema: Json | None = None


class _Text(Struct):
    format: _Format | None = None


class _Body(Struct):
    model: str
    input: str | list[_Item]
    instructions: str | None = None
    tools: list[_Tool] | None = None
    stream: bool | None = None
    text: _Text | None = None


def read(http: HttpRequest, body: Json) -> ModelRequest:
    asked = msgspec.convert(body, _Body)
    items = (
        [_Item(role="user", content=asked.input)] if isinstance(asked.input, str) else asked.input
    )
    added = [tool for item in items if item.type == "additional_tools" for tool in item.tools]
    developer = [_text_of(item.content) for item in items if item.role in {"developer", "system"}]
    return ModelRequest(
        dialect=DialectName.RESPONSES,
        http=http,
        body=body,
        model=asked.model,
        streams=bool(asked.stream),
        system_prompt="\n".join(filter(None, [asked.instructions, *developer])),
        offered=list(_offered([*(asked.tools or []), *added])),
        entries=[entry for item in items for entry in _entries(item)],
        schema=((asked.text or _Text()).format or _Format()).schema,
    )


def _offered(tools: list[_Tool], namespace: str = "") -> Iterator[OfferedTool]:
    for tool in tools:
        if tool.type == "namespace":
            yield from _offered(tool.tools, tool.name)
        else:
            name, is_freeform = tool.name or tool.type, tool.type == "custom"
            yield OfferedTool(name, tool.parameters or {}, is_freeform, namespace)


def _text_of(content: str | list[_Part] | None) -> str:
    return "\n".join(part.text for part in _parts(content))


def _parts(content: str | list[_Part] | None) -> list[_Part]:
    return [_Part(text=content)] if isinstance(content, str) else content or []


def _entries(item: _Item) -> Iterator[Entry]:
    if item.type == "message" and item.role == "user":
        for part in _parts(item.content):
            yield Image.at(part.image_url) if part.image_url else UserText(part.text)
    elif item.type == "message" and item.role == "assistant":
        yield AssistantText(_text_of(item.content))
    elif item.type.endswith("_call"):
        yield Called(item.call_id, item.name)
    elif item.type.endswith("_call_output"):
        yield ToolResult(item.call_id, _text_of(item.output))


RESPONSES = Dialect(DialectName.RESPONSES, read, stream, whole, error)
