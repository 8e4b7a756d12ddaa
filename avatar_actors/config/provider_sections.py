"""The sections of the providers: what each agent has of its own."""

from __future__ import annotations

from typing import Final

from avatar_actors.config.avatar_sections import AGENT, COMMAND, COST, COST_CONTROL, DOLLARS, MONEY
from avatar_actors.config.keys import (
    AnyKind,
    Key,
    Meaning,
    Meanings,
    Named,
    RemovedKey,
    Section,
    Switch,
)
from avatar_actors.config.kinds import (
    Filled,
    Flag,
    Number,
    OneOf,
    Pairs,
    Program,
    Text,
    Texts,
    Whole,
)
from avatar_actors.model.settings import PermissionMode
from avatar_actors.providers import codex


def _option(name: str, kind: AnyKind, about: str) -> Key:
    """A key that is the provider's option of the same name."""
    return Key(name, kind, f"options.{name}", about)


def _arguments(*arguments: str) -> Switch:
    return Switch({"args.debug": arguments}, {"args.debug": ()})


def _variable(name: str, about: str) -> Key:
    return Key(name, Switch({f"options.{name}": "1"}, {}), "", about)


_SAFE: Final = Meaning(permissions=PermissionMode.SAFE)
_ASK: Final = Meaning(permissions=PermissionMode.ASK)
# Not the agents' own modes that ask nobody: with those no tool policy would hold.
_UNRESTRICTED: Final = Meaning(permissions=PermissionMode.UNRESTRICTED)
_FILES: Final = _option("files", OneOf(("agent", "host")), "Who reads and writes text files.")
_COSTS: Final = Key("cost_control", COST_CONTROL, "", "The avatar's budget.")
_LOGIN: Final = "Tried when the agent wants a login."
_REMOTE: Final = (
    Key("url", Filled(), "url", "A remote agent, instead of a command."),
    Key("headers", Pairs(), "headers", "Sent to it; the place for its token."),
    _option("auth_method", Text(), _LOGIN),
    _FILES,
)

_ISOLATION: Final = "the MCP servers of your own Claude Code always stay out"
_CLAUDE_MODES: Final = Meanings({
    "default": _ASK, "manual": _ASK, "plan": _SAFE, "bypassPermissions": _UNRESTRICTED,
    **{mode: {**_ASK, "mode": mode} for mode in ("acceptEdits", "auto", "dontAsk")},
})  # fmt: skip
_CLAUDE_COSTS: Final = Section((
    Key("max_budget_usd", DOLLARS, "budget.cost_usd options.max_budget_usd", MONEY),
    _option("max_turns", Whole(least=1), "Steps of the agent within one prompt."),
    *COST,
))  # fmt: skip
CLAUDE: Final = Section((
    *AGENT, *COMMAND,
    Key("permission_mode", _CLAUDE_MODES, "", "`permissions` or `mode` in Claude's words."),
    Key("strict_mcp_config", Switch({}, _ISOLATION), "", "Always so."),
    # With --debug, 2.1.325 writes to a file in the user's home instead.
    Key("debug", _arguments("--debug-to-stderr"), "", "Its debug output, as diagnostics."),
    _option("fallback_model", Text(), "For when the model is overloaded."),
    Key("cost_control", _CLAUDE_COSTS, "", "The avatar's budget."),
    _option("effort", Text(), "How hard it thinks: low, medium, high, …"),
    _option("max_thinking_tokens", Whole(), "Tokens of thought."),
    _option("max_retries", Whole(), "Its own retries of requests."),
    _option("system_prompt_snapshot", OneOf(("on", "off")),
            "Off: a resumed session gets the present system prompt."),
    _variable("disable_background_tasks", "All in the foreground."),
    _variable("file_checkpoints", "For the call `rewind_files`."),
    _variable("sandbox", "Lets root use `mode: bypassPermissions`."),
))  # fmt: skip

_GEMINI_MODES: Final = Meanings({
    "default": _ASK, "plan": _SAFE, "yolo": _UNRESTRICTED,
    "auto_edit": {**_ASK, "mode": "autoEdit"},
})  # fmt: skip
_GEMINI_LOGINS: Final = OneOf(("oauth-personal", "gemini-api-key", "vertex-ai"))
_OVER_ACP: Final = Switch({"options.headless": "false"}, {"options.headless": "true"})
_PREVIEW: Final = RemovedKey("gemini 0.61 has no such setting, and its preview models need none")
_GENERATION: Final = Section((
    _option("temperature", Number(most=2), "1.0 is what Gemini 3 wants."),
    _option("top_p", Number(most=1), "Nucleus sampling."),
    _option("top_k", Whole(least=1), "Of so many tokens."),
    _option("thinking_level", OneOf(("minimal", "low", "medium", "high")), "How hard it thinks."),
    _option("thinking_budget", Whole(least=-1), "Tokens of thought; -1: its choice."),
    _option("include_thoughts", Flag(), "Whether its thoughts are told."),
    _option("max_output_tokens", Whole(least=1), "Tokens of an answer."),
))  # fmt: skip
GEMINI: Final = Section((
    *AGENT, *COMMAND, _COSTS, _FILES,
    Key("approval_mode", _GEMINI_MODES, "", "`permissions` or `mode` in Gemini's words."),
    _option("auth_method", _GEMINI_LOGINS, _LOGIN),
    Key("acp_enabled", _OVER_ACP, "", "False: headless, a process for each prompt."),
    _option("acp_flag", Text(), "Of older versions: `--experimental-acp`."),
    Key("preview_features", _PREVIEW, "", "Refused."),
    Key("debug", _arguments("--debug"), "", "Its debug output, as diagnostics."),
    _option("trust_workspace", Flag(), "Whether the folder's own settings count."),
    Key("generation_config", _GENERATION, "", "How it answers; needs `model`."),
))  # fmt: skip

_CODEX_POLICIES: Final = {
    each: Meaning({"options.approval_mode": each}) for each in codex.APPROVAL_MODES
}
CODEX: Final = Section((
    *AGENT, *COMMAND, _COSTS,
    Key("executable_args", Texts(), "args.given", "The same as `args`."),
    _option("adapter", OneOf(codex.ADAPTERS), "Which it is; the package's name tells it too."),
    Key("auth_method", OneOf(codex.AUTH_METHODS), "options.auth", _LOGIN),
    Key("approval_mode", Meanings({"auto": _UNRESTRICTED, **_CODEX_POLICIES}), "",
        "`auto`: nobody is asked, but the tool policy holds; else Codex's own policy."),
    _option("sandbox_mode", OneOf(codex.SANDBOX_MODES), "What its commands may do."),
    _option("project_docs", Flag(), "Whether the project's AGENTS.md counts."),
))  # fmt: skip

ACP: Final = Section((*AGENT, *COMMAND, _COSTS, *_REMOTE))

EMBEDDED: Final = Section((*AGENT, *COMMAND, _COSTS, _FILES))

OWN: Final = Named(Section((
    *AGENT, _COSTS, *_REMOTE,
    Key("command", Program(), "own.command", "The program that speaks ACP."),
    Key("args", Texts(Filled()), "own.args", "Its arguments."),
    Key("install", Text(), "own.install", "What a person types when it is missing."),
    Key("passes", Texts(), "own.passes", "Patterns of your variables that it gets."),
    Key("options", Pairs(), "options.*", "Options, for a provider of another package."),
)))  # fmt: skip
