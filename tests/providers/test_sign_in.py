"""Whether an agent is signed in is told by its variables and files, never by a value of them."""

from pathlib import Path
from typing import Unpack

import msgspec
import pytest

from avatar_actors import AvatarOptions, AvatarSettings, SignedIn, SignIn
from avatar_actors.providers.registry import provider_named

SECRET = "sk-very-secret-0123456789"


def look(provider: str, around: dict[str, str], **settings: Unpack[AvatarOptions]) -> SignIn:
    kind = provider_named(provider)
    assert kind.sign_in is not None
    wished = msgspec.structs.replace(AvatarSettings(), **settings)
    return kind.sign_in(wished, {**around, **wished.env})


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("claude", ["ANTHROPIC_API_KEY"]),
        ("claude", ["ANTHROPIC_AUTH_TOKEN"]),
        ("claude", ["CLAUDE_CODE_OAUTH_TOKEN"]),
        ("claude", ["CLAUDE_CODE_USE_BEDROCK"]),
        ("claude-agent-acp", ["ANTHROPIC_API_KEY"]),
        ("gemini", ["GEMINI_API_KEY"]),
        ("gemini", ["GOOGLE_GEMINI_BASE_URL"]),
    ],
)
def test_a_variable_is_told_by_its_name(
    tmp_path: Path, provider: str, variables: list[str]
) -> None:
    env = {"HOME": str(tmp_path), **dict.fromkeys(variables, SECRET)}
    found = look(provider, env)
    assert found.verdict is SignedIn.YES
    assert found.by == variables[0]
    assert look(provider, {**env, variables[0]: ""}).verdict is SignedIn.NO


@pytest.mark.parametrize(
    ("provider", "file"),
    [
        ("claude", ".claude/.credentials.json"),
        ("gemini", ".gemini/oauth_creds.json"),
        ("codex", ".codex/auth.json"),
    ],
)
@pytest.mark.parametrize(
    ("kept", "verdict"),
    [
        (f'{{"tokens": {{"access": "{SECRET}"}}}}', SignedIn.YES),
        ("{}", SignedIn.NO),
        ('{"tokens": null}', SignedIn.NO),
        ("", SignedIn.NO),
        (f"junk {SECRET}", SignedIn.NO),
    ],
)
def test_a_file_with_a_login_in_it_counts(
    tmp_path: Path, provider: str, file: str, kept: str, verdict: SignedIn
) -> None:
    assert look(provider, {"HOME": str(tmp_path)}).verdict is SignedIn.NO
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(kept)
    found = look(provider, {"HOME": str(tmp_path)})
    assert found.verdict is verdict
    assert SECRET not in repr(found)
    assert found.by if verdict is SignedIn.YES else found.advice


@pytest.mark.parametrize(
    ("provider", "variable", "file"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", ".credentials.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/oauth_creds.json"),
        ("codex", "CODEX_HOME", "auth.json"),
    ],
)
def test_an_agents_own_variable_says_where_its_login_is(
    tmp_path: Path, provider: str, variable: str, file: str
) -> None:
    path = tmp_path / "elsewhere" / file
    path.parent.mkdir(parents=True)
    path.write_text('{"tokens": 1}')
    env = {"HOME": str(tmp_path / "home"), variable: str(tmp_path / "elsewhere")}
    found = look(provider, env)
    assert found.verdict is SignedIn.YES
    assert "elsewhere" in found.by


def test_a_codex_key_counts_where_it_is_given_to_the_agent(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    found = look("codex", home, env={"CODEX_API_KEY": SECRET})
    assert found == SignIn(SignedIn.YES, "CODEX_API_KEY")
    passed = look("codex", {**home, "OPENAI_API_KEY": SECRET})
    assert passed.verdict is SignedIn.NO
    assert "configure codex: env: OPENAI_API_KEY: ${OPENAI_API_KEY}" in passed.advice


PROVIDER = 'model_provider = "mine"\n[model_providers.mine]\nenv_key = "MY_KEY"\n'


def test_a_model_provider_of_codex_counts_with_the_key_that_it_names(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "OPENAI_API_KEY": SECRET}
    file = tmp_path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(PROVIDER)
    missing = look("codex", home)
    assert missing.verdict is SignedIn.NO
    assert "wants MY_KEY, which is not given: codex: env: MY_KEY: ${MY_KEY}" in missing.advice
    given = look("codex", home, env={"MY_KEY": SECRET})
    assert given.verdict is SignedIn.YES
    assert given.by == "MY_KEY, for the provider 'mine' of ~/.codex/config.toml"
    file.write_text(PROVIDER.partition("[")[0])
    assert look("codex", home).verdict is SignedIn.UNKNOWN


def test_gemini_on_vertex_needs_a_key_or_a_project(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "GOOGLE_GENAI_USE_VERTEXAI": "true"}
    assert "GOOGLE_CLOUD_PROJECT" in look("gemini", env).advice
    project = {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"}
    assert look("gemini", {**env, **project}).verdict is SignedIn.YES
    assert look("gemini", {**env, "GOOGLE_API_KEY": SECRET}).by == "GOOGLE_API_KEY"


def test_a_gemini_with_a_home_of_its_own_does_not_see_the_login(tmp_path: Path) -> None:
    path = tmp_path / ".gemini/oauth_creds.json"
    path.parent.mkdir()
    path.write_text('{"access_token": "x"}')
    env = {"HOME": str(tmp_path)}
    assert look("gemini", env, options={"temperature": "1"}).verdict is SignedIn.NO


def test_variables_in_a_file_of_gemini_may_hold_its_key(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / ".env").write_text(f"GEMINI_API_KEY={SECRET}")
    found = look("gemini", {"HOME": str(tmp_path)})
    assert found.verdict is SignedIn.UNKNOWN
    assert found.by == "it may be by ~/.gemini/.env"


def test_the_embedded_agent_needs_no_account() -> None:
    assert look("embedded", {}).verdict is SignedIn.YES


def test_headers_of_the_hosts_own_may_be_a_login_of_claude(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "ANTHROPIC_CUSTOM_HEADERS": f"Authorization: Bearer {SECRET}"}
    found = look("claude", env)
    assert (found.verdict, found.by) == (
        SignedIn.UNKNOWN,
        "it may be in ANTHROPIC_CUSTOM_HEADERS",
    )
