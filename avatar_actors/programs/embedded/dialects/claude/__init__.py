"""The Claude dialect."""

__all__: list[str] = []
