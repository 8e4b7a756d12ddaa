"""Turns over the wires: what a legal stream says must come out, whatever stands between its lines.

A case is a list of steps and how their bytes are sliced. `check` plays it and raises if the wire
raises, loses a text, leaves a request unanswered, or ends the turn not exactly once.
"""

import json
import random
import traceback
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from avatar_actors.model.events import TextEvent
from avatar_actors.model.values import Outcome, Permit
from avatar_actors.wire.acp.profile import AcpProfile
from avatar_actors.wire.acp.wire import AcpWire
from avatar_actors.wire.claude.wire import ClaudeWire
from avatar_actors.wire.commands import AnswerPermission, AnswerUser, Open, Prompt
from avatar_actors.wire.facts import Fact, PermissionAsked, TurnOver, UserAsked
from avatar_actors.wire.gemini.wire import GeminiHeadlessWire
from avatar_actors.wire.json_values import is_object
from avatar_actors.wire.wire import Wire
from tests.fuzz.javascript import Written, heard, pool

MAX_LINE: Final = 32768
MOST_TOKENS: Final = 2**56
DEEP: Final = b"[" * 1200 + b"]" * 1200
NEST: Final = b"[" * 200 + b"]" * 200
FIGURES: Final = (b"1e999", b"-1e999", b"1" + b"0" * 400, b"-1", b"0.5", b"2e15", b"7", b"2.0")
ENDLESS: Final = b"9" * 4500
RARELY: Final = 0.03
ALLOW: Final = b'[{"optionId":"y","name":"Y","kind":"allow_once"}]'
SESSION: Final = b'"sessionId":"s-1"'


class Step(NamedTuple):
    """One line. `text`: a piece of the answer; `asks`: the id that must be answered."""

    line: bytes
    text: str | None = None
    asks: object = None


class Case(NamedTuple):
    """A whole turn; `cuts` are the sizes of the slices, over and over. `end` comes by itself."""

    wire: str
    steps: list[Step]
    end: list[bytes]
    cuts: list[int]


class Found(Exception):
    """The wire did not do what it must."""


class Dialect(NamedTuple):
    """How one wire's agent says things; each takes JSON that is written already."""

    in_turn: Callable[[], Wire]
    text: Callable[[bytes, bytes], bytes]
    request: Callable[[bytes, bytes], bytes]
    others: Callable[[bytes, bytes], list[bytes]]
    end: Callable[[bytes, bytes], list[bytes]]


def _acp() -> Wire:
    wire = AcpWire(AcpProfile(), MAX_LINE)
    wire.command(Open(cwd="/x"))
    wire.receive(
        b'{"id":0,"result":{"protocolVersion":1}}\n{"id":1,"result":{"sessionId":"s-1"}}\n'
    )
    wire.command(Prompt(1, "go"))
    wire.data_to_send()
    return wire


def _claude() -> Wire:
    wire = ClaudeWire(seed="x", max_line=MAX_LINE)
    wire.command(Open(cwd="/x"))
    answer = b'{"subtype":"success","request_id":"avatar-1","response":{}}'
    wire.receive(b'{"type":"control_response","response":' + answer + b"}\n")
    wire.command(Prompt(1, "go"))
    wire.data_to_send()
    return wire


def _gemini() -> Wire:
    wire = GeminiHeadlessWire(max_line=MAX_LINE)
    wire.command(Open(cwd="/x"))
    wire.receive(b'{"type":"avatar_hello","session_id":"s-1"}\n')
    wire.command(Prompt(1, "go"))
    wire.data_to_send()
    return wire


def _update(fields: bytes, extra: bytes = b"0") -> bytes:
    params = b'{"sessionId":"s-1","update":{' + fields + b"}}"
    return (
        b'{"jsonrpc":"2.0","x":' + extra + b',"method":"session/update","params":' + params + b"}"
    )


def _acp_text(text: bytes, extra: bytes) -> bytes:
    content = b'"content":{"type":"text","text":' + text + b"}"
    return _update(b'"sessionUpdate":"agent_message_chunk",' + content, extra)


