"""The actors of an avatar, one file each; `turn_limits` and `turn_runner` belong to the turn queue.

What they keep and decide is in `avatar.state`, what they tell each other in `avatar.messages`.
"""

__all__: list[str] = []
