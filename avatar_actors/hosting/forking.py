"""Tells what was made before an `os.fork()` from what this process has made itself.

A child has the parent's objects but not its threads: a lock may be held by nobody, a bell may never
ring, and a byte to a trio run wakes the parent's. So what was made before is not touched again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from avatar_actors.model.errors import AvatarDown

_forks = 0


def forks_so_far() -> int:
    """How many forks lie between the first process and this one: for what is made now."""
    return _forks


def is_of_a_parent(made_after: int) -> bool:
    """Whether what was made after so many forks is another process's."""
    return made_after != _forks


def refuse_a_parents(made_after: int) -> None:
    """AvatarDown if it is; with what to do instead."""
    if is_of_a_parent(made_after):
        raise AvatarDown(
            "this was used before os.fork() and belongs to the parent process; "
            "make a new AvatarEngine (or RuntimeThread) in the child"
        )


def after_fork(forget: Callable[[], None]) -> None:
    """Call this in each child, in the order of registration."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


def _count() -> None:
    global _forks  # noqa: PLW0603 - it counts for the whole process
    _forks += 1


after_fork(_count)
