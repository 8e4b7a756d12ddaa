"""What of this process a step can touch."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.pipes import Ears, Output
    from avatar_actors.programs.embedded.process import Life


class Body:
    """Its life, its voice, its ears, and whether the scripts of prompts are played."""

    def __init__(self, life: Life, output: Output, ears: Ears) -> None:
        self.life = life
        self.output = output
        self.ears = ears
        # A prompt may hold a stranger's text, and a script runs commands: a test switches it on.
        self.plays_scripts = False
