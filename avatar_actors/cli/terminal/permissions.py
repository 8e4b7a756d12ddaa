"""Answers what an agent asks: by a person's keys, with an editor, or by denying all."""

from __future__ import annotations

import math
import os
import shlex
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

import msgspec

from avatar_actors import (
    Avatar,
    AvatarDown,
    AvatarEvent,
    PermissionClosedEvent,
    PermissionEvent,
    Permit,
    QuestionEvent,
    ToolEvent,
    ToolStatus,
    UnknownRequest,
)
from avatar_actors.cli.exit_codes import Failure
from avatar_actors.cli.terminal.questions import QuestionForm
from avatar_actors.cli.terminal.text import one_line

ToolInput: TypeAlias = dict[str, object]
# Lets a person change an input; Failure if that does not work.
Edit: TypeAlias = Callable[[ToolInput], Awaitable[ToolInput]]
# Runs a command in the terminal; its exit code.
RunEditor: TypeAlias = Callable[[list[str]], Awaitable[int]]
_ALLOW: Final = "to allow it: --permission unrestricted"
TO_AGENT: Final = "Nobody can be asked here: this run takes no answers from a person."
TO_MODEL: Final = f"{TO_AGENT} Decide by yourself, or say in your answer what you need to know."
# What a person is asked.
Asked: TypeAlias = PermissionEvent | QuestionEvent


KEYS: Final = ("y", "n", "a")
EDIT_KEY: Final = "e"
# Characters of a question in a warning.
_QUESTION: Final = 200
# A key answers only once the request was on the screen this long: before, it was typed blindly.
PAUSE: Final = 0.5
# Any other key means that the person is typing, until they have stopped for this long.
TYPING: Final = 1.0


class AnswerKeys:
    """Decides whether keys answer the oldest request or question: only after a quiet moment."""

    def __init__(self) -> None:
        self.can_edit = False
        self._request: Asked | None = None
        self._form: QuestionForm | None = None
        self._asked_at = self._typed_at = -math.inf
        self._taken = ""

    def look(self, asks: tuple[Asked, ...], now: float) -> None:
        """These open requests and questions, oldest first, are on the screen now."""
        waiting = [one for one in asks if one.request_id != self._taken]
        oldest = waiting[0] if waiting else None
        if oldest is not None and oldest != self._request:
            self._asked_at = now
            self._form = QuestionForm(oldest) if isinstance(oldest, QuestionEvent) else None
        self._request = oldest
        self._form = self._form if isinstance(oldest, QuestionEvent) else None

    def typed(self, now: float) -> None:
        """The person typed something that is not an answer."""
        self._typed_at = now

    def request(self, now: float) -> PermissionEvent | None:
        """The request that a key would answer now."""
        request = self._request if self._is_quiet(now) else None
        return request if isinstance(request, PermissionEvent) else None

    def form(self, now: float) -> QuestionForm | None:
        """The questions that keys would answer now: after a quiet moment, then all of them."""
        form = self._form
        return form if form is not None and (form.is_begun or self._is_quiet(now)) else None

    def form_since(self, began: float) -> QuestionForm | None:
        """The questions that a line answers that was begun then: not if it was typed ahead."""
        return self._form if began - self._asked_at >= PAUSE else None

    def pressed(self, keys: str, now: float) -> PermissionEvent | None:
        """The request that these keys answer; otherwise they count as typed.

        Several at once, as when a text is pasted, answer nothing.
        """
        is_answer = keys.lower() in KEYS or (self.can_edit and keys.lower() == EDIT_KEY)
        request = self.request(now) if is_answer else None
        if request is None:
            self.typed(now)
        return request

    def take(self, request: Asked) -> None:
        """A key was pressed for it; ignore further keys meanwhile."""
        self._taken = request.request_id
        self._request = self._form = None

    def give_back(self, now: float) -> None:
        """The key is handled; if the request is still open, it can be answered.

        What was typed meanwhile may only be read now, and was not meant for the next request.
        """
        self._taken, self._asked_at = "", now

    def hint(self, now: float) -> str:
        """What the person can do about the request; empty if there is none, or it has just come."""
        if self._request is None:
            return ""
        if self._form is not None:
            return self._hint_of(self._form, now)
        if self._is_typing(now):
            return f"stop typing, then press {self._named}"
        return f"press {self._named} to answer" if self.request(now) else ""

    def _hint_of(self, form: QuestionForm, now: float) -> str:
        if form.is_begun or self._is_quiet(now):
            return form.hint()
        return "stop typing, then answer the question" if self._is_typing(now) else ""

    def _is_quiet(self, now: float) -> bool:
        return now - self._asked_at >= PAUSE and not self._is_typing(now)

    def _is_typing(self, now: float) -> bool:
        return now - self._typed_at < TYPING

    @property
    def _named(self) -> str:
        *others, last = (*KEYS, EDIT_KEY) if self.can_edit else KEYS
        return f"{', '.join(others)} or {last}"


T = TypeVar("T")


class AvatarCall(Protocol):
    """Calls the avatar, here or in the thread of an engine."""

    def __call__(self, work: Callable[[Avatar], Awaitable[T]], /) -> Awaitable[T]:
        """What the work returns."""
        ...


