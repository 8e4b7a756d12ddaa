"""`avatar health` starts an avatar and tells how it does; with --check-cli what is installed."""

import json
from pathlib import Path

from tests.cli.agents import log_in, path_with
from tests.cli.programs import avatar
from tests.fake_agents import launcher


def test_a_healthy_avatar_is_shown_with_what_it_can_do(tmp_path: Path) -> None:
    done = avatar(tmp_path, "health", "-p", "embedded")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("embedded is healthy\n  chosen: as you asked\n")
    assert "  can fork session: yes\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_program_learns_the_same(tmp_path: Path) -> None:
    done = avatar(tmp_path, "health", "--json")
    [told] = map(json.loads, done.stdout.splitlines())
    assert (told["provider"], told["is_healthy"]) == ("embedded", True)
    assert told["health"]["state"] == "ready"
    assert told["capabilities"]["agent"] == "avatar-embedded"


def test_an_agent_that_is_missing_is_exit_code_3_with_the_way_to_install_it(tmp_path: Path) -> None:
    done = avatar(tmp_path, "health", "-p", "claude", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["is_healthy"] is False
    [line] = done.stderr.splitlines()
    assert line.endswith("Install it: npm install -g @anthropic-ai/claude-code@latest")


def test_an_agent_that_dies_at_its_start_is_exit_code_1(tmp_path: Path) -> None:
    start = json.dumps([{"step": "exit", "code": 7}])
    done = avatar(tmp_path, "health", env={"AVATAR_EMBEDDED_START": start})
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_what_is_installed_is_told_with_version_support_and_login(tmp_path: Path) -> None:
    env = path_with(tmp_path, claude="2.2.0 (Claude Code)", gemini="0.9.0", codex_acp="nonsense")
    done = avatar(tmp_path, "health", "--check-cli", env=env)
    assert done.returncode == 3, done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:] if line}
    assert rows["claude"] == ["yes", "2.2.0", "yes", "no"]
    assert rows["gemini"] == ["yes", "0.9.0", "no", "no"]
    assert rows["codex"] == ["yes", "?", "yes", "no"]
    assert "gemini: 0.9.0 is older than 0.61.0, the oldest that is supported" in done.stdout
    log_in(tmp_path)
    ready = avatar(tmp_path, "health", "--check-cli", "--json", env=env)
    assert ready.returncode == 0
    found = {each["name"]: each for each in map(json.loads, ready.stdout.splitlines())}
    assert found["claude"]["sign_in"]["by"] == "a login in ~/.claude"
    assert "a-secret-login" not in ready.stdout


def test_one_that_is_named_counts_alone(tmp_path: Path) -> None:
    env = path_with(tmp_path, claude="2.2.0", gemini="0.61.0")
    log_in(tmp_path)
    assert avatar(tmp_path, "health", "--check-cli", "-p", "gemini", env=env).returncode == 3
    assert avatar(tmp_path, "health", "--check-cli", "-p", "embedded", env=env).returncode == 0


def test_what_check_cli_would_not_heed_is_refused(tmp_path: Path) -> None:
    done = avatar(tmp_path, "health", "--check-cli", "-m", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave out --model" in done.stderr


def test_claude_without_a_login_is_exit_code_3_for_health_and_for_chat(tmp_path: Path) -> None:
    config = json.loads(launcher.configuration(tmp_path / "store"))
    config["claude"]["env"]["AVATAR_EMBEDDED_START"] = '[{"auth": true}]'
    (tmp_path / "signed_out.yaml").write_text(json.dumps(config))
    for arguments in (("health",), ("chat", "hello")):
        done = avatar(tmp_path, *arguments, "-c", "signed_out.yaml")
        assert (done.returncode, done.stdout) == (3, ""), done.stderr
        [line] = done.stderr.splitlines()
        assert "Claude Code is not signed in. Run `claude` once and log in" in line
