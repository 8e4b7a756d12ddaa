"""The assistant: recognises keywords instead of asking a model, and uses real tools."""

__all__: list[str] = []
