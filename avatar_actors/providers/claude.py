"""Claude Code: `claude -p` with stream-json in both directions and the control protocol."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import JsonObject, McpServer, PermissionBasis
from avatar_actors.providers import tool_names
from avatar_actors.providers.provider import (
    LaunchPlan,
    Place,
    Provider,
    SignedIn,
    SignIn,
    holds_login,
    home_of,
    shown_folder,
)
from avatar_actors.providers.stores.claude import claude_store, claude_transcript
from avatar_actors.wire.claude.opening import ClaudeBasis
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import Beginning

CLAUDE_VARIABLES: Final = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
)  # fmt: skip


# They may hold a login, which the CLI does not know of as one (2.1.325).
CUSTOM_HEADERS: Final = "ANTHROPIC_CUSTOM_HEADERS"


def claude_sign_in(settings: AvatarSettings, env: Mapping[str, str]) -> SignIn:
    """By a variable, or by the file that `claude` keeps its login in."""
    if name := next((name for name in CLAUDE_VARIABLES if env.get(name)), ""):
        return SignIn(SignedIn.YES, name)
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or home_of(env) / ".claude")
    advice = "Run `claude` once and log in, or set ANTHROPIC_API_KEY"
    if holds_login(folder / ".credentials.json"):
        return SignIn(SignedIn.YES, f"a login in {shown_folder(folder, env)}")
    if _custom_headers(settings, env):
        return SignIn(SignedIn.UNKNOWN, f"it may be in {CUSTOM_HEADERS}", advice)
    if sys.platform == "darwin":
        return SignIn(SignedIn.UNKNOWN, "it may be in the keychain", advice)
    return SignIn(SignedIn.NO, advice=advice)


def _custom_headers(settings: AvatarSettings, env: Mapping[str, str]) -> str:
    return settings.env.get(CUSTOM_HEADERS) or env.get(CUSTOM_HEADERS, "")


def mcp_config(servers: tuple[McpServer, ...]) -> str:
    """The configuration; it may hold secrets."""
    config: dict[str, JsonObject] = {}
    for one in servers:
        if one.url:
            kind = "sse" if one.transport == "sse" else "http"
            config[one.name] = {"type": kind, "url": one.url, "headers": one.headers}
        else:
            config[one.name] = {"command": one.command, "args": list(one.args), "env": one.env}
    return msgspec.json.encode({"mcpServers": config}).decode()


# --verbose: stream-json output is refused without it. --setting-sources "" and --strict-mcp-config
# keep out the host project's CLAUDE.md, hooks, environment and MCP servers (2.1.325 would even
# spawn the latter without asking).
COMMAND: Final[tuple[Flag, ...]] = (
    "--print", ("--input-format", "stream-json"), ("--output-format", "stream-json"), "--verbose",
    "--include-partial-messages", ("--permission-prompt-tool", "stdio"),
    ("--setting-sources", ""), "--strict-mcp-config",
)  # fmt: skip
FLAGS: Final = {
    "effort": "--effort",
    "fallback_model": "--fallback-model",
    "max_budget_usd": "--max-budget-usd",
    "max_thinking_tokens": "--max-thinking-tokens",
    "max_turns": "--max-turns",
    # 2.1.325 keeps the first system prompt of a resumed session unless this is "off"; 2.1.197 does
    # not know the flag and exits with 1, so it is sent only when asked for.
    "system_prompt_snapshot": "--system-prompt-snapshot",
}
VARIABLES: Final = {
    # Asked for, 2.1.325 runs sub-agents and commands in the foreground only.
    "disable_background_tasks": "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    # Without it the call rewind_files finds nothing to go back to.
    "file_checkpoints": "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
    "max_retries": "CLAUDE_CODE_MAX_RETRIES",
    # Lets root use the mode bypassPermissions, which exits with 1 otherwise.
    "sandbox": "IS_SANDBOX",
}
ENV: Final = {
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
# The mode that asks, always. UNRESTRICTED is not bypassPermissions: root may not use that, and no
# tool policy would be asked. SAFE is not `plan`: there 2.1.185 runs commands that write without
# asking, and 2.1.325 has a model of its own decide about them.
MODE: Final = "default"
# Arguments of the host's that make another mode of it, or allow tools beforehand.
LOOSENING: Final = ("--dangerously", "--permission-mode", "--allowedTools", "--allowed-tools")
MCP_FILE: Final = "claude-mcp.json"
PROMPT_FILE: Final = "claude-system-prompt.md"
# The CLI puts a socket below TMPDIR (cc-socks/<pid>.sock); its path must stay under 103 bytes.
LONGEST_TMPDIR: Final = 78


def claude_provider() -> Provider:
    """Claude Code as it is installed, logged in by its owner."""
    return Provider(
        name="claude",
        plan=plan,
        wire=lambda settings: ClaudeWire(
            seed=secrets.token_hex(8), max_line=settings.max_line, basis=_basis(settings)
        ),
        passes=(
            "ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_*", "CLAUDE_CODE_USE_*",
            "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_CLIENT_*", "CLOUD_ML_REGION", "VERTEX_REGION_*",
        ),
        # Without `@latest` npm takes an old version for an old Node, which it does not even run on.
        install="npm install -g @anthropic-ai/claude-code@latest",
        store=claude_store,
        transcript=claude_transcript,
        minimum={"Claude Code": "2.1.197"},
        sign_in=claude_sign_in,
        tools=tool_names.CLAUDE,
    )  # fmt: skip


def _basis(settings: AvatarSettings) -> ClaudeBasis:
    """Its mode `default` holds; another one is the host's own choice."""
    is_loose = any(word.startswith(LOOSENING) for word in settings.args)
    is_held = settings.mode in {"", MODE} and not is_loose
    held = PermissionBasis.ENFORCED if is_held else PermissionBasis.ON_TRUST
    return ClaudeBasis(held, knows_login=not _custom_headers(settings, os.environ))


def plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
    """The command of one life.

    Secrets of MCP servers and the system prompt go by files: every user can read a command line.
    """
    if unknown := sorted(set(settings.options) - {*FLAGS, *VARIABLES}):
        known = ", ".join(sorted({*FLAGS, *VARIABLES}))
        raise SettingsError(f"claude has no option {unknown[0]!r}; there are: {known}")
    flags = list(COMMAND)
    is_fork = place.begins is Beginning.FORK
    flags += [("--resume", place.resume)] if place.resume else []
    flags += ["--fork-session"] if is_fork else []
    flags += [("--session-id", place.session_id)] if is_fork or not place.resume else []
    flags += [("--permission-mode", settings.mode or MODE)]
    flags += [("--model", settings.model)] if settings.model else []
    flags += [(FLAGS[name], text) for name, text in settings.options.items() if name in FLAGS]
    if settings.output_schema is not None:
        # There is no way to give it by a file (2.1.325).
        flags += [("--json-schema", msgspec.json.encode(settings.output_schema).decode())]
    if settings.tools.deny:
        # What the CLI allows by itself (reading, searching) never reaches the gatekeeper.
        flags += [("--disallowedTools", ",".join(settings.tools.deny))]
    files: dict[str, str] = {}
    if settings.mcp_servers:
        files[MCP_FILE] = mcp_config(settings.mcp_servers)
        flags += [("--mcp-config", str(place.private_dir / MCP_FILE))]
    if settings.system_prompt:
        files[PROMPT_FILE] = settings.system_prompt
        flags += [("--append-system-prompt-file", str(place.private_dir / PROMPT_FILE))]
    env = {**ENV, **{VARIABLES[k]: v for k, v in settings.options.items() if k in VARIABLES}}
    if len(str(place.private_dir)) <= LONGEST_TMPDIR:
        env |= {"TMPDIR": str(place.private_dir), "CLAUDE_CODE_TMPDIR": str(place.private_dir)}
    argv = command_line((settings.executable or "claude",), flags, settings.args)
    return LaunchPlan(argv=argv, env=env, files=files)
