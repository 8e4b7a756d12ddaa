"""The private directory: for the agent's files, 0700, removed when its actor ends."""

from __future__ import annotations

import errno
import shutil
from functools import partial
from pathlib import Path

import trio

from avatar_actors.processes import remove_tree
from avatar_actors.session.messages import Nothing
from supervisors import Inbox

# Removing a directory takes a descriptor. Soon there is one, unless the host itself is in trouble:
# then it goes with the runtime's own.
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_AGAIN = 0.05


async def private_dir(inbox: Inbox[Nothing], path: Path) -> None:
    """Ready once the directory is there; removes it, with all that is in it, at its end."""
    await trio.Path(path).mkdir(mode=0o700, exist_ok=True)
    inbox.ready()
    try:
        await trio.sleep_forever()
    finally:
        with inbox.grace():
            while not await trio.to_thread.run_sync(partial(_remove, path)):  # noqa: ASYNC110 - nobody tells
                await trio.sleep(_AGAIN)


def _remove(path: Path) -> bool:
    """Whether everything that can be done was done."""
    try:
        shutil.rmtree(path)
    except RecursionError:
        remove_tree(path)
    except OSError as error:
        if error.errno in _SHORTAGES:
            return False
        remove_tree(path)
    return True
