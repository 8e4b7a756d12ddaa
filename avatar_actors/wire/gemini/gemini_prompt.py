"""A prompt for Gemini's headless mode: plain text, with text files inside it."""

from __future__ import annotations

from typing import Final

from avatar_actors.model.attachment import Attachment
from avatar_actors.wire.commands import Prompt

# Gemini reads no more than this of its stdin, by which a long prompt goes.
LONGEST: Final = 8 * 1024 * 1024


def unacceptable(prompt: Prompt) -> str:
    """Why the prompt cannot be sent, or nothing."""
    for attachment in prompt.attachments:
        if attachment.kind != "text":
            kind = attachment.mime_type
            return f"gemini takes only text in this mode, no attachment of type {kind!r}"
    if len(prompt_text(prompt).encode("utf-8", "replace")) > LONGEST:
        return f"gemini takes no prompt of more than {LONGEST} bytes in this mode"
    return ""


def prompt_text(prompt: Prompt) -> str:
    """All that is said."""
    return "\n\n".join([*map(_file, prompt.attachments), prompt.text])


def _file(attachment: Attachment) -> str:
    text = attachment.data.decode("utf-8", "replace")
    return f'<file name="{attachment.name or "attachment"}">\n{text}\n</file>'
