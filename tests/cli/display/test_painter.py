"""The painter, against a real emulator of a terminal: the screen is what was painted, always."""

import io
import os
import threading
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_actors.cli.terminal.painter import Painter
from tests.cli.emulator import Emulator, TmuxEmulator

LINE = st.text(alphabet="ab č漢🐎", max_size=30).map(lambda text: f"x{text}".rstrip())
PAINT = st.tuples(st.lists(LINE, max_size=6), st.lists(LINE, max_size=8))


def painter_on(screen: Emulator) -> Painter:
    return Painter(screen, screen.size)


@settings(deadline=None, max_examples=60)
@given(st.lists(PAINT, max_size=12))
def test_screen_is_what_was_finished_and_the_last_frame(
    paints: list[tuple[list[str], list[str]]],
) -> None:
    screen = Emulator(64, 10)
    painter = painter_on(screen)
    above: list[str] = []
    for finished, frame in paints:
        painter.paint(finished, frame)
        above += finished
        assert screen.all_rows == [*above, *frame]
        assert not screen.has_cursor or not (above or frame)
    painter.close()
    assert screen.has_cursor
    assert screen.cursor == (min(len(screen.rows), 9), 0)


@settings(deadline=None, max_examples=60)
@given(st.lists(PAINT, min_size=1, max_size=8), st.integers(20, 64), st.integers(9, 14))
def test_nothing_of_the_old_frame_is_left_after_a_resize(
    paints: list[tuple[list[str], list[str]]], columns: int, lines: int
) -> None:
    screen = Emulator(64, 14)
    painter = painter_on(screen)
    painter.paint([], ["a frame", "of two lines"])
    screen.resize(columns, lines)
    above: list[str] = []
    for finished, frame in paints:
        narrow = [line[: columns // 2].rstrip() for line in frame]
        painter.paint([line[: columns // 2].rstrip() for line in finished], narrow)
        above += [line[: columns // 2].rstrip() for line in finished]
        assert screen.all_rows == [*above, *narrow]


def test_a_frame_as_high_as_the_screen_is_not_kept_above_it_when_it_is_cleared() -> None:
    screen = TmuxEmulator(64, 6)
    painter = painter_on(screen)
    painter.paint([], [f"old {number}" for number in range(6)])
    screen.resize(32, 6)
    painter.paint([], [f"new {number}" for number in range(6)])
    assert screen.all_rows == [f"new {number}" for number in range(6)]
    painter.paint([], [])
    assert screen.all_rows == []


def test_line_that_is_too_wide_is_cropped_with_its_colours_closed() -> None:
    screen = Emulator(10, 5)
    painter_on(screen).paint([], ["\x1b[31m漢字漢字漢字\x1b[0m", "next"])
    assert screen.rows == ["漢字漢字漢", "next"]
    assert screen.written.count(b"\x1b[0m") == 1


def test_line_as_wide_as_the_screen_is_painted_over_whole() -> None:
    screen = Emulator(10, 5)
    painter = painter_on(screen)
    for letter in "ab":
        painter.paint([], [letter * 10, letter * 9, "end"])
    assert screen.rows == ["b" * 10, "b" * 9, "end"]


def test_one_write_per_paint_inside_a_synchronized_update() -> None:
    writes: list[bytes] = []
    screen = Emulator()

    class Counting(Emulator):
        def write(self, data: bytes) -> int:
            writes.append(data)
            return len(data)

    painter = Painter(Counting(), screen.size)
    painter.paint(["one"], ["two", "three"])
    painter.paint([], ["two", "four"])
    assert len(writes) == 2
    assert all(each.startswith(b"\x1b[?2026h") for each in writes)
    assert all(each.endswith(b"\x1b[?2026l") for each in writes)


def test_only_the_line_that_changed_is_written() -> None:
    screen = Emulator()
    painter = painter_on(screen)
    frame = [f"line {number}" for number in range(20)]
    painter.paint([], frame)
    before = painter.rewritten
    for picture in "abcdefghij":
        painter.paint([], [*frame[:-1], f"{picture} spinning"])
    assert painter.rewritten - before == 10
    painter.paint([], [*frame[:-1], "j spinning"])
    assert (painter.rewritten - before, painter.paints) == (10, 11)


def test_close_restores_the_cursor_below_the_frame_and_may_be_repeated() -> None:
    screen = Emulator()
    painter = painter_on(screen)
    painter.paint(["said"], ["one", "two"])
    assert not screen.has_cursor
    painter.close()
    written = screen.written
    painter.close()
    assert screen.has_cursor
    assert (screen.cursor, screen.rows) == ((3, 0), ["said", "one", "two"])
    assert screen.written == written


def test_painting_goes_on_below_after_a_close() -> None:
    screen = Emulator()
    painter = painter_on(screen)
    painter.paint([], ["question"])
    painter.close()
    painter.paint(["answer"], ["frame"])
    assert screen.rows == ["question", "answer", "frame"]
    assert not screen.has_cursor


def test_close_without_a_paint_writes_nothing() -> None:
    screen = Emulator()
    painter_on(screen).close()
    assert screen.written == b""


class Reluctant(Emulator):
    """Takes a few bytes at a time, and sometimes none."""

    def __init__(self, takes: Callable[[], int]) -> None:
        super().__init__(64, 10)
        self.takes = takes

    def write(self, data: bytes) -> int:
        return super().write(data[: self.takes()])


@settings(deadline=None, max_examples=60)
@given(st.lists(PAINT, max_size=8), st.data())
def test_no_byte_is_lost_when_the_terminal_takes_only_a_part(
    paints: list[tuple[list[str], list[str]]], data: st.DataObject
) -> None:
    screen = Reluctant(lambda: data.draw(st.integers(0, 40)))
    painter = painter_on(screen)
    above: list[str] = []
    for finished, frame in paints:
        painter.paint(finished, frame)
        above += finished
    screen.takes = lambda: 7
    painter.paint(["last"], ["frame"])
    painter.paint([], ["frame"])
    assert screen.all_rows == [*above, "last", "frame"]


def test_close_waits_for_a_full_pipe_and_loses_nothing() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    lines = [f"line {number} {'x' * 60}" for number in range(1500)]
    with io.FileIO(writing, "w") as pipe, io.FileIO(reading) as reader:
        painter = Painter(pipe, lambda: os.terminal_size((80, 24)))
        painter.paint(lines, ["frame"])
        painter.paint(["after"], ["frame"])
        heard: list[bytes] = []
        thread = threading.Thread(target=lambda: heard.append(reader.readall()))
        thread.start()
        painter.close()
        pipe.close()
        thread.join()
    screen = Emulator(80, 24)
    screen.write(heard[0])
    assert screen.all_rows == [*lines, "frame", "after"]
    assert screen.has_cursor
