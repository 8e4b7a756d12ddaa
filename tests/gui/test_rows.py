"""The rows and lines of the app as they are drawn: tree, headline, conversation. No app needed."""

from rich.text import Text

from avatar_actors import (
    ActivityEvent,
    ActivityStatus,
    AvatarEvent,
    EngineState,
    EngineStateEvent,
    TextEvent,
    ToolEvent,
    ToolStatus,
    TurnStartedEvent,
)
from avatar_actors.gui import status
from avatar_actors.gui.activity_rows import TreeFolds, job_rows
from avatar_actors.gui.strips import AGENT_COLOURS, Look, StripRenderer, between
from avatar_actors.gui.transcript import TalkTranscript
from avatar_actors.gui.view import AvatarView
from avatar_actors.picture import AvatarPicture

COLOURS = dict(zip(AGENT_COLOURS, ("#ff0000", "#00ff00", "#0000ff"), strict=False))
LOOK = Look(
    {
        **dict.fromkeys(AGENT_COLOURS, "#808080"),
        **COLOURS,
        "foreground": "#ffffff",
        "background": "#000000",
        "surface": "#111111",
    },
    is_dark=True,
)


def tool(status_: ToolStatus = ToolStatus.STARTED) -> ToolEvent:
    return ToolEvent(tool_name="Read", tool_id="1", status=status_, parameters={"path": "a.txt"})


def pictured(*events: tuple[float, AvatarEvent]) -> AvatarPicture:
    picture = AvatarPicture()
    for now, event in events:
        picture.see(event, now)
    return picture


def rows(picture: AvatarPicture, now: float) -> list[Text]:
    return [row.text for row in job_rows(picture, TreeFolds(set(), set()), now, 40)]


def transcript(*pieces: str, width: int = 40) -> TalkTranscript:
    made = TalkTranscript(StripRenderer(LOOK))
    for piece in pieces:
        made.say(piece)
        made.settle(width, 60)
    return made


def lines(made: TalkTranscript) -> list[str]:
    return [row.strip.text for row in (*made.rows, *made.open_rows())]


def test_a_tool_spins_then_flashes_then_has_its_icon() -> None:
    picture = pictured((0.0, tool()))
    spins = {rows(picture, now / 10)[0].plain[0] for now in range(10)}
    assert len(spins) == 10
    picture.see(tool(ToolStatus.COMPLETED), 2.0)
    [lit], [still] = rows(picture, 2.1), rows(picture, 2.3)
    assert (lit.plain, still.plain) == ("✓ Read: a.txt 2.0s",) * 2
    assert "reverse" in {str(span.style) for span in lit.spans}
    assert "reverse" not in {str(span.style) for span in still.spans}


def test_a_job_without_news_is_marked_after_30_and_60_seconds() -> None:
    picture = pictured((0.0, tool()))
    assert ["⚠" in rows(picture, now)[0].plain for now in (29.0, 31.0, 61.0)] == [False, True, True]
    looks = [{str(span.style) for span in rows(picture, now)[0].spans} for now in (31.0, 61.0)]
    assert "warning" in looks[0]
    assert "alarm" in looks[1]


def test_the_last_line_that_a_task_put_out_stands_below_it() -> None:
    running = ActivityEvent(
        activity_id="1",
        activity_type="background_task",
        name="npm test",
        status=ActivityStatus.RUNNING,
        output="41 pass\n42 pass\n",
    )
    assert [row.plain for row in rows(pictured((0.0, running)), 0.5)][1] == "  └ 42 pass"


def test_the_light_moves_over_the_headline() -> None:
    picture = pictured(
        (0.0, TurnStartedEvent(turn_id=1)), (0.0, EngineStateEvent(new_state=EngineState.THINKING))
    )
    first, later = (status.headline(picture, LOOK, 0.0, tick) for tick in (0, 4))
    assert first.plain == later.plain
    assert first.plain.startswith("⠋ Thinking")
    assert first.spans != later.spans


def test_code_is_highlighted_and_plain_text_is_not() -> None:
    made = transcript("```python\ndef greet():\n    return 1\n```\n", "plain words\n")
    made.close()
    made.settle(40, 60)
    [code] = [row.strip for row in made.rows if "def greet" in row.strip.text]
    assert len({str(segment.style.color) for segment in code if segment.style}) > 1


def test_any_cut_of_an_answer_gives_the_same_rows() -> None:
    text = "# One\n\ntwo **three** four five six seven eight nine ten eleven\n\n- a\n- b\n\n" * 3
    whole = lines(transcript(text))
    for size in (1, 3, 7, 50):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert lines(transcript(*pieces)) == whole


def test_another_width_wraps_all_of_it_anew() -> None:
    made = transcript("one two three four five six seven eight nine ten\n", width=60)
    made.settle(20, 60)
    assert all(len(line) <= 18 for line in lines(made))
    assert " ".join(" ".join(lines(made)).split()).startswith("one two three four five six")


def test_a_line_in_one_style_has_it() -> None:
    [segment] = LOOK.strip(Text("words", "failed"))
    assert str(segment.style) == str(LOOK.style("failed"))
    assert str(segment.style) != "none"


def test_a_box_is_cut_and_not_wrapped() -> None:
    made = TalkTranscript(StripRenderer(LOOK))
    made.add([Text("┌─ Tools ─" + "─" * 50, overflow="crop"), Text("│ a label " * 9)], "box")
    made.settle(30, 60)
    assert [len(line) for line in lines(made)] == [28, 28]
    assert lines(made)[1].endswith("…")


def test_a_big_answer_is_drawn_in_slices_of_the_time_it_is_given() -> None:
    made = TalkTranscript(StripRenderer(LOOK))
    made.say("some words of a long line that is wrapped somewhere\n" * 20_000)
    made.settle(80, 0.0)
    assert made.is_behind
    assert len(made.rows) < 20_000
    while made.is_behind:
        made.settle(80, 1.0)
    assert len([line for line in lines(made) if line]) >= 20_000


def test_escape_codes_of_an_agent_reach_no_screen() -> None:
    view = AvatarView(TalkTranscript(StripRenderer(LOOK)))
    view.see(TextEvent(text="\x1b[2Jred\x07"), 0.0)
    view.transcript.settle(40, 60)
    assert "\x1b" not in "".join(lines(view.transcript))


def test_what_stands_at_the_right_gives_way() -> None:
    assert between(Text("left"), Text("right"), 12).plain == "left   right"
    assert between(Text("left"), Text("right"), 8).plain == "left ri…"
    assert between(Text("a long left"), Text("right"), 6).plain == "a lon…"


def test_wide_letters_are_wrapped_by_their_cells() -> None:
    for text in ("漢字" * 30, "👩 příliš " * 20):
        made = transcript(text, "\n\nend\n", width=22)
        assert len(made.rows) > 4
        assert all(row.strip.cell_length <= 20 for row in made.rows)
