"""The handle of a prompt that was sent without waiting: to cancel it, or to wait for it later."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from avatar_actors.hosting.executors import WORKERS, Dispatcher
from avatar_actors.hosting.host_errors import report
from avatar_actors.hosting.portal import PortalCall, PortalCallCancelled
from avatar_actors.model.events import BridgeResponse
from avatar_actors.model.values import Outcome

Callback: TypeAlias = Callable[[BridgeResponse], object]


class ChatHandle:
    """What `chat_async` returns. `await` it, or ask for its `result()` from a thread."""

    def __init__(self, errand: PortalCall[BridgeResponse]) -> None:
        self._errand = errand

    def cancel(self) -> None:
        """Interrupt the turn, or take the prompt out of the queue. After its end: nothing."""
        self._errand.cancel()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._errand.done.is_rung

    def result(self, timeout: float | None = None) -> BridgeResponse:
        """Hold this thread until it has ended; TimeoutError if it has not in so many seconds."""
        if not self._errand.done.hear_sync(timeout):
            raise TimeoutError(f"the turn has not ended within {timeout} s; it goes on")
        return response_of(self._errand)

    def call_back(self, callback: Callback, dispatcher: Dispatcher | None) -> None:
        """Call this once with the answer, in a worker thread or where the dispatcher says."""
        dispatch = dispatcher or WORKERS.submit

        def tell() -> None:
            try:
                dispatch(lambda: _tell(callback, self._errand))
            except BaseException as error:  # noqa: BLE001 - the host's loop is closed, its window gone
                report(error, "the dispatcher failed; the callback is not called")

        self._errand.done.when_rung(tell)

    def __await__(self) -> Generator[Any, Any, BridgeResponse]:
        return self._wait().__await__()

    async def _wait(self) -> BridgeResponse:
        await self._errand.done.hear()
        return response_of(self._errand)


def response_of(errand: PortalCall[BridgeResponse]) -> BridgeResponse:
    """The answer; a cancelled prompt has one too, an error of the start is raised."""
    if isinstance(errand.error, PortalCallCancelled):
        return BridgeResponse(content="", outcome=Outcome.CANCELLED, error="cancelled")
    return errand.result()


def _tell(callback: Callback, errand: PortalCall[BridgeResponse]) -> None:
    try:
        callback(_in_any_case(errand))
    except BaseException as error:  # noqa: BLE001 - the border to the host's code
        report(error, "a callback of chat_async failed")


def _in_any_case(errand: PortalCall[BridgeResponse]) -> BridgeResponse:
    """For a callback, which has no other way to hear of an error."""
    try:
        return response_of(errand)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        return BridgeResponse(content="", outcome=Outcome.FAILED, error=str(error))
