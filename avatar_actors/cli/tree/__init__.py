"""`avatar tree`: the living supervision tree of a run, here or in another program."""

__all__: list[str] = []
