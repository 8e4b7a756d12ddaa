"""What the front ends share: the terminal itself, text made safe for it, answers to questions."""

__all__: list[str] = []
