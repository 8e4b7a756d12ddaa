"""AvatarEngine: an avatar for any program, be it threads, asyncio or trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, Unpack

from avatar_actors.avatar.handle import Avatar, Escalation
from avatar_actors.hosting.chat_handle import Callback, ChatHandle
from avatar_actors.hosting.engine_avatar import Reception, Tenancy, all_of, texts
from avatar_actors.hosting.executors import Dispatcher, hear_all
from avatar_actors.hosting.handlers import EventEmitter, running_loop
from avatar_actors.hosting.options import AnswerDetails, EngineOptions, configured, order_of
from avatar_actors.hosting.portal import ThreadEvent
from avatar_actors.hosting.runtime_thread import RuntimeThread
from avatar_actors.hosting.streams import HostStream
from avatar_actors.model.errors import AvatarDown
from avatar_actors.model.events import AvatarEvent, BridgeResponse
from avatar_actors.model.settings import PromptOptions, ProviderType, SharedOptions
from avatar_actors.model.values import (
    BridgeState,
    CancelResult,
    HealthStatus,
    Message,
    Permit,
    ProviderCapabilities,
)
from avatar_actors.providers.provider import Provider

T = TypeVar("T")

# How long a stop waits for handlers that are behind.
_HANDLERS = 5.0


class AvatarEngine(EventEmitter):
    """One avatar and its handlers; `with` or `async with` it, or start and stop it.

    Every method is for any thread and any loop: the avatar runs in a thread of its own. What is
    awaited works in asyncio and in trio, and cancelling it cancels the turn; what ends in `_sync`
    holds the calling thread.
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
        self._tenancy = Tenancy(order.landlord, self)
        self._reception = Reception(order.wish, self._tenancy)

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
        await self._tenancy.wait(self._reception.start())

    def start_sync(self) -> None:
        """The same, holding this thread."""
        self._tenancy.wait_sync(self._reception.start())

    async def stop(self) -> None:
        """Stop the avatar: its turns end as cancelled, nothing is left. Twice is once.

        In the child of a fork, the parent's avatar is left alone.
        """
        if self._tenancy.is_of_a_parent:
            return
        errand = self._tenancy.leave()
        if errand is not None:
            with suppress(AvatarDown):  # the host has stopped the runtime first
                await errand.wait()
        await self._tenancy.gone().hear()
        await self.flush(_HANDLERS)
        await hear_all([self.end_handler_loop()], _HANDLERS)

    def stop_sync(self) -> None:
        """The same, holding this thread."""
        if self._tenancy.is_of_a_parent:
            return
        errand = self._tenancy.leave()
        if errand is not None:
            with suppress(AvatarDown):
                errand.wait_sync()
        self._tenancy.gone().hear_sync()
        self.flush_sync(_HANDLERS)
        self.end_handler_loop().hear_sync(_HANDLERS)

    def __enter__(self) -> AvatarEngine:
        self.start_sync()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_sync()

    async def __aenter__(self) -> AvatarEngine:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def close_for_good(self) -> ThreadEvent:
        """Begin to stop and take no more calls; the bell rings when nothing is left."""
        return self._tenancy.close_for_good()

    async def switch_provider(
        self,
        provider: str | ProviderType | Provider,
        model: str = "",
        working_dir: str | Path = "",
        timeout: float | None = None,  # noqa: ASYNC109 - the turns', not this call's
        **options: Unpack[SharedOptions],
    ) -> None:
        """Stop the avatar and start another; handlers stay. Wrong arguments change nothing."""
        name = self._reception.wish.name
        wanted: EngineOptions = {**options, "name": name, "dispatcher": None, "runtime": None}
        wish = order_of(provider, model, working_dir, timeout, wanted).wish
        await self.stop()
        self._reception.wish = wish
        await self.start()

    # Turns.

    async def chat(self, message: str, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The whole answer; the avatar is started if need be."""
        self.settle_on(running_loop())
        return await self._tenancy.wait(self._reception.chat(message, options))

    def chat_sync(self, message: str, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The same, holding this thread. Ctrl-C ends the turn."""
        return self._tenancy.wait_sync(self._reception.chat(message, options))

    def chat_async(
        self, message: str, callback: Callback | None = None, **options: Unpack[PromptOptions]
    ) -> ChatHandle:
        """Send it and return at once; the callback is called exactly once, like a handler."""
        handle = ChatHandle(self._reception.chat(message, options))
        if callback is not None:
            handle.call_back(callback, self._dispatcher)
        return handle

    def chat_stream(
        self, message: str, **options: Unpack[PromptOptions]
    ) -> HostStream[str, BridgeResponse]:
        """The text as it comes: `async for`, or `for` in a thread; `result` is the whole answer."""
        self.settle_on(running_loop())
        return self._reception.talk(message, options, texts)

    def turn(
        self, message: str, **options: Unpack[PromptOptions]
    ) -> HostStream[AvatarEvent, BridgeResponse]:
        """The same with all events of the turn."""
        self.settle_on(running_loop())
        return self._reception.talk(message, options, all_of)

    def events(self, *kinds: type[AvatarEvent]) -> HostStream[AvatarEvent, None]:
        """What happens from now on, of these kinds or of all, to the engine's stop."""
        self.settle_on(running_loop())
        return self._reception.listen(kinds)

    # Control.

    async def run(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """Whatever an Avatar can do: `await engine.run(lambda avatar: avatar.sessions())`."""
        self.settle_on(running_loop())
        return await self._tenancy.wait(self._reception.use(work))

    def run_sync(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """The same, holding this thread."""
        return self._tenancy.wait_sync(self._reception.use(work))

    async def interrupt(self) -> bool:
        """End the present turn; False if there is none."""
        return bool(await self._tenancy.look(Avatar.interrupt).wait())

    def interrupt_sync(self) -> bool:
        """The same, holding this thread."""
        return bool(self._tenancy.look(Avatar.interrupt).wait_sync())

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
        try:
            health = self._tenancy.look(Avatar.health).wait_sync()
        except AvatarDown:  # it gave up, or the runtime was stopped
            return HealthStatus(state=BridgeState.ERROR, provider=self.provider)
        return health or HealthStatus(state=BridgeState.DISCONNECTED, provider=self.provider)

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self._reception.wish.provider.name

    @property
    def capabilities(self) -> ProviderCapabilities:
        """What the agent said it can do, when it started; nothing before that."""
        return self._tenancy.look(Avatar.capabilities).wait_sync() or ProviderCapabilities()

    def get_history(self) -> list[Message]:
        """What was said, in whole pairs of prompt and answer."""
        return list(self._tenancy.history())

    def clear_history(self) -> None:
        """Forget it; the agent does not."""
        self._tenancy.forget()
