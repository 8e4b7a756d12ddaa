"""RC-8: a million lines on stderr: a bounded ring, a count of the dropped, stdout not slowed."""

from pathlib import Path

from avatar_actors import DiagnosticEvent, Outcome
from avatar_actors.model.redaction import Redactor
from avatar_actors.session.stdio import LastLines
from tests.conformance.dialects import dialect_named
from tests.conformance.remains import growing_at_most
from tests.conformance.subject import Step, open_subject

LINES = 10**6


def test_rc_08_ring_keeps_the_last_lines_and_counts_all() -> None:
    tail = LastLines(Redactor(()))
    for start in range(0, LINES, 1000):
        tail.feed(b"".join(b"%d\n" % number for number in range(start, start + 1000)))
    assert tail.count == LINES
    assert len(tail.lines) <= 1000
    assert tail.lines[-1] == str(LINES - 1)


async def test_rc_08_million_lines_on_stderr_hold_up_neither_stdout_nor_the_host(
    tmp_path: Path,
) -> None:
    async with open_subject(dialect_named("acp"), tmp_path) as subject:
        flood: Step = {"stderr": {"lines": LINES}}
        later: list[Step] = [{"wait": 1.1}, {"stderr": "z"}]
        with growing_at_most(50 << 20):
            answer = await subject.play({"say": "a"}, flood, {"say": "b"}, *later)
        assert (answer.outcome, answer.content) == (Outcome.COMPLETED, "ab")
        await subject.recorder.until(DiagnosticEvent, lambda event: event.message == "z")
    told = [event.message for event in subject.recorder.all(DiagnosticEvent)]
    shown = sum(text == "a line on stderr" for text in told)
    dropped = sum(int(text.split()[0]) for text in told if "not shown" in text)
    assert shown + dropped == LINES
