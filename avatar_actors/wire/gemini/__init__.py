"""Gemini's headless mode, run through our shim."""

__all__: list[str] = []
