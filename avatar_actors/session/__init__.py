"""One life of an agent: its parts start, crash and restart together."""

__all__: list[str] = []
