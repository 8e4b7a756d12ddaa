"""Recordings of the real Gemini CLI 0.61.0 in headless mode, as the shim passes them on."""

import json
from pathlib import Path
from typing import Any

from avatar_actors.wire.commands import Open, Prompt
from avatar_actors.wire.gemini.wire import GeminiHeadlessWire

RECORDINGS = Path(__file__).parents[2] / "recordings" / "gemini-headless-0.61.0"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))


def line_of(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"{name}.jsonl").read_bytes()


def ended(turn: int = 1, returncode: int | None = 0, **more: Any) -> bytes:
    return line_of({"type": "avatar_exit", "turn": turn, "returncode": returncode, **more})


def hello(**more: Any) -> bytes:
    return line_of({"type": "avatar_hello", "session_id": "s-0", **more})


def opened(resume: str = "") -> GeminiHeadlessWire:
    wire = GeminiHeadlessWire()
    wire.command(Open(cwd="/sandbox", resume=resume))
    wire.receive(hello())
    return wire


def prompt(wire: GeminiHeadlessWire, turn_id: int = 1, text: str = "go") -> dict[str, Any]:
    assert wire.command(Prompt(turn_id, text)) == []
    order: dict[str, Any] = json.loads(wire.data_to_send())
    return order


def in_turn() -> GeminiHeadlessWire:
    wire = opened()
    prompt(wire)
    return wire
