"""Opens an ACP connection: handshake, login, session, model and mode, in this order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from avatar_actors import __version__
from avatar_actors.model.command_line import is_session_id, unusable_session
from avatar_actors.model.events import DiagnosticEvent
from avatar_actors.model.values import Continuity, JsonObject, PermissionBasis
from avatar_actors.wire.acp.choices import Choices, choose, models_of, modes_of
from avatar_actors.wire.acp.content import mcp_server, refused_server
from avatar_actors.wire.acp.profile import (
    AcpProfile,
    FilesOffered,
    HeldBy,
    SystemPromptBy,
    capabilities_of,
    has_session_method,
    login_advice,
    system_prompt_params,
    system_prompt_way,
)
from avatar_actors.wire.acp.schema import Initialized, SessionResult
from avatar_actors.wire.acp.turn import AcpTurnAccount
from avatar_actors.wire.commands import Beginning, Open
from avatar_actors.wire.facts import Fact, Opened, OpenFailed, OpenFailure
from avatar_actors.wire.json_values import at, decoded, decoded_as, is_array, text_at, timestamp_of
from avatar_actors.wire.jsonrpc import AUTH_REQUIRED, Peer, Reply, RpcError
from avatar_actors.wire.phases import PhaseTracker, Step
from avatar_actors.wire.shared_events import remark


def held_by(profile: AcpProfile, agent_name: str, modes: Choices) -> HeldBy:
    """What holds the agent: its provider's or its name's entry, else the first mode that asks.

    The name of a mode is only a name: what it means in an unknown agent is a matter of trust.
    """
    own = HeldBy(profile.mode, profile.permissions, profile.asks_after_start)
    told = profile.known_agents.get(agent_name, own)
    if modes.offers(told.mode) if told.mode else told.permissions is not PermissionBasis.ON_TRUST:
        return told
    offered = {_letters(mode): mode for mode in reversed(modes.ids())}
    mode = next((offered[name] for name in profile.asking_modes if name in offered), "")
    return HeldBy(mode, asks_after_start=told.asks_after_start)


def missing_mode(profile: AcpProfile, modes: Choices) -> list[DiagnosticEvent]:
    """The message if the provider's mode is not offered."""
    if not profile.mode or not modes.all or modes.offers(profile.mode):
        return []
    return [remark(f"the agent offers no mode {profile.mode!r}, only {modes.names()}")]


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))


def session_rows(result: object) -> list[JsonObject]:
    """The sessions of an answer to session/list, with the field names of StoredSession."""
    sessions = at(result, "sessions")
    return [
        {
            "session_id": text_at(row, "sessionId"),
            "title": text_at(row, "title"),
            "working_dir": text_at(row, "cwd"),
            "updated_at": text_at(row, "updatedAt"),
        }
        for row in (sessions if is_array(sessions) else [])
        if text_at(row, "sessionId")
    ]


def last_of(result: object, cwd: str) -> str:
    """The id of the last used session of a directory, if there is one."""
    here = [row for row in session_rows(result) if row["working_dir"] == cwd]
    last = max(here, key=lambda row: timestamp_of(text_at(row, "updated_at")), default=None)
    return text_at(last, "session_id")


def after_replay(
    peer: Peer, turn: AcpTurnAccount, present_mode: JsonObject, then: Callable[[], Fact]
) -> list[Fact]:
    """Sets the current mode again and again until a reply comes without replayed history before it.

    An agent writes in order, and a piece of its history as soon as the last one is written: while
    there is more, some comes before each reply. Nothing else marks the end, and a prompt sent too
    early would have the rest of the history in its answer.
    """
    turn.has_past = False

    def answered(_: Reply) -> list[Fact]:
        return after_replay(peer, turn, present_mode, then) if turn.has_past else [then()]

    peer.request("session/set_mode", present_mode, answered)
    return []


PROTOCOL_VERSION: Final = 1
ON_TRUST: Final = PermissionBasis.ON_TRUST

NEW: Final = "session/new"
LOAD: Final = "session/load"
RESUME: Final = "session/resume"
FORK: Final = "session/fork"
LIST: Final = "session/list"


