"""The conversation as a file: Markdown for people, JSON for programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import msgspec

from avatar_actors import Outcome
from avatar_actors.cli.repl.session_log import Exchange, SessionLog


class Existing(Enum):
    """What becomes of a file that is there already."""

    KEEP = "keep"
    REPLACE = "replace"


def export_to(path: Path, minutes: SessionLog, agent: str, existing: Existing) -> None:
    """Write it for this user alone; FileExistsError if a file is there and to be kept."""
    text = as_json(minutes, agent) if path.suffix == ".json" else as_markdown(minutes, agent)
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


def as_json(minutes: SessionLog, agent: str) -> str:
    """All that is known of each turn."""
    whole = {"provider": agent, "session_id": minutes.session_id, "turns": minutes.exchanges}
    return msgspec.json.format(msgspec.json.encode(whole)).decode() + "\n"


def as_markdown(minutes: SessionLog, agent: str) -> str:
    """Prompts as quotations, answers as they are."""
    return "\n\n".join([f"# A conversation with {agent}", *_parts(minutes, agent)]) + "\n"


def _parts(minutes: SessionLog, agent: str) -> Iterator[str]:
    for exchange in minutes.exchanges:
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
