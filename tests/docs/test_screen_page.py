"""The page of the screen: it lists every event and state, and its scripts show what it says."""

import re
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import trio

from avatar_actors import (
    Avatar,
    AvatarEvent,
    AvatarOptions,
    Budget,
    EngineState,
    EventStream,
    PermissionEvent,
    Permit,
    QuestionEvent,
    RateLimit,
    Retry,
    Timeouts,
)
from avatar_actors.cli.display import Display, Style
from avatar_actors.gui import status
from avatar_actors.gui.activity_rows import TreeFolds, job_rows
from avatar_actors.gui.strips import AGENT_COLOURS, Look, StripRenderer
from avatar_actors.gui.transcript import TalkTranscript
from avatar_actors.gui.view import AvatarView
from tests.cli.display.seen import NOW, plain
from tests.docs.test_snippets import ROOT
from tests.runtime.home import PATIENCE, Home

PAGE = (ROOT / "docs" / "cli-screen.md").read_text("utf-8")
ROW = re.compile(
    r"^\| `(\w[\w.]*)` \| `([^`]+)` \| (`.*?`)? ?\| `([^`]+)` \| (`.*?`)? ?\| `(.*)` \|$",
    re.MULTILINE,
)
STYLES: Final = {
    "": Style(colour=False),
    "-v": Style(colour=False, verbose=1),
    "-vv": Style(colour=False, verbose=2),
    "--show-thinking": Style(colour=False, show_thinking=True),
}
LOOK: Final[dict[str, str]] = dict.fromkeys(
    (*AGENT_COLOURS, "foreground", "background", "surface"), "#808080"
)
ALL: Final = TreeFolds(set(), set())
CLAUDE: Final = "Claude"
LOOKS_AWAY: Final = "a screen that looks away"
# What these wait for would take a minute.
ENDLESS: Final = ("retry: twice", "stall_warning: 0.1", "rate_limit: once a minute, sent twice")
NEEDS: Final[dict[str, AvatarOptions]] = {
    "": {},
    "sent twice": {},
    LOOKS_AWAY: {},
    CLAUDE: {},
    "retry: twice": {"retry": Retry(max_attempts=2, backoff_base=60)},
    "stall_warning: 0.1": {"timeouts": Timeouts(stall_warning=0.1, health_check_interval=0.1)},
    "budget: 100 tokens": {"budget": Budget(tokens=100)},
    "rate_limit: once a minute, sent twice": {"rate_limit": RateLimit(per_minute=1, burst=1)},
}


class Row(NamedTuple):
    what: str
    words: str
    flag: str
    app: str
    needs: str
    script: str


def rows() -> list[Row]:
    found = [[cell.strip("`") for cell in cells] for cells in ROW.findall(PAGE)]
    # After a crash nobody can say what the next turn cost: that script is the last one.
    return sorted(
        (Row(*cells) for cells in found),
        key=lambda row: (row.needs, "exit" in row.script, row.script),
    )


def test_every_event_and_every_state_has_its_row() -> None:
    events = {kind.__name__ for kind in AvatarEvent.__subclasses__()}
    states = {str(state) for state in EngineState}
    assert {row.what for row in rows()} == events | states
    assert len(rows()) == len(re.findall(r"^\| `", PAGE, re.MULTILINE))


class AppWatcher:
    """What `avatar gui` shows, by the place of it, and everything that was ever there."""

    def __init__(self) -> None:
        look = Look(LOOK, is_dark=True)
        self._view = AvatarView(TalkTranscript(StripRenderer(look)))
        self._look, self._seen = look, set[str]()

    def tell(self, event: AvatarEvent) -> None:
        view, picture = self._view, self._view.picture
        view.see(event, NOW)
        view.transcript.settle(120, 60)
        rows = [*view.transcript.rows, *view.transcript.open_rows()]
        shown = {
            "conversation": [row.strip.text for row in rows],
            "headline": [status.headline(picture, self._look, NOW, 0).plain],
            "header": [status.header(picture, "aria", 120, has_side=True).plain],
            "question": [row.plain for row in status.question(picture, NOW, can_edit=False)],
            "activities": [row.text.plain for row in job_rows(picture, ALL, NOW, 60)],
            "thoughts": picture.thought.split("\n"),
            "toast": [toast.words for toast in view.toasts],
            "figure": [mood.value for mood in view.moods],
            "F12": list(view.log),
        }
        for place, lines in shown.items():
            self._seen.update(f"{place}: {line}" for line in lines)

    def sees(self, row: Row) -> bool:
        place, _, words = row.app.partition(": ")
        return any(line.startswith(f"{place}: ") and words in line for line in self._seen)


class Watcher:
    """The screens of all styles, and everything that was ever on one; and the app."""

    def __init__(self) -> None:
        self._screens = {flag: (Display(style), set[str]()) for flag, style in STYLES.items()}
        self.app = AppWatcher()

    def tell(self, event: AvatarEvent) -> None:
        self.app.tell(event)
        for display, seen in self._screens.values():
            display.tell(event, NOW)
            seen.update(plain([*display.finished(120), *display.frame(120, 40, NOW)]))

    def sees(self, row: Row, flag: str) -> bool:
        return any(row.words in line for line in self._screens[flag][1])


async def play(avatar: Avatar, asked: list[Row]) -> None:
    """Send the rows' script, and look until everything is seen that they promise."""
    watcher, needs = Watcher(), asked[0].needs
    prompt = f"SCRIPT:{asked[0].script}"
    capacity = 8 if needs == LOOKS_AWAY else 4096
    async with avatar.events(capacity=capacity) as stream, trio.open_nursery() as nursery:
        if needs == LOOKS_AWAY:
            await avatar.chat(prompt)
        else:
            for _ in range(1 + needs.endswith("sent twice")):
                nursery.start_soon(avatar.chat, prompt)
        with trio.move_on_after(PATIENCE / 2):
            await look(avatar, stream, watcher, asked)
        if needs in ENDLESS:
            nursery.cancel_scope.cancel()
    assert [row for row in asked if not watcher.sees(row, row.flag)] == []
    assert [row for row in asked if row.flag and watcher.sees(row, "")] == []
    assert [row for row in asked if not watcher.app.sees(row)] == []


async def look(avatar: Avatar, stream: EventStream, watcher: Watcher, asked: list[Row]) -> None:
    async for event in stream:
        watcher.tell(event)
        if isinstance(event, PermissionEvent):
            await avatar.answer(event.request_id, Permit.REJECT_ONCE)
        if isinstance(event, QuestionEvent):
            await avatar.answer_question(event.request_id, None)
        if all(watcher.sees(row, row.flag) and watcher.app.sees(row) for row in asked):
            return


@pytest.mark.parametrize("needs", sorted(NEEDS))
async def test_scripts_show_what_the_page_says(needs: str, tmp_path: Path) -> None:
    scripts = groupby((row for row in rows() if row.needs == needs), key=lambda row: row.script)
    agent = "claude" if needs == CLAUDE else "acp"
    async with Home(tmp_path).avatar(agent=agent, **NEEDS[needs]) as avatar:
        for _, asked in scripts:
            await play(avatar, list(asked))
