"""Programs of their own, on the standard library alone; they start in milliseconds."""

__all__: list[str] = []
