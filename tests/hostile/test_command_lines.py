"""Whatever a value is, it stays a value: C2, low 15."""

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from avatar_actors import AvatarStartError, McpServer, SettingsError, ToolPolicy, open_avatar
from avatar_actors.model.settings import AvatarSettings
from avatar_actors.providers.provider import LaunchPlan, Place
from avatar_actors.providers.registry import provider_named
from avatar_actors.wire.commands import Beginning
from tests.cli.programs import avatar
from tests.runtime.home import PATIENCE, Home
from tests.thorough import for_conformance

RUNS: Final = '--settings={"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"id"}]}]}}'
PLAIN: Final = "nobody-elses-word"
PRIVATE: Final = Path("/private")

Fields = dict[str, Any]
# Each kind of launch, by its provider and options.
LAUNCHES: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "claude": ("claude", {}),
    "gemini": ("gemini", {"temperature": "1"}),
    "gemini headless": ("gemini", {"headless": "true"}),
    "codex": ("codex", {}),
    "codex zed": ("codex", {"adapter": "zed"}),
    "embedded": ("embedded", {}),
    "acp": ("acp", {}),
}
# Where text of a host's can be put.
FIELDS: Final[dict[str, Callable[[str], Fields]]] = {
    "model": lambda text: {"model": text},
    "mode": lambda text: {"mode": text},
    "resume": lambda text: {"resume": text},
    "fork": lambda text: {"fork": text},
    "system prompt": lambda text: {"system_prompt": text},
    "deny": lambda text: {"tools": ToolPolicy(deny=(text, "Bash"))},
    "schema": lambda text: {"output_schema": {"description": text}},
    "variable": lambda text: {"env": {"NAME": text}},
    "server": lambda text: {"mcp_servers": (McpServer(name=text, command=text, args=(text,)),)},
    "server's variable": lambda text: {
        "mcp_servers": (McpServer(name="a", command="b", env={"NAME": text}),)
    },
    "server's header": lambda text: {
        "mcp_servers": (McpServer(name="a", url="http://b", headers={"Key": text}),)
    },
}
CLAUDE_OPTIONS: Final = ("effort", "fallback_model", "max_turns", "max_retries", "sandbox")
HOSTILE: Final = (
    RUNS, "--yolo", "-m", "--", "a\nb", "\0", "a\0b", "'\"\\", "$(id)", "`id`", "; id", "a=b", "=",
    "\ud83d", "\udcff", "😀", "\x7f", "\x1b[2J", "\u202e", " ", "a,b", "x" * 200_000, "@file",
)  # fmt: skip
words = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(codec=None), min_size=1),
    st.builds(str.__add__, st.sampled_from(HOSTILE[:6]), st.text(min_size=1)),
)


def launched(kind: str, fields: Fields) -> LaunchPlan:
    provider, options = LAUNCHES[kind]
    wished: Fields = {"executable": "agent", "model": "m", **fields}
    wished["options"] = {**options, **fields.get("options", {})}
    wanted = AvatarSettings(**wished)
    stored = wanted.resume or wanted.fork
    begins = Beginning.FORK if wanted.fork else Beginning.AS_NAMED
    place = Place(private_dir=PRIVATE, session_id="s-new", resume=stored, begins=begins)
    plan = provider_named(provider).plan(wanted, place)
    return msgspec.structs.replace(plan, env={**plan.env, **wanted.env})


def spellings(text: str) -> set[str]:
    """The text itself, and as it stands in JSON and in TOML."""
    if any("\udc80" <= sign <= "\udcff" for sign in text):  # a byte of the system's, as it is
        return {text}
    quoted = msgspec.json.encode(text).decode()[1:-1]
    return {text, quoted, quoted.replace("\x7f", "\\u007f")}


def holds(plain: str, other: str, values: set[str]) -> bool:
    """Whether only the value has changed."""
    if PLAIN not in plain:
        return plain == other
    return any(plain.replace(PLAIN, each) == other for each in values)


def check(kind: str, field: Callable[[str], Fields], text: str) -> None:
    """Either a clear error, or the value where a plain one stood, and nothing else is different."""
    try:
        plain = launched(kind, field(PLAIN))
    except SettingsError:
        return  # this agent has no such setting
    try:
        plan = launched(kind, field(text))
    except SettingsError:
        return
    values = spellings(text)
    assert len(plan.argv) == len(plain.argv)
    assert all(re.match(r"--[A-Za-z-]+=", word) for word in plain.argv if PLAIN in word)
    assert all(holds(*pair, values) for pair in zip(plain.argv, plan.argv, strict=True))
    for before, after in ((plain.env, plan.env), (plain.files, plan.files)):
        assert list(after) == list(before)
        assert all(holds(before[name], after[name], values) for name in before)
    for word in plan.argv:
        assert "\0" not in word
        assert len(word.encode("utf-8", "surrogateescape")) < 128 * 1024


@pytest.mark.parametrize("kind", LAUNCHES)
@settings(max_examples=50)
@example(text=RUNS)
@example(text="\ud83d")
@given(text=words)
def test_c2_a_value_is_one_word_with_its_flag_or_an_error(kind: str, text: str) -> None:
    for name, field in FIELDS.items():
        # `gpt-5.5[high]` names an effort too, by Codex's own custom.
        if not (name == "model" and "[" in text):
            check(kind, field, text)


@given(text=words)
def test_c2_an_option_of_claude_is_one_word_with_its_flag_or_an_error(text: str) -> None:
    for option in CLAUDE_OPTIONS:
        check("claude", partial(options_with, option), text)


