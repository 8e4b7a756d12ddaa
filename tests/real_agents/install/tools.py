"""Finds node and npm, or says in one line what is missing and where to get it."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

# Gemini CLI and qwen-code ask for Node 20, which brings npm 10. npm 9.2, which Debian 13 has beside
# its Node 20, cannot read the overrides of our package.json.
NEEDED = {"node": 20, "npm": 10}
# A first start from a cold disk, on a loaded machine.
PATIENCE = 60


class ToolsMissing(Exception):
    """node or npm is not there, or too old."""


def check_tools() -> None:
    """Raises ToolsMissing unless both are there and new enough."""
    problems = [problem for tool in NEEDED if (problem := _problem(tool))]
    if problems:
        raise ToolsMissing(
            f"The real agents need Node.js {NEEDED['node']} or newer and npm {NEEDED['npm']} or "
            f"newer: {', '.join(problems)}. On Debian 13: `apt install nodejs npm` and then "
            "`npm install --global npm@10`; Debian 12 has Node.js 18 only, so take it from "
            "nodejs.org or NodeSource, npm comes with it."
        )


def _problem(tool: str) -> str:
    if shutil.which(tool) is None:
        return f"{tool} is missing"
    version = _output(tool, "--version")
    number = re.match(r"v?(\d+)\.", version)
    if number is None:
        return f"{tool} does not run"
    return f"{tool} is {version}" if int(number[1]) < NEEDED[tool] else ""


@functools.cache
def node_program() -> Path | None:
    """Node itself and not a shim of a version manager, which would not work with another HOME."""
    path = _output("node", "-p", "process.execPath") if shutil.which("node") else ""
    return Path(path) if path else None


def _output(*command: str) -> str:
    """What the command prints; "" if it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode().strip() if done.returncode == 0 else ""
