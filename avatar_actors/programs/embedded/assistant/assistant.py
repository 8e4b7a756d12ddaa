"""The assistant: answers by keywords instead of a model and says so; `file_tools` does the work."""

from __future__ import annotations

import re

from avatar_actors.programs.embedded.assistant.file_tools import FileTools
from avatar_actors.programs.embedded.assistant.given_text import GivenText
from avatar_actors.programs.embedded.json_lines import Record, text_in
from avatar_actors.programs.embedded.tools import ToolFailed, ToolUse
from avatar_actors.programs.embedded.turn import ALLOWED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from avatar_actors.programs.embedded.turn import AgentTurn

    Requests = tuple[tuple[re.Pattern[str], Callable[[AgentTurn, re.Match[str]], None]], ...]

HONESTY = "I am the embedded agent: a small program with a few tools, not a language model."
SKILLS = """I can:
- say what is in this folder ("what does this project do?", "list files", "count lines")
- read a file ("read README.md") and search all of them ("search for TODO")
- write a file, if you allow it ("write notes.txt: buy milk")
- calculate ("12*(3+4)") and tell the time ("what time is it?")
- count and search a text that you pipe in (git diff | avatar chat "review this")
- remember what you said ("what did I say?")"""
README = re.compile(r"readme(\.\w+)?", re.IGNORECASE)
ASKING = r"what is|what's|how much is|calculate|compute"
FILLERS = re.compile(
    r"^(?:(?:and|but|so|then|now|also|ok|okay|well|please|(?:can|could) you)\b[,\s]*)+",
    re.IGNORECASE,
)
SIGNS = r"[\d\s.()+*/%^-]"
LONGEST_QUOTE = 600
# A pattern may need the square of this in steps: 20 kB of "what" took 2.4 s, and here 0.1 s.
LONGEST_REQUEST = 4_000


def answer(turn: AgentTurn) -> None:
    """Answers a request in simple English, or says that it was not understood."""
    request = turn.words.strip()
    request = FILLERS.sub("", request, 1) or request
    given = GivenText(turn.context)
    requests = ABOUT_GIVEN_TEXT if given else REQUESTS
    # Only a text to write may be long; a longer request is not searched for keywords.
    requests = requests if len(request) <= LONGEST_REQUEST else (WRITING,)
    for pattern, respond in requests:
        if (found := pattern.search(request)) is not None:
            respond(turn, found)
            return
    if given:
        turn.think("**Looking at the input**\nIt is text to work on, not a request.")
        turn.say(f"{given.described()}\n\nI can count, quote and search it. {HONESTY}")
        return
    turn.think("**No keyword**\nNothing in this request is a keyword that I know.")
    turn.say(f"I did not understand that. {HONESTY}\n\n{SKILLS}")


def _calculate(turn: AgentTurn, found: re.Match[str]) -> None:
    _use(turn, FileTools(turn).calculation(found["expression"].strip()))


def _use(turn: AgentTurn, call: ToolUse) -> None:
    """Runs one tool and says its output."""
    turn.run_tools([call])
    turn.say(f"That did not work: {call.output}" if call.is_failed else call.output)


