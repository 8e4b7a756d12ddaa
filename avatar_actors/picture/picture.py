"""The reducer: an avatar's events in, and out what a screen shows, by the tables of `rules`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec import Struct

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    AvatarEvent,
    BridgeState,
    ContinuityEvent,
    DiagnosticEvent,
    EngineState,
    ErrorEvent,
    Level,
    Outcome,
    PermissionEvent,
    QuestionEvent,
    StateEvent,
    TextEvent,
    ThinkingEvent,
    ThinkingPhase,
    ToolEvent,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.cli.terminal import formatting
from avatar_actors.cli.terminal.text import labelled, last_lines, one_line, terminal_safe
from avatar_actors.picture import rules
from avatar_actors.picture.rules import Age, Fact, Mood
from avatar_actors.picture.view_state import ViewState
from avatar_actors.picture.work import Job, Work

T = TypeVar("T")

# The end of the thoughts that is kept for a screen.
_THOUGHT: Final = 4000


class Toast(Struct, frozen=True):
    """Something to tell beside the conversation; `about` is the job that it is about, if any."""

    level: Level
    words: str
    about: str = ""


class Headline(Struct, frozen=True):
    """The most important thing now, and since when; empty words: there is nothing to tell."""

    words: str = ""
    since: float = 0.0


class AvatarPicture:
    """An avatar as a screen shows it. Times are of the clock that the screen uses."""

    def __init__(self) -> None:
        self.state = ViewState(bridge=BridgeState.DISCONNECTED)
        self.work = Work()
        self.tools: dict[str, ToolEvent] = {}
        """The last event of each tool call, with its input and result."""
        self.prompt = ""
        """The first line of what the present turn, or the last one, was asked."""
        self.thought = ""
        self.thought_tokens = 0
        self.outcome: Outcome | None = None
        self._phase = ThinkingPhase.GENERAL
        self._has_heard = False
        self._is_collapsed = False

    # Events.

    def see(self, event: AvatarEvent, now: float) -> list[Toast]:
        """Fold one event in; what is to be told beside the conversation."""
        toasts = _toasts(event)
        match event:
            case TurnStartedEvent(prompt=prompt):
                self._begin_turn(one_line(prompt.strip().partition("\n")[0], 200))
            case TextEvent():
                self._has_heard = True
            case ThinkingEvent():
                self._think(event)
            case ToolEvent():
                self._has_heard = True
                self.tools[event.tool_id] = event
                self.work.tool(event, now)
            case ActivityEvent():
                toasts += self._activity(event, now)
            case TurnEndedEvent(outcome=outcome):
                self.outcome = outcome
            case StateEvent(new_state=BridgeState.READY):
                self.state.has_given_up = False
            case _:
                pass
        self.state.fold(event, now)
        return toasts

    def _begin_turn(self, prompt: str) -> None:
        self.prompt = prompt
        self.work.take()
        kept = self.work.jobs
        self.tools = {key: tool for key, tool in self.tools.items() if key in kept}
        self.thought, self.thought_tokens = "", 0
        self.outcome, self._has_heard = None, False

    def _think(self, event: ThinkingEvent) -> None:
        self._has_heard = True
        self._phase = event.phase
        if event.is_start and self.thought and not self.thought.endswith("\n"):
            self.thought += "\n"
        if not event.synthetic:
            self.thought = (self.thought + terminal_safe(event.thought))[-_THOUGHT:]
        self.thought_tokens += event.token_count

    def _activity(self, event: ActivityEvent, now: float) -> list[Toast]:
        before = self.work.jobs.get(event.activity_id)
        self.work.activity(event, now)
        job = self.work.jobs.get(event.activity_id)
        if job is None or not job.is_over or before is None or before.is_over:
            return []
        return [_ended(job)] if job.kind in rules.BACKGROUND else []

    # What a screen shows.

    def facts(self) -> frozenset[Fact]:
        """All that holds now."""
        return frozenset((*self._state_facts(), *self._turn_facts()))

    def _state_facts(self) -> Iterable[Fact]:
        state = self.state
        if state.has_given_up:
            yield Fact.GAVE_UP
        if state.asks:
            yield Fact.ASKS
        is_new = state.bridge is BridgeState.DISCONNECTED and state.engine is EngineState.IDLE
        if state.bridge is BridgeState.WARMING_UP or (is_new and self.is_busy):
            yield Fact.STARTING
        if state.engine in rules.ENGINE:
            yield rules.ENGINE[state.engine]
        if state.stall is not None and state.stall.verdict in rules.STALLS:
            yield rules.STALLS[state.stall.verdict]
        if running := len(self.running()):
            yield Fact.RUNS_ONE if running == 1 else Fact.RUNS_MANY

    def _turn_facts(self) -> Iterable[Fact]:
        state = self.state
        if not self.is_busy:
            if self.outcome in rules.OUTCOMES:
                yield rules.OUTCOMES[self.outcome]
            return
        if self._has_heard and state.engine is EngineState.IDLE:
            return  # its last event is on the way
        yield Fact.BUSY
        if not self._has_heard:
            yield Fact.SILENT
        elif state.engine is EngineState.THINKING and state.thought_since is not None:
            yield Fact.THINKS
            if self._phase in rules.PHASES:
                yield rules.PHASES[self._phase]
            if state.subject:
                yield Fact.HAS_SUBJECT

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self.state.turn_since is not None

    def mood(self) -> Mood:
        """The first that fits."""
        return _first(rules.MOODS, self.facts()) or Mood.IDLE

    @property
    def needs_you(self) -> bool:
        """Whether a person has to do something before this avatar gets on."""
        return self.mood() in rules.NEEDS_YOU

    def headline(self, now: float) -> Headline:
        """The first that fits, in words."""
        template = _first(rules.HEADLINES, self.facts())
        if template is None:
            return Headline()
        state, running = self.state, self.running()
        asked = next(iter(state.asks.values()), None)
        words = template.format(
            silent=formatting.elapsed(now - state.stall_since),
            running=len(running),
            tool=running[0].label if running else "",
            ask=_asked(asked.event) if asked else "",
            subject=state.subject,
        )
        since = running[0].since if len(running) == 1 else state.turn_since
        return Headline(words, now if since is None else since)

    def running(self) -> list[Job]:
        """The jobs that run now, those that only hold others left out."""
        jobs = self.work.jobs.values()
        parents = {job.parent_id for job in jobs if job.status is ActivityStatus.RUNNING}
        return [
            job
            for job in jobs
            if job.status is ActivityStatus.RUNNING and job.job_id not in parents
        ]

    def counts(self) -> dict[str, int]:
        """How many jobs there are of each kind that is counted; some are there even at 0."""
        found = Counter(rules.COUNTS[job.status] for job in self.work.jobs.values())
        return dict.fromkeys(rules.ALWAYS_COUNTED, 0) | found

    def is_collapsed(self) -> bool:
        """Whether so much runs that the tree is one line per agent; it stays so for a while."""
        running = sum(not job.is_over for job in self.work.jobs.values())
        if running > rules.COLLAPSE_ABOVE:
            self._is_collapsed = True
        elif running < rules.EXPAND_BELOW:
            self._is_collapsed = False
        return self._is_collapsed

    def age(self, job: Job, now: float) -> Age:
        """How long a running job has been silent."""
        if job.status is not ActivityStatus.RUNNING:
            return Age.FRESH
        return next(age for least, age in rules.AGES if now - job.heard >= least or not least)


def _first(table: Iterable[tuple[Fact, T]], facts: frozenset[Fact]) -> T | None:
    return next((value for fact, value in table if fact in facts), None)


def _asked(event: PermissionEvent | QuestionEvent) -> str:
    if isinstance(event, PermissionEvent):
        return labelled(one_line(event.tool_name), one_line(event.title))
    return one_line(event.questions[0].text if event.questions else event.message, 200)


def _toasts(event: AvatarEvent) -> list[Toast]:
    match event:
        case DiagnosticEvent(level=level, message=message, source=source):
            words = f"{one_line(source)}: {one_line(message)}" if source else one_line(message)
            return [Toast(level, words)] if level in rules.DIAGNOSTIC_TOASTS else []
        case ErrorEvent(error=error):
            return [Toast(Level.ERROR, one_line(error))]
        case ContinuityEvent(continuity=continuity, why=why):
            weight = rules.CONTINUITY_TOASTS.get(continuity)
            words = f"the conversation is {continuity.value}"
            told = f"{words}: {one_line(why)}" if why else words
            return [Toast(weight, told)] if weight else []
        case TurnEndedEvent(outcome=Outcome.OVER_BUDGET, reason=reason):
            return [Toast(Level.WARNING, f"over budget: {one_line(reason)}")]
        case _:
            return []


def _ended(job: Job) -> Toast:
    is_well = job.status is ActivityStatus.COMPLETED
    word = "completed" if is_well else rules.COUNTS[job.status]
    took = f" ({formatting.seconds(job.took)})" if job.took is not None else ""
    said = "".join(f": {line}" for line in last_lines(job.output, 1))
    level = Level.INFO if is_well else Level.WARNING
    return Toast(level, f"{job.label} {word}{took}{said}", job.job_id)
