"""The description that a package index shows: nothing in it leads into the repository."""

import re

import pytest

from hatch_build import index_readme
from tests.docs.test_snippets import LINK, ROOT


def test_no_link_and_no_picture_of_the_readme_dies_on_an_index() -> None:
    shown = index_readme((ROOT / "README.md").read_text("utf-8"))
    targets = [match["target"] for match in LINK.finditer(shown)]
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    assert not re.search(r"<(img|a) ", shown)


@pytest.mark.parametrize(
    ("text", "home", "shown"),
    [
        ("see [turns](docs/turns.md)", "", "see turns"),
        ("![a run](docs/run.svg)", "", ""),
        ("[trio](https://trio.readthedocs.io)", "", "[trio](https://trio.readthedocs.io)"),
        ("[why](#why)", "", "[why](#why)"),
        ("[t](docs/t.md#a)", "https://x.example", "[t](https://x.example/docs/t.md#a)"),
        ("![r](docs/r.svg)", "https://x.example", "![r](https://x.example/docs/r.svg)"),
    ],
)
def test_links_into_the_repository_become_text_or_absolute(
    text: str, home: str, shown: str
) -> None:
    assert index_readme(text, home) == shown
