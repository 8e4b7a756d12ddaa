"""How a YAML file becomes settings: read, checked key by key against tables, translated."""

__all__: list[str] = []
