"""Attachments from files: the type by the name, and text wherever it is text."""

from pathlib import Path

import pytest

from avatar_actors import Attachment, SettingsError

PNG = b"\x89PNG\r\n\x1a\n\0\0"


@pytest.mark.parametrize(
    ("name", "data", "mime_type", "kind"),
    [
        ("face.png", PNG, "image/png", "image"),
        ("photo.JPG", b"\xff\xd8\xff", "image/jpeg", "image"),
        ("paper.pdf", b"%PDF-1.7", "application/pdf", "pdf"),
        ("voice.wav", b"RIFF", "audio/x-wav", "audio"),
        ("voice.mp3", b"ID3", "audio/mpeg", "audio"),
        ("notes.txt", b"hi", "text/plain", "text"),
        ("page.html", b"<p>", "text/html", "text"),
        ("data.json", b"{}", "application/json", "text"),
        ("main.ts", b"let x: number", "text/plain", "text"),
        ("Makefile", b"all:\n", "text/plain", "text"),
        ("core", b"\x7fELF\0\xff", "application/octet-stream", "other"),
    ],
)
def test_the_name_tells_the_type(
    tmp_path: Path, name: str, data: bytes, mime_type: str, kind: str
) -> None:
    (tmp_path / name).write_bytes(data)
    attachment = Attachment.from_file(tmp_path / name)
    assert (attachment.name, attachment.data) == (name, data)
    assert (attachment.mime_type.replace("x-wav", "wav"), attachment.kind) == (
        mime_type.replace("x-wav", "wav"),
        kind,
    )


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot attach '.*gone.png': No such file"):
        Attachment.from_file(tmp_path / "gone.png")
