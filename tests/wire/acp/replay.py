"""Plays recordings of real ACP agents through the wire: the host's side as commands."""

import json
from collections import deque
from pathlib import Path
from typing import Any

from avatar_actors.model.values import Permit
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import (
    AnswerFile,
    AnswerPermission,
    Call,
    Cancel,
    Command,
    Open,
    Prompt,
)
from avatar_actors.wire.facts import Fact, FileWanted, PermissionAsked

RECORDINGS = Path(__file__).parents[2] / "recordings"
MAX_LINE = 1 << 20
SESSION = "s-1"
Record = dict[str, Any]


def recording(agent: str, name: str) -> list[Record]:
    """The lines `{"t", "dir", "msg"}` of a recording; what is not a message is left out."""
    text = (RECORDINGS / agent / f"{name}.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if isinstance(line["msg"], dict)]


def line_of(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def sent(wire: AcpWire) -> list[Record]:
    """What the wire wants to send now."""
    return [json.loads(line) for line in wire.data_to_send().splitlines()]


def reply(rpc_id: object, result: object) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": rpc_id, "result": result})


def refusal(rpc_id: object, code: int, message: str) -> bytes:
    error = {"code": code, "message": message}
    return line_of({"jsonrpc": "2.0", "id": rpc_id, "error": error})


def request(rpc_id: object, method: str, params: object) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params})


def update(kind: str, /, **fields: object) -> bytes:
    return update_of(SESSION, kind, **fields)


def update_of(session_id: str, kind: str, /, **fields: object) -> bytes:
    params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **fields}}
    return line_of({"jsonrpc": "2.0", "method": "session/update", "params": params})


def text(words: str, **fields: object) -> bytes:
    return update("agent_message_chunk", content={"type": "text", "text": words}, **fields)


def thought(words: str, **fields: object) -> bytes:
    return update("agent_thought_chunk", content={"type": "text", "text": words}, **fields)


def opened(profile: AcpProfile | None = None, **agent: object) -> AcpWire:
    """A wire that is ready for prompts, with an agent that said this of itself."""
    wire = AcpWire(profile or AcpProfile(), MAX_LINE)
    wire.command(Open(cwd="/sandbox"))
    wire.receive(reply(0, {"protocolVersion": 1, **agent}))
    wire.receive(reply(1, {"sessionId": SESSION}))
    wire.data_to_send()
    return wire


def in_turn(profile: AcpProfile | None = None, **agent: object) -> AcpWire:
    """A wire in turn 1, whose prompt has the id 2."""
    wire = opened(profile, **agent)
    wire.command(Prompt(1, "hello"))
    wire.data_to_send()
    return wire


class Replay:
    """One recording; `facts` is all that came of it, `said` all that the wire sent."""

    def __init__(self, agent: str, name: str, profile: AcpProfile) -> None:
        self.facts: list[Fact] = []
        self.said: list[Record] = []
        self._lines = recording(agent, name)
        self._wire = AcpWire(profile, MAX_LINE)
        self._ids: dict[int, int] = {}
        self._turn = 0
        self._calls = 0
        self._questions: deque[PermissionAsked] = deque()
        self._files: deque[FileWanted] = deque()
        for line in self._lines:
            play = self._host if line["dir"] == ">" else self._agent
            play(line["msg"])

    def _host(self, message: Record) -> None:
        before = len(self.said)
        for command in self._commands(message):
            self._note(self._wire.command(command))
        requests = [m for m in self.said[before:] if m.get("method") == message.get("method")]
        if "method" in message and "id" in message and requests:
            self._ids[message["id"]] = requests[-1]["id"]

    def _commands(self, message: Record) -> list[Command]:
        method, params = message.get("method"), message.get("params", {})
        if method is None:
            return self._answers(message)
        if method == "initialize":
            return [Open(cwd=self._cwd())]
        if method in {"session/new", "authenticate"}:
            return []  # the wire opens in its own way
        if method == "session/prompt":
            self._turn += 1
            return [Prompt(self._turn, params["prompt"][0]["text"])]
        if method == "session/cancel":
            return [Cancel(self._turn)]
        self._calls += 1
        return [Call(self._calls, f"raw:{method}", params)]

    def _answers(self, message: Record) -> list[Command]:
        result: Record = message.get("result", {})
        if "outcome" in result and self._questions:
            asked = self._questions.popleft()
            option_id = result["outcome"].get("optionId", "")
            kinds = {option.option_id: option.kind for option in asked.options}
            permit = kinds[option_id] if option_id else Permit.CANCELLED
            answer = AnswerPermission(
                request_id=asked.request_id, permit=permit, option_id=option_id
            )
            return [answer]
        if "outcome" not in result and self._files:
            wanted = self._files.popleft()
            failure: Record = message.get("error", {"message": ""})
            error = failure["message"]
            content = result.get("content", "")
            return [AnswerFile(request_id=wanted.request_id, text=content, error=error)]
        return []

    def _agent(self, message: Record) -> None:
        if "method" not in message:
            if message["id"] == self._last_new():
                message = {**message, "id": 1}  # what the wire asks for first
            elif message["id"] in self._ids:
                message = {**message, "id": self._ids[message["id"]]}
            else:
                return
        elif message["method"] == "session/request_permission":
            message = self._with_chosen_option(message)
        self._note(self._wire.receive(line_of(message)))

    def _with_chosen_option(self, message: Record) -> Record:
        """The recordings' long lists are cut, so the option that was chosen may be missing."""
        options: list[Record] = message["params"]["options"]
        offered = [option["optionId"] for option in options]
        missing = [chosen for chosen in self._chosen(message["id"]) if chosen not in offered]
        options = [*options, *({"optionId": m, "name": m, "kind": "allow_once"} for m in missing)]
        return {**message, "params": {**message["params"], "options": options}}

    def _chosen(self, rpc_id: object) -> list[str]:
        said: list[Record] = [line["msg"] for line in self._lines if line["dir"] == ">"]
        answers = [each["result"] for each in said if each.get("id") == rpc_id and "result" in each]
        return [
            each["outcome"]["optionId"] for each in answers if "optionId" in each.get("outcome", {})
        ]

    def _note(self, facts: list[Fact]) -> None:
        self.facts += facts
        self.said += sent(self._wire)
        self._questions.extend(fact for fact in facts if isinstance(fact, PermissionAsked))
        self._files.extend(fact for fact in facts if isinstance(fact, FileWanted))

    def _cwd(self) -> str:
        return next(str(m["params"]["cwd"]) for m in self._messages_of("session/new"))

    def _last_new(self) -> int:
        return int(self._messages_of("session/new")[-1]["id"])

    def _messages_of(self, method: str) -> list[Record]:
        messages = [line["msg"] for line in self._lines if line["dir"] == ">"]
        return [message for message in messages if message.get("method") == method]
