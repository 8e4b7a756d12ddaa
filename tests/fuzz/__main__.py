"""`python -m tests.fuzz`: cases without end, or for so many seconds; the seed says which."""

import argparse
import itertools
import multiprocessing
import os
import secrets
import sys
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from tests.fuzz.documents import PROPERTIES, Falsified, examples
from tests.fuzz.wires import Case, as_test, check, first_failure, shrunk

CHUNK = 500
ROUND = 250
# So many chunks are handed out before they are needed; one that takes this long hangs.
_AHEAD = 2 * (os.cpu_count() or 1)
PATIENCE = 300.0
# Of the time, what the wires get; the rest is for documents, which hypothesis makes more slowly.
SHARE_OF_WIRES = 0.8


def main() -> int:
    """Exit code 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", default="", help="any text; the same gives the same cases")
    parser.add_argument("--seconds", type=float, default=600.0)
    asked = parser.parse_args()
    seed = asked.seed or str(secrets.randbelow(10**6))
    _say(f"seed {seed}, {asked.seconds:g} s")
    is_good = _documents(seed, asked.seconds * (1 - SHARE_OF_WIRES))
    return 0 if _wires(seed, asked.seconds * SHARE_OF_WIRES) and is_good else 1


def _documents(seed: str, seconds: float) -> bool:
    is_good, rounds, began = True, 0, time.monotonic()
    counts = dict.fromkeys(PROPERTIES, 0)
    while is_good and (not rounds or time.monotonic() - began < seconds):
        for name in PROPERTIES:
            try:
                examples(name, ROUND, hash_of(f"{seed}/{rounds}"))
            except Falsified as found:
                is_good = False
                _show(found)
            counts[name] += ROUND
        rounds += 1
    told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    _say(f"{told} in {time.monotonic() - began:.0f} s")
    return is_good


def _show(found: Falsified) -> None:
    traceback.print_exception(found.__cause__)
    hold = PROPERTIES[found.name][0].__name__
    _say(f"\nA test to paste:\n\nfrom tests.fuzz.documents import {hold}\n\n")
    _say(f"def test_found_by_the_fuzzer() -> None:\n    {hold}({found.value!r})\n")


def _wires(seed: str, seconds: float) -> bool:
    began, count, found = time.monotonic(), 0, None
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as workers:
        waiting: set[Future[Case | None]] = set()
        chunks = (f"{seed}/{number}" for number in itertools.count())
        while found is None and (waiting or not count):
            is_time_left = time.monotonic() - began < seconds
            while is_time_left and len(waiting) < _AHEAD:
                waiting.add(workers.submit(first_failure, next(chunks), CHUNK))
            done, waiting = wait(waiting, PATIENCE, FIRST_COMPLETED)
            if not done:
                _say(f"{CHUNK} cases take more than {PATIENCE:g} s: seed {seed}, after {count:,}")
                os._exit(1)
            found = next((future.result() for future in done if future.result()), None)
            count += CHUNK * len(done)
        for future in waiting:
            future.cancel()
    spent = time.monotonic() - began
    _say(f"wires {count:,} in {spent:.0f} s, {count / spent:,.0f} a second")
    if found is not None:
        _show_case(shrunk(found))
    return found is None


def _show_case(case: Case) -> None:
    try:
        check(case)
    except Exception:  # noqa: BLE001 - shown to the person who looks for it
        traceback.print_exc()
    _say(f"\nA test to paste:\n\n{as_test(case)}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def hash_of(text: str) -> int:
    """A number for hypothesis, the same in every process."""
    return int.from_bytes(text.encode(), "big") % 2**63


if __name__ == "__main__":
    sys.exit(main())
