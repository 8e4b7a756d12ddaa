"""The embedded agent: no account, no network; and, for tests, a stand-in for the other agents.

`options`: `dialect` acp (default), claude or gemini (its headless mode); within acp `flavour` plain
(default), gemini, codex-zed or codex-acp plays that agent's quirks; `files` host or agent;
`scripts` true makes it play scripts that stand in prompts, which run commands without asking.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import msgspec

from avatar_actors.model.command_line import Flag, command_line
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import PermissionBasis
from avatar_actors.providers.claude import claude_provider
from avatar_actors.providers.codex import codex_profile
from avatar_actors.providers.gemini import gemini_profile
from avatar_actors.providers.gemini_headless import gemini_headless_provider
from avatar_actors.providers.provider import LaunchPlan, Place, Provider, needs_no_sign_in
from avatar_actors.providers.registry import check_options, choice
from avatar_actors.providers.stores.embedded import embedded_store, embedded_transcript
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered, SystemPromptBy
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.wire import Wire

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAM: Final = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from avatar_actors.programs.embedded.program import main; main()"
)
OPTIONS: Final = ("dialect", "files", "flavour", "scripts")
DIALECTS: Final = ("acp", "claude", "gemini")
FLAVOURS: Final = ("plain", "gemini", "codex-zed", "codex-acp")
FILES: Final = ("agent", "host")
SCRIPTS: Final = {"true": "1", "false": "0"}
PROMPT_FILE: Final = "embedded-system-prompt.md"


def embedded_provider() -> Provider:
    """The agent that is always there."""
    return Provider(
        name="embedded",
        plan=_plan,
        wire=_wire,
        passes=("AVATAR_EMBEDDED_*",),
        store=embedded_store,
        transcript=embedded_transcript,
        version_args=("-I", "-S", "-c", PROGRAM, "--version"),
        sign_in=needs_no_sign_in,
    )


def _dialect(settings: AvatarSettings) -> str:
    return choice(settings, "dialect", DIALECTS, "acp")


def _flavour(settings: AvatarSettings) -> str:
    return choice(settings, "flavour", FLAVOURS, "plain")


def _command(settings: AvatarSettings) -> tuple[str, ...]:
    # Isolated and without site-packages: it starts in half the time, and nothing of the working
    # directory can be imported.
    python = settings.executable or sys.executable
    words = (python, "-I", "-S", "-c", PROGRAM)
    return command_line(words, [("--dialect", _dialect(settings))])


def _played(settings: AvatarSettings) -> AvatarSettings:
    """The settings for the provider whose dialect is spoken: without our own options."""
    return msgspec.structs.replace(settings, options={}, executable="", args=())


def _plan(settings: AvatarSettings, place: Place) -> LaunchPlan:
    check_options("embedded", settings, OPTIONS)
    plan = _plan_of_dialect(settings, place)
    if "scripts" not in settings.options:
        return plan
    played = SCRIPTS[choice(settings, "scripts", SCRIPTS, "false")]
    return msgspec.structs.replace(plan, env={**plan.env, "AVATAR_EMBEDDED_SCRIPTS": played})


def _plan_of_dialect(settings: AvatarSettings, place: Place) -> LaunchPlan:
    command, dialect = _command(settings), _dialect(settings)
    if dialect == "claude":
        plan = claude_provider().plan(_played(settings), place)
        argv = command_line(command, (), (*plan.argv[1:], *settings.args))
        return msgspec.structs.replace(plan, argv=argv)
    if dialect == "gemini":
        played = msgspec.structs.replace(
            _played(settings), executable=command[0], args=(*command[1:], *settings.args)
        )
        return gemini_headless_provider().plan(played, place)
    flags: list[Flag] = [("--flavour", _flavour(settings))]
    files: dict[str, str] = {}
    if settings.model and _flavour(settings) == "plain":
        flags += [("--model", settings.model)]
    if settings.system_prompt and _profile(settings).system_prompt is SystemPromptBy.LAUNCH:
        files[PROMPT_FILE] = settings.system_prompt
        flags += [("--append-system-prompt-file", str(place.private_dir / PROMPT_FILE))]
    return LaunchPlan(argv=command_line(command, flags, settings.args), files=files)


def _wire(settings: AvatarSettings) -> Wire:
    match _dialect(settings):
        case "claude":
            return claude_provider().wire(_played(settings))
        case "gemini":
            return gemini_headless_provider().wire(_played(settings))
        case _:
            return AcpWire(_profile(settings), settings.max_line)


def _profile(settings: AvatarSettings) -> AcpProfile:
    flavour = _flavour(settings)
    is_plain = flavour == "plain"
    is_host = choice(settings, "files", FILES, "host" if is_plain else "agent") == "host"
    files = FilesOffered.READ_AND_WRITE if is_host else FilesOffered.NONE
    if is_plain:
        return AcpProfile(
            system_prompt=SystemPromptBy.META,
            files=files,
            mode="ask",
            permissions=PermissionBasis.ENFORCED,
            tells_cost=True,
        )
    if flavour == "gemini":
        return gemini_profile(settings.permissions, files)
    adapter = {"adapter": flavour.removeprefix("codex-")}
    played = msgspec.structs.replace(_played(settings), options=adapter)
    return msgspec.structs.replace(codex_profile(played), files=files)
