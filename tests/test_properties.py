"""Properties look at the same examples in every run, whatever else is collected beside them."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = "WRITE_EXAMPLES"


@given(st.lists(st.integers() | st.text() | st.floats(allow_nan=False), max_size=8))
def test_drawing(drawn: list[int | float | str]) -> None:
    if EXAMPLES in os.environ:
        with Path(os.environ[EXAMPLES]).open("a") as file:
            print(ascii(drawn), file=file)


def examples_beside(folders: list[str], file: Path) -> list[str]:
    """What was drawn in a run that collected these folders too."""
    this = str(Path(__file__).relative_to(ROOT))
    quiet = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *quiet, "-k", "test_drawing", this, *folders]
    env = {**os.environ, EXAMPLES: str(file)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return file.read_text().splitlines()


def test_examples_do_not_depend_on_the_modules_that_are_loaded(tmp_path: Path) -> None:
    alone = examples_beside([], tmp_path / "alone")
    assert len(alone) == 100
    assert examples_beside(["tests/config", "tests/processes"], tmp_path / "beside") == alone
