"""The bridge: turns commands into bytes for the agent, and the agent's bytes into facts and events.

It has two tasks: one reads the agent's output, one takes commands. So no command, and above all no
interrupt, queues behind data.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn, TypeAlias

import trio
from msgspec.structs import replace

from avatar_actors.model import errors
from avatar_actors.model.events import AvatarEvent, CostEvent, DiagnosticEvent, TextEvent, ToolEvent
from avatar_actors.model.values import Level
from avatar_actors.session import messages, turn_outcome
from avatar_actors.session.decoding import OutputDecoder
from avatar_actors.session.messages import ResumeImpossible
from avatar_actors.session.opening import (
    PendingCalls,
    SessionOpening,
    continuity_of,
    death_of,
    end_session,
    refusal_of,
    refuse_start,
    why_not_resumed,
    without_secrets,
)
from avatar_actors.session.running_turns import AskedTurn, RawEvents, RunningTurns, UnaskedTurn
from avatar_actors.session.turn_outcome import Tariff
from avatar_actors.session.unasked_tools import UnaskedTools
from avatar_actors.wire import commands, facts
from avatar_actors.wire.wire import Wire
from supervisors import Address, AskFailed, Inbox, MailboxFull

# What the end of a process tree without a grace may take: see processes.lease.
_KILL: Final = 8.0

Output: TypeAlias = trio.abc.ReceiveChannel[messages.FromAgent]


# The actors that outlive the session, and those that are parts of it.
BridgeActors: TypeAlias = tuple[messages.OuterActors, messages.SessionActors]


async def bridge(
    inbox: Inbox[messages.BridgeMessage],
    wire: Wire,
    output: Output,
    actors: BridgeActors,
    opening: SessionOpening,
) -> None:
    """Ready when the agent's session is open; ends, as a crash, when the agent does."""
    async with trio.open_nursery() as nursery:
        connection = _Connection(wire, actors, opening, inbox.address, nursery)
        nursery.start_soon(connection.hear, output)
        await connection.open()
        inbox.ready()
        await connection.announce()
        try:
            async for message in inbox:
                await connection.obey(message, inbox)
        finally:
            with inbox.grace():
                connection.say_goodbye()


