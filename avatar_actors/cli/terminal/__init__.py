"""What the front ends share: the terminal, its screen and keys, safe text, permission answers."""

__all__: list[str] = []
