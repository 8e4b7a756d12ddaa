"""Every section of a configuration: the settings, and the keys that only the file has."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from avatar_actors.config.keys import (
    Key,
    Meaning,
    Meanings,
    Means,
    Named,
    Present,
    RemovedKey,
    Section,
    To,
    keys_in,
)
from avatar_actors.model.command_line import SESSION_ID, is_session_id
from avatar_actors.model.fields import (
    Checked,
    Count,
    OneOf,
    PositiveCount,
    Scope,
    Seconds,
    SecondsOrNone,
    Share,
    Written,
)
from avatar_actors.model.settings import (
    AvatarSettings,
    Budget,
    LogSettings,
    MetricsKind,
    MetricsSettings,
    PermissionMode,
    RateLimit,
    Restarts,
)
from avatar_actors.model.values import JsonObject
from avatar_actors.providers import codex

_LOGIN: Final = "The login to try if the agent wants one."
_Dollars = Annotated[float, Meta(ge=0.0001)]
_SESSION_ID: Final = Checked(SESSION_ID, lambda text: not text or is_session_id(text))
_Switch = Annotated[bool, "False: off, without removing the section."]


class _RateLimitKeys(Struct):
    enabled: _Switch
    requests_per_minute: Annotated[
        float, Meta(ge=0.001), "Prompts per minute.", To("rate_limit.per_minute")
    ]


class _SessionKeys(Struct):
    continue_last: Annotated[bool, "Continue the directory's last session.", To("continue_last")]
    resume_id: Annotated[str, _SESSION_ID, "Continue this session.", To("resume")]


class _OutputKeys(Struct):
    enabled: Annotated[bool, "Whether answers must match the schema."]
    schema: Annotated[JsonObject, "The JSON Schema."]


class _CostKeys(Struct):
    max_tokens: Annotated[
        Count, "Tokens in the avatar's life, cached ones included.", To("budget.tokens")
    ]
    max_prompts: Annotated[Count, "Prompts in the avatar's life.", To("budget.turns")]
    warn_at: Annotated[Share, "The share that causes a warning."]


class _CostControl(Struct):
    max_budget_usd: Annotated[_Dollars, "Dollars in the avatar's life.", To("budget.cost_usd")]
    max_turns: Annotated[
        object, RemovedKey("only claude limits its own steps; max_prompts limits prompts")
    ]


class _ClaudeCostControl(Struct):
    max_budget_usd: Annotated[
        _Dollars, "Dollars in the avatar's life.", To("budget.cost_usd options.max_budget_usd")
    ]
    max_turns: Annotated[
        PositiveCount, "Claude's steps within one prompt.", To("options.max_turns")
    ]


_RATE_LIMIT: Final = Section({
    **keys_in(_RateLimitKeys, "rate_limit."), **keys_in(RateLimit, "rate_limit."),
})  # fmt: skip
_COST: Final = keys_in(_CostKeys, "budget.")


class _EveryAvatar(Struct):
    """The settings that a file spells in another way than Python does."""

    auto_restart: Annotated[
        bool, "Whether a crashed agent is restarted.", To("restarts.auto_restart")
    ]
    max_restarts: Annotated[
        Count, "How often, within `restarts.period`.", To("restarts.max_restarts")
    ]
    restarts: Annotated[Restarts, "The pauses between restarts."]
    health_check_interval: Annotated[
        Seconds, "How often the agent's health is checked.", To("timeouts.health_check_interval")
    ]
    timeout: Annotated[SecondsOrNone, "The longest turn; none: no limit.", To("timeouts.turn")]
    allowed_tools: Annotated[
        tuple[str, ...], To("tools.allow"), "Patterns of tools that run unasked; others are denied."
    ]
    denied_tools: Annotated[
        tuple[str, ...], To("tools.deny"), "Patterns of tools that are always denied."
    ]


class _EveryProvider(Struct):
    rate_limit: Annotated[
        object,
        _RATE_LIMIT,
        Present("rate_limit.enabled"),
        "As the section of this name, for this provider.",
    ]
    session: Annotated[_SessionKeys, "The session to begin with; else a new one."]
    structured_output: Annotated[_OutputKeys, "Answers as JSON.", To("output_schema")]


class _Cost(Struct):
    cost_control: Annotated[
        object, Section({**keys_in(_CostControl), **_COST}), "The avatar's budget."
    ]


class _Files(Struct):
    files: Annotated[str, OneOf(("agent", "host")), "Who accesses text files."]


class _Login(Struct):
    auth_method: Annotated[str, _LOGIN]


_SAFE: Final = Meaning(permissions=PermissionMode.SAFE)
_ASK: Final = Meaning(permissions=PermissionMode.ASK)
# Not the agents' own modes that ask nobody: no tool policy would hold in those.
_UNRESTRICTED: Final = Meaning(permissions=PermissionMode.UNRESTRICTED)
_CLAUDE_MODES: Final[Meanings] = {
    "default": _ASK, "manual": _ASK, "plan": _SAFE, "bypassPermissions": _UNRESTRICTED,
    **{mode: {**_ASK, "mode": mode} for mode in ("acceptEdits", "auto", "dontAsk")},
}  # fmt: skip
_GEMINI_MODES: Final[Meanings] = {
    "default": _ASK, "plan": _SAFE, "yolo": _UNRESTRICTED,
    "auto_edit": {**_ASK, "mode": "autoEdit"},
}  # fmt: skip
_CODEX_MODES: Final[Meanings] = {
    "auto": _UNRESTRICTED,
    **{each: {"options.approval_mode": each} for each in codex.APPROVAL_MODES},
}
_COLLECTORS: Final[Meanings] = {kind.value: {"metrics.kind": kind} for kind in MetricsKind}
_DEBUG: Final = "The agent's debug output, as diagnostics."


def _variable(option: str) -> Means:
    return Means({True: {f"options.{option}": "1"}, False: {}})


def _argument(word: str) -> Means:
    return Means({True: {"debug_args": (word,)}, False: {"debug_args": ()}})


class _Claude(Struct):
    permission_mode: Annotated[
        str, Means(_CLAUDE_MODES), "`permissions` or `mode` in Claude's words."
    ]
    strict_mcp_config: Annotated[
        bool,
        Means({True: {}, False: "the MCP servers of your own Claude Code always stay out"}),
        "Always true.",
    ]
    # With --debug, 2.1.325 writes to a file in the user's home instead.
    debug: Annotated[bool, _argument("--debug-to-stderr"), _DEBUG]
    fallback_model: Annotated[str, "Used when the model is overloaded."]
    cost_control: Annotated[
        object, Section({**keys_in(_ClaudeCostControl), **_COST}), "The avatar's budget."
    ]
    effort: Annotated[str, "How hard it thinks: low, medium, high, …"]
    max_thinking_tokens: Annotated[Count, "Tokens for thinking."]
    max_retries: Annotated[Count, "Claude's own retries of requests."]
    system_prompt_snapshot: Annotated[
        str, OneOf(("on", "off")), "Off: a resumed session gets the present system prompt."
    ]
    disable_background_tasks: Annotated[
        bool, _variable("disable_background_tasks"), "True: no task runs in the background."
    ]
    file_checkpoints: Annotated[bool, _variable("file_checkpoints"), "Needed for `rewind_files`."]
    sandbox: Annotated[bool, _variable("sandbox"), "Lets root use `mode: bypassPermissions`."]


class _Generation(Struct):
    temperature: Annotated[float, Meta(ge=0, le=2), "Gemini 3 expects 1.0."]
    top_p: Annotated[Share, "Nucleus sampling."]
    top_k: Annotated[PositiveCount, "Sampling from so many tokens."]
    thinking_level: Annotated[
        str, OneOf(("minimal", "low", "medium", "high")), "How hard it thinks."
    ]
    thinking_budget: Annotated[int, Meta(ge=-1), "Tokens for thinking; -1: its own choice."]
    include_thoughts: Annotated[bool, "Whether its thoughts are events."]
    max_output_tokens: Annotated[PositiveCount, "Tokens of an answer."]


class _Gemini(Struct):
    approval_mode: Annotated[
        str, Means(_GEMINI_MODES), "`permissions` or `mode` in Gemini's words."
    ]
    auth_method: Annotated[str, OneOf(("oauth-personal", "gemini-api-key", "vertex-ai")), _LOGIN]
    acp_enabled: Annotated[
        bool,
        Means({True: {"options.headless": "false"}, False: {"options.headless": "true"}}),
        "False: headless, one process for each prompt.",
    ]
    acp_flag: Annotated[str, "For older versions: `--experimental-acp`."]
    fallback: Annotated[
        str, OneOf(("none", "oneshot")), "`oneshot`: headless, if it does not start with ACP."
    ]
    preview_features: Annotated[
        object, RemovedKey("gemini 0.61 has no such setting, and its preview models need none")
    ]
    debug: Annotated[bool, _argument("--debug"), _DEBUG]
    trust_workspace: Annotated[bool, "Whether the folder's own settings count."]
    generation_config: Annotated[_Generation, "How it answers; needs `model`.", To("options")]


class _Codex(Struct):
    executable_args: Annotated[tuple[str, ...], "The same as `args`.", To("args")]
    adapter: Annotated[str, OneOf(codex.ADAPTERS), "Which one it is; else its name tells."]
    auth_method: Annotated[str, OneOf(codex.AUTH_METHODS), To("options.auth"), _LOGIN]
    approval_mode: Annotated[
        str,
        Means(_CODEX_MODES),
        "`auto`: nobody is asked, but the tool policy holds; else Codex's own.",
    ]
    sandbox_mode: Annotated[str, OneOf(codex.SANDBOX_MODES), "What its commands may do."]
    project_docs: Annotated[bool, "Whether the project's AGENTS.md counts."]


class _Custom(Struct):
    command: Annotated[str, Written.PROGRAM, "The program that speaks ACP.", To("custom.command")]
    args: Annotated[
        tuple[str, ...], Written.INTERPOLATED, "The program's arguments.", To("custom.args")
    ]
    install: Annotated[str, "The command that installs it.", To("custom.install")]
    passes: Annotated[
        tuple[str, ...], "Patterns of your variables that it gets.", To("custom.passes")
    ]
    options: Annotated[dict[str, str], "Options of another package's provider.", To("options.*")]


EVERY_AVATAR: Final = {**keys_in(AvatarSettings), **keys_in(_EveryAvatar)}
EVERY_PROVIDER: Final = {
    **EVERY_AVATAR, **keys_in(AvatarSettings, scopes=[Scope.PROVIDER]), **keys_in(_EveryProvider)
}  # fmt: skip
WITH_COMMAND: Final = {**EVERY_PROVIDER, **keys_in(AvatarSettings, scopes=[Scope.COMMAND])}


def _options(*kinds: type[Struct]) -> dict[str, Key]:
    """Keys that are the provider's options of the same names."""
    return {name: key for kind in kinds for name, key in keys_in(kind, "options.").items()}


