"""The answers of OpenAI's Responses: items, each announced, told in deltas and told whole."""

from collections.abc import Iterator, Sequence

import msgspec

from tests.model_api.dialect import Piece, fresh_id, sse
from tests.model_api.openai_error import error
from tests.model_api.recorded import Json, ModelRequest
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
    pieces,
    usage_of,
)


class _Items:
    """The output so far; a message or a thought stays open while more of its kind comes."""

    def __init__(self) -> None:
        self.done: list[Json] = []
        self._open: Text | Thinking | None = None
        self._id = ""

    def say(self, said: Text | Thinking) -> Iterator[bytes]:
        if type(self._open) is not type(said):
            yield from self.close()
            yield from self._begin(said)
        for piece in pieces(said):
            yield self._delta(said, piece)
        before = self._open.text if self._open else ""
        self._open = type(said)(before + said.text)

    def call(self, call: ToolCall) -> Iterator[bytes]:
        yield from self.close()
        item = _call_item(call)
        yield self._told("response.output_item.added", item=item)
        yield from self._finish(item)

    def close(self) -> Iterator[bytes]:
        if self._open is not None:
            item = _spoken_item(self._id, self._open, "completed")
            self._open = None
            yield from self._finish(item)

    def _begin(self, said: Text | Thinking) -> Iterator[bytes]:
        self._id = fresh_id("msg" if isinstance(said, Text) else "rs")
        empty = _spoken_item(self._id, said, "in_progress")
        yield self._told("response.output_item.added", item=empty)
        if isinstance(said, Text):
            part = _text_part("")
            yield self._told("response.content_part.added", **self._place(said), part=part)
        else:
            part = {"type": "summary_text", "text": ""}
            yield self._told(
                "response.reasoning_summary_part.added", **self._place(said), part=part
            )

    def _delta(self, said: Text | Thinking, piece: str) -> bytes:
        kind = "output_text" if isinstance(said, Text) else "reasoning_summary_text"
        return self._told(f"response.{kind}.delta", **self._place(said), delta=piece)

    def _place(self, said: Text | Thinking) -> Json:
        part = "content_index" if isinstance(said, Text) else "summary_index"
        return {"item_id": self._id, part: 0}

    def _finish(self, item: Json) -> Iterator[bytes]:
        yield self._told("response.output_item.done", item=item)
        self.done.append(item)

    def _told(self, kind: str, **rest: object) -> bytes:
        return sse({"type": kind, "output_index": len(self.done), **rest}, kind)


def _text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": []}


def _spoken_item(id_: str, said: Text | Thinking, status: str) -> Json:
    is_done = status == "completed"
    if isinstance(said, Thinking):
        summary = [{"type": "summary_text", "text": said.text}] if is_done else []
        return {"type": "reasoning", "id": id_, "summary": summary, "encrypted_content": "sealed"}
    content = [_text_part(said.text)] if is_done else []
    kind = {"type": "message", "role": "assistant"}
    return {**kind, "id": id_, "status": status, "content": content}


def _call_item(call: ToolCall) -> Json:
    item: Json = {"call_id": call.id or fresh_id("call"), "status": "completed", "name": call.name}
    if call.namespace:
        item["namespace"] = call.namespace
    if isinstance(call.arguments, str):
        return {**item, "type": "custom_tool_call", "id": fresh_id("ctc"), "input": call.arguments}
    arguments = msgspec.json.encode(call.arguments).decode()
    return {**item, "type": "function_call", "id": fresh_id("fc"), "arguments": arguments}


def stream(request: ModelRequest, steps: Sequence[Utterance]) -> Iterator[Piece]:
    response = {"id": fresh_id("resp"), "object": "response", "model": request.model}
    started: Json = {**response, "status": "in_progress", "output": []}
    yield sse({"type": "response.created", "response": started}, "response.created")
    items = _Items()
    for step in steps:
        match step:
            case Pause() | Hang() | Drop():
                yield step
            case Fail():
                failed = {**response, "status": "failed", **error(step)[1]}
                yield sse({"type": "response.failed", "response": failed}, "response.failed")
                return
            case Text() | Thinking():
                yield from items.say(step)
            case ToolCall():
                yield from items.call(step)
            case Usage():
                pass
    yield from items.close()
    ended = {**response, "status": "completed", "output": items.done, "usage": _usage(steps)}
    yield sse({"type": "response.completed", "response": ended}, "response.completed")


def whole(request: ModelRequest, steps: Sequence[Utterance]) -> Json:
    items = _Items()
    for step in steps:
        match step:
            case Text() | Thinking():
                _ = list(items.say(step))
            case ToolCall():
                _ = list(items.call(step))
            case _:
                pass
    _ = list(items.close())
    response = {"id": fresh_id("resp"), "object": "response", "model": request.model}
    return {**response, "status": "completed", "output": items.done, "usage": _usage(steps)}


def _usage(steps: Sequence[Utterance]) -> Json:
    usage = usage_of(steps)
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
