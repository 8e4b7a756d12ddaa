"""What people see of `avatar`, as walkthroughs: what is typed, when one looks, what is done then.

A walkthrough waits at gates (the step `until` of the embedded agent), so that each moment stands
still: it can be recorded in one terminal and compared in another.
"""

import re
from dataclasses import dataclass
from typing import Final, Protocol

from tests.cli.programs import script

SIZES: Final = ((80, 24), (40, 24), (200, 50))
CTRL_C: Final = "\x03"


@dataclass(frozen=True)
class Moment:
    """Once all of `shows` is on the screen, it is looked at; then a gate opens or keys are pressed.

    `is_last`: it is looked at when the program has ended.
    """

    name: str
    shows: tuple[str, ...] = ()
    opens: str = ""
    keys: str = ""
    is_last: bool = False


@dataclass(frozen=True)
class Walkthrough:
    name: str
    arguments: tuple[str, ...]
    moments: tuple[Moment, ...]
    exit_code: int = 0


class WalkthroughTerminal(Protocol):
    """A terminal in which a walkthrough is run."""

    def look(self, moment: Moment) -> str:
        """What can be read then, timeless."""
        ...

    def press(self, keys: str) -> None: ...
    def open(self, gate: str) -> None: ...
    def end(self) -> int: ...


def tool(name: str, what: str, **more: object) -> dict[str, object]:
    return {"tool": name, "input": {"command": what}, "kind": "execute", **more}


def held(name: str, what: str, gate: str) -> dict[str, object]:
    """A tool that runs until the gate is open."""
    command = f"echo {what}; until [ -e {gate} ]; do sleep 0.01; done"
    return tool(name, command, title=what, run=True)


WORK = script(
    {"think": "**Analyzing code structure**\nThree modules, I guess."},
    {"until": "thought"},
    {
        "parallel": [
            {"tool": "Read", "input": {"path": "README.md"}, "kind": "read", "result": "# bread"},
            held("Bash", "count the loaves", "counted"),
            {"tool": "Fetch", "input": {"url": "oven"}, "error": "the oven is cold"},
        ]
    },
    {"say": "## What I found\n\nThe **bakery** has three modules:\n\n- `oven`\n- `dough`\n"},
    {"until": "told"},
    {"say": "- `shop`\n\n```python\nbake(bread)\n```\n"},
    {"usage": {"input": 1200, "output": 340, "used": 50_000, "size": 200_000}},
)
EDIT = script(
    {"ask": "Bash", "input": {"command": "rm -rf build && make bread"}},
    {"say": " Thank you."},
)
READ = [{"tool": "Read", "input": {"path": f"part-{n}.txt"}, "result": "x"} for n in range(7)]
MANY = script(
    {"parallel": [*READ, *(held("Bash", f"knead dough {n}", "kneaded") for n in range(5))]},
    {"say": "All twelve are done."},
)
PANGRAM = "Příliš žluťoučký kůň úpěl ďábelské ódy."
CZECH = script(
    {"think": "**Přemýšlím o žluťoučkém koni** 🐴"},
    {"tool": "Čti", "input": {"path": "žluťoučký/kůň.txt"}, "result": f"🐎 {PANGRAM}"},
    {"say": f"{PANGRAM} 🐎🚀 漢字かな交じり文も。\n\n"},
    {"say": "| slovo | smysl |\n|---|---|\n| kůň | 🐴 |\n"},
)
LONG = script({"say": "Aaa" + "x" * 3000 + "Zzz"})
CRASH = script(
    {"say": "I carry the boxes "},
    tool("Carry", "carry boxes", leave=True),
    {"until": "broken"},
    {"kill": 9},
)

WALKTHROUGHS: Final = (
    Walkthrough(
        "work",
        ("chat", WORK),
        (
            Moment("thinking", ("Analyzing code structure",), opens="thought"),
            Moment("tools side by side", ("count the loaves", "cold"), opens="counted"),
            Moment("the answer comes", ("dough",), opens="told"),
            Moment("the answer", is_last=True),
        ),
    ),
    Walkthrough(
        "approval",
        ("chat", EDIT),
        (
            Moment("the question", ("rm -rf build && make bread", "to answer"), keys="y"),
            Moment("allowed", is_last=True),
        ),
    ),
    Walkthrough(
        "interrupt",
        ("chat", script({"say": "I begin.\n\n"}, held("Bash", "bake slowly", "never"))),
        (
            Moment("at work", ("I begin.", "bake slowly"), keys=CTRL_C),
            Moment("interrupted", is_last=True),
        ),
        exit_code=130,
    ),
    Walkthrough(
        "crash",
        ("chat", CRASH),
        (
            Moment("before", ("I carry the boxes", "carry boxes"), opens="broken"),
            Moment("after", is_last=True),
        ),
        exit_code=1,
    ),
    Walkthrough(
        "many",
        ("chat", MANY),
        (
            Moment("twelve at once", ("knead dough",), opens="kneaded"),
            Moment("done", is_last=True),
        ),
    ),
    Walkthrough(
        "recovery",
        ("repl",),
        (
            Moment("the prompt", ("/help",), keys=f"{CRASH}\r"),
            Moment("before", ("I carry the boxes", "Carry"), opens="broken"),
            Moment("back", ("the conversation was resumed",), keys="6*7\r"),
            Moment("it goes on", ("42\n",), keys="\x04"),
            Moment("left", is_last=True),
        ),
    ),
    Walkthrough("czech", ("chat", CZECH), (Moment("text of all kinds", is_last=True),)),
    Walkthrough("long", ("chat", LONG), (Moment("a very long line", is_last=True),)),
)


def walked_through(walkthrough: Walkthrough, terminal: WalkthroughTerminal) -> dict[str, str]:
    """Run the walkthrough; what was seen at each moment, without times."""
    seen: dict[str, str] = {}
    for moment in walkthrough.moments:
        if moment.is_last:
            code = terminal.end()
            assert code == walkthrough.exit_code, f"{walkthrough.name} ended with {code}"
        seen[moment.name] = terminal.look(moment)
        if moment.opens:
            terminal.open(moment.opens)
        if moment.keys:
            terminal.press(moment.keys)
    return seen


SPINNER = re.compile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
SECONDS = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|min)\b")


def timeless(text: str) -> str:
    """Without what time does to it: spinners, seconds, and the gaps that these push about."""
    text = SECONDS.sub("#s", SPINNER.sub("⠋", text))
    lines = (re.sub(r"(?<=\S) {2,}(?=\S)", "  ", line).rstrip() for line in text.splitlines())
    return "\n".join(re.sub("─{2,}", "──", line) for line in lines).strip("\n")
