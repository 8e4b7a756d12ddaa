"""AvatarEngine: an avatar for any program, be it threads, asyncio or trio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar, Unpack

from avatar_actors.avatar.handle import Avatar, Escalation
from avatar_actors.hosting.chat_handle import Callback, ChatHandle
from avatar_actors.hosting.engine_avatar import AvatarRun, EngineAvatar, all_of, texts
from avatar_actors.hosting.executors import Dispatcher
from avatar_actors.hosting.futures import all_finished, finished_though_cancelled
from avatar_actors.hosting.handlers import EventEmitter, running_loop
from avatar_actors.hosting.options import (
    AnswerDetails,
    EngineOptions,
    configured,
    engine_arguments,
    hosted,
)
from avatar_actors.hosting.runtime_thread import RuntimeThread
from avatar_actors.hosting.streams import HostStream
from avatar_actors.model.checks import checked
from avatar_actors.model.errors import AvatarDown
from avatar_actors.model.events import AvatarEvent, BridgeResponse
from avatar_actors.model.fields import FilePath, PromptText, Seconds
from avatar_actors.model.questions import GivenAnswers
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
    blocks the calling thread.
    """

    @checked
    def __init__(
        self,
        provider: str | ProviderType | Provider = ProviderType.EMBEDDED,
        model: str = "",
        working_dir: FilePath = "",
        timeout: Seconds | None = None,
        **options: Unpack[EngineOptions],
    ) -> None:
        arguments = engine_arguments(provider, model, working_dir, timeout, options)
        super().__init__(arguments.dispatcher)
        self._avatar = EngineAvatar(hosted(arguments.spec, self), arguments.source, self)

    @classmethod
    @checked
    def from_config(
        cls,
        path: FilePath | None = None,
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

    def __repr__(self) -> str:
        name = self._avatar.spec.name
        named = f"{self.provider!r}, name={name!r}" if name else repr(self.provider)
        return f"<AvatarEngine {named}: {self._avatar.state}>"

    # Life.

    async def start(self) -> None:
        """Start the avatar, if it is not up; AvatarStartError says what to do if it cannot."""
        self.settle_on(running_loop())
        self._avatar.renew()
        await self._avatar.call(AvatarRun.start)

    def start_sync(self) -> None:
        """The same, blocking this thread."""
        self._avatar.renew()
        self._avatar.call_sync(AvatarRun.start)

    async def stop(self) -> None:
        """Stop the avatar: its turns end as cancelled, nothing is left. Twice is once.

        In the child of a fork, the parent's avatar is left alone.
        """
        if self._avatar.is_of_a_parent:
            return
        await finished_though_cancelled(self._avatar.stop())
        await self.flush(_HANDLERS)
        await all_finished([self.end_handler_loop()], _HANDLERS)

    def stop_sync(self) -> None:
        """The same, blocking this thread."""
        if self._avatar.is_of_a_parent:
            return
        wait([self._avatar.stop()])
        self.flush_sync(_HANDLERS)
        wait([self.end_handler_loop()], _HANDLERS)

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

    def close_for_good(self) -> Future[Any]:
        """Begin to stop and take no more calls; done when nothing is left."""
        return self._avatar.close_for_good()

    @checked
    async def switch_provider(
        self,
        provider: str | ProviderType | Provider,
        model: str = "",
        working_dir: FilePath = "",
        timeout: Seconds | None = None,  # noqa: ASYNC109 - the turns', not this call's
        **options: Unpack[SharedOptions],
    ) -> None:
        """Stop the avatar and start another; handlers stay. Wrong arguments change nothing."""
        name = self._avatar.spec.name
        wanted: EngineOptions = {**options, "name": name, "dispatcher": None, "runtime": None}
        spec = hosted(engine_arguments(provider, model, working_dir, timeout, wanted).spec, self)
        await self.stop()
        self._avatar.spec = spec
        await self.start()

    # Turns.

    @checked
    async def chat(self, message: PromptText, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The whole answer; the avatar is started if need be."""
        self.settle_on(running_loop())
        return await self._avatar.call(AvatarRun.chat, message, options)

    @checked
    def chat_sync(self, message: PromptText, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The same, blocking this thread. Ctrl-C ends the turn."""
        return self._avatar.call_sync(AvatarRun.chat, message, options)

    @checked
    def chat_async(
        self,
        message: PromptText,
        callback: Callback | None = None,
        **options: Unpack[PromptOptions],
    ) -> ChatHandle:
        """Send it and return at once; the callback is called exactly once, like a handler."""
        handle = ChatHandle(self._avatar.send(AvatarRun.chat, message, options))
        if callback is not None:
            handle.call_back(callback, self._dispatcher)
        return handle

    @checked
    def chat_stream(
        self, message: PromptText, **options: Unpack[PromptOptions]
    ) -> HostStream[str, BridgeResponse]:
        """The text as it comes: `async for`, or `for` in a thread; `result` is the whole answer.

        If the answer is not whole, the loop ends with TurnFailed.
        """
        self.settle_on(running_loop())
        return HostStream(
            lambda slot: self._avatar.send(AvatarRun.talk, message, options, texts, slot),
            BridgeResponse.raise_for_outcome,
        )

    @checked
    def turn(
        self, message: PromptText, **options: Unpack[PromptOptions]
    ) -> HostStream[AvatarEvent, BridgeResponse]:
        """All events of the turn; the last is the TurnEndedEvent with its outcome."""
        self.settle_on(running_loop())
        return HostStream(
            lambda slot: self._avatar.send(AvatarRun.talk, message, options, all_of, slot)
        )

    @checked
    def events(self, *kinds: type[AvatarEvent]) -> HostStream[AvatarEvent, None]:
        """What happens from now on, of these kinds or of all, to the engine's stop."""
        self.settle_on(running_loop())
        return HostStream(lambda slot: self._avatar.send(AvatarRun.listen, kinds, slot))

    # Control.

    @checked
    async def run(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """Whatever an Avatar can do: `await engine.run(lambda avatar: avatar.sessions())`."""
        self.settle_on(running_loop())
        return await self._avatar.call(AvatarRun.use, work)

    @checked
    def run_sync(self, work: Callable[[Avatar], Awaitable[T]]) -> T:
        """The same, blocking this thread."""
        return self._avatar.call_sync(AvatarRun.use, work)

    async def interrupt(self) -> bool:
        """End the present turn; False if there is none."""
        call = self._avatar.look(Avatar.interrupt)
        return call is not None and bool(await call.wait())

    def interrupt_sync(self) -> bool:
        """The same, blocking this thread."""
        call = self._avatar.look(Avatar.interrupt)
        return call is not None and bool(call.wait_sync())

    @checked
    def answer(self, request_id: str, permit: Permit, **details: Unpack[AnswerDetails]) -> None:
        """Answer a PermissionEvent; UnknownRequest when it is no longer open."""
        self.run_sync(lambda avatar: avatar.answer(request_id, permit, **details))

    @checked
    def answer_question(self, request_id: str, answers: GivenAnswers, *, message: str = "") -> None:
        """Answer a QuestionEvent; None declines, and `message` tells the model why."""
        self.run_sync(lambda avatar: avatar.answer_question(request_id, answers, message=message))

    @checked
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
            call = self._avatar.look(Avatar.health)
            health = call.wait_sync() if call is not None else None
        except AvatarDown:  # it gave up, or the runtime was stopped
            return HealthStatus(state=BridgeState.ERROR, provider=self.provider)
        return health or HealthStatus(state=BridgeState.DISCONNECTED, provider=self.provider)

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self._avatar.spec.provider.name

    @property
    def capabilities(self) -> ProviderCapabilities:
        """What the agent said it can do, when it started; nothing before that."""
        call = self._avatar.look(Avatar.capabilities)
        capabilities = call.wait_sync() if call is not None else None
        return capabilities or ProviderCapabilities()

    def get_history(self) -> list[Message]:
        """What was said, in whole pairs of prompt and answer."""
        return list(self._avatar.history())

    def clear_history(self) -> None:
        """Forget it; the agent does not."""
        self._avatar.forget()
