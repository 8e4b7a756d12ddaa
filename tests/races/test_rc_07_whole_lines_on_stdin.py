"""RC-7: whatever is said at once, every line on the agent's stdin is one whole message."""

import json
import sys
from collections import Counter
from pathlib import Path

import trio

from avatar_actors import AvatarOptions, Outcome, PermissionEvent, Permit, UnknownRequest
from tests.conformance.dialects import Dialect, Trait, every_dialect
from tests.conformance.subject import Subject, open_subject
from tests.fake_agents import launcher

PROMPTS = 100


def recording_stdin(dialect: Dialect, place: Path) -> AvatarOptions:
    """An agent whose stdin is also written to a file."""
    fake = launcher.FAKES.get(dialect.name)
    program = launcher.executable(fake.executable) if fake is not None else sys.executable
    wrapper = place / "recording"
    wrapper.write_text(f'#!/bin/sh\ntee -a "{place}/stdin" | "{program}" "$@"\n')
    wrapper.chmod(0o700)
    return AvatarOptions(executable=str(wrapper))


def lines_on_stdin(place: Path) -> list[dict[str, object]]:
    text = (place / "stdin").read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


async def ask(subject: Subject, number: int, answers: Counter[str]) -> None:
    """A turn with a question and a long text on its way."""
    question = {"ask": "Bash", "input": {"command": f"{number}"}}
    answer = await subject.play({"say": f"<{number}>" + "é" * 1000}, question)
    answers[answer.outcome.value] += 1
    if answer.success:
        assert answer.content.startswith(f"<{number}>é")


async def permit(subject: Subject) -> None:
    async with subject.avatar.events(PermissionEvent) as questions:
        async for question in questions:
            assert isinstance(question, PermissionEvent)
            try:
                await subject.avatar.answer(question.request_id, Permit.ALLOW_ONCE)
            except UnknownRequest:
                continue


async def interrupt(subject: Subject, answers: Counter[str]) -> None:
    while answers.total() < PROMPTS:
        await subject.avatar.interrupt()
        await trio.sleep(0.02)


@every_dialect(Trait.PERMISSIONS)
async def test_rc_07_prompts_interrupts_and_answers_at_once_are_whole_lines(
    dialect: Dialect, tmp_path: Path
) -> None:
    answers: Counter[str] = Counter()
    async with open_subject(dialect, tmp_path, **recording_stdin(dialect, tmp_path)) as subject:
        async with trio.open_nursery() as background:
            background.start_soon(permit, subject)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(interrupt, subject, answers)
                for number in range(PROMPTS):
                    nursery.start_soon(ask, subject, number, answers)
            background.cancel_scope.cancel()
        assert await subject.says("and now")
        assert (await subject.avatar.health()).restarts == 0
    assert answers.total() == PROMPTS
    assert set(answers) <= {Outcome.COMPLETED.value, Outcome.CANCELLED.value}
    lines = lines_on_stdin(tmp_path)
    assert all(isinstance(line, dict) for line in lines)


@every_dialect()
async def test_rc_07_after_a_cancelled_turn_the_next_two_get_their_own_answers(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        for number in range(3):
            async with subject.turn({"say": f"A{number}"}, {"wait": 1000}) as turn:
                await subject.recorder.until_text(f"A{number}")
            assert turn.outcome is Outcome.CANCELLED
            assert await subject.says(f"B{number}")
            assert await subject.says(f"C{number}")
