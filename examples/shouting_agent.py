"""An agent of one's own, in one file of the standard library: it shouts what it is told.

It speaks the Agent Client Protocol, one JSON object per line on stdin and stdout, so any client
can start it: `python examples/shouting_agent.py`. `examples.custom_acp_agent` does.
"""

import json
import sys
import threading
import uuid
from typing import Any

PROTOCOL_VERSION = 1
PARSE_ERROR, METHOD_NOT_FOUND = -32700, -32601
BREATH = 0.05  # seconds between two words


class Shouter:
    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._cancelled: dict[str, threading.Event] = {}

    def serve(self) -> None:
        """Until stdin ends."""
        for line in sys.stdin:
            try:
                message = json.loads(line)
            except ValueError:
                self._refuse(None, PARSE_ERROR, "one JSON object per line, please")
            else:
                self._hear(message)

    def _hear(self, message: Any) -> None:
        match message:
            case {"method": "initialize", "id": request}:
                abilities = {"loadSession": False}
                told = {"protocolVersion": PROTOCOL_VERSION, "agentCapabilities": abilities}
                self._answer(request, told)
            case {"method": "session/new", "id": request}:
                self._answer(request, {"sessionId": uuid.uuid4().hex})
            case {
                "method": "session/prompt",
                "id": request,
                "params": {"sessionId": session, "prompt": blocks},
            }:
                said = " ".join(block.get("text", "") for block in blocks)
                cancelled = self._cancelled[session] = threading.Event()
                # In a thread of its own, so that its cancel is heard meanwhile.
                turn = (request, session, said, cancelled)
                threading.Thread(target=self._turn, args=turn, daemon=True).start()
            case {"method": "session/cancel", "params": {"sessionId": session}} if (
                session in self._cancelled
            ):
                self._cancelled[session].set()
            case {"method": method, "id": request}:
                self._refuse(request, METHOD_NOT_FOUND, f"no such {method!r} here")
            case _:
                pass  # a notification that means nothing here

    def _turn(self, request: object, session: str, said: str, cancelled: threading.Event) -> None:
        for word in said.upper().split():
            text = {"type": "text", "text": f"{word}! "}
            update = {"sessionUpdate": "agent_message_chunk", "content": text}
            told = {"sessionId": session, "update": update}
            self._write({"method": "session/update", "params": told})
            if cancelled.wait(BREATH):
                break
        self._answer(request, {"stopReason": "cancelled" if cancelled.is_set() else "end_turn"})

    def _answer(self, request: object, result: dict[str, Any]) -> None:
        self._write({"id": request, "result": result})

    def _refuse(self, request: object, code: int, problem: str) -> None:
        self._write({"id": request, "error": {"code": code, "message": problem}})

    def _write(self, message: dict[str, Any]) -> None:
        with self._writing:
            print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    try:
        Shouter().serve()
    except KeyboardInterrupt:
        sys.exit(130)
