import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr

from avatar_actors.cli.repl.screen import StderrLines


def test_what_any_thread_writes_comes_as_whole_harmless_lines() -> None:
    lines: list[str] = []

    async def main() -> None:
        with redirect_stderr(StderrLines(lines.extend)) as stderr:
            logging.lastResort.handle(logging.makeLogRecord({"msg": "\x1b[2Jgone", "levelno": 40}))  # type: ignore[union-attr]
            stderr.write("half ")
            stderr.write("a line\nand more")
            with ThreadPoolExecutor(4) as pool:
                for number in range(50):
                    pool.submit(stderr.write, f"{number}\n")
        await asyncio.sleep(0)

    asyncio.run(main())
    assert lines[:2] == ["gone", "half a line"]
    assert max(lines[2:], key=len).startswith("and more")
    assert len(lines) == 52


def test_who_writes_after_the_end_does_no_harm() -> None:
    async def made() -> StderrLines:
        return StderrLines(lambda _: None)

    assert asyncio.run(made()).write("late\n") == 5
