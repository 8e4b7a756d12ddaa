"""The dialect of Anthropic's Messages API: Claude Code and claude-agent-acp."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from tests.model_api.dialect import Dialect, Piece, fresh_id, sse
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
from tests.model_api.script import (
    OVERLOADED,
    Drop,
    Fail,
    Hang,
    Pause,
    Text,
    Thinking,
    ToolCall,
    Usage,
    Utterance,
    calls,
    pieces,
    usage_of,
)

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    OVERLOADED: "overloaded_error",
}


class _Source(Struct):
    media_type: str = ""
    data: str = ""
    url: str = ""


class _Block(Struct):
    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    tool_use_id: str = ""
    content: str | list["_Block"] | None = None
    is_error: bool | None = None
    source: _Source | None = None


class _Message(Struct):
    # Claude Code 2.1.325 also sends messages of the role `system` in the middle.
    role: str
    content: str | list[_Block]


class _Tool(Struct):
    name: str = ""
    input_schema: Json = field(default_factory=dict[str, Any])


class _Format(Struct):
    schema: Json | None = None


class _OutputConfig(Struct):
    format: _Format | None = None


class _Body(Struct):
    model: str
    messages: list[_Message]
    system: str | list[_Block] | None = None
    tools: list[_Tool] | None = None
    stream: bool | None = None
    output_config: _OutputConfig | None = None


def read(http: HttpRequest, body: Json) -> ModelRequest:
    asked = msgspec.convert(body, _Body)
    added = [message.content for message in asked.messages if message.role == "system"]
    return ModelRequest(
        dialect=DialectName.ANTHROPIC,
        http=http,
        body=body,
        model=asked.model,
        streams=bool(asked.stream),
        system_prompt="\n".join([_text_of(asked.system), *map(_text_of, added)]),
        offered=[OfferedTool(tool.name, tool.input_schema) for tool in asked.tools or []],
        entries=[
            entry
            for message in asked.messages
            if message.role != "system"
            for entry in _entries(message)
        ],
        schema=((asked.output_config or _OutputConfig()).format or _Format()).schema,
    )


def _text_of(content: str | list[_Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or [] if block.text)


def _entries(message: _Message) -> Iterator[Entry]:
    said = AssistantText if message.role == "assistant" else UserText
    if isinstance(message.content, str):
        yield said(message.content)
        return
    for block in message.content:
        match block.type:
            case "text":
                yield said(block.text)
            case "tool_use":
                yield Called(block.id, block.name)
            case "tool_result":
                yield ToolResult(block.tool_use_id, _text_of(block.content), bool(block.is_error))
            case "image":
                source = block.source or _Source()
                yield Image(source.media_type, source.data or source.url)
            case _:
                pass


class _Blocks:
    """The content blocks of a streamed message: one stays open while more of its kind comes."""

    def __init__(self) -> None:
        self._index = -1
        self._open = ""

    def open(self, block: Json) -> Iterator[bytes]:
        if self._open != block["type"] or block["type"] == "tool_use":
            yield from self.close()
            self._index, self._open = self._index + 1, block["type"]
            yield _event("content_block_start", index=self._index, content_block=block)

    def delta(self, kind: str, name: str, value: str) -> bytes:
        return _event("content_block_delta", index=self._index, delta={"type": kind, name: value})

    def close(self) -> Iterator[bytes]:
        if self._open == "thinking":
            yield self.delta("signature_delta", "signature", fresh_id("sig"))
        if self._open:
            yield _event("content_block_stop", index=self._index)
        self._open = ""


def _event(kind: str, **rest: object) -> bytes:
    return sse({"type": kind, **rest}, kind)


def stream(request: ModelRequest, steps: Sequence[Utterance]) -> Iterator[Piece]:
    usage = _usage(usage_of(steps))
    message = _message(request, [], None, {**usage, "output_tokens": 1})
    yield _event("message_start", message=message)
    yield _event("ping")
    blocks = _Blocks()
    for step in steps:
        match step:
            case Pause() | Hang() | Drop():
                yield step
            case Fail():
                yield sse(error(step)[1], "error")
                return
            case Usage():
                pass
            case Text() | Thinking() | ToolCall():
                yield from _spoken(blocks, step)
    yield from blocks.close()
    ending = {"stop_reason": _stop_reason(steps), "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage=usage)
    yield _event("message_stop")


def _spoken(blocks: _Blocks, step: Text | Thinking | ToolCall) -> Iterator[bytes]:
    match step:
        case Text():
            yield from blocks.open({"type": "text", "text": ""})
            yield from (blocks.delta("text_delta", "text", piece) for piece in pieces(step))
        case Thinking():
            yield from blocks.open({"type": "thinking", "thinking": "", "signature": ""})
            yield from (blocks.delta("thinking_delta", "thinking", piece) for piece in pieces(step))
        case ToolCall():
            yield from blocks.open({**_tool_use(step), "input": {}})
            arguments = msgspec.json.encode(step.arguments).decode()
            yield blocks.delta("input_json_delta", "partial_json", arguments)


def whole(request: ModelRequest, steps: Sequence[Utterance]) -> Json:
    content: list[Json] = []
    for step in steps:
        match step:
            case Text(text):
                content.append({"type": "text", "text": text})
            case Thinking(text):
                content.append({"type": "thinking", "thinking": text, "signature": fresh_id("sig")})
            case ToolCall():
                content.append(_tool_use(step))
            case _:
                pass
    return _message(request, content, _stop_reason(steps), _usage(usage_of(steps)))


def _message(
    request: ModelRequest, content: list[Json], stop_reason: str | None, usage: Json
) -> Json:
    return {
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _tool_use(call: ToolCall) -> Json:
    name, given = call.name, call.arguments
    return {"type": "tool_use", "id": call.id or fresh_id("toolu"), "name": name, "input": given}


def _stop_reason(steps: Sequence[Utterance]) -> str:
    return "tool_use" if calls(steps) else "end_turn"


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def error(fail: Fail) -> tuple[int, Json]:
    kind = fail.kind or KINDS.get(fail.status, "api_error")
    return fail.status, {"type": "error", "error": {"type": kind, "message": fail.message}}


ANTHROPIC = Dialect(DialectName.ANTHROPIC, read, stream, whole, error)