class AcpOpening:
    """The steps of the opening. `session_id` is empty until the agent has named it."""

    def __init__(
        self, peer: Peer, profile: AcpProfile, progress: PhaseTracker, turn: AcpTurnAccount
    ) -> None:
        self._peer = peer
        self._profile = profile
        self._progress = progress
        self._turn = turn
        self.wanted = Open(cwd="")
        self._ways: list[str] = []
        self._refusals: list[str] = []
        self._tried_login = False
        self._mode = ""
        self._held = HeldBy()
        self._to_choose: list[tuple[Choices, str]] = []
        self.agent = Initialized(0)
        self.session_id = ""
        self.session = SessionResult()
        self.continuity = Continuity.NEW

    def begin(self, wanted: Open) -> None:
        """Send the handshake."""
        self.wanted = wanted
        files = self._profile.files
        params: JsonObject = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": {
                "fs": {
                    "readTextFile": files is FilesOffered.READ_AND_WRITE,
                    "writeTextFile": files is not FilesOffered.NONE,
                },
                "terminal": False,
                # Without these, codex-acp 2.6.0 and claude-agent-acp 0.99.1 write their warnings
                # into the answer.
                "session": {"notices": {}, "compaction": {}},
                # By a form, not by a URL: nobody here could say when the page is done.
                "elicitation": {"form": {}},
            },
            "clientInfo": {"name": "avatar-actors", "version": __version__},
        }
        self._peer.request("initialize", params, self._initialized)

    def injects_system_prompt(self) -> bool:
        """Whether the first prompt must carry it: a fresh session without another way."""
        way = system_prompt_way(self._profile, self.agent)
        is_fresh = self.continuity is not Continuity.RESUMED
        return bool(self.wanted.system_prompt) and is_fresh and way is SystemPromptBy.INJECTED

    def leave(self) -> None:
        """Close the session, if the agent has a method for it."""
        can = self.agent.capabilities
        if self.session_id and has_session_method(can, "close"):
            self._peer.request("session/close", {"sessionId": self.session_id}, lambda _: [])

    def _initialized(self, reply: Reply) -> list[Fact]:
        if reply.error is not None:
            return self._fail(f"initialize was refused: {reply.error.message}")
        agent = decoded_as(Initialized, reply.result)
        if agent is None:
            return self._fail("the answer to initialize is not ACP")
        if agent.protocol_version != PROTOCOL_VERSION:
            message = f"the agent speaks ACP {agent.protocol_version}, not {PROTOCOL_VERSION}"
            advice = "use a version of the agent that speaks it"
            return self._fail(message, advice, OpenFailure.WRONG_VERSION)
        self.agent = agent
        self._turn.login_advice = login_advice(self._profile, agent)
        server = refused_server(self.wanted.mcp_servers, agent.capabilities)
        if server is not None:
            message = f"the agent has no {server.transport} for the MCP server {server.name!r}"
            return self._fail(message, "give it a server that is a command")
        is_last = self.wanted.begins is Beginning.LAST
        return self._look_for_last() if is_last else self._begin_entering()

    def _look_for_last(self) -> list[Fact]:
        if not has_session_method(self.agent.capabilities, "list"):
            self._refusals.append("the agent cannot tell which session was the last")
            return self._begin_entering()
        self._peer.request(LIST, {"cwd": self.wanted.cwd}, self._listed)
        return []

    def _listed(self, reply: Reply) -> list[Fact]:
        if reply.error is not None and reply.error.code == AUTH_REQUIRED:
            return self._log_in(reply.error)
        last = last_of(decoded(reply.result), self.wanted.cwd) if reply.error is None else ""
        if last and not is_session_id(last):
            self._refusals.append(unusable_session(last))
            last = ""
        elif not last:
            why = reply.error.message if reply.error else ""
            nothing = f"there is no earlier session of {self.wanted.cwd}"
            self._refusals.append(f"{LIST}: {why}" if why else nothing)
        self.wanted = replace(self.wanted, resume=last)
        return self._begin_entering()

    def _begin_entering(self) -> list[Fact]:
        self._ways = self._ways_in()
        return self._enter()

    def _ways_in(self) -> list[str]:
        """The methods to try: resume first, since load replays the whole history."""
        if not self.wanted.resume:
            return [NEW]
        can = self.agent.capabilities
        if self.wanted.begins is Beginning.FORK:
            word, ways = "fork", [FORK] if has_session_method(can, "fork") else []
        else:
            word, ways = "resume", [RESUME] if has_session_method(can, "resume") else []
            ways += [LOAD] if can.load_session else []
        if not ways:
            self._refusals.append(f"the agent cannot {word} sessions")
        return [*ways, NEW]

    def _enter(self) -> list[Fact]:
        way = self._ways[0]
        servers = [mcp_server(server) for server in self.wanted.mcp_servers]
        params: JsonObject = {"cwd": self.wanted.cwd, "mcpServers": servers}
        if way != NEW:
            params["sessionId"] = self.wanted.resume
        else:
            way_of_prompt = system_prompt_way(self._profile, self.agent)
            params |= system_prompt_params(way_of_prompt, self.wanted.system_prompt)
        self._peer.request(way, params, self._entered)
        return []

    def _entered(self, reply: Reply) -> list[Fact]:
        way = self._ways.pop(0)
        error = reply.error
        if error is not None and error.code == AUTH_REQUIRED:
            self._ways.insert(0, way)
            return self._log_in(error)
        if error is None and way == LOAD and not self._turn.has_past:
            # By the protocol, the history comes before this reply. qwen 0.15.10 accepts any id.
            error = RpcError(0, "the agent has nothing of this session")
        if error is not None and self._ways:
            # qwen 0.15.10 advertises resume but lacks it. gemini 0.61.0 loses a session
            # that is loaded in the minute in which it was created, and says there is none.
            self._refusals.append(f"{way}: {error.message}")
            return self._enter()
        if error is not None:
            return self._fail(f"{way} was refused: {error.message}")
        self.session = _session(reply)
        known = "" if way in {NEW, FORK} else self.wanted.resume
        self.session_id = self.session.session_id or known
        if not self.session_id:
            return self._fail(f"the answer to {way} names no session")
        if self.wanted.resume or self.wanted.begins is Beginning.LAST:
            self.continuity = Continuity.FRESH if way == NEW else Continuity.RESUMED
        odd = [] if is_session_id(self.session_id) else [remark(unusable_session(self.session_id))]
        return [*odd, *self._choose()]

    def _log_in(self, error: RpcError) -> list[Fact]:
        method = self._profile.auth_method
        if method and not self._tried_login:
            self._tried_login = True
            self._peer.request("authenticate", {"methodId": method}, self._logged_in)
            return []
        return self._fail(error.message, self._turn.login_advice, OpenFailure.NEEDS_LOGIN)

    def _logged_in(self, reply: Reply) -> list[Fact]:
        if reply.error is not None:
            return self._log_in(reply.error)
        return self._enter() if self._ways else self._look_for_last()

    def _choose(self) -> list[Fact]:
        """Choose the model first: another model may have other modes."""
        modes, profile = modes_of(self.session), self._profile
        info = self.agent.agent_info
        held = held_by(profile, info.name or "" if info else "", modes)
        mode = self.wanted.mode or held.mode
        self._mode = mode or modes.present
        self._held = held if held.mode in {"", mode} else replace(held, permissions=ON_TRUST)
        unoffered = [] if self.wanted.mode else missing_mode(profile, modes)
        self._to_choose = [
            (choices, wanted)
            for choices, wanted in ((models_of(self.session), self.wanted.model), (modes, mode))
            if wanted and not choices.is_chosen(wanted)
        ]
        return [*unoffered, *self._choose_next("")]

    def _choose_next(self, why: str) -> list[Fact]:
        if why:
            return self._fail(why)
        if not self._to_choose:
            return self._settle()
        choices, wanted = self._to_choose.pop(0)
        return choose(self._peer, self.session_id, choices, wanted, self._choose_next)

    def _settle(self) -> list[Fact]:
        if not (self._profile.replays_late and self._turn.has_past):
            return [self._opened()]
        mode: JsonObject = {"sessionId": self.session_id, "modeId": self._mode}
        return after_replay(self._peer, self._turn, mode, self._opened)

    def _fail(
        self, message: str, advice: str = "", failure: OpenFailure = OpenFailure.REFUSED
    ) -> list[Fact]:
        self._progress.go(Step.REFUSED)
        return [OpenFailed(failure, message, advice)]

    def _opened(self) -> Opened:
        self._progress.go(Step.OPENED)
        if self.continuity is Continuity.RESUMED:
            self._turn.resumed()
        can = capabilities_of(self.agent, self.session, self._profile)
        return Opened(
            # One that cannot be asked for serves this life alone.
            session_id=self.session_id if is_session_id(self.session_id) else "",
            capabilities=replace(can, permissions=self._held.permissions),
            continuity=self.continuity,
            why="; ".join(self._refusals) if self.continuity is Continuity.FRESH else "",
            model=self.wanted.model or models_of(self.session).present,
            mode=self._mode,
            asks_after_start=self._held.asks_after_start,
        )


def _session(reply: Reply) -> SessionResult:
    """The session in the reply. Load may return null; an odd list of modes must not fail."""
    session = decoded_as(SessionResult, reply.result)
    return session or SessionResult(text_at(decoded(reply.result), "sessionId"))
