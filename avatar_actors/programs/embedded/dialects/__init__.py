"""The wires that the embedded agent speaks."""

__all__: list[str] = []
