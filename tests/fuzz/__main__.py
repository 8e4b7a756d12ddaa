"""`python -m tests.fuzz`: as many cases as the time allows; the seed says which."""

import argparse
import itertools
import multiprocessing
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import NamedTuple

from tests.fuzz import api, documents, wires

API = 2000
WIRES = 250
DOCUMENTS = 100
# Of the time; the rest is for the wires, whose cases are made much faster.
SHARE_OF_DOCUMENTS = 0.3
# So many pieces of work are handed out before they are needed; one that takes this long hangs.
AHEAD = 2 * (os.cpu_count() or 1)
PATIENCE = 600.0
# With less time than this, only `make test`'s part of the public callables is called.
FULL = 60.0


class Work(NamedTuple):
    """So many cases of one kind; `look` tells what it found, or nothing."""

    kind: str
    look: Callable[[str, str, int], str]
    seed: str
    cases: int


def main() -> int:
    """Exit code 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", default="", help="any text; the same gives the same cases")
    parser.add_argument("--seconds", type=float, default=600.0)
    asked = parser.parse_args()
    seed = asked.seed or str(secrets.randbelow(10**6))
    _say(f"seed {seed}, {asked.seconds:g} s")
    share = asked.seconds * SHARE_OF_DOCUMENTS
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as workers:
        found = _spend(workers, _of_documents(seed), share)
        found += _spend(workers, _of_wires(seed), asked.seconds - share)
        if asked.seconds >= FULL:
            found += _spend(workers, _of_api(seed), float("inf"))
    return 1 if found else 0


def _of_api(seed: str) -> Iterator[Work]:
    """Every parameter of the public callables, once with each value."""
    for begin in range(0, len(api.cases(seed)), API):
        yield Work(str(begin), api.look, seed, API)


def _of_documents(seed: str) -> Iterator[Work]:
    for number in itertools.count():
        for kind in documents.PROPERTIES:
            yield Work(kind, documents.look, f"{seed}/{number}", DOCUMENTS)


def _of_wires(seed: str) -> Iterator[Work]:
    for number in itertools.count():
        yield Work("wires", wires.look, f"{seed}/{number}", WIRES)


def _spend(workers: ProcessPoolExecutor, work: Iterator[Work], seconds: float) -> str:
    """Work until the time is over or something is found; what was found."""
    began, found = time.monotonic(), ""
    counts: Counter[str] = Counter()
    waiting: dict[Future[str], Work] = {}
    while not found:
        while time.monotonic() - began < seconds and len(waiting) < AHEAD:
            new = next(work, None)
            if new is None:
                break
            waiting[workers.submit(new.look, new.kind, new.seed, new.cases)] = new
        if not waiting:
            break
        done, _ = wait(waiting, PATIENCE, FIRST_COMPLETED)
        if not done:
            _say(f"more than {PATIENCE:g} s without an end: {[*waiting.values()]}")
            os._exit(1)
        for future in done:
            work_done = waiting.pop(future)
            kind = "calls" if work_done.look is api.look else work_done.kind
            counts[kind] += work_done.cases
            found = found or future.result()
    for future in waiting:
        future.cancel()
    spent = time.monotonic() - began
    told = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
    _say(f"{told} in {spent:.0f} s, {counts.total() / spent:,.0f} a second\n{found}".rstrip())
    return found


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
