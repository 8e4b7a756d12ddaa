"""The embedded agent in ACP: its messages, its sessions and its turns."""

__all__: list[str] = []
