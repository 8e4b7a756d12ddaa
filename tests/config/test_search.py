"""Where a configuration is found, and what one may set that was only found."""

import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from avatar_actors.config.config import AvatarConfig, find_config
from avatar_actors.model.errors import ConfigError


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "work").mkdir()
    with chdir(tmp_path / "work"):
        yield


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o644)
    return path


def test_the_first_of_the_four_places_counts(tmp_path: Path, environ: dict[str, str]) -> None:
    users = put(tmp_path / "home/.config/avatar/config.yaml", "provider: acp")
    local = put(tmp_path / "work/.avatar.yaml", "engine: {max_history: 3}")
    named = put(tmp_path / "named.yaml", "provider: gemini")
    given = put(tmp_path / "given.yaml", "provider: claude")
    environ["AVATAR_CONFIG"] = str(named)

    def load(path: Path | None = None) -> tuple[str, Path | None]:
        return AvatarConfig.load(path, environ).provider, find_config(path, environ)

    assert load(given) == ("claude", given)
    assert load() == ("gemini", named)
    environ["AVATAR_CONFIG"] = ""
    assert load() == ("acp", Path(".avatar.yaml"))
    local.unlink()
    assert load() == ("acp", users)
    users.unlink()
    assert load() == ("embedded", None)
    assert AvatarConfig.load(None, environ).source == ""


def test_the_users_directory_may_be_elsewhere(tmp_path: Path, environ: dict[str, str]) -> None:
    path = put(tmp_path / "xdg/avatar/config.yaml", "provider: acp")
    assert find_config(environ={**environ, "XDG_CONFIG_HOME": str(tmp_path / "xdg")}) == path
    assert find_config(environ={**environ, "XDG_CONFIG_HOME": "../xdg"}) is None
    assert find_config(environ={}) is None


def test_a_named_file_that_is_missing_is_an_error_not_a_reason_to_search_on(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    put(tmp_path / "work/.avatar.yaml", "provider: codex")
    with pytest.raises(ConfigError, match=r"^nowhere\.yaml: cannot be read: No such file"):
        AvatarConfig.load(None, {**environ, "AVATAR_CONFIG": "nowhere.yaml"})


def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "work/.avatar.yaml").symlink_to("nowhere")
    with pytest.raises(ConfigError, match=r"^\.avatar\.yaml: cannot be read: No such file"):
        AvatarConfig.load(None, environ)


@pytest.mark.parametrize("mode", [0o646, 0o666, 0o622])
def test_a_found_file_that_others_can_write_is_refused(
    tmp_path: Path, environ: dict[str, str], mode: int
) -> None:
    put(tmp_path / "work/.avatar.yaml", "provider: codex").chmod(mode)
    with pytest.raises(ConfigError, match=r"^\.avatar\.yaml: others can write it; chmod go-w"):
        AvatarConfig.load(None, environ)
    assert AvatarConfig.load(".avatar.yaml", environ).provider == "codex"


def test_a_found_file_that_a_group_of_several_can_write_is_refused(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    path = put(tmp_path / "work/.avatar.yaml", "engine: {max_history: 3}")
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another group")
    path.chmod(0o664)
    assert AvatarConfig.load(None, environ).chosen()[1].get("max_history") == 3
    os.chown(path, -1, 12345)
    with pytest.raises(ConfigError, match="others can write it"):
        AvatarConfig.load(None, environ)


@pytest.mark.parametrize("place", ["work/.avatar.yaml", "home/.config/avatar/config.yaml"])
def test_a_found_file_of_another_user_is_refused(
    tmp_path: Path, environ: dict[str, str], place: str
) -> None:
    path = put(tmp_path / place, "provider: codex")
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, 12345, 12345)
    with pytest.raises(ConfigError, match="belongs to another user; change its owner"):
        AvatarConfig.load(None, environ)
    assert AvatarConfig.load(path, environ).provider == "codex"


def test_relative_paths_begin_at_the_file(tmp_path: Path) -> None:
    text = """\
        engine: {working_dir: stage}
        logging: {file: ~/avatar.log}
        claude: {executable: bin/claude, mcp_servers: {a: {command: ../tool, args: [x/y]}}}
        codex: {executable: codex-acp}
        """
    path = put(tmp_path / "conf/avatar.yaml", text)
    config = AvatarConfig.load(path, {"HOME": "/houses/mine"})
    _, claude = config.chosen("claude")
    assert claude.get("working_dir") == tmp_path / "conf/stage"
    assert claude.get("executable") == str(tmp_path / "conf/bin/claude")
    servers = [(each.command, each.args) for each in claude.get("mcp_servers", ())]
    assert servers == [(str(tmp_path / "tool"), ("x/y",))]
    assert config.chosen("codex")[1].get("executable") == "codex-acp"
    log = config.runtime.get("log")
    assert log is not None
    assert log.file == Path("/houses/mine/avatar.log")