def _acp_request(rpc_id: bytes, odd: bytes) -> bytes:
    call = b'{"toolCallId":"t","title":"t","rawInput":{"x":' + odd + b"}}"
    params = b"{" + SESSION + b',"toolCall":' + call + b',"options":' + ALLOW + b"}"
    return b'{"id":' + rpc_id + b',"method":"session/request_permission","params":' + params + b"}"


def _acp_others(text: bytes, odd: bytes) -> list[bytes]:
    tool = b'"toolCallId":"t2","title":' + text + b',"rawInput":{' + text + b":" + odd + b"}"
    return [
        _update(b'"sessionUpdate":"tool_call",' + tool),
        _update(b'"sessionUpdate":"tool_call_update","status":"completed",' + tool),
        _update(
            b'"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":%b}' % text
        ),
        _update(b'"sessionUpdate":"usage_update","used":%b,"cost":{"amount":%b}' % (odd, odd)),
        _update(b'"sessionUpdate":"plan","entries":[{"content":%b}]' % text),
        _update(b'"sessionUpdate":"new_kind","x":%b' % odd),
        b'{"id":77,"result":%b}' % odd,
        b'{"method":%b,"params":%b}' % (text, odd),
    ]


def _acp_end(text: bytes, odd: bytes) -> list[bytes]:
    usage = b'"usage":{"inputTokens":%b,"outputTokens":7}' % odd
    return [b'{"id":2,"result":{"stopReason":"end_turn",%b,"_meta":{%b:1}}}' % (usage, text)]


def _claude_text(text: bytes, extra: bytes) -> bytes:
    delta = b'{"type":"content_block_delta","delta":{"type":"text_delta","text":' + text + b"}}"
    return b'{"type":"stream_event","x":' + extra + b',"event":' + delta + b"}"


def _claude_request(rpc_id: bytes, odd: bytes) -> bytes:
    tool = b'{"subtype":"can_use_tool","tool_name":"Bash","input":{"x":' + odd + b"}}"
    return b'{"type":"control_request","request_id":' + rpc_id + b',"request":' + tool + b"}"


def _claude_others(text: bytes, odd: bytes) -> list[bytes]:
    block = b'{"type":"tool_use","id":"t","name":%b,"input":{%b:%b}}' % (text, text, odd)
    return [
        b'{"type":"assistant","message":{"id":"m","content":[%b]}}' % block,
        b'{"type":"stream_event","event":{"type":"message_delta","usage":{"input_tokens":%b}}}'
        % odd,
        b'{"type":"system","subtype":"new_kind","x":%b}' % text,
        b'{"type":"system","subtype":"thinking_tokens","estimated_tokens":%b}' % odd,
        b'{"type":"new_kind","x":%b}' % odd,
        b'{"type":"control_response","response":{"request_id":%b,"response":%b}}' % (text, odd),
        b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}',
    ]


def _claude_end(text: bytes, odd: bytes) -> list[bytes]:
    fields = b'"is_error":false,"total_cost_usd":%b,"usage":{"input_tokens":%b}' % (odd, odd)
    return [b'{%b,"x":%b,"subtype":"success","type":"result"}' % (fields, text)]


def _gemini_text(text: bytes, extra: bytes) -> bytes:
    fields = b'"role":"assistant","delta":true,"content":' + text
    return b'{"type":"message","x":' + extra + b"," + fields + b"}"


def _gemini_others(text: bytes, odd: bytes) -> list[bytes]:
    return [
        b'{"type":"tool_use","tool_name":%b,"tool_id":"t","parameters":{%b:%b}}'
        % (text, text, odd),
        b'{"type":"tool_result","tool_id":"t","status":"success","output":%b}' % text,
        b'{"type":"error","severity":"warning","message":%b}' % text,
        b'{"type":"new_kind","x":%b}' % odd,
    ]


