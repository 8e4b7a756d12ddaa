"""A check that finds nothing proves nothing: here each finds a violation that was planted."""

import pytest

from tests.test_architecture import (
    Source,
    code_lines,
    code_lines_violations,
    docstring_violations,
    export_violations,
    file_name_violations,
    import_map_violations,
    private_file_violations,
    report,
    size_violations,
    text_violations,
)

PLANTED_MODULES = frozenset({"supervisors", "supervisors._mailbox", "supervisors.specs"})


@pytest.mark.parametrize(
    ("path", "text", "forbidden"),
    [
        ("supervisors/x.py", "import avatar_actors", "avatar_actors"),
        ("supervisors/x.py", "def f():\n    import msgspec.json", "msgspec.json"),
        ("supervisors/deep/x.py", "from ...avatar_actors import y", "avatar_actors"),
        ("examples/x.py", "from supervisors.specs import ChildSpec", "supervisors.specs"),
        ("bench/x.py", "from supervisors import specs", "supervisors.specs"),
    ],
)
def test_import_against_the_map_is_found(path: str, text: str, forbidden: str) -> None:
    [violation] = import_map_violations(Source(path, text), PLANTED_MODULES)
    assert violation.endswith(f"may not import {forbidden}")


@pytest.mark.parametrize("text", ["import trio.testing", "from . import specs", "import json"])
def test_import_within_the_map_is_accepted(text: str) -> None:
    assert not report(import_map_violations(Source("supervisors/x.py", text), PLANTED_MODULES))


@pytest.mark.parametrize(
    "text", ["import supervisors._mailbox", "from supervisors import _mailbox"]
)
def test_private_file_is_closed_to_outsiders_and_open_to_its_tests(text: str) -> None:
    outsider = Source("tests/test_x.py", text)
    insiders = [Source("supervisors/x.py", text), Source("tests/supervisors/test_x.py", text)]
    assert report(private_file_violations(outsider, PLANTED_MODULES))
    assert not report(
        v for each in insiders for v in private_file_violations(each, PLANTED_MODULES)
    )


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("x = 1\n" * 401, "supervisors.x has 401 lines of module"),
        ("class C:\n" + "    x = 1\n" * 250, "C has 251 lines of class"),
        ("async def f():\n" + "    x = 1\n" * 40, "f has 41 lines of function"),
        ("class C:\n    def f(self, a, b, /, c, d, *e, f, **g): ...", "f has 6 parameters"),
    ],
)
def test_outgrown_limit_is_found(text: str, finding: str) -> None:
    [violation] = size_violations(Source("supervisors/x.py", text))
    assert finding in violation


def test_limit_itself_is_allowed() -> None:
    text = "class C:\n    def f(self, a, b, c, d, e):\n" + "        x = 1\n" * 39
    assert not report(size_violations(Source("supervisors/x.py", text)))


def test_only_lines_that_hold_code_are_counted() -> None:
    text = '"""Doc\n\nstring."""\n\n# why\nx = """a\nb"""  # two\n\n\ndef f():\n    """Doc."""\n'
    assert code_lines(Source("supervisors/x.py", text)) == 3


def test_too_many_lines_of_code_are_found() -> None:
    halves = [Source(f"supervisors/{name}.py", "x = 1\n" * 801) for name in "ab"]
    assert "1602 lines of code" in report(code_lines_violations(halves))


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("", "has no __all__"),
        ("from x import a, b\n__all__ = ['b', 'a']", "not sorted"),
        ("from x import a\n__all__ = ['a', 'b']", "b is not bound here"),
        ("from x import a, b as c\n__all__ = ['a']", "c is not in __all__"),
    ],
)
def test_wrong_exports_are_found(text: str, finding: str) -> None:
    [violation] = export_violations(Source("supervisors/__init__.py", text))
    assert violation.endswith(finding)


@pytest.mark.parametrize("name", ["_utils", "child_manager", "core/x", "part2", "test_helpers"])
def test_name_that_says_nothing_is_found(name: str) -> None:
    assert report(file_name_violations(Source(f"supervisors/{name}.py", "")))


def test_missing_docstring_is_found() -> None:
    assert report(docstring_violations(Source("supervisors/x.py", "# no docstring\nx = 1")))


# Written in halves, since this file is searched as well.
@pytest.mark.parametrize(
    "halves", ["https://py pi.org", "/ro ot/x", "'/ho me/ada'", "--index- url x"]
)
def test_registry_or_machine_in_text_is_found(halves: str) -> None:
    assert report(text_violations("x.md", halves.replace(" ", "", 1)))


@pytest.mark.parametrize(
    "text", ["#!/usr/bin/env bash", "docs/work/x", "~/root", "--no-emit-index-url"]
)
def test_harmless_text_is_accepted(text: str) -> None:
    assert not report(text_violations("x.md", text))
