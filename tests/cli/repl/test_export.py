import json
from pathlib import Path

import pytest

from avatar_actors import (
    AvatarEvent,
    Outcome,
    SessionInfoEvent,
    TextEvent,
    ToolCall,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    TurnStartedEvent,
)
from avatar_actors.cli.repl.session_log import Existing, SessionLog, export_to

TALK: tuple[AvatarEvent, ...] = (
    SessionInfoEvent(model="opus"),
    TurnStartedEvent(turn_id=1, timestamp=1000.0, prompt="Co je tu?\n## nic"),
    ToolEvent(
        turn_id=1, timestamp=1001.0, tool_id="t", tool_name="Read", title="a.txt",
        status=ToolStatus.STARTED,
    ),
    TextEvent(turn_id=1, text="Hle"),
    ToolEvent(turn_id=1, timestamp=1003.5, tool_id="t", status=ToolStatus.COMPLETED),
    TurnEndedEvent(
        turn_id=1, text="Hle, **žába** 🐸.", session_id="s-1", duration=4.0,
        tool_calls=(ToolCall(tool_id="t", tool_name="Read", result="ribbit"),),
    ),
    TurnStartedEvent(turn_id=2, timestamp=1100.0, prompt="A dál?"),
    TurnEndedEvent(turn_id=2, text="Dá", outcome=Outcome.CRASHED, reason="killed by SIGKILL"),
)  # fmt: skip


@pytest.fixture
def log() -> SessionLog:
    log = SessionLog()
    for event in TALK:
        log.tell(event)
    return log


def test_markdown_has_prompts_as_quotations_answers_as_they_are_and_bad_ends(
    log: SessionLog, tmp_path: Path
) -> None:
    path = tmp_path / "talk.md"
    export_to(path, log, "claude", Existing.KEEP)
    text = path.read_text("utf-8")
    assert text.startswith("# A conversation with claude\n\n## You, 1970-01-01 ")
    assert (
        "\n> Co je tu?\n> ## nic\n\n## claude, opus\n\n- `Read`: completed\n\nHle, **žába** 🐸.\n"
        in text
    )
    assert text.endswith("\nDá\n\n*crashed: killed by SIGKILL*\n")


def test_json_has_every_turn_whole(log: SessionLog, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    export_to(path, log, "claude", Existing.KEEP)
    whole = json.loads(path.read_text("utf-8"))
    assert (whole["provider"], whole["session_id"]) == ("claude", "s-1")
    first, second = whole["turns"]
    assert (first["prompt"], first["model"]) == ("Co je tu?\n## nic", "opus")
    assert first["tools"][0]["result"] == "ribbit"
    assert (second["outcome"], second["reason"]) == ("crashed", "killed by SIGKILL")


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(
    log: SessionLog, tmp_path: Path
) -> None:
    path = tmp_path / "talk.md"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        export_to(path, log, "claude", Existing.KEEP)
    assert path.read_text() == "precious"
    export_to(path, log, "claude", Existing.REPLACE)
    assert path.read_text().startswith("# A conversation")
    assert [one.name for one in tmp_path.iterdir()] == ["talk.md"]


@pytest.mark.parametrize("existing", list(Existing))
def test_the_file_is_for_its_owner_alone(
    log: SessionLog, tmp_path: Path, existing: Existing
) -> None:
    path = tmp_path / "talk.md"
    export_to(path, log, "claude", existing)
    assert path.stat().st_mode & 0o777 == 0o600


def test_log_know_the_tools_of_the_last_turn_with_their_times(log: SessionLog) -> None:
    assert log.tools == {}
    for event in TALK[:5]:
        log.tell(event)
    [tool] = log.tools.values()
    assert (tool.label, tool.status) == ("Read: a.txt", ToolStatus.COMPLETED)
    assert tool.ended - tool.began == 2.5


def test_a_tool_without_a_title_is_known_by_what_it_is_given() -> None:
    log = SessionLog()
    log.tell(ToolEvent(tool_id="t", tool_name="Bash", parameters={"n": 1, "command": "ls"}))
    assert [tool.label for tool in log.tools.values()] == ["Bash: ls"]
