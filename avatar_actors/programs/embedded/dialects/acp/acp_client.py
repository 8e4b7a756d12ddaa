"""What is known of the ACP client on the other side, and the way to it."""

from __future__ import annotations

import itertools

from avatar_actors.programs.embedded.json_lines import Record, record_in
from avatar_actors.programs.embedded.replies import Replies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.dialects.acp.variants import Flavour
    from avatar_actors.programs.embedded.pipes import Output


class AcpClient:
    """The client: what it offered at `initialize`, and the requests that it owes a reply."""

    def __init__(self, output: Output, flavour: Flavour) -> None:
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
