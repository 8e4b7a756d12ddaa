"""Values that everything else is told in: no I/O, no actors, no knowledge of any agent."""

__all__: list[str] = []
