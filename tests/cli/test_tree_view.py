"""The view of a tree: every width, many avatars, what is fresh, and names that are hostile."""

import re

import pytest
from rich.cells import cell_len

from avatar_actors import TreeChange, TreeHappening, TreePart, TreeSnapshot
from avatar_actors.cli.display import Style
from avatar_actors.cli.tree.view import FRESH, TreeView, age, change_line, is_notable, notes_of

NOW = 1_000_000.0
PLAIN = Style(colour=False)
CODES = re.compile(r"\x1b\[[0-9;]*m")


def part(name: str, *children: TreePart, **facts: object) -> TreePart:
    strategy = "one_for_one" if children else ""
    known: dict[str, object] = {"state": "running", "since": NOW - 7, "strategy": strategy}
    return TreePart(name=name, children=children, **{**known, **facts})  # type: ignore[arg-type]


def an_avatar(name: str, **session: object) -> TreePart:
    return part(
        name, part("activity tracker"), part("session", part("bridge"), part("x"), **session)
    )


def snapshot(*avatars: TreePart) -> TreeSnapshot:
    tree = part("runtime", part("warden"), part("event router"), part("avatars", *avatars))
    return TreeSnapshot(
        pid=7, program="bot", since=NOW - 60, time=NOW, changes=(), missed=0, tree=tree
    )


def lines(*avatars: TreePart, width: int = 80, most: int = 1000, style: Style = PLAIN) -> list[str]:
    view = TreeView(style)
    view.show(snapshot(*avatars), NOW)
    return view.lines(width, NOW, most)


def row(shown: list[str], name: str) -> str:
    [found] = [line for line in shown if name in line]
    return found


def test_a_restart_says_when_and_a_crash_how_often() -> None:
    broken = an_avatar("aria", state="restarting", due=NOW + 0.2, crashes=3, life=4)
    shown = lines(broken)
    assert shown[0] == "bot · process 7 · 1m · 1 avatar"
    assert "restarting in 0.2s  crashed 3 times  life 4" in row(shown, "session")
    assert row(shown, "warden").split() == ["├─", "warden", "running", "7s"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_the_state_is_always_seen(width: int) -> None:
    wide = an_avatar("猫" * 60, state="restarting", due=NOW + 0.2, crashes=12, waiting=99)
    shown = lines(wide, an_avatar("aria"), width=width)
    assert max(map(cell_len, shown)) <= width
    assert all("restarting in 0.2s" in line or "running" in line for line in shown[1:])


@pytest.mark.parametrize("most", [3, 5, 8, 12, 20])
def test_a_tree_that_is_too_long_is_folded_where_it_is_calm(most: int) -> None:
    avatars = [an_avatar(f"a{number}") for number in range(30)]
    shown = lines(*avatars, an_avatar("broken", state="starting"), most=most)
    assert len(shown) <= most
    if most >= 12:
        assert "starting" in row(shown, "session")
        assert "30 running: a0, a1, a2" in "".join(shown)


def test_what_is_fresh_stands_out_for_a_moment() -> None:
    view = TreeView(Style())
    view.show(snapshot(an_avatar("aria")), NOW)
    calm = view.lines(80, NOW)
    view.show(snapshot(an_avatar("aria", life=2)), NOW)
    fresh = view.lines(80, NOW)
    assert "\x1b[1m" in row(fresh, "session")
    assert "\x1b[1m" not in "".join(calm)
    later = view.lines(80, NOW + FRESH)
    assert "\x1b[1m" not in "".join(later)
    differing = [at for at, line in enumerate(calm) if line != fresh[at]]
    assert len(differing) == 1


def test_names_cannot_do_anything_to_the_terminal() -> None:
    hostile = an_avatar("a\x1b]0;title\x07b\nc\x9b31md\u202e")
    text = "\n".join(CODES.sub("", line) for line in lines(hostile, style=Style()))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    change = TreeChange(
        what=TreeHappening.CRASHED, path="runtime/avatars/a\x1b[2J\nb", time=NOW, error="ValueError"
    )
    assert re.fullmatch(r"\d\d:\d\d:\d\d a b: crashed \(ValueError\)", change_line(change))


@pytest.mark.parametrize(
    ("what", "path", "is_so"),
    [
        ("crashed", "runtime/warden", True),
        ("ready", "runtime/avatars/aria", True),
        ("stopped", "runtime/avatars/aria", True),
        ("ready", "runtime/avatars/aria/session", True),
        ("stopped", "runtime/avatars/aria/session", False),
        ("ready", "runtime/avatars/aria/activity tracker", False),
        ("ready", "runtime/event router", False),
    ],
)
def test_the_everyday_is_not_told(what: str, path: str, is_so: bool) -> None:  # noqa: FBT001
    change = TreeChange(what=TreeHappening(what), path=path, time=NOW)
    assert is_notable(change) is is_so


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0s"), (59.9, "59s"), (65, "1m"), (3720, "1h 02m"), (266_400, "3d 02h")],
)
def test_ages_are_short(seconds: float, words: str) -> None:
    assert age(seconds) == words


def test_an_avatar_says_what_it_does_who_waits_and_its_process() -> None:
    busy = part("aria", doing="tool_executing", prompts=2, pid=77)
    assert list(notes_of(busy)) == ["busy: running a tool", "2 prompts waiting", "pid 77"]
    asking = part("aria", doing="waiting_approval", prompts=1)
    assert list(notes_of(asking)) == ["asking", "1 prompt waiting"]
