"""Handles what an ACP agent sends besides updates: replies, requests, notifications, garbage."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET, Raw, Struct

from avatar_actors.model.values import Permit
from avatar_actors.wire.acp import elicitation
from avatar_actors.wire.acp.elicitation import ElicitationParams, Form, form_of
from avatar_actors.wire.acp.opening import AcpOpening
from avatar_actors.wire.acp.permissions import (
    CANCELLED,
    MOST_PENDING,
    AcpQuestion,
    chosen,
    options_of,
    selected,
)
from avatar_actors.wire.acp.profile import AcpProfile, FilesOffered
from avatar_actors.wire.acp.schema import ReadFileParams, WriteFileParams
from avatar_actors.wire.acp.turn import AcpTurnAccount
from avatar_actors.wire.acp.update_types import PermissionParams
from avatar_actors.wire.commands import AnswerFile, AnswerPermission, AnswerUser
from avatar_actors.wire.envelope import fields_of
from avatar_actors.wire.facts import (
    Fact,
    FileWanted,
    PermissionAsked,
    RequestWithdrawn,
    UserAsked,
)
from avatar_actors.wire.json_values import at, decoded, decoded_as, is_object, shown
from avatar_actors.wire.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NO_RESULT,
    Peer,
    Reply,
    RpcError,
    RpcId,
    RpcMessage,
)
from avatar_actors.wire.phases import Phase, PhaseTracker
from avatar_actors.wire.shared_events import remark, unrecognised

RESOURCE_NOT_FOUND: Final = -32002
MOST_FILES: Final = 64

PERMISSION: Final = "session/request_permission"
ELICITATION: Final = "elicitation/create"
READ_FILE: Final = "fs/read_text_file"
WRITE_FILE: Final = "fs/write_text_file"

OFFERED: Final = {
    FilesOffered.NONE: frozenset[str](),
    FilesOffered.WRITE: frozenset({WRITE_FILE}),
    FilesOffered.READ_AND_WRITE: frozenset({READ_FILE, WRITE_FILE}),
}


class PendingFile(Struct, frozen=True):
    """A file request that awaits the host's answer."""

    rpc_id: RpcId
    is_read: bool


class PendingForm(Struct, frozen=True):
    """A form that awaits the user's answers."""

    rpc_id: RpcId
    form: Form


