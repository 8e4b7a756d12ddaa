"""The fields of the recorded agents' messages, by kind, and how ours differ from them."""

import json
from pathlib import Path

from avatar_actors.programs.embedded.json_lines import (
    Record,
    is_record,
    items_in,
    record_in,
    records_in,
    text_in,
)

RECORDED: Record = json.loads((Path(__file__).parent / "recorded_shapes.json").read_text())


class Shapes:
    """Collects what one agent's messages have too much or too little against its recordings."""

    def __init__(self, agent: str) -> None:
        self._known = record_in(RECORDED, agent)
        self.invented: set[str] = set()
        self.missing: set[str] = set()
        self.seen: set[str] = set()

    def check(self, kind: str, message: Record) -> None:
        assert kind in self._known, f"{kind} was never recorded"
        self.seen.add(kind)
        shape = record_in(self._known, kind)
        always = set(map(str, items_in(shape, "always")))
        sometimes = set(map(str, items_in(shape, "sometimes")))
        self.invented |= {f"{kind}:{key}" for key in set(message) - always - sometimes}
        self.missing |= {f"{kind}:{key}" for key in always - set(message)}


def check_claude(shapes: Shapes, message: Record) -> None:
    kind = claude_kind(message)
    shapes.check(kind, message)
    match text_in(message, "type"):
        case "stream_event":
            shapes.check(f"{kind}/event", record_in(message, "event"))
        case "control_request":
            shapes.check(f"{kind}/request", record_in(message, "request"))
        case "assistant":
            shapes.check(f"{kind}/message", record_in(message, "message"))
        case "result":
            shapes.check("result/usage", record_in(message, "usage"))
            for usage in record_in(message, "modelUsage").values():
                assert is_record(usage)
                shapes.check("result/modelUsage", usage)
        case _:
            pass


def claude_kind(message: Record) -> str:
    """The type of a line, with what tells its kinds apart."""
    kind = text_in(message, "type")
    details: dict[str, object] = {
        "system": message.get("subtype"),
        "stream_event": record_in(message, "event").get("type"),
        "control_request": record_in(message, "request").get("subtype"),
        "control_response": record_in(message, "response").get("subtype"),
        "user": user_kind(message),
        "result": "error" if "errors" in message else "success",
    }
    if record_in(message, "message").get("model") == "<synthetic>":
        return "assistant/synthetic"
    return f"{kind}/{details[kind]}" if kind in details else kind


def user_kind(message: Record) -> str:
    if message.get("isReplay") is True:
        return "replay"
    blocks = records_in(record_in(message, "message"), "content")
    return text_in(blocks[0], "type") if blocks else "text"
