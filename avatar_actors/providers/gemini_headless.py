"""Gemini without ACP: `gemini -p … --output-format stream-json`, a process for each prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import PermissionBasis
from avatar_actors.providers import tool_names
from avatar_actors.providers.provider import LaunchPlan, Place, Provider
from avatar_actors.wire.gemini.wire import GeminiHeadlessWire

ROOT: Final = Path(__file__).resolve().parents[2]
SHIM: Final = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from avatar_actors.programs.gemini_shim.program import main; main()"
)
# Nobody can be asked in this mode: without --yolo the tools that need approval are not there at
# all, and with it they are only in a trusted folder (0.61.0).
MODES: Final[dict[PermissionMode, tuple[Flag, ...]]] = {
    PermissionMode.SAFE: (),
    PermissionMode.ASK: (),
    PermissionMode.UNRESTRICTED: ("--yolo", "--skip-trust"),
}
SYSTEM_FILE: Final = "gemini-system.md"


def gemini_headless_provider() -> Provider:
    """Gemini CLI as it is installed, logged in by its owner."""
    return Provider(
        name="gemini",
        plan=plan,
        wire=lambda settings: GeminiHeadlessWire(
            max_line=settings.max_line, permissions=_basis(settings)
        ),
        passes=("GEMINI_*", "GOOGLE_*"),
        install="npm install -g @google/gemini-cli",
        tools=tool_names.GEMINI,
    )


def _basis(settings: AvatarSettings) -> PermissionBasis:
    """Without --yolo there are no tools that change things; with it, or a mode, nobody is asked."""
    is_held = not settings.mode and not MODES[settings.permissions]
    return PermissionBasis.ENFORCED if is_held else PermissionBasis.ON_TRUST


def plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
    """The shim's command. The session's flag comes with each prompt."""
    if unknown := sorted(set(settings.options) - {"headless"}):
        raise SettingsError(f"headless gemini has no option {unknown[0]!r}; there is: headless")
    if settings.mcp_servers:
        raise SettingsError("headless gemini takes no MCP servers; leave out the option headless")
    if settings.tools != ToolPolicy():
        raise SettingsError("headless gemini asks nobody, so no tool policy can hold")
    named = settings.mode.replace("autoEdit", "auto_edit")  # its name over ACP
    flags: list[Flag] = [("--output-format", "stream-json")]
    flags += [("--approval-mode", named)] if named else MODES[settings.permissions]
    flags += [("--model", settings.model)] if settings.model else []
    gemini = command_line((settings.executable or "gemini", *settings.args), flags)
    python = (sys.executable, "-I", "-S", "-c", SHIM)
    argv = command_line(python, [("--session-id", place.session_id)], ("--", *gemini))
    files: dict[str, str] = {}
    env: dict[str, str] = {}
    if settings.system_prompt:
        # It replaces gemini's own instructions: there is no way to add to them (0.61.0).
        files[SYSTEM_FILE] = settings.system_prompt
        env["GEMINI_SYSTEM_MD"] = str(place.private_dir / SYSTEM_FILE)
    return LaunchPlan(argv=argv, env=env, files=files)