def _gemini_end(_: bytes, odd: bytes) -> list[bytes]:
    stats = b'{"input_tokens":%b,"output_tokens":7}' % odd
    result = b'{"type":"result","status":"success","stats":%b}' % stats
    return [result, b'{"type":"avatar_exit","turn":1,"returncode":0}']


DIALECTS: Final = {
    "acp": Dialect(_acp, _acp_text, _acp_request, _acp_others, _acp_end),
    "claude": Dialect(_claude, _claude_text, _claude_request, _claude_others, _claude_end),
    # In this mode it asks for nothing: its requests are one more kind that nobody knows.
    "gemini": Dialect(_gemini, _gemini_text, _acp_request, _gemini_others, _gemini_end),
}


class Generator:
    """Cases out of dice; the same seed gives the same cases."""

    def __init__(self, seed: str) -> None:
        self._dice = random.Random(seed)
        self._strings = pool(self._dice)

    def case(self) -> Case:
        """The next one."""
        dice = self._dice
        name = dice.choice(("acp", "acp", "claude", "gemini"))
        dialect = DIALECTS[name]
        steps = [self._step(name, dialect, number) for number in range(dice.randrange(1, 7))]
        odd = ENDLESS if dice.random() < RARELY else dice.choice(FIGURES)
        end = dialect.end(dice.choice(self._strings).data, odd)
        whole = dice.random() < 0.3
        cuts = [1 << 20] if whole else [dice.choice((1, 7, 60, 500, 4000)) for _ in range(4)]
        return Case(name, steps, end, cuts)

    def _step(self, name: str, dialect: Dialect, number: int) -> Step:
        dice, kind = self._dice, self._dice.randrange(10)
        string = dice.choice(self._strings)
        if kind < 5:
            extra = self._odd() if dice.random() < 0.2 else b"0"
            return Step(dialect.text(string.data, extra), string.text)
        if kind == 5 and name != "gemini":
            rpc_id = (
                f'"r{number}"' if name == "claude" or dice.random() < 0.5 else str(100 + number)
            )
            odd = DEEP if dice.random() < RARELY else self._odd()
            return Step(dialect.request(rpc_id.encode(), odd), asks=json.loads(rpc_id))
        if kind < 8:
            return Step(dice.choice(dialect.others(string.data, self._odd())))
        return Step(self._noise(string))

    def _odd(self) -> bytes:
        dice = self._dice
        if dice.random() < RARELY:
            return dice.choice((ENDLESS, NEST))
        return dice.choice((*FIGURES, b"null", b"{}", dice.choice(self._strings).data))

    def _noise(self, string: Written) -> bytes:
        dice = self._dice
        if dice.random() < RARELY:
            overlong = b"x" * (MAX_LINE + dice.randrange(3))
            return dice.choice((overlong, b"{" + string.data + b":" + DEEP + b"}"))
        noise = (
            b"\xff\xfe",
            dice.randbytes(dice.randrange(1, 40)).replace(b"\n", b""),
            string.data[:-1],
            b"[" + string.data + b"]",
            b"null",
            b'{"id":',
            b"Loaded cached credentials.",
            b"",
        )
        return dice.choice(noise)


def check(case: Case) -> None:
    """Play it, and raise Found for what went wrong; or whatever the wire raises."""
    dialect = DIALECTS[case.wire]
    wire = dialect.in_turn()
    facts: list[Fact] = []
    said = bytearray()
    data = b"".join(step.line + b"\n" for step in case.steps)
    # Who ends its turn waits for no answer any more: so the end is a block of its own.
    for block in (*_slices(data, case.cuts), b"".join(line + b"\n" for line in case.end)):
        _take(wire, wire.receive(block), facts)
        said += wire.data_to_send()
    _take(wire, wire.end_of_stream(), facts)
    said += wire.data_to_send()
    _judge(case, facts, [msgspec.json.decode(line) for line in bytes(said).splitlines()])


