"""Permission requests, from the key that is pressed for one to the avatar's answer."""

from __future__ import annotations

import asyncio

from avatar_actors import AvatarEngine, PermissionEvent
from avatar_actors.cli.repl.answer_keys import AnswerKeys
from avatar_actors.cli.repl.desk import EngineAnswers
from avatar_actors.cli.repl.editing import edited
from avatar_actors.cli.repl.screen import PromptScreen
from avatar_actors.cli.repl.view import Scene
from avatar_actors.cli.terminal.approvals import Approvals, Input


class Approving:
    """Lends the terminal to the editor where the input of a tool is to be changed."""

    def __init__(
        self, engine: AvatarEngine, keys: AnswerKeys, scene: Scene, screen: PromptScreen
    ) -> None:
        self._keys, self._scene, self._screen = keys, scene, screen
        self._approvals = Approvals(
            EngineAnswers(engine), self._edit, lambda text: scene.say([text])
        )
        self._editor: asyncio.Task[Input] | None = None

    @property
    def request(self) -> PermissionEvent | None:
        """The one that a key would answer now."""
        return self._keys.request(self._scene.now)

    async def hear(self, request: PermissionEvent) -> None:
        """One that was allowed for good is answered by itself."""
        await self._approvals.hear(request)

    async def press(self, key: str, request: PermissionEvent) -> None:
        """Answer it; no other key is for it meanwhile."""
        self._keys.take(request)
        try:
            await self._approvals.press(key, request)
        finally:
            self._keys.give_back()
            self._scene.stir()

    def end(self) -> None:
        """The editor has the terminal, and would keep it."""
        if self._editor is not None:
            self._editor.cancel()

    async def _edit(self, given: Input) -> Input:
        async with self._screen.lent():
            self._editor = asyncio.create_task(edited(given))
            try:
                return await self._editor
            finally:
                self._editor = None
