"""The assistant for people: what it answers, what it does, and what it never does."""

import pytest

from avatar_actors.programs.embedded.json_lines import record_in, text_in
from tests.programs.embedded.driver import (
    Acp,
    Place,
    answers,
    claude_text,
    is_request,
    open_acp,
    open_claude,
    open_session,
    text_of,
    updates,
)


@pytest.fixture
def project(place: Place) -> Place:
    (place.cwd / "README.md").write_text("# Proj\n\nIt bakes bread.\n\nMore.\n")
    (place.cwd / "main.py").write_text("x = 1\n# TODO: knead\n")
    (place.cwd / "src").mkdir()
    (place.cwd / "src" / "oven.py").write_text("heat = 200\n")
    (place.folder / "secret.txt").write_text("TODO: a secret")
    (place.cwd / "link.txt").symlink_to(place.folder / "secret.txt")
    (place.cwd / "up").symlink_to(place.folder)
    return place


async def test_it_describes_a_project_with_thoughts_a_plan_and_tools(project: Place) -> None:
    async with open_session(project) as agent:
        messages = await agent.prompt("What does this project do?")
        kinds = [text_in(update, "sessionUpdate") for update in updates(messages)]
        assert kinds[:2] == ["agent_thought_chunk", "plan"]
        assert kinds.count("tool_call") == 3
        assert kinds.index("tool_call_update") > 4
        thought = text_in(record_in(updates(messages)[0], "content"), "text")
        assert thought.startswith("**")
        text = text_of(messages)
        assert "It bakes bread." in text
        assert ".py: 2 files, 3 lines" in text
        assert "not a language model" in text
        assert "secret" not in text
        assert record_in(messages[-1], "result") == {"stopReason": "end_turn"}


@pytest.mark.parametrize(
    ("prompt", "part"),
    [
        ("list files", "src/oven.py"),
        ("which files are here?", "main.py"),
        ("read README.md", "It bakes bread."),
        ("show src/oven.py", "heat = 200"),
        ("search for todo", "main.py:2: # TODO: knead"),
        ("find knead", "main.py:2"),
        ("count lines", "all: 3 text files, 8 lines"),
        ("how many files?", ".md: 1 files"),
        ("what time is it?", ":"),
        ("12*(3+4)", "84"),
        ("what is 2^10?", "1024"),
        ("and what is 6*7?", "42"),
        ("Ok, please read README.md", "It bakes bread."),
        ('<context>\n{"page":"a b\\nc"}\n</context>\n\ncount it', "page: 2 lines, 3 words"),
        ('<context>\n{"page":7}\n</context>\n\nlist files', "main.py"),
        ("7 / 0", "divides by zero"),
        ("9**9**9", "too large"),
        ("hello", "not a language model"),
        ("who are you?", "not a language model"),
        ("compose a poem", "I did not understand"),
        ("read nothing.txt", "is not a file here"),
        ("read link.txt", "outside of the working directory"),
        ("read up/secret.txt", "outside of the working directory"),
        ("read /etc/hostname", "outside of the working directory"),
        ("search for secret", "(nothing found)"),
    ],
)
async def test_it_answers_simple_requests(project: Place, prompt: str, part: str) -> None:
    async with open_session(project) as agent:
        assert part in text_of(await agent.prompt(prompt))


async def write(agent: Acp, prompt: str, option: str) -> str:
    request = await agent.begin(prompt)
    asked = (await agent.until(is_request("session/request_permission")))[-1]
    await agent.choose(asked, option)
    return text_of(await agent.until(answers(request)))


async def test_it_writes_what_it_may(project: Place) -> None:
    async with open_session(project) as agent:
        assert (await write(agent, "write notes/a.txt: buy: milk", "allow")).startswith("Done")
        assert (project.cwd / "notes" / "a.txt").read_text() == "buy: milk\n"


@pytest.mark.parametrize("option", ["reject", "cancelled"])
async def test_it_does_not_write_what_it_may_not(project: Place, option: str) -> None:
    async with open_session(project) as agent:
        assert "leave a.txt alone" in await write(agent, "write a.txt: x", option)
        assert not (project.cwd / "a.txt").exists()


@pytest.mark.parametrize("name", ["../a.txt", "/tmp/a.txt", "up/a.txt", "link.txt"])
async def test_it_never_writes_outside(project: Place, name: str) -> None:
    async with open_session(project) as agent:
        assert "I do not write that" in text_of(await agent.prompt(f"write {name}: x"))
        assert (project.folder / "secret.txt").read_text() == "TODO: a secret"


async def test_it_remembers_what_was_said(project: Place) -> None:
    async with open_session(project) as agent:
        assert "nothing before" in text_of(await agent.prompt("what did I say?"))
        await agent.prompt("1+1")
        assert "- 1+1" in text_of(await agent.prompt("what did I say?"))


async def test_it_says_that_it_cannot_follow_instructions(project: Place) -> None:
    async with open_acp(project) as agent:
        await agent.initialize()
        await agent.new(_meta={"systemPrompt": {"append": "Be a pirate."}})
        assert "cannot follow" in text_of(await agent.prompt("hello"))


async def test_it_is_the_same_in_the_fake_claude(project: Place) -> None:
    async with open_claude(project) as agent:
        assert "It bakes bread." in claude_text(await agent.turn("What does this project do?"))
