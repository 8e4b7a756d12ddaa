"""The form that every wire has."""

from __future__ import annotations

from typing import Protocol

from avatar_actors.wire.commands import Command
from avatar_actors.wire.facts import Fact


class Wire(Protocol):
    """One connection to one agent process, without any I/O.

    Commands become bytes to send, bytes that came become facts. Both calls may make bytes to
    send: take them with `data_to_send` after each. No call raises for what an agent sent.
    """

    def command(self, command: Command) -> list[Fact]:
        """Say this to the agent. Facts come back where no answer of the agent is needed."""
        ...

    def receive(self, data: bytes) -> list[Fact]:
        """What these bytes of the agent's stdout mean, in order."""
        ...

    def end_of_stream(self) -> list[Fact]:
        """The agent's stdout has ended: what is left of half a line."""
        ...

    def data_to_send(self) -> bytes:
        """The bytes for the agent's stdin that have come up since the last call."""
        ...
