"""Which fault comes when: pure, so that a seed is enough to have a run again."""

from collections import Counter

import msgspec

from avatar_actors.chaos import KINDS, ChaosAgents, ChaosOptions, FaultKind, digest, plan_of
from avatar_actors.chaos.faults.kinds import possible
from avatar_actors.chaos.faults.schedule import PlannedFault

MANY = ChaosOptions(avatars=10, seconds=600.0, every=0.1, seed=3)


def test_the_same_seed_gives_the_same_schedule_byte_for_byte() -> None:
    first, second = plan_of(MANY, ChaosAgents()), plan_of(MANY, ChaosAgents())
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
    assert digest(first) == digest(second)
    other = msgspec.structs.replace(MANY, seed=4)
    assert digest(plan_of(other, ChaosAgents())) != digest(first)


def test_a_schedule_is_what_it_was_when_this_was_written() -> None:
    few = ChaosOptions(avatars=8, seconds=20.0, every=0.4, seed=1)
    assert digest(plan_of(few, ChaosAgents())) == "1f45ec0b097e209d"


def test_gaps_have_the_wished_mean_and_every_kind_comes_by_its_weight() -> None:
    faults = plan_of(MANY, ChaosAgents())
    assert 0.095 < 600 / len(faults) < 0.105
    assert all(0 <= fault.at < 600 and 0 <= fault.avatar < 10 for fault in faults)
    counts = Counter(fault.kind for fault in faults)
    share = {kind: counts[kind] / KINDS[kind].weight for kind in FaultKind}
    assert max(share.values()) - min(share.values()) < 0.1 * max(share.values())


def test_only_the_wished_kinds_are_planned() -> None:
    wished = (FaultKind.KILL_AGENT, FaultKind.HANG)
    options = msgspec.structs.replace(MANY, kinds=wished)
    assert {fault.kind for fault in plan_of(options, ChaosAgents())} == set(wished)


def test_an_agent_without_scripts_is_spared_what_needs_them() -> None:
    left = possible((), plays_scripts=False)
    assert FaultKind.KILL_AGENT in left
    assert FaultKind.CANCEL_IN_RESTART in left
    assert not {FaultKind.HANG, FaultKind.GARBAGE, FaultKind.KILL_TOOL} & set(left)


def test_a_planned_fault_survives_json() -> None:
    faults = plan_of(MANY, ChaosAgents())[:50]
    text = msgspec.json.encode(faults)
    assert msgspec.json.decode(text, type=tuple[PlannedFault, ...]) == faults
