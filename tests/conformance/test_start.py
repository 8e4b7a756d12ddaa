"""The agent does not start: a typed error within the start timeout, which names what to do."""

from pathlib import Path

import pytest
import trio

from avatar_actors import (
    AgentNeedsLogin,
    AgentNotFound,
    AgentRefused,
    AvatarStartError,
    Outcome,
    SettingsError,
    Timeouts,
    open_avatar,
    open_runtime,
)
from tests.conformance.dialects import Dialect, Trait, dialect_named, every_dialect
from tests.conformance.subject import PATIENCE, Step, open_subject, subject_options

SOON = Timeouts(start=1)


async def refused(dialect: Dialect, place: Path, *start: Step) -> AvatarStartError:
    """The error of a start that must fail while the runtime lives on."""
    options = subject_options(dialect, place, *start)
    with trio.fail_after(PATIENCE):
        async with open_runtime() as runtime:
            with pytest.raises(AvatarStartError) as raised:
                await runtime.start(**options)
            assert runtime.avatars() == []
            options = subject_options(dialect, place)
            assert (await (await runtime.start(**options)).chat("12*(3+4)")).success
    return raised.value


@every_dialect(Trait.HANDSHAKE)
async def test_agent_that_never_answers_is_given_up_after_the_start_timeout(
    dialect: Dialect, tmp_path: Path
) -> None:
    options = subject_options(dialect, tmp_path, {"mute": True})
    options["timeouts"] = SOON
    with trio.fail_after(PATIENCE), pytest.raises(AgentRefused, match="within 1 s") as raised:
        async with open_avatar(dialect.provider, **options):
            pass
    assert "timeouts.start" in raised.value.advice


@every_dialect(Trait.HANDSHAKE)
async def test_agent_that_answers_with_an_error_is_quoted(dialect: Dialect, tmp_path: Path) -> None:
    words = {"code": -32603, "message": "no cheese today"}
    error = await refused(dialect, tmp_path, {"initialize_error": words})
    assert isinstance(error, AgentRefused)
    assert "no cheese today" in str(error)


@every_dialect(Trait.LOGIN_AT_START)
async def test_agent_that_wants_a_login_says_how(dialect: Dialect, tmp_path: Path) -> None:
    error = await refused(dialect, tmp_path, {"auth": True})
    assert isinstance(error, AgentNeedsLogin)
    assert error.advice


async def test_one_shot_agent_that_wants_a_login_says_how_with_the_first_prompt(
    tmp_path: Path,
) -> None:
    async with open_subject(dialect_named("gemini-headless"), tmp_path, {"auth": True}) as subject:
        answer = await subject.play({"say": "never"})
        assert (answer.outcome, answer.content) == (Outcome.FAILED, "")
        assert answer.needs_login
        assert "log in" in answer.error


@every_dialect(Trait.LOGIN_AT_START)
async def test_a_login_that_is_lost_later_is_told_by_the_prompt_that_finds_it_gone(
    dialect: Dialect, tmp_path: Path
) -> None:
    async with open_subject(dialect, tmp_path) as subject:
        is_claude = dialect.name == "claude"
        words = "Not logged in · Please run /login" if is_claude else "Authentication required"
        answer = await subject.play({"error": {"code": -32000, "message": words}})
        assert (answer.outcome, answer.content, answer.needs_login) == (Outcome.FAILED, "", True)
        assert "log in" in answer.error or "login" in answer.error
        assert (await subject.avatar.chat("12*(3+4)")).success


@every_dialect(Trait.VERSIONS)
async def test_agent_of_another_protocol_version_is_refused(
    dialect: Dialect, tmp_path: Path
) -> None:
    error = await refused(dialect, tmp_path, {"version": 2})
    assert isinstance(error, AgentRefused)
    assert "2" in error.message
    assert error.advice


@every_dialect(Trait.HANDSHAKE)
@pytest.mark.parametrize("death", [{"kill": 9}, {"exit": 0}, {"exit": 3}, {"close": "stdout"}])
async def test_agent_that_dies_while_it_starts_is_told_of_with_its_last_words(
    dialect: Dialect, tmp_path: Path, death: Step
) -> None:
    error = await refused(dialect, tmp_path, {"stderr": "out of cheese"}, death)
    assert isinstance(error, AgentRefused)
    assert "out of cheese" in str(error)


@every_dialect()
async def test_missing_executable_is_named(dialect: Dialect, tmp_path: Path) -> None:
    options = subject_options(dialect, tmp_path)
    options["executable"] = "no-such-agent"
    with trio.fail_after(PATIENCE), pytest.raises(AgentNotFound, match="no-such-agent"):
        async with open_avatar(dialect.provider, **options):
            pass


@every_dialect()
async def test_file_that_is_not_executable_is_named_with_what_to_do(
    dialect: Dialect, tmp_path: Path
) -> None:
    options = subject_options(dialect, tmp_path)
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n")
    options["executable"] = str(program)
    with trio.fail_after(PATIENCE), pytest.raises(AgentNotFound, match=str(program)) as raised:
        async with open_avatar(dialect.provider, **options):
            pass
    assert "chmod" in raised.value.advice


@every_dialect()
async def test_working_directory_that_is_not_there_is_a_mistake_of_the_host(
    dialect: Dialect, tmp_path: Path
) -> None:
    options = subject_options(dialect, tmp_path)
    options["working_dir"] = tmp_path / "nowhere"
    with pytest.raises(SettingsError, match="nowhere"):
        async with open_avatar(dialect.provider, **options):
            pass


@every_dialect(Trait.HANDSHAKE)
async def test_noise_before_the_handshake_is_survived(dialect: Dialect, tmp_path: Path) -> None:
    noise: list[Step] = [{"raw": "Loading...\nnull\n[1]\n"}, {"garbage": 10_000, "seed": 7}]
    async with open_subject(dialect, tmp_path, *noise, {"stderr": 100_000}) as subject:
        assert await subject.says("here I am")


@every_dialect(Trait.HANDSHAKE)
async def test_start_can_be_cancelled_at_any_moment(dialect: Dialect, tmp_path: Path) -> None:
    options = subject_options(dialect, tmp_path, {"mute": True})
    for milliseconds in (0, 5, 20, 60, 120, 250):
        with trio.fail_after(PATIENCE), trio.move_on_after(milliseconds / 1000) as scope:
            async with open_avatar(dialect.provider, **options):
                pass
        assert scope.cancelled_caught
