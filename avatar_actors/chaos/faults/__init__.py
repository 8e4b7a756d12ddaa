"""The faults: what each does, when it is due, and what proves that it landed."""

__all__: list[str] = []
