"""Agents that run elsewhere: the connection in place of a process.

Only `remote_link` is imported with a session. The others need the extra `remote` and come with the
first connection: they bring asyncio, pydantic and half a second of imports along.
"""

__all__: list[str] = []
