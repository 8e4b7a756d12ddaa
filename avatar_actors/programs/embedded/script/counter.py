"""Counts in a file how often a step was met, across turns and processes."""

from __future__ import annotations

from pathlib import Path

from avatar_actors.programs.embedded.json_lines import Record, number_in, text_in


def is_early(step: Record) -> bool:
    """Whether this is one of the first `times` that the step is met; counts it."""
    counter = Path(text_in(step, "file"))
    met = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(met + 1))
    return met < number_in(step, "times")
