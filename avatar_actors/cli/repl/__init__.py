"""`avatar repl`: a conversation with an avatar at a terminal."""

__all__: list[str] = []
