"""The stores of the agents: which sessions each has kept. Only the embedded agent's is our own."""

__all__: list[str] = []
