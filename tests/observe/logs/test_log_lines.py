"""What events are in the log."""

import logging

import msgspec
import pytest

from avatar_actors.model.events import (
    ActivityEvent,
    AvatarEvent,
    ContinuityEvent,
    DiagnosticEvent,
    ErrorEvent,
    EventsLostEvent,
    OrphansReapedEvent,
    StallEvent,
    StateEvent,
    SupervisionEvent,
    TextEvent,
    TurnEndedEvent,
    TurnStartedEvent,
    UnrecognisedEvent,
)
from avatar_actors.model.redaction import Redactor
from avatar_actors.model.values import BridgeState, Continuity, Level, Outcome, StallVerdict, Usage
from avatar_actors.observe.log_lines import (
    LOGGED,
    LOGGERS,
    LogLine,
    SecretsFilter,
    line_of,
    one_line,
)

CONTENT = "what was said in private"


def written(event: AvatarEvent) -> LogLine:
    line = line_of(msgspec.structs.replace(event, avatar="aria", provider="claude"))
    assert line is not None
    assert line.logger in LOGGERS
    return line


@pytest.mark.parametrize(
    ("event", "level", "words"),
    [
        (TurnStartedEvent(turn_id=3), "INFO", "turn 3 started"),
        (TurnEndedEvent(turn_id=3, duration=1.5), "INFO", "turn 3 completed after 1.5 s"),
        (
            TurnEndedEvent(turn_id=3, usage=Usage(cost_usd=0.01, input_tokens=7)),
            "INFO",
            "7 tokens, 0.01 USD",
        ),
        (
            TurnEndedEvent(turn_id=3, outcome=Outcome.CRASHED, reason="killed\ntail"),
            "WARNING",
            "turn 3 crashed after 0 s: killed",
        ),
        (StallEvent(verdict=StallVerdict.WEDGED, seconds=60), "WARNING", "wedged"),
        (StallEvent(verdict=StallVerdict.WORKING, seconds=30), "INFO", "working"),
        (StateEvent(new_state=BridgeState.READY), "INFO", "its session is ready"),
        (
            StateEvent(old_state=BridgeState.BUSY, new_state=BridgeState.READY),
            "DEBUG",
            "free again",
        ),
        (StateEvent(new_state=BridgeState.ERROR, detail="killed"), "WARNING", "killed"),
        (ContinuityEvent(continuity=Continuity.RESUMED), "INFO", "resumed"),
        (ContinuityEvent(continuity=Continuity.FRESH, why="gone"), "WARNING", "fresh: gone"),
        (SupervisionEvent(notice="crashed", path="a/b/bridge"), "WARNING", "bridge crashed"),
        (
            SupervisionEvent(notice="restarting", path="a/session", delay=0.5),
            "WARNING",
            "0.5 s",
        ),
        (SupervisionEvent(notice="gave_up", path="a"), "ERROR", "gave up"),
        (SupervisionEvent(notice="unheard of", path="a"), "INFO", "unheard of"),
        (DiagnosticEvent(message="hm", source="stderr"), "DEBUG", "stderr: hm"),
        (
            DiagnosticEvent(message="80 %", source="budget", level=Level.WARNING),
            "WARNING",
            "80 %",
        ),
        (UnrecognisedEvent(raw=CONTENT, source="acp"), "DEBUG", "24 characters"),
        (ErrorEvent(error="it gave up", recoverable=False), "ERROR", "it gave up"),
        (OrphansReapedEvent(count=2), "INFO", "2 process(es)"),
        (EventsLostEvent(count=9), "WARNING", "9 event(s)"),
    ],
)
def test_events_are_lines_of_their_level(event: AvatarEvent, level: str, words: str) -> None:
    line = written(event)
    assert (logging.getLevelName(line.level), words in line.text) == (level, True), line
    assert line.text.startswith("aria (claude): ")


@pytest.mark.parametrize(
    "event",
    [
        TurnStartedEvent(prompt=CONTENT),
        TurnEndedEvent(text=CONTENT),
        UnrecognisedEvent(raw=CONTENT),
    ],
)
def test_what_was_said_is_in_no_line(event: AvatarEvent) -> None:
    assert CONTENT not in written(event).text


@pytest.mark.parametrize("event", [TextEvent(text=CONTENT), ActivityEvent(), ErrorEvent(error="x")])
def test_some_events_are_no_lines(event: AvatarEvent) -> None:
    assert line_of(event) is None


def test_the_text_of_agents_is_not_even_asked_for() -> None:
    assert TextEvent not in LOGGED
    assert {TurnStartedEvent, TurnEndedEvent, DiagnosticEvent} < set(LOGGED)


def test_an_agent_cannot_forge_a_line() -> None:
    for wrong in ("a\n2026 - ERROR - forged", "a\r\x1b[2Kforged", "a\u2028forged"):
        line = written(DiagnosticEvent(message=wrong, source="stderr"))
        assert line.text.isprintable()
        assert "forged" not in line.text
    assert one_line("x" * 10_000) == "x" * 500


def test_secrets_of_an_avatar_that_ended_are_hidden_until_the_next_one_starts() -> None:
    secrets = SecretsFilter()
    secrets.learn("aria", Redactor(["secret-of-aria", "secret-of-both"]))
    secrets.let_go("aria")
    assert secrets.known.hide("secret-of-aria.") == "[secret]."
    secrets.learn("bert", Redactor(["secret-of-both"]))
    assert secrets.known.hide("secret-of-aria.") == "secret-of-aria."
    assert secrets.known.hide("secret-of-both.") == "[secret]."


def test_avatar_that_starts_again_under_its_name_brings_its_own_secrets() -> None:
    secrets = SecretsFilter()
    secrets.learn("aria", Redactor(["the-old-secret"]))
    secrets.learn("aria", Redactor(["the-new-secret"]))
    assert secrets.known.hide("the-old-secret.") == "the-old-secret."
    secrets.learn("bert", Redactor([]))
    assert secrets.known.hide("the-new-secret.") == "[secret]."
