"""The sessions of the ACP dialect: made, loaded, listed, set and prompted."""

from __future__ import annotations

from pathlib import Path

from avatar_actors.programs.embedded.dialects.acp import shapes
from avatar_actors.programs.embedded.dialects.acp.turn import AcpTurn
from avatar_actors.programs.embedded.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    RpcRefused,
)
from avatar_actors.programs.embedded.json_lines import Record, is_items, record_in, text_in
from avatar_actors.programs.embedded.session import Session, TurnLine
from avatar_actors.programs.embedded.system_prompt import system_prompt
from avatar_actors.programs.embedded.tool_call import new_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.dialects.acp.agent import AcpClient
    from avatar_actors.programs.embedded.flags import Flags
    from avatar_actors.programs.embedded.performer import Performer
    from avatar_actors.programs.embedded.process import Start
    from avatar_actors.programs.embedded.store import Store


class AcpSessions:
    """The open sessions and the methods that are about one of them."""

    def __init__(
        self, client: AcpClient, flags: Flags, start: Start, store: Store, performer: Performer
    ) -> None:
        self._client = client
        self._flavour = client.flavour
        self._flags = flags
        self._start = start
        self._store = store
        self._sessions: dict[str, Session] = {}
        self._lines: dict[str, TurnLine] = {}
        self._news: list[Record] = []
        self._methods = self._offered()
        self._performer = performer

    def _offered(self) -> dict[str, Callable[[Record], Record]]:
        known: dict[str, Callable[[Record], Record]] = {
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/fork": self._fork,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
            "session/set_config_option": self._set_config_option,
        }
        offered = {"session/new", "session/load", *self._flavour.methods}
        offered.update(f"session/{name}" for name in self._flavour.session_capabilities)
        if not self._start.can_load:
            offered -= {"session/load", "session/resume", "session/fork"}
        return {name: method for name, method in known.items() if name in offered}

    def call(self, method: str, params: Record) -> Record:
        """Does what the method says; raises Refused."""
        if method not in self._methods:
            data: Record = {"method": method}
            raise RpcRefused(METHOD_NOT_FOUND, f'"Method not found": {method}', data)
        return self._methods[method](params)

    def news(self) -> list[Record]:
        """The updates that follow the answer to the last call."""
        news, self._news = self._news, []
        return news

    def prompt(self, message: Record) -> None:
        """Puts a turn in its session's line."""
        session = self._find(record_in(message, "params"))
        line = self._lines[session.id]
        if self._flavour.new_prompt_cancels:
            line.cancel_all()
        line.add(AcpTurn(session, self._client, message))

    def cancel(self, params: Record) -> None:
        """Cancels what the session does and what waits in it."""
        if (line := self._lines.get(text_in(params, "sessionId"))) is not None:
            line.cancel_all()

    def _find(self, params: Record) -> Session:
        session_id = text_in(params, "sessionId")
        if session_id not in self._sessions:
            data: Record = {"sessionId": session_id}
            raise RpcRefused(NOT_FOUND, f"Session {session_id} not found", data)
        return self._sessions[session_id]

    def _new(self, params: Record) -> Record:
        session = self._open(new_uuid(), params)
        self._store.create(session.id, session.cwd)
        return {"sessionId": session.id, **shapes.session_state(self._flavour, session)}

    def _open(self, session_id: str, params: Record) -> Session:
        cwd = text_in(params, "cwd")
        if not cwd.startswith("/") or not Path(cwd).is_dir():
            raise RpcRefused(
                INVALID_PARAMS, "Invalid params", {"cwd": "must be an absolute folder"}
            )
        if not is_items(params.get("mcpServers")):
            raise RpcRefused(INVALID_PARAMS, "Invalid params", {"mcpServers": "must be an array"})
        session = Session(session_id, cwd, self._store)
        session.argv = self._flags.argv
        session.mode = self._flavour.mode
        session.model = self._flags.value("--model", self._flavour.model)
        session.system = system_prompt(self._flags, params)
        session.mcp = params["mcpServers"]
        self._sessions[session_id] = session
        self._lines[session_id] = TurnLine(self._performer.play)
        self._news.append(self._commands(session_id))
        return session

    def _commands(self, session_id: str) -> Record:
        commands = [{"name": "help", "description": "Says what the embedded agent can do."}]
        update: Record = {
            "sessionUpdate": "available_commands_update",
            "availableCommands": commands,
        }
        return self._client.update(session_id, update)

    def _load(self, params: Record) -> Record:
        session = self._reopen(params)
        for entry in session.history:
            for update in shapes.replayed(entry):
                self._client.output.send(self._client.update(session.id, update))
        return shapes.session_state(self._flavour, session)

    def _resume(self, params: Record) -> Record:
        return shapes.session_state(self._flavour, self._reopen(params))

    def _reopen(self, params: Record) -> Session:
        session_id = text_in(params, "sessionId")
        loaded = None if self._start.loses_sessions else self._store.load(session_id)
        if loaded is None:
            code, message, details = self._flavour.load_error
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
        return {"sessionId": new_id, **shapes.session_state(self._flavour, fork)}

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
        if (line := self._lines.pop(session_id, None)) is not None:
            line.cancel_all()
        self._sessions.pop(session_id, None)

    def _set_mode(self, params: Record) -> Record:
        session, mode = self._find(params), text_in(params, "modeId")
        old_mode = session.mode
        self._change_mode(session, mode)
        if self._flavour.name == "gemini":
            if mode == old_mode:
                return {}
            # Gemini CLI 0.61.0 tells of the switch in the words of the agent.
            chunk = shapes.text_block(f"[MODE_UPDATE] {mode}")
            self._tell(session, {"sessionUpdate": "agent_message_chunk", "content": chunk})
        else:
            self._tell_options(session)
        return {}

    def _change_mode(self, session: Session, mode: str) -> None:
        if mode in (known for known, _ in self._flavour.modes):
            session.mode = mode
        elif self._flavour.name == "gemini":
            details: Record = {"details": f"Invalid or unavailable mode: {mode}"}
            raise RpcRefused(INTERNAL_ERROR, "Internal error", details)
        else:
            raise RpcRefused(INVALID_PARAMS, "Invalid params", {"modeId": mode})

    def _set_model(self, params: Record) -> Record:
        session, model = self._find(params), text_in(params, "modelId")
        if self._flavour.name == "codex-acp" and not model.endswith("]"):
            why = f"Unsupported format of modelId: {model}. Expected: modelId[effort]."
            raise RpcRefused(INTERNAL_ERROR, "Internal error", {"details": why})
        session.model = model
        if self._flavour.name == "codex-acp":
            self._tell_options(session)
        return {}

    def _set_config_option(self, params: Record) -> Record:
        session, value = self._find(params), text_in(params, "value")
        match text_in(params, "configId"):
            case "mode":
                self._change_mode(session, value)
            case "model" if value in self._flavour.models:
                session.model = value
            case other:
                raise RpcRefused(INVALID_PARAMS, "Invalid params", {"configId": other})
        self._tell_options(session)
        return {"configOptions": shapes.config_options(self._flavour, session)}

    def _tell_options(self, session: Session) -> None:
        options = shapes.config_options(self._flavour, session)
        self._tell(session, {"sessionUpdate": "config_option_update", "configOptions": options})

    def _tell(self, session: Session, update: Record) -> None:
        self._client.output.send(self._client.update(session.id, update))
