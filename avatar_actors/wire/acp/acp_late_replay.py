"""The end of a history that an agent goes on replaying after it has answered session/load."""

from __future__ import annotations

from collections.abc import Callable

from avatar_actors.model.values import JsonObject
from avatar_actors.wire.acp.turn import Turn
from avatar_actors.wire.facts import Fact
from avatar_actors.wire.jsonrpc import Peer, Reply


def after_replay(
    peer: Peer, turn: Turn, present_mode: JsonObject, then: Callable[[], Fact]
) -> list[Fact]:
    """Sets the mode that it has, until an answer comes without anything of the past before it.

    An agent writes in order, and writes a piece of its history when the one before is written: as
    long as there is more of it, some comes with each answer. Nothing else tells the end: a prompt
    that is sent before would have the rest of the past in its answer.
    """
    turn.has_past = False

    def answered(_: Reply) -> list[Fact]:
        return after_replay(peer, turn, present_mode, then) if turn.has_past else [then()]

    peer.request("session/set_mode", present_mode, answered)
    return []
