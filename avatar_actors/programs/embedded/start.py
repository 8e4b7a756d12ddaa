"""What was decided about this life before it began: by default, all as it should be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from avatar_actors.programs.embedded.json_lines import Record


class Start:
    """The settings that start steps change."""

    def __init__(self) -> None:
        self.needs_auth = False
        self.initialize_error: Record | None = None
        self.is_mute = False
        self.version = 1
        self.can_load = True
        self.loses_sessions = False
