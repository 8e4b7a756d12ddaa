"""RC-2: handlers are registered and removed while events flow: each event once, in order."""

import threading

from avatar_actors import AvatarEvent, EventEmitter, TextEvent, ToolEvent
from tests.hosting.engines import PATIENCE

MANY = 100_000
PASSERS_BY = 100


def test_rc_02_handler_that_stays_sees_every_event_once_in_order() -> None:
    emitter = EventEmitter()
    seen: list[str] = []
    failed: list[BaseException] = []

    @emitter.on(ToolEvent)
    def stay(event: ToolEvent) -> None:
        seen.append(event.tool_id)

    def come_and_go() -> None:
        try:
            for _ in range(MANY):

                def passer_by(_: AvatarEvent) -> None: ...

                emitter.on(TextEvent, passer_by)
                emitter.remove_handler(TextEvent, passer_by)
        except BaseException as error:  # noqa: BLE001 - raised below
            failed.append(error)

    changing = threading.Thread(target=come_and_go)
    changing.start()
    for number in range(MANY):
        emitter.emit(ToolEvent(tool_id=str(number)))
    changing.join(PATIENCE)
    assert not changing.is_alive()
    assert emitter.flush_sync(PATIENCE)
    assert not failed
    assert seen == [str(number) for number in range(MANY)]


def test_rc_02_handlers_that_come_and_go_hear_a_gapless_piece_each() -> None:
    emitter = EventEmitter()
    pieces: list[list[int]] = []

    def come_and_go() -> None:
        for _ in range(PASSERS_BY):
            piece: list[int] = []
            has_heard = threading.Event()

            def hear(event: AvatarEvent, piece: list[int] = piece) -> None:
                assert isinstance(event, ToolEvent)
                piece.append(int(event.tool_id))
                if len(piece) == 3:
                    has_heard.set()  # noqa: B023 - this round's

            emitter.on(ToolEvent, hear)
            assert has_heard.wait(PATIENCE)
            emitter.remove_handler(ToolEvent, hear)
            pieces.append(piece)

    changing = threading.Thread(target=come_and_go)
    changing.start()
    number = 0
    while changing.is_alive():
        emitter.emit(ToolEvent(tool_id=str(number)))
        number += 1
    assert len(pieces) == PASSERS_BY
    for piece in pieces:
        assert piece == list(range(piece[0], piece[0] + len(piece)))
