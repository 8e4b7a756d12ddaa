"""The shim around headless Gemini, which keeps one program alive across its prompts."""

__all__: list[str] = []
