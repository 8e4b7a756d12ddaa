"""What a hostile agent says: random bytes, random JSON, and messages of every wire in any order."""

import base64
import json
import random
from typing import Any

from tests.conformance.subject import Step

METHODS = (
    "session/update",
    "session/request_permission",
    "session/prompt",
    "session/new",
    "initialize",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/kill",
    "of/tomorrow",
)
UPDATES = (
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "usage_update",
    "available_commands_update",
    "current_mode_update",
    "session_info_update",
    "of_tomorrow",
)
# Of Claude's lines, of Gemini's, and of our shim's.
TYPES = (
    "system",
    "assistant",
    "user",
    "stream_event",
    "control_request",
    "control_response",
    "control_cancel_request",
    "command_lifecycle",
    "init",
    "message",
    "tool_use",
    "tool_result",
    "error",
    "avatar_hello",
    "of_tomorrow",
)
SUBTYPES = ("init", "success", "error", "can_use_tool", "interrupt", "task_started", "status", "x")
KEYS = ("type", "subtype", "id", "request_id", "session_id", "text", "content", "status", "title")
WORDS = (
    "",
    "text",
    "tool",
    "running",
    "idle",
    "é\u2028\ud83d\ude00",
    "../../etc/passwd",
    "\0",
    "9",
)


class Babbler:
    """The same seed says the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def steps(self, count: int) -> list[Step]:
        return [self._random.choice(self._ways)() for _ in range(count)]

    @property
    def _ways(self) -> list[Any]:
        return [self._bytes, self._json, self._acp, self._update, self._line]

    def _bytes(self) -> Step:
        return self._raw(self._random.randbytes(self._random.randrange(5000)) + b"\n")

    def _json(self) -> Step:
        return self._message(self._value(5))

    def _acp(self) -> Step:
        number = self._random.choice([None, 0, 1, 2, 3, 4, 5, -1, "x", 1.5])
        method = self._random.choice(METHODS)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": self._params()}
        shape = self._random.randrange(4)
        if shape == 1:
            message["id"] = number
        elif shape == 2:
            message = {"jsonrpc": "2.0", "id": number, "result": self._value(3)}
        elif shape == 3:
            error = {"code": self._random.randrange(-40000, 0), "message": self._word()}
            message = {"jsonrpc": "2.0", "id": number, "error": error}
        return self._message(message)

    def _update(self) -> Step:
        """In the agent's own session."""
        content = self._random.choice([self._text(), [self._text()], self._value(2)])
        update: dict[str, Any] = {"sessionUpdate": self._random.choice(UPDATES)}
        return {"update": {**self._object(2), **update, "toolCallId": "1", "content": content}}

    def _params(self) -> Any:
        params = {"sessionId": self._word(), "update": self._value(3), "path": self._word()}
        params |= {"toolCall": self._value(2), "options": self._value(2), "content": self._word()}
        return self._random.choice([params, params, self._value(3)])

    def _line(self) -> Step:
        message = {"type": self._random.choice(TYPES), "subtype": self._random.choice(SUBTYPES)}
        inner = {"role": "assistant", "content": [self._text(), self._value(2)]}
        more = {"message": self._random.choice([inner, self._value(2)]), "event": self._value(3)}
        more |= {"request": self._value(2), "response": self._value(2), "uuid": self._word()}
        return self._message({**self._object(2), **message, **more})

    def _text(self) -> dict[str, Any]:
        return {"type": self._random.choice(["text", "image", "x"]), "text": self._word()}

    def _object(self, depth: int) -> dict[str, Any]:
        count = self._random.randrange(4)
        return {self._random.choice(KEYS): self._value(depth - 1) for _ in range(count)}

    def _value(self, depth: int) -> Any:
        kind = self._random.randrange(6 if depth else 4)
        if kind == 4:
            return [self._value(depth - 1) for _ in range(self._random.randrange(4))]
        if kind == 5:
            return self._object(depth)
        return [None, self._random.random() < 0.5, self._random.randrange(-9, 99), self._word()][
            kind
        ]

    def _word(self) -> str:
        return self._random.choice(WORDS)

    def _message(self, value: Any) -> Step:
        return self._raw(json.dumps(value).encode() + b"\n")

    @staticmethod
    def _raw(data: bytes) -> Step:
        return {"raw": {"base64": base64.b64encode(data).decode()}}
