"""Records what was said and done in this REPL, for /tools, /model, /mode, and /export to a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import msgspec
from msgspec import Struct

from avatar_actors import (
    AvatarEvent,
    Choice,
    ContinuityEvent,
    Outcome,
    SessionInfoEvent,
    ToolCall,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
    Usage,
)
from avatar_actors.cli.terminal.text import labelled


class ToolRecord(Struct, frozen=True, kw_only=True):
    """A tool call of the last turn; `ended` is 0.0 while it runs."""

    tool_id: str
    name: str
    title: str
    status: ToolStatus
    began: float
    ended: float = 0.0

    @property
    def label(self) -> str:
        """The tool, and what it works on."""
        return labelled(self.name, self.title)


class Exchange(Struct, frozen=True, kw_only=True):
    """A prompt and everything that came of it."""

    prompt: str
    answer: str
    outcome: Outcome
    reason: str
    asked_at: float
    duration: float
    session_id: str
    model: str
    usage: Usage
    tools: tuple[ToolCall, ...]


class SessionLog:
    """Keeps every exchange, and the tools of the last turn."""

    def __init__(self, model: str = "", mode: str = "") -> None:
        self.exchanges: list[Exchange] = []
        self.tools: dict[str, ToolRecord] = {}
        self.model, self.mode, self.session_id = model, mode, ""
        self.commands: tuple[Choice, ...] = ()
        self._started = TurnStartedEvent()

    def tell(self, event: AvatarEvent) -> None:
        """Record an event."""
        match event:
            case TurnStartedEvent() if not event.unasked:
                self._started = event
                self.tools.clear()
            case ToolEvent():
                self._use(event)
            case TurnEndedEvent():
                self._end(event)
            case SessionInfoEvent():
                self._learn(event)
            case ContinuityEvent():
                self.session_id = event.session_id
            case _:
                pass

    def _use(self, event: ToolEvent) -> None:
        known = self.tools.get(event.tool_id)
        self.tools[event.tool_id] = ToolRecord(
            tool_id=event.tool_id,
            name=event.tool_name or (known.name if known else ""),
            title=event.title or (known.title if known else "") or _subject(event),
            status=event.status,
            began=known.began if known else event.timestamp,
            ended=event.timestamp if event.status.is_over else 0.0,
        )

    def _end(self, event: TurnEndedEvent) -> None:
        # A prompt whose turn never started has no start event.
        is_ours = self._started.turn_id == event.turn_id
        self.session_id = event.session_id or self.session_id
        self.exchanges.append(
            Exchange(
                prompt=self._started.prompt if is_ours else "",
                answer=event.text,
                outcome=event.outcome,
                reason=event.reason,
                asked_at=self._started.timestamp if is_ours else event.timestamp,
                duration=event.duration,
                session_id=event.session_id,
                model=self.model,
                usage=event.usage,
                tools=event.tool_calls,
            )
        )

    def _learn(self, event: SessionInfoEvent) -> None:
        self.model = event.model or self.model
        self.mode = event.mode or self.mode
        if event.commands is not None:
            self.commands = event.commands


def _subject(event: ToolEvent) -> str:
    """What a tool without a title works on: its first text parameter."""
    return next((value for value in event.parameters.values() if isinstance(value, str)), "")


class Existing(Enum):
    """What happens to a file that already exists."""

    KEEP = "keep"
    REPLACE = "replace"


def export_to(path: Path, log: SessionLog, agent: str, existing: Existing) -> None:
    """Write it, readable by this user alone; FileExistsError if a file is to be kept."""
    text = as_json(log, agent) if path.suffix == ".json" else as_markdown(log, agent)
    if existing is Existing.KEEP:
        _write(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), text)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        _write(handle, text)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink()
        raise


def _write(handle: int, text: str) -> None:
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def as_json(log: SessionLog, agent: str) -> str:
    """Everything known of each turn."""
    whole = {"provider": agent, "session_id": log.session_id, "turns": log.exchanges}
    return msgspec.json.format(msgspec.json.encode(whole)).decode() + "\n"


def as_markdown(log: SessionLog, agent: str) -> str:
    """Prompts as quotations, answers as they are."""
    return "\n\n".join([f"# A conversation with {agent}", *_parts(log, agent)]) + "\n"


def _parts(log: SessionLog, agent: str) -> Iterator[str]:
    for exchange in log.exchanges:
        moment = datetime.fromtimestamp(exchange.asked_at, UTC).astimezone()
        yield f"## You, {moment:%Y-%m-%d %H:%M}"
        yield "\n".join(f"> {line}".rstrip() for line in exchange.prompt.splitlines())
        yield f"## {agent}" + (f", {exchange.model}" if exchange.model else "")
        yield from filter(None, (_tools(exchange), exchange.answer.strip(), _ending(exchange)))


def _tools(exchange: Exchange) -> str:
    return "\n".join(f"- `{tool.tool_name}`: {tool.status.value}" for tool in exchange.tools)


def _ending(exchange: Exchange) -> str:
    if exchange.outcome is Outcome.COMPLETED:
        return ""
    reason = f": {exchange.reason}" if exchange.reason else ""
    return f"*{exchange.outcome.value.replace('_', ' ')}{reason}*"
