"""What a command line says."""

from collections.abc import Sequence


def value_of(argv: Sequence[str], flag: str) -> str:
    """The value of a flag that is given once, in one word with it."""
    [value] = values_of(argv, flag)
    return value


def values_of(argv: Sequence[str], flag: str) -> list[str]:
    """All values of a flag."""
    return [word.removeprefix(f"{flag}=") for word in argv if word.startswith(f"{flag}=")]
