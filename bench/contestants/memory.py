"""How much Python memory is in use, by tracemalloc: without what the OS holds for threads."""

import gc
import tracemalloc
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def traced() -> Generator[Callable[[], int], None, None]:
    """Trace allocations inside the block; the function gives the bytes that are still in use."""
    tracemalloc.start()
    try:
        yield _held
    finally:
        tracemalloc.stop()


def _held() -> int:
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    return held
