"""The supervision tree, shown to other programs of this user."""

__all__: list[str] = []
