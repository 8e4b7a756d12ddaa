"""Agents of one's own, by name: from the file to an answer of a real process."""

import sys
from pathlib import Path

import pytest
import trio

from avatar_actors import AvatarConfig, Outcome, open_runtime
from avatar_actors.model.errors import ConfigError, SettingsError
from avatar_actors.providers.provider import Provider
from tests.config.seen import seen

PARROT = """\
provider: parrot
engine: {working_dir: ., timeout: 30}
runtime: {max_avatars: 1}
providers:
  parrot:
    command: ${PYTHON}
    args: [-m, avatar_actors.programs.embedded]
    install: pip install parrot
    auth_method: key
    passes: [PARROT_*]
    env: {PYTHONPATH: "${ROOT}", XDG_STATE_HOME: "${STATE}"}
    cost_control: {max_prompts: 1}
"""
ROOT = str(Path(__file__).resolve().parents[2])


async def test_an_agent_of_ones_own_answers_within_its_limits(tmp_path: Path) -> None:
    (tmp_path / "avatar.yaml").write_text(PARROT)
    environ = {"PYTHON": sys.executable, "ROOT": ROOT, "STATE": str(tmp_path)}
    config = AvatarConfig.load(tmp_path / "avatar.yaml", environ)
    provider, options = config.chosen()
    with trio.fail_after(60):
        async with open_runtime(**config.runtime) as runtime:
            aria = await runtime.start(provider, "aria", **options)
            assert (await aria.chat("6*7")).content == "42"
            assert (await aria.chat("6*7")).outcome is Outcome.OVER_BUDGET
            assert (await aria.health()).provider == "parrot"


def test_what_it_says_becomes_a_provider() -> None:
    it = seen(PARROT, "", {"PYTHON": "/opt/python", "ROOT": "r", "STATE": "s"})
    provider, _ = it.config.chosen()
    assert isinstance(provider, Provider)
    assert (provider.name, provider.install) == ("parrot", "pip install parrot")
    assert provider.passes == ("PARROT_*",)
    assert it.plan.argv == ("/opt/python", "-m", "avatar_actors.programs.embedded")
    assert it.settings.options == {"auth_method": "key"}


def test_a_remote_agent_needs_no_command() -> None:
    text = """\
        providers:
          far: {url: "wss://${HOST}/acp", headers: {Authorization: "Bearer ${TOKEN}"}}
        """
    config = AvatarConfig.parse(text, environ={"HOST": "far", "TOKEN": "t"})
    _, options = config.chosen("far")
    assert options.get("url") == "wss://far/acp"
    assert options.get("headers") == {"Authorization": "Bearer t"}


def test_the_section_acp_is_the_nameless_one() -> None:
    it = seen("acp: {executable: bin/agent, args: [--acp], files: host, auth_method: k}", "acp")
    assert it.plan.argv == (str(Path.cwd() / "bin/agent"), "--acp")
    assert it.settings.options == {"files": "host", "auth_method": "k"}


def test_codex_takes_its_own_configuration_from_env() -> None:
    it = seen("codex: {env: {CODEX_CONFIG: '{}'}}", "codex")
    assert it.settings.env == {"CODEX_CONFIG": "{}"}


def test_the_embedded_agent_has_its_section() -> None:
    it = seen("embedded: {model: tiny, files: agent}", "embedded")
    assert it.plan.argv[-1] == "--model=tiny"
    assert it.settings.options == {"files": "agent"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("providers:\n  p: {model: x}", ":2: providers.p: an agent of your own needs a command or"),
        ("providers:\n  claude: {command: x}", ":2: providers.claude: claude is known already"),
        (
            "providers:\n  a b: {command: x}",
            ":2: providers.a b: a provider's name consists of letters",
        ),
        ("providers:\n  p: {command: x, url: y}", ":2: providers.p: an agent has a command or a"),
        ("providers:\n  p:\n    options: {x: y}\n    command: z", ":2: providers.p: p has no opt"),
        ("providers:\n  p:", ":2: providers.p: is empty"),
    ],
)
def test_an_agent_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        AvatarConfig.parse(text, "a.yaml", {})
    assert str(caught.value).startswith(f"a.yaml{message}")


def test_a_provider_that_is_not_there_is_refused_with_those_that_are() -> None:
    config = AvatarConfig.parse("providers: {parrot: {command: x}}", environ={})
    with pytest.raises(SettingsError, match=r"'parot'; there are: .*; did you mean 'parrot'\?"):
        config.chosen("parot")


def test_what_is_chosen_can_be_changed_without_harm() -> None:
    config = AvatarConfig.parse("claude: {model: a}", environ={})
    config.chosen("claude")[1]["model"] = "b"
    assert config.chosen("claude")[1].get("model") == "a"
