"""Hosts AI agents as supervised actors; the avatars join this package in the next parts."""

__version__ = "0.1.0"

__all__ = ["__version__"]
