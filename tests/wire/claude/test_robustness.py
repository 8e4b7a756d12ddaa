"""Claude's wire under any bytes: sliced, broken, shuffled, huge."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from avatar_actors.model.events import DiagnosticEvent, TextEvent, UnrecognisedEvent
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import Cancel, Command, Open, Prompt, Steer
from avatar_actors.wire.facts import Fact, TurnOver
from tests.wire.claude.replay import RECORDINGS, initialized, line_of, opened, recording, success
from tests.wire.claude.test_turns import in_turn, result, text

NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
AGENT_LINES = [
    line["msg"]
    for name in NAMES
    for line in recording(name)
    if line["dir"] == "out"
    if len(json.dumps(line["msg"])) < 4000
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "subtype", "event", "message", "x"]), inner)
    ),
    max_leaves=12,
)


def started() -> ClaudeWire:
    wire = ClaudeWire(seed="test")
    wire.command(Open(cwd="/sandbox"))
    return wire


@given(st.sampled_from(NAMES), st.lists(st.integers(1, 5000), min_size=1, max_size=20))
@settings(max_examples=40, deadline=None)
def test_any_slicing_gives_the_same_facts(name: str, sizes: list[int]) -> None:
    data = success("avatar-1", initialized())
    data += b"".join(line_of(line["msg"]) for line in recording(name) if line["dir"] == "out")
    at_once, sliced = started(), started()
    expected = at_once.receive(data)
    found: list[Fact] = []
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        found += sliced.receive(data[at : at + size])
        at, turn = at + size, turn + 1
    assert found == expected
    assert sliced.data_to_send() == at_once.data_to_send()


@given(st.binary(max_size=2000))
@settings(max_examples=60, deadline=None)
def test_garbage_never_raises(data: bytes) -> None:
    wire = in_turn()
    wire.receive(data + b"\n")
    wire.end_of_stream()


@given(st.lists(JSON, max_size=8))
@settings(max_examples=60, deadline=None)
def test_any_json_never_raises(values: list[Any]) -> None:
    in_turn().receive(b"".join(line_of(value) for value in values))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_known_line_with_any_field_changed_never_raises(data: st.DataObject) -> None:
    line = dict(data.draw(st.sampled_from(AGENT_LINES)))
    line[data.draw(st.sampled_from(sorted(line)))] = data.draw(JSON)
    wire = in_turn()
    wire.receive(line_of(line))
    started().receive(line_of(line))


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_any_order_of_lines_and_commands_gives_at_most_one_end_per_prompt(
    data: st.DataObject,
) -> None:
    wire = opened()
    ends: list[int] = []
    prompted = 0
    for _ in range(data.draw(st.integers(1, 40))):
        step = data.draw(st.sampled_from(["prompt", "cancel", "steer", "line", "line", "line"]))
        if step == "line":
            facts = wire.receive(line_of(data.draw(st.sampled_from(AGENT_LINES))))
        else:
            prompted += step == "prompt"
            commands: dict[str, Command] = {
                "prompt": Prompt(prompted, "go"),
                "cancel": Cancel(prompted),
                "steer": Steer(prompted, "more"),
            }
            facts = wire.command(commands[step])
        ends += [fact.turn_id for fact in facts if isinstance(fact, TurnOver)]
    assert len(ends) == len(set(ends)) <= prompted


@pytest.mark.parametrize(
    "line",
    [b"null", b"[1]", b'"text"', b"7", b"\xff\xfe", b"{", b"{}{}", b"[" * 100_000, b"\x00" * 99],
)
def test_what_is_no_message_is_a_diagnostic(line: bytes) -> None:
    [fact] = in_turn().receive(line + b"\n")
    assert isinstance(fact, DiagnosticEvent)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "brand_new", "x": 1},
        {"type": "system", "subtype": "brand_new"},
        {"type": "assistant", "message": 7},
        {"type": None},
        {},
    ],
)
def test_an_unknown_kind_is_kept_as_it_came(line: dict[str, Any]) -> None:
    assert in_turn().receive(line_of(line)) == [
        UnrecognisedEvent(raw=json.dumps(line), source="claude")
    ]


def test_what_is_kept_of_an_unknown_line_is_cut() -> None:
    [fact] = in_turn().receive(line_of({"type": "brand_new", "x": "y" * 100_000}))
    assert isinstance(fact, UnrecognisedEvent)
    assert len(fact.raw) == 64 * 1024


def test_broken_text_in_a_field_that_nobody_reads_is_a_diagnostic() -> None:
    line = b'{"type":"system","subtype":"session_state_changed","x":"\xff"}\n'
    [fact] = in_turn().receive(line)
    assert isinstance(fact, DiagnosticEvent)


def test_half_a_line_at_the_end_is_told() -> None:
    wire = in_turn()
    assert wire.receive(text("whole") + b'{"type":"res') == [TextEvent(text="whole")]
    [fact] = wire.end_of_stream()
    assert isinstance(fact, DiagnosticEvent)
    assert wire.end_of_stream() == []


def test_only_the_line_over_the_cap_is_lost() -> None:
    wire = ClaudeWire(seed="test", max_line=50_000)
    wire.command(Open(cwd="/"))
    wire.receive(success("avatar-1", initialized()))
    wire.command(Prompt(1, "go"))
    data = text("before") + text("x" * 60_000) + text("after") + result()
    texts = [
        fact.text
        for at in range(0, len(data), 4096)
        for fact in wire.receive(data[at : at + 4096])
        if isinstance(fact, TextEvent)
    ]
    assert texts == ["before", "after"]


def test_a_huge_line_takes_time_linear_in_its_bytes() -> None:
    def seconds(mebibytes: int) -> float:
        wire, line = in_turn(), text("x" * (mebibytes << 20))
        start = time.thread_time()
        facts = [wire.receive(line[at : at + 65536]) for at in range(0, len(line), 65536)]
        taken = time.thread_time() - start
        assert [len(found) for found in facts if found] == [1]
        return taken

    # Of the processor, the best of some. Quadratic time would be 64 times as much.
    small, large = (min(seconds(size) for _ in range(3)) for size in (4, 32))
    assert large < 30 * small + 0.5