class AgentRequests:
    """The agent's requests that await the host's answer; others are answered at once."""

    def __init__(
        self, peer: Peer, profile: AcpProfile, opening: AcpOpening, turn: AcpTurnAccount
    ) -> None:
        self._peer = peer
        self._opening = opening
        self._turn = turn
        self._offered = OFFERED[profile.files]
        self._narrow_options = profile.narrow_options
        # The ids are ours: an agent may use both 1 and "1".
        self._questions: dict[str, AcpQuestion] = {}
        self._questions_asked = 0
        self._forms: dict[str, PendingForm] = {}
        self._files: dict[str, PendingFile] = {}
        self._files_asked = 0

    def asked(self, rpc_id: RpcId, method: str, params: Raw) -> list[Fact]:
        """Handle a request other than one for permission or to the user."""
        if method not in self._offered:
            # terminal/*, mcp/*: not offered, so unknown. opencode 1.18.33 asks to
            # write files though nobody offered it.
            self._peer.refuse(rpc_id, METHOD_NOT_FOUND, f"Method not found: {method}")
            return [remark(f"the agent asked for {method}, which is not offered")]
        if len(self._files) >= MOST_FILES:
            self._peer.refuse(rpc_id, INTERNAL_ERROR, "too many files at a time")
            return [remark(f"the agent asks for more than {MOST_FILES} files at a time")]
        wanted = self._file_wanted(method, params)
        if wanted is None:
            self._peer.refuse(rpc_id, INVALID_PARAMS, "Invalid params")
            return [remark(f"the agent's {method} is malformed")]
        self._files[wanted.request_id] = PendingFile(rpc_id, method == READ_FILE)
        return [wanted]

    def asked_permission(self, rpc_id: RpcId, params: Raw, *, is_wanted: bool) -> list[Fact]:
        """Handle a permission request; outside a turn it is answered "cancelled"."""
        asked = decoded_as(PermissionParams, params)
        if asked is None:
            self._peer.refuse(rpc_id, INVALID_PARAMS, "Invalid params")
            return [remark("the agent's request for permission is malformed")]
        if self._opening.session_id and asked.session_id != self._opening.session_id:
            self._peer.refuse(rpc_id, INVALID_PARAMS, "Invalid params: no such session")
            return self._turn.late(f"a request of another session, {asked.session_id[:80]!r}")
        if not is_wanted or self._turn.tools.is_fenced(asked.tool_call):
            self._peer.answer(rpc_id, CANCELLED)
            return self._turn.late("a request for permission outside of its turn")
        question = AcpQuestion(rpc_id, asked.tool_call.tool_call_id, options_of(asked.options))
        tool, facts = self._turn.asked(asked.tool_call)
        if len(self._questions) >= MOST_PENDING:
            refusal = AnswerPermission(request_id="", permit=Permit.REJECT_ONCE)
            too_many = remark(f"more than {MOST_PENDING} requests for permission at a time")
            return [*facts, too_many, *self._answer(question, refusal)]
        self._questions_asked += 1
        request_id = f"permission-{self._questions_asked}"
        self._questions[request_id] = question
        asks = PermissionAsked(request_id=request_id, tool=tool, options=question.options)
        return [*facts, asks]

    def asked_user(self, rpc_id: RpcId, params: Raw, *, is_wanted: bool) -> list[Fact]:
        """Handle a form for the user; outside a turn it is answered "cancel"."""
        asked = decoded_as(ElicitationParams, params)
        if asked is None or asked.mode != "form":
            self._peer.refuse(rpc_id, INVALID_PARAMS, "Invalid params: a form is expected")
            return [remark("the agent's elicitation is malformed, or has a mode not offered")]
        if not is_wanted or asked.session_id != self._opening.session_id:
            self._peer.answer(rpc_id, elicitation.CANCELLED)
            return self._turn.late("a question to the user outside of its turn")
        form = form_of(asked)
        if form is None or len(self._forms) >= MOST_PENDING:
            self._peer.answer(rpc_id, elicitation.DECLINED)
            return [remark("the agent's form cannot be shown, or too many wait; it was declined")]
        self._questions_asked += 1
        request_id = f"question-{self._questions_asked}"
        self._forms[request_id] = PendingForm(rpc_id, form)
        return [
            UserAsked(
                request_id=request_id,
                questions=form.questions,
                message=asked.message,
                tool_id=asked.tool_call_id or "",
            )
        ]

    def answer_user(self, answer: AnswerUser) -> list[Fact]:
        """Send the user's answers; ignored if the form is no longer open."""
        pending = self._forms.pop(answer.request_id, None)
        if pending is not None:
            self._peer.answer(pending.rpc_id, pending.form.response(answer.answers))
        return []

    def answer_permission(self, answer: AnswerPermission) -> list[Fact]:
        """Send the host's decision; ignored if the request is no longer open."""
        question = self._questions.pop(answer.request_id, None)
        return [] if question is None else self._answer(question, answer)

    def answer_file(self, answer: AnswerFile) -> list[Fact]:
        """Send the result of a file request."""
        pending = self._files.pop(answer.request_id, None)
        if pending is None:
            return []
        if answer.error:
            # For a missing file the schema has -32002, and all agents but gemini 0.61.0 understand
            # it: that one cannot make a new file then, so it is not offered to read through us.
            code = RESOURCE_NOT_FOUND if pending.is_read else INTERNAL_ERROR
            self._peer.refuse(pending.rpc_id, code, answer.error)
        else:
            text = answer.text.encode("utf-8", "replace").decode()
            self._peer.answer(pending.rpc_id, {"content": text} if pending.is_read else {})
        return []

    def taken_back(self, rpc_id: object) -> list[Fact]:
        """The agent has withdrawn its request."""
        open_requests: dict[str, AcpQuestion | PendingForm] = {**self._questions, **self._forms}
        for request_id, question in open_requests.items():
            if question.rpc_id == rpc_id and type(question.rpc_id) is type(rpc_id):
                self._questions.pop(request_id, None)
                self._forms.pop(request_id, None)
                return [RequestWithdrawn(request_id)]
        return []

    def cancel_questions(self) -> list[Fact]:
        """Answer "cancelled" to all, as ACP demands; else gemini 0.61.0 hangs for ever."""
        for question in self._questions.values():
            self._peer.answer(question.rpc_id, CANCELLED)
        for pending in self._forms.values():
            self._peer.answer(pending.rpc_id, elicitation.CANCELLED)
        return self.forget_questions()

    def forget_questions(self) -> list[Fact]:
        """Drop the open requests: the turn has ended."""
        request_ids = [*self._questions, *self._forms]
        self._questions, self._forms = {}, {}
        return [RequestWithdrawn(request_id) for request_id in request_ids]

    def _answer(self, question: AcpQuestion, answer: AnswerPermission) -> list[Fact]:
        option = chosen(question, answer, self._narrow_options)
        self._peer.answer(question.rpc_id, selected(option))
        if option is not None and option.kind.allows:
            return [*self._turn.tools.allowed(question.tool_id)]
        facts: list[Fact] = []
        if answer.permit.allows:
            facts.append(remark(f"the agent offers no option for {answer.permit.value}"))
        return [*facts, *self._turn.tools.denied(question.tool_id, answer.message or "denied")]

    def _file_wanted(self, method: str, params: Raw) -> FileWanted | None:
        self._files_asked += 1
        request_id = f"file-{self._files_asked}"
        if method == WRITE_FILE:
            write = decoded_as(WriteFileParams, params)
            if write is None:
                return None
            return FileWanted(request_id=request_id, path=write.path, text=write.content)
        read = decoded_as(ReadFileParams, params)
        if read is None:
            return None
        first_line = max(read.line or 1, 1)
        return FileWanted(
            request_id=request_id, path=read.path, first_line=first_line, max_lines=read.limit
        )


