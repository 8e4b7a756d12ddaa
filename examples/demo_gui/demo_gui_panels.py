"""The panels: what is said, what runs, and what the agent wants to be allowed."""

from textual.containers import VerticalScroll
from textual.widgets import Static

from avatar_actors import ActivityEvent, ActivityStatus, PermissionEvent

ICONS = {
    ActivityStatus.PENDING: "◌",
    ActivityStatus.RUNNING: "⠋",
    ActivityStatus.COMPLETED: "✓",
    ActivityStatus.FAILED: "✗",
    ActivityStatus.CANCELLED: "⊘",
    ActivityStatus.UNKNOWN: "?",
}


class ChatPanel(VerticalScroll):
    """The conversation. Text is collected and drawn by the heartbeat, not once per event."""

    def __init__(self) -> None:
        super().__init__(id="chat")
        self.said, self.drawn = "", ""
        self.bubble = Static(markup=False)

    def ask(self, prompt: str) -> None:
        self.said, self.drawn, self.bubble = "", "", Static(markup=False)
        self.mount(Static(f"> {prompt}", markup=False), self.bubble)

    def tell(self, line: str) -> None:
        self.mount(Static(line, markup=False))

    def draw(self) -> None:
        if self.said != self.drawn:
            self.drawn = self.said
            self.bubble.update(self.said)
            self.scroll_end(animate=False)


class ActivityPanel(Static):
    """What runs, each below its parent."""

    def __init__(self) -> None:
        super().__init__(id="activities", markup=False)
        self.activities: dict[str, ActivityEvent] = {}

    def on_activity(self, event: ActivityEvent) -> None:
        if event.activity_type == "turn" and event.status is ActivityStatus.RUNNING:
            self.activities = {}
        self.activities[event.activity_id] = event

    def draw(self) -> None:
        rows = [
            f"{'  ' * self._depth(each)}{ICONS[each.status]} {each.name} {each.detail}".rstrip()
            for each in self.activities.values()
        ]
        self.update("\n".join(rows), layout=False)

    def _depth(self, activity: ActivityEvent) -> int:
        parent = self.activities.get(activity.parent_activity_id)
        return 0 if parent is None else 1 + self._depth(parent)


class AskPanel(Static):
    """The oldest open permission request; y and n answer it while the input is empty."""

    def __init__(self) -> None:
        super().__init__(id="ask", markup=False)
        self.open: dict[str, PermissionEvent] = {}

    def draw(self) -> None:
        asked = next(iter(self.open.values()), None)
        self.display = asked is not None
        if asked is not None:
            self.update(f"Allow {asked.tool_name} {asked.title}?  [y]es [n]o", layout=False)
