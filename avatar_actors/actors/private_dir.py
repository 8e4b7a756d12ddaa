"""The private directory: made with the avatar, for its files alone, and removed with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import trio

from avatar_actors.session_messages import Nothing
from supervisors import Inbox


async def private_dir(inbox: Inbox[Nothing], path: Path) -> None:
    """There while this actor lives."""
    await trio.Path(path).mkdir(mode=0o700, exist_ok=True)
    inbox.ready()
    try:
        await trio.sleep_forever()
    finally:
        with inbox.grace():
            await trio.to_thread.run_sync(lambda: shutil.rmtree(path, ignore_errors=True))
