"""A small MCP server on stdin and stdout, of the standard library alone, for agents to be given.

Its one tool, `echo_back`, says the text again, with the word from the environment variable
ECHO_WORD: so a test sees that the call, its answer and the server's environment all arrive.
"""

import json
import os
import sys
from typing import Any

NAME = "looking_glass"
TOOL = "echo_back"
WORD = "ECHO_WORD"

Json = dict[str, Any]

SCHEMA: Json = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "what to say again"}},
    "required": ["text"],
}
DESCRIPTION = "Says the text again."


def answer(method: str, params: Json) -> Json | None:
    """The result of a request; None if there is no such method."""
    match method:
        case "initialize":
            version = params.get("protocolVersion", "2025-06-18")
            info = {"name": NAME, "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            tool = {"name": TOOL, "description": DESCRIPTION, "inputSchema": SCHEMA}
            return {"tools": [tool]}
        case "tools/call":
            return {"content": [{"type": "text", "text": _echo(params["arguments"]["text"])}]}
        case "ping":
            return {}
        case _:
            return None


def _echo(text: str) -> str:
    return f"{text}, {text}, {os.environ.get(WORD, 'no word')}"


def main() -> None:
    for line in sys.stdin:
        message: Json = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": f"no {message['method']}"}
        else:
            reply["result"] = result
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
