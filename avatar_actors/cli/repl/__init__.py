"""`avatar repl`: a conversation at a terminal, with an AvatarEngine as its host."""

from avatar_actors.cli.repl.command import repl

__all__ = ["repl"]
