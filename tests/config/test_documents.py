"""Files that cannot be read, and texts that are no configuration: one line each, with its line."""

import os
import time
from pathlib import Path

import pytest

from avatar_actors.config.config import AvatarConfig
from avatar_actors.config.nodes import Source
from avatar_actors.config.search import LARGEST
from avatar_actors.config.yaml_text import parse_yaml
from avatar_actors.model.errors import ConfigError, SettingsError


def error_of(text: str | bytes, tmp_path: Path) -> str:
    """The one line that the file with this content gets, without the folder."""
    path = tmp_path / "avatar.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        AvatarConfig.load(path, environ={})
    assert "\n" not in str(caught.value)
    assert caught.value.file == str(path)
    assert isinstance(caught.value, SettingsError)
    return str(caught.value).removeprefix(f"{tmp_path}/")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [*{old},*{old},*{old},*{old},*{old},*{old},*{old},*{old},*{old},*{old}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("claude:\n\tmodel: x\n", "avatar.yaml:2: a tab in the indentation"),
        ("claude:\n  model: x\n\ttimeout: 3\n", "avatar.yaml:3: a tab in the indentation"),
        (
            "provider: claude\n\nprovider: codex\n",
            "avatar.yaml:3: duplicate key 'provider', first in line 1",
        ),
        (
            "claude:\n  env:\n    A: x\n    A: y\n",
            "avatar.yaml:4: duplicate key 'A', first in line 3",
        ),
        ("provider: claude\n---\nengine: {}\n", "avatar.yaml:2: a second document begins"),
        ("# hello\n- claude\n", "avatar.yaml:2: a configuration is a section of keys; got a list"),
        ("claude\n", "avatar.yaml:1: a configuration is a section of keys; got 'claude'"),
        ("provider: [claude\n", "avatar.yaml:1: invalid YAML"),
        ('provider: "claude\n', "avatar.yaml:1: invalid YAML"),
        ("provider: a: b\n", "avatar.yaml:1: invalid YAML"),
        ("provider: !!python/name:os.system x\n", "avatar.yaml:1: tags are not supported"),
        ("claude: !x {}\n", "avatar.yaml:1: tags are not supported"),
        ("? [a]\n: b\n", "avatar.yaml:1: a key is a word"),
        ("provider: *who\n", "avatar.yaml:1: *who is not defined above"),
        ("engine: &me\n  mcp_servers: *me\n", "avatar.yaml:2: *me is not defined above"),
        (f"provider: x\nclaude: {'[' * 5000}", "avatar.yaml:2: nested deeper than"),
        (BOMB, "avatar.yaml:4: more than 10000 values"),
        ("claude:\n" + "  - x\n" * 20_000, "avatar.yaml:10001: more than 10000 values"),
        (b"provider: x\nmodel: \xff\xfe\n", "avatar.yaml:2: not text in UTF-8: byte 0xff"),
        (b"\x7fELF\x02\x01\x01\x00", "avatar.yaml:1: not a text: it holds the character"),
        ("provider: claude\n".encode("utf-16"), "avatar.yaml:1: not text in UTF-8"),
        (b"provider: claude\nx: \x00\n", "avatar.yaml:2: not a text"),
    ],
    ids=lambda each: str(each)[:30],
)
def test_a_text_that_is_no_configuration_gets_one_line(
    text: str | bytes, start: str, tmp_path: Path
) -> None:
    assert error_of(text, tmp_path).startswith(start)


def test_a_file_of_10_megabytes_is_refused_at_once_with_the_line_that_was_too_much(
    tmp_path: Path,
) -> None:
    begun = time.process_time()
    text = "# a line of 32 bytes, with no end\n"[:31] + "\n"
    message = error_of(text * (10 * 1024 * 1024 // 32), tmp_path)
    assert message.startswith(
        f"avatar.yaml:{LARGEST // 32 + 1}: the file is too long: more than {LARGEST}"
    )
    assert time.process_time() - begun < 10


def test_the_longest_file_that_is_read_is_read(tmp_path: Path) -> None:
    path = tmp_path / "avatar.yaml"
    path.write_text("provider: claude\n#".ljust(LARGEST, "x"))
    assert AvatarConfig.load(path, environ={}).provider == "claude"


@pytest.mark.parametrize("text", ["", "\n", "# provider: claude\n", "---\n", "\ufeff"])
def test_a_file_without_keys_is_a_configuration_of_defaults(text: str, tmp_path: Path) -> None:
    path = tmp_path / "avatar.yaml"
    path.write_text(text, "utf-8")
    config = AvatarConfig.load(path, environ={})
    assert config.chosen() == ("embedded", {})
    assert config.runtime == {}


def test_a_missing_file_a_directory_and_a_pipe_get_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, problem in [
        ("missing.yaml", "cannot be read: No such file or directory"),
        (".", "is a directory; name the file in it"),
        ("pipe", "is not a regular file"),
    ]:
        with pytest.raises(ConfigError) as caught:
            AvatarConfig.load(tmp_path / name, environ={})
        assert str(caught.value) == f"{tmp_path / name}: {problem}"
        assert caught.value.line == 0


def test_a_file_that_cannot_be_read_gets_one_line() -> None:
    # The kernel refuses to read this one even to root.
    path = Path("/proc/self/mem")
    if not path.exists():
        pytest.skip("needs Linux")
    with pytest.raises(ConfigError, match=r"^/proc/self/mem: cannot be read: Input/output error$"):
        AvatarConfig.load(path, environ={})


def test_an_alias_stands_for_what_it_names() -> None:
    text = "claude: {env: &e {A: x}}\ncodex: {env: *e}\n"
    config = AvatarConfig.parse(text, environ={})
    assert config.chosen("codex")[1].get("env") == {"A": "x"}


def test_an_error_in_an_alias_points_at_the_alias() -> None:
    text = "claude: &c\n  strict_mcp_config: true\ncodex: *c\n"
    with pytest.raises(ConfigError, match=r"^<text>:2: codex\.strict_mcp_config: unknown key"):
        AvatarConfig.parse(text, environ={})


def test_words_of_yaml_1_1_are_words() -> None:
    node = parse_yaml("[yes, on, 012, 1_000, 0x1f, 12:30, '5', 1e3, ~]", Source("x", Path()))
    values = [each.value() for each in node.nodes]  # type: ignore[union-attr]
    assert values == ["yes", "on", 12, "1_000", "0x1f", "12:30", "5", 1000.0, None]


def test_a_name_that_no_file_can_have_gets_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^a\\0b: cannot be the name of a file$"):
        AvatarConfig.load("a\0b", environ={})
