"""The dialect of Gemini's generateContent: Gemini CLI."""

import re
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
    pieces,
    usage_of,
)

PATH = re.compile(r"/v1\w*/models/(?P<model>[^/:]+):(?P<action>\w+)")
STREAM = "streamGenerateContent"
KINDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class _Part(Struct, rename="camel"):
    text: str = ""
    thought: bool = False
    function_call: Json | None = None
    function_response: Json | None = None
    inline_data: Json | None = None


class _Content(Struct):
    parts: list[_Part] = field(default_factory=list[_Part])
    role: str = "user"


class _Tool(Struct, rename="camel"):
    function_declarations: list[Json] = field(default_factory=list[Json])


class _Body(Struct, rename="camel"):
    contents: list[_Content]
    system_instruction: _Content | None = None
    tools: list[_Tool] | None = None
    generation_config: Json = field(default_factory=dict[str, Any])


def read(http: HttpRequest, body: Json) -> ModelRequest:
    asked = msgspec.convert(body, _Body)
    place = PATH.fullmatch(http.path)
    wanted = asked.generation_config
    instruction = asked.system_instruction or _Content()
    return ModelRequest(
        dialect=DialectName.GEMINI,
        http=http,
        body=body,
        model=place["model"] if place else "",
        streams=place is not None and place["action"] == STREAM,
        system_prompt="\n".join(part.text for part in instruction.parts),
        offered=[
            OfferedTool(
                each["name"], each.get("parametersJsonSchema") or each.get("parameters", {})
            )
            for tool in asked.tools or []
            for each in tool.function_declarations
        ],
        entries=[entry for content in asked.contents for entry in _entries(content)],
        schema=wanted.get("responseJsonSchema") or wanted.get("responseSchema"),
    )


def _entries(content: _Content) -> Iterator[Entry]:
    said = AssistantText if content.role == "model" else UserText
    for part in content.parts:
        if part.function_call is not None:
            yield Called(part.function_call.get("id", ""), part.function_call["name"])
        elif part.function_response is not None:
            yield _result(part.function_response)
        elif part.inline_data is not None:
            yield Image(part.inline_data["mimeType"], part.inline_data["data"])
        elif not part.thought:
            yield said(part.text)


def _result(given: Json) -> ToolResult:
    response: Json = given["response"]
    failed = "error" in response
    return ToolResult(
        given.get("id", ""), str(response.get("error" if failed else "output")), failed
    )


def stream(request: ModelRequest, steps: Sequence[Utterance]) -> Iterator[Piece]:
    head = {"modelVersion": request.model, "responseId": fresh_id("response")}
    for step in steps:
        match step:
            case Pause() | Hang() | Drop():
                yield step
            case Fail():
                yield sse(error(step)[1])
                return
            case Usage():
                pass
            case Text() | Thinking() | ToolCall():
                yield from (sse({**_candidate([part]), **head}) for part in _parts(step))
    last = {**_candidate([{"text": ""}], finishReason="STOP"), "usageMetadata": _usage(steps)}
    yield sse({**last, **head})


def whole(request: ModelRequest, steps: Sequence[Utterance]) -> Json:
    spoken = [step for step in steps if isinstance(step, Text | Thinking | ToolCall)]
    parts = [part for step in spoken for part in _parts(step)]
    candidate = _candidate(parts, finishReason="STOP")
    return {**candidate, "usageMetadata": _usage(steps), "modelVersion": request.model}


def _parts(step: Text | Thinking | ToolCall) -> list[Json]:
    match step:
        case Text():
            return [{"text": piece} for piece in pieces(step)]
        case Thinking():
            return [{"text": piece, "thought": True} for piece in pieces(step)]
        case ToolCall(name, arguments, id_):
            # The API may leave the id out; then the agent makes one.
            return [
                {"functionCall": {"name": name, "args": arguments, **({"id": id_} if id_ else {})}}
            ]


def _candidate(parts: list[Json], **rest: str) -> Json:
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **rest}]}


def _usage(steps: Sequence[Utterance]) -> Json:
    usage = usage_of(steps)
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.input + usage.output,
    }


def error(fail: Fail) -> tuple[int, Json]:
    status = 503 if fail.status == OVERLOADED else fail.status
    kind = fail.kind or KINDS.get(status, "UNKNOWN")
    return status, {"error": {"code": status, "message": fail.message, "status": kind}}


GEMINI = Dialect(DialectName.GEMINI, read, stream, whole, error)
