"""Plays recordings of the real Claude Code 2.1.325 through the wire, with the host as commands."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from avatar_actors.model.values import Permit
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import (
    AnswerPermission,
    Call,
    Cancel,
    Command,
    Open,
    Prompt,
    Steer,
)
from avatar_actors.wire.facts import Fact, TurnOver

RECORDINGS = Path(__file__).parents[2] / "recordings" / "claude-2.1.325"
Record = dict[str, Any]


@cache
def recording(name: str) -> tuple[Record, ...]:
    """The lines `{"t", "dir", "msg"}` of a recording."""
    text = (RECORDINGS / f"{name}.jsonl").read_text("utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def initialized() -> Record:
    """What the real CLI answers to the handshake."""
    answers = (line["msg"] for line in recording("s03_init_control") if line["dir"] == "out")
    response: Record = next(answers)["response"]["response"]
    return response


def success(request_id: str, response: Record | None = None) -> bytes:
    answer = {"subtype": "success", "request_id": request_id, "response": response or {}}
    return line_of({"type": "control_response", "response": answer})


def line_of(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def opened(resume: str = "") -> ClaudeWire:
    """A wire that is ready for prompts."""
    wire = ClaudeWire(seed="test")
    wire.command(Open(cwd="/sandbox", resume=resume))
    wire.data_to_send()
    wire.receive(success("avatar-1", initialized()))
    return wire


def said(wire: ClaudeWire) -> list[Record]:
    """What the wire wants to send now."""
    return [json.loads(line) for line in wire.data_to_send().splitlines()]


class Replay:
    """The facts of a whole recording, and both versions of the host's lines."""

    def __init__(self, name: str) -> None:
        self.facts: list[Fact] = []
        self.sent: list[Record] = []
        self.recorded: list[Record] = []
        self._wire = opened()
        self._turns = 0
        self._is_in_turn = False
        self._names: dict[str, str] = {}
        self._reactions: list[Record] = []
        for line in recording(name):
            if line["dir"] == "out":
                self._agent(line["msg"])
            elif line["dir"] == "in" and _is_message(line["msg"]):
                self._host(line["msg"])

    def _agent(self, message: Record) -> None:
        data = line_of(message)
        for old, new in self._names.items():
            data = data.replace(old.encode(), new.encode())
        self._take(self._wire.receive(data))
        self._reactions += said(self._wire)

    def _host(self, message: Record) -> None:
        if message["type"] == "control_request":
            for line in self._reactions:
                if line.get("request") == _renamed(message["request"], self._names):
                    # The wire has already said this by itself.
                    self._names[message["request_id"]] = line["request_id"]
                    self._reactions.remove(line)
                    return
        facts = self._wire.command(self._command(message))
        new = said(self._wire)
        if not new:
            # A late answer to a withdrawn request: the wire does not send it.
            self._take(facts)
            return
        self.sent.append(new[0])
        self.recorded.append(message)
        for key in ("uuid", "request_id"):
            if key in message:
                self._names[message[key]] = new[0][key]
        self._take(facts)

    def _take(self, facts: list[Fact]) -> None:
        self.facts += facts
        if any(isinstance(fact, TurnOver) for fact in facts):
            self._is_in_turn = False

    def _command(self, message: Record) -> Command:
        if message["type"] == "user":
            return self._prompt(message["message"]["content"])
        if message["type"] == "control_response":
            return _answer(message["response"])
        request = dict(message["request"])
        subtype = request.pop("subtype")
        if subtype == "interrupt" and self._is_in_turn:
            return Cancel(self._turns)
        return Call(len(self.sent), f"raw:{subtype}", request)

    def _prompt(self, text: str) -> Command:
        if self._is_in_turn:
            return Steer(self._turns, text)
        self._turns += 1
        self._is_in_turn = True
        return Prompt(self._turns, text)


def _renamed(request: Record, names: dict[str, str]) -> Record:
    return {key: names.get(str(value), value) for key, value in request.items()}


def _is_message(line: Any) -> bool:
    return isinstance(line, dict)


def _answer(response: Record) -> AnswerPermission:
    body = response.get("response", {})
    permit = Permit.ALLOW_ONCE if body.get("behavior") == "allow" else Permit.REJECT_ONCE
    return AnswerPermission(
        request_id=response["request_id"],
        permit=permit,
        message=body.get("message", ""),
        updated_input=body.get("updatedInput"),
    )


def plain(fact: Fact) -> Record:
    """The fact's fields that say something."""
    fields = msgspec.to_builtins(fact)
    return {name: value for name, value in fields.items() if value not in ("", 0, None, {}, [])}
