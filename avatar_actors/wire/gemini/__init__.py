"""Gemini's headless mode, by way of our shim."""

__all__: list[str] = []
