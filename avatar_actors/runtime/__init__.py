"""Many avatars in one tree, above one warden."""

__all__: list[str] = []
