"""Settings: what they mean, and which are refused before anything is started."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import (
    AvatarOptions,
    AvatarSettings,
    Budget,
    RateLimit,
    Restarts,
    Timeouts,
    settings_from,
)
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import JsonObject


@pytest.mark.parametrize(
    ("policy", "tool", "arguments", "verdict"),
    [
        (ToolPolicy(), "Bash", {}, None),
        (ToolPolicy(allow=("Read",)), "Read", {}, True),
        (ToolPolicy(allow=("Read",)), "Write", {}, False),
        (ToolPolicy(deny=("Bash",)), "Bash", {}, False),
        (ToolPolicy(deny=("Bash",)), "Read", {}, None),
        (ToolPolicy(allow=("*",), deny=("mcp__*",)), "mcp__db__drop", {}, False),
        (ToolPolicy(allow=("*",), deny=("mcp__*",)), "Read", {}, True),
        (ToolPolicy(allow=("Bash",), deny=("Bash",)), "Bash", {}, False),
        (ToolPolicy(allow=("Bash(git *)",)), "Bash", {"command": "git status"}, True),
        (ToolPolicy(allow=("Bash(git *)",)), "Bash", {"command": "rm -rf ."}, False),
        (ToolPolicy(deny=("Bash(*rm *)",)), "Bash", {"command": "cd /; rm -rf ."}, False),
        (ToolPolicy(deny=("Bash(*rm *)",)), "Bash", {"command": "ls"}, None),
        (ToolPolicy(deny=("bash",)), "Bash", {}, False),
        (ToolPolicy(deny=("WRITE*(*KEY*)",)), "write_file", {"path": "KEY"}, False),
        (ToolPolicy(deny=("WRITE*(*KEY*)",)), "write_file", {"path": "key"}, None),
        (ToolPolicy(allow=("bash",)), "Bash", {}, False),
    ],
)
def test_deny_is_asked_first_then_allow_then_the_mode(
    policy: ToolPolicy,
    tool: str,
    arguments: JsonObject,
    verdict: bool | None,  # noqa: FBT001 - the third answer of the table
) -> None:
    assert policy.verdict(tool, arguments) is verdict


def test_what_is_denied_is_found_however_deep_it_stands() -> None:
    policy = ToolPolicy(deny=("Edit(*secret*)",))
    assert policy.verdict("Edit", {"edits": [{"path": "a"}, {"path": "/x/secret.txt"}]}) is False


def test_an_allowed_command_is_not_bought_with_another_argument() -> None:
    policy = ToolPolicy(allow=("Bash(git *)",))
    arguments = {"command": "rm -rf .", "description": "git status"}
    assert policy.verdict("Bash", arguments) is False


@pytest.mark.parametrize("per_minute", [0, -1, math.inf, math.nan])
def test_a_rate_that_cannot_work_is_refused(per_minute: float) -> None:
    with pytest.raises(SettingsError):
        RateLimit(per_minute)


def test_a_burst_of_none_is_refused() -> None:
    with pytest.raises(SettingsError):
        RateLimit(60, burst=0)


# Keyword arguments of the wrong kind are what these are about.
WRONG: list[Callable[[], Any]] = [
    lambda: Timeouts(start=-1),
    lambda: Timeouts(turn=math.nan),
    lambda: Timeouts(interrupt=-1),
    lambda: Timeouts(stall_warning=0),
    lambda: Timeouts(stall_alarm=-1),
    lambda: Timeouts(health_check_interval=-1),
    lambda: Restarts(max_restarts=-1),
    lambda: Restarts(period=0),
    lambda: Budget(cost_usd=-1),
    lambda: Budget(turns=-1),
    lambda: settings_from({"max_history": -2}),
    lambda: settings_from({"max_history_bytes": -1}),
    lambda: settings_from({"max_line": 0}),
    lambda: AvatarSettings(priority="urgent"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_value_that_cannot_work_is_refused(number: int) -> None:
    with pytest.raises(SettingsError):
        WRONG[number]()


def test_an_unknown_option_is_refused_and_the_known_ones_are_named(tmp_path: Path) -> None:
    options: Any = {"working_dir": tmp_path, "modle": "x"}
    with pytest.raises(SettingsError, match=r"'modle'.*model"):
        settings_from(options)


@pytest.mark.parametrize("place", ["missing", "file"])
def test_a_working_dir_that_is_none_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="is not a directory"):
        settings_from({"working_dir": tmp_path / place})


def test_the_working_dir_becomes_absolute() -> None:
    options: AvatarOptions = {"working_dir": "."}
    assert settings_from(options).working_dir.is_absolute()


def test_the_largest_number_that_can_be_counted_with_is_accepted() -> None:
    largest = int(sys.float_info.max)
    assert Timeouts(start=largest).start == largest
    with pytest.raises(SettingsError, match="a number that is too large"):
        Timeouts(start=largest + 1)
