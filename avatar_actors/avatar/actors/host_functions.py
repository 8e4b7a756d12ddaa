"""Calls the functions of a host that answer questions. A part of the gatekeeper."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import trio

from avatar_actors.avatar.state.asking import HostAnswer
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.events import PermissionEvent, QuestionEvent
from avatar_actors.model.host_functions import PermissionHandler, QuestionHandler
from avatar_actors.model.questions import answers_to
from avatar_actors.model.values import Permit
from supervisors import SafeLogger

log = SafeLogger("avatar_actors.handlers")


class HostFunctions:
    """The functions of one avatar's host; each call is in a task or in a thread of its own."""

    def __init__(
        self, permission: PermissionHandler | None = None, question: QuestionHandler | None = None
    ) -> None:
        self._permission, self._question = permission, question
        # Functions that hang keep their threads: trio's own limit, of 40, is for others.
        self._threads = trio.CapacityLimiter(float("inf"))

    def can_answer(self, event: PermissionEvent | QuestionEvent) -> bool:
        """Whether there is a function for this kind of question."""
        return self._function_for(event) is not None

    async def answer(self, event: PermissionEvent | QuestionEvent) -> HostAnswer:
        """What the function for this question answers. A failure of it is logged and refuses."""
        kind = "permissions" if isinstance(event, PermissionEvent) else "questions"
        try:
            given = await self._call(event)
        except BaseException as error:  # the border to the host's code
            if _is_not_the_functions(error):
                raise
            log.error("the function for %s failed", kind, exc_info=error)
            name = type(error).__name__
            return HostAnswer(failure=f"the host's function for {kind} failed ({name})")
        try:
            return _answer_in(event, given)
        except SettingsError as wrong:
            failure = f"the host's function for {kind} gave a wrong answer: {wrong}"
            log.error("%s", failure)
            return HostAnswer(failure=failure)

    def _function_for(
        self, event: PermissionEvent | QuestionEvent
    ) -> PermissionHandler | QuestionHandler | None:
        return self._permission if isinstance(event, PermissionEvent) else self._question

    async def _call(self, event: PermissionEvent | QuestionEvent) -> object:
        function: Callable[[Any], Any] | None = self._function_for(event)
        assert function is not None
        if is_coroutine_function(function):
            return await function(event)
        return await trio.to_thread.run_sync(
            function, event, abandon_on_cancel=True, limiter=self._threads
        )


def is_coroutine_function(function: Callable[..., object]) -> bool:
    """Whether calling it gives an awaitable; an object counts by its `__call__`."""
    call: object = getattr(function, "__call__", function)  # noqa: B004 - the method is wanted
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _answer_in(event: PermissionEvent | QuestionEvent, given: object) -> HostAnswer:
    if inspect.iscoroutine(given):
        given.close()
        raise SettingsError("a coroutine, from a function that is not `async def`")
    if isinstance(event, QuestionEvent):
        return HostAnswer(answers=answers_to(event.questions, given))
    if not isinstance(given, Permit):
        raise SettingsError(f"it must be a Permit; got {type(given).__name__}")
    return HostAnswer(permit=given)


def _is_not_the_functions(error: BaseException) -> bool:
    """Whether the loop or the user ends all of this: a cancellation, or Ctrl-C."""
    match error:
        case BaseExceptionGroup(exceptions=inside):
            return any(map(_is_not_the_functions, inside))
        case _:
            return isinstance(error, trio.Cancelled | KeyboardInterrupt)