def _greet(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    told = "\n\nI was given instructions, which I cannot follow without a model."
    turn.say(f"Hello. {HONESTY}\n\n{SKILLS}{told if turn.session.system else ''}")


def _describe(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    turn.think("**Looking around**\nThe names of the files and a readme say most about a folder.")
    steps = ["Look at the files", "Read the readme", "Sum up"]
    _plan(turn, steps, done=0)
    looking = FileTools(turn)
    names = looking.workspace.files()
    readme = next((name for name in names if README.fullmatch(name)), None)
    listing, counting = looking.listing(), looking.counting()
    reading = [looking.reading(readme)] if readme else []
    turn.run_tools([listing, counting, *reading])
    _plan(turn, steps, done=2)
    quoted = [_first_words(call.output) for call in reading if not call.is_failed]
    turn.think("**Summing up**\nI can quote and count; understanding would need a model.")
    if quoted:
        turn.say(f"Its readme says:\n\n{quoted[0]}\n\n")
    else:
        turn.say("There is no readme, so I can only count. ")
    turn.say(f"In this folder:\n{counting.output}\n\n{HONESTY}")
    _plan(turn, steps, done=3)


def _plan(turn: AgentTurn, steps: list[str], *, done: int) -> None:
    entries: list[Record] = []
    for place, step in enumerate(steps):
        status = "completed" if place < done else "in_progress" if place == done else "pending"
        entries.append({"content": step, "priority": "medium", "status": status})
    turn.show_plan(entries)


def _first_words(text: str) -> str:
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    return "\n\n".join(paragraphs[:2])[:LONGEST_QUOTE]


def _list(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    _use(turn, FileTools(turn).listing())


def _count(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    _use(turn, FileTools(turn).counting())


def _tell_time(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    _use(turn, FileTools(turn).clock())


def _read(turn: AgentTurn, found: re.Match[str]) -> None:
    _use(turn, FileTools(turn).reading(_bare(found["name"])))


def _search(turn: AgentTurn, found: re.Match[str]) -> None:
    _use(turn, FileTools(turn).searching(_bare(found["text"])))


def _search_given(turn: AgentTurn, found: re.Match[str]) -> None:
    turn.say(GivenText(turn.context).searched(_bare(found["text"])))


def _count_given(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    turn.say(GivenText(turn.context).counted())


def _write(turn: AgentTurn, found: re.Match[str]) -> None:
    name = _bare(found["name"])
    looking = FileTools(turn)
    try:
        looking.workspace.locate(name)
    except ToolFailed as failure:
        turn.say(f"I do not write that: {failure}.")
        return
    turn.think(f"**Asking first**\nWriting {name} changes the folder, so I ask.")
    call = looking.writing(name, found["text"].strip() + "\n")
    if turn.ask_permission(call) != ALLOWED:
        turn.say(f"Then I leave {name} alone.")
        return
    call.perform()
    turn.show_tool_end(call)
    turn.say(f"That did not work: {call.output}" if call.is_failed else f"Done: {call.output}.")


def _recall(turn: AgentTurn, found: re.Match[str]) -> None:
    del found
    said = [text_in(entry, "text") for entry in turn.session.history if entry["role"] == "user"]
    earlier = said[:-1][-5:]
    # A script is what the agent was to do, not what was said to it.
    words = [text.partition("SCRIPT:")[0].strip() or "(a script)" for text in earlier]
    quoted = "\n".join(f"- {text[:100]}" for text in words)
    turn.say(f"You said:\n{quoted}" if earlier else "You have said nothing before this.")


def _bare(text: str) -> str:
    return text.strip().strip("\"'`?").removeprefix("the file ").strip()


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


WRITING = (_pattern(r"^(?:write|create|save)\s+(?P<name>[^\s:][^:\n]*):(?P<text>.*)$"), _write)
CALCULATION = (
    _pattern(rf"^(?:(?:{ASKING})\s+)?(?P<expression>[-+(]*\d{SIGNS}*)[=?.\s]*$"),
    _calculate,
)
SEARCHED = _pattern(
    r"(?:^find|\b(?:search|grep)(?:\s+(?:this|it|that))?(?:\s+for)?|\blook\s+for)\s+(?P<text>.+)$"
)
COUNTED = _pattern(r"\bcount\b|\bhow many\b")
# With a text to work on, every other request is about it.
ABOUT_GIVEN_TEXT: Requests = (
    CALCULATION,
    WRITING,
    (SEARCHED, _search_given),
    (COUNTED, _count_given),
)
REQUESTS: Requests = (
    CALCULATION,
    WRITING,
    (_pattern(r"^(?:read|show|open|cat)\s+(?:me\s+)?(?P<name>\S+\.\S+|\S+)\s*$"), _read),
    (SEARCHED, _search),
    (_pattern(r"\b(?:what|which) did i\b|\bremember\b|\bhistory\b"), _recall),
    (COUNTED, _count),
    (_pattern(r"\b(?:list|what|which|show)\b.*\bfiles\b|^ls$|^list$"), _list),
    (_pattern(r"\bwhat\b.*\b(?:time|date|day)\b|^time$|^date$"), _tell_time),
    (
        _pattern(r"\b(?:project|repository|repo|folder|directory|summari[sz]e|overview)\b"),
        _describe,
    ),
    (_pattern(r"^(?:hi|hello|hey|help)\b|\bwho are you\b|\bwhat can you\b|^/help"), _greet),
)
