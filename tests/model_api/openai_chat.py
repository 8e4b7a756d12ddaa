"""The dialect of OpenAI's Chat Completions: opencode and qwen-code."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from tests.model_api.dialect import Dialect, Piece, fresh_id, sse
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
from tests.model_api.script import (
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
    joined,
    pieces,
    usage_of,
)

# Agents date the chunks themselves.
CREATED = 0


class _Part(Struct):
    type: str = "text"
    text: str = ""
    image_url: Json | None = None


class _Message(Struct):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[Json] | None = None
    tool_call_id: str = ""


class _Tool(Struct):
    function: Json


class _Schema(Struct):
    schema: Json | None = None


class _Format(Struct):
    json_schema: _Schema | None = None


class _Body(Struct):
    model: str
    messages: list[_Message]
    tools: list[_Tool] | None = None
    stream: bool | None = None
    response_format: _Format | None = None


def read(http: HttpRequest, body: Json) -> ModelRequest:
    asked = msgspec.convert(body, _Body)
    system = [each for each in asked.messages if each.role in {"system", "developer"}]
    return ModelRequest(
        dialect=DialectName.CHAT,
        http=http,
        body=body,
        model=asked.model,
        streams=bool(asked.stream),
        system_prompt="\n".join(map(_text_of, system)),
        offered=[
            OfferedTool(tool.function["name"], tool.function.get("parameters") or {})
            for tool in asked.tools or []
        ],
        entries=[entry for message in asked.messages for entry in _entries(message)],
        schema=((asked.response_format or _Format()).json_schema or _Schema()).schema,
    )


def _text_of(message: _Message) -> str:
    return "\n".join(part.text for part in _parts(message))


def _parts(message: _Message) -> list[_Part]:
    if isinstance(message.content, str):
        return [_Part(text=message.content)]
    return message.content or []


def _entries(message: _Message) -> Iterator[Entry]:
    match message.role:
        case "user":
            for part in _parts(message):
                address: str = (part.image_url or {}).get("url", "")
                yield Image.at(address) if address else UserText(part.text)
        case "assistant":
            yield from (AssistantText(part.text) for part in _parts(message) if part.text)
            for call in message.tool_calls or []:
                yield Called(call["id"], call["function"]["name"])
        case "tool":
            yield ToolResult(message.tool_call_id, _text_of(message))
        case _:
            pass


def stream(request: ModelRequest, steps: Sequence[Utterance]) -> Iterator[Piece]:
    head = _head(request, "chat.completion.chunk")
    yield _chunk(head, {"role": "assistant", "content": ""})
    calls_so_far = 0
    for step in steps:
        match step:
            case Pause() | Hang() | Drop():
                yield step
            case Fail():
                yield sse(error(step)[1])
                return
            case Text():
                yield from (_chunk(head, {"content": piece}) for piece in pieces(step))
            case Thinking():
                yield from (_chunk(head, {"reasoning_content": piece}) for piece in pieces(step))
            case ToolCall():
                yield _chunk(head, {"tool_calls": [{"index": calls_so_far, **_call(step)}]})
                calls_so_far += 1
            case Usage():
                pass
    yield _chunk(head, {}, _finish_reason(steps))
    yield sse({**head, "choices": [], "usage": _usage(steps)})
    yield sse("[DONE]")


def whole(request: ModelRequest, steps: Sequence[Utterance]) -> Json:
    message: Json = {"role": "assistant", "content": joined(steps, Text)}
    if thoughts := joined(steps, Thinking):
        message["reasoning_content"] = thoughts
    if wanted := calls(steps):
        message["tool_calls"] = [_call(call) for call in wanted]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(steps)}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(steps)}


def _head(request: ModelRequest, kind: str) -> Json:
    return {"id": fresh_id("chatcmpl"), "object": kind, "created": CREATED, "model": request.model}


def _chunk(head: Json, delta: Json, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return sse({**head, "choices": [choice]})


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": msgspec.json.encode(call.arguments).decode()}
    return {"id": call.id or fresh_id("call"), "type": "function", "function": function}


def _finish_reason(steps: Sequence[Utterance]) -> str:
    return "tool_calls" if calls(steps) else "stop"


def _usage(steps: Sequence[Utterance]) -> Json:
    usage = usage_of(steps)
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


CHAT = Dialect(DialectName.CHAT, read, stream, whole, error)
