"""A check that finds nothing proves nothing: here each finds a violation that was planted."""

import pytest

from tests.test_architecture import (
    Source,
    docstring_violations,
    export_violations,
    file_name_violations,
    import_map_violations,
    private_file_violations,
    report,
    size_violations,
    text_violations,
)
from tests.test_layout import (
    CODE_LINES_LIMITS,
    class_name_violations,
    code_lines,
    code_lines_violations,
    declaration_violations,
    door_violations,
    folder_violations,
    small_module_violations,
    wildcard_violations,
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
        ("x = 1\n" * 501, "supervisors.x has 501 lines of module"),
        ("print()\ndef f(): ...\n" + "x = 1\n" * 399, "supervisors.x has 401 lines of module"),
        ("class C:\n" + "    x = 1\n" * 250, "C has 251 lines of class"),
        ("async def f():\n" + "    x = 1\n" * 40, "f has 41 lines of function"),
        ("def f(a, b, /, c, d, e, *g, h): ...", "f has 6 positional parameters"),
        ("def f(*, a, b, c, d, e, g, h, i, **j): ...", "f has 9 keyword-only parameters"),
    ],
)
def test_outgrown_limit_is_found(text: str, finding: str) -> None:
    [violation] = size_violations(Source("supervisors/x.py", text))
    assert finding in violation


def test_limit_itself_is_allowed() -> None:
    text = "class C:\n    def f(self, a, b, c, d, e, *, g, h, i, j, k, l, m, n):\n"
    text += "        x = 1\n" * 39
    assert not report(size_violations(Source("supervisors/x.py", text)))


def test_only_lines_that_hold_code_are_counted() -> None:
    text = '"""Doc\n\nstring."""\n\n# why\nx = """a\nb"""  # two\n\n\ndef f():\n    """Doc."""\n'
    assert code_lines(Source("supervisors/x.py", text)) == 3


def test_too_many_lines_of_code_are_found() -> None:
    half = CODE_LINES_LIMITS["supervisors"] // 2 + 1
    halves = [Source(f"supervisors/{name}.py", "x = 1\n" * half) for name in "ab"]
    assert f"{2 * half} lines of code" in report(code_lines_violations(halves))


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


def many(folder: str, names: list[str]) -> list[Source]:
    return [Source(f"{folder}/{name}.py", "") for name in names]


@pytest.mark.parametrize(
    ("names", "finding"),
    [
        ([f"a{number}" for number in range(17)], "has 17 modules"),
        (["log_file", "log_lines", "log_output", "log"], "should be a folder 'log'"),
    ],
)
def test_folder_that_is_too_full_is_found(names: list[str], finding: str) -> None:
    [violation] = folder_violations(many("avatar_actors/x", names), {})
    assert finding in violation


def test_full_folder_is_allowed() -> None:
    names = ["__init__", *(f"a{number}" for number in range(16)), "b_x", "b_y", "b_z"][:17]
    assert not report(folder_violations(many("avatar_actors/x", names), {}))


def test_small_module_is_found_unless_it_may_be_small() -> None:
    small = Source("avatar_actors/session/x.py", "def f():\n    return 1\n")
    assert report(small_module_violations(small, {}))
    assert not report(small_module_violations(small, {small.path: "why"}))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("avatar_actors/session/x.py", "async def x(inbox):\n    print()\n"),
        ("avatar_actors/session/x.py", "class X(Struct):\n    y: int = 0\n"),
        ("avatar_actors/session/x.py", "class X(Protocol):\n    def f(self) -> None: ...\n"),
        ("avatar_actors/cli/x.py", "@click.command()\ndef x():\n    print()\n"),
        ("avatar_actors/providers/x.py", "def plan():\n    return 1\n"),
        ("avatar_actors/x/__main__.py", "print()\n"),
        ("avatar_actors/session/x.py", "def f():\n" + "    x = 1\n" * 39),
    ],
)
def test_module_that_may_be_small_is_accepted(path: str, text: str) -> None:
    assert not report(small_module_violations(Source(path, text), {}))


def test_class_name_that_occurs_twice_is_found() -> None:
    twice = [Source(f"avatar_actors/{name}.py", "class Place: ...") for name in "ab"]
    assert "Place is also a class of avatar_actors/a.py" in report(class_name_violations(twice, {}))
    assert not report(class_name_violations(twice, {"Place": "why"}))


@pytest.mark.parametrize(
    ("modules", "imported", "finding"),
    [
        ("{'A': 'model.a'}", "avatar_actors.model.b", "A is of model.a and model.b"),
        ("{'B': 'model.a'}", "avatar_actors.model.a", "is in one of __all__ and _MODULES only"),
        ("found()", "avatar_actors.model.a", "no dict _MODULES that is written out"),
    ],
)
def test_door_that_is_not_one_list_is_found(modules: str, imported: str, finding: str) -> None:
    types = f"if TYPE_CHECKING:\n    from {imported} import A\n"
    door = Source("avatar_actors/__init__.py", f"{types}_MODULES = {modules}\n__all__ = ['A']\n")
    assert finding in report(door_violations(door))


def test_public_name_that_its_module_only_imports_is_found() -> None:
    door = Source("avatar_actors/__init__.py", "_MODULES = {'Place': 'model.a'}")
    importing = Source("avatar_actors/model/a.py", "from avatar_actors.model.b import Place")
    declaring = Source("avatar_actors/model/a.py", "class Place: ...")
    assert "Place is not declared in model.a" in report(declaration_violations(door, [importing]))
    assert not report(declaration_violations(door, [declaring]))


def test_law_with_a_wildcard_is_found() -> None:
    assert report(wildcard_violations({"avatar_actors.chaos": ("trio", "avatar_actors.*")}))
