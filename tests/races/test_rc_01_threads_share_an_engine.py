"""RC-1: eight threads on one engine: every answer matches its question, supervision runs on."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

from avatar_actors import AvatarEngine, AvatarEvent, BridgeState, Restarts, StateEvent
from tests.hosting.engines import PATIENCE, Engines, RecordingHandler
from tests.runtime.home import script

THREADS = 8
CALLS = 20


def in_threads(work: Callable[[int], None]) -> None:
    """All at once; what one of them raises is raised."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not [thread for thread in threads if thread.is_alive()]
    assert not errors


def has_come_back(heard: list[AvatarEvent]) -> bool:
    """READY again after ERROR: an earlier turn may end as READY, too."""
    states = [event.new_state for event in heard if isinstance(event, StateEvent)]
    if BridgeState.ERROR not in states:
        return False
    return BridgeState.READY in states[states.index(BridgeState.ERROR) :]


def ask(engine: AvatarEngine, number: int) -> None:
    for call in range(CALLS):
        expected = f"thread {number} call {call}"
        assert engine.chat_sync(script({"say": expected})).content == expected


def test_rc_01_eight_threads_get_their_own_answers(tmp_path: Path) -> None:
    engines = Engines(tmp_path)
    engine = engines.make()
    in_threads(lambda number: ask(engine, number))
    assert engine.get_health().turns == THREADS * CALLS
    engines.stop_all()


def test_rc_01_supervision_runs_between_calls(tmp_path: Path) -> None:
    """Nobody is in a call when the agent is killed: it comes back all the same."""
    engines, handler = Engines(tmp_path), RecordingHandler()
    engine = engines.make(restarts=Restarts(max_restarts=100, factor=1.0))
    engine.chat_sync("1+1")
    engine.on(StateEvent, handler)
    pid = engine.get_health().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    handler.until(has_come_back)
    assert engine.get_health().restarts == 1
    engines.stop_all()
