"""Sans-IO protocols: bytes to facts, commands to bytes. No trio, no clock, no logger."""

__all__: list[str] = []
