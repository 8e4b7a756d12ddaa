"""Claude Code's stream-json with its control protocol."""

__all__: list[str] = []
