"""Files for the agent: inside the working directory only, and nothing that hangs or leaks."""

import os
import threading
from pathlib import Path

import pytest

from avatar_actors.session.file_server import fulfil, within
from avatar_actors.wire.facts import FileWanted
from tests.processes.census import open_fds


def read(root: Path, name: str, first_line: int = 1, max_lines: int | None = None) -> str:
    wanted = FileWanted(request_id="1", path=name, first_line=first_line, max_lines=max_lines)
    return fulfil(root, wanted)


def write(root: Path, name: str, text: str) -> None:
    assert fulfil(root, FileWanted(request_id="1", path=name, text=text)) == ""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "out").symlink_to("../outside.txt")
    (root / "outdir").symlink_to("../outside")
    (root / "in").symlink_to("a.txt")
    return root


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", "in", "x/../a.txt"])
def test_a_file_inside_is_read_by_any_name(root: Path, name: str) -> None:
    assert read(root, name) == "one\ntwo\nthree\n"
    assert read(root, str(root / name)) == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    "name", ["../outside.txt", "out", "outdir/new", "/etc/passwd", "a.txt/../../outside.txt", ".."]
)
def test_nothing_outside_is_read_or_written(root: Path, name: str) -> None:
    with pytest.raises(PermissionError, match="outside of the working directory"):
        read(root, name)
    with pytest.raises(PermissionError, match="outside of the working directory"):
        write(root, name, "mine")
    assert (root.parent / "outside.txt").read_text() == "secret"
    assert list((root.parent / "outside").iterdir()) == []


def test_a_sibling_with_the_same_beginning_is_outside(root: Path) -> None:
    with pytest.raises(PermissionError):
        within(root, "../root-of-another/a.txt")


def test_a_working_directory_that_is_a_link_is_the_place_it_leads_to(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to("root")
    assert read(link, "a.txt").startswith("one")
    assert read(link, str(root / "a.txt")).startswith("one")


@pytest.mark.parametrize(
    ("first", "most", "text"),
    [
        (1, None, "one\ntwo\nthree\n"),
        (2, None, "two\nthree\n"),
        (2, 1, "two\n"),
        (0, 1, "one\n"),
        (4, None, ""),
        (99, 5, ""),
        (1, 0, ""),
        (1, -1, ""),
    ],
)
def test_lines_are_counted_from_one(root: Path, first: int, most: int | None, text: str) -> None:
    assert read(root, "a.txt", first, most) == text


def test_a_line_ends_with_a_newline_and_nothing_else(root: Path) -> None:
    (root / "page.txt").write_text("a\x0cb\u2028c\nnext\n")
    assert read(root, "page.txt", 2, 1) == "next\n"


def test_a_write_makes_its_directories_and_replaces_all(root: Path) -> None:
    write(root, "new/deep/b.txt", "long text")
    write(root, "new/deep/b.txt", "ä")
    assert (root / "new/deep/b.txt").read_text("utf-8") == "ä"


def test_a_text_that_cannot_be_written_leaves_the_file_alone(root: Path) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        write(root, "a.txt", "\ud800")
    assert read(root, "a.txt").startswith("one")


@pytest.mark.parametrize("name", ["missing", "a\0b", "x" * 300, "loop", "."])
def test_what_cannot_be_read_is_an_error_that_the_file_server_answers(
    root: Path, name: str
) -> None:
    (root / "loop").symlink_to("loop")
    before = open_fds()
    for _ in range(5):
        with pytest.raises((OSError, ValueError)):
            read(root, name)
    assert open_fds() == before


def test_bytes_that_are_no_text_are_an_error(root: Path) -> None:
    (root / "b").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="utf-8"):
        read(root, "b")


def test_a_huge_file_is_refused_without_reading_it_all(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ValueError, match="larger than 32 MiB"):
        read(root, "huge")


def test_a_fifo_without_data_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "fifo")
    with pytest.raises((OSError, ValueError)):
        read(root, "fifo")
    writer = os.open(root / "fifo", os.O_RDWR)
    try:
        with pytest.raises((OSError, ValueError)):
            read(root, "fifo")
    finally:
        os.close(writer)


def test_a_write_to_a_fifo_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "fifo")
    errors: list[Exception] = []

    def attempt() -> None:
        try:
            write(root, "fifo", "x")
        except (OSError, ValueError) as error:
            errors.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(20)
    is_stuck = thread.is_alive()
    # Whoever is stuck in its open gets a reader, and so an end.
    reader = os.open(root / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    thread.join(20)
    os.close(reader)
    assert not is_stuck
    assert len(errors) == 1
