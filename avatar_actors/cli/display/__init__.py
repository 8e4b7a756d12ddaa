"""What a person sees of an avatar: `Display` makes lines of events, `Painter` shows them."""

from avatar_actors.cli.display.display import Display
from avatar_actors.cli.display.painter import Painter
from avatar_actors.cli.display.style import Style

__all__ = ["Display", "Painter", "Style"]
