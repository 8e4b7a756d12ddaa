"""A fake agent as a program: reads the flags of the agent it impersonates and speaks as it does.

The standard library and the embedded agent are all it needs, and it is started as that is
(`-I -S`): `launcher.py` writes the executable. It always plays the scripts that stand in prompts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from avatar_actors.programs.embedded.process import ProcessControl, StartSettings
from avatar_actors.programs.embedded.program import prepare, refuse
from tests.fake_agents.flags import Flags, UnknownFlag

if TYPE_CHECKING:
    from collections.abc import Callable

# Each agent imports its own modules when it is chosen.
# ruff: noqa: PLC0415

VERSIONS = {
    "claude": "2.1.325 (Claude Code)",
    "gemini": "0.61.0",
    "codex-zed": "codex-acp 0.16.0",
    "codex-acp": "2.6.0",
}


def main(name: str) -> None:
    """Impersonates the agent on the standard streams."""
    try:
        flags = Flags(sys.argv[1:])
    except UnknownFlag as unknown:
        refuse(f"unknown option '{unknown}'")
    if flags.has("--version"):
        sys.stdout.write(f"{VERSIONS[name]}\n")
        return
    control = ProcessControl()
    start = StartSettings()
    start.argv = flags.argv
    start.model = flags.value("--model")
    prepare(start, control, flags.value("--script"))
    control.plays_scripts = True
    speaker(name, flags)(flags, start, control)


def speaker(name: str, flags: Flags) -> Callable[[Flags, StartSettings, ProcessControl], None]:
    """What the agent speaks, started with these flags."""
    if name == "claude":
        from tests.fake_agents.claude.program import speak_claude

        return speak_claude
    if name == "gemini" and not flags.has("--acp") and not flags.has("--experimental-acp"):
        from tests.fake_agents.gemini_headless import speak_gemini

        return speak_gemini
    from tests.fake_agents.acp.agent import speak_acp
    from tests.fake_agents.acp.variants import VARIANTS

    variant = VARIANTS[name]()
    return lambda flags, start, control: speak_acp(variant, flags, start, control)
