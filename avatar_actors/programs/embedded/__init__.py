"""The embedded agent: a small assistant that speaks ACP on stdio, on the standard library alone."""

__all__: list[str] = []
