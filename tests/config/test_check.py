"""All that is wrong with a configuration is told at once, and what it names must be there."""

from pathlib import Path

import pytest

from avatar_actors import AvatarConfig

WRONG = """\
model: sonnet
provider: clade
engine:
  timeout: soon
  working_dir: nowhere
  max_hstory: 5
  denied_tools:
    - "Bash(rm *"
    - 7
  mcp_servers: {lights: {command: ./none}}
claude:
  max_tokens: 5
  permission_mode: yolo
rate_limit:
logging: {file: nowhere/x.log, level: LOUD}
metrics: {port: 99999}
providers:
  mine: {command: no-such-program}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(WRONG)
    return path


def test_every_mistake_is_told_at_once_with_its_line(file: Path) -> None:
    found = AvatarConfig.check(file, {"PATH": "/usr/bin", "AVATAR__ENGINE__TIMEOT": "5"})
    lines = [(each.line, each.key) for each in found.mistakes]
    assert lines == [
        (1, "model"),
        (2, "provider"),
        (4, "engine.timeout"),
        (5, "engine.working_dir"),
        (6, "engine.max_hstory"),
        (7, "engine.denied_tools"),
        (9, "engine.denied_tools"),
        (10, "engine.mcp_servers"),
        (12, "claude.max_tokens"),
        (13, "claude.permission_mode"),
        (14, "rate_limit"),
        (15, "logging.file"),
        (15, "logging.level"),
        (16, "metrics.port"),
        (0, ""),
    ]
    assert "AVATAR__ENGINE__TIMEOT" in str(found.mistakes[-1])
    [warning] = found.warnings
    assert str(warning).endswith("providers.mine.command: no-such-program is not on the PATH")


def test_a_key_that_stands_elsewhere_is_named_with_its_place(file: Path) -> None:
    told = {each.key: each.problem for each in AvatarConfig.check(file, {}).mistakes}
    assert "did you mean claude.model or gemini.model" in told["model"]
    assert "did you mean cost_control.max_tokens?" in told["claude.max_tokens"]
    nested = AvatarConfig.check(file.with_name("none.yaml"), {}).mistakes
    assert [each.problem for each in nested] == ["cannot be read: No such file or directory"]


def test_what_is_only_wrong_because_a_mistake_was_left_out_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("engine: {mcp_servers: {a: {command: 7}}}\n")
    [mistake] = AvatarConfig.check(path, {}).mistakes
    assert mistake.key == "engine.mcp_servers.a.command"


def test_a_file_that_is_right_has_no_mistakes_also_where_it_was_only_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".avatar.yaml").write_text(
        "engine: {permissions: safe, executable: x}\nprovider: claude\n"
    )
    found = AvatarConfig.check(None, {"XDG_CONFIG_HOME": str(tmp_path)})
    assert [each.line for each in found.mistakes] == [1, 2]
    Path(".avatar.yaml").write_text("engine: {permissions: safe}\n")
    assert not AvatarConfig.check(None, {"XDG_CONFIG_HOME": str(tmp_path)}).mistakes


def test_what_is_shown_is_a_file_that_means_the_same(tmp_path: Path) -> None:
    text = (
        "provider: mine\n"
        "engine: {timeout: none, retry: {max_attempts: 3}, denied_tools: ['A b']}\n"
        "providers: {mine: {command: cat, args: ['- x', 'true', '%d']}}\nlogging: {level: DEBUG}\n"
    )
    (tmp_path / "a.yaml").write_text(text)
    shown = AvatarConfig.text(tmp_path / "a.yaml", {"AVATAR__ENGINE__MAX_HISTORY": "7"})
    assert f"  timeout: none                       # {tmp_path / 'a.yaml'}:2\n" in shown
    assert "  max_history: 7                      # AVATAR__ENGINE__MAX_HISTORY\n" in shown
    assert "#     max_delay: 60                   # default\n" in shown
    again = AvatarConfig.parse(shown, environ={})
    once = AvatarConfig.parse(text, environ={"AVATAR__ENGINE__MAX_HISTORY": "7"})
    assert (again.provider, again.sections, again.runtime) == (
        once.provider,
        once.sections,
        once.runtime,
    )


def test_a_new_file_holds_the_defaults_and_replaces_nothing(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "new")}
    path = AvatarConfig.init(environ=environ)
    assert (path, path.stat().st_mode & 0o777) == (tmp_path / "new/avatar/config.yaml", 0o600)
    lines = path.read_text().splitlines()
    assert all(not line or line.startswith("#") for line in lines)
    defaults = AvatarConfig.load(path, {})
    assert defaults.sections == AvatarConfig.parse("", environ={}).sections
    # Without the comment sign, each key that has a default is right and changes nothing.
    engine = lines[lines.index("# engine:") : lines.index("", lines.index("# engine:"))]
    keys = [line.removeprefix("# ") for line in engine if not line.startswith("#   mcp_servers")]
    uncommented = AvatarConfig.parse("\n".join(keys), environ={})
    assert not AvatarConfig.check(path, {}).mistakes
    assert uncommented.sections["claude"].get("max_history") == 200
    with pytest.raises(Exception, match="exists already, and was left as it is"):
        AvatarConfig.init(path)
