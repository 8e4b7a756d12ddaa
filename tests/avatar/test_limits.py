"""The pure limits: the token bucket, the rules about tools."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from avatar_actors.avatar.state.limits import TokenBucket
from avatar_actors.model.permission_rules import Rule, Rules
from avatar_actors.model.settings import PermissionMode, RateLimit
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import PermissionBasis, Permit


@given(
    st.floats(1, 6000),
    st.integers(1, 5),
    st.lists(st.floats(0, 10), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_the_burst_and_the_rate(
    per_minute: float, burst: int, gaps: list[float]
) -> None:
    bucket, now, taken = TokenBucket(RateLimit(per_minute, burst), 0.0), 0.0, list[float]()
    for gap in gaps:
        now += gap
        while bucket.take(now):
            taken.append(now)
    for first, start in enumerate(taken):
        for count, end in enumerate(taken[first:], 1):
            assert count <= burst + (end - start) * per_minute / 60 + 1e-3


def test_a_token_is_there_when_it_was_promised() -> None:
    bucket = TokenBucket(RateLimit(60, burst=2), 100.0)
    assert [bucket.take(100.0) for _ in range(3)] == [True, True, False]
    assert bucket.next_at() == pytest.approx(101.0)
    assert not bucket.take(100.9)
    assert bucket.take(bucket.next_at())


def test_a_token_put_back_is_there_at_once() -> None:
    bucket = TokenBucket(RateLimit(1), 0.0)
    assert bucket.take(0.0)
    bucket.put_back()
    assert bucket.take(0.0)
    assert not bucket.take(0.0)


ASK, SAFE, FREE = PermissionMode.ASK, PermissionMode.SAFE, PermissionMode.UNRESTRICTED
NO, YES = Permit.REJECT_ONCE, Permit.ALLOW_ONCE


@pytest.mark.parametrize(
    ("mode", "policy", "kind", "permit"),
    [
        (ASK, ToolPolicy(), "read", None),
        (ASK, ToolPolicy(), "execute", None),
        (SAFE, ToolPolicy(), "read", YES),
        (SAFE, ToolPolicy(), "search", YES),
        (SAFE, ToolPolicy(), "edit", NO),
        (SAFE, ToolPolicy(), "execute", NO),
        (SAFE, ToolPolicy(), "delete", NO),
        (SAFE, ToolPolicy(), "other", NO),
        (SAFE, ToolPolicy(), "", NO),
        (FREE, ToolPolicy(), "execute", YES),
        (FREE, ToolPolicy(deny=("Tool",)), "read", NO),
        (SAFE, ToolPolicy(deny=("Tool",)), "read", NO),
        (ASK, ToolPolicy(deny=("Tool",)), "read", NO),
        (ASK, ToolPolicy(allow=("Tool",)), "execute", YES),
        (ASK, ToolPolicy(allow=("Other",)), "read", NO),
    ],
)
def test_the_policy_decides_before_the_mode_and_only_ask_asks(
    mode: PermissionMode, policy: ToolPolicy, kind: str, permit: Permit | None
) -> None:
    verdict = Rules(mode, policy).verdict("Tool", kind, {})
    assert (verdict and verdict[0]) == permit


@pytest.mark.parametrize(
    ("deny", "name", "kind", "title", "is_denied"),
    [
        ("Delete*", "delete", "delete", "rm x", True),  # a tool without a name is told by its kind
        ("Remove *", "delete", "delete", "Remove x", True),  # or by its title
        ("Remove *", "Shell", "execute", "Remove x", False),  # a name of its own counts alone
        ("execute", "Bash", "execute", "ls", True),  # a kind in lower case is every such tool
        ("Edit", "Write", "edit", "a.txt", False),  # with a capital it is a name
    ],
)
def test_deny_fits_the_name_the_kind_or_the_title_of_a_nameless_tool(
    deny: str,
    name: str,
    kind: str,
    title: str,
    is_denied: bool,  # noqa: FBT001 - the answer of the table
) -> None:
    rules = Rules(FREE, ToolPolicy(deny=(deny,)))
    verdict = rules.verdict(name, kind, {}, title)
    assert verdict == ((NO, "tool policy") if is_denied else (YES, "unrestricted mode"))
    broken = rules.broken_by(name, kind, {}, PermissionBasis.ON_TRUST, title=title)
    assert broken is (Rule.DENIED if is_denied else None)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (ToolPolicy(deny=("bash", "WRITE(*x*)", "execute", "*(*secret*)", "mcp__db__*")), []),
        (ToolPolicy(deny=("Bahs", "Bash")), ["deny 'Bahs'"]),
        (ToolPolicy(deny=("Delte*(x)",)), ["deny 'Delte*(x)'"]),
        (ToolPolicy(allow=("bash", "Bash")), ["allow 'bash'"]),
    ],
)
def test_a_pattern_that_fits_no_known_tool_and_no_kind_is_warned_about(
    policy: ToolPolicy, told: list[str]
) -> None:
    warnings = Rules(ASK, policy).warnings({"Bash", "Write"})
    assert [words.partition(" fits")[0] for words in warnings] == told
