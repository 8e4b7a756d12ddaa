"""A prompt on its way to the agent: its options, its text, and when it is tried again."""

from __future__ import annotations

import msgspec

from avatar_actors.avatar.messages import Submission
from avatar_actors.avatar.structured_output import check_schema, instruction
from avatar_actors.model.checks import checked
from avatar_actors.model.events import RetryEvent
from avatar_actors.model.fields import PromptText
from avatar_actors.model.settings import AvatarSettings, PromptOptions, Retry, WhileBusy
from avatar_actors.model.values import JsonObject
from avatar_actors.session.messages import TurnEnding

# Doubled so often, any pause is over the longest.
_DOUBLINGS = 40


@checked
def submission_of(
    turn_id: int,
    prompt: PromptText,
    options: PromptOptions,
    settings: AvatarSettings,
    trace_parent: str = "",
) -> Submission:
    """The prompt with its options, checked; where it has none, the avatar's settings hold."""
    limit = options.get("timeout")
    limit = settings.timeouts.turn if limit is None else limit
    schema, context = options.get("schema"), options.get("context", {})
    if schema is not None:
        check_schema(schema)
    busy = options.get("while_busy")
    return Submission(
        turn_id=turn_id,
        text=prompt,
        attachments=tuple(options.get("attachments", ())),
        context=context,
        schema=schema,
        while_busy=settings.while_busy if busy is None else WhileBusy(busy),
        timeout=limit,
        trace_parent=trace_parent,
        raw_events=options.get("raw_events", False),
    )


def prompt_text(submission: Submission, schema: JsonObject | None = None) -> str:
    """What is sent: the context in a marked block, the prompt, and how the answer shall look."""
    parts = [submission.text]
    if submission.context:
        parts.insert(0, f"<context>\n{_as_json(submission.context)}\n</context>")
    if schema is not None:
        parts.append(instruction(schema))
    return "\n\n".join(parts)


def _as_json(context: JsonObject) -> str:
    # "</" as JSON may also write it: nothing in the context can end its block.
    return msgspec.json.encode(context).decode().replace("</", "<\\/")


def next_attempt(
    retry: Retry, attempt: int, reason: str, asked_for: float = 0.0
) -> RetryEvent | None:
    """The next attempt after this one, or None: it was the last, or the pause would be too long."""
    if attempt >= retry.max_attempts or asked_for > retry.max_delay:
        return None
    grown = retry.backoff_base * 2 ** min(attempt - 1, _DOUBLINGS)
    delay = max(min(grown, retry.max_delay), asked_for)
    return RetryEvent(attempt=attempt + 1, of=retry.max_attempts, delay=delay, reason=reason)


def retry_of(retry: Retry, attempt: int, ending: TurnEnding) -> RetryEvent | None:
    """The next attempt at a prompt that was refused for now; None for any other ending."""
    if not ending.is_recoverable:
        return None
    return next_attempt(retry, attempt, ending.reason, ending.retry_after)


def time_for_attempts(retry: Retry, each: float) -> float:
    """How long all attempts may take together, pauses included."""
    return retry.max_attempts * each + (retry.max_attempts - 1) * retry.max_delay
