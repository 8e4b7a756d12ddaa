"""The order to start an agent survives the way to the keeper, however it is cut."""

from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.programs.warden.order import StartOrder, pack_order, unpack_order

TEXT = st.binary(max_size=20).map(lambda data: data.replace(b"\0", b""))
NAME = TEXT.map(lambda data: data.replace(b"=", b"") or b"N")
GRACE = st.floats(0, 1e6)


@given(st.lists(TEXT, min_size=1), TEXT, st.dictionaries(NAME, TEXT), GRACE, st.data())
def test_order_is_read_back_once_its_last_byte_has_come(
    argv: list[bytes], cwd: bytes, env: dict[bytes, bytes], grace: float, data: st.DataObject
) -> None:
    packed = pack_order(StartOrder(argv, cwd, env, grace, 0.5))
    cut = data.draw(st.integers(0, len(packed) - 1))
    assert unpack_order(packed[:cut]) is None
    order = unpack_order(packed)
    assert order is not None
    assert (order.argv, order.cwd, order.env) == (argv, cwd, env)
    assert (order.exit_grace, order.close_grace) == (grace, 0.5)
