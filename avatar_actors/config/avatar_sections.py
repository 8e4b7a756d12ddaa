"""The keys that every avatar has, its MCP servers, and what each provider's section adds."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from avatar_actors.config.keys import Effect, Key, Meaning, Meanings, Named, RemovedKey, Section
from avatar_actors.config.kinds import (
    Checked,
    Environ,
    FilePath,
    Filled,
    Flag,
    Free,
    Number,
    OneOf,
    Pairs,
    Program,
    Text,
    Texts,
    Whole,
)
from avatar_actors.config.nodes import Node, Position
from avatar_actors.model.command_line import NAME, SESSION_ID, is_name, is_session_id
from avatar_actors.model.settings import PermissionMode, WhileBusy
from avatar_actors.model.values import JsonObject, McpServer

_KEYS: Final = Section((
    Key("command", Program(), "command", "The program that is the server."),
    Key("args", Texts(Filled()), "args", "Its arguments."),
    Key("env", Pairs(), "env", "Variables for it; the place for its secrets."),
    Key("url", Filled(), "url", "A server that runs elsewhere, instead of a command."),
    Key("transport", OneOf(("http", "sse")), "transport", "How the URL is spoken to: `http`."),
    Key("headers", Pairs(), "headers", "Sent with each request to the URL."),
))  # fmt: skip
_OF_COMMAND: Final = frozenset({"args", "env"})
_OF_URL: Final = frozenset({"transport", "headers"})


class Servers(Struct, frozen=True):
    """MCP servers by their names."""

    named: Named = Named(_KEYS)

    @property
    def words(self) -> str:
        """Sections by name."""
        return self.named.words

    def read(self, node: Node, at: Position, environ: Environ) -> tuple[McpServer, ...]:
        """The servers, each with a command or a URL."""
        parts = self.named.parts(node, at)
        return tuple(
            _server(name, spot, self.named.each.effects(one, spot, environ))
            for name, (one, spot) in parts.items()
        )

    def schema(self) -> JsonObject:
        """An object of servers."""
        return self.named.schema()


def _server(name: str, at: Position, effects: list[Effect]) -> McpServer:
    fields = {effect.target: effect.value for effect in effects}
    if bool(fields.get("command")) == bool(fields.get("url")):
        at.refuse("an MCP server has a command or a url, one of them")
    by, wrong = ("command", _OF_URL) if "command" in fields else ("url", _OF_COMMAND)
    for effect in effects:
        if effect.target in wrong:
            effect.at.refuse(f"an MCP server with a {by} has none; take it out")
    transport = {"transport": "http"} if by == "url" else {}
    return msgspec.convert({"name": name, **transport, **fields}, McpServer)


SECONDS: Final = Number(least=0.001, unit="seconds")
PAUSE: Final = Number(unit="seconds")
SHARE: Final = Number(most=1)
_RATE: Final = Number(least=0.001)
_HEALTH: Final = "timeouts.health_check_interval"
DOLLARS: Final = Number(least=0.0001)
_NAME: Final = Checked(NAME, is_name)
_SESSION_ID: Final = Checked(SESSION_ID, lambda text: not text or is_session_id(text))

_TIMEOUTS: Final = Section((
    Key("start", SECONDS, "timeouts.start", "Until the agent takes prompts."),
    Key("turn", SECONDS, "timeouts.turn", "A turn; the same as `timeout`."),
    Key("interrupt", SECONDS, "timeouts.interrupt", "An agent deaf for so long is restarted."),
    Key("stop", SECONDS, "timeouts.stop", "Between the agent's TERM and its KILL."),
    Key("permission", SECONDS, "timeouts.permission", "A question that waits longer is denied."),
    Key("stall_warning", SECONDS, "timeouts.stall_warning", "Silence that is worth a warning."),
    Key("stall_alarm", SECONDS, "timeouts.stall_alarm", "Silence that is worth an alarm."),
    Key("health_check_interval", SECONDS, _HEALTH, "The same as the key of that name."),
))  # fmt: skip
_RESTARTS: Final = Section((
    Key("period", SECONDS, "restarts.period", "The seconds that `max_restarts` is counted in."),
    Key("first_delay", SECONDS, "restarts.first_delay", "The pause before the second restart."),
    Key("factor", Number(least=1), "restarts.factor", "How the pause grows."),
    Key("max_delay", PAUSE, "restarts.max_delay", "The longest pause."),
))  # fmt: skip
_RETRY: Final = Section((
    Key("max_attempts", Whole(least=1), "retry.max_attempts", "Attempts in all."),
    Key("backoff_base", PAUSE, "retry.backoff_base", "The first pause; it doubles."),
    Key("max_delay", PAUSE, "retry.max_delay", "The longest pause."),
))  # fmt: skip
_SESSION: Final = Section((
    Key("continue_last", Flag(), "continue_last", "Begin with the folder's last session."),
    Key("resume_id", _SESSION_ID, "resume", "Begin with this session."),
))  # fmt: skip
_STRUCTURED_OUTPUT: Final = Section((
    Key("enabled", Flag(), "output_schema.enabled", "Whether answers must fit the schema."),
    Key("schema", Free(), "output_schema.schema", "The JSON Schema itself."),
))  # fmt: skip
RATE_LIMIT: Final = Section((
    Key("enabled", Flag(), "rate_limit.enabled", "Off without taking the section out."),
    Key("requests_per_minute", _RATE, "rate_limit.per_minute", "How many prompts in a minute: 60."),
    Key("burst", Whole(least=1), "rate_limit.burst", "Prompts at once: 1."),
))  # fmt: skip
COST: Final = (
    Key(
        "max_tokens", Whole(), "budget.tokens", "Tokens in the avatar's life, cached ones included."
    ),
    Key("max_prompts", Whole(), "budget.turns", "Prompts in the avatar's life."),
    Key("warn_at", SHARE, "budget.warn_at", "The share at which there is a warning: 0.8."),
)
MONEY: Final = "Dollars in the avatar's life."
COST_CONTROL: Final = Section((
    Key("max_budget_usd", DOLLARS, "budget.cost_usd", MONEY),
    Key(
        "max_turns",
        RemovedKey("only claude limits its own steps; max_prompts limits prompts"),
        "",
        "",
    ),
    *COST,
))  # fmt: skip

_PERMISSIONS: Final = {mode.value: Meaning(permissions=mode) for mode in PermissionMode}
_WHILE_BUSY: Final = {word.value: Meaning(while_busy=word) for word in WhileBusy}

# In `engine`, and in each provider's section, which counts there.
SHARED: Final = (
    Key("working_dir", FilePath(), "working_dir", "The agent's directory; empty: where you are."),
    Key("system_prompt", Text(), "system_prompt", "What the agent is told before all else."),
    Key("max_history", Whole(), "max_history", "Messages that the history keeps."),
    Key("auto_restart", Flag(), "restarts.auto_restart", "Whether a crashed agent comes back."),
    Key("max_restarts", Whole(), "restarts.max_restarts", "How often, within `restarts.period`."),
    Key("restarts", _RESTARTS, "", "The pauses between restarts."),
    Key("health_check_interval", SECONDS, _HEALTH, "How often the agent is looked at."),
    Key("timeout", SECONDS, "timeouts.turn", "Seconds that a turn may take; none: no limit."),
    Key("timeouts", _TIMEOUTS, "", "All other limits of time."),
    Key("permissions", Meanings(_PERMISSIONS), "", "Who decides about tools."),
    Key("allowed_tools", Texts(), "tools.allow", "Patterns; these run unasked, others are denied."),
    Key("denied_tools", Texts(), "tools.deny", "Denied, before all else: patterns."),
    Key("while_busy", Meanings(_WHILE_BUSY), "", "What becomes of a prompt during a turn."),
    Key("retry", _RETRY, "", "Starts, and prompts that were refused for now, tried again."),
    Key("mcp_servers", Servers(), "mcp_servers", "MCP servers by name."),
    Key("max_line", Whole(least=1), "max_line", "Bytes of the longest message of an agent."),
    Key("max_answer", Whole(least=1), "max_answer", "Characters of an answer that are kept."),
)  # fmt: skip

# In each provider's section.
AGENT: Final = (
    *SHARED,
    Key("model", _NAME, "model", "Empty: the agent's own."),
    Key("mode", _NAME, "mode", "A mode by the agent's own name for it."),
    Key("env", Pairs(), "env", "Variables for the agent; the place for its keys."),
    Key(
        "rate_limit",
        RATE_LIMIT,
        "rate_limit.enabled",
        "As the section of this name.",
    ),
    Key("session", _SESSION, "", "Which session it begins with; else a new one."),
    Key("structured_output", _STRUCTURED_OUTPUT, "", "Answers as JSON."),
)
COMMAND: Final = (
    Key("executable", Program(), "executable", "Another program than the provider's."),
    Key("args", Texts(), "args.given", "Further arguments."),
)
