"""The system prompt, by whichever of the agents' own ways it came."""

from __future__ import annotations

import os
from pathlib import Path

from avatar_actors.programs.embedded.json_lines import (
    Record,
    decode,
    is_record,
    record_in,
    records_in,
    text_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.fake_agents.flags import Flags


def system_prompt(flags: Flags, params: Record) -> str:
    """All the instructions given by flags, environment and the parameters of the session."""
    given = [
        flags.value("--system-prompt"),
        _file(flags.value("--system-prompt-file")),
        flags.value("--append-system-prompt"),
        _file(flags.value("--append-system-prompt-file")),
        _file(os.environ.get("GEMINI_SYSTEM_MD", "")),
        _codex_instructions(flags),
        _of_session(params),
    ]
    return "\n".join(text for text in given if text)


def _file(path: str) -> str:
    try:
        return Path(path).read_text() if path else ""
    except OSError:
        return ""


def _codex_instructions(flags: Flags) -> str:
    """`-c developer_instructions="..."`, or the same key in CODEX_CONFIG."""
    for setting in flags.values("--config"):
        key, _, value = setting.partition("=")
        if key == "developer_instructions":
            return value.strip('"')
    return text_in(_record(os.environ.get("CODEX_CONFIG", "")), "developer_instructions")


def _of_session(params: Record) -> str:
    """`systemPrompt` as codex-acp 2.6.0 takes it, or `_meta.systemPrompt` as Claude's adapter."""
    content = records_in(record_in(params, "systemPrompt"), "content")
    meta = record_in(params, "_meta")
    appended = text_in(record_in(meta, "systemPrompt"), "append")
    return (
        "".join(text_in(block, "text") for block in content)
        or appended
        or text_in(meta, "systemPrompt")
    )


def _record(text: str) -> Record:
    try:
        value = decode(text.encode())
    except ValueError:
        return {}
    return value if is_record(value) else {}
