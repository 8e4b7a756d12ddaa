"""The figure: for each mood a face, a sign above the head and what it does with its hands."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from rich.text import Text

from avatar_actors.gui.strips import LinePane, Look
from avatar_actors.picture import Mood

HEIGHT: Final = 10
WIDTH: Final = 17
_BLINK_EVERY: Final = 40
_BLINK: Final = 2
# The strength of the colour in the beats after a change; the face is swapped in the middle.
FADE: Final = (0.6, 0.3, 0.15, 0.3, 0.6)
_SWAP_AT: Final = 2


class Face(Struct, frozen=True):
    """How a mood looks; what has several frames is animated, `pace` beats each."""

    small: str
    eyes: tuple[str, ...]
    mouth: tuple[str, ...]
    above: tuple[str, ...] = ("",)
    hands: tuple[str, ...] = ("  ▃▅▃  ",)
    colour: str = "primary"
    pace: int = 3
    blinks: bool = False


FACES: Final = {
    Mood.IDLE: Face("(◕‿◕)", ("◕   ◕",), ("‿",), blinks=True, colour="success"),
    Mood.STARTING: Face(
        "(-_-)", ("─   ─", "─   ─", "◔   ◔"), ("_",), ("z", "z Z", "!"), colour="secondary", pace=5
    ),
    Mood.LOADING: Face(
        "(°_°)", ("°   °",), ("_",), ("·    ", "· ·  ", "· · ·", "     "), pace=2
    ),
    Mood.THINKING: Face("(°_°)", ("°   °", "° . °"), ("_",), ("○ ∘ ·", "∘ · ○", "· ○ ∘"), pace=4),
    Mood.ANALYZING: Face(
        "(⊙_⊙)", ("  ⊙   ⊙", "⊙   ⊙", "⊙   ⊙  "), ("_",), ("⌕    ", "  ⌕  ", "    ⌕"), ("  ▃▄▃  ",),
        pace=4,
    ),
    Mood.PLANNING: Face(
        "(◔ᵕ◔)", ("◔   ◔",), ("ᵕ",), ("┌─    ┐", "┌──┬─ ┐", "┌──┬──┐"), ("  ▃▄▃  ",), pace=5
    ),
    Mood.CODING: Face(
        "(⌐■_■)", ("■─■",), ("‿",), ("{    }", "{ .  }", "{ .. }", "{ ...}"),
        ("01▌10▐1", "10▐01▌0"), pace=2,
    ),
    Mood.REVIEWING: Face(
        "(◑_◑)", ("◑   ◑", "◐   ◐"), ("_",), ("✓ · ·", "✓ ✓ ·", "✓ ✓ ✓"), ("▁▂▃▄▅▆▇",), pace=5
    ),
    Mood.TALKING: Face(
        "(◕o◕)", ("◕   ◕",), ("O", "o", "‿", "o"), hands=("▂▇▃▅▃▇▂", "▃▅▂▇▂▅▃"), pace=2,
        blinks=True,
    ),
    Mood.WORKING: Face(
        "(◕‿◕)", ("◕   ◕",), ("‿",), ("⚙    ", "  ⚙  ", "    ⚙", "  ⚙  "),
        ("━━━╋━━━", "──━╋━──"), colour="warning", blinks=True,
    ),
    Mood.APPROVAL: Face(
        "(°o°)", ("°   °",), ("o",), ("?", " "), ("  [?]  ",), colour="warning", pace=5
    ),
    Mood.STALLED: Face(
        "(-~-)", ("─   ─",), ("~",), ("z   ", "zZ  ", "zZz "), colour="warning", pace=6
    ),
    Mood.ERROR: Face("(×_×)", ("×   ×",), ("⌒",), ("!", " "), ("  ≠≠≠  ",), "error", pace=6),
    Mood.RESTARTING: Face(
        "(@_@)", ("◐   ◐", "◓   ◓", "◑   ◑", "◒   ◒"), ("o",), ("✶·✶", "·✶·"), colour="error",
        pace=2,
    ),
    Mood.OVER_BUDGET: Face(
        "(ᴗ⌒ᴗ)", ("ᴗ   ᴗ",), ("⌒",), ("$",), (" $   0 ",), colour="error", pace=6
    ),
}  # fmt: skip
_BETWEEN: Final = Face("(·_·)", ("·   ·",), ("_",))


def art(face: Face, tick: int) -> list[str]:
    """The figure at this beat: nine rows of 17 cells."""
    step = tick // face.pace
    eyes = face.eyes[step % len(face.eyes)]
    if face.blinks and tick % _BLINK_EVERY < _BLINK:
        eyes = "─   ─"
    mouth = face.mouth[step % len(face.mouth)]
    above = face.above[step % len(face.above)]
    hands = face.hands[step % len(face.hands)]
    return [
        f"{above:^17}",
        "   ╭─────────╮   ",
        f"  ╭┤{eyes:^9}├╮  ",
        f"  ││{mouth:^9}││  ",
        "  ╰┤         ├╯  ",
        "   ╰──┬───┬──╯   ",
        "    ╭─┴───┴─╮    ",
        f"    │{hands:^7}│    ",
        "    ╰───────╯    ",
    ]


class Figure(LinePane):
    """Draws the mood, and fades from one to the next."""

    DEFAULT_CSS = f"Figure {{ height: {HEIGHT}; }}"

    def __init__(self) -> None:
        super().__init__(id="figure")
        self.mood = Mood.IDLE
        self.colour = ""
        """The colour of the face at this beat."""
        self._from = Mood.IDLE
        self._changed_at = -len(FADE)

    def beat(self, mood: Mood, tick: int, look: Look) -> None:
        """Show the mood at this beat."""
        if mood is not self.mood:
            self._from, self.mood, self._changed_at = self.mood, mood, tick
        since = tick - self._changed_at
        is_fading = 0 <= since < len(FADE)
        strength = FADE[since] if is_fading else 1.0
        face = FACES[self.mood]
        if is_fading and since <= _SWAP_AT:
            face = _BETWEEN if since == _SWAP_AT else FACES[self._from]
        self.colour = colour = look.colour(FACES[self.mood].colour, strength)
        frame = look.colour("foreground", 0.45 * strength)
        left = " " * max(0, (self.size.width - WIDTH) // 2)
        rows = [Text.assemble(left, *_coloured(row, colour, frame)) for row in art(face, tick)]
        word = f"{self.mood.value:^{WIDTH}}"
        self.show([*rows, Text.assemble(left, (word, f"bold {colour}"))], look)


_FRAME: Final = frozenset("╭╮╰╯─│┤├┬┴")


def _coloured(row: str, colour: str, frame: str) -> list[tuple[str, str]]:
    """The lines of the head are dim, what is in it is not."""
    parts: list[tuple[str, str]] = []
    inside = row.strip(" ")
    if not inside or inside[0] not in _FRAME:
        return [(row, colour)]
    edges = [index for index, sign in enumerate(row) if sign in "│┤├"]
    if len(edges) < 2:  # noqa: PLR2004 - a row of lines only
        return [(row, frame)]
    half = len(edges) // 2
    parts.append((row[: edges[half - 1] + 1], frame))
    parts.append((row[edges[half - 1] + 1 : edges[half]], f"bold {colour}"))
    parts.append((row[edges[half] :], frame))
    return parts
