"""The Agent Client Protocol, client side."""

__all__: list[str] = []
