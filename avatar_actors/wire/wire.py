"""The interface of every wire: commands to bytes, bytes to facts, without I/O."""

from __future__ import annotations

from typing import Protocol

from avatar_actors.wire.commands import Command
from avatar_actors.wire.facts import Fact


class Wire(Protocol):
    """One connection to one agent process, without any I/O.

    Commands become bytes to send, received bytes become facts. Both calls may produce bytes to
    send: take them with `data_to_send` after each. No call raises because of what an agent sent.
    """

    def command(self, command: Command) -> list[Fact]:
        """Send a command; returns facts if no answer of the agent is needed."""
        ...

    def receive(self, data: bytes) -> list[Fact]:
        """The facts in these bytes of the agent's stdout, in order."""
        ...

    def end_of_stream(self) -> list[Fact]:
        """The agent's stdout has ended: the facts of an unfinished line."""
        ...

    def data_to_send(self) -> bytes:
        """The bytes for the agent's stdin since the last call."""
        ...
