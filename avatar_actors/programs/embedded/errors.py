"""What a script or a JSON-RPC request is refused with."""

from __future__ import annotations

from avatar_actors.programs.embedded.json_lines import Record

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002


class RpcRefused(Exception):
    """A request is not done; `error` is what its sender reads."""

    def __init__(self, code: int, message: str, data: Record | None = None) -> None:
        super().__init__(message)
        self.error: Record = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class BadScript(Exception):
    """The script asks for what does not exist; the message says what and what does."""
