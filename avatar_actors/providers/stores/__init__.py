"""The stores of the agents: which sessions each has kept, read from its files and never written."""

__all__: list[str] = []
