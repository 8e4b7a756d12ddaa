"""Every Python block of the pages runs, in order and in one namespace per page.

A ```text block right below a ```python block is what that one prints. Each `trio.run(main)` gets a
virtual clock here: a sleep takes no time, and a slow machine cannot change what is printed. Where
an avatar is opened there are real processes, so the time is real too, and limited.
"""

import io
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN_RUN = re.compile(r"\btrio\.run\((\w+)\)")
OPENS_AVATARS = re.compile(r"\bopen_(?:avatar|runtime)\(")
PATIENCE = 60.0
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Snippet:
    line: int
    code: str
    prints: str | None


def snippets(text: str) -> Iterator[Snippet]:
    """The Python blocks of a page, each with its expected output where one is given."""
    blocks = list(FENCE.finditer(text))
    for block, following in zip_longest(blocks, blocks[1:]):
        if block["language"] != "python":
            continue
        line = text.count("\n", 0, block.start()) + 2
        prints = None
        if following is not None and following["language"] == "text":
            is_adjacent = not text[block.end() : following.start()].strip()
            prints = following["body"] if is_adjacent else None
        yield Snippet(line, block["body"], prints)


def run(page: str, snippet: Snippet, namespace: dict[str, Any]) -> str:
    """What the snippet prints; a traceback shows its line in the page."""
    is_real = OPENS_AVATARS.search(snippet.code) is not None
    instead = r"trio.run(in_time, \1)" if is_real else r"trio.run(\1, clock=virtual_clock())"
    text = PLAIN_RUN.sub(instead, snippet.code)
    code = compile("\n" * (snippet.line - 1) + text, page, "exec")
    printed = io.StringIO()
    with chdir(ROOT), redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def virtual_clock() -> MockClock:
    return MockClock(autojump_threshold=0)


async def in_time(main: Callable[[], Awaitable[None]]) -> None:
    with trio.fail_after(PATIENCE):
        await main()


def fresh_namespace() -> dict[str, Any]:
    return {"__name__": "__main__", "virtual_clock": virtual_clock, "in_time": in_time}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_snippets_run_and_print_what_the_page_says(path: Path) -> None:
    namespace = fresh_namespace()
    for snippet in snippets(path.read_text("utf-8")):
        printed = run(str(path), snippet, namespace)
        if snippet.prints is not None:
            assert printed == snippet.prints, f"{name_of(path)}:{snippet.line}"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_within_the_project_lead_somewhere(path: Path) -> None:
    text = FENCE.sub("", path.read_text("utf-8"))
    targets = [match["target"].partition("#")[0] for match in LINK.finditer(text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (path.parent / target).exists()] == []


def test_every_page_of_the_documentation_is_found_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = [match["target"] for match in LINK.finditer(page.read_text("utf-8"))]
        local = [target.partition("#")[0] for target in targets if "://" not in target]
        waiting += [(page.parent / target).resolve() for target in local if target]
    assert sorted(map(name_of, set(PAGES) - reached)) == []


@pytest.mark.parametrize(("place", "name"), [(1, "hello_avatar"), (2, "shop")])
def test_the_readme_shows_the_examples(place: int, name: str) -> None:
    shown = list(snippets((ROOT / "README.md").read_text("utf-8")))[place].code
    example = (ROOT / "examples" / f"{name}.py").read_text("utf-8")
    program = example.partition('"""\n\n')[2]
    assert shown == program.replace(
        'if __name__ == "__main__":\n    trio.run(main)', "trio.run(main)"
    )


def test_the_readme_quotes_what_its_trio_program_prints() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    _, first, *_ = snippets(page)
    printed = iter(run("README.md", first, fresh_namespace()).splitlines())
    after = page[page.index(first.code) + len(first.code) :].partition("```text\n")[2]
    quoted = after.partition("```")[0].splitlines()
    # In this order; what stands between them is left out.
    assert [line for line in quoted if line not in printed] == []


def test_snippet_with_other_output_than_the_page_says_is_found() -> None:
    page = "```python\nx = 1\n```\n\nProse.\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n"
    first, second = snippets(page)
    assert first.prints is None
    assert run("page", second, {"x": 1}) != second.prints
