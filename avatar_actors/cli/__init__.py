"""The command `avatar`: the reference user interface, on the public names of this package alone."""

__all__: list[str] = []
