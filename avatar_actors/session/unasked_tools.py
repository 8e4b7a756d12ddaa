"""Detects tools that run without a permission request though mode or policy forbid it. Pure."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors.model.events import AvatarEvent, DiagnosticEvent, ErrorEvent, ToolEvent
from avatar_actors.model.permission_rules import LOOKING, Rule, Rules, kind_of
from avatar_actors.model.values import JsonObject, Level, PermissionBasis, Permit, ToolStatus
from avatar_actors.wire.commands import AnswerPermission, AnswerUser
from avatar_actors.wire.facts import FileWanted, PermissionAsked, UserAsked

_RUNNING = frozenset({ToolStatus.STARTED, ToolStatus.COMPLETED})
_FINISHED = frozenset({ToolStatus.COMPLETED})
_ADVICE = (
    "Choose a mode of the agent that asks, or set it to ask in its own configuration; "
    "`capabilities().permissions` tells what the promise rests on"
)


class UnaskedTool(Struct, frozen=True):
    """A tool that ran unasked, and the rule that it has broken."""

    tool: ToolEvent
    rule: Rule

    @property
    def ends_turn(self) -> bool:
        """In ask mode nobody has said no: there it is only told."""
        return self.rule is not Rule.ASK

    @property
    def reason(self) -> str:
        """What happened, for whoever reads the outcome."""
        name, kind = self.tool.tool_name, self.tool.kind
        which = f"the tool {name!r}" if name == kind else f"the tool {name!r} ({kind})"
        ran = f"{which} ran though {self.rule.value} forbids it, and the agent had not asked"
        if self.ends_turn:
            ran = f"{ran}: the agent was cut off, what the tool had done by then is done"
        return f"{ran}. {_ADVICE}"

    @property
    def event(self) -> AvatarEvent:
        """The event that reports it."""
        if self.ends_turn:
            return ErrorEvent(error=self.reason)
        return DiagnosticEvent(message=self.reason, level=Level.ERROR, source="permissions")


class UnaskedTools:
    """Compares the tools of one session that run with those that were allowed."""

    def __init__(
        self,
        rules: Rules,
        basis: PermissionBasis = PermissionBasis.ON_TRUST,
        *,
        asks_after_start: bool = False,
    ) -> None:
        self._rules = rules
        self._basis = basis
        self._counts = _FINISHED if asks_after_start else _RUNNING
        self._asked: dict[str, PermissionAsked] = {}
        self._allowed: dict[str, JsonObject] = {}
        self._always: set[str] = set()
        self._told: set[str] = set()

    def begin_turn(self) -> None:
        """Forget what was allowed for the last turn only."""
        self._asked, self._allowed, self._told = {}, {}, set()

    def asked(self, asked: PermissionAsked | UserAsked) -> list[AvatarEvent]:
        """The agent asks; the event of the tool, if it asks about one."""
        if isinstance(asked, UserAsked):
            return []
        self._asked[asked.request_id] = asked
        return [asked.tool]

    def answered(self, answer: AnswerPermission | AnswerUser) -> None:
        """It gets its answer. Who may look may not change things by the same call."""
        asked = self._asked.pop(answer.request_id, None)
        if asked is None or isinstance(answer, AnswerUser) or not answer.permit.allows:
            return
        tool = asked.tool
        if kind_of(tool.tool_name, tool.kind, tool.parameters) in LOOKING:
            return
        self._allowed[tool.tool_id] = tool.parameters
        chosen = [each.kind for each in asked.options if each.option_id == answer.option_id]
        if Permit.ALLOW_ALWAYS in {answer.permit, *chosen}:
            self._always.add(tool.kind)

    def look(self, tool: ToolEvent) -> UnaskedTool | None:
        """Whether this tool runs unasked and against the rules; each is told once."""
        if tool.status not in self._counts or tool.tool_id in self._told:
            return None
        rule = self._rules.broken_by(
            tool.tool_name, tool.kind, tool.parameters, self._basis, title=tool.title
        )
        if rule is None or self._was_allowed(tool):
            return None
        if rule is Rule.ASK and tool.kind in self._always:
            return None  # it need not ask again about tools of this kind
        self._told.add(tool.tool_id)
        return UnaskedTool(tool, rule)

    def refusal_of(self, wanted: FileWanted) -> str:
        """Why a file is not written in the agent's name; nothing if it may be, or is only read."""
        if wanted.text is None:
            return ""
        edit: JsonObject = {"path": wanted.path, "content": wanted.text}
        rule = self._rules.broken_by("fs/write_text_file", "edit", edit, self._basis)
        if rule is None or rule is Rule.ASK or self._was_allowed_at(wanted.path):
            return ""
        return f"{rule.value} forbids to write {wanted.path}"

    def _was_allowed_at(self, path: str) -> bool:
        texts = (text for given in self._allowed.values() for text in given.values())
        return any(isinstance(text, str) and f"/{path}".endswith(f"/{text}") for text in texts)

    def _was_allowed(self, tool: ToolEvent) -> bool:
        if tool.tool_id in self._allowed:
            return True
        # Some ask by another id than the one they run the tool by.
        return bool(tool.parameters) and tool.parameters in self._allowed.values()
