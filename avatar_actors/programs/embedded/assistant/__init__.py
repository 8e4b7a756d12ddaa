"""The assistant for people: keywords instead of a model, and real tools."""

__all__: list[str] = []
