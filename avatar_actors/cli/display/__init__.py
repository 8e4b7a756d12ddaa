"""Turns an avatar's events into what a person sees; the terminal room paints it."""

from avatar_actors.cli.display.display import Display, display_for
from avatar_actors.cli.terminal.rendering import Style

__all__ = ["Display", "Style", "display_for"]
