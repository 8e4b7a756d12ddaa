"""The architecture page names every file of the packages, and none that is not there."""

import re
from fnmatch import fnmatchcase

import pytest

from tests.docs.test_snippets import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROW = re.compile(r"^\| (`\w[^|]*) \|", re.MULTILINE)


def explained(folder: str) -> list[str]:
    """The files, or patterns of them, in the first column below the folder's heading."""
    section = re.split(rf"^##+ `{folder}`.*$", PAGE, flags=re.MULTILINE)[1]
    rows = ROW.findall(re.split(r"^##", section, flags=re.MULTILINE)[0])
    return [name for row in rows for name in re.findall(r"`([\w*]+\.py)`", row)]


def present(folder: str) -> list[str]:
    return sorted({path.name for path in (ROOT / folder).glob("*.py")} - {"__init__.py"})


@pytest.mark.parametrize(
    "folder",
    [
        "supervisors",
        "avatar_actors",
        "avatar_actors/actors",
        "avatar_actors/cli",
        "avatar_actors/cli/display",
        "avatar_actors/hosting",
        "avatar_actors/config",
        "avatar_actors/observe/metrics",
        "avatar_actors/processes",
        "avatar_actors/providers",
        "avatar_actors/session/remote",
        "avatar_actors/programs/warden",
    ],
)
def test_every_file_is_explained(folder: str) -> None:
    assert sorted(explained(folder)) == present(folder)


def test_every_file_of_the_wires_is_of_an_explained_kind() -> None:
    files, patterns = present("avatar_actors/wire"), explained("avatar_actors/wire")
    assert [name for name in files if not any(fnmatchcase(name, p) for p in patterns)] == []
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in files)] == []