class _Connection:
    """The state of one connection."""

    def __init__(
        self,
        wire: Wire,
        actors: BridgeActors,
        opening: SessionOpening,
        address: Address[messages.BridgeMessage],
        nursery: trio.Nursery,
    ) -> None:
        self._wire, self._opening = wire, opening
        self._outer, self._session = actors
        self._address, self._nursery = address, nursery
        self._turns = RunningTurns(self._outer.turn_queue, address)
        self._opened: facts.Opened | None = None
        self._is_open = trio.Event()
        self._calls = PendingCalls()
        self._decoder = OutputDecoder(wire)
        self._tariff = Tariff(opening.prices)
        self._unasked = UnaskedTools(opening.rules)

    async def open(self) -> None:
        """Wait until the agent says that its session is open."""
        await self._command(self._opening.command)
        with trio.move_on_after(self._opening.patience):
            await self._is_open.wait()
            return
        late = f"the agent did not answer its start within {self._opening.patience:g} s"
        raise errors.AgentNotReady(late, "Raise timeouts.start if it is only slow.")

    async def announce(self) -> None:
        """Tell the other actors that the agent takes prompts."""
        opened = self._opened
        assert opened is not None
        continuity = continuity_of(opened, self._opening.agent.plan)
        await self._tell_events(self._opening.news(continuity, opened))
        up = messages.SessionUp(opened.capabilities, self._session.process)
        await self._outer.tracker.tell(up)
        ready = self._opening.ready(opened, continuity, self._address, self._session.process)
        await self._outer.turn_queue.tell(ready)

    async def hear(self, output: Output) -> None:
        """Read what the agent writes, to its end."""
        async with output:
            async for item in output:
                if isinstance(item, bytes):
                    if self._turns.raw is not None:
                        self._turns.raw.add(item)
                    await self._decoder.decode(item, self._take)
                    item = b""  # noqa: PLW2901 - up to 64 KiB, while the agent says nothing
                else:
                    await self._decoder.end(self._take)
                    await self._on_agent_exit(item)
        await self._on_agent_exit(messages.StreamEnded(None))

    async def obey(
        self, message: messages.BridgeMessage, inbox: Inbox[messages.BridgeMessage]
    ) -> None:
        """Carry out one command."""
        match message:
            case messages.RunTurn(turn_id, text, attachments, wants_raw):
                raw = RawEvents(self._opening.redactor) if wants_raw else None
                self._turns.begin(turn_id, inbox.defer(message), raw)
                self._unasked.begin_turn()
                await self._outer.tracker.tell(messages.PromptSent(turn_id))
                await self._command(commands.Prompt(turn_id, text, attachments))
            case messages.SteerTurn(turn_id, text):
                await self._command(commands.Steer(turn_id, text))
            case messages.CancelTurn(turn_id, outcome, reason):
                await self._cancel(turn_id, turn_outcome.EndRequest(outcome, reason))
            case messages.Decided(answer):
                self._unasked.answered(answer)
                await self._command(answer)
            case messages.FileServed(request_id=key, text=text, error=error):
                await self._command(commands.AnswerFile(request_id=key, text=text, error=error))
            case messages.CallAgent(action, arguments):
                number = self._calls.add(inbox.defer(message))
                await self._command(commands.Call(number, action, arguments))

    def say_goodbye(self) -> None:
        """Send the protocol's goodbye, if it has one."""
        if self._decoder.is_free:
            self._wire.command(commands.Close())
            self._flush()

    async def _command(self, command: commands.Command) -> None:
        await self._decoder.until_free()
        await self._take(self._wire.command(command))

    async def _cancel(self, turn_id: int, request: turn_outcome.EndRequest) -> None:
        turn = self._turns.requested(turn_id, request)
        if turn is not None:
            self._nursery.start_soon(self._end_after_grace, turn, request)
            await self._command(commands.Cancel(turn_id))

    async def _end_after_grace(
        self, turn: AskedTurn | UnaskedTurn, request: turn_outcome.EndRequest
    ) -> None:
        await trio.sleep(self._opening.interrupt_grace)
        if self._turns.is_running(turn):
            ending = turn_outcome.ending_unheard(request)
            if isinstance(turn, AskedTurn):
                turn.end(ending)
            else:
                await self._turns.end_unasked(ending)
            late = f"the agent did not end its turn within {self._opening.interrupt_grace:g} s"
            await end_session(self._outer, errors.AgentDeaf(late))

    async def _take(self, found: Sequence[facts.Fact]) -> None:
        self._flush()
        events: list[AvatarEvent] = []
        for told in found:
            if type(told) is TextEvent:
                events.append(told)
                continue
            fact = without_secrets(told, self._opening.redactor)
            if isinstance(fact, AvatarEvent):
                events.append(self._tariff.applied(fact))
                if type(fact) is ToolEvent and (unasked := self._unasked.look(fact)):
                    events.append(unasked.event)
                    if unasked.ends_turn:
                        await self._tell_events(events)
                        await self._cut_off(unasked.reason)
            else:
                await self._tell_events(events)
                events = []
                await self._fact(self._tariff.applied(fact))
        await self._tell_events(events)
        await self._turns.tell_usage()

    async def _tell_events(self, events: list[AvatarEvent]) -> None:
        if not events:
            return
        await self._outer.tracker.tell(messages.Publish(self._turns.turn_id, events))
        for event in events:
            if type(event) is CostEvent:
                await self._turns.used(event.usage)

    async def _fact(self, fact: facts.Fact) -> None:
        match fact:
            case facts.TurnOver():
                await self._turns.over(fact)
            case facts.UnaskedTurnBegun(cause):
                self._unasked.begin_turn()
                await self._turns.begin_unasked(cause)
            case facts.PermissionAsked() | facts.UserAsked():
                await self._ask(fact)
            case facts.RequestWithdrawn(request_id):
                withdrawn = messages.QuestionWithdrawn(_public_id(self._opening, request_id))
                await self._outer.gatekeeper.tell(withdrawn)
            case facts.FileWanted():
                await self._serve(fact)
            case facts.Answered():
                self._calls.settle(fact)
            case facts.SessionRenamed(session_id):
                self._turns.session_is(session_id)
                await self._outer.turn_queue.tell(messages.SessionIs(session_id))
            case facts.Opened(capabilities=said):
                capabilities = self._opening.completed(said)
                opened = replace(fact, capabilities=capabilities)
                if why := why_not_resumed(opened, self._opening.agent.plan):
                    await self._cannot_resume(why)
                self._opened = opened
                self._unasked = UnaskedTools(
                    self._opening.rules,
                    capabilities.permissions,
                    asks_after_start=fact.asks_after_start,
                )
                self._is_open.set()
            case facts.OpenFailed():
                await self._refuse(fact)
            case facts.Broken(message):
                await end_session(self._outer, errors.WireBroken(message))
            case _:
                raise AssertionError(fact)

    async def _ask(self, asked: facts.PermissionAsked | facts.UserAsked) -> None:
        await self._tell_events(self._unasked.asked(asked))
        request_id = _public_id(self._opening, asked.request_id)
        question = messages.Question(request_id, self._turns.turn_id, asked, self._address)
        self._turns.has_asked()
        await self._outer.gatekeeper.tell(question)

    async def _serve(self, wanted: facts.FileWanted) -> None:
        refusal = self._unasked.refusal_of(wanted)
        if not refusal:
            await self._session.file_server.tell(messages.ServeFile(wanted, self._address))
            return
        refused = DiagnosticEvent(message=refusal, level=Level.ERROR, source="permissions")
        await self._tell_events([refused])
        await self._command(commands.AnswerFile(request_id=wanted.request_id, error=refusal))

    async def _refuse(self, failed: facts.OpenFailed) -> NoReturn:
        if failed.failure is facts.OpenFailure.NO_SUCH_SESSION:
            await self._cannot_resume(failed.message)
        await refuse_start(self._outer, refusal_of(failed))

    async def _cannot_resume(self, why: str) -> NoReturn:
        await self._outer.turn_queue.tell(ResumeImpossible(why))
        raise errors.ResumeRefused(why)

    async def _on_agent_exit(self, ended: messages.StreamEnded) -> None:
        error = await death_of(ended, self._session.stderr)
        if self._opened is None:
            if isinstance(error, errors.AvatarStartError):
                await refuse_start(self._outer, error)
            raise errors.AgentNotReady(f"the agent ended before it was ready: {error}")
        self._turns.end_asked(turn_outcome.ending_by_death(str(error), self._turns.request))
        await end_session(self._outer, error)

    async def _cut_off(self, why: str) -> NoReturn:
        """Kill first: the forbidden tool is running already."""
        ending = turn_outcome.ending_by_breach(why)
        try:
            with suppress(AskFailed):
                await self._session.process.ask(messages.KillAgent(), timeout=_KILL)
        finally:
            self._turns.end_asked(ending)
            await self._turns.end_unasked(ending)
        await end_session(self._outer, errors.ToolUnasked(why))

    def _flush(self) -> None:
        data = self._wire.data_to_send()
        if data:
            try:
                self._session.writer.tell_nowait(messages.Write(data))
            except MailboxFull as error:
                raise errors.WireBroken("the agent does not read its stdin") from error


def _public_id(opening: SessionOpening, request_id: str) -> str:
    # Every life of the agent counts from one; with the life's name it is unique in the avatar.
    return f"{opening.agent.life}-{request_id}"
