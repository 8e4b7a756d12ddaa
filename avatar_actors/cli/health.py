"""`avatar health`: whether an avatar can start, or what is installed here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import click
import msgspec
import trio

from avatar_actors import (
    AvatarConfig,
    AvatarError,
    Choice,
    HealthStatus,
    ProviderCapabilities,
    open_runtime,
)
from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
from avatar_actors.cli.agent_status import AgentStatus, inspect, seen
from avatar_actors.cli.exit_codes import ExitCode
from avatar_actors.cli.options import (
    CONFIG,
    CWD,
    JSON,
    MODEL,
    PROVIDER,
    CommandOptions,
    with_options,
)
from avatar_actors.cli.terminal.output import Table, say, say_heading, say_json, say_note, say_table

COLUMNS: Final = ("provider", "found", "version", "supported", "signed in")


@click.command()
@click.option("--check-cli", is_flag=True, help="Start nothing: say what is installed.")
@with_options(PROVIDER, MODEL, CONFIG, CWD, JSON)
def health(wanted: CommandOptions, check_cli: bool) -> int:
    """See whether an avatar can start, and what is installed.

    Starts an avatar of the chosen provider, shows how it does and what it can do, and stops it.
    With --check-cli nothing but version commands is run: for each provider it says whether it is
    found, its version, whether that is supported, whether it is signed in, and what to do.

    \b
    exit code 0: it is healthy; with --check-cli: an agent besides the embedded one is ready,
                 or the one that -p names
    exit code 1: it is not healthy
    exit code 3: the agent is missing or not signed in; with --check-cli: none is ready
    """
    if not check_cli:
        return _start(wanted)
    if wanted.model or wanted.cwd:
        raise click.UsageError("--check-cli starts nothing: leave out --model and --cwd")
    return _check(wanted)


def _start(wanted: CommandOptions) -> int:
    casting = choose_agent(wanted)
    about = {"provider": casting.name, "why": casting.why}
    try:
        status, can = trio.run(_asked, casting)
    except AvatarError as error:
        if wanted.as_json:
            say_json({**about, "is_healthy": False, "error": str(error)})
        raise
    if wanted.as_json:
        say_json({**about, "is_healthy": status.is_healthy, "health": status, "capabilities": can})
    else:
        _show(casting, status, can)
    return ExitCode.OK if status.is_healthy else ExitCode.FAILED


async def _asked(casting: AgentChoice) -> tuple[HealthStatus, ProviderCapabilities]:
    async with open_runtime(**casting.runtime) as runtime:
        avatar = await runtime.start(casting.provider, **casting.options)
        return await avatar.health(), await avatar.capabilities()


def _show(casting: AgentChoice, status: HealthStatus, can: ProviderCapabilities) -> None:
    is_healthy = "healthy" if status.is_healthy else "not healthy"
    say_heading(f"{casting.name} is {is_healthy}: {casting.why}")
    say(f"  agent: {can.agent} {can.version}".rstrip())
    say(f"  state: {status.state.value}")
    for name in can.__struct_fields__:
        if name not in {"agent", "version"}:
            say(f"  {name.replace('_', ' ')}: {_words(getattr(can, name))}")


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(_words, msgspec.convert(value, tuple[object, ...]))) or "none"
    return value.choice_id if isinstance(value, Choice) else str(value)


def _check(wanted: CommandOptions) -> int:
    config = AvatarConfig.load(wanted.config)
    names = [wanted.provider] if wanted.provider else list(config.sections)
    config.chosen(names[0])  # whether it is one
    with ThreadPoolExecutor(len(names)) as pool:
        found = list(pool.map(partial(seen, config, look=inspect), names))
    if wanted.as_json:
        for each in found:
            say_json(_object(each))
    else:
        say_table(Table(columns=COLUMNS, rows=tuple(map(_row, found))))
        _advise(found)
    ready = {each.name for each in found if each.agent.is_ready}
    is_any = bool(ready & {wanted.provider} or ready - {"embedded"})
    return ExitCode.OK if is_any else ExitCode.NO_PROVIDER


def _row(each: AgentStatus) -> tuple[str, ...]:
    agent, sign_in = each.agent, each.agent.sign_in
    if not agent.path:
        return each.name, each.state, "-", "-", "-"
    signed_in = f"{sign_in.verdict.value}: {sign_in.by}" if sign_in.by else sign_in.verdict.value
    return each.name, "yes", agent.version or "?", _words(agent.is_supported), signed_in


def _advise(found: list[AgentStatus]) -> None:
    told = [each.to_do for each in found if each.to_do]
    if told:
        say()
    for line in told:
        say_note(line)


def _object(each: AgentStatus) -> dict[str, object]:
    agent: dict[str, object] = msgspec.to_builtins(each.agent)
    return {**agent, "state": each.state, "is_ready": each.agent.is_ready, "advice": each.advice}
