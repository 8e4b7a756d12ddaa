"""The faults: what each does, when it is due, and how it is known to have landed."""

__all__: list[str] = []
