"""The agent of bench.paced: compiled for the length of a run, or in Python without a compiler."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent


@contextmanager
def paced_agent() -> Generator[tuple[str, ...]]:
    """The command that starts it."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield (sys.executable, "-I", "-S", str(HERE / "paced_agent.py"))
        return
    with tempfile.TemporaryDirectory(prefix="bench-") as path:
        program = f"{path}/paced_agent"
        subprocess.run([compiler, "-O2", "-o", program, HERE / "paced_agent.c"], check=True)
        yield (program,)


def paced_prompt(start: int, every: int, count: int, linger: int) -> str:
    """So many pieces from `start` on, one every so many nanoseconds; then a pause before the end.

    Each piece says when it was written, by the monotonic clock.
    """
    return f"PACED {start} {every} {count} {linger}"
