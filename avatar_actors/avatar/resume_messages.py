"""What the turn queue is told and asked about the session that the next life goes on with."""

from __future__ import annotations

from msgspec import Struct

from avatar_actors.model.values import Continuity
from avatar_actors.wire.commands import Beginning
from supervisors import Request


class ResumeWish(Struct, frozen=True):
    """What the next life should continue, or why it cannot; `is_demanded`: the host named it.

    `new_id` is for an agent that lets us choose the id of a new session. `model` and `mode` were
    chosen since the avatar's start.
    """

    session_id: str = ""
    continuity: Continuity = Continuity.NEW
    lost: str = ""
    is_demanded: bool = False
    begins: Beginning = Beginning.AS_NAMED
    new_id: str = ""
    model: str = ""
    mode: str = ""


class WhatToResume(Struct, Request[ResumeWish], frozen=True):
    """Asked by each new life of the agent's process."""


class ResumeThis(Struct, Request[None], frozen=True):
    """The next life continues this stored session, or a fork of it."""

    session_id: str
    begins: Beginning = Beginning.AS_NAMED


class ResumeImpossible(Struct, frozen=True):
    """The stored session cannot be taken up again; start the next life afresh."""

    why: str


class Chosen(Struct, frozen=True):
    """The host has switched to this model or mode; the next life begins with it."""

    model: str = ""
    mode: str = ""
