"""What a Claude process knows between its turns, and its way to the host."""

from __future__ import annotations

import os

from avatar_actors.programs.embedded.cancellation import Replies
from avatar_actors.programs.embedded.json_lines import Record, decode, is_record, record_in
from avatar_actors.programs.embedded.tools import new_uuid
from tests.fake_agents.claude import shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.process import LineOutput
    from avatar_actors.programs.embedded.session import Session
    from tests.fake_agents.flags import Flags

STATE_VARIABLE = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"
MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")


class ClaudeReplies(Replies):
    """The replies to requests; none can come once stdin has ended."""

    def release_all(self) -> None:
        """Ends every wait."""
        with self._lock:
            slots = list(self._slots.values())
        for slot in slots:
            slot.release()


class ClaudeState:
    """The session, the counters that every result carries, and who may do what."""

    def __init__(self, flags: Flags, session: Session, output: LineOutput) -> None:
        self.flags = flags
        self.session = session
        self.output = output
        self.replies = ClaudeReplies()
        self.is_partial = flags.has("--include-partial-messages")
        self.replays = flags.has("--replay-user-messages")
        self.has_schema = flags.has("--json-schema")
        self.asks_host = flags.value("--permission-prompt-tool") == "stdio"
        self.results = 0
        self.last_is_error = False
        self.used: dict[str, float] = {}
        self.state = "idle"
        self.input_ended = False
        allowed = flags.values("--allowedTools") + flags.values("--allowed-tools")
        names = ",".join(allowed).replace(" ", ",").split(",")
        session.always_allowed = {name.partition("(")[0] for name in names if name}
        session.mcp = mcp_servers(flags)

    def send(self, record: Record) -> None:
        """Writes a line of this session, with an id of its own."""
        self.output.send({"uuid": new_uuid(), **record, "session_id": self.session.id})

    def system(self, subtype: str, more: Record) -> None:
        """Writes a system line."""
        self.send({"type": "system", "subtype": subtype, **more})

    def enter(self, state: str) -> None:
        """Tells of a new state of the session, if the host asked for such lines."""
        if self.state != state:
            self.state = state
            if os.environ.get(STATE_VARIABLE) == "1":
                self.system("session_state_changed", {"state": state})

    def lifecycle(self, uuid: str, state: str) -> None:
        """Tells how far a user's message is, if it had a uuid."""
        if uuid:
            self.send({"type": "command_lifecycle", "command_uuid": uuid, "state": state})

    def init(self) -> Record:
        """The line that opens a turn."""
        session = self.session
        servers: list[Record] = [
            {"name": name, "status": "pending", "source": "dynamic"}
            for name in (session.mcp if is_record(session.mcp) else {})
        ]
        return shapes.init(session.cwd, session.model, session.mode, servers)

    def allows(self, name: str, kind: str) -> bool:
        """Whether a tool may run without asking."""
        mode = self.session.mode
        is_edit = kind == "edit" and mode == "acceptEdits"
        return mode == "bypassPermissions" or is_edit or name in self.session.always_allowed


def mcp_servers(flags: Flags) -> Record:
    """The servers of --mcp-config, by name; files and bad JSON give none."""
    servers: Record = {}
    for given in flags.values("--mcp-config"):
        try:
            config = decode(given.encode())
        except ValueError:
            continue
        servers.update(record_in(config if is_record(config) else {}, "mcpServers"))
    return servers
