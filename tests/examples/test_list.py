"""Every example is in the list with its length, and every one in the list is there."""

import re
import subprocess
import sys

import pytest

from tests.examples.terminal import ROOT

PAGE = (ROOT / "docs/examples.md").read_text("utf-8")
ROW = re.compile(r"^\| \[`(?P<name>\w+)`\]\(.*\| (?P<lines>\d+) \|$", re.MULTILINE)
# So far the length in the list may be off: it tells a page from a program.
SLACK = 15
# What is run: a program, or an application that a server imports.
MAIN, APPLICATION = '\nif __name__ == "__main__":', "\ndef app("


def text_of(name: str) -> str:
    """The whole example; of a package, all of its modules."""
    files = [ROOT / f"examples/{name}.py", *sorted((ROOT / f"examples/{name}").glob("*.py"))]
    return "".join(path.read_text("utf-8") for path in files if path.exists())


def test_the_list_names_every_example_that_is_a_program() -> None:
    programs = {
        path.stem
        for path in (ROOT / "examples").glob("*.py")
        if MAIN in (text := path.read_text("utf-8")) or APPLICATION in text
    } | {path.parent.name for path in (ROOT / "examples").glob("*/__main__.py")}
    assert {row["name"] for row in ROW.finditer(PAGE)} == programs


def test_every_example_is_about_as_long_as_the_list_says() -> None:
    wrong: dict[str, int] = {}
    for row in ROW.finditer(PAGE):
        lines = text_of(row["name"]).count("\n")
        if abs(lines - int(row["lines"])) > SLACK:
            wrong[row["name"]] = lines
    assert wrong == {}


def test_every_example_says_how_it_is_run() -> None:
    silent: list[str] = []
    for row in ROW.finditer(PAGE):
        opening = text_of(row["name"]).split('"""')[1]
        name = row["name"]
        if not re.search(
            rf"python (-m examples\.|examples/){name}\b|examples\.{name}:app", opening
        ):
            silent.append(row["name"])
    assert silent == []


@pytest.mark.parametrize(
    ("name", "missing"), [("demo_gui.demo_gui", "textual"), ("asyncio_server", "starlette")]
)
def test_an_example_whose_package_is_missing_says_what_to_install(name: str, missing: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; import examples.{name}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"{missing}\S* is not installed: pip install [a-z ]+\n", done.stderr)
