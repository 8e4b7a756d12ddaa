"""A person's way through a model's questions: typed lines become answers. No I/O."""

from __future__ import annotations

import re
from typing import Final

from avatar_actors import GivenAnswers, QuestionEvent, SettingsError, UserQuestion
from avatar_actors.cli.terminal.text import one_line

ESCAPE: Final = "\x1b"
_ENTER: Final = ("\r", "\n")
_DELETE: Final = ("\x7f", "\b")
_NUMBERS: Final = re.compile(r"\d+(?:[\s,]+\d+)*")
_LONGEST: Final = 10_000
_SHOWN: Final = 60


class QuestionForm:
    """The questions of one request, answered one after the other; Esc declines them all."""

    def __init__(self, event: QuestionEvent) -> None:
        self.event = event
        self.is_done = False
        self.line = ""
        self._given: dict[str, list[str]] = {}
        self._problem = ""
        self._is_declined = False

    @property
    def answers(self) -> GivenAnswers:
        """What the person has answered; None if they declined."""
        return None if self._is_declined else self._given

    @property
    def is_begun(self) -> bool:
        """Whether the person has begun to answer."""
        return bool(self.line or self._given)

    def press(self, keys: str) -> None:
        """Keys of a terminal without a line of its own. A new line within a paste sends nothing."""
        if keys == ESCAPE:
            self.decline()
        elif keys in _DELETE:
            self.line = self.line[:-1]
        elif keys in _ENTER or (self.is_begun and keys.endswith(_ENTER)):
            self._type(keys[:-1])
            self.enter(self.line)
        else:
            self._type(keys)

    def enter(self, text: str) -> str:
        """Answer the present question with this line; what is wrong with it, or nothing."""
        question, self.line = self._present, ""
        try:
            chosen = _chosen(question, text.strip())
            question.checked(chosen)
        except SettingsError as wrong:
            self._problem = one_line(str(wrong))
            return self._problem
        self._given[question.question_id] = chosen
        self._problem = ""
        self.is_done = len(self._given) == len(self.event.questions)
        return ""

    def decline(self) -> None:
        """Answer none of them."""
        self.is_done = self._is_declined = True

    def hint(self) -> str:
        """What the person can do now, with what they have typed."""
        questions, question = self.event.questions, self._present
        of = f" {len(self._given) + 1} of {len(questions)}" if len(questions) > 1 else ""
        if self.line:
            shown = "•" * len(self.line) if question.is_secret else one_line(self.line)
            return f"answer{of}: {shown[-_SHOWN:]}_ (Enter sends it, Esc declines)"
        if self._problem:
            return self._problem
        return f"answer{of}: {ways(question)}, then Enter; Esc declines"

    @property
    def _present(self) -> UserQuestion:
        """The first question without an answer."""
        left = [each for each in self.event.questions if each.question_id not in self._given]
        return (left or self.event.questions)[0]

    def _type(self, keys: str) -> None:
        printable = "".join(sign if sign.isprintable() else " " for sign in keys)
        self.line = (self.line + printable)[:_LONGEST]


def ways(question: UserQuestion) -> str:
    """How a question can be answered, in words."""
    count = len(question.options)
    numbers = "1" if count == 1 else f"1 to {count}"
    if not count:
        return "type it"
    several = ", several as 1,2" if question.is_multiple else ""
    own = " or your own words" if question.takes_text else ""
    return f"{numbers}{several}{own}"


def _chosen(question: UserQuestion, text: str) -> list[str]:
    """The options that these numbers or this label mean, or the words themselves."""
    if not text:
        raise SettingsError("type an answer, or press Esc to decline")
    labels = [option.label for option in question.options]
    if labels and _NUMBERS.fullmatch(text):
        numbers = [int(each) for each in re.split(r"[\s,]+", text)]
        if wrong := [each for each in numbers if not 1 <= each <= len(labels)]:
            raise SettingsError(f"there is no option {wrong[0]}; there are 1 to {len(labels)}")
        return [labels[each - 1] for each in numbers]
    same = [label for label in labels if label.casefold() == text.casefold()]
    return same[:1] or [text]
