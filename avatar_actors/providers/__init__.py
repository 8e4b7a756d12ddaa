"""Agents as data: which command, which environment, which wire."""

__all__: list[str] = []
