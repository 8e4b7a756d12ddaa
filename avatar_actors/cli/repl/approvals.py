"""Permission requests, from the key that is pressed for one to the avatar's answer."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

from avatar_actors import AvatarEngine, PermissionEvent
from avatar_actors.cli.repl.context import EngineAnswers
from avatar_actors.cli.repl.key_bindings import AnswerKeys
from avatar_actors.cli.repl.screen import PromptScreen
from avatar_actors.cli.repl.view import ReplView
from avatar_actors.cli.terminal.approvals import Approvals, Input
from avatar_actors.cli.terminal.editor import (
    check_end,
    chosen_editor,
    input_file,
    input_in,
    not_run,
)


async def edited(given: Input) -> Input:
    """As the editor left it; Failure says why not. The terminal must be free."""
    with input_file(given) as path:
        await _run(chosen_editor(), path)
        return input_in(path)


async def _run(editor: str, path: Path) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(path))
    except (OSError, ValueError) as error:
        raise not_run(editor, error) from error
    try:
        code = await process.wait()
    except asyncio.CancelledError:  # the person leaves, or is made to: it goes, too
        process.terminate()
        await process.wait()
        raise
    check_end(editor, code)


class Approving:
    """Lends the terminal to the editor where the input of a tool is to be changed."""

    def __init__(
        self, engine: AvatarEngine, keys: AnswerKeys, scene: ReplView, screen: PromptScreen
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
