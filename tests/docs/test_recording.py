"""The animated picture of the README: what a terminal showed, small, and of the demo as it is."""

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

from tests.docs.recording import COLUMNS, LONGEST, PICTURE, ROWS, frames, record, svg
from tests.docs.test_snippets import ROOT

NAMESPACE = "{http://www.w3.org/2000/svg}"


def words_of(picture: str) -> list[str]:
    """The text of each line that is drawn."""
    return ["".join(text.itertext()) for text in Xml.fromstring(picture).iter(f"{NAMESPACE}text")]


def test_the_picture_is_small_and_shows_the_whole_story() -> None:
    picture = PICTURE.read_text("utf-8")
    assert len(picture.encode()) < 300_000
    shown = "\n".join(words_of(picture))
    for chapter in range(1, 6):
        assert f"{chapter}/5  " in shown
    assert re.search(r"kill -9 4711", shown)
    assert "are left." in shown
    assert str(ROOT) not in shown


def test_the_picture_shows_the_demo_as_it_is_now() -> None:
    titles = re.findall(r'\d,\n\s+"([^"]+)",\n', (ROOT / "examples/avatar_demo.py").read_text())
    shown = "\n".join(words_of(PICTURE.read_text("utf-8")))
    assert len(titles) == 5
    assert [title for title in titles if title not in shown] == []


def test_a_frame_is_what_the_terminal_showed_and_long_pauses_are_cut() -> None:
    film = frames([(0.0, b"one \x1b[1;31mred\x1b[0m\r\n"), (9.0, b"\x1b[2mtwo\x1b[0m & <b>")])
    assert [frame.seconds for frame in film] == [LONGEST, 4.0]
    assert [[run.text for run in row] for row in film[0].rows[:2]] == [["one", "red"], []]
    assert [run.style for run in film[0].rows[0]] == ["", "red bold"]
    assert [run.text for run in film[1].rows[1]] == ["two", " & <b>"]
    assert len(film[0].rows) == ROWS
    picture = svg(film)
    assert "one red" not in picture
    assert words_of(picture)[1:] == ["onered", "two & <b>"]
    assert picture.count("<use ") == 3


def test_a_program_is_recorded_in_a_terminal_of_that_size(tmp_path: Path) -> None:
    written = record(("/bin/sh", "-c", "stty size; echo $HOME"), tmp_path)
    told = b"".join(block for _, block in written).decode().split()
    assert told == [str(ROWS), str(COLUMNS), str(tmp_path)]
