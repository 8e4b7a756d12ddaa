"""The figure: one face for each state, and a few for the phases of a thought."""

from textual.widgets import Static

from avatar_actors import EngineState, EngineStateEvent, ThinkingEvent, ThinkingPhase

FACES = {
    EngineState.IDLE: "(◕‿◕)",
    EngineState.THINKING: "(°_°)",
    EngineState.RESPONDING: "(◕o◕)",
    EngineState.TOOL_EXECUTING: "(◕‿◕)⚙",
    EngineState.WAITING_APPROVAL: "(°o°)?",
    EngineState.ERROR: "(×_×)",
}
PHASES = {
    ThinkingPhase.ANALYZING: "(⊙_⊙)",
    ThinkingPhase.PLANNING: "(◔ᵕ◔)",
    ThinkingPhase.CODING: "(⌐■_■)",
}


class AvatarFigure(Static):
    """Shows how the avatar feels; two lines, the face and a word."""

    def __init__(self) -> None:
        super().__init__(id="avatar", markup=False)
        self.face, self.word = FACES[EngineState.IDLE], "idle"

    def on_state(self, event: EngineStateEvent) -> None:
        self.face, self.word = FACES[event.new_state], event.new_state.value.replace("_", " ")

    def on_thought(self, event: ThinkingEvent) -> None:
        self.face = PHASES.get(event.phase, FACES[EngineState.THINKING])
        self.word = event.subject or "thinking"

    def draw(self) -> None:
        # layout=False: a new text does not lay out the whole screen.
        self.update(f"{self.face}\n{self.word}", layout=False)
