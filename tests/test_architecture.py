"""The law of STYLE.md that a machine can hold: who imports whom, sizes, private files, names.

Each check is a pure function from sources to violations, "path:line what"; the first half of the
tests runs them on this project, the second half plants a violation and sees that it is found.
"""

import ast
import io
import itertools
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeGuard

import pytest

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ("supervisors", "avatar_actors")
TREES = (*PACKAGES, "tests", "bench", "examples")

# What a layer may import besides the standard library: "x" is that module alone, "x.*" also all
# below it. The longest layer that holds a module is the one that counts. A folder whose modules
# must not know each other does not list itself. Tests may import everything.
PUBLIC = ("supervisors", "supervisors.testing", "avatar_actors")
VALUES = ("avatar_actors.events", "avatar_actors.types", "avatar_actors.errors", "msgspec.*")
WIRE = ("avatar_actors", *VALUES, "avatar_actors.wire.*")
SETTINGS = ("avatar_actors.settings", "avatar_actors.tool_policy")
# Pure parts that actors are made of, and what they say to each other.
PARTS = (
    "activity", "connection", "conversation", "history", "messages", "redaction",
    "session_messages", "session_record",
    "stall", "subscription", "tool_policy", "turn_runner",
)  # fmt: skip
IMPORT_MAP: dict[str, tuple[str, ...]] = {
    "supervisors": ("supervisors.*", "trio.*", "outcome.*"),
    "avatar_actors": ("avatar_actors.*", "supervisors", "trio.*", "msgspec.*"),
    "avatar_actors.events": VALUES,
    "avatar_actors.types": VALUES,
    "avatar_actors.errors": (),
    "avatar_actors.settings": (*VALUES, "avatar_actors.tool_policy"),
    "avatar_actors.tool_policy": VALUES,
    "avatar_actors.wire": WIRE,
    "avatar_actors.providers": (*WIRE, *SETTINGS, "avatar_actors.providers.*"),
    "avatar_actors.actors": (
        *VALUES,
        *SETTINGS,
        *(f"avatar_actors.{part}" for part in PARTS),
        "avatar_actors.processes",
        "avatar_actors.wire.commands",
        "avatar_actors.wire.facts",
        "avatar_actors.wire.wire",
        "supervisors",
        "trio.*",
    ),
    "avatar_actors.processes": (
        "avatar_actors",
        "avatar_actors.processes.*",
        "avatar_actors.warden.*",
        "msgspec.*",
        "trio.*",
    ),
    # Programs of their own, on the standard library alone.
    "avatar_actors.warden": ("avatar_actors.warden.*",),
    "avatar_actors.embedded": ("avatar_actors", "avatar_actors.embedded.*"),
    "avatar_actors.shims": ("avatar_actors.shims.*",),
    "examples": ("examples.*", *PUBLIC, "trio.*"),
    "bench": (
        "bench.*",
        *PUBLIC,
        "avatar_actors.processes",
        "avatar_actors.warden.process_tree",
        "trio.*",
        "pykka.*",
        "msgspec.*",
        "acp.*",
    ),
}

STRICT = {"lines of module": 300, "lines of class": 200, "lines of function": 40, "parameters": 5}
LOOSE = {"lines of module": 500, "lines of function": 60}
PROVIDER_LINES = 120
SIZE_LIMITS = {tree: STRICT if tree in PACKAGES else LOOSE for tree in TREES}
CODE_LINES_LIMITS = {"supervisors": 1500}

FORBIDDEN_WORD = re.compile(r"base|mixins?|utils?|helpers?|managers?|common|core|part\d+")

REGISTRY = re.compile(
    r"pypi\.(?:org|python\.org)|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com"
    r"|^\s*--(?:index-url|extra-index-url|find-links|trusted-host)\b"
)
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|root|(?:home|Users)/\w+)(?![\w-])")


