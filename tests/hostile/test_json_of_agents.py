"""JSON that is legal and odd: half a surrogate pair, endless numbers, deep nests, lost ids."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest

from avatar_actors.model.events import DiagnosticEvent, TextEvent, ToolEvent
from avatar_actors.model.values import JsonObject, Outcome, Permit
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.commands import AnswerPermission, Call, Open, Prompt
from avatar_actors.wire.facts import Answered, Fact, PermissionAsked, TurnOver
from avatar_actors.wire.wire import Wire
from tests.hostile.lines import END, HEAR, one_avatar, orders, write
from tests.hostile.lines import text as piece
from tests.wire.acp import replay as acp
from tests.wire.claude import replay as claude
from tests.wire.claude.test_turns import in_turn as claude_in_turn
from tests.wire.claude.test_turns import text as claude_text
from tests.wire.gemini import replay as gemini

InTurn: TypeAlias = Callable[[], Wire]
Text: TypeAlias = Callable[[str], bytes]
DEEP = "[" * 5000 + "]" * 5000


def gemini_text(words: str) -> bytes:
    return gemini.line_of({"type": "message", "role": "assistant", "content": words, "delta": True})


WIRES = pytest.mark.parametrize(
    ("in_turn", "text"),
    [(acp.in_turn, acp.text), (claude_in_turn, claude_text), (gemini.in_turn, gemini_text)],
    ids=["acp", "claude", "gemini"],
)


def words(facts: list[Fact]) -> str:
    return "".join(fact.text for fact in facts if isinstance(fact, TextEvent))


def over(facts: list[Fact]) -> TurnOver:
    [fact] = [fact for fact in facts if isinstance(fact, TurnOver)]
    return fact


@WIRES
@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["a \ud83d", "\ude00 b"], "a 😀 b"),
        (["a \ud83d", " b"], "a \ufffd b"),
        (["\ude00 b", "c"], "\ufffd bc"),
        (["a \ud83d", "\ud83d", "\ude00"], "a \ufffd😀"),
        (["\ud83d", "\ude00\ud83d", "\ude00"], "😀😀"),
        (["\\ud83d \ud83d x"], "\\ud83d \ufffd x"),
    ],
)
def test_h4_half_a_surrogate_pair_keeps_its_text(
    in_turn: InTurn, text: Text, pieces: list[str], said: str
) -> None:
    wire = in_turn()
    facts = [fact for words in pieces for fact in wire.receive(text(words))]
    assert words([*facts, *wire.end_of_stream()]) == said


@WIRES
def test_h4_a_half_that_waits_is_told_before_whatever_comes_next(
    in_turn: InTurn, text: Text
) -> None:
    wire = in_turn()
    first = wire.receive(text("a\ud83d"))
    later = wire.receive(b"noise\n" + text("b"))
    assert words(first) == "a"
    assert [fact.text for fact in later if isinstance(fact, TextEvent)] == ["\ufffd", "b"]


async def test_h4_a_real_agent_that_splits_an_emoji_is_heard_whole(tmp_path: Path) -> None:
    async with one_avatar(tmp_path) as avatar:
        steps = [write(piece(r"x \ud83d")), write(piece(r"\ude00 y \udead z")), END]
        answer = await avatar.chat(orders(*steps))
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "x 😀 y \ufffd z")


def test_h4_keys_tools_and_numbers_that_msgspec_refuses_are_read() -> None:
    call = {"toolCallId": "t", "title": "\ud83d", "rawInput": {"\ude00": "x\ud83d", "n": "N"}}
    line = acp.update("tool_call", **call).replace(b'"N"', b"1" + b"0" * 5000)
    [tool] = [fact for fact in acp.in_turn().receive(line) if isinstance(fact, ToolEvent)]
    assert tool.title == "\ufffd"
    assert tool.parameters == {"\ufffd": "x\ufffd", "n": "1" + "0" * 5000}


def test_h4_a_permission_request_with_half_a_sign_is_asked() -> None:
    params: JsonObject = {
        "sessionId": acp.SESSION,
        "toolCall": {"toolCallId": "\ud83d"},
        "options": [],
    }
    facts = acp.in_turn().receive(acp.request(7, "session/request_permission", params))
    assert any(isinstance(fact, PermissionAsked) for fact in facts)


def test_h4_the_answer_to_the_prompt_ends_the_turn_with_half_a_sign_in_it() -> None:
    reply = acp.reply(2, {"stopReason": "end_turn", "_meta": {"\ud83d": "\ud83d"}})
    assert over(acp.in_turn().receive(reply)).outcome is Outcome.COMPLETED
    result = {"type": "result", "is_error": False, "result": "\ud83d", "stop_reason": "end_turn"}
    assert over(claude_in_turn().receive(claude.line_of(result))).outcome is Outcome.COMPLETED


@pytest.mark.parametrize(
    "line",
    [
        f'{{"id":7,"method":"session/request_permission","params":{DEEP}}}',
        f'{{"method":"fs/read_text_file","params":{DEEP},"id":7}}',
        '{"id":7,"method":5}',
    ],
)
def test_m11_a_request_that_cannot_be_read_is_refused(line: str) -> None:
    wire = acp.in_turn()
    wire.receive(line.encode() + b"\n")
    [sent] = acp.sent(wire)
    assert sent["id"] == 7
    assert sent["error"]["code"] == -32600


@pytest.mark.parametrize("line", ['{"id":2,"result":DEEP}', '{"result":DEEP,"id":2}'])
def test_m11_an_answer_that_cannot_be_read_ends_the_turn(line: str) -> None:
    facts = acp.in_turn().receive(line.replace("DEEP", DEEP).encode() + b"\n")
    assert over(facts).outcome is Outcome.FAILED
    assert "cannot be read" in over(facts).error


def test_m11_an_id_deep_inside_is_nobodys() -> None:
    wire = acp.in_turn()
    wire.receive(f'{{"params":{{"id":7,"method":"x","id2":{DEEP}}}}}\n'.encode())
    assert acp.sent(wire) == []


def test_m11_claude_is_answered_too() -> None:
    wire = claude_in_turn()
    asked = f'{{"type":"control_request","request_id":"r","request":{DEEP}}}\n'
    odd = '{"type":"control_request","request_id":5,"request":{}}\n'
    wire.receive(asked.encode() + odd.encode())
    answers = [line["response"] for line in claude.said(wire)]
    assert [(each["subtype"], each["request_id"]) for each in answers] == [
        ("error", "r"),
        ("error", 5),
    ]


def test_m11_claudes_result_and_answers_that_cannot_be_read_end_what_waits() -> None:
    wire = claude_in_turn()
    facts = wire.receive(f'{{"structured_output":{DEEP},"type":"result"}}\n'.encode())
    assert over(facts).outcome is Outcome.FAILED
    wire.command(Call(3, "mcp_status"))
    inner = f'{{"request_id":"avatar-2","response":{DEEP}}}'
    answer = f'{{"type":"control_response","response":{inner}}}'
    [answered] = [f for f in wire.receive(answer.encode() + b"\n") if isinstance(f, Answered)]
    assert (answered.call_id, bool(answered.error)) == (3, True)


def test_m11_a_message_over_the_limit_is_answered_by_its_beginning() -> None:
    wire = AcpWire(AcpProfile(), 4096)
    wire.command(Open(cwd="/sandbox"))
    wire.receive(acp.reply(0, {"protocolVersion": 1}) + acp.reply(1, {"sessionId": acp.SESSION}))
    wire.command(Prompt(1, "hello"))
    wire.data_to_send()
    wire.receive(acp.request(9, "fs/write_text_file", {"content": "x" * 9000}))
    assert [each["id"] for each in acp.sent(wire)] == [9]
    facts = wire.receive(acp.reply(2, {"stopReason": "end_turn", "_meta": {"x": "x" * 9000}}))
    assert over(facts).error == "the agent's answer is lost: it is longer than max_line"


@pytest.mark.parametrize("depth", range(240, 990, 30))
def test_m11_a_nest_that_is_read_can_be_said_back(depth: int) -> None:
    request = {"subtype": "can_use_tool", "tool_name": "x", "input": {"x": "DEEP"}}
    asked = claude.line_of({"type": "control_request", "request_id": "r", "request": request})
    wire = claude_in_turn()
    facts = wire.receive(asked.replace(b'"DEEP"', b"[" * depth + b"]" * depth))
    answer = AnswerPermission(request_id="r", permit=Permit.ALLOW_ONCE)
    below(40, lambda: [*map(msgspec.json.encode, facts), wire.command(answer)])
    assert [line["response"]["request_id"] for line in claude.said(wire)] == ["r"]


def below(frames: int, call: Callable[[], object]) -> None:
    """Somebody calls from further down the stack than the wire was called."""
    if frames:
        below(frames - 1, call)
    else:
        call()


async def test_m11_a_real_agent_that_asks_too_deeply_goes_on(tmp_path: Path) -> None:
    deep = '{"id":5,"method":"session/request_permission","params":{"toolCall":DEEP}}'
    async with one_avatar(tmp_path) as avatar:
        answer = await avatar.chat(orders(write(deep.replace("DEEP", DEEP)), HEAR, END))
        assert answer.outcome is Outcome.COMPLETED
        assert json.loads(answer.content)["error"]["code"] == -32600


def test_low5_a_permission_request_of_another_session_is_refused() -> None:
    wire = acp.in_turn()
    params: JsonObject = {"sessionId": "another", "toolCall": {"toolCallId": "t"}, "options": []}
    facts = wire.receive(acp.request(7, "session/request_permission", params))
    assert [type(fact) for fact in facts] == [DiagnosticEvent]
    assert [(each["id"], each["error"]["code"]) for each in acp.sent(wire)] == [(7, -32602)]


def test_low5_news_of_another_session_are_told_once_and_left_out() -> None:
    wire = acp.in_turn()
    block = {"type": "text", "text": "not ours"}
    line = acp.update_of("another", "agent_message_chunk", content=block)
    assert [type(fact) for fact in wire.receive(line + line)] == [DiagnosticEvent]
