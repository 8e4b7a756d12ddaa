"""What outlives an agent's life: waiting prompts, limits, permissions, history, subscribers."""

__all__: list[str] = []