@dataclass(frozen=True)
class Source:
    """One file of Python, named by its path in the repository."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")

    @property
    def module(self) -> str:
        dotted = self.path.removesuffix(".py").replace("/", ".")
        return dotted.removesuffix(".__init__")

    @property
    def top(self) -> str:
        return self.path.partition("/")[0]


class Import(NamedTuple):
    line: int
    target: str


def is_within(module: str, folder: str) -> bool:
    return module == folder or module.startswith(f"{folder}.")


def imports(source: Source, modules: frozenset[str]) -> Iterator[Import]:
    """Every module that the source imports, wherever in it; `modules` are those of this project."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = absolute_origin(source, node)
            for alias in node.names:
                submodule = f"{origin}.{alias.name}"
                yield Import(node.lineno, submodule if submodule in modules else origin)


def absolute_origin(source: Source, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    parts = source.module.split(".")
    climbs = node.level - 1 if source.is_package else node.level
    return ".".join([*parts[: len(parts) - climbs], *filter(None, [node.module])])


def import_map_violations(source: Source, modules: frozenset[str]) -> Iterator[str]:
    layers = [layer for layer in IMPORT_MAP if is_within(source.module, layer)]
    if not layers:
        return
    layer = max(layers, key=len)
    for line, target in imports(source, modules):
        if not may_import(IMPORT_MAP[layer], target):
            yield f"{source.path}:{line} {layer} may not import {target}"


def may_import(allowed: Iterable[str], target: str) -> bool:
    return target.partition(".")[0] in sys.stdlib_module_names or any(
        is_within(target, entry.removesuffix(".*")) if entry.endswith(".*") else target == entry
        for entry in allowed
    )


def private_file_violations(source: Source, modules: frozenset[str]) -> Iterator[str]:
    # tests/ mirrors the packages, so a test counts as standing in the folder it tests.
    importer = source.module.removeprefix("tests.")
    for line, target in imports(source, modules):
        parts = target.split(".")
        private = next((i for i, part in enumerate(parts) if is_private(part)), None)
        if private is None or parts[0] not in TREES:
            continue
        folder = ".".join(parts[:private])
        if not is_within(importer, folder):
            yield f"{source.path}:{line} imports {target}, which is private to {folder}"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


class Measure(NamedTuple):
    line: int
    name: str
    kind: str
    size: int


def measures(source: Source) -> Iterator[Measure]:
    yield Measure(1, source.module, "lines of module", len(source.text.splitlines()))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            yield Measure(node.lineno, node.name, "lines of class", line_count(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Measure(node.lineno, node.name, "lines of function", line_count(node))
            yield Measure(node.lineno, node.name, "parameters", parameter_count(node.args))


def line_count(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameter_count(arguments: ast.arguments) -> int:
    positional = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    if positional[:1] in (["self"], ["cls"]):
        del positional[0]
    variadic = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return len(positional) + len(arguments.kwonlyargs) + len(variadic)


def size_violations(source: Source) -> Iterator[str]:
    limits = SIZE_LIMITS[source.top]
    if source.path.startswith("avatar_actors/providers/"):
        limits = {**limits, "lines of module": PROVIDER_LINES}
    for line, name, kind, size in measures(source):
        if size > limits.get(kind, size):
            yield f"{source.path}:{line} {name} has {size} {kind}, at most {limits[kind]}"


LAYOUT_TOKENS = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(source: Source) -> int:
    """How many lines hold code: not blank, not only a comment, not in a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type not in LAYOUT_TOKENS:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines.difference(*map(docstring_lines, ast.walk(source.tree))))


def docstring_lines(node: ast.AST) -> range:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return range(0)
    if ast.get_docstring(node) is None:
        return range(0)
    docstring = node.body[0]
    return range(docstring.lineno, docstring.lineno + line_count(docstring))


def code_lines_violations(sources: Iterable[Source]) -> Iterator[str]:
    totals = dict.fromkeys(CODE_LINES_LIMITS, 0)
    for source in sources:
        if source.top in totals:
            totals[source.top] += code_lines(source)
    for package, limit in CODE_LINES_LIMITS.items():
        if totals[package] > limit:
            yield f"{package}:1 has {totals[package]} lines of code, at most {limit}"


def exports(source: Source) -> tuple[int, list[str]] | None:
    """The line and the names of the module's `__all__`, if it has one."""
    for node in source.tree.body:
        if "__all__" in assigned_names(node) and isinstance(node, ast.Assign | ast.AnnAssign):
            return node.lineno, list(ast.literal_eval(node.value or ast.List([])))
    return None


def assigned_names(node: ast.stmt) -> list[str]:
    targets = [*node.targets] if isinstance(node, ast.Assign) else []
    targets += [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def is_for_types(node: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def is_from_stdlib(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "") in sys.stdlib_module_names


def bound_names(source: Source) -> set[str]:
    """The public names that a package's `__init__` binds: what it imports, sets or defines."""
    names: set[str] = set()
    blocks = [node.body for node in source.tree.body if is_for_types(node)]
    for node in [*source.tree.body, *itertools.chain(*blocks)]:
        if is_from_stdlib(node):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names.update(assigned_names(node))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    hidden = {"__all__", "__getattr__", "__dir__", "TYPE_CHECKING"}
    return {name for name in names if not is_private(name)} - hidden


def export_violations(source: Source) -> Iterator[str]:
    found = exports(source)
    if found is None:
        if source.is_package:
            yield f"{source.path}:1 has no __all__"
        return
    line, names = found
    if names != sorted(names):
        yield f"{source.path}:{line} __all__ is not sorted"
    if source.is_package:
        for name in sorted(set(names) ^ bound_names(source)):
            problem = "not bound here" if name in names else "not in __all__"
            yield f"{source.path}:{line} {name} is {problem}"


def file_name_violations(source: Source) -> Iterator[str]:
    for part in PurePosixPath(source.path).with_suffix("").parts:
        for word in part.split("_"):
            if FORBIDDEN_WORD.fullmatch(word):
                yield f"{source.path}:1 is named {word!r}: split by responsibility instead"


def docstring_violations(source: Source) -> Iterator[str]:
    if source.top in PACKAGES and ast.get_docstring(source.tree) is None:
        yield f"{source.path}:1 opens without a docstring"


def text_violations(path: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if REGISTRY.search(line):
            yield f"{path}:{number} names a package registry"
        if MACHINE_PATH.search(line):
            yield f"{path}:{number} names a path of one machine"


def project_sources() -> list[Source]:
    paths = sorted(path for tree in TREES for path in (ROOT / tree).rglob("*.py"))
    return [Source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths]


def project_files() -> list[str]:
    """The files git keeps, or would keep once added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    names = listed.stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def report(violations: Iterable[str]) -> str:
    return "\n".join(violations)


SOURCES = project_sources()
MODULES = frozenset(source.module for source in SOURCES)


def test_imports_follow_the_map() -> None:
    assert not report(v for source in SOURCES for v in import_map_violations(source, MODULES))


def test_private_files_are_imported_only_within_their_folder() -> None:
    assert not report(v for source in SOURCES for v in private_file_violations(source, MODULES))


def test_nothing_outgrows_its_limit() -> None:
    assert not report(v for source in SOURCES for v in size_violations(source))


def test_packages_stay_within_their_lines_of_code() -> None:
    assert not report(code_lines_violations(SOURCES))


def test_exports_are_sorted_and_complete() -> None:
    in_packages = (source for source in SOURCES if source.top in PACKAGES)
    assert not report(v for source in in_packages for v in export_violations(source))


def test_files_are_named_for_what_they_are() -> None:
    assert not report(v for source in SOURCES for v in file_name_violations(source))


def test_modules_open_with_a_docstring() -> None:
    assert not report(v for source in SOURCES for v in docstring_violations(source))


def test_no_file_names_a_registry_or_a_machine() -> None:
    texts = ((name, (ROOT / name).read_text("utf-8", "replace")) for name in project_files())
    assert not report(v for name, text in texts for v in text_violations(name, text))


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
        ("x = 1\n" * 301, "supervisors.x has 301 lines of module"),
        ("class C:\n" + "    x = 1\n" * 200, "C has 201 lines of class"),
        ("async def f():\n" + "    x = 1\n" * 40, "f has 41 lines of function"),
        ("class C:\n    def f(self, a, b, /, c, *d, e, **g): ...", "f has 6 parameters"),
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
    halves = [Source(f"supervisors/{name}.py", "x = 1\n" * 751) for name in "ab"]
    assert "1502 lines of code" in report(code_lines_violations(halves))


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
