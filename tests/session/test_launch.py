"""How an agent is launched: little of the host's environment, private files, known secrets."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from avatar_actors.model.settings import AvatarSettings
from avatar_actors.model.values import McpServer
from avatar_actors.providers.acp import acp_provider
from avatar_actors.providers.provider import LaunchPlan, Place, Provider
from avatar_actors.session.launch import Launcher
from avatar_actors.session.messages import ResumePlan
from avatar_actors.wire.commands import Beginning

KEY = "sk-very-secret-1234"
WORDS = ("agent",)
FILES = {"a.md": "text", "home/.x/settings.json": "{}"}


@contextmanager
def environment(**variables: str) -> Generator[None]:
    """The host's environment, which is what this is about; put back afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def provider(plan: LaunchPlan, *passes: str) -> Provider:
    def planned(settings: AvatarSettings, place: Place) -> LaunchPlan:
        return plan

    wire = acp_provider("test", ("agent",)).wire
    return Provider(name="test", plan=planned, wire=wire, passes=passes)


def launcher(folder: Path, *passes: str, settings: AvatarSettings | None = None) -> Launcher:
    plan = LaunchPlan(argv=WORDS, env={"PLANNED": "1"}, files=FILES)
    return Launcher(provider(plan, *passes), settings or AvatarSettings(), folder)


async def test_the_agent_gets_what_is_harmless_and_what_its_provider_names(tmp_path: Path) -> None:
    with environment(T1_API_KEY=KEY, T1_OTHER_KEY=KEY, LC_TIME="C"):
        launch = await launcher(tmp_path, "T1_API_*").prepare(ResumePlan())
    assert (launch.env["T1_API_KEY"], launch.env["LC_TIME"]) == (KEY, "C")
    assert launch.env["PLANNED"] == "1"
    assert launch.env["PATH"] == os.environ["PATH"]
    assert "T1_OTHER_KEY" not in launch.env


@pytest.mark.parametrize(
    "name",
    ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "PYTHONPATH", "LD_PRELOAD"],
)
async def test_what_nobody_named_stays_with_the_host(tmp_path: Path, name: str) -> None:
    with environment(**{name: ""}):
        launch = await launcher(tmp_path).prepare(ResumePlan())
    assert name not in launch.env


async def test_what_the_host_gives_by_name_comes_last(tmp_path: Path) -> None:
    settings = AvatarSettings(env={"PLANNED": "2", "MINE": "3"})
    launch = await launcher(tmp_path, settings=settings).prepare(ResumePlan())
    assert (launch.env["PLANNED"], launch.env["MINE"]) == ("2", "3")


async def test_private_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    for _ in "twice":
        await launcher(tmp_path).prepare(ResumePlan())
    for name, text in FILES.items():
        assert (tmp_path / name).read_text() == text
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_secrets_are_known_by_the_names_of_their_variables(tmp_path: Path) -> None:
    server = McpServer(
        name="db", command="db", env={"ANY": "mcp-password"}, headers={"X": "Bearer abcdef"}
    )
    settings = AvatarSettings(
        env={"MY_TOKEN": "token-value", "my_password": "lower-case", "PLAIN": "not-hidden"},
        mcp_servers=(server,),
    )
    with environment(T1_API_KEY=KEY):
        redactor = launcher(tmp_path, "T1_*", settings=settings).redactor()
    for secret in (KEY, "token-value", "lower-case", "mcp-password", "Bearer abcdef"):
        assert redactor.hide(f"<{secret}>") == "<[secret]>"
    assert redactor.hide("not-hidden") == "not-hidden"


def test_a_short_value_is_a_word_and_not_hidden(tmp_path: Path) -> None:
    settings = AvatarSettings(env={"MY_KEY": "yes"})
    assert launcher(tmp_path, settings=settings).redactor().hide("yes") == "yes"


async def test_what_was_chosen_since_stands_in_for_the_settings(tmp_path: Path) -> None:
    settings = AvatarSettings(model="small", mode="ask")
    chosen = launcher(tmp_path, settings=settings).chosen(ResumePlan(model="big"))
    assert (chosen.model, chosen.mode) == ("big", "ask")


async def test_every_life_gets_an_id_of_its_own_for_a_new_session(tmp_path: Path) -> None:
    one = await launcher(tmp_path).settle(ResumePlan("old"))
    other = await launcher(tmp_path).settle(ResumePlan("old"))
    assert one.session_id == other.session_id == "old"
    assert one.new_id != other.new_id


async def test_without_a_store_the_last_session_is_left_to_the_agent(tmp_path: Path) -> None:
    plan = await launcher(tmp_path).settle(ResumePlan(begins=Beginning.LAST))
    assert (plan.session_id, plan.begins) == ("", Beginning.LAST)


async def test_a_directory_of_private_files_is_for_its_owner_alone(tmp_path: Path) -> None:
    await launcher(tmp_path).prepare(ResumePlan())
    assert (tmp_path / "home" / ".x").stat().st_mode & 0o777 == 0o700


async def test_an_agent_runs_below_its_hosts_priority_unless_the_settings_say_otherwise(
    tmp_path: Path,
) -> None:
    low = await launcher(tmp_path).prepare(ResumePlan())
    settings = AvatarSettings(priority="normal")
    normal = await launcher(tmp_path, settings=settings).prepare(ResumePlan())
    assert (low.nice, normal.nice) == (19, 0)
