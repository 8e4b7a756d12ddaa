"""A model's questions to its user, and what counts as an answer to them. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard

from msgspec import Struct

from avatar_actors.model.errors import SettingsError

Answer: TypeAlias = str | Sequence[str]
"""The label of an option, words of the person's own, or several of them."""

GivenAnswers: TypeAlias = Answer | Mapping[str, Answer] | None
"""The answers by `question_id`; of a single question also the answer alone. None: declined."""

Answers: TypeAlias = dict[str, tuple[str, ...]]
"""Checked answers by `question_id`."""


class QuestionOption(Struct, frozen=True):
    """One of the answers that the model offers; it is answered with its `label`."""

    label: str
    description: str = ""


class UserQuestion(Struct, frozen=True, kw_only=True):
    """One question of a model to its user.

    `is_multiple`: several options may be chosen. `takes_text`: words of the person's own are an
    answer too; without options they are the only one. `kind` is `text`, or `number` or `integer`
    for what such words must be. `is_secret`: the answer is not to be shown while it is typed.
    """

    question_id: str
    text: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    is_multiple: bool = False
    takes_text: bool = False
    is_required: bool = False
    is_secret: bool = False
    kind: str = "text"

    def checked(self, given: object) -> tuple[str, ...]:
        """The answer as texts, each once; SettingsError says what would fit, not what was given.

        It may be a secret.
        """
        answers = (given,) if isinstance(given, str) else given
        name = f"the answer to {self.question_id!r}"
        if not _is_sequence(answers):
            raise SettingsError(f"{name} must be a string or several; got {type(given).__name__}")
        texts = [each for each in answers if isinstance(each, str)]
        if len(texts) != len(answers):
            raise SettingsError(f"{name} must be made of strings")
        if len(texts) > 1 and not self.is_multiple:
            raise SettingsError(f"{name} must be one, not {len(texts)}: is_multiple is False")
        for text in texts:
            self._check_text(name, text)
        return tuple(dict.fromkeys(texts))

    def _check_text(self, name: str, text: str) -> None:
        labels = [option.label for option in self.options]
        if text in labels:
            return
        if not self.takes_text:
            offered = ", ".join(map(repr, labels))
            raise SettingsError(f"{name} must be one of {offered}")
        if not text.strip():
            raise SettingsError(f"{name} is empty; None declines the questions")
        if self.kind != "text" and number_in(text, self.kind) is None:
            raise SettingsError(f"{name} must be of the kind {self.kind}")


def answers_to(questions: Sequence[UserQuestion], given: object) -> Answers | None:
    """The answers, checked; None if they were declined. SettingsError if they do not fit."""
    if given is None:
        return None
    by_id = given if _is_mapping(given) else _alone(questions, given)
    known = {each.question_id: each for each in questions}
    for question_id in by_id:
        if not isinstance(question_id, str) or question_id not in known:
            there = ", ".join(map(repr, known))
            raise SettingsError(f"there is no question {question_id!r}; there are: {there}")
    answers = {key: known[key].checked(by_id[key]) for key in known if key in by_id}
    missing = [key for key, each in known.items() if each.is_required and not answers.get(key)]
    if missing:
        raise SettingsError(f"question {missing[0]!r} needs an answer; None declines them all")
    if not any(answers.values()):
        raise SettingsError("no question is answered; None declines them")
    return {key: answer for key, answer in answers.items() if answer}


def _alone(questions: Sequence[UserQuestion], given: object) -> dict[object, object]:
    if len(questions) != 1:
        raise SettingsError(f"{len(questions)} questions need a dict of answers by question_id")
    return {questions[0].question_id: given}


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, Mapping)


def number_in(text: str, kind: str) -> float | int | None:
    """The number that these words are; None if they are none of this kind."""
    try:
        number = int(text) if kind == "integer" else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def handlers_apart(options: Mapping[str, object]) -> dict[str, object]:
    """The options as fields of settings: a function has one of its own; without a mode, it asks."""
    fields = dict(options)
    answering = fields.pop("questions", None)
    if answering is not None and not callable(answering):
        raise SettingsError(f"questions must be a function or None; got {answering!r}")
    if callable(fields.get("permissions")):
        fields["permission_handler"] = fields.pop("permissions")
    return {**fields, "question_handler": answering}
