"""The control requests of the fake Claude: a table from their names to what they do."""

from __future__ import annotations

from avatar_actors.programs.embedded.json_lines import Record, is_record, text_in
from tests.fake_agents.claude import shapes
from tests.fake_agents.claude.state import MODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.process import ProcessLifetime, StartSettings
    from tests.fake_agents.claude.host import ClaudeHost


class ControlRefused(Exception):
    """The request is answered with an error and, where it has one, a code."""

    def __init__(self, why: str, code: str = "") -> None:
        super().__init__(why)
        self.code = code


class ControlResponder:
    """Answers control requests, also in the middle of a turn."""

    def __init__(self, host: ClaudeHost, start: StartSettings, life: ProcessLifetime) -> None:
        self._host = host
        self._state = host.state
        self._start = start
        self._life = life
        self._requests: dict[str, Callable[[Record], Record | None]] = {
            "initialize": self._initialize,
            "interrupt": self._interrupt,
            "set_model": self._set_model,
            "set_permission_mode": self._set_permission_mode,
            "mcp_status": self._mcp_status,
            "stop_task": self._stop_task,
            "cancel_async_message": self._cancel_async_message,
            "rewind_files": self._rewind_files,
            "get_session_cost": self._get_session_cost,
            "get_binary_version": self._get_binary_version,
            "set_max_thinking_tokens": self._accept,
            "apply_flag_settings": self._accept,
            "end_session": self._accept,
        }

    def hear(self, message: Record) -> None:
        """One control request."""
        request, request_id = message["request"], message.get("request_id")
        inner = request if is_record(request) else {}
        subtype = text_in(inner, "subtype")
        if subtype == "initialize" and self._start.is_mute:
            return
        answer: Record = {"subtype": "success", "request_id": request_id}
        try:
            if subtype not in self._requests:
                why = f"Unsupported control request subtype: {subtype}"
                raise ControlRefused(why, "unsupported_request")
            response = self._requests[subtype](inner)
            if response is not None:
                answer["response"] = response
        except ControlRefused as refusal:
            answer = {"subtype": "error", "request_id": request_id, "error": str(refusal)}
            if refusal.code:
                answer["error_code"] = refusal.code
        self._state.output.send({"type": "control_response", "response": answer})
        if answer["subtype"] == "success":
            self._after(subtype)

    def _after(self, subtype: str) -> None:
        """What follows the answer."""
        match subtype:
            case "interrupt":
                self._host.interrupt()
            case "end_session":
                self._life.end(0)
            case "set_permission_mode":
                mode = self._state.session.mode
                self._state.system("status", {"status": None, "permissionMode": mode})
            case _:
                pass

    def _initialize(self, request: Record) -> Record:
        del request
        if (error := self._start.initialize_error) is not None:
            raise ControlRefused(text_in(error, "message", "initialize failed"))
        session = self._state.session
        key = "none" if self._start.needs_auth else "ANTHROPIC_API_KEY"
        return shapes.initialized(session.model, session.mode, self._state.state, key)

    def _interrupt(self, request: Record) -> Record:
        del request
        return {"still_queued": list(self._host.prepare_interrupt())}

    def _set_model(self, request: Record) -> Record:
        self._state.session.model = text_in(request, "model")
        return {"model": self._state.session.model}

    def _set_permission_mode(self, request: Record) -> Record:
        mode = text_in(request, "mode")
        if mode not in MODES:
            why = f"Cannot set permission mode: must be one of {', '.join(MODES)}"
            raise ControlRefused(why, "invalid_mode")
        self._state.session.mode = mode
        return {"mode": mode}

    def _mcp_status(self, request: Record) -> Record:
        del request
        names = self._state.session.mcp
        rows = [{"name": name, "status": "pending"} for name in (names if is_record(names) else {})]
        return {"mcpServers": rows}

    def _stop_task(self, request: Record) -> Record:
        self._host.tasks.stop(text_in(request, "task_id"))
        return {}

    def _cancel_async_message(self, request: Record) -> Record:
        return {"cancelled": self._host.forget(text_in(request, "message_uuid"))}

    def _rewind_files(self, request: Record) -> Record:
        del request
        raise ControlRefused("No file checkpoint found for this message.")

    def _get_session_cost(self, request: Record) -> Record:
        del request
        return {"text": f"Total cost:            ${self._state.session.cost:.4f}"}

    def _get_binary_version(self, request: Record) -> Record:
        del request
        return {"version": shapes.VERSION}

    def _accept(self, request: Record) -> None:
        del request
