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
METHOD_NOT_FOUND = -32601
BREATH = 0.05  # seconds between two words


class Shouter:
    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._cancelled: dict[str, threading.Event] = {}

    def serve(self) -> None:
        """Until stdin ends. A turn has a thread of its own, so that its cancel is heard."""
        for line in sys.stdin:
            message = json.loads(line)
            match message.get("method"):
                case "initialize":
                    abilities = {"loadSession": False}
                    told = {"protocolVersion": PROTOCOL_VERSION, "agentCapabilities": abilities}
                    self._answer(message, told)
                case "session/new":
                    self._answer(message, {"sessionId": uuid.uuid4().hex})
                case "session/prompt":
                    cancelled = threading.Event()
                    self._cancelled[message["params"]["sessionId"]] = cancelled
                    turn = (message, cancelled)
                    threading.Thread(target=self._turn, args=turn, daemon=True).start()
                case "session/cancel":
                    self._cancelled[message["params"]["sessionId"]].set()
                case unknown if "id" in message:
                    error = {"code": METHOD_NOT_FOUND, "message": f"no method {unknown!r}"}
                    self._write({"id": message["id"], "error": error})
                case _:
                    pass

    def _turn(self, prompt: dict[str, Any], cancelled: threading.Event) -> None:
        said = " ".join(block.get("text", "") for block in prompt["params"]["prompt"])
        for word in said.upper().split():
            text = {"type": "text", "text": f"{word}! "}
            update = {"sessionUpdate": "agent_message_chunk", "content": text}
            told = {"sessionId": prompt["params"]["sessionId"], "update": update}
            self._write({"method": "session/update", "params": told})
            if cancelled.wait(BREATH):
                break
        self._answer(prompt, {"stopReason": "cancelled" if cancelled.is_set() else "end_turn"})

    def _answer(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        self._write({"id": request["id"], "result": result})

    def _write(self, message: dict[str, Any]) -> None:
        with self._writing:
            print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    try:
        Shouter().serve()
    except KeyboardInterrupt:
        sys.exit(130)
