"""Gemini's headless mode: a prompt from the command line, one turn as stream-json, the end."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from avatar_actors.programs.embedded.json_lines import Record, encode
from avatar_actors.programs.embedded.process import complain
from avatar_actors.programs.embedded.session import Session, Store, default_home, timestamp
from avatar_actors.programs.embedded.tools import ToolUse, new_uuid
from avatar_actors.programs.embedded.turn import ALLOWED, DENIED, AgentTurn
from tests.fake_agents.system_prompt import system_prompt
from tests.fake_agents.turns import ObservedTurns, PatientPlayer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.process import ProcessControl, StartSettings
    from tests.fake_agents.flags import Flags

AUTH_EXIT = 41
FATAL_EXIT = 42
FREE_MODES = ("yolo", "auto_edit")


class GeminiTurn(AgentTurn):
    """The one turn; thoughts are not told, and nobody can be asked (0.61.0)."""

    def __init__(self, session: Session, control: ProcessControl, prompt: str) -> None:
        super().__init__(session, control.output, prompt)
        self._began = time.monotonic()
        self._tools = 0
        self.exit_code = 0

    def _event(self, kind: str, more: Record) -> Record:
        return {"type": kind, "timestamp": timestamp(), **more}

    def begin(self) -> None:
        """The session, and the prompt that was understood."""
        opened: Record = {"session_id": self.session.id, "model": self.session.model}
        self.output.send(self._event("init", opened))
        self.output.send(self._event("message", {"role": "user", "content": self.prompt}))

    def show_text(self, text: str) -> None:
        """A delta of the answer."""
        self.output.write(self.text_line(text))

    def text_line(self, text: str) -> bytes:
        """A delta of the answer as bytes."""
        more: Record = {"role": "assistant", "content": text, "delta": True}
        return encode(self._event("message", more))

    def show_thought(self, text: str) -> None:
        """Nothing: this mode drops thoughts."""

    def show_plan(self, entries: list[Record]) -> None:
        """The tool write_todos, which is how Gemini plans."""
        self.run_tools([ToolUse("write_todos", {"todos": entries}, str)])

    def show_tool_start(self, call: ToolUse) -> None:
        """A tool_use."""
        used: Record = {"tool_name": call.name, "tool_id": call.id, "parameters": call.input}
        self.output.send(self._event("tool_use", used))

    def show_tool_end(self, call: ToolUse) -> None:
        """A tool_result."""
        self._tools += 1
        ended: Record = {"tool_id": call.id, "status": "error" if call.is_failed else "success"}
        if call.output:
            ended["output"] = call.output
        if call.is_failed:
            ended["error"] = {"type": "tool_error", "message": call.output}
        self.output.send(self._event("tool_result", ended))

    def ask_permission(self, call: ToolUse) -> str:
        """Allowed with --yolo; else such a tool is not even registered."""
        self.show_tool_start(call)
        if self.session.mode in FREE_MODES:
            return ALLOWED
        call.output, call.is_failed = f'Tool "{call.name}" not found.', True
        self.show_tool_end(call)
        return DENIED

    def request(self, method: str, params: Record) -> object:
        """Nothing: nobody listens."""
        del method, params
        return None

    def notify(self, method: str, params: Record) -> None:
        """An event of that type."""
        self.output.send(self._event(method, params))

    def report_usage(self) -> None:
        """Nothing: the result tells it."""

    def finish(self) -> None:
        """The result, with an error's exit code as the program will have it."""
        ended: Record = {"status": "success"}
        if (error := self.ending.error) is not None:
            message = f"[API Error: {error.get('message')}]"
            ended = {"status": "error", "error": {"type": "unknown", "message": message}}
            code = error.get("code")
            self.exit_code = code & 255 if isinstance(code, int) and code > 0 else 1
        self.output.send(self._event("result", {**ended, "stats": self._stats()}))

    def _stats(self) -> Record:
        names = ("input", "output", "cached", "thought")
        given, output, cached, thought = (int(self.usage.get(name, 0)) for name in names)
        counts: Record = {
            "total_tokens": given + output + thought,
            "input_tokens": given,
            "output_tokens": output,
            "cached": cached,
            "input": given - cached,
        }
        took = int((time.monotonic() - self._began) * 1000)
        more: Record = {"duration_ms": took, "tool_calls": self._tools}
        return {**counts, **more, "models": {self.session.model: counts}}


def speak_gemini(flags: Flags, start: StartSettings, control: ProcessControl) -> None:
    """Plays the one turn and exits with its code."""
    # 0.61.0 answers SIGTERM in the middle of a turn with exit 0 and no result.
    control.lifetime.exit_on_term = 0
    if start.needs_auth:
        complain("Invalid auth method selected.")
        control.lifetime.end(AUTH_EXIT)
    if start.is_mute:
        control.input.close_for(-1)
        control.input.wait()
    session = open_session(flags, start, control)
    turn = GeminiTurn(session, control, prompt_of(flags))
    # On a thread of its own, so that the main one is free for signals.
    turns = ObservedTurns(PatientPlayer(control).play)
    turns.add(turn)
    turns.wait_until_idle()
    while control.lifetime.is_stubborn:
        time.sleep(1)
    control.lifetime.end(turn.exit_code)


def prompt_of(flags: Flags) -> str:
    """The prompt: -p, --prompt or the words; and what stdin has to say before it."""
    given = flags.value("--print") or flags.value("--prompt") or " ".join(flags.words)
    if given or sys.stdin.isatty():
        return given
    return sys.stdin.read()


def open_session(flags: Flags, start: StartSettings, control: ProcessControl) -> Session:
    """A new session, or the one to resume: by id, by number from 1, or the latest."""
    store = Store(default_home())
    resumed = resumed_id(flags.value("--resume"), store)
    can_load = start.can_load and not start.loses_sessions
    session = Session(resumed or flags.value("--session-id") or new_uuid(), str(Path.cwd()), store)
    if flags.has("--resume"):
        if (stored := store.load(resumed) if can_load else None) is None:
            complain(f'Error resuming session: Invalid session identifier "{resumed}".')
            control.lifetime.end(FATAL_EXIT)
        session.recall(stored)
    session.argv = flags.argv
    session.model = flags.value("--model", "embedded-none")
    session.mode = "yolo" if flags.has("--yolo") else flags.value("--approval-mode", "default")
    session.system = system_prompt(flags, {})
    return session


def resumed_id(given: str, store: Store) -> str:
    """The id that `latest`, a number or an id stands for."""
    known = store.known()
    if given == "latest":
        return known[0] if known else given
    if given.isdigit():
        place = int(given)
        return known[-place] if 0 < place <= len(known) else given
    return given
