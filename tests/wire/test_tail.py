import tracemalloc

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from avatar_actors.wire.framing import TextTail


@given(st.lists(st.text(max_size=9)), st.integers(1, 12))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_end_of_all_that_was_added_is_kept(pieces: list[str], length: int) -> None:
    tail = TextTail(length)
    for number, piece in enumerate(pieces, start=1):
        tail.add(piece)
        if number % 3 == 0:
            assert tail.text() == "".join(pieces[:number])[-length:]
    assert tail.text() == "".join(pieces)[-length:]


def test_what_was_cut_off_is_not_kept() -> None:
    tail = TextTail(1000)
    tracemalloc.start()
    for number in range(2000):
        tail.add(f"{number:10000}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert tail.text() == f"{1999:10000}"[-1000:]
