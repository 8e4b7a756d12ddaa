"""What is held against the promises: every event, every process, everything left behind."""

__all__: list[str] = []
