"""`avatar chat`: one prompt, its answer, and an exit code."""

__all__: list[str] = []
