"""Sans-IO protocols: bytes become facts, commands become bytes. No trio, clock or logger."""

__all__: list[str] = []
