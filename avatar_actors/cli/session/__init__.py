"""`avatar session`: stored sessions are found, listed, shown, resumed, forked and deleted."""

__all__: list[str] = []
