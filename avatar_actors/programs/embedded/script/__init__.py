"""Scripts: what a test makes the agent do, step by step."""

__all__: list[str] = []