def _take(wire: Wire, new: list[Fact], facts: list[Fact]) -> None:
    facts += new
    for fact in new:
        if isinstance(fact, PermissionAsked):
            answer = AnswerPermission(request_id=fact.request_id, permit=Permit.ALLOW_ONCE)
            facts += wire.command(answer)
        if isinstance(fact, UserAsked):
            facts += wire.command(AnswerUser(request_id=fact.request_id, answers=None))


def _slices(data: bytes, cuts: list[int]) -> Iterable[bytes]:
    turn = 0
    while data:
        size = cuts[turn % len(cuts)]
        yield data[:size]
        data, turn = data[size:], turn + 1


def _judge(case: Case, facts: list[Fact], sent: list[dict[str, object]]) -> None:
    for fact in facts:
        msgspec.json.encode(fact)
    overs = [fact for fact in facts if isinstance(fact, TurnOver)]
    if [over.outcome for over in overs] != [Outcome.COMPLETED]:
        raise Found(f"the turn ended so: {overs}")
    if not 0 <= overs[0].usage.tokens < MOST_TOKENS:
        raise Found(f"tokens that cannot be: {overs[0].usage}")
    text = "".join(fact.text for fact in facts if type(fact) is TextEvent)
    if text != _expected(case.steps):
        raise Found(f"said {text!r} for {_expected(case.steps)!r}")
    asked = [step.asks for step in case.steps if step.asks is not None]
    answered = [_id_of(message) for message in sent]
    if sorted(map(repr, asked)) != sorted(map(repr, answered)):
        raise Found(f"asked {asked}, answered {answered}")


def _id_of(message: dict[str, object]) -> object:
    response = message.get("response")
    return response.get("request_id") if is_object(response) else message.get("id")


def _expected(steps: list[Step]) -> str:
    """Text in one run up to any other line; empty ones and those too long to be heard are none."""
    runs = [""]
    for step in steps:
        if step.text is not None:
            runs[-1] += step.text
        elif 0 < len(step.line) <= MAX_LINE:
            runs.append("")
    return "".join(map(heard, runs))


def first_failure(seed: str, count: int) -> Case | None:
    """The first of so many cases that fails."""
    generator = Generator(seed)
    cases = (generator.case() for _ in range(count))
    return next((case for case in cases if failure_of(case)), None)


def shrunk(case: Case) -> Case:
    """A case that fails in the same way and has no step to spare."""
    kind = failure_of(case)
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for at in range(len(case.steps)):
            smaller = case._replace(steps=case.steps[:at] + case.steps[at + 1 :])
            if failure_of(smaller) == kind:
                case, is_smaller = smaller, True
                break
        whole = case._replace(cuts=[1 << 20])
        if case.cuts != whole.cuts and failure_of(whole) == kind:
            case, is_smaller = whole, True
    return case


def failure_of(case: Case) -> str:
    """What kind of failure it is; nothing if all is well."""
    try:
        check(case)
    except Exception as error:  # noqa: BLE001 - whatever a wire raises is what is looked for
        return f"{type(error).__name__}"
    return ""


def as_test(case: Case) -> str:
    """The case as a test that can be pasted."""
    steps = "\n".join(f"        {step!r}," for step in case.steps)
    return (
        "from tests.fuzz.wires import Case, Step, check\n\n\n"
        "def test_found_by_the_fuzzer() -> None:\n"
        f"    steps = [\n{steps}\n    ]\n"
        f"    check(Case({case.wire!r}, steps, {case.end!r}, {case.cuts!r}))\n"
    )


def look(_: str, seed: str, count: int) -> str:
    """What fails of so many cases, as small as it can be, with a test to paste; or nothing."""
    found = first_failure(seed, count)
    return "" if found is None else report(shrunk(found))


def report(case: Case) -> str:
    """How the case fails, and the test to paste."""
    why = "only now and then\n"
    try:
        check(case)
    except Exception:  # noqa: BLE001 - shown to the person who looks for it
        why = traceback.format_exc()
    return f"{why}\nA test to paste:\n\n{as_test(case)}"
