"""`avatar gui`: a terminal app with a living figure, on Textual. A host like any other."""

__all__: list[str] = []
