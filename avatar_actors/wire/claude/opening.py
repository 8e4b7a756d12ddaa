"""Opens a session of Claude Code: its id and capabilities, or why there is none."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from avatar_actors.model.command_line import is_session_id, unusable_session
from avatar_actors.model.events import SessionInfoEvent
from avatar_actors.model.values import (
    Choice,
    Continuity,
    JsonObject,
    PermissionBasis,
    ProviderCapabilities,
)
from avatar_actors.wire.claude.lines import ClaudeResultLine, ControlResponse, as_object, as_objects
from avatar_actors.wire.claude.outgoing import ATTACHMENTS
from avatar_actors.wire.claude.verdict import LOGIN_ADVICE, LOGIN_COMMAND, error_of, wants_login
from avatar_actors.wire.commands import Beginning, Open
from avatar_actors.wire.facts import Fact, Opened, OpenFailed, OpenFailure, SessionRenamed
from avatar_actors.wire.json_values import text_at
from avatar_actors.wire.phases import Phase, PhaseTracker, Step
from avatar_actors.wire.shared_events import remark

# The modes that set_permission_mode takes (2.1.325: its own error message lists them).
MODES: Final = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")
NO_SESSION: Final = "No conversation found"
NOT_SIGNED_IN: Final = "Claude Code is not signed in"
# The provider that an account belongs to; others (bedrock, vertex, foundry) have their own logins.
FIRST_PARTY: Final = "firstParty"


class ClaudeBasis(Struct, frozen=True):
    """What the provider knows of the CLI that it starts.

    `permissions`: what holds it. `knows_login`: it can tell by itself whether it is signed in, so
    that a session without a login is refused.
    """

    permissions: PermissionBasis = PermissionBasis.ON_TRUST
    knows_login: bool = True


class ClaudeOpening:
    """The handshake, and the session's id, which the CLI sends only with its first run."""

    def __init__(self, progress: PhaseTracker, basis: ClaudeBasis) -> None:
        self._progress = progress
        self._basis = basis
        self._session_id = ""
        self._unusable: str = ""
        self._wish = Open(cwd="")

    def begin(self, wish: Open) -> None:
        """The handshake was sent; the rest is in the command line, by the provider."""
        self._wish = wish
        self._session_id = wish.new_id if wish.begins is Beginning.FORK else wish.resume

    def answered(self, response: ControlResponse) -> list[Fact]:
        """The CLI has answered the handshake."""
        if response.subtype != "success":
            return self._refused(OpenFailure.REFUSED, text_at(response.error))
        answer = as_object(response.response)
        if self._basis.knows_login and is_signed_out(answer):
            return self._refused(OpenFailure.NEEDS_LOGIN, NOT_SIGNED_IN)
        if not self._progress.go(Step.OPENED):
            return []
        opened = Opened(
            session_id=self._session_id,
            capabilities=replace(capabilities_of(answer), permissions=self._basis.permissions),
            continuity=Continuity.RESUMED if self._wish.resume else Continuity.NEW,
            model=self._wish.model,
            mode=text_at(answer, "current_permission_mode"),
            asks_after_start=True,
        )
        facts: list[Fact] = [opened]
        if commands := commands_of(answer):
            facts.append(SessionInfoEvent(commands=commands))
        return facts

    def failed(self, result: ClaudeResultLine) -> list[Fact]:
        """A result before the end of the handshake says why there will be no session.

        For example, --resume did not find the id; the process then exits with 1.
        """
        if wants_login(result):
            return self._refused(OpenFailure.NEEDS_LOGIN, NOT_SIGNED_IN)
        error = error_of(result)
        is_lost = NO_SESSION in error
        failure = OpenFailure.NO_SUCH_SESSION if is_lost else OpenFailure.REFUSED
        return self._refused(failure, error)

    def session(self, session_id: str) -> list[Fact]:
        """A line names the session; /clear and --fork-session change it."""
        if not session_id or session_id in (self._session_id, self._unusable):
            return []
        if not is_session_id(session_id):
            self._unusable = session_id
            return [remark(unusable_session(session_id))]
        self._session_id = session_id
        is_open = self._progress.phase not in {Phase.NEW, Phase.OPENING}
        return [SessionRenamed(session_id)] if is_open else []

    def _refused(self, failure: OpenFailure, message: str) -> list[Fact]:
        if not self._progress.go(Step.REFUSED):
            return []
        if failure is OpenFailure.NEEDS_LOGIN or LOGIN_COMMAND in message:
            return [OpenFailed(OpenFailure.NEEDS_LOGIN, message, LOGIN_ADVICE)]
        return [OpenFailed(failure, message or "the agent refused its start")]


def is_signed_out(answer: JsonObject) -> bool:
    """Whether the CLI says that it has neither a token nor a key (2.1.197 to 2.1.325)."""
    account = as_object(answer.get("account"))
    has_key = text_at(account, "apiKeySource") not in {"", "none"}
    is_own = text_at(account, "apiProvider") == FIRST_PARTY
    return is_own and text_at(account, "tokenSource") == "none" and not has_key


def capabilities_of(answer: JsonObject) -> ProviderCapabilities:
    """What the CLI reports, and what its protocol can do in every known version."""
    models = as_objects(answer.get("models"))
    return ProviderCapabilities(
        agent="Claude Code",
        version=text_at(answer, "claude_code_version"),
        can_load_session=True,
        can_continue_last=True,
        can_fork_session=True,
        thinking_supported=True,
        thinking_structured=True,
        cost_tracking=True,
        budget_enforcement=True,
        system_prompt="native",
        structured_output="native",
        parallel_tools=True,
        cancellable=True,
        steering=True,
        mcp_supported=True,
        tool_policy_granularity="arguments",
        editable_input=True,
        attachments=ATTACHMENTS,
        models=tuple(Choice(text_at(one, "value"), text_at(one, "displayName")) for one in models),
        modes=tuple(Choice(mode) for mode in MODES),
    )


def commands_of(answer: JsonObject) -> tuple[Choice, ...]:
    """The slash commands. A prompt that starts with one may never reach the model."""
    commands = as_objects(answer.get("commands"))
    return tuple(Choice(text_at(one, "name"), text_at(one, "description")) for one in commands)
