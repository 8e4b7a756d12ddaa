"""Agents that run elsewhere: a connection instead of a process.

Only `link` is imported with a session. The other modules need the extra `remote` and are imported
with the first connection: asyncio and pydantic take half a second.
"""

__all__: list[str] = []