def options_with(option: str, text: str) -> Fields:
    return {"options": {option: text}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "--yolo"}, {"model": "a\0b"}, {"model": "a\nb"}, {"model": "x" * 201},
        {"mode": "-x"}, {"resume": RUNS}, {"fork": RUNS}, {"resume": "a b"}, {"fork": "../../x"},
        {"resume": "x" * 201}, {"system_prompt": "a\0b"}, {"system_prompt": "\ud83d"},
        {"env": {"A": "b\0"}}, {"env": {"A=B": "c"}}, {"env": {"": "c"}}, {"args": ("a\0b",)},
        {"executable": "a\0b"}, {"options": {"effort": "\0"}}, {"output_schema": {"\ud83d": 1}},
        {"mcp_servers": (McpServer(name="a", command="b", env={"X": "\0"}),)},
    ],
)  # fmt: skip
async def test_c2_what_cannot_be_is_refused_at_the_call(wrong: Fields) -> None:
    wished: Fields = {"executable": "/no/such/program", **wrong}
    with pytest.raises(SettingsError):
        async with open_avatar("claude", **wished):
            pass


RECORDER: Final = f"""#!{sys.executable} -IS
import json, os, sys
texts = {{}}
for word in sys.argv:
    path = word.rpartition("=")[2]
    if path.endswith(".md"):
        texts[path.rpartition("/")[2]] = open(path).read()
path = os.path.join(os.path.dirname(sys.argv[0]), "seen.json")
with open(path, "w") as file:
    json.dump({{"argv": sys.argv[1:], "env": dict(os.environ), "texts": texts}}, file)
"""
PROMPT: Final = "--yolo\n'\"$(id) \\ 😀 SECRET-RULE"


async def seen_by(tmp_path: Path, provider: str, fields: Fields) -> dict[str, Any]:
    """What a program sees that stands in for the agent."""
    program = tmp_path / "agent"
    program.write_text(RECORDER)
    program.chmod(0o700)
    ours = {"executable": str(program), "working_dir": tmp_path, "system_prompt": PROMPT}
    wished: Fields = {**ours, **fields}
    with trio.fail_after(PATIENCE), pytest.raises(AvatarStartError):
        async with open_avatar(provider, **wished):
            pass
    seen: dict[str, Any] = json.loads((tmp_path / "seen.json").read_bytes())
    return seen


async def test_low_15_no_system_prompt_stands_on_claudes_command_line(tmp_path: Path) -> None:
    options = {"effort": RUNS, "fallback_model": "--yolo"}
    tools = ToolPolicy(deny=("--settings", "a\nb"))
    fields: Fields = {"model": "o pus😀", "options": options, "tools": tools, "mode": "my mode"}
    seen = await seen_by(tmp_path, "claude", {**fields, "resume": "ses_1:2.3-4"})
    assert "SECRET-RULE" not in json.dumps(seen["argv"])
    assert seen["texts"] == {"claude-system-prompt.md": PROMPT}
    valued = dict(word.split("=", 1) for word in seen["argv"] if "=" in word)
    assert (valued["--effort"], valued["--fallback-model"]) == (RUNS, "--yolo")
    assert (valued["--model"], valued["--resume"]) == ("o pus😀", "ses_1:2.3-4")
    assert (valued["--permission-mode"], valued["--setting-sources"]) == ("my mode", "")
    assert valued["--disallowedTools"] == "--settings,a\nb"
    bare = {word for word in seen["argv"] if "=" not in word}
    assert bare == {"--print", "--verbose", "--include-partial-messages", "--strict-mcp-config"}


async def test_c2_gemini_and_codex_see_values_in_one_word(tmp_path: Path) -> None:
    gemini = await seen_by(tmp_path, "gemini", {"model": "o pus=--yolo"})
    assert gemini["argv"] == ["--acp", "--model=o pus=--yolo"]
    assert "SECRET-RULE" not in json.dumps(gemini["argv"])
    options = {"adapter": "zed", "project_docs": "true"}
    zed = await seen_by(tmp_path, "codex", {"model": "a b'", "options": options})
    rule = f"--config=developer_instructions={msgspec.json.encode(PROMPT).decode()}"
    assert zed["argv"] == ['--config=model="a b\'"', rule]
    codex = await seen_by(tmp_path, "codex", {"model": "a b'", "system_prompt": "\n"})
    assert (codex["argv"], json.loads(codex["env"]["CODEX_CONFIG"])["model"]) == ([], "a b'")


@pytest.mark.parametrize("agent", ["acp", "claude", "gemini-headless"])
async def test_c2_a_living_avatar_takes_no_flag_for_a_name(tmp_path: Path, agent: str) -> None:
    async with Home(tmp_path).avatar(agent=agent) as aria:
        before = await aria.health()
        for refused in (aria.resume, aria.fork, aria.set_model, aria.set_mode):
            with pytest.raises(SettingsError, match="must be"):
                await refused(RUNS)
        assert (await aria.health()).pid == before.pid


@pytest.mark.parametrize("option", ["--resume", pytest.param("--model", marks=for_conformance)])
def test_c2_the_command_line_takes_no_flag_for_a_name(tmp_path: Path, option: str) -> None:
    done = avatar(tmp_path, "chat", "-p", "claude", f"{option}={RUNS}", "hi")
    assert (done.returncode, "must be" in done.stderr) == (2, True)
