"""Supervisors without any AI: `python -m examples.supervision_only`.

A reader turns words into numbers and crashes on what is none; a ledger adds them up. The reader's
crash costs the word that caused it and nothing else. A fourth crash in a minute is one too many:
the desk gives up, and the office above starts it anew, with an empty ledger.
"""

import logging
import sys
from dataclasses import dataclass

import trio

from supervisors import (
    AskFailed,
    ChildSpec,
    Crashed,
    GaveUp,
    Inbox,
    NoticeStream,
    Ready,
    Request,
    Supervisor,
    SupervisorSpec,
    open_supervisor,
)


@dataclass(frozen=True)
class Read(Request[None]):
    word: str


@dataclass(frozen=True)
class Total(Request[int]):
    """What all the numbers make."""


async def ledger(inbox: Inbox[int | Total]) -> None:
    total = 0
    async for message in inbox:
        match message:
            case Total():
                inbox.reply(message, total)
            case number:
                total += number


async def reader(inbox: Inbox[Read]) -> None:
    book = inbox.sibling(LEDGER)
    async for message in inbox:
        await book.tell(int(message.word))  # what is no number is a crash: nobody repairs it here
        inbox.reply(message, None)


LEDGER = ChildSpec("ledger", ledger)
READER = ChildSpec("reader", reader)
DESK = SupervisorSpec("desk", intensity=3, period=60, children=[LEDGER, READER])


async def read(office: Supervisor, notices: NoticeStream, words: str) -> None:
    for word in words.split():
        try:
            await office.supervisor("desk").address(READER).ask(Read(word))
        except AskFailed:  # at once, not after a timeout
            await recovered(notices)
    total = await office.supervisor("desk").address(LEDGER).ask(Total())
    print(f"{words!r} makes {total}")


async def recovered(notices: NoticeStream) -> None:
    """Until the reader, or the whole desk, is there again."""
    has_crashed = False
    async for notice in notices:
        match notice:
            case Crashed(path=path):
                print(f"  {path} crashed")
                has_crashed = True
            case GaveUp(path=path):
                print(f"  {path} gave up")
            case Ready(path="office/desk/reader") if has_crashed:
                return
            case _:
                pass


async def main() -> None:
    async with open_supervisor("office", intensity=1, children=[DESK]) as office:
        with office.notices() as notices:
            await read(office, notices, "1 2 three 4")
            await read(office, notices, "five six seven")
        print(office.tree())


if __name__ == "__main__":
    # The crashes are shown above; without this their tracebacks come too.
    logging.getLogger("supervisors").addHandler(logging.NullHandler())
    code = 0
    try:
        trio.run(main)
    except* KeyboardInterrupt:
        code = 130
    sys.exit(code)
