"""The avatar as a host holds it: every method asks the actors, none keeps state."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from enum import Enum
from typing import Any, Unpack

from avatar_actors.avatar import messages
from avatar_actors.avatar.actor_client import ActorClient
from avatar_actors.avatar.event_stream import EventStream
from avatar_actors.avatar.messages import Actors, ModelChosen, RaiseBudget, ResumeThis
from avatar_actors.avatar.state.submission import submission_of
from avatar_actors.avatar.stored_sessions import (
    fork_of,
    last_other,
    sessions_of,
    switch_session,
)
from avatar_actors.avatar.trace_parent import current_trace_parent
from avatar_actors.avatar.turn import Turn
from avatar_actors.model.checks import checked
from avatar_actors.model.command_line import check_name, check_session_id
from avatar_actors.model.errors import SettingsError, UnknownRequest, Unsupported
from avatar_actors.model.events import ActivityEvent, AvatarEvent, BridgeResponse, TurnEndedEvent
from avatar_actors.model.fields import PositiveCount
from avatar_actors.model.questions import GivenAnswers
from avatar_actors.model.settings import AvatarSettings, Budget, PromptOptions
from avatar_actors.model.values import (
    CancelResult,
    Choice,
    HealthStatus,
    JsonObject,
    Message,
    Permit,
    ProviderCapabilities,
    StoredSession,
)
from avatar_actors.session import messages as session_messages
from avatar_actors.session.launch import Launcher
from avatar_actors.session.messages import SessionReady
from supervisors import AskFailed, MailboxFull, Supervisor

_TASKS = frozenset({"agent", "background_task"})


class Escalation(Enum):
    """Whether cancelling an activity may end the whole turn."""

    NEVER = "never"
    TURN = "turn"


class Avatar:
    """One agent, supervised. All methods are for tasks of the trio loop that it runs in."""

    def __init__(
        self,
        name: str,
        settings: AvatarSettings,
        actors: Actors,
        avatars: Supervisor,
        launcher: Launcher,
    ) -> None:
        self.name: str = name
        self._settings = settings
        self._actors = actors
        self._avatars = avatars
        self._launcher = launcher
        self._client = ActorClient(name, actors)
        self._turn_ids = itertools.count(1)

    @checked
    def turn(
        self,
        prompt: str,
        *,
        kinds: tuple[type[AvatarEvent], ...] = (),
        **options: Unpack[PromptOptions],
    ) -> Turn:
        """A turn for this prompt: `async with` it, read its events, look at its outcome.

        `kinds`: only events of these kinds come, and the end.
        """
        with_end: tuple[type[AvatarEvent], ...] = (*kinds, TurnEndedEvent)
        return self._turn(self._submission(prompt, options), with_end if kinds else ())

    stream = turn

    async def chat(self, prompt: str, **options: Unpack[PromptOptions]) -> BridgeResponse:
        """The whole answer. Cancelling this call interrupts the turn."""
        async with self._turn(self._submission(prompt, options), (TurnEndedEvent,)) as turn:
            return await turn.wait()

    async def interrupt(self) -> bool:
        """End the present turn; False if there is none."""
        return await self._end_turn(0)

    @checked
    async def cancel_activity(
        self, activity_id: str, escalation: Escalation = Escalation.NEVER
    ) -> CancelResult:
        """Stop one tool or task: by the protocol, else by its processes, else with its turn."""
        ask = messages.FindActivity(activity_id)
        activity = await self._client.ask(self._actors.tracker, ask)
        if activity is None:
            raise UnknownRequest(f"no activity {activity_id!r} is known")
        if not activity.is_cancellable:
            return CancelResult.ALREADY_DONE
        if activity.activity_type == "turn":
            was_there = await self._end_turn(activity.turn_id)
            return CancelResult.STOPPED if was_there else CancelResult.ALREADY_DONE
        try:
            if await _stop_alone(await self._client.session(), activity):
                return CancelResult.STOPPED
        except AskFailed:
            return CancelResult.ALREADY_DONE
        if escalation is Escalation.TURN and await self._end_turn(activity.turn_id):
            return CancelResult.ESCALATED
        return CancelResult.UNSUPPORTED

    async def activities(self) -> tuple[ActivityEvent, ...]:
        """What runs now: the turn, its tools, sub-agents, background tasks."""
        return await self._client.ask(self._actors.tracker, messages.ListActivities())

    @checked
    async def answer(
        self,
        request_id: str,
        permit: Permit,
        *,
        option_id: str = "",
        message: str = "",
        updated_input: JsonObject | None = None,
    ) -> None:
        """Answer a PermissionEvent; UnknownRequest when it is no longer open."""
        answer = session_messages.GivePermit(
            request_id=request_id,
            permit=permit,
            option_id=option_id,
            message=message,
            updated_input=updated_input,
        )
        await self._client.ask(self._actors.gatekeeper, answer)

    @checked
    async def answer_question(
        self, request_id: str, answers: GivenAnswers, *, message: str = ""
    ) -> None:
        """Answer a QuestionEvent; None declines, and `message` tells the model why.

        SettingsError if the answers do not fit, UnknownRequest when it is no longer open.
        """
        given = session_messages.GiveAnswers(request_id, answers, message)
        await self._client.ask(self._actors.gatekeeper, given)

    @checked
    @asynccontextmanager
    async def events(
        self, *kinds: type[AvatarEvent], capacity: PositiveCount = 4096
    ) -> AsyncGenerator[EventStream]:
        """Subscribe to what happens from now on, of these kinds and their children, or of all."""
        stream = EventStream(kinds=kinds, capacity=capacity)
        try:
            await self._client.ask(self._actors.tracker, messages.Subscribe(stream))
            yield stream
        finally:
            stream.close()
            with suppress(MailboxFull):
                self._actors.tracker.tell_nowait(messages.Unsubscribe(stream))

    async def history(self) -> tuple[Message, ...]:
        """The finished turns, in whole pairs of prompt and answer."""
        return await self._client.ask(self._actors.turn_queue, messages.GetHistory())

    async def clear_history(self) -> None:
        """Clear this history; the agent keeps its own."""
        await self._client.ask(self._actors.turn_queue, messages.ClearHistory())

    async def capabilities(self) -> ProviderCapabilities:
        """What the agent said it can do when it started."""
        return (await self._client.session()).capabilities

    async def health(self) -> HealthStatus:
        """The avatar's current health."""
        return await self._client.ask(self._actors.turn_queue, messages.GetHealth())

    @checked
    async def raise_budget(self, budget: Budget) -> None:
        """Replace the budget; what was spent stays spent."""
        await self._client.ask(self._actors.turn_queue, RaiseBudget(budget))

    async def sessions(self) -> tuple[StoredSession, ...]:
        """The stored sessions of the working directory, the last used first."""
        return await sessions_of(self._client, self._launcher)

    @checked
    async def resume(self, session_id: str) -> None:
        """Continue a stored session: the agent is restarted for it, its turn cancelled.

        AvatarStartError if that fails; the avatar then continues with a fresh session.
        """
        check_session_id(session_id)
        await self._switch_session(ResumeThis(session_id))

    async def continue_last(self) -> StoredSession:
        """Resume the session that was used last besides this one; UnknownRequest if none was."""
        last = await last_other(self._client, self._launcher)
        await self._switch_session(ResumeThis(last.session_id))
        return last

    @checked
    async def fork(self, session_id: str = "") -> str:
        """Continue in a copy of a session, or of this one; returns the copy's id."""
        if session_id:
            check_session_id(session_id)
        return await self._switch_session(await fork_of(self._client, session_id))

    async def models(self) -> tuple[Choice, ...]:
        """The models that the agent offers; some take others too."""
        return (await self.capabilities()).models

    @checked
    async def set_model(self, model: str) -> None:
        """Switch to a model, after restarts too; Unsupported if the agent refuses it."""
        await self._choose(ModelChosen(model=model))

    @checked
    async def set_mode(self, mode: str) -> None:
        """Switch to a mode of the agent, as `set_model` does."""
        await self._choose(ModelChosen(mode=mode))

    @checked
    async def call(self, action: str, arguments: JsonObject | None = None) -> Any:
        """Any other request of the agent's protocol, as `set_model` or `raw:session/fork`."""
        session = await self._client.session()
        return await self._client.ask(
            session.bridge, session_messages.CallAgent(action, arguments or {})
        )

    async def stop(self) -> None:
        """Stop the avatar: its turns end as cancelled, its process tree and files go.

        Calling it twice is harmless. A cancelled call returns early; the stop goes on.
        """
        try:
            await self.close_down("the avatar was stopped")
        finally:
            await self._avatars.terminate(self._actors.supervisor)

    @checked
    async def close_down(self, reason: str) -> None:
        """Take no more prompts and end the turns: the first step of a stop."""
        with suppress(AskFailed):
            await self._actors.turn_queue.ask(messages.CloseDown(reason))

    @property
    def is_down(self) -> bool:
        """Whether it has stopped or given up."""
        return self._client.is_down

    async def wait(self) -> None:
        """Wait until it has stopped; AvatarDown with the reason if it gave up."""
        await self._client.wait()

    def _submission(self, prompt: str, options: PromptOptions) -> messages.Submission:
        turn_id, parent = next(self._turn_ids), current_trace_parent()
        return submission_of(turn_id, prompt, options, self._settings, parent)

    def _turn(
        self, submission: messages.Submission, kinds: tuple[type[AvatarEvent], ...] = ()
    ) -> Turn:
        stream = EventStream(submission.turn_id, kinds)
        return Turn(self._client, submission, stream, self._settings.timeouts.interrupt)

    async def _choose(self, chosen: ModelChosen) -> None:
        kind, wanted = ("model", chosen.model) if chosen.model else ("mode", chosen.mode)
        if not wanted:
            raise SettingsError("name the model or mode to switch to")
        check_name(kind, wanted)
        await self.call(f"set_{kind}", {kind: wanted})
        await self._actors.turn_queue.tell(chosen)

    async def _switch_session(self, wanted: ResumeThis) -> str:
        return await switch_session(self._client, wanted, self._settings.timeouts, self.stop)

    async def _end_turn(self, turn_id: int) -> bool:
        return await self._client.ask(self._actors.turn_queue, messages.Interrupt(turn_id))


async def _stop_alone(session: SessionReady, activity: ActivityEvent) -> bool:
    """Whether the activity could be stopped without its turn."""
    if activity.activity_type in _TASKS:
        with suppress(Unsupported):
            stop = session_messages.CallAgent("stop_task", {"task_id": activity.activity_id})
            await session.bridge.ask(stop)
            return True
    end = session_messages.EndTool(activity.detail)
    return bool(activity.detail) and await session.process.ask(end)
