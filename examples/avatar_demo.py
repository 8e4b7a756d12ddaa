"""One avatar to watch: a turn with thoughts and tools, a permission, a crash, and the recovery.

`python -m examples.avatar_demo` runs on the embedded agent, a small program that needs no account
and no network. In a terminal it takes about 20 seconds; piped, or with --fast, it is told at once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import trio
import trio.testing

from avatar_actors import (
    Avatar,
    AvatarError,
    ContinuityEvent,
    EventStream,
    PermissionEvent,
    Permit,
    Runtime,
    ToolEvent,
    ToolStatus,
    TurnEndedEvent,
    open_runtime,
)
from examples.census import Census
from examples.live_screen import keys_not_echoed
from examples.scroll import AT_ONCE, READING, Scroll
from examples.spans import Span, Style, with_colours, without_colours
from examples.turn_view import LABEL, TurnView, labelled, short_time

PROJECT = Path(__file__).resolve().parents[1]
CHAPTERS = 5

ATTIC = [
    {"think": "**Where to begin**\nThe boxes first, then the books."},
    {"say": "I carry the boxes down. "},
    {"tool": "Carry", "input": {"command": "carry boxes"}, "kind": "execute", "seconds": 60},
    {"say": "Nobody will ever read this."},
]


@dataclass(frozen=True)
class DemoContext:
    """What every chapter needs."""

    runtime: Runtime
    scroll: Scroll
    census: Census
    folder: Path

    async def chapter(self, number: int, title: str, text: str) -> None:
        if number > 1:
            await self.scroll.blank()
        await self.scroll.say((Span(f"{number}/{CHAPTERS}  {title}", Style.BOLD),))
        await self.scroll.say((Span(text),))
        await self.scroll.blank()

    async def you(self, prompt: str) -> None:
        await self.scroll.say(labelled("you", Span(prompt, Style.BOLD)), LABEL)

    async def demo(self, deed: str, style: Style = Style.FACT) -> None:
        """What the demo itself does, in the host's place."""
        await self.scroll.say(labelled("demo", Span(deed, style)), LABEL)


async def story(context: DemoContext) -> None:
    """All chapters; what they wait for are the avatars' own events."""
    await a_turn(context)
    (context.folder / "room").mkdir()
    ben = await context.runtime.start(
        "embedded",
        name="ben",
        working_dir=context.folder / "room",
        options={"scripts": "true"},
        env={"AVATAR_EMBEDDED_HOME": str(context.folder / "memory")},
    )
    async with ben.events(ContinuityEvent) as news:
        await a_permission(context, ben)
        killed_at = await a_crash(context, ben)
        await the_recovery(context, ben, news, killed_at)
    await the_tree(context)


async def a_turn(context: DemoContext) -> None:
    await context.chapter(
        1,
        "A turn",
        "An avatar is an agent in a process of its own, turned into typed events. Aria looks at "
        "this project: she thinks, plans, and uses three tools side by side.",
    )
    began = time.perf_counter()
    aria = await context.runtime.start(
        "embedded",
        name="aria",
        working_dir=PROJECT,
        env={"AVATAR_EMBEDDED_HOME": str(context.folder / "memory")},
    )
    context.census.look()
    ready = short_time(time.perf_counter() - began)
    await context.scroll.say(labelled("", Span(f"● aria is up after {ready}", Style.GOOD)), LABEL)
    await talk(context, aria, "What does this project do?")
    await aria.stop()


async def a_permission(context: DemoContext, ben: Avatar) -> None:
    await context.chapter(
        2,
        "A permission",
        "Ben works in a directory made for this demo. Before he writes he asks, and waits. "
        "A program would ask its user now; here the demo answers by itself.",
    )
    await talk(context, ben, "write notes.txt: buy milk")
    written = (context.folder / "room" / "notes.txt").read_text("utf-8").strip()
    await context.demo(f"looks into notes.txt and finds: {written}")


async def talk(context: DemoContext, avatar: Avatar, prompt: str) -> None:
    """One turn, shown as it goes; a permission is answered with yes."""
    await context.you(prompt)
    view = TurnView(avatar.name, str(PROJECT))
    async with avatar.turn(prompt) as turn:
        async for event in turn:
            for line in view.lines(event):
                await context.scroll.say(line, LABEL)
            if isinstance(event, PermissionEvent):
                await context.scroll.breathe(2)
                await context.demo("answers in your place: allow once")
                await avatar.answer(event.request_id, Permit.ALLOW_ONCE)


async def a_crash(context: DemoContext, ben: Avatar) -> float:
    """A turn that is killed while its tool runs; the wall-clock time of the kill."""
    await context.chapter(
        3,
        "A crash in the middle of a turn",
        "Ben is given a script with a slow tool: a real process, in a session of its own. While it "
        "runs, the demo kills the agent with kill -9.",
    )
    await context.you("tidy the attic")
    view, killed_at = TurnView(ben.name, str(PROJECT)), 0.0
    async with ben.turn(f"tidy the attic SCRIPT:{json.dumps(ATTIC)}") as turn:
        async for event in turn:
            for line in view.lines(event):
                await context.scroll.say(line, LABEL)
            if isinstance(event, ToolEvent) and event.status is ToolStatus.STARTED:
                context.census.look()
                await context.scroll.breathe(2)
                killed_at = await kill(context, ben)
    assert turn.ended is not None
    await tell_the_end(context, turn.ended, killed_at)
    return killed_at


