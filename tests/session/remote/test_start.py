"""What cannot be reached is told at once, with what to do; a token is not given away."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from avatar_actors import (
    AgentNeedsLogin,
    AgentNotFound,
    AgentRefused,
    AvatarSettings,
    AvatarStartError,
    Restarts,
    SettingsError,
    Timeouts,
    acp_provider,
    open_avatar,
)
from avatar_actors.providers.acp import any_acp_provider
from avatar_actors.providers.embedded import embedded_provider
from avatar_actors.session.launch import Launcher, settled
from tests.session.remote.place import HEADERS, PATIENCE, TOKEN, Place, play
from tests.session.remote.wireline import open_deaf_port

SHORT = Timeouts(start=1.0)


async def refusal(place: Place, port: int = 0, path: str = "acp", **options: Any) -> str:
    """What a start that fails says; it must fail in time."""
    error = await failure(place, port, path, **options)
    return f"{type(error).__name__}: {error}"


async def failure(
    place: Place, port: int = 0, path: str = "acp", **options: Any
) -> AvatarStartError:
    with pytest.raises(AvatarStartError) as caught:
        async with place.avatar(port, path, **options):
            pass
    assert TOKEN not in str(caught.value)
    return caught.value


async def test_a_wrong_token_is_a_login_and_the_advice_names_the_headers(place: Place) -> None:
    wrong = {"Authorization": "Bearer open-says-me"}
    error = await failure(place, headers=wrong)
    assert isinstance(error, AgentNeedsLogin)
    assert "headers" in error.advice
    assert "open-says-me" not in str(error)


async def test_no_token_is_a_login_too(place: Place) -> None:
    assert isinstance(await failure(place, headers={}), AgentNeedsLogin)


async def test_nobody_who_listens_is_told_at_once(place: Place, free_port: int) -> None:
    error = await failure(place, free_port)
    assert isinstance(error, AgentNotFound)
    assert error.message == f"nothing listens at {place.url(free_port)}"


async def test_a_path_without_an_agent_is_told(place: Place) -> None:
    error = await failure(place, path="elsewhere")
    assert isinstance(error, AgentNotFound)
    assert "HTTP 404" in error.message


async def test_an_unknown_host_is_told(place: Place) -> None:
    url = f"{place.scheme}://no-such-host.invalid/acp"
    error = await failure(place, url=url, headers={})
    assert isinstance(error, AgentNotFound)
    assert "host" in error.message


async def test_a_server_that_never_answers_ends_the_start_in_time(place: Place) -> None:
    async with open_deaf_port() as port:
        with trio.fail_after(PATIENCE / 2):
            error = await failure(place, port, timeouts=SHORT)
    assert isinstance(error, AgentRefused)
    assert "1 s" in error.message


async def test_an_agent_that_never_answers_ends_the_start_in_time(place: Place) -> None:
    error = await failure(place, path="mute", timeouts=SHORT)
    assert isinstance(error, AgentRefused)
    assert "did not answer its start within 1 s" in error.message


async def test_a_server_without_tls_is_told(place: Place) -> None:
    url = place.url().replace(f"{place.scheme}://", f"{place.scheme}s://")
    with trio.fail_after(PATIENCE / 2):
        assert "secure" in await refusal(place, url=url)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"url": "ftp://host/x"}, "begins with one of ws://, http://, wss://, https:// and a host"),
    ({"url": "host:80"}, "begins with one of"),
    ({"url": "ws://"}, "begins with one of"),
    ({"url": "ws://[::1/acp"}, "begins with one of"),
    ({"url": "ws://me:secret@host/acp"}, "give it in `headers`"),
    ({"url": "ws://host/acp", "executable": "agent"}, "leave out `executable`"),
    ({"url": "ws://host/acp", "args": ("-v",)}, "leave out `args`"),
    ({"url": "ws://host/acp", "env": {"A": "b"}}, "leave out `env`"),
    ({"url": "ws://far.example/acp", "headers": HEADERS}, "clear text: use wss://"),
    ({"url": "http://10.0.0.1/acp", "headers": HEADERS}, "clear text: use https://"),
    ({"url": "ws://host/acp", "options": {"cwd": "srv"}}, "absolute path"),
    ({"url": "ws://host/acp", "options": {"dead_after": "0"}}, "at least 1 second"),
    ({"url": "ws://host/acp", "options": {"dead_after": "soon"}}, "is a number"),
    ({"url": "ws://host/acp", "options": {"insecure": "yes"}}, "one of false, true"),
    ({"url": "ws://host/acp", "options": {"colour": "red"}}, "no option 'colour'"),
    ({"executable": "agent", "headers": HEADERS}, "`headers` is for an agent at a `url`"),
    ({"executable": "agent", "options": {"dead_after": "5"}}, "`dead_after` is for an agent at"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
async def test_settings_that_cannot_work_are_refused(number: int) -> None:
    options, words = REFUSED[number]
    with trio.fail_after(PATIENCE), pytest.raises(SettingsError) as caught:
        async with open_avatar("acp", **options):
            pass
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["ws://localhost/a", "ws://127.0.0.9/a", "http://[::1]:8/a", "wss://far.example/a"]
)
def test_a_token_may_go_to_this_machine_or_sealed(url: str) -> None:
    settings = AvatarSettings(url=url, headers=HEADERS)
    assert settled(any_acp_provider(), settings).url == url


def test_a_token_goes_in_clear_text_only_if_it_is_said_so() -> None:
    far = AvatarSettings(url="ws://far/a", headers=HEADERS, options={"insecure": "true"})
    assert settled(any_acp_provider(), far).url == "ws://far/a"


def test_an_agent_that_is_started_takes_no_address() -> None:
    for settings in (AvatarSettings(url="ws://host/a"), AvatarSettings(headers=HEADERS)):
        with pytest.raises(SettingsError, match="use the provider `acp`"):
            settled(embedded_provider(), settings)
    with pytest.raises(SettingsError, match="leave out `url`"):
        settled(acp_provider("mine", ("mine",)), AvatarSettings(url="ws://host/a"))


def test_a_remote_has_restarts_of_its_own_unless_they_are_chosen() -> None:
    remote = AvatarSettings(url="ws://host/a")
    assert settled(any_acp_provider(), remote).restarts.max_delay == 10
    chosen = AvatarSettings(url="ws://host/a", restarts=Restarts(max_restarts=1))
    assert settled(any_acp_provider(), chosen).restarts.max_restarts == 1
    assert settled(embedded_provider(), AvatarSettings()).restarts == Restarts()


async def test_a_provider_can_have_its_own_address(place: Place) -> None:
    far = acp_provider("far", place.url())
    with trio.fail_after(PATIENCE):
        async with open_avatar(far, headers=HEADERS, working_dir=place.work) as aria:
            assert (await aria.chat(play({"say": "here"}))).content == "here"
            assert (await aria.health()).provider == "far"


def test_no_secret_is_in_what_is_shown_of_the_settings() -> None:
    url = "wss://far.example/a?key=query-secret"
    settings = AvatarSettings(url=url, headers=HEADERS, env={"A": "env-secret"})
    remote = any_acp_provider().remote
    assert remote is not None
    shown = repr(settings) + repr(remote(AvatarSettings(url=url, headers=HEADERS)))
    assert "Authorization" in shown
    for secret in (TOKEN, "query-secret", "env-secret"):
        assert secret not in shown
    launcher = Launcher(any_acp_provider(), AvatarSettings(url=url, headers=HEADERS), Path())
    assert launcher.redactor().hide(f"{TOKEN} query-secret") == "[secret] [secret]"


WITHOUT_EXTRA = """
import sys, trio
sys.modules[sys.argv[2]] = None
from avatar_actors import AvatarStartError, open_avatar

async def main():
    try:
        async with open_avatar("acp", url=sys.argv[1]):
            pass
    except AvatarStartError as error:
        print(error.advice)

trio.run(main)
"""


@pytest.mark.parametrize("package", ["httpx", "websockets", "acp", "trio_asyncio"])
def test_missing_packages_are_one_clear_error(package: str) -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRA, "ws://127.0.0.1:9/acp", package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "pip install 'avatar-actors[remote]'\n"
