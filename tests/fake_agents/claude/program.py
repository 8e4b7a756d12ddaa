"""The fake Claude as a program: its flags, its session, and its loop over the host's lines."""

from __future__ import annotations

from pathlib import Path

from avatar_actors.programs.embedded.json_lines import Record, text_in
from avatar_actors.programs.embedded.process import complain
from avatar_actors.programs.embedded.session import Session, Store, default_home
from avatar_actors.programs.embedded.tools import new_uuid
from tests.fake_agents.claude import shapes
from tests.fake_agents.claude.control import ControlResponder
from tests.fake_agents.claude.host import ClaudeHost, FatalLine, parse
from tests.fake_agents.claude.state import ClaudeState
from tests.fake_agents.system_prompt import system_prompt
from tests.fake_agents.turns import FoldingPlayer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.process import ProcessControl, StartSettings
    from tests.fake_agents.flags import Flags

MODEL = "embedded-none"


class NoStore(Store):
    """Reads conversations and writes none."""

    def append(self, session_id: str, entry: Record) -> None:
        pass


def speak_claude(flags: Flags, start: StartSettings, control: ProcessControl) -> None:
    """Claude's stream-json on the standard streams, until the host ends it."""
    if not flags.has("--verbose") and flags.value("--output-format") == "stream-json":
        complain("Error: When using --print, --output-format=stream-json requires --verbose")
        control.lifetime.end(1)
    session = open_session(flags, start, control)
    state = ClaudeState(flags, session, control.output)
    host = ClaudeHost(state, FoldingPlayer(control))
    responder = ControlResponder(host, start, control.lifetime)
    try:
        for line in control.lines():
            hear(line, host, responder)
    except FatalLine as fatal:
        complain(str(fatal))
        control.lifetime.end(1)
    host.wait_until_done()
    control.lifetime.end_of_input(1 if state.last_is_error else 0)


def hear(line: bytes, host: ClaudeHost, responder: ControlResponder) -> None:
    """One line from the host; unknown kinds are ignored."""
    message = parse(line) if line.strip() else None
    match message and text_in(message, "type"):
        case "user" if message is not None:
            host.hear_user(message)
        case "control_request" if message is not None:
            if "request" not in message:
                raise FatalLine("Error: Missing request on control_request")
            responder.hear(message)
        case "control_response" if message is not None:
            host.hear_answer(message)
        case _:
            pass


def open_session(flags: Flags, start: StartSettings, control: ProcessControl) -> Session:
    """The session that the flags name: a new one, a resumed one, or a fork."""
    is_kept = not flags.has("--no-session-persistence")
    store = Store(default_home()) if is_kept else NoStore(default_home())
    resumed = resumed_id(flags, store)
    session_id = named_id(flags, resumed)
    session = Session(session_id, str(Path.cwd()), store)
    session.argv = flags.argv
    session.model = flags.value("--model", MODEL)
    session.mode = flags.value("--permission-mode", "default").replace("manual", "default")
    session.system = system_prompt(flags, {})
    if resumed:
        can_load = start.can_load and not start.loses_sessions
        if (stored := store.load(resumed) if can_load else None) is None:
            complain(f"No conversation found with session ID: {resumed}")
            control.output.send(shapes.resume_refused(resumed))
            control.lifetime.end(1)
        session.recall(stored)
        if session_id != resumed:
            store.copy(resumed, session_id)
    elif store.load(session_id) is not None:
        complain(f"Error: Session ID {session_id} is already in use.")
        control.lifetime.end(1)
    return session


def resumed_id(flags: Flags, store: Store) -> str:
    """The conversation to go on with: --resume, or with --continue the last one in this folder."""
    if flags.has("--resume") or not flags.has("--continue"):
        return flags.value("--resume")
    here = [row for row in store.rows() if row["cwd"] == str(Path.cwd())]
    return text_in(here[0], "sessionId") if here else ""


def named_id(flags: Flags, resumed: str) -> str:
    """The id of this session: a fork and a new one may choose, a resumed one keeps its own."""
    if resumed and not flags.has("--fork-session"):
        return resumed
    return flags.value("--session-id") or new_uuid()