CANCEL_REQUEST: Final = "$/cancel_request"
# For elicitations by URL, not offered: nothing to complete. How the agent is signed in: sent at
# every start by codex-acp 2.6.0 and claude-agent-acp 0.99.1.
QUIET: Final = frozenset({"elicitation/complete", "_auth/status_update", "auth/status_update"})


class Incoming:
    """Handles one message at a time; each results in facts, an answer, or both."""

    def __init__(
        self, peer: Peer, profile: AcpProfile, progress: PhaseTracker, requests: AgentRequests
    ) -> None:
        self._peer = peer
        self._quiet = profile.quiet_notifications | QUIET
        self._progress = progress
        self._requests = requests

    def heard(self, message: RpcMessage | None, line: bytes) -> list[Fact]:
        """Handle a line, and the message in it if it is one."""
        if self._progress.phase is Phase.CLOSED:
            return []
        if message is None:
            return [*_garbage(line), *self.unread(line, "it cannot be read")]
        if message.method is UNSET:
            return self._replied(message, line)
        if message.id is UNSET or message.id is None:
            return self._notified(message.method, message, line)
        requests = self._requests
        questions = {PERMISSION: requests.asked_permission, ELICITATION: requests.asked_user}
        if (ask := questions.get(message.method)) is not None:
            is_wanted = self._progress.phase is Phase.TURN
            return ask(message.id, message.params, is_wanted=is_wanted)
        return requests.asked(message.id, message.method, message.params)

    def unread(self, line: bytes, why: str) -> list[Fact]:
        """Handle an unreadable line: a request is answered with an error, a reply counts as one.

        So that nobody waits for ever, if the id is known. `line` may be only its beginning.
        """
        fields = fields_of(line)
        rpc_id = fields.get("id")
        if self._progress.phase is Phase.CLOSED or not isinstance(rpc_id, int | str | float):
            return []
        if "method" in fields:
            self._peer.refuse(rpc_id, INVALID_REQUEST, f"Invalid request: {why}")
            return []
        is_reply = "result" in fields or "error" in fields
        on_reply = self._peer.waiter(rpc_id) if is_reply and isinstance(rpc_id, int) else None
        lost = RpcError(INVALID_REQUEST, f"the agent's answer is lost: {why}")
        return [] if on_reply is None else on_reply(Reply(error=lost))

    def _replied(self, message: RpcMessage, line: bytes) -> list[Fact]:
        if message.result is UNSET and message.error is UNSET:
            return [unrecognised(line, "acp")]
        on_reply = self._peer.waiter(message.id)
        if on_reply is None:
            return [remark(f"the agent answered what nobody asked: {shown(line)}")]
        if message.error is not UNSET:
            return on_reply(Reply(error=RpcError.read(message.error)))
        return on_reply(Reply(NO_RESULT if message.result is UNSET else message.result))

    def _notified(self, method: str, message: RpcMessage, line: bytes) -> list[Fact]:
        if method == CANCEL_REQUEST:
            return self._requests.taken_back(at(decoded(message.params), "requestId"))
        return [] if method in self._quiet else [unrecognised(line, "acp")]


def _garbage(line: bytes) -> list[Fact]:
    if not line.strip():
        return []
    if is_object(decoded(line)):
        return [unrecognised(line, "acp")]
    return [remark(f"the agent wrote what is not a message: {shown(line)}")]
