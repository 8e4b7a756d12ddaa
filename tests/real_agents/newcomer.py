"""The first minutes of a newcomer, typed: `python -m tests.real_agents.newcomer [WHEEL]`.

Five lines in an empty directory, from a new virtual environment to the first answer of Claude Code,
which is on the PATH and talks to a model on loopback. Each is told with its seconds. Without a
wheel one is built from this checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import trio

from tests.model_api.server import open_model_api
from tests.real_agents.install import installed_agents

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-ant-api03-of-nobody"
LINES = (
    f"{sys.executable} -m venv venv",
    ". venv/bin/activate",
    "pip install --quiet '{wheel}[cli]'",
    "avatar providers",
    'avatar chat "What is in this directory?"',
)


def built_wheel(folder: Path) -> Path:
    """A wheel of this checkout, by the build backend that is installed here."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def environment(home: Path, url: str) -> dict[str, str]:
    """What a person's shell has, with Claude Code on its PATH and a key of nobody."""
    programs = home / "bin"
    programs.mkdir()
    (programs / "claude").symlink_to(installed_agents()["claude"].command[0])
    kept = {name: os.environ[name] for name in ("LANG", "PIP_CONFIG_FILE") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
    }


def type_all(wheel: Path, place: Path, env: Mapping[str, str]) -> None:
    """Type the lines into one shell, and tell each with its time."""
    with subprocess.Popen(
        ["/bin/sh"], cwd=place, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        began = time.monotonic()
        for line in LINES:
            typed, at, said = line.format(wheel=wheel), time.monotonic(), ""
            shell.stdin.write(f"{typed} < /dev/null 2>&1; echo done: $?\n")
            shell.stdin.flush()
            sys.stdout.write(f"$ {line.format(wheel=wheel.name)}\n")
            for said in iter(shell.stdout.readline, ""):
                if said.startswith("done: "):
                    break
                sys.stdout.write(f"  {said}")
            sys.stdout.write(f"  # {time.monotonic() - at:.1f} s\n")
            if said != "done: 0\n":
                raise SystemExit(f"that ended with {said}")
        sys.stdout.write(f"# {time.monotonic() - began:.1f} s in all\n")


async def type_beside_a_model(wheel: Path, home: Path, place: Path) -> None:
    """The lines are typed while a model answers on loopback."""
    async with open_model_api() as api:
        await trio.to_thread.run_sync(type_all, wheel, place, environment(home, api.url))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, place = Path(folder, "home"), Path(folder, "place")
        home.mkdir()
        place.mkdir()
        wheel = Path(sys.argv[1]).absolute() if sys.argv[1:] else built_wheel(Path(folder))
        trio.run(type_beside_a_model, wheel, home, place)


if __name__ == "__main__":
    main()
