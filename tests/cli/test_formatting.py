"""Times are told in words, and of what is long ago the day."""

from datetime import datetime, timedelta

import pytest

from avatar_actors.cli.terminal.formatting import ago, clock, moment_of

NOW = datetime(2026, 11, 16, 12, 0).astimezone()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (7200, "2 hours ago"),
        (86400, "1 day ago"),
        (6 * 86400, "6 days ago"),
        (8 * 86400, "2026-11-08"),
    ],
)
def test_how_long_ago(seconds: int, words: str) -> None:
    assert ago(NOW - timedelta(seconds=seconds), NOW) == words


def test_what_is_no_time_is_a_dash() -> None:
    assert moment_of("yesterday") is None
    assert (ago(None, NOW), clock(None)) == ("-", "-")


def test_a_time_of_a_store_is_told_where_one_lives() -> None:
    then = moment_of("2026-11-16T10:51:04.583Z")
    assert then is not None
    assert then.timestamp() == 1794826264.583
    assert clock(then).startswith("2026-11-1")
