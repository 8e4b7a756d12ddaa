import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from avatar_actors.wire.framing import Lines

SLICE = 64 * 1024
lines_of_bytes = st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b" ")), max_size=8)


def cut_up(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces: list[bytes] = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


def test_lines_come_without_their_ends_and_empty_ones_are_left_out() -> None:
    assert Lines(9).feed(b"one\n\ntwo\n\nthr") == [b"one", b"two"]


def test_half_a_line_waits_for_its_other_half() -> None:
    lines = Lines(9)
    assert lines.feed(b"on") == []
    assert lines.feed(b"e\ntw") == [b"one"]
    assert lines.end() == b"tw"
    assert lines.end() == b""


@given(lines_of_bytes, st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_slicing_gives_the_same_lines(whole: list[bytes], sizes: list[int], cap: int) -> None:
    data = b"\n".join([*whole, b""])
    lines = Lines(cap)
    found = [line for piece in cut_up(data, sizes) for line in lines.feed(piece)]
    assert found == [line for line in whole if 0 < len(line) <= cap]
    assert lines.take_overlong() == [line[:cap] for line in whole if len(line) > cap]
    assert lines.take_overlong() == []


def test_line_over_the_cap_is_dropped_alone_and_its_bytes_are_not_kept() -> None:
    lines = Lines(1000)
    assert lines.feed(b"before\n") == [b"before"]
    for _ in range(1000):
        assert lines.feed(b"x" * 1000) == []
    assert lines.take_overlong() == [b"x" * 1000]
    assert lines.end() == b""
    assert lines.feed(b"x\nafter\n") == [b"x", b"after"]


def test_line_of_exactly_the_cap_is_kept() -> None:
    lines = Lines(5)
    assert lines.feed(b"12345\n123456\n") == [b"12345"]
    assert lines.take_overlong() == [b"12345"]


def test_time_for_a_long_line_grows_with_its_length_only() -> None:
    def seconds(slices: int) -> float:
        lines, block = Lines(1 << 30), b"x" * SLICE
        began = time.process_time()
        for _ in range(slices):
            lines.feed(block)
        assert [len(line) for line in lines.feed(b"\n")] == [slices * SLICE]
        return time.process_time() - began

    short, long = min(seconds(64) for _ in range(3)), min(seconds(1024) for _ in range(2))
    # 16 times the bytes; anything quadratic would take 256 times as long.
    assert long < 100 * max(short, 0.01)
