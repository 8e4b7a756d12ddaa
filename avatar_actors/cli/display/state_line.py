"""The last line: who answers, in which state, and what it has cost."""

from __future__ import annotations

from rich.text import Text

from avatar_actors.cli.display.style import Signs
from avatar_actors.cli.display.view_state import Scene
from avatar_actors.cli.terminal import measures


def state_line(scene: Scene, signs: Signs) -> Text:
    """State, provider, model, mode, tokens, money and how full the context is, where known."""
    # The embedded agent says so: it has no model.
    model = scene.model if scene.model != "none" else ""
    words = [scene.engine.value.replace("_", " "), scene.provider, model, scene.mode]
    words += measures.used(scene.usage)
    if scene.context_size:
        words.append(f"context {scene.context_used / scene.context_size:.0%}")
    words.append(scene.title)
    return Text(f" {signs.dot} ".join(filter(None, words)), "dim")
