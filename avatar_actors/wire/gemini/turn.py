"""The tool calls of a headless run of Gemini."""

from __future__ import annotations

from typing import Final

import msgspec

from avatar_actors.model.events import ToolEvent
from avatar_actors.model.values import JsonObject, ToolStatus
from avatar_actors.wire.fence import Fence
from avatar_actors.wire.gemini.lines import ToolResultLine, ToolUseLine
from avatar_actors.wire.json_values import text_at

# The kinds are those of ACP, so that every agent's tools have the same ones.
KINDS: Final = {
    "glob": "search",
    "google_web_search": "fetch",
    "grep_search": "search",
    "list_directory": "search",
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "run_shell_command": "execute",
    "search_file_content": "search",
    "web_fetch": "fetch",
    "write_file": "edit",
    "write_todos": "think",
}
TITLES: Final = ("description", "command", "file_path", "path", "pattern", "query", "prompt")
TITLE_LENGTH: Final = 200


class GeminiTools:
    """The open calls, and the ids of those that an earlier turn has left open."""

    def __init__(self) -> None:
        self._open: dict[str, ToolEvent] = {}
        self._past = Fence()

    def started(self, line: ToolUseLine) -> list[ToolEvent]:
        """A call; nothing when it is one of an earlier turn."""
        if line.tool_id in self._past:
            return []
        event = ToolEvent(
            tool_name=line.tool_name,
            tool_id=line.tool_id,
            parameters=line.parameters,
            kind=KINDS.get(line.tool_name, "other"),
            title=_title(line.tool_name, line.parameters),
        )
        self._open[line.tool_id] = event
        return [event]

    def finished(self, line: ToolResultLine) -> list[ToolEvent]:
        """The result of a call; nothing when no such call is open."""
        event = self._open.pop(line.tool_id, None)
        if event is None:
            return []
        output = text_at(line.output)
        if line.status == "success":
            done = ToolStatus.COMPLETED
            return [msgspec.structs.replace(event, status=done, result=output)]
        error = text_at(line.error, "message") or output
        return [msgspec.structs.replace(event, status=ToolStatus.FAILED, error=error)]

    def end_turn(self, status: ToolStatus) -> list[ToolEvent]:
        """What becomes of the calls that were never finished."""
        left = [msgspec.structs.replace(event, status=status) for event in self._open.values()]
        self._past.add(*self._open)
        self._open.clear()
        return left


def _title(name: str, parameters: JsonObject) -> str:
    texts = (text_at(parameters, key) for key in TITLES)
    return next((text for text in texts if text), name)[:TITLE_LENGTH]
