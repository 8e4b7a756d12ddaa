"""Claude Code's stream-json and control protocol."""

__all__: list[str] = []
