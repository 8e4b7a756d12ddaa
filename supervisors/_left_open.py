"""Async generators that were left with an open nursery: trio would end the whole run for them.

trio closes an abandoned generator in a task of its own, where its nursery cannot be closed, and a
task that ends before its nurseries is an error of the nursery around it: that of the whole tree.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from types import AsyncGeneratorType, CodeType, FunctionType, ModuleType
from typing import Any, TypeGuard

import trio

_NO_WAY = (type, CodeType, FunctionType, ModuleType)
# Those that nobody refers to any more, until their task closes them. Any thread may find one.
_abandoned: set[AsyncGeneratorType[Any, Any]] = set()


def keep_abandoned() -> None:
    """From now on, in this run: what has an open nursery waits for its own task to close it."""
    finalize = sys.get_asyncgen_hooks().finalizer
    # Only trio's own: ours stays, and trio-asyncio wants to find its hooks as it has set them.
    if finalize is None or not finalize.__module__.startswith("trio."):
        return
    kind = type(trio.open_nursery())

    def finalizer(left: AsyncGenerator[Any, Any]) -> None:
        _abandoned.difference_update([each for each in (*_abandoned,) if not _is_suspended(each)])
        if isinstance(left, AsyncGeneratorType) and _reaches(left, lambda x: type(x) is kind):
            _abandoned.add(left)
        else:
            finalize(left)

    sys.set_asyncgen_hooks(finalizer=finalizer)


async def close_left_open() -> bool:
    """Close the suspended generators that hold nurseries of the present task; whether any did."""
    found = False
    for nursery in reversed(trio.lowlevel.current_task().child_nurseries):
        if holder := _holder_of(nursery):
            found = True
            # The child boundary; and how a generator ends that was left is no news.
            with suppress(BaseException):
                await holder.aclose()
    return found


def _holder_of(nursery: trio.Nursery) -> AsyncGeneratorType[Any, Any] | None:
    """trio does not know which generator it is, Python does."""
    every: list[object] = gc.get_objects()
    suspended = filter(_is_suspended, every)
    return next((one for one in suspended if _reaches(one, lambda x: x is nursery)), None)


def _is_suspended(one: object) -> TypeGuard[AsyncGeneratorType[Any, Any]]:
    # Not isinstance(): that asks the object's own `__class__`, which is foreign code.
    return type(one) is AsyncGeneratorType and one.ag_frame is not None and not one.ag_running


def _reaches(start: object, is_it: Callable[[object], bool]) -> bool:
    reached: list[object] = [start]
    for _ in range(4):  # from a generator over its context manager to the nursery
        found = gc.get_referents(*reached)
        reached = [each for each in found if not issubclass(type(each), _NO_WAY)]
        if any(map(is_it, reached)):
            return True
    return False
