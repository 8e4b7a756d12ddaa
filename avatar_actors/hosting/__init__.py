"""The doors for hosts that do not run in the runtime's trio: threads, asyncio, other trio runs."""

__all__: list[str] = []
