"""The types of a host's functions that answer questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from avatar_actors.model.events import PermissionEvent, QuestionEvent
from avatar_actors.model.questions import GivenAnswers
from avatar_actors.model.values import Permit

PermissionHandler: TypeAlias = Callable[[PermissionEvent], Permit | Awaitable[Permit]]
"""Decides about a tool."""

QuestionHandler: TypeAlias = Callable[[QuestionEvent], GivenAnswers | Awaitable[GivenAnswers]]
"""Answers a model's questions; None declines them."""
