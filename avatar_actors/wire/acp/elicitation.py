"""ACP's elicitation: a form of the agent as questions, and their answers as its content."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from avatar_actors.model.questions import Answers, QuestionOption, UserQuestion, number_in
from avatar_actors.model.values import JsonObject
from avatar_actors.wire.json_values import at, is_array, is_object, text_at

# More than a person would answer: such a form is declined.
MOST_QUESTIONS: Final = 32
MOST_OPTIONS: Final = 256

DECLINED: Final[JsonObject] = {"action": "decline"}
CANCELLED: Final[JsonObject] = {"action": "cancel"}
# The one question of a form without fields.
CONFIRM: Final = "confirm"
YES: Final = "Yes"
NO: Final = "No"
# Where claude-agent-acp 0.49.0 and later have an option's words; the title joins label and these.
CLAUDE_OPTION: Final = "_claude/askUserQuestionOption"
# The field for words of one's own beside a choice: of claude-agent-acp, and of codex-acp 2.6.0.
OWN_WORDS: Final = "_custom"
NOTE_ROLE: Final = "user_note"


class ElicitationParams(Struct, rename="camel", gc=False):
    """A form for the user, of one session; one that belongs to a request has no session."""

    message: str = ""
    mode: str = "form"
    session_id: str = ""
    tool_call_id: str | None = None
    requested_schema: JsonObject = field(default_factory=dict)


class FormField(Struct, frozen=True):
    """Where the answer to a question goes: a property, and one for words of one's own."""

    name: str
    type: str
    values: dict[str, str | bool]
    """What each label stands for."""
    own_words: str = ""


class Form(Struct, frozen=True):
    """The questions of a form, and where their answers go."""

    questions: tuple[UserQuestion, ...]
    fields: tuple[FormField, ...]

    def response(self, answers: Answers | None) -> JsonObject:
        """The reply to the agent."""
        if answers is None or answers.get(CONFIRM) == (NO,):
            return DECLINED
        content: JsonObject = {}
        for one in self.fields:
            if answer := answers.get(one.name):
                content |= _content(one, answer)
        return {"action": "accept", "content": content}


def form_of(asked: ElicitationParams) -> Form | None:
    """The form as questions; None if it has too many, or a field that cannot be asked for."""
    schema = asked.requested_schema
    properties = at(schema, "properties")
    named = {k: v for k, v in properties.items() if is_object(v)} if is_object(properties) else {}
    if not named:
        return _confirmation(asked.message)
    own_words = {owner: name for name in named if (owner := _owner(name, named))}
    required = at(schema, "required")
    needed = set(filter(_is_text, required)) if is_array(required) else set[object]()
    rows: list[tuple[UserQuestion, FormField]] = []
    for name, about in named.items():
        if name in own_words.values():
            continue
        row = _row(name, about, own_words.get(name, ""), is_required=name in needed)
        if row is None and name in needed:
            return None
        rows += [row] if row is not None else []
    if not rows or len(rows) > MOST_QUESTIONS:
        return None
    questions = tuple(question for question, _ in rows)
    if len(questions) == 1 and asked.message and not questions[0].header:
        # claude-agent-acp has the one question in the message, and its header in the title.
        questions = (replace(questions[0], text=asked.message, header=questions[0].text),)
    return Form(questions, tuple(one for _, one in rows))


def _confirmation(message: str) -> Form:
    question = UserQuestion(
        question_id=CONFIRM,
        text=message,
        options=(QuestionOption(YES), QuestionOption(NO)),
        is_required=True,
    )
    return Form((question,), ())


def _owner(name: str, named: dict[str, JsonObject]) -> str:
    """The choice that this field takes words of one's own for, if it is such a field."""
    about = named[name]
    codex = at(about, "_meta", "codex")
    owner = text_at(codex, "questionId") if text_at(codex, "role") == NOTE_ROLE else ""
    owner = owner or (name.removesuffix(OWN_WORDS) if name.endswith(OWN_WORDS) else "")
    is_plain = text_at(about, "type") == "string" and not _choices(about)
    return owner if is_plain and owner in named and _choices(named[owner]) else ""


def _row(
    name: str, about: JsonObject, own_words: str, *, is_required: bool
) -> tuple[UserQuestion, FormField] | None:
    kind = text_at(about, "type")
    options = [] if kind == "boolean" else _choices(about)
    if kind not in {"string", "number", "integer", "boolean", "array"}:
        return None
    if len(options) > MOST_OPTIONS or (kind == "array" and not options):
        return None
    values: dict[str, str | bool] = {YES: True, NO: False} if kind == "boolean" else {}
    offered = [QuestionOption(YES), QuestionOption(NO)] if values else []
    for option in options:
        shown = _option(option, values)
        offered.append(shown)
        values[shown.label] = text_at(option, "const")
    text, header = _words(about)
    question = UserQuestion(
        question_id=name,
        text=text or name,
        header=header,
        options=tuple(offered),
        is_multiple=kind == "array",
        takes_text=bool(own_words) or not offered,
        is_required=is_required,
        is_secret=at(about, "_meta", "codex", "isSecret") is True,
        kind=kind if kind in {"number", "integer"} else "text",
    )
    return question, FormField(name, kind, values, own_words)


def _choices(about: JsonObject) -> list[JsonObject]:
    """The options of a field, each with `const`."""
    items = at(about, "items")
    for listed in (at(about, "oneOf"), at(items, "anyOf"), at(items, "oneOf")):
        if is_array(listed):
            return [each for each in listed if is_object(each) and _is_text(each.get("const"))]
    for plain in (at(about, "enum"), at(items, "enum")):
        if is_array(plain):
            return [{"const": each} for each in plain if _is_text(each)]
    return []


def _option(option: JsonObject, taken: dict[str, str | bool]) -> QuestionOption:
    const = text_at(option, "const")
    description = text_at(option, "_meta", CLAUDE_OPTION, "description")
    label = const if description else text_at(option, "title") or const
    return QuestionOption(
        const if label in taken else label, description or text_at(option, "description")
    )


def _words(about: JsonObject) -> tuple[str, str]:
    """The question's text and its short header."""
    title, description = text_at(about, "title"), text_at(about, "description")
    if at(about, "_meta", "codex") is not None:  # codex-acp has the question in the title
        return title, description or "Codex"
    return (description, title) if description else (title, "")


def _content(one: FormField, answer: tuple[str, ...]) -> JsonObject:
    chosen = [one.values[label] for label in answer if label in one.values]
    own = [text for text in answer if text not in one.values]
    content: JsonObject = {}
    if own and one.own_words:
        content[one.own_words] = ", ".join(own)
    elif own:
        kind = one.type
        content[one.name] = own[0] if kind == "string" else number_in(own[0], kind)
    if one.type == "array" and chosen:
        content[one.name] = chosen
    elif chosen:
        content[one.name] = chosen[0]
    return content


def _is_text(value: object) -> bool:
    return isinstance(value, str)
