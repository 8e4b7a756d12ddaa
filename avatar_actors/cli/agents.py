"""`avatar providers` and `avatar health`: which agents there are, and whether they work here."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeAlias

import click
import msgspec
import trio
from msgspec import Struct

from avatar_actors import (
    AgentFound,
    AvatarConfig,
    AvatarError,
    AvatarOptions,
    Choice,
    HealthStatus,
    Provider,
    ProviderCapabilities,
    SettingsError,
    SignedIn,
    config_schema,
    find_agent,
    open_runtime,
    see_agent,
)
from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
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
from avatar_actors.cli.terminal.output import say, say_heading, say_json, say_note, say_table

_WITHOUT_A_SECTION: Final = {
    "claude-agent-acp": "Claude Code, by its ACP adapter",
    "opencode": "opencode",
    "qwen": "Qwen Code",
}

Look: TypeAlias = Callable[[str | Provider, AvatarOptions], AgentFound]


class AgentStatus(Struct, frozen=True):
    """What is known of an agent; `problem` says why nothing could be looked for."""

    name: str
    about: str
    agent: AgentFound
    problem: str = ""

    @property
    def state(self) -> str:
        """Whether it can be used, in a few words."""
        if self.problem:
            return "not set up"
        if not self.agent.path:
            return "elsewhere" if "://" in self.agent.executable else "missing"
        if not self.agent.is_supported:
            return "too old"
        return {
            SignedIn.YES: "ready",
            SignedIn.NO: "not signed in",
            SignedIn.UNKNOWN: "perhaps",
        }[self.agent.sign_in.verdict]

    @property
    def advice(self) -> str:
        """What to do before it can be used, if anything."""
        return self.problem or self.agent.advice or self.agent.sign_in.advice

    @property
    def to_do(self) -> str:
        """The advice as a line that names the agent; empty if there is none."""
        is_named = not self.advice or self.advice.startswith(f"{self.name} ")
        return self.advice if is_named else f"{self.name}: {self.advice}"


def status_of(config: AvatarConfig, name: str, look: Look) -> AgentStatus:
    """The status of this agent, as `look` finds it."""
    provider, options = config.chosen(name)
    about = _about(config, name)
    try:
        return AgentStatus(name, about, look(provider, options))
    except SettingsError as error:
        return AgentStatus(name, about, AgentFound(name=name, executable=""), str(error))


def glance(provider: str | Provider, options: AvatarOptions) -> AgentFound:
    """Look without running anything."""
    return see_agent(provider, **options)


def inspect(provider: str | Provider, options: AvatarOptions) -> AgentFound:
    """Look, and ask the agent for its version."""
    glanced = see_agent(provider, **options)
    # A launcher in front of it, like `npx`, would report its own version.
    if not glanced.path or options.get("args"):
        return glanced
    return find_agent(provider, options.get("executable", ""), options.get("env"))


def _about(config: AvatarConfig, name: str) -> str:
    if any(each.name == name for each in config.providers):
        return "your own"
    if name in _WITHOUT_A_SECTION:
        return _WITHOUT_A_SECTION[name]
    known = config_schema()["properties"].get(name, {"description": "from another package"})
    return str(known["description"]).rstrip(".")


_PROVIDER_COLUMNS: Final = ("name", "what it is", "program", "state")


@click.command()
@with_options(CONFIG, JSON)
def providers(wanted: CommandOptions) -> None:
    """List the agents that can be used, and which one `avatar chat` would use.

    Nothing is run. `perhaps` means that it is installed, but it is unknown whether it is signed in.
    `avatar health --check-cli` also asks for the versions.
    """
    config = AvatarConfig.load(wanted.config)
    choice = choose_agent(wanted)
    found = [status_of(config, name, glance) for name in config.sections]
    if wanted.as_json:
        for each in found:
            say_json(_provider_object(each, choice))
        return
    rows = [_provider_row(each, choice) for each in found]
    say_table(_PROVIDER_COLUMNS, rows, cut="what it is")
    say()
    say_note(f"* avatar chat would use {choice.name}: {choice.why}")
    for line in filter(None, (each.to_do for each in found)):
        say_note(line)


def _provider_row(each: AgentStatus, choice: AgentChoice) -> tuple[str, ...]:
    agent, by = each.agent, each.agent.sign_in.by
    name = f"{each.name} *" if each.name == choice.name else each.name
    state = f"{each.state} ({by})" if by else each.state
    return name, each.about, agent.path or agent.executable or "-", state


def _provider_object(each: AgentStatus, choice: AgentChoice) -> dict[str, object]:
    is_chosen = each.name == choice.name
    return {
        "name": each.name,
        "about": each.about,
        "state": each.state,
        "is_ready": each.agent.is_ready,
        "is_chosen": is_chosen,
        "why": choice.why if is_chosen else "",
        "executable": each.agent.executable,
        "path": each.agent.path,
        "sign_in": msgspec.to_builtins(each.agent.sign_in),
        "install": each.agent.install,
        "advice": each.advice,
    }


_HEALTH_COLUMNS: Final = ("provider", "found", "version", "supported", "signed in")


@click.command()
@click.option("--check-cli", is_flag=True, help="Start nothing; show what is installed.")
@with_options(PROVIDER, MODEL, CONFIG, CWD, JSON)
def health(wanted: CommandOptions, check_cli: bool) -> int:
    """Check whether an avatar can start, and what is installed.

    Starts an avatar of the chosen provider, shows its health and its capabilities, and stops it.
    With --check-cli only version commands are run: for each provider it shows whether it is found,
    its version, whether that is supported, whether it is signed in, and what to do.

    \b
    exit code 0: healthy; with --check-cli: an agent other than the embedded one is ready,
                 or the one named by -p
    exit code 1: not healthy
    exit code 3: the agent is missing or not signed in; with --check-cli: none is ready
    """
    if not check_cli:
        return _start(wanted)
    if wanted.model or wanted.cwd:
        raise click.UsageError("--check-cli starts nothing; leave out --model and --cwd")
    return _check(wanted)


def _start(wanted: CommandOptions) -> int:
    choice = choose_agent(wanted)
    about = {"provider": choice.name, "why": choice.why}
    try:
        status, can = trio.run(_asked, choice)
    except AvatarError as error:
        if wanted.as_json:
            say_json({**about, "is_healthy": False, "error": str(error)})
        raise
    if wanted.as_json:
        say_json({**about, "is_healthy": status.is_healthy, "health": status, "capabilities": can})
    else:
        _show(choice, status, can)
    return ExitCode.OK if status.is_healthy else ExitCode.FAILED


async def _asked(choice: AgentChoice) -> tuple[HealthStatus, ProviderCapabilities]:
    async with open_runtime(**choice.runtime) as runtime:
        avatar = await runtime.start(choice.provider, **choice.options)
        return await avatar.health(), await avatar.capabilities()


def _show(choice: AgentChoice, status: HealthStatus, can: ProviderCapabilities) -> None:
    is_healthy = "healthy" if status.is_healthy else "not healthy"
    say_heading(f"{choice.name} is {is_healthy}")
    say(f"  chosen: {choice.why}")
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
    config.chosen(names[0])  # SettingsError if it is unknown
    with ThreadPoolExecutor(len(names)) as pool:
        found = list(pool.map(partial(status_of, config, look=inspect), names))
    if wanted.as_json:
        for each in found:
            say_json(_health_object(each))
    else:
        say_table(_HEALTH_COLUMNS, map(_health_row, found))
        _advise(found)
    ready = {each.name for each in found if each.agent.is_ready}
    is_any = bool(ready & {wanted.provider} or ready - {"embedded"})
    return ExitCode.OK if is_any else ExitCode.NO_PROVIDER


def _health_row(each: AgentStatus) -> tuple[str, ...]:
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


def _health_object(each: AgentStatus) -> dict[str, object]:
    agent: dict[str, object] = msgspec.to_builtins(each.agent)
    return {**agent, "state": each.state, "is_ready": each.agent.is_ready, "advice": each.advice}
