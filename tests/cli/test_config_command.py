"""`avatar config` says whether a configuration is right, and shows it without its secrets."""

import json
from pathlib import Path

from avatar_actors import config_schema
from tests.cli.programs import avatar

KEYS = ("sk-ant-in-env", "Bearer in-header", "in-query", "in-mcp-env", "after-a-flag", "by-equals")
TEXT = """
provider: claude
claude:
  model: opus
  env: {ANTHROPIC_API_KEY: sk-ant-in-env, MODE: "1"}
  mcp_servers:
    files:
      command: serve
      args: [--api-key, after-a-flag, --token=by-equals, sk-ant-in-env, "${MY_TOKEN}", --quiet]
      env: {A: in-mcp-env}
providers:
  far: {url: "wss://example.org/acp?k=in-query", headers: {X-Auth: Bearer in-header}}
"""


def test_a_right_one_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("provider: gemini\n")
    done = avatar(tmp_path, "config", "check", "a.yaml")
    assert (done.returncode, done.stdout) == (0, "ok: a.yaml (provider: gemini)\n")
    none = avatar(tmp_path, "config", "check")
    assert none.stdout == "ok: no file, the defaults (provider: chosen at each start)\n"


def test_a_wrong_one_is_a_line_too(tmp_path: Path) -> None:
    (tmp_path / ".avatar.yaml").write_text("engine:\n  max_histroy: 1\n")
    done = avatar(tmp_path, "config", "check")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("avatar: .avatar.yaml:2: engine.max_histroy: unknown key")
    assert "max_history" in line


def test_all_mistakes_are_lines_and_a_missing_program_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("model: x\nengine: {working_dir: nowhere}\nclod: {}\n")
    done = avatar(tmp_path, "config", "check", "a.yaml")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 3)
    (tmp_path / "a.yaml").write_text("claude: {executable: no-such-claude}\n")
    warned = avatar(tmp_path, "config", "check", "a.yaml")
    assert (warned.returncode, warned.stdout.startswith("ok: ")) == (0, True)
    assert (
        "warning: a.yaml:1: claude.executable: no-such-claude is not on the PATH" in warned.stderr
    )


def test_a_file_to_start_from_is_written_once(tmp_path: Path) -> None:
    done = avatar(tmp_path, "config", "init")
    path = tmp_path / ".config/avatar/config.yaml"
    assert done.stdout.splitlines()[0] == f"written: {path}"
    before = path.read_text()
    again = avatar(tmp_path, "config", "init")
    assert (again.returncode, again.stdout, path.read_text()) == (2, "", before)
    assert again.stderr == f"avatar: {path}: exists already, and was left as it is\n"
    assert avatar(tmp_path, "config", "check").stdout.startswith(f"ok: {path}")


def test_no_secret_is_shown_and_everything_else_is(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TEXT)
    env = {"MY_TOKEN": "from-my-token", "AVATAR__CLAUDE__MODE": "plan"}
    told = avatar(tmp_path, "config", "show", "-c", "a.yaml", "--json", env=env)
    shown = json.loads(told.stdout)
    claude = shown["sections"]["claude"]
    assert (shown["source"], shown["provider"]) == ("a.yaml", "claude")
    assert shown["environment"] == ["AVATAR__CLAUDE__MODE"]
    assert (claude["model"], claude["mode"]) == ("opus", "plan")
    assert claude["env"] == {"ANTHROPIC_API_KEY": "[secret]", "MODE": "[secret]"}
    hidden = ["--api-key", "[secret]", "--token=[secret]", "[secret]", "[secret]", "--quiet"]
    assert claude["mcp_servers"][0]["args"] == hidden
    assert shown["sections"]["far"]["url"] == "wss://example.org/acp?[secret]"
    lines = avatar(tmp_path, "config", "show", "-c", "a.yaml", env=env).stdout
    assert "  model: opus                         # a.yaml:4\n" in lines
    assert "  mode: plan                          # AVATAR__CLAUDE__MODE\n" in lines
    for secret in (*KEYS, "from-my-token"):
        assert secret not in told.stdout + lines


def test_the_schema_is_for_an_editor(tmp_path: Path) -> None:
    done = avatar(tmp_path, "config", "schema")
    assert json.loads(done.stdout) == json.loads(json.dumps(config_schema()))
