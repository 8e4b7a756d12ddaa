"""The client side of the Agent Client Protocol."""

__all__: list[str] = []