_REMOTE: Final = {**keys_in(AvatarSettings, scopes=[Scope.REMOTE]), **_options(_Login, _Files)}


class _Metrics(Struct):
    enabled: _Switch
    type: Annotated[str, Means(_COLLECTORS), "Who collects them."]


class _Runtime(Struct):
    max_avatars: Annotated[PositiveCount, "How many may run at once.", To("max_avatars")]
    observable: Annotated[
        bool, "Whether your other programs, as `avatar tree`, may watch.", To("observable")
    ]


class _Root(Struct):
    provider: Annotated[str, "The agent's name: `embedded`."]
    engine: Annotated[object, Section(EVERY_AVATAR), "For every avatar."]
    claude: Annotated[object, Section({**WITH_COMMAND, **_options(_Claude)}), "Claude Code."]
    gemini: Annotated[
        object, Section({**WITH_COMMAND, **_options(_Cost, _Files, _Gemini)}), "Gemini CLI."
    ]
    codex: Annotated[
        object, Section({**WITH_COMMAND, **_options(_Cost, _Codex)}), "Codex, by an ACP adapter."
    ]
    acp: Annotated[
        object,
        Section({**WITH_COMMAND, **_options(_Cost), **_REMOTE}),
        "Any ACP agent, by its command or URL.",
    ]
    embedded: Annotated[
        object,
        Section({**WITH_COMMAND, **_options(_Cost, _Files)}),
        "The package's own agent.",
    ]
    providers: Annotated[
        object,
        Named(Section({**EVERY_PROVIDER, **_options(_Cost), **_REMOTE, **keys_in(_Custom)})),
        "ACP agents of your own, by name.",
    ]
    rate_limit: Annotated[
        object, _RATE_LIMIT, Present("rate_limit.enabled"), "How many prompts an avatar takes."
    ]
    budget: Annotated[Budget, "What all avatars together may spend."]
    runtime: Annotated[_Runtime, "Limits of the whole program."]
    logging: Annotated[
        LogSettings, Present("log.enabled"), To("log"), "Where the package's own loggers write."
    ]
    metrics: Annotated[
        object,
        Section({**keys_in(_Metrics, "metrics."), **keys_in(MetricsSettings, "metrics.")}),
        Present("metrics.enabled"),
        "How metrics are offered.",
    ]


ROOT: Final = Section(keys_in(_Root))
HOST_SECTIONS: Final = ("budget", "runtime", "logging", "metrics")
