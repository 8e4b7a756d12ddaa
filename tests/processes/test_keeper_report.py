"""What a keeper's lines mean."""

import pytest

from avatar_actors.processes.lease import KeeperReport


@pytest.mark.parametrize(
    ("line", "left", "denied"),
    [("stuck 1,2 -", (1, 2), ()), ("stuck 1 1", (1,), (1,)), ("stuck - -", (), ())],
)
def test_who_is_stuck_and_who_of_them_belongs_to_another_user(
    line: str, left: tuple[int, ...], denied: tuple[int, ...]
) -> None:
    report = KeeperReport()
    report.hear(line.split())
    assert (report.left, report.denied) == (left, denied)
    assert report.is_settled() == bool(left)


def test_line_that_nobody_knows_is_ignored() -> None:
    report = KeeperReport()
    report.hear(["news", "of", "tomorrow"])
    assert not report.is_decided()
    assert not report.is_settled()
