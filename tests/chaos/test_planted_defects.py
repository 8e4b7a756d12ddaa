"""Defects as they could come into the product, planted in a copy of it: the verdict finds each."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from avatar_actors.chaos import ChaosReport, FaultKind
from tests.chaos.mutant import Edit, Run, copied, run_chaos_of
from tests.thorough import for_conformance

PLANTED = '__import__("planted")'
ONCE = f"{PLANTED}.once()"
KILLS = (FaultKind.KILL_AGENT, FaultKind.FLOOD)
# No session ends by it, so every question comes to its own end.
GENTLE = (FaultKind.FULL_MAILBOX,)


class Defect(Struct, frozen=True):
    """What is planted, which faults bring it to light, and which promises it breaks."""

    edit: Edit
    breaks: frozenset[str]
    faults: tuple[FaultKind, ...] = KILLS


def defect(edit: Edit, *breaks: str, faults: tuple[FaultKind, ...] = KILLS) -> Defect:
    return Defect(edit, frozenset(breaks), faults)


# The copy's module `planted` says that it happened, and once only where that is wanted.
DEFECTS = {
    "a stream drops one event": defect(
        Edit(
            "avatar_actors/avatar/event_stream.py",
            "self._queue.extend(events)",
            "is_first = events and type(events[0]) is TextEvent\n"
            f"            self._queue.extend(events[1:] if is_first and {ONCE} else events)",
        ),
        "events lost",
    ),
    "the tracker tells the end of a cancelled turn before the last of it": defect(
        Edit(
            "avatar_actors/avatar/actors/activity_tracker.py",
            "self.publish(end.turn_id, events)",
            "is_first = end.ending.outcome.value == 'cancelled'\n"
            f"        is_first = is_first and {ONCE}\n"
            "        self.publish(end.turn_id, [events[-1], *events[:-1]] if is_first else events)",
        ),
        "events after cancel",
        faults=GENTLE,
    ),
    "a stream delivers one event twice": defect(
        Edit(
            "avatar_actors/avatar/event_stream.py",
            "self._queue.extend(events)",
            "is_first = events and type(events[0]) is TextEvent\n"
            "            again = [events[0], *events] if is_first else events\n"
            f"            self._queue.extend(again if is_first and {ONCE} else events)",
        ),
        "events doubled",
    ),
    "a stream drops one event of a caller that is no text": defect(
        Edit(
            "avatar_actors/avatar/event_stream.py",
            "self._queue.extend(events)",
            "is_first = self.turn_id and events and type(events[0]) is not TextEvent\n"
            f"            self._queue.extend(events[1:] if is_first and {ONCE} else events)",
        ),
        "events lost",
    ),
    "a stream delivers one event twice to its caller": defect(
        Edit(
            "avatar_actors/avatar/event_stream.py",
            "self._queue.extend(events)",
            "is_first = self.turn_id and events and type(events[0]) is TextEvent\n"
            "            again = [events[0], *events] if is_first else events\n"
            f"            self._queue.extend(again if is_first and {ONCE} else events)",
        ),
        "events doubled",
    ),
    "the bridge loses the end of a tool": defect(
        Edit(
            "avatar_actors/session/bridge.py",
            "messages.Publish(self._turns.turn_id, events))",
            "messages.Publish(self._turns.turn_id, [event for event in events\n"
            '            if type(event).__name__ != "ToolEvent" or not event.status.is_over\n'
            f"            or not {ONCE}]))",
        ),
        "events lost",
        faults=(FaultKind.STOP_TOOL,),
    ),
    "the bridge asks for the prompt before": defect(
        Edit(
            "avatar_actors/session/bridge.py",
            "commands.Prompt(turn_id, text, attachments)",
            f"commands.Prompt(turn_id, {PLANTED}.last(text), attachments)",
        ),
        "prompts mixed",
        "events lost",
    ),
    "the keeper only asks where it should kill": defect(
        Edit(
            "avatar_actors/programs/warden/keeper.py",
            "denied = self._signal_tree(signal.SIGKILL)",
            f"{ONCE}\n        denied = self._signal_tree(signal.SIGTERM)",
        ),
        "orphans",
        faults=(FaultKind.HALF_LINE,),
    ),
    "the warden never reaps its first keeper": defect(
        Edit(
            "avatar_actors/programs/warden/program.py",
            "pid, status = os.waitpid(-1, os.WNOHANG)",
            f"{ONCE}\n"
            "                first = next(iter(self._leases), 0)\n"
            "                others = (pid for pid in children(os.getpid()) if pid != first)\n"
            "                waits = (os.waitpid(pid, os.WNOHANG) for pid in others)\n"
            "                dead = next((each for each in waits if each[0]), None)\n"
            "                if dead is None and not first:\n"
            "                    dead = os.waitpid(-1, os.WNOHANG)\n"
            "                pid, status = dead or (0, 0)",
        ),
        "zombies",
    ),
    "a task of a turn outlives the turn": defect(
        Edit(
            "avatar_actors/avatar/actors/activity_tracker.py",
            "tracker.begin(message)",
            f"{ONCE} and trio.lowlevel.spawn_system_task(trio.sleep_forever)\n"
            "                tracker.begin(message)",
        ),
        "tasks left",
    ),
    "an avatar's directory is not removed": defect(
        Edit(
            "avatar_actors/avatar/actors/private_dir.py",
            "await trio.to_thread.run_sync(",
            f"{ONCE} or await trio.to_thread.run_sync(",
        ),
        "directories left",
        faults=(FaultKind.RAISE_IN_VITAL,),
    ),
    "a descriptor of a session is not closed": defect(
        Edit(
            "avatar_actors/processes/descriptors.py",
            "if self.is_ours():\n            os.close",
            f"if self.is_ours() and not {ONCE}:\n            os.close",
        ),
        "descriptors left",
    ),
    "the runtime's directory is not removed": defect(
        Edit(
            "avatar_actors/processes/private_root.py",
            "for each in (path, unfinished):",
            f"for each in () if {ONCE} else (path, unfinished):",
        ),
        "directories left",
    ),
}
CHEAP = (
    "a stream drops one event",
    "the tracker tells the end of a cancelled turn before the last of it",
)


def run(place: Path, edit: Edit | None, kinds: Sequence[FaultKind] = KILLS) -> Run:
    # With this seed the second question to a0 and the third to a1 are cancelled by the host.
    size = ("--avatars", "2", "--seconds", "1", "--every", "0.4", "--seed", "17")
    faults = (word for kind in kinds for word in ("--faults", kind.value))
    return run_chaos_of(copied(place, edit), *size, *faults)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in CHEAP else for_conformance) for name in DEFECTS]
)
def test_a_planted_defect_breaks_its_promises_and_no_other(name: str, tmp_path: Path) -> None:
    planted = DEFECTS[name]
    found = run(tmp_path, planted.edit, planted.faults)
    assert found.has_happened, found.output
    assert found.broken == planted.breaks, (found.output, found.report.examples)
    assert found.code == 1, found.output


@for_conformance
def test_the_copy_as_it_is_breaks_none_and_the_same_seed_gives_the_same_schedule(
    tmp_path: Path,
) -> None:
    reports: list[ChaosReport] = []
    for round_ in ("first", "second"):
        place = tmp_path / round_
        place.mkdir()
        found = run(place, None)
        assert (found.code, found.broken) == (0, set()), found.output
        assert not found.has_happened
        reports.append(found.report)
    first, second = reports
    assert (first.digest, first.schedule) == (second.digest, second.schedule)
    for report in reports:
        assert report.is_ok
        numbers = sorted(fault.number for fault in report.faults)
        assert numbers == [fault.number for fault in report.schedule]
        assert all(fault.is_landed and fault.proof for fault in report.faults)
        assert report.totals.prompts.answered > 0
        kills = sum(fault.kind is FaultKind.KILL_AGENT for fault in report.faults)
        assert report.totals.restarts >= kills


def test_a_place_that_the_product_no_longer_has_is_said_in_words(tmp_path: Path) -> None:
    gone = Edit("avatar_actors/avatar/event_stream.py", "a line of the past", "")
    with pytest.raises(AssertionError, match="the product has moved on"):
        copied(tmp_path, gone)
