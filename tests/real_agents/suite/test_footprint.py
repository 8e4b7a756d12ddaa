"""What an agent leaves behind and what it takes notice of: only what the host asked for."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from avatar_actors import AvatarOptions, Outcome
from tests.model_api.script import Shell, Text, by_prompt
from tests.real_agents.ability import Ability, Found
from tests.real_agents.conftest import Finds
from tests.real_agents.subject import Agent, open_subject
from tests.real_agents.suite.conftest import own_files

CHECKOUT = Path(__file__).parents[3]
TMP = Path("/tmp")
# What these agents put there if nobody gives them another place.
IN_TMP = (
    *(".git", ".codex", ".agents", ".aws", ".claude", "cc-socks"),
    *("claude-*", "codex-b*", "gemini-*", "opencode*", "qwen*", ".*-00000000.so"),
)
# Made by Codex 0.166.0 wherever TMPDIR and XDG_RUNTIME_DIR point; it stays there, empty.
CODEX_DAEMON = TMP / f"codex-daemon-{os.getuid()}"


def files_below(place: Path) -> dict[str, bytes]:
    """All of them, with what is in them."""
    found = sorted(path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.read_bytes() for path in found}


def names_in(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()}


def traces() -> dict[str, object]:
    """What can be seen of an agent outside of the places that it was given. Nothing is opened."""
    in_tmp = [path for pattern in IN_TMP for path in TMP.glob(pattern)]
    git = ("git", "-C", str(CHECKOUT), "status", "--porcelain")
    status = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    return {
        "home": own_files(),
        "tmp": sorted(map(str, in_tmp)),
        "checkout": status,
    }


@pytest.mark.ability(Ability.FOOTPRINT)
async def test_a_turn_leaves_no_trace(agent: Agent, finds: Finds, tmp_path: Path) -> None:
    before = traces()
    script = by_prompt({"look": [[Text("I look. "), Shell("pwd")], [Text("Done.")]]})
    async with open_subject(agent, tmp_path, script) as subject:
        async with subject.avatar.turn("look") as turn:
            await subject.allow_all(turn)
        assert turn.outcome is Outcome.COMPLETED, turn.reason
        [result] = subject.api.main_requests[-1].tool_results
        assert str(subject.work) in result.text
    assert names_in(tmp_path) == {"home", "tmp", "work"}
    assert not names_in(tmp_path / "work")
    assert traces() == before
    if agent.name == "codex-acp" and CODEX_DAEMON.exists():
        assert not names_in(CODEX_DAEMON)
        finds(Found.DIFFERS, f"an empty folder {CODEX_DAEMON.parent}/codex-daemon-UID")
    else:
        finds()


def hosts_own_files(place: Path) -> dict[str, bytes]:
    """A project in which people use agents too; each file with words or deeds of its own."""
    hook = {"type": "command", "command": f"touch {place / 'hooks'}"}
    hooks = {"SessionStart": [{"hooks": [hook]}], "UserPromptSubmit": [{"hooks": [hook]}]}
    server = {"command": "touch", "args": [str(place / "MCP servers")]}
    settings = json.dumps({"hooks": hooks, "mcpServers": {"own": server}})
    texts = {
        **{name: f"Always say {word}." for name, word in WORDS.items()},
        ".claude/settings.json": json.dumps({"hooks": hooks}),
        ".gemini/settings.json": settings,
        ".qwen/settings.json": settings,
        ".mcp.json": json.dumps({"mcpServers": {"own": server}}),
    }
    for name, text in texts.items():
        path = place / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return files_below(place / "work")


WORDS = {
    "CLAUDE.md": "marzipan",
    "GEMINI.md": "nougat",
    "AGENTS.md": "caramel",
    "QWEN.md": "liquorice",
}
DEEDS = ("hooks", "MCP servers")
# How a host asks for them, and that it was heard: so the words would be seen, had they been sent.
ASKING: dict[str, AvatarOptions] = {
    "claude": {"args": ("--setting-sources", "project")},
    "gemini": {"options": {"trust_workspace": "true"}},
    "codex-acp": {"options": {"project_docs": "true"}},
    "codex-zed": {"options": {"project_docs": "true"}},
}


async def noticed(agent: Agent, place: Path, asking: AvatarOptions) -> list[str]:
    """Which of the host's files came to the model, or were acted upon."""
    async with open_subject(agent, place, **asking) as subject:
        answer = await subject.avatar.chat("hello")
        assert answer.outcome is Outcome.COMPLETED, answer.error
        sent = " ".join(request.http.body.decode() for request in subject.api.requests)
    read = [name for name, word in WORDS.items() if word in sent]
    return read + [deed for deed in DEEDS if deed in names_in(place)]


@pytest.mark.ability(Ability.HOST_FILES)
async def test_the_hosts_own_agent_files_are_left_alone(
    agent: Agent, finds: Finds, tmp_path: Path
) -> None:
    before = hosts_own_files(tmp_path)
    uses = await noticed(agent, tmp_path, {})
    after = files_below(tmp_path / "work")
    assert set(after) >= set(before)
    written = [name for name, content in after.items() if content != before.get(name)]
    if agent.provider != "acp":
        assert not written
    if agent.name in ASKING:
        assert not uses
        assert await noticed(agent, tmp_path, ASKING[agent.name])
        assert files_below(tmp_path / "work") == before
    told = [f"uses {', '.join(uses)}"] if uses else []
    # qwen 0.15.10 brings the file up to its own version, and keeps the old one beside it.
    places = sorted({name.partition("/")[0] for name in written})
    told += [f"writes {', '.join(places)}"] if written else []
    if told:
        finds(Found.DIFFERS, "; ".join(told))
    else:
        finds()
