"""AvatarEngine: an avatar for any program, be it threads, asyncio or trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, Unpack

from avatar_actors.cancelling import Escalation
from avatar_actors.engine_options import AnswerDetails, EngineOptions, configured, order_of
from avatar_actors.errors import AvatarDown
from avatar_actors.events import AvatarEvent
from avatar_actors.handle import Avatar
from avatar_actors.health import HealthStatus
from avatar_actors.host_settings import ProviderType
from avatar_actors.hosting.bell import Bell
from avatar_actors.hosting.chat_handle import Callback, ChatHandle
from avatar_actors.hosting.delivery import Dispatcher
from avatar_actors.hosting.emitter import EventEmitter, running_loop
from avatar_actors.hosting.errand import Errand
from avatar_actors.hosting.hatch import Hatch
from avatar_actors.hosting.host_stream import HostStream
from avatar_actors.hosting.room import Room, all_of, texts
from avatar_actors.hosting.runtime_thread import Inside, RuntimeThread
from avatar_actors.hosting.tenancy import Tenancy
from avatar_actors.hosting.workers import hear_all
from avatar_actors.providers.provider import Provider
from avatar_actors.response import BridgeResponse
from avatar_actors.settings import PromptOptions
from avatar_actors.types import (
    BridgeState,
    CancelResult,
    Message,
    Permit,
    ProviderCapabilities,
)

T = TypeVar("T")
R = TypeVar("R")

# How long a stop waits for handlers that are behind.
_HANDLERS = 5.0


class AvatarEngine(EventEmitter):
    """One avatar and its handlers. Every method is for any thread, and any loop.

    The avatar runs in a thread of trio that engines share. What is awaited works in asyncio and in
    trio, and cancelling it cancels the turn; what ends in `_sync` holds the calling thread.
    """

    def __init__(
        self,
        provider: str | ProviderType | Provider = ProviderType.EMBEDDED,
        model: str = "",
        working_dir: str | Path = "",
        timeout: float | None = None,
        **options: Unpack[EngineOptions],
    ) -> None:
        order = order_of(provider, model, working_dir, timeout, options)
        super().__init__(order.dispatcher)
        self._wish = order.wish
        self._tenancy = Tenancy(order.landlord, self)

    @classmethod
    def from_config(
        cls,
        path: str | Path | None = None,
        provider: str = "",
        dispatcher: Dispatcher | None = None,
        runtime: RuntimeThread | None = None,
    ) -> AvatarEngine:
        """As a configuration wants it: that of this file, or of the first that is found."""
        wanted = configured(path, provider)
        options: EngineOptions = {**wanted.options, "dispatcher": dispatcher}
        if runtime is not None:
            options["runtime"] = runtime
        return cls(wanted.provider, wanted.model, wanted.working_dir, **options)

    # Life.

    async def start(self) -> None:
        """Start the avatar, if it is not up; AvatarStartError says what to do if it cannot."""
        self.settle_on(running_loop())
        await self._tenancy.wait(self._send(Room.start))

    def start_sync(self) -> None:
        """The same, holding this thread."""
        self._tenancy.wait_sync(self._send(Room.start))

    async def stop(self) -> None:
        """Stop the avatar: its turns end as cancelled, nothing is left. Twice is once."""
        errand = self._tenancy.leave()
        if errand is not None:
            with suppress(AvatarDown):  # the host has stopped the runtime first
                await errand.wait()
        await self._tenancy.gone().hear()
        await self.flush(_HANDLERS)
        await hear_all([self.end_handler_loop()], _HANDLERS)

    def stop_sync(self) -> None:
        """The same, holding this thread."""
        errand = self._tenancy.leave()
        if errand is not None:
            with suppress(AvatarDown):
                errand.wait_sync()
        self._tenancy.gone().hear_sync()
        self.flush_sync(_HANDLERS)
        self.end_handler_loop().hear_sync(_HANDLERS)

    def close_for_good(self) -> Bell:
        """Begin to stop and take no more calls; the bell rings when nothing is left."""
        return self._tenancy.close_for_good()

    async def switch_provider(
        self,
        provider: str | ProviderType | Provider,
        model: str = "",
        working_dir: str | Path = "",
        timeout: float | None = None,  # noqa: ASYNC109 - the turns', not this call's
        **options: Unpack[EngineOptions],
    ) -> None:
        """Stop the avatar and start another; handlers stay. Wrong arguments change nothing."""
        wish = order_of(provider, model, working_dir, timeout, options).wish
        await self.stop()
        self._wish = wish
        await self.start()

    # Turns.

    async def chat(self, message: str, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The whole answer; the avatar is started if need be."""
        self.settle_on(running_loop())
        return await self._tenancy.wait(self._chat(message, options))

    def chat_sync(self, message: str, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The same, holding this thread. Ctrl-C ends the turn."""
        return self._tenancy.wait_sync(self._chat(message, options))

    def chat_async(
        self, message: str, callback: Callback | None = None, **options: Unpack[PromptOptions]
    ) -> ChatHandle:
        """Send it and return at once; the callback is called exactly once, like a handler."""
        handle = ChatHandle(self._chat(message, options))
        if callback is not None:
            handle.call_back(callback, self._dispatcher)
        return handle

    def chat_stream(
        self, message: str, **options: Unpack[PromptOptions]
    ) -> HostStream[str, BridgeResponse]:
        """The text as it comes: `async for`, or `for` in a thread; `result` is the whole answer."""
        return self._stream(lambda room, *rest: room.talk(message, options, texts, *rest))

    def turn(
        self, message: str, **options: Unpack[PromptOptions]
    ) -> HostStream[AvatarEvent, BridgeResponse]:
        """The same with all events of the turn."""
        return self._stream(lambda room, *rest: room.talk(message, options, all_of, *rest))

    def events(self, *kinds: type[AvatarEvent]) -> HostStream[AvatarEvent, None]:
        """What happens from now on, of these kinds or of all, to the engine's stop."""
        return self._stream(lambda room, *rest: room.listen(kinds, *rest))

    # Control.

    async def run(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """Whatever an Avatar can do: `await engine.run(lambda avatar: avatar.sessions())`."""
        self.settle_on(running_loop())
        return await self._tenancy.wait(self._use(work))

    def run_sync(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """The same, holding this thread."""
        return self._tenancy.wait_sync(self._use(work))

    async def interrupt(self) -> bool:
        """End the present turn; False if there is none."""
        return bool(await self._look(Avatar.interrupt).wait())

    def interrupt_sync(self) -> bool:
        """The same, holding this thread."""
        return bool(self._look(Avatar.interrupt).wait_sync())

    def answer(self, request_id: str, permit: Permit, **details: Unpack[AnswerDetails]) -> None:
        """Answer a PermissionEvent; UnknownRequest when it is no longer open."""
        self.run_sync(lambda avatar: avatar.answer(request_id, permit, **details))

    def cancel_activity(
        self, activity_id: str, escalation: Escalation = Escalation.NEVER
    ) -> CancelResult:
        """Stop one tool or task."""
        return self.run_sync(lambda avatar: avatar.cancel_activity(activity_id, escalation))

    # What is known.

    def is_healthy(self) -> bool:
        """Whether a prompt would be taken now, or after those that wait."""
        return self.get_health().is_healthy

    def get_health(self) -> HealthStatus:
        """How the avatar does; disconnected when there is none."""
        health = self._look(Avatar.health).wait_sync()
        return health or HealthStatus(state=BridgeState.DISCONNECTED, provider=self.provider)

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self._wish.provider.name

    @property
    def capabilities(self) -> ProviderCapabilities:
        """What the agent said it can do, when it started; nothing before that."""
        return self._look(Avatar.capabilities).wait_sync() or ProviderCapabilities()

    def get_history(self) -> list[Message]:
        """What was said, in whole pairs of prompt and answer."""
        return list(self._tenancy.history())

    def clear_history(self) -> None:
        """Forget it; the agent does not."""
        self._tenancy.forget()

    def _send(self, work: Callable[[Room, Inside], Awaitable[T]]) -> Errand[T]:
        return self._tenancy.send(self._wish, work)

    def _chat(self, message: str, options: PromptOptions) -> Errand[BridgeResponse]:
        return self._send(lambda room, inside: room.chat(message, options, inside))

    def _use(self, work: Callable[[Avatar], Awaitable[T]]) -> Errand[T]:
        return self._send(lambda room, inside: room.use(work, inside))

    def _look(self, work: Callable[[Avatar], Awaitable[T]]) -> Errand[T | None]:
        return self._tenancy.look(work)

    def _stream(self, source: Callable[[Room, Inside, Hatch[T]], Awaitable[R]]) -> HostStream[T, R]:
        self.settle_on(running_loop())

        def open_source(hatch: Hatch[T]) -> Errand[R]:
            return self._send(lambda room, inside: source(room, inside, hatch))

        return HostStream(open_source, self._tenancy.gone)