async def kill(context: DemoContext, ben: Avatar) -> float:
    pid = (await ben.health()).pid
    assert pid is not None
    await context.demo(f"kill -9 {pid}", Style.BAD)
    killed_at = time.time()
    os.kill(pid, signal.SIGKILL)
    return killed_at


async def tell_the_end(context: DemoContext, ended: TurnEndedEvent, killed_at: float) -> None:
    late = short_time(ended.timestamp - killed_at)
    say = context.scroll.say
    await context.scroll.breathe()
    await say(labelled("", Span(f"The caller knew {late} after the kill: {ended.reason}.")), LABEL)
    await say(labelled("", Span(f"Kept: “{ended.text.strip()}”")), LABEL)
    unknown = len(ended.unknown_tools)
    await say(
        labelled(
            "", Span(f"{unknown} tool was under way: nobody claims to know what became of it.")
        ),
        LABEL,
    )


async def the_recovery(
    context: DemoContext, ben: Avatar, news: EventStream, killed_at: float
) -> None:
    await context.chapter(
        4,
        "The recovery",
        "The supervisor starts the agent again and the agent takes up its session. The prompt is "
        "not sent a second time: that is the caller's choice.",
    )
    event = await anext(news)
    assert isinstance(event, ContinuityEvent)
    context.census.look()
    back = short_time(event.timestamp - killed_at)
    await context.scroll.say(
        labelled(
            "",
            Span(f"● continuity: {event.continuity.value}", Style.GOOD),
            Span(f" {back} after the kill", Style.DIM),
        ),
        LABEL,
    )
    await talk(context, ben, "What did I say?")


async def the_tree(context: DemoContext) -> None:
    await context.chapter(
        5,
        "The end",
        "This is the tree that did it. The session lives its second life, the others their first. "
        "Aria was stopped, so she is gone.",
    )
    await trio.testing.wait_all_tasks_blocked(0.01)  # a tree at rest is easier to read
    await context.scroll.show(str(context.runtime.tree()))
    context.census.look()
    await context.scroll.blank()


async def perform(scroll: Scroll) -> int:
    """Play the story; 0, or 128 + the signal that ended it."""
    signals: list[int] = []
    curtain = trio.CancelScope()
    census = Census()
    async with trio.open_nursery() as nursery:
        await nursery.start(watch_signals, curtain, signals, scroll)
        with curtain, tempfile.TemporaryDirectory(prefix="avatar-demo-") as folder:
            async with open_runtime() as runtime:
                await story(DemoContext(runtime, scroll, census, Path(folder)))
        nursery.cancel_scope.cancel()
    started = len(census.seen)
    style = Style.BAD if census.left() else Style.GOOD
    if started:
        count = f"{started} processes were started, {census.left()} are left."
        scroll.note((Span("○ All has stopped. ", style), Span(count, style)))
    if not signals:
        scroll.note((Span("How it is written: docs/avatars/tutorial.md", Style.DIM),))
    return 128 + signals[0] if signals else 0


async def watch_signals(
    curtain: trio.CancelScope,
    signals: list[int],
    scroll: Scroll,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Ctrl-C and a polite kill end the story; the tree stops in order as always."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        task_status.started()
        async for number in received:
            if not signals:
                scroll.note(())
                scroll.note(
                    (Span("Interrupted: the turn ends, then everything stops.", Style.BOLD),)
                )
            signals.append(number)
            curtain.cancel()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.avatar_demo", description=__doc__)
    parser.add_argument("--fast", action="store_true", help="do not wait for a reader")
    options = parser.parse_args()
    # The demo shows the crash itself; without this, Python prints its traceback too.
    logging.getLogger("supervisors").addHandler(logging.NullHandler())
    is_terminal = sys.stdout.isatty()
    has_colours = is_terminal and not os.environ.get("NO_COLOR")
    has_colours = has_colours and os.environ.get("TERM", "dumb") != "dumb"
    pace = READING if is_terminal and not options.fast else AT_ONCE
    scroll = Scroll(sys.stdout, pace, with_colours if has_colours else without_colours)
    code = 0
    try:
        with keys_not_echoed() if is_terminal else contextlib.nullcontext():
            code = trio.run(perform, scroll)
    except* BrokenPipeError:
        # The reader went away (`| head -1`). Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except* AvatarError as failed:
        sys.stdout.flush()
        sys.stderr.writelines(f"The avatar failed: {error}\n" for error in failed.exceptions)
        code = 1
    except* KeyboardInterrupt:
        code = 128 + signal.SIGINT
    return code


if __name__ == "__main__":
    sys.exit(main())
