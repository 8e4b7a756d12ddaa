"""A store that is not as it should be is told of, and the rest of it is listed."""

import json
import os
from pathlib import Path

import pytest

from avatar_actors.providers.stores.store import MOST_FILES, MOST_REMARKS, SessionListing
from tests.providers.stores.stores import Kind

DEEP = b"[" * 100_000
DAMAGED = {
    "empty": b"",
    "binary": bytes(range(256)) * 5000,
    "zeros": bytes(3_000_000),
    "one endless line": b"{" + b'"a":' * 1_000_000,
    "no JSON": b"hello\nworld\n",
    "other JSON": b'[1]\n"x"\n3\nnull\n',
    "deep": b'{"type":' + DEEP + b"\n{" + b'"role":{' * 100_000,
    "wrong types": b'{"type":1,"role":2,"sessionId":[],"payload":"x","$set":[],"message":7}\n' * 3,
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_a_remark_and_the_others_are_listed(
    kind: Kind, home: Path, work: Path, damage: str
) -> None:
    kind.keep(home, work, "whole", "hello")
    path = kind.put(home, work, "damaged", DAMAGED[damage])
    listing = kind.read(home, work)
    assert [each.session_id for each in listing.sessions] == ["whole"]
    if damage != "wrong types":  # a line of Claude's without anything said
        [remark] = listing.diagnostics
        assert str(path) in remark


def test_a_file_that_was_cut_in_its_last_line_is_whole_enough(
    kind: Kind, home: Path, work: Path
) -> None:
    path = kind.keep(home, work, "one", "hello")
    path.write_bytes(path.read_bytes() + b'{"type":"assist')
    listing = kind.read(home, work)
    assert ([each.title for each in listing.sessions], listing.diagnostics) == (["hello"], ())


def test_garbage_between_the_lines_hides_nothing(kind: Kind, home: Path, work: Path) -> None:
    lines = [json.dumps(each).encode() for each in kind.lines(work, "one", "hello")]
    kind.put(home, work, "one", b"\n\xff\xfe{]\n\n".join([b"junk", *lines]))
    [session] = kind.read(home, work).sessions
    assert session.title == "hello"


def test_what_is_no_file_is_not_opened(kind: Kind, home: Path, work: Path) -> None:
    folder = kind.keep(home, work, "one", "hello").parent
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    listing = kind.read(home, work)
    assert ([each.session_id for each in listing.sessions], listing.diagnostics) == (["one"], ())


def test_loops_and_dead_links_are_remarks(kind: Kind, home: Path, work: Path) -> None:
    folder = kind.keep(home, work, "one", "hello").parent
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    (folder / "dead.jsonl").symlink_to(folder / "nowhere")
    listing = kind.read(home, work)
    assert [each.session_id for each in listing.sessions] == ["one"]
    assert sorted(remark.partition(".jsonl: ")[0][-4:] for remark in listing.diagnostics) == [
        "dead",
        "loop",
    ]


def test_a_folder_that_leads_back_to_itself_ends(kind: Kind, home: Path, work: Path) -> None:
    folder = kind.keep(home, work, "one", "hello").parent
    (folder / "again").symlink_to(folder)
    (folder.parent / "up").symlink_to(folder.parent.parent)
    assert [each.session_id for each in kind.read(home, work).sessions] == ["one"]


def test_a_file_in_the_place_of_the_store_is_a_remark(kind: Kind, home: Path, work: Path) -> None:
    folder = kind.keep(home, work, "one", "hello").parent
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink()
    folder.rmdir()
    folder.write_text("not a folder")
    listing = kind.read(home, work)
    assert listing.sessions == ()
    if kind.name in {"gemini", "embedded"}:
        [remark] = listing.diagnostics
        assert "Not a directory" in remark


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_remark(kind: Kind, home: Path, work: Path) -> None:
    path = kind.keep(home, work, "one", "hello")
    path.chmod(0)
    [remark] = kind.read(home, work).diagnostics
    assert "Permission denied" in remark


def test_a_flood_of_damaged_files_is_a_few_remarks(kind: Kind, home: Path, work: Path) -> None:
    for number in range(MOST_REMARKS + 5):
        kind.put(home, work, f"s{number}", b"junk")
    remarks = kind.read(home, work).diagnostics
    assert len(remarks) == MOST_REMARKS + 1
    assert remarks[-1] == "… and 5 more of this store"


def test_of_a_flood_of_files_the_newest_are_read(kind: Kind, home: Path, work: Path) -> None:
    for number in range(MOST_FILES + 1):
        kind.put(home, work, f"s{number}", json.dumps(kind.lines(work, "s", "x")[0]).encode())
    kind.keep(home, work, "old", "hello", age=1000)
    listing = kind.read(home, work)
    assert listing == SessionListing((), (f"only the newest {MOST_FILES} of 1002 files were read",))
