"""Reads YAML and the environment into settings, and points at the line of every mistake."""

__all__: list[str] = []
