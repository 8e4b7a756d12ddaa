"""What the actors of an avatar keep and decide: plain classes without I/O, handed the time."""

__all__: list[str] = []
