"""Scripts: what a test has the agent do, step by step."""

__all__: list[str] = []
