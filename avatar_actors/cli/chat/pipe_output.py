"""For a pipe, a file or a program: the text of the answer, or every event as a line of JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from avatar_actors import Avatar, AvatarEvent, TextEvent, TurnEndedEvent
from avatar_actors.cli.chat.stderr_output import Remarks
from avatar_actors.cli.terminal.device import StdoutWriter
from avatar_actors.cli.terminal.permission_answers import DenyAll
from avatar_actors.cli.terminal.text import PlainText, plain, without_controls


class PlainOutput:
    """The answer on stdout, ended by a newline; the rest on stderr."""

    def __init__(self, outlet: StdoutWriter, remarks: Remarks) -> None:
        self._outlet, self._remarks = outlet, remarks
        self._nobody = DenyAll(remarks)
        self._text = PlainText(plain if outlet.is_terminal else without_controls)
        self._last = "\n"

    @property
    def is_away(self) -> bool:
        """Never."""
        return False

    async def attend(self) -> None:
        """Nothing."""

    def meet(self, avatar: Avatar) -> None:
        """For the answers to its requests."""
        self._nobody.meet(avatar)

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Write what was said."""
        said = "".join(self._said(event) for event in events)
        if said:
            await self._outlet.write(said.encode())
        self._remarks.tell(events)
        await self._nobody.hear(events)

    def warn(self, text: str) -> None:
        """On stderr."""
        self._remarks.say(text)

    async def caution(self, text: str) -> None:
        """On stderr, in any case."""
        self._remarks.warn(text)

    def restore(self) -> None:
        """Nothing was changed."""

    def _said(self, event: AvatarEvent) -> str:
        match event:
            case TextEvent(text=text):
                said = self._text.add(text)
            case TurnEndedEvent():
                said = self._text.end()
                said += "" if (said or self._last).endswith("\n") else "\n"
            case _:
                return ""
        self._last = said or self._last
        return said


_ENCODER: Final = msgspec.json.Encoder()
# The controls that JSON lets through and some terminals obey, as JSON may also write them.
_CONTROLS: Final = re.compile(rb"\x7f|\xc2([\x80-\x9f])")


class JsonOutput:
    """NDJSON on stdout; the rest on stderr."""

    def __init__(self, outlet: StdoutWriter, remarks: Remarks) -> None:
        self._outlet, self._remarks = outlet, remarks
        self._nobody = DenyAll(remarks)

    @property
    def is_away(self) -> bool:
        """Never."""
        return False

    async def attend(self) -> None:
        """Nothing."""

    def meet(self, avatar: Avatar) -> None:
        """For the answers to its requests."""
        self._nobody.meet(avatar)

    async def tell(self, events: Sequence[AvatarEvent]) -> None:
        """Write them, one per line."""
        await self._outlet.write(json_lines(events))
        self._remarks.tell(events)
        await self._nobody.hear(events)

    def warn(self, text: str) -> None:
        """On stderr."""
        self._remarks.say(text)

    async def caution(self, text: str) -> None:
        """On stderr, in any case."""
        self._remarks.warn(text)

    def restore(self) -> None:
        """Nothing was changed."""


def json_lines(values: Sequence[object]) -> bytes:
    """One line for each, harmless to a terminal."""
    return _CONTROLS.sub(_escaped, _ENCODER.encode_lines(values))


def _escaped(control: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % control[0][-1]
