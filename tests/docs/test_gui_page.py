"""The page of the app: its tests exist, and its keys and moods are those of the app."""

import re

from avatar_actors.gui.actions import KEY_HELP
from avatar_actors.picture import Mood
from tests.docs.test_snippets import ROOT

PAGE = (ROOT / "docs" / "gui.md").read_text("utf-8")


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    folders = ("tests/gui", "tests/picture", "tests/docs")
    sources = [path.read_text("utf-8") for each in folders for path in (ROOT / each).glob("*.py")]
    there = set(re.findall(r"def (test_\w+)", "\n".join(sources)))
    assert len(named) > 20
    assert named <= there


def test_twenty_boxes_and_fifteen_scenarios_have_a_test_each() -> None:
    tables = [each for each in PAGE.split("\n\n") if "| `test_" in each]
    assert [table.count("\n| ") for table in tables] == [20, 15]


def test_every_mood_is_explained() -> None:
    table = PAGE[PAGE.index("| mood | when |") :]
    assert [mood.value for mood in Mood if mood.value not in table and mood is not Mood.IDLE] == []


def test_every_key_of_the_app_is_on_the_page() -> None:
    keys = PAGE[PAGE.index("## Keys") : PAGE.index("## The rules")].lower()
    for key, _ in KEY_HELP:
        for one in key.replace(",", " ").replace("^", "ctrl-").replace("+", "-").lower().split():
            assert one in keys, one
