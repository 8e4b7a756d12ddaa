"""The embedded agent: a program of the standard library alone that speaks the agents' wires."""

__all__: list[str] = []
