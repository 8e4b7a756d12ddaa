"""The handle of a prompt that was sent without waiting: cancels it, or waits for its answer."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import wait
from typing import Any, TypeAlias

from avatar_actors.hosting.executors import WORKERS, Dispatcher, report
from avatar_actors.hosting.futures import finished, refuse_a_parents, within_reach
from avatar_actors.hosting.runtime_thread import CallCancelled, RuntimeCall
from avatar_actors.model.checks import checked
from avatar_actors.model.events import BridgeResponse
from avatar_actors.model.fields import Pause
from avatar_actors.model.values import Outcome

Callback: TypeAlias = Callable[[BridgeResponse], object]


class ChatHandle:
    """What `chat_async` returns. `await` it, or ask for its `result()` from a thread."""

    def __init__(self, call: RuntimeCall[BridgeResponse]) -> None:
        self._call = call

    def cancel(self) -> None:
        """Interrupt the turn, or take the prompt out of the queue. After its end: nothing."""
        self._call.cancel()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._call.done()

    @checked
    def result(self, timeout: Pause | None = None) -> BridgeResponse:
        """Block this thread until it has ended; TimeoutError if it has not in so many seconds."""
        refuse_a_parents(self._call.pid)
        if wait([self._call], within_reach(timeout)).not_done:
            raise TimeoutError(f"the turn has not ended within {timeout} s; it goes on")
        return self._response()

    @checked
    def call_back(self, callback: Callback, dispatcher: Dispatcher | None) -> None:
        """Call this once with the answer, in a worker thread or where the dispatcher says."""
        dispatch = dispatcher or WORKERS.submit

        def tell(_: object) -> None:
            try:
                dispatch(lambda: self._tell(callback))
            except BaseException as error:  # noqa: BLE001 - the host's loop is closed, its window gone
                report(error, "the dispatcher failed; the callback is not called")

        self._call.add_done_callback(tell)

    def __await__(self) -> Generator[Any, Any, BridgeResponse]:
        return self._wait().__await__()

    async def _wait(self) -> BridgeResponse:
        refuse_a_parents(self._call.pid)
        await finished(self._call)
        return self._response()

    def _response(self) -> BridgeResponse:
        """The answer; a cancelled prompt has one too, an error of the start is raised."""
        if isinstance(self._call.exception(), CallCancelled):
            return BridgeResponse(content="", outcome=Outcome.CANCELLED, error="cancelled")
        return self._call.result()

    def _tell(self, callback: Callback) -> None:
        try:
            response = self._response()
        except Exception as error:  # noqa: BLE001 - a callback has no other way to learn of it
            response = BridgeResponse(content="", outcome=Outcome.FAILED, error=str(error))
        try:
            callback(response)
        except BaseException as error:  # noqa: BLE001 - the border to the host's code
            report(error, "a callback of chat_async failed")