class Approvals:
    """What each key answers: y once, n no, a always, e with a changed input.

    Where the agent has no "always", the tools that were allowed for good are remembered here.
    """

    def __init__(self, edit: Edit, note: Callable[[str], None]) -> None:
        self.call: AvatarCall | None = None
        self._edit, self._note = edit, note
        self._allowed: set[str] = set()

    async def hear(self, asked: PermissionEvent) -> None:
        """Answer a request for a tool that was allowed for good."""
        if asked.tool_name in self._allowed:
            await self._answer(asked, Permit.ALLOW_ONCE)

    async def press(self, key: str, asked: PermissionEvent) -> None:
        """Answer this request; any other key does nothing."""
        match key.lower():
            case "y":
                await self._answer(asked, Permit.ALLOW_ONCE)
            case "n":
                await self._answer(asked, Permit.REJECT_ONCE)
            case "a":
                await self._allow_always(asked)
            case "e":
                await self._allow_edited(asked)
            case _:
                pass

    async def give(self, form: QuestionForm) -> None:
        """Send the answers to the model's questions, or that they are declined."""
        # The turn may have ended meanwhile.
        with suppress(UnknownRequest, AvatarDown):
            if self.call is not None:
                request_id, answers = form.event.request_id, form.answers
                await self.call(lambda avatar: avatar.answer_question(request_id, answers))

    async def _allow_always(self, asked: PermissionEvent) -> None:
        if any(option.kind is Permit.ALLOW_ALWAYS for option in asked.options):
            await self._answer(asked, Permit.ALLOW_ALWAYS)
        else:
            self._allowed.add(asked.tool_name)
            await self._answer(asked, Permit.ALLOW_ONCE)

    async def _allow_edited(self, asked: PermissionEvent) -> None:
        try:
            changed = await self._edit(asked.tool_input)
        except Failure as error:
            self._note(str(error))
            return
        if changed == asked.tool_input:
            self._note("nothing was changed; press y, n or a")
        else:
            await self._answer(asked, Permit.ALLOW_ONCE, changed)

    async def _answer(
        self, asked: PermissionEvent, permit: Permit, changed: ToolInput | None = None
    ) -> None:
        # The turn may have ended meanwhile.
        with suppress(UnknownRequest, AvatarDown):
            if self.call is not None:
                await self.call(
                    lambda avatar: avatar.answer(asked.request_id, permit, updated_input=changed)
                )


class DenyAll:
    """Denies every request and declines every question where nobody can be asked, and says so."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.avatar: Avatar | None = None
        self._warn = warn
        self._tool = ""
        self._answered: set[str] = set()

    async def hear(self, events: Sequence[AvatarEvent]) -> None:
        """Deny and decline what these events ask, and tell what mode or policy has denied."""
        for event in events:
            match event:
                case ToolEvent(status=ToolStatus.APPROVAL):
                    self._tool = event.tool_name or event.title
                case PermissionEvent() if self.avatar is not None:
                    await self._deny(self.avatar, event)
                case QuestionEvent() if self.avatar is not None:
                    await self._decline(self.avatar, event)
                case PermissionClosedEvent(permit=Permit.REJECT_ONCE | Permit.REJECT_ALWAYS):
                    self._tell(event)
                case _:
                    pass

    async def _deny(self, avatar: Avatar, asked: PermissionEvent) -> None:
        self._answered.add(asked.request_id)
        tool = asked.tool_name or asked.title or "a tool"
        self._warn(f"{tool} was denied, nobody can be asked here; {_ALLOW}")
        # The turn may have ended meanwhile.
        with suppress(UnknownRequest, AvatarDown):
            await avatar.answer(asked.request_id, Permit.REJECT_ONCE, message=TO_AGENT)

    async def _decline(self, avatar: Avatar, asked: QuestionEvent) -> None:
        texts = "; ".join(one_line(each.text, _QUESTION) for each in asked.questions)
        self._warn(f"the agent asked: {texts}; it was told that nobody can be asked here")
        with suppress(UnknownRequest, AvatarDown):
            await avatar.answer_question(asked.request_id, None, message=TO_MODEL)

    def _tell(self, closed: PermissionClosedEvent) -> None:
        if closed.request_id not in self._answered:
            advice = f"; {_ALLOW}" if closed.why == "safe mode" else ""
            self._warn(f"{self._tool or 'a tool'} was denied by {closed.why}{advice}")


async def edited(given: ToolInput, run: RunEditor) -> ToolInput:
    """The input as $VISUAL, $EDITOR or vi left it; Failure if that is not a JSON object."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="avatar-edit-") as folder:
        path = Path(folder) / "input.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(given), indent=2) + b"\n")
        try:
            code = await run([*shlex.split(editor), str(path)])
        except (OSError, ValueError) as error:
            raise Failure(f"cannot run the editor {editor!r} ({error}); set $EDITOR") from error
        if code != 0:
            raise Failure(f"the editor {editor!r} ended with {code}")
        try:
            return msgspec.json.decode(path.read_bytes(), type=ToolInput)
        except (OSError, msgspec.DecodeError) as error:
            raise Failure(f"the edited input is not a JSON object: {error}") from error
