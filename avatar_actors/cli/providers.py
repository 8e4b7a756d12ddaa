"""`avatar providers`: which agents can be used, and which one `avatar chat` would take."""

from __future__ import annotations

from typing import Final

import click
import msgspec

from avatar_actors import AvatarConfig
from avatar_actors.cli.agent_choice import AgentChoice, choose_agent
from avatar_actors.cli.agent_status import AgentStatus, glance, seen
from avatar_actors.cli.options import CONFIG, JSON, CommandOptions, with_options
from avatar_actors.cli.terminal.output import Table, say, say_json, say_note, say_table

COLUMNS: Final = ("name", "what it is", "program", "state")


@click.command()
@with_options(CONFIG, JSON)
def providers(wanted: CommandOptions) -> None:
    """List the agents that can be used, and which one `avatar chat` would take.

    Nothing is run. `perhaps`: it is there, and nobody can tell whether it is signed in.
    `avatar health --check-cli` asks for the versions too.
    """
    config = AvatarConfig.load(wanted.config)
    casting = choose_agent(wanted)
    found = [seen(config, name, glance) for name in config.sections]
    if wanted.as_json:
        for each in found:
            say_json(_object(each, casting))
        return
    rows = tuple(_row(each, casting) for each in found)
    say_table(Table(columns=COLUMNS, rows=rows, cut="what it is"))
    say()
    say_note(f"* avatar chat would take {casting.name}: {casting.why}")
    for line in filter(None, (each.to_do for each in found)):
        say_note(line)


def _row(each: AgentStatus, casting: AgentChoice) -> tuple[str, ...]:
    agent, by = each.agent, each.agent.sign_in.by
    name = f"{each.name} *" if each.name == casting.name else each.name
    state = f"{each.state} ({by})" if by else each.state
    return name, each.about, agent.path or agent.executable or "-", state


def _object(each: AgentStatus, casting: AgentChoice) -> dict[str, object]:
    is_chosen = each.name == casting.name
    return {
        "name": each.name,
        "about": each.about,
        "state": each.state,
        "is_ready": each.agent.is_ready,
        "is_chosen": is_chosen,
        "why": casting.why if is_chosen else "",
        "executable": each.agent.executable,
        "path": each.agent.path,
        "sign_in": msgspec.to_builtins(each.agent.sign_in),
        "install": each.agent.install,
        "advice": each.advice,
    }
