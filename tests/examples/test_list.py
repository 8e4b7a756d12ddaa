"""Every example is in the list, and every one in the list is there."""

import re

from tests.examples.terminal import ROOT

PAGE = (ROOT / "docs/avatars/embedding.md").read_text("utf-8")
ROW = re.compile(r"^\| `(?P<name>\w+)` \|", re.MULTILINE)


def test_the_list_names_every_example_that_is_a_program() -> None:
    programs = {
        path.stem
        for path in (ROOT / "examples").glob("*.py")
        if '\nif __name__ == "__main__":' in path.read_text("utf-8")
    }
    assert {row["name"] for row in ROW.finditer(PAGE.partition("\n## Examples\n")[2])} == programs


def test_every_example_says_how_it_is_run() -> None:
    silent: list[str] = []
    for row in ROW.finditer(PAGE.partition("\n## Examples\n")[2]):
        opening = (ROOT / f"examples/{row['name']}.py").read_text("utf-8").split('"""')[1]
        if not re.search(rf"python (-m examples\.|examples/){row['name']}\b", opening):
            silent.append(row["name"])
    assert silent == []
