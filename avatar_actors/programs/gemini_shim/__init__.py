"""Small programs, standard library only, that stand between the runtime and an agent."""

__all__: list[str] = []
