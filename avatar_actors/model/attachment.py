"""What goes along with a prompt besides its text."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Final

from msgspec import Struct

from avatar_actors.model.errors import SettingsError

_TEXTS: Final = {f"application/{name}" for name in ("json", "xml", "yaml", "toml", "javascript")}


class Attachment(Struct, frozen=True):
    """What goes along with a prompt: bytes of an image, a PDF, a sound, or a text file."""

    mime_type: str
    data: bytes
    name: str = ""

    @classmethod
    def from_file(cls, path: str | Path) -> Attachment:
        """The file, its type told by its name; where the name tells none, text if it is text."""
        file = Path(path)
        try:
            data = file.read_bytes()
        except OSError as error:
            raise SettingsError(f"cannot attach {str(file)!r}: {error.strerror}") from error
        # Python's own table: that of the system differs from one to the next.
        mime_type, _ = mimetypes.MimeTypes().guess_type(file.name)
        given = cls(mime_type or "", data, file.name)
        # Names lie about source code: `.ts` is the type of a video.
        if given.kind == "other" and _is_text(data):
            return cls("text/plain", data, file.name)
        return cls(given.mime_type or "application/octet-stream", data, file.name)

    @property
    def kind(self) -> str:
        """As `capabilities().attachments` has it: image, pdf, audio, text, or other."""
        group = self.mime_type.partition("/")[0]
        if self.mime_type == "application/pdf":
            return "pdf"
        if group == "text" or self.mime_type in _TEXTS:
            return "text"
        return group if group in {"image", "audio"} else "other"


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False
