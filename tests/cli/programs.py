"""`avatar` as a program of its own: in a home of its own, with no real agent on its PATH."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "avatar_actors", *arguments]


def environment(home: Path) -> dict[str, str]:
    """What a fresh user has, and nothing of who runs the tests; and scripts are played."""
    return {
        "AVATAR_EMBEDDED_SCRIPTS": "1",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / ".state"),
    }


def avatar(
    home: Path,
    *arguments: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """In pipes, to its end. Without `stdin` there is none to read."""
    done = subprocess.run(
        command(*arguments),
        cwd=home,
        env={**environment(home), **(env or {})},
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


@contextmanager
def running_avatar(
    home: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> "Generator[subprocess.Popen[bytes]]":
    """In pipes, until the end of the block at the latest."""
    process = subprocess.Popen(
        command(*arguments),
        cwd=home,
        env={**environment(home), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def script(*steps: Mapping[str, object]) -> str:
    """The prompt that makes the embedded agent play these steps."""
    return f"SCRIPT:{json.dumps(steps, ensure_ascii=False)}"
