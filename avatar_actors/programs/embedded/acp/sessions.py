"""The sessions of the ACP agent: created, loaded, listed, configured and prompted."""

from __future__ import annotations

from pathlib import Path

from avatar_actors.programs.embedded.acp import messages
from avatar_actors.programs.embedded.acp.messages import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    RpcRefused,
)
from avatar_actors.programs.embedded.acp.turn import AcpTurn
from avatar_actors.programs.embedded.json_lines import Record, is_items, record_in, text_in
from avatar_actors.programs.embedded.session import Session, Store, default_home
from avatar_actors.programs.embedded.tools import new_uuid
from avatar_actors.programs.embedded.turn import PendingTurns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.acp.agent import AcpClient
    from avatar_actors.programs.embedded.process import StartSettings
    from avatar_actors.programs.embedded.script.script import TurnPlayer


class AcpSessions:
    """The open sessions and the methods that are about one of them."""

    def __init__(self, client: AcpClient, start: StartSettings, player: TurnPlayer) -> None:
        self._client = client
        self._features = client.features
        self._start = start
        self._store = Store(default_home())
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, PendingTurns] = {}
        self._updates: list[Record] = []
        self._methods = self._offered()
        self._player = player

    def _offered(self) -> dict[str, Callable[[Record], Record]]:
        offered = {"session/new", "session/load", *self._features.methods}
        offered.update(f"session/{name}" for name in self._features.session_capabilities)
        if not self._start.can_load:
            offered -= {"session/load", "session/resume", "session/fork"}
        known = self.known_methods()
        return {name: method for name, method in known.items() if name in offered}

    def known_methods(self) -> dict[str, Callable[[Record], Record]]:
        """Every method, also those that are not offered."""
        return {
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/fork": self._fork,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }

    def call(self, method: str, params: Record) -> Record:
        """Does what the method says; raises RpcRefused."""
        if method not in self._methods:
            data: Record = {"method": method}
            raise RpcRefused(METHOD_NOT_FOUND, f'"Method not found": {method}', data)
        return self._methods[method](params)

    def take_updates(self) -> list[Record]:
        """The updates that follow the answer to the last call."""
        updates, self._updates = self._updates, []
        return updates

    def prompt(self, message: Record) -> None:
        """Adds a turn to those of its session."""
        session = self._find(record_in(message, "params"))
        self.add_turn(session, self._turns[session.id], message)

    def add_turn(self, session: Session, turns: PendingTurns, message: Record) -> None:
        """Plays the prompt once the turns before it have ended."""
        turns.add(AcpTurn(session, self._client, message))

    def cancel(self, params: Record) -> None:
        """Cancels what the session does and what waits in it."""
        if (turns := self._turns.get(text_in(params, "sessionId"))) is not None:
            turns.cancel_all()

    def _find(self, params: Record) -> Session:
        session_id = text_in(params, "sessionId")
        if session_id not in self._sessions:
            data: Record = {"sessionId": session_id}
            raise RpcRefused(NOT_FOUND, f"Session {session_id} not found", data)
        return self._sessions[session_id]

    def _new(self, params: Record) -> Record:
        session = self._open(new_uuid(), params)
        return {"sessionId": session.id, **self.session_state(session)}

    def _open(self, session_id: str, params: Record) -> Session:
        cwd = text_in(params, "cwd")
        if not cwd.startswith("/") or not Path(cwd).is_dir():
            raise RpcRefused(
                INVALID_PARAMS, "Invalid params", {"cwd": "must be an absolute folder"}
            )
        if not is_items(params.get("mcpServers")):
            raise RpcRefused(INVALID_PARAMS, "Invalid params", {"mcpServers": "must be an array"})
        session = Session(session_id, cwd, self._store)
        session.argv = self._start.argv
        session.mode = self._features.mode
        session.model = self._start.model or self._features.model
        session.system = self.system_prompt(params)
        session.mcp = params["mcpServers"]
        self._sessions[session_id] = session
        self._turns[session_id] = PendingTurns(self._player.play)
        self._updates.append(self._commands(session_id))
        return session

    def system_prompt(self, params: Record) -> str:
        """The instructions of the session: `_meta.systemPrompt`, as Claude's adapter takes them."""
        meta = record_in(params, "_meta")
        return text_in(record_in(meta, "systemPrompt"), "append") or text_in(meta, "systemPrompt")

    def _commands(self, session_id: str) -> Record:
        commands = [{"name": "help", "description": "Says what the embedded agent can do."}]
        update: Record = {
            "sessionUpdate": "available_commands_update",
            "availableCommands": commands,
        }
        return self._client.update(session_id, update)

    def session_state(self, session: Session) -> Record:
        """The modes and options of a session."""
        return messages.session_state(self._features, session)

    def _load(self, params: Record) -> Record:
        session = self._reopen(params)
        for entry in session.history:
            for update in messages.replayed(entry):
                self._client.output.send(self._client.update(session.id, update))
        return self.session_state(session)

    def _resume(self, params: Record) -> Record:
        return self.session_state(self._reopen(params))

    def _reopen(self, params: Record) -> Session:
        session_id = text_in(params, "sessionId")
        loaded = None if self._start.loses_sessions else self._store.load(session_id)
        if loaded is None:
            code, message, details = self._features.load_error
            raise RpcRefused(code, message, {"details": details, "sessionId": session_id})
        self._end(session_id)
        session = self._open(session_id, params)
        session.recall(loaded)
        return session

    def _fork(self, params: Record) -> Record:
        old = self._reopen(params)
        new_id = new_uuid()
        self._store.copy(old.id, new_id)
        fork = self._open(new_id, params)
        fork.history = list(old.history)
        return {"sessionId": new_id, **self.session_state(fork)}

    def _list(self, params: Record) -> Record:
        cwd = text_in(params, "cwd")
        rows = [row for row in self._store.rows() if not cwd or row["cwd"] == cwd]
        return {"sessions": rows, "nextCursor": None}

    def _close(self, params: Record) -> Record:
        self._end(self._find(params).id)
        return {}

    def _delete(self, params: Record) -> Record:
        session_id = text_in(params, "sessionId")
        self._end(session_id)
        self._store.delete(session_id)
        return {}

    def _end(self, session_id: str) -> None:
        if (turns := self._turns.pop(session_id, None)) is not None:
            turns.cancel_all()
        self._sessions.pop(session_id, None)

    def _set_mode(self, params: Record) -> Record:
        session = self._find(params)
        self.change_mode(session, text_in(params, "modeId"))
        self.show_options(session)
        return {}

    def change_mode(self, session: Session, mode: str) -> None:
        """Puts a session into the mode; raises RpcRefused for an unknown one."""
        if mode not in (known for known, _ in self._features.modes):
            raise RpcRefused(INVALID_PARAMS, "Invalid params", {"modeId": mode})
        session.mode = mode

    def _set_config_option(self, params: Record) -> Record:
        session, value = self._find(params), text_in(params, "value")
        match text_in(params, "configId"):
            case "mode":
                self.change_mode(session, value)
            case "model" if value in self._features.models:
                session.model = value
            case other:
                raise RpcRefused(INVALID_PARAMS, "Invalid params", {"configId": other})
        self.show_options(session)
        return {"configOptions": messages.config_options(self._features, session)}

    def show_options(self, session: Session) -> None:
        """Sends the options of a session with their values."""
        options = messages.config_options(self._features, session)
        update: Record = {"sessionUpdate": "config_option_update", "configOptions": options}
        self._client.output.send(self._client.update(session.id, update))
