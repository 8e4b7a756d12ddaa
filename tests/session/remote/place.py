"""Where a remote agent is, for a test, and how an avatar is opened there."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Unpack

import trio

from avatar_actors import Avatar, AvatarOptions, Timeouts, open_avatar

PATIENCE = 60
TOKEN = "sesame-5e1f0c"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}

GO: dict[str, Any] = {"say": "go"}
WAIT: dict[str, Any] = {"wait": True}


def play(*steps: dict[str, Any]) -> str:
    return json.dumps(steps)


class Place:
    """One agent's server, over one of the two ways."""

    def __init__(self, scheme: str, port: int, work: Path) -> None:
        self.scheme, self.port, self.work = scheme, port, work

    def url(self, port: int = 0, path: str = "acp") -> str:
        return f"{self.scheme}://127.0.0.1:{port or self.port}/{path}"

    @asynccontextmanager
    async def avatar(
        self, port: int = 0, path: str = "acp", **options: Unpack[AvatarOptions]
    ) -> AsyncGenerator[Avatar]:
        chosen: AvatarOptions = {
            "url": self.url(port, path),
            "headers": HEADERS,
            "working_dir": self.work,
            "timeouts": Timeouts(interrupt=20, stop=5),
            **options,
        }
        with trio.fail_after(PATIENCE):
            async with open_avatar("acp", **chosen) as avatar:
                yield avatar
