"""The ACP agent: reads JSON-RPC and answers what is about the connection; sessions do the rest."""

from __future__ import annotations

import itertools
from functools import cached_property

from avatar_actors.programs.embedded.acp import messages
from avatar_actors.programs.embedded.acp.messages import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    RpcRefused,
)
from avatar_actors.programs.embedded.cancellation import Replies
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

    from avatar_actors.programs.embedded.acp.messages import AcpFeatures
    from avatar_actors.programs.embedded.acp.sessions import AcpSessions
    from avatar_actors.programs.embedded.process import LineOutput, StartSettings


class AcpAgent:
    """Takes the client's lines and answers them; the turns of the sessions run on threads."""

    def __init__(
        self, client: AcpClient, start: StartSettings, open_sessions: Callable[[], AcpSessions]
    ) -> None:
        self._client = client
        self._start = start
        self._open_sessions = open_sessions
        self._is_authenticated = not start.needs_auth

    @cached_property
    def _sessions(self) -> AcpSessions:
        """Made when first needed: `initialize` is answered 10 ms earlier without them."""
        return self._open_sessions()

    def receive(self, line: bytes) -> None:
        """Handles one line from the client."""
        try:
            message = decode(line)
        except ValueError:
            self._fail(None, RpcRefused(PARSE_ERROR, "Parse error"))
            return
        if not is_record(message):
            self._fail(None, RpcRefused(INVALID_REQUEST, "Invalid Request"))
        elif "method" in message and "id" in message:
            self._answer(message)
        elif message.get("method") == "session/cancel":
            self._sessions.cancel(record_in(message, "params"))
        elif "result" in message or "error" in message:
            self._client.replies.deliver(message.get("id"), message)
        elif "id" in message:
            self._fail(message["id"], RpcRefused(INVALID_REQUEST, "Invalid Request"))

    def _answer(self, message: Record) -> None:
        try:
            match text_in(message, "method"):
                case "initialize":
                    self._initialize(message)
                case "authenticate" | "logout" as method:
                    self._is_authenticated = method == "authenticate"
                    self._succeed(message, {})
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
        self._succeed(message, self.initialized())

    def initialized(self) -> Record:
        """The answer to `initialize`."""
        start = self._start
        return messages.initialized(self._client.features, start.version, can_load=start.can_load)

    def _call(self, message: Record, method: str) -> None:
        sessions = self._sessions
        result = sessions.call(method, record_in(message, "params"))
        self._succeed(message, result)
        for update in sessions.take_updates():
            self._client.output.send(update)

    def _succeed(self, message: Record, result: Record) -> None:
        self._client.output.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _fail(self, request_id: object, refusal: RpcRefused) -> None:
        self._client.output.send({"jsonrpc": "2.0", "id": request_id, "error": refusal.error})


class AcpClient:
    """The client: what it can do by its `initialize`, and the requests whose replies are due."""

    def __init__(self, output: LineOutput, features: AcpFeatures) -> None:
        self.output = output
        self.features = features
        self.replies = Replies()
        self.can_read = False
        self.can_write = False
        self.can_ask_user = False
        self._ids = itertools.count()

    def next_id(self) -> object:
        """A fresh id for a request to the client."""
        return next(self._ids)

    def learn(self, params: Record) -> None:
        """Takes in what the client can do."""
        capabilities = record_in(params, "clientCapabilities")
        files = record_in(capabilities, "fs")
        self.can_ask_user = "form" in record_in(capabilities, "elicitation")
        self.can_read = files.get("readTextFile") is True
        self.can_write = files.get("writeTextFile") is True

    def update(self, session_id: str, update: Record) -> Record:
        """A session/update."""
        params: Record = {"sessionId": session_id, "update": update}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}
