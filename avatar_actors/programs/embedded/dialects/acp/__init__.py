"""The ACP dialect."""

__all__: list[str] = []
