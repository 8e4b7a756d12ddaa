"""What any screen shows of an avatar: moods, headline, counts and groups, folded from its events.

`rules` is the specification as data; `picture` follows it. No drawing, no terminal, no clock.
"""

from avatar_actors.picture.picture import AvatarPicture, Headline, Toast
from avatar_actors.picture.rules import Age, Fact, Mood
from avatar_actors.picture.view_state import OpenRequest, ViewState
from avatar_actors.picture.work import Job, Work, agent_numbers, rooted

__all__ = [
    "Age",
    "AvatarPicture",
    "Fact",
    "Headline",
    "Job",
    "Mood",
    "OpenRequest",
    "Toast",
    "ViewState",
    "Work",
    "agent_numbers",
    "rooted",
]
