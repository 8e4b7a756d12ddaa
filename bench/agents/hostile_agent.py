"""An ACP agent that means harm: a stdlib-only program, run by its path.

`python -I -S hostile_agent.py bytes|json|acp SEED`. It answers what a client must hear to begin,
and each prompt with a burst: 10 MB of random bytes, random JSON, or valid ACP in a wrong order. How
the turn ends is left to chance: with an answer, none, two, or its own death.
"""

import json
import os
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

BURST_BYTES = 10_000_000
BURST_LINES = 20_000
BLOCK = 1 << 16

TEXT = {"type": "text", "text": "words"}
STATUSES = ["pending", "in_progress", "completed", "failed", "on fire"]
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
KEYS = ["id", "method", "params", "result", "error", "jsonrpc", "update", ""]
SCALARS: list[object] = [
    *(None, True, 0, -1, 1e308, 10**30, 0.1),
    *("", "session/update", "\ud800", "\u2028", "x" * 5000, "\x00"),
]
NEST: object = json.loads("[" * 200 + "]" * 200)
DEEPEST = 4


class Agent:
    """Its dice, and what it has heard."""

    def __init__(self, kind: str, seed: str) -> None:
        self._dice = random.Random(seed + str(os.getpid()))
        self._burst = {"bytes": self._bytes, "json": self._json, "acp": self._acp}[kind]
        self._session = f"hostile-{seed}"
        self._prompt_id: object = None

    def hear(self, line: bytes) -> None:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                self._before_hello()
                capabilities = {"loadSession": True}
                hello = {"protocolVersion": 1, "agentCapabilities": capabilities}
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": hello})
            case "session/new" | "session/load":
                result = {"sessionId": self._session}
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            case "session/prompt":
                self._prompt_id = message["id"]
                self._burst()
                self._end_turn()
            case _:
                pass

    def _before_hello(self) -> None:
        if self._dice.random() < 0.2:
            self._write(self._dice.randbytes(100_000) + b"\n")

    def _end_turn(self) -> None:
        answer = {"jsonrpc": "2.0", "id": self._prompt_id, "result": {"stopReason": "end_turn"}}
        match self._dice.randrange(6):
            case 0:
                pass
            case 1:
                os._exit(self._dice.randrange(256))
            case 2:
                self._send(answer)
                self._send(answer)
            case _:
                self._send(answer)

    def _bytes(self) -> None:
        for _ in range(BURST_BYTES // BLOCK):
            self._write(self._dice.randbytes(BLOCK))
        self._write(b"\n")

    def _json(self) -> None:
        self._lines(self._value)

    def _acp(self) -> None:
        self._lines(self._message)

    def _lines(self, make: Callable[[], object]) -> None:
        # Made once and shuffled: the host is to be kept busy, not this program.
        lines = [json.dumps(make()).encode() + b"\n" for _ in range(BURST_LINES // 20)]
        for _ in range(20):
            self._dice.shuffle(lines)
            self._write(b"".join(lines))

    def _value(self, depth: int = 0) -> object:
        dice = self._dice
        kind = dice.random() if depth < DEEPEST else 1.0
        if kind < 0.1:
            return [self._value(depth + 1) for _ in range(dice.randrange(5))]
        if kind < 0.3:
            return {key: self._value(depth + 1) for key in dice.sample(KEYS, 4)}
        scalar: object = dice.choice(SCALARS)
        request = {"jsonrpc": "2.0", "id": self._id(), "method": scalar}
        update = {"jsonrpc": "2.0", "method": "session/update", "params": scalar}
        choices: list[object] = [scalar, scalar, request, update, NEST]
        return dice.choice(choices)

    def _id(self) -> object:
        return self._dice.choice([0, 1, 2, 3, "1", "x", None, 1.5, -1, self._prompt_id, 10**20])

    def _message(self) -> dict[str, Any]:
        dice = self._dice
        kind = dice.randrange(100)
        if kind < 60:
            session = self._session if dice.random() < 0.7 else "another"
            news: dict[str, Any] = {"sessionId": session, "update": self._update()}
            return {"jsonrpc": "2.0", "method": "session/update", "params": news}
        if kind < 80:
            method, params = self._request()
            return {"jsonrpc": "2.0", "id": self._id(), "method": method, "params": params}
        if kind < 85:
            taken_back = {"requestId": self._id()}
            return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": taken_back}
        if kind < 93:
            error = {"code": dice.choice([-32000, -32601, 7]), "message": "no"}
            # Seldom of the prompt itself: else each burst would be over with its first line.
            return {"jsonrpc": "2.0", "id": dice.randrange(100, 200), "error": error}
        return {"jsonrpc": "2.0", "id": dice.randrange(100, 200), "result": {"stopReason": "x"}}

    def _update(self) -> dict[str, Any]:
        dice = self._dice
        tool = {"toolCallId": f"tool-{dice.randrange(50)}", "status": dice.choice(STATUSES)}
        content = [{"type": "content", "content": TEXT}]
        return dice.choice(
            [
                {"sessionUpdate": "agent_message_chunk", "content": TEXT},
                {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
                {"sessionUpdate": "user_message_chunk", "content": TEXT},
                {"sessionUpdate": "tool_call", "title": "t", "kind": "edit", **tool},
                {"sessionUpdate": "tool_call_update", "content": content, **tool},
                {"sessionUpdate": "plan", "entries": []},
                {"sessionUpdate": "usage_update", "used": 5, "size": 1},
                {"sessionUpdate": "current_mode_update", "currentModeId": "nowhere"},
                {"sessionUpdate": "available_commands_update", "availableCommands": []},
                {"sessionUpdate": "session_info_update", "title": "x" * dice.randrange(1000)},
                {"sessionUpdate": "something_new", "content": TEXT},
            ]
        )

    def _request(self) -> tuple[str, dict[str, Any]]:
        session = {"sessionId": self._session}
        tool = {"toolCallId": f"tool-{self._dice.randrange(50)}", "title": "t"}
        where = {"path": self._dice.choice(["/etc/shadow", "../../up", "x.txt", ""])}
        requests: list[tuple[str, dict[str, Any]]] = [
            ("session/request_permission", {**session, "toolCall": tool, "options": OPTIONS}),
            ("session/request_permission", {**session, "toolCall": tool, "options": []}),
            ("fs/read_text_file", {**session, **where}),
            ("fs/write_text_file", {**session, **where, "content": "x"}),
            ("terminal/create", {**session, "command": "true"}),
            ("session/prompt", {**session, "prompt": [TEXT]}),
            ("initialize", {"protocolVersion": 99}),
        ]
        return self._dice.choice(requests)

    def _send(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]


def main() -> None:
    agent = Agent(sys.argv[1], sys.argv[2])
    # What is heard during a burst is dropped, but read: the host's answers must not pile up.
    heard: list[bytes] = []
    news = threading.Condition()

    def listen() -> None:
        for line in sys.stdin.buffer:
            if b'"method"' in line:
                with news:
                    heard.append(line)
                    news.notify()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        with news:
            news.wait_for(lambda: heard)
            line = heard.pop(0)
        agent.hear(line)


if __name__ == "__main__":
    main()
