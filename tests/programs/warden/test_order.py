"""The order to start an agent survives the way to the keeper, however it is cut."""

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.programs.warden.order import StartOrder, pack_order, unpack_order

TEXT = st.binary(max_size=20).map(lambda data: data.replace(b"\0", b""))
NAME = TEXT.map(lambda data: data.replace(b"=", b"") or b"N")
LIMITS = st.tuples(st.floats(0, 1e6), st.integers(0, 19))


@given(st.lists(TEXT, min_size=1), TEXT, st.dictionaries(NAME, TEXT), LIMITS, st.data())
def test_order_is_read_back_once_its_last_byte_has_come(
    argv: list[bytes],
    cwd: bytes,
    env: dict[bytes, bytes],
    limits: tuple[float, int],
    data: st.DataObject,
) -> None:
    grace, nice = limits
    start = StartOrder(argv, cwd, env, exit_grace=grace, close_grace=0.5, nice=nice)
    packed = pack_order(start)
    cut = data.draw(st.integers(0, len(packed) - 1))
    assert unpack_order(packed[:cut]) is None
    order = unpack_order(packed)
    assert order is not None
    assert (order.argv, order.cwd, order.env) == (argv, cwd, env)
    assert (order.exit_grace, order.close_grace, order.nice) == (grace, 0.5, nice)
