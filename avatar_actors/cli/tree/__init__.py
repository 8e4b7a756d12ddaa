"""`avatar tree`: shows the supervision tree of a run, live, here or in another program."""

__all__: list[str] = []
