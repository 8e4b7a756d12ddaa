"""`avatar chaos` on the real agents, as people run it: by a configuration, on a loopback model.

`python -m tests.real_agents.chaos [AGENT …]` prints the table of docs/chaos.md.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import trio
from msgspec import Struct

from avatar_actors import AvatarOptions
from avatar_actors.chaos import ChaosReport, report_from_json
from avatar_actors.chaos.report.statistics import percentile
from tests.model_api.server import ModelApi, open_model_api
from tests.real_agents.conftest import agents
from tests.real_agents.loopback_only import INSIDE, is_inside, raise_loopback, way_in
from tests.real_agents.subject import Agent, lay_out, options_of

ROOT: Final = Path(__file__).resolve().parents[2]
# With this seed all kinds come that need no script.
SIZE: Final = ("--avatars", "2", "--seconds", "30", "--every", "1", "--seed", "5")
HEAD: Final = (
    "agent", "version", "landed", "restarts", "start p50", "recovery p50", "p99", "availability",
    "promises kept",
)  # fmt: skip

Needs: TypeAlias = Callable[[Agent, ModelApi, Path], AvatarOptions]


class Ended(Struct, frozen=True, kw_only=True):
    """A run: how it ended, all that it said, and its report if there is one."""

    code: int
    said: str
    report: ChaosReport | None


def configuration(agent: Agent, options: AvatarOptions) -> dict[str, object]:
    """What a person would write for this agent."""
    env = options.get("env", {})
    section: dict[str, object] = {
        "env": {name: value.replace("$", "$$") for name, value in env.items()},
        "args": list(options.get("args", ())),
        **{name: _as_written(text) for name, text in options.get("options", {}).items()},
    }
    if agent.provider == "acp":
        return {"providers": {agent.name: {"command": options.get("executable"), **section}}}
    return {agent.provider: {"executable": options.get("executable"), **section}}


def _as_written(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


async def play_chaos(
    agent: Agent, place: Path, *arguments: str, needs: Needs = options_of
) -> Ended:
    """A run to its end, in a process of its own and with a HOME of its own."""
    lay_out(place)
    config, report = place / "avatar.json", place / "report.json"
    own = {"HOME": place / "home", "TMPDIR": place / "tmp", "XDG_RUNTIME_DIR": place / "tmp"}
    name = agent.name if agent.provider == "acp" else agent.provider
    named = ("--provider", name, "--config", str(config), "--json", str(report))
    async with open_model_api() as api:
        config.write_text(json.dumps(configuration(agent, needs(agent, api, place))), "utf-8")
        done = await trio.run_process(
            [sys.executable, "-m", "bench.chaos", *named, *arguments],
            env={"PATH": os.environ["PATH"], **{key: str(path) for key, path in own.items()}},
            cwd=ROOT,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return Ended(
        code=done.returncode,
        said=done.stdout.decode(),
        report=report_from_json(report) if report.exists() else None,
    )


def row(agent: Agent, report: ChaosReport) -> tuple[str, ...]:
    """Recovery is of those faults that cost a session: the others need no start."""
    costly = [fault for fault in report.faults if fault.restarts]
    starts = [fault.restart for fault in costly if fault.restart is not None]
    recoveries = [fault.recovery for fault in costly if fault.recovery is not None]
    kept = sum(promise.is_kept for promise in report.promises)
    return (
        agent.name,
        agent.installed.version,
        f"{sum(fault.is_landed for fault in report.faults)} of {len(report.schedule)}",
        str(report.totals.restarts),
        _seconds(percentile(starts, 50)),
        _seconds(percentile(recoveries, 50)),
        _seconds(percentile(recoveries, 99)),
        f"{report.totals.availability:.0%}",
        f"{kept} of {len(report.promises)}",
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def main() -> int:
    if not is_inside() and (way := way_in()):
        command = [*way, sys.executable, "-m", "tests.real_agents.chaos", *sys.argv[1:]]
        return subprocess.run(
            command, env={**os.environ, INSIDE: "1"}, cwd=ROOT, check=False
        ).returncode
    if is_inside():
        raise_loopback()
    wanted = sys.argv[1:]
    chosen = [agent for agent in agents() if not wanted or agent.name in wanted]
    if not chosen:
        sys.stderr.write("No such agent is installed. Install them first: make agents\n")
        return 3
    codes = [0]
    _line(HEAD)
    _line("---" for _ in HEAD)
    for agent in chosen:
        with tempfile.TemporaryDirectory() as place:
            ended = trio.run(partial(play_chaos, agent, Path(place), *SIZE))
        codes.append(ended.code)
        if ended.report is not None:
            _line(row(agent, ended.report))
        if ended.code:
            sys.stderr.write(f"{agent.name}:\n{ended.said}\n")
    return max(codes)


def _line(cells: Iterable[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
