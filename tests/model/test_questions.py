"""What counts as an answer to a model's questions."""

from typing import Any

import pytest

from avatar_actors import QuestionOption, SettingsError, UserQuestion
from avatar_actors.model.questions import answers_to

COLOUR = UserQuestion(
    question_id="q1", text="Which?", options=(QuestionOption("red"), QuestionOption("blue"))
)
SEVERAL = UserQuestion(
    question_id="q2",
    text="Which ones?",
    options=(QuestionOption("a"), QuestionOption("b")),
    is_multiple=True,
    takes_text=True,
)
COUNT = UserQuestion(question_id="q3", text="How many?", takes_text=True, kind="integer")
NAME = UserQuestion(question_id="q4", text="Whose?", takes_text=True, is_required=True)


@pytest.mark.parametrize(
    ("questions", "given", "answers"),
    [
        ([COLOUR], None, None),
        ([COLOUR], "red", {"q1": ("red",)}),
        ([COLOUR], {"q1": ["blue"]}, {"q1": ("blue",)}),
        ([SEVERAL], ("b", "own words", "b"), {"q2": ("b", "own words")}),
        ([COLOUR, SEVERAL], {"q2": "a"}, {"q2": ("a",)}),
        ([COLOUR, SEVERAL], {"q1": (), "q2": "a"}, {"q2": ("a",)}),
        ([COUNT], "12", {"q3": ("12",)}),
    ],
)
def test_answers_are_taken_by_id_or_alone(
    questions: list[UserQuestion], given: Any, answers: Any
) -> None:
    assert answers_to(questions, given) == answers


@pytest.mark.parametrize(
    ("questions", "given", "complaint"),
    [
        ([COLOUR], "green", "must be one of 'red', 'blue'$"),
        ([COLOUR], ["red", "blue"], "must be one, not 2"),
        ([COLOUR], {"q9": "red"}, "no question 'q9'; there are: 'q1'"),
        ([COLOUR], {}, "no question is answered"),
        ([COLOUR], {"q1": []}, "no question is answered"),
        ([COLOUR], 5, "must be a string or several; got int"),
        ([COLOUR], b"red", "must be a string or several; got bytes"),
        ([COLOUR], ["red", 5], "must be made of strings"),
        ([COLOUR, COUNT], "red", "2 questions need a dict"),
        ([COUNT], "a dozen", "must be of the kind integer"),
        ([COUNT], " ", "is empty"),
        ([COLOUR, NAME], {"q1": "red"}, "'q4' needs an answer"),
    ],
)
def test_other_answers_are_refused_with_what_fits(
    questions: list[UserQuestion], given: Any, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint):
        answers_to(questions, given)
