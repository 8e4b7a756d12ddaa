"""The ACP dialect: reads JSON-RPC, answers what is about the connection, passes on the rest."""

from __future__ import annotations

import itertools
from functools import cached_property

from avatar_actors.programs.embedded.cancelling import Replies
from avatar_actors.programs.embedded.dialects.acp import shapes
from avatar_actors.programs.embedded.errors import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    RpcRefused,
)
from avatar_actors.programs.embedded.json_lines import (
    Record,
    decode,
    is_record,
    number_in,
    record_in,
    text_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.dialects.acp.sessions import AcpSessions
    from avatar_actors.programs.embedded.dialects.acp.variants import AcpVariant
    from avatar_actors.programs.embedded.pipes import LineOutput
    from avatar_actors.programs.embedded.process import Start


class AcpAgent:
    """Hears lines and answers them; the turns of the sessions have threads of their own."""

    def __init__(
        self, client: AcpClient, start: Start, open_sessions: Callable[[], AcpSessions]
    ) -> None:
        self._client = client
        self._start = start
        self._open_sessions = open_sessions
        self._is_authenticated = not start.needs_auth

    @cached_property
    def _sessions(self) -> AcpSessions:
        """Made when first needed: `initialize` is answered 10 ms earlier without them."""
        return self._open_sessions()

    def hear(self, line: bytes) -> None:
        """One line from the client."""
        try:
            message = decode(line)
        except ValueError:
            self._fail(None, RpcRefused(PARSE_ERROR, "Parse error"))
            return
        if not is_record(message):
            self._fail(None, RpcRefused(INVALID_REQUEST, "Invalid Request"))
        elif "method" in message and "id" in message:
            self._hear_request(message)
        elif message.get("method") == "session/cancel":
            self._sessions.cancel(record_in(message, "params"))
        elif "result" in message or "error" in message:
            self._client.replies.deliver(message.get("id"), message)
        elif "id" in message:
            self._fail(message["id"], RpcRefused(INVALID_REQUEST, "Invalid Request"))

    def _hear_request(self, message: Record) -> None:
        try:
            match text_in(message, "method"):
                case "initialize":
                    self._initialize(message)
                case "authenticate" | "logout" as method:
                    self._is_authenticated = method == "authenticate"
                    self._answer(message, {})
                case _ if not self._is_authenticated:
                    raise RpcRefused(AUTH_REQUIRED, "Authentication required")
                case "session/prompt":
                    self._sessions.prompt(message)
                case method:
                    self._call(message, method)
        except RpcRefused as refusal:
            self._fail(message["id"], refusal)

    def _initialize(self, message: Record) -> None:
        if self._start.is_mute:
            return
        if (error := self._start.initialize_error) is not None:
            code = int(number_in(error, "code", INTERNAL_ERROR))
            raise RpcRefused(code, text_in(error, "message", "initialize failed"))
        self._client.learn(record_in(message, "params"))
        flavour, start = self._client.flavour, self._start
        self._answer(message, shapes.initialized(flavour, start.version, can_load=start.can_load))
        if flavour.name == "codex-acp":
            status = {"kind": "gateway", "label": "Custom model gateway", "detail": "embedded"}
            self._notify("_auth/status_update", {"authStatus": status})

    def _call(self, message: Record, method: str) -> None:
        sessions = self._sessions
        result = sessions.call(method, record_in(message, "params"))
        self._answer(message, result)
        for update in sessions.news():
            self._client.output.send(update)

    def _answer(self, message: Record, result: Record) -> None:
        self._client.output.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _fail(self, request_id: object, refusal: RpcRefused) -> None:
        self._client.output.send({"jsonrpc": "2.0", "id": request_id, "error": refusal.error})

    def _notify(self, method: str, params: Record) -> None:
        self._client.output.send({"jsonrpc": "2.0", "method": method, "params": params})


class AcpClient:
    """The client: what it offered at `initialize`, and the requests that it owes a reply."""

    def __init__(self, output: LineOutput, flavour: AcpVariant) -> None:
        self.output = output
        self.flavour = flavour
        self.replies = Replies()
        self.can_read = False
        self.can_write = False
        self._ids = itertools.count()

    def next_id(self) -> int:
        """A fresh id for a request to it."""
        return next(self._ids)

    def learn(self, params: Record) -> None:
        """Takes in what the client can do."""
        files = record_in(record_in(params, "clientCapabilities"), "fs")
        self.can_read = files.get("readTextFile") is True
        self.can_write = files.get("writeTextFile") is True

    def update(self, session_id: str, update: Record) -> Record:
        """A session/update."""
        params: Record = {"sessionId": session_id, "update": update}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}
