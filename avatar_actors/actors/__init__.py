"""The actors, one file each. None knows another, only addresses and messages."""

__all__: list[str] = []
