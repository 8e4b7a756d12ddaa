"""From what a host says with a prompt to what waits for its turn, and to what is sent."""

from __future__ import annotations

import msgspec

from avatar_actors.avatar.messages import Submission
from avatar_actors.avatar.structured_output import check_schema, instruction
from avatar_actors.model.errors import SettingsError
from avatar_actors.model.settings import AvatarSettings, PromptOptions
from avatar_actors.model.values import JsonObject


def submission_of(
    turn_id: int, prompt: str, options: PromptOptions, settings: AvatarSettings
) -> Submission:
    """The prompt with its options, checked; where it has none, the avatar's settings hold."""
    unknown = set(options) - set(PromptOptions.__annotations__)
    if unknown:
        known = ", ".join(sorted(PromptOptions.__annotations__))
        raise SettingsError(f"a prompt has no option {min(unknown)!r}; there are: {known}")
    limit = options.get("timeout")
    limit = settings.timeouts.turn if limit is None else limit
    if not limit > 0:
        raise SettingsError(f"timeout must be a number of seconds above 0; got {limit!r}")
    schema, context = options.get("schema"), options.get("context", {})
    if schema is not None:
        check_schema(schema)
    _as_json(context)
    return Submission(
        turn_id=turn_id,
        text=prompt,
        attachments=tuple(options.get("attachments", ())),
        context=context,
        schema=schema,
        while_busy=options.get("while_busy") or settings.while_busy,
        timeout=limit,
    )


def worded(submission: Submission, schema: JsonObject | None = None) -> str:
    """What is sent: the context in a marked block, the prompt, and how the answer shall look."""
    parts = [submission.text]
    if submission.context:
        parts.insert(0, f"<context>\n{_as_json(submission.context)}\n</context>")
    if schema is not None:
        parts.append(instruction(schema))
    return "\n\n".join(parts)


def _as_json(context: JsonObject) -> str:
    try:
        # "</" as JSON may also write it: nothing in the context can end its block.
        return msgspec.json.encode(context).decode().replace("</", "<\\/")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        # ValueError: half a surrogate pair, which UTF-8 cannot carry, or an endless number.
        raise SettingsError(f"the context of a prompt must be JSON: {error}") from error
