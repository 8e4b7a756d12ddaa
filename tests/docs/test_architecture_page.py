"""The architecture page names every file of `supervisors`, and none that is not there."""

import re

from tests.docs.test_snippets import ROOT


def test_every_file_of_supervisors_is_explained() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    explained = re.findall(r"^\| `(\w+\.py)` \|", page, re.MULTILINE)
    present = {path.name for path in (ROOT / "supervisors").glob("*.py")} - {"__init__.py"}
    assert sorted(explained) == sorted(present)
