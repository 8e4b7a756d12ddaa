"""The command `avatar`: the reference user interface, built on the public names of the package."""

__all__: list[str] = []
