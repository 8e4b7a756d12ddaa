"""The app by Textual's pilot, on the embedded agent: opened, typed into, and looked at."""

import asyncio
import html
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Unpack

from rich.cells import cell_len
from textual.pilot import Pilot

from avatar_actors import AvatarOptions
from avatar_actors.cli.agent_choice import AgentChoice
from avatar_actors.cli.options import CommandOptions
from avatar_actors.gui.app import AppOptions, AvatarApp
from avatar_actors.gui.pane import AvatarPane
from avatar_actors.gui.strips import LinePane
from avatar_actors.picture import Mood
from tests.fake_agents import launcher
from tests.runtime.home import PATIENCE, Home, script

__all__ = ["Flight", "flown", "script"]

_TEXT = re.compile(r'<text [^>]*x="([\d.]+)"[^>]*line-(\d+)\)">([^<]*)</text>')
_CELL = 12.2


class Flight:
    """The app in flight: what a person does, and what a person sees."""

    def __init__(self, app: AvatarApp, pilot: Pilot[int], folder: Path) -> None:
        self.app, self.pilot, self.folder = app, pilot, folder
        self._layouts = 0
        screen: Any = app.screen
        screen.screen_layout_refresh_signal.subscribe(screen, self._count, immediate=True)

    def _count(self, _: object) -> None:
        self._layouts += 1

    @property
    def pane(self) -> AvatarPane:
        return self.app.pane

    @property
    def mood(self) -> Mood:
        return self.pane.picture.mood()

    async def send(self, *steps: dict[str, Any], text: str = "") -> None:
        self.pane.prompt.text = text or script(*steps)
        await self.pilot.press("enter")

    async def until(self, is_so: Callable[[], object]) -> None:
        while not is_so():
            await self.pilot.pause(0.02)

    async def sees(self, words: str) -> None:
        """Until the words stand in the conversation."""
        await self.until(lambda: words in self.said)

    async def over(self) -> None:
        """Until nothing is under way."""
        await self.until(lambda: not self.pane.host.is_sending and not self.pane.picture.is_busy)

    @property
    def said(self) -> str:
        """The conversation as it is drawn, without the prompts, which hold the same words."""
        talk = self.pane.talk
        rows = [row.strip.text for row in talk.rows if row.kind != "quote"]
        return "\n".join(rows) + "▌" * talk.has_cursor

    @property
    def prompts(self) -> str:
        return "\n".join(row.strip.text for row in self.pane.talk.rows if row.kind == "quote")

    @property
    def tree(self) -> str:
        return "\n".join(self.pane.side.activities.rows)

    def shown(self, pane: str) -> str:
        """The lines of a pane."""
        return self.pane.query_one(f"#{pane}", LinePane).shown

    @staticmethod
    def now() -> float:
        return time.monotonic()

    def layouts(self) -> int:
        """How often the screen was laid out."""
        return self._layouts

    @property
    def toasts(self) -> list[str]:
        return [each.words for each in self.app.toasts.told]

    @property
    def moods(self) -> list[Mood]:
        return self.pane.view.moods

    def go(self, name: str) -> dict[str, Any]:
        """A step that waits until `goes` says so."""
        return {"until": str(self.folder / name)}

    def goes(self, name: str) -> None:
        (self.folder / name).touch()

    def screen(self) -> str:
        """The whole screen as text, taken from Textual's own picture of it."""
        rows: dict[int, dict[int, str]] = {}
        svg = self.app.export_screenshot(simplify=True)
        for x, y, text in _TEXT.findall(svg):
            words = html.unescape(text).replace("\xa0", " ")
            rows.setdefault(int(y), {})[round(float(x) / _CELL)] = words
        return "\n".join(_joined(rows.get(y, {})) for y in range(self.app.size.height))


def _joined(parts: dict[int, str]) -> str:
    line = ""
    for column, text in sorted(parts.items()):
        line += " " * (column - cell_len(line)) + text
    return line.rstrip()


def flown(
    tmp_path: Path,
    test: Callable[[Flight], Awaitable[None]],
    *,
    agent: str = "acp",
    size: tuple[int, int] = (120, 36),
    avatars: int = 1,
    clock: Callable[[], float] = time.monotonic,
    **options: Unpack[AvatarOptions],
) -> None:
    """Open the app and do this with it; all within the patience of a test."""
    home = Home(tmp_path)
    choice = AgentChoice(
        provider=launcher.agent(agent), options=home.options(**options), runtime={}, why="a test"
    )
    is_still = clock is not time.monotonic
    given = AppOptions(
        choice=choice,
        wanted=CommandOptions(),
        avatars=avatars,
        clock=clock,
        has_heart=not is_still,
    )

    async def main() -> None:
        app = AvatarApp(given)
        async with asyncio.timeout(PATIENCE), app.run_test(size=size) as pilot:
            await test(Flight(app, pilot, tmp_path))

    asyncio.run(main())
