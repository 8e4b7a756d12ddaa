"""The pure rules about tools that run unasked: which count, what they break, what was allowed."""

import pytest

from avatar_actors.model.events import ToolEvent
from avatar_actors.model.permission_rules import Rule, Rules
from avatar_actors.model.settings import PermissionMode
from avatar_actors.model.tool_policy import ToolPolicy
from avatar_actors.model.values import (
    JsonObject,
    PermissionBasis,
    PermissionOption,
    Permit,
    ToolStatus,
)
from avatar_actors.session.unasked_tools import UnaskedTools
from avatar_actors.wire.commands import AnswerPermission
from avatar_actors.wire.facts import FileWanted, PermissionAsked

SAFE, ASK, UNRESTRICTED = PermissionMode.SAFE, PermissionMode.ASK, PermissionMode.UNRESTRICTED
ENFORCED, ASKED, ON_TRUST = PermissionBasis
NO_POLICY = ToolPolicy()


def watch(
    mode: PermissionMode = ASK, policy: ToolPolicy = NO_POLICY, *, asks_after_start: bool = False
) -> UnaskedTools:
    return UnaskedTools(Rules(mode, policy), ON_TRUST, asks_after_start=asks_after_start)


def tool(
    tool_id: str = "1",
    kind: str = "edit",
    status: ToolStatus = ToolStatus.STARTED,
    given: JsonObject | None = None,
) -> ToolEvent:
    return ToolEvent(
        tool_name="Tool", tool_id=tool_id, kind=kind, status=status, parameters=given or {}
    )


def answer(unasked: UnaskedTools, asked: ToolEvent, permit: Permit, option_id: str = "") -> None:
    options = (PermissionOption("a", Permit.ALLOW_ALWAYS),)
    unasked.asked(PermissionAsked(request_id="r", tool=asked, options=options))
    reply = AnswerPermission(request_id="r", permit=permit, option_id=option_id)
    unasked.answered(reply)


@pytest.mark.parametrize(
    ("basis", "counted"),
    [
        (ENFORCED, {"edit", "delete", "move"}),
        (ASKED, {"edit", "delete", "move", "execute"}),
        (ON_TRUST, {"edit", "delete", "move", "execute", "other", "new kind"}),
    ],
)
def test_the_less_is_known_of_an_agent_the_more_counts(
    basis: PermissionBasis, counted: set[str]
) -> None:
    looking = {"read", "search", "think", "fetch", "switch_mode"}
    kinds = {"edit", "delete", "move", "execute", "other", "new kind"}
    rules = Rules(SAFE, NO_POLICY)
    broken = {kind for kind in looking | kinds if rules.broken_by("x", kind, {}, basis)}
    assert broken == counted


@pytest.mark.parametrize(
    ("mode", "policy", "rule"),
    [
        (SAFE, NO_POLICY, Rule.SAFE),
        (ASK, NO_POLICY, Rule.ASK),
        (UNRESTRICTED, NO_POLICY, None),
        (UNRESTRICTED, ToolPolicy(deny=("Tool",)), Rule.DENIED),
        (UNRESTRICTED, ToolPolicy(deny=("edit(*x*)",)), Rule.DENIED),
        (UNRESTRICTED, ToolPolicy(allow=("Other",)), Rule.NOT_ALLOWED),
        (SAFE, ToolPolicy(allow=("edit",)), None),
        (SAFE, ToolPolicy(allow=("edit",), deny=("Tool",)), Rule.DENIED),
    ],
)
def test_the_rule_that_a_tool_breaks(
    mode: PermissionMode, policy: ToolPolicy, rule: Rule | None
) -> None:
    found = Rules(mode, policy).broken_by("Tool", "edit", {"path": "x"}, ENFORCED)
    assert found is rule


def test_a_denial_counts_also_for_what_only_looks() -> None:
    rules = Rules(UNRESTRICTED, ToolPolicy(deny=("*(*secret*)",), allow=("Other",)))
    assert rules.broken_by("Read", "read", {"path": "secret"}, ENFORCED) is Rule.DENIED
    assert rules.broken_by("Read", "read", {"path": "public"}, ENFORCED) is None
    assert rules.broken_by("Todo", "think", {"text": "the secret"}, ENFORCED) is None


@pytest.mark.parametrize("status", list(ToolStatus))
def test_what_has_not_run_for_certain_does_not_count(status: ToolStatus) -> None:
    runs = {ToolStatus.STARTED, ToolStatus.COMPLETED}
    assert (watch().look(tool(status=status)) is not None) == (status in runs)
    late = watch(asks_after_start=True).look(tool(status=status))
    assert (late is not None) == (status is ToolStatus.COMPLETED)


def test_a_tool_is_told_once_a_turn() -> None:
    unasked = watch()
    assert unasked.look(tool()) is not None
    assert unasked.look(tool(status=ToolStatus.COMPLETED)) is None
    unasked.begin_turn()
    assert unasked.look(tool()) is not None


def test_what_was_allowed_is_known_by_its_id_or_its_input_and_for_one_turn() -> None:
    unasked = watch()
    answer(unasked, tool(given={"path": "x"}), Permit.ALLOW_ONCE)
    assert unasked.look(tool()) is None
    assert unasked.look(tool("2", given={"path": "x"})) is None
    assert unasked.look(tool("3", given={"path": "y"})) is not None
    unasked.begin_turn()
    assert unasked.look(tool()) is not None


@pytest.mark.parametrize("permit", [Permit.REJECT_ONCE, Permit.REJECT_ALWAYS, Permit.CANCELLED])
def test_what_was_refused_and_ran_is_unasked(permit: Permit) -> None:
    unasked = watch()
    answer(unasked, tool(), permit)
    assert unasked.look(tool()) is not None


@pytest.mark.parametrize(("permit", "option"), [("allow_always", ""), ("allow_once", "a")])
def test_after_always_the_kind_need_not_be_asked_about(permit: str, option: str) -> None:
    unasked = watch()
    answer(unasked, tool(), Permit(permit), option)
    unasked.begin_turn()
    assert unasked.look(tool("2")) is None
    assert unasked.look(tool("3", kind="execute")) is not None


def test_always_is_no_leave_to_break_the_policy() -> None:
    unasked = watch(ASK, ToolPolicy(deny=("*(rm *)",)))
    answer(unasked, tool(kind="execute", given={"command": "ls"}), Permit.ALLOW_ALWAYS)
    assert unasked.look(tool("2", kind="execute", given={"command": "rm x"})) is not None


def test_leave_to_look_is_no_leave_to_change() -> None:
    unasked = watch(SAFE)
    answer(unasked, tool(kind="read", given={"path": "/w/x"}), Permit.ALLOW_ONCE)
    assert unasked.look(tool(kind="edit", given={"path": "/w/x"})) is not None
    assert unasked.refusal_of(FileWanted(request_id="f", path="/w/x", text="new"))


def test_a_file_is_written_for_the_agent_where_no_rule_forbids_it() -> None:
    wanted = FileWanted(request_id="f", path="/w/x", text="new")
    assert watch(ASK).refusal_of(wanted) == watch(UNRESTRICTED).refusal_of(wanted) == ""
    assert watch(SAFE).refusal_of(wanted) == "safe mode forbids to write /w/x"
    assert watch(SAFE).refusal_of(FileWanted(request_id="f", path="/w/x")) == ""
    policy = ToolPolicy(allow=("Tool",))
    allowed = watch(UNRESTRICTED, policy)
    assert allowed.refusal_of(wanted)
    answer(allowed, tool(given={"path": "x"}), Permit.ALLOW_ONCE)
    assert not allowed.refusal_of(wanted)
