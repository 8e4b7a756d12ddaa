"""For a program: every event as one line of JSON, each batch written as it comes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from avatar_actors import Avatar, AvatarEvent
from avatar_actors.cli.chat.stderr_output import Remarks
from avatar_actors.cli.terminal.nobody_to_ask import NobodyToAsk
from avatar_actors.cli.terminal.outlet import Outlet

_ENCODER: Final = msgspec.json.Encoder()
# The controls that JSON lets through and some terminals obey, as JSON may also write them.
_CONTROLS: Final = re.compile(rb"\x7f|\xc2([\x80-\x9f])")


class JsonOutput:
    """NDJSON on stdout; the rest on stderr."""

    def __init__(self, outlet: Outlet, remarks: Remarks) -> None:
        self._outlet, self._remarks = outlet, remarks
        self._nobody = NobodyToAsk(remarks)

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
