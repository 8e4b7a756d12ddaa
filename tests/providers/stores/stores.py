"""Stores as the real agents leave them, in miniature: a session each, in its own lines."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from avatar_actors.providers.stores.claude import claude_store
from avatar_actors.providers.stores.codex import codex_store
from avatar_actors.providers.stores.embedded import embedded_store
from avatar_actors.providers.stores.gemini import gemini_store
from avatar_actors.providers.stores.store import SessionListing, SessionSearch, Store

BEGAN = "2026-11-16T10:51:04.583Z"
ANSWER = [{"type": "text", "text": "an answer"}]
Line = dict[str, Any]


class Kind(Struct, frozen=True):
    """A store: its reader, the file of a session below HOME, and the lines of a session."""

    name: str
    store: Store
    path: Callable[[Path, str], str]
    lines: Callable[[Path, str, str], list[Line]]

    def keep(self, home: Path, cwd: Path, session_id: str, prompt: str, age: float = 0) -> Path:
        """A session of this directory, last used so many seconds ago."""
        data = "".join(f"{json.dumps(line)}\n" for line in self.lines(cwd, session_id, prompt))
        return self.put(home, cwd, session_id, data.encode(), age)

    def put(self, home: Path, cwd: Path, session_id: str, data: bytes, age: float = 0) -> Path:
        """Any bytes in the place of a session."""
        path = home / self.path(cwd, session_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if self.name == "gemini":
            (path.parents[1] / ".project_root").write_text(str(cwd))
        now = 1_800_000_000 - age
        os.utime(path, (now, now))
        return path

    def read(self, home: Path, cwd: Path | None, limit: int = 100) -> SessionListing:
        return self.store(SessionSearch(env={"HOME": str(home)}, working_dir=cwd, limit=limit))


def claude_path(cwd: Path, session_id: str) -> str:
    key = "".join(each if each.isalnum() and each.isascii() else "-" for each in str(cwd))
    if len(key) > 200:
        key = f"{key[:200]}-1abcde"
    return f".claude/projects/{key}/{session_id}.jsonl"


def claude_lines(cwd: Path, session_id: str, prompt: str) -> list[Line]:
    about: Line = {"cwd": str(cwd), "sessionId": session_id, "version": "2.1.325"}
    said: Line = {"type": "user", "isSidechain": False, "timestamp": BEGAN, **about}
    meta = {"role": "user", "content": "<local-command-caveat>Caveat: …"}
    return [
        {"type": "queue-operation", "operation": "dequeue", "timestamp": BEGAN},
        {**said, "message": meta, "isMeta": True},
        {**said, "message": {"role": "user", "content": [{"type": "text", "text": prompt}]}},
        {"type": "assistant", "message": {"role": "assistant", "content": ANSWER}, **about},
        {"type": "last-prompt", "lastPrompt": "what came last", "sessionId": session_id},
    ]


def gemini_path(cwd: Path, session_id: str) -> str:
    project = hashlib.sha256(str(cwd).encode()).hexdigest()[:12]
    return f".gemini/tmp/{project}/chats/session-2026-11-16T10-51-{session_id}.jsonl"


def gemini_lines(_: Path, session_id: str, prompt: str) -> list[Line]:
    context = {"type": "user", "content": [{"text": "<session_context>\nThis is the Gemini CLI."}]}
    return [
        {"sessionId": session_id, "startTime": BEGAN, "kind": "main"},
        {"$set": {"messages": [context]}},
        {"id": "1", "type": "user", "content": [{"text": prompt}]},
        {"$set": {"lastUpdated": BEGAN}},
        {"id": "2", "type": "gemini", "content": "an answer"},
    ]


def codex_path(_: Path, session_id: str) -> str:
    return f".codex/sessions/2026/11/16/rollout-2026-11-16T10-51-07-{session_id}.jsonl"


def codex_lines(cwd: Path, session_id: str, prompt: str) -> list[Line]:
    context = [{"type": "input_text", "text": "<environment_context>"}]
    user: Line = {"type": "message", "role": "user"}
    about: Line = {"id": session_id, "timestamp": BEGAN, "cwd": str(cwd), "source": "vscode"}
    item = {"type": "UserMessage", "content": [{"type": "text", "text": prompt}]}
    return [
        {"timestamp": BEGAN, "type": "session_meta", "payload": about},
        {"type": "response_item", "payload": {**user, "content": context}},
        {"type": "response_item", "payload": {"type": "additional_tools", "tools": "x" * 90_000}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": item}},
        {"type": "response_item", "payload": {"role": "assistant", "content": ANSWER}},
    ]


def codex_old_lines(cwd: Path, session_id: str, prompt: str) -> list[Line]:
    *rest, _, answer = codex_lines(cwd, session_id, prompt)
    said = {"type": "event_msg", "payload": {"type": "user_message", "message": prompt}}
    return [*rest, said, answer]


def embedded_path(_: Path, session_id: str) -> str:
    return f".local/state/avatar-actors/embedded/{session_id}.jsonl"


def embedded_lines(cwd: Path, _: str, prompt: str) -> list[Line]:
    return [
        {"role": "session", "cwd": str(cwd), "created": 1794826264.583},
        {"role": "user", "text": prompt},
        {"role": "assistant", "text": "an answer"},
    ]


KINDS = (
    Kind("claude", claude_store, claude_path, claude_lines),
    Kind("gemini", gemini_store, gemini_path, gemini_lines),
    Kind("codex", codex_store, codex_path, codex_lines),
    Kind("codex-0.137", codex_store, codex_path, codex_old_lines),
    Kind("embedded", embedded_store, embedded_path, embedded_lines),
)
CLAUDE, GEMINI, CODEX, _, EMBEDDED = KINDS
