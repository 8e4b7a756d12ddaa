"""The rules of the layout: folders, lines of code, class names, and the package's door.

As in tests/test_architecture.py, each check is a pure function from sources to violations, and
tests/test_planted_violations.py sees that it finds something.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

import avatar_actors
from tests.test_architecture import (
    IMPORT_MAP,
    PACKAGES,
    ROOT,
    SOURCES,
    Source,
    assigned_names,
    dropped_trees,
    exports,
    is_declarations,
    is_for_types,
    line_count,
    pytestmark,
    report,
)

__all__ = ["dropped_trees", "pytestmark"]  # for pytest

CODE_LINES_LIMITS = {"supervisors": 1665}
DOOR = "avatar_actors/__init__.py"
MOST_MODULES = 16
ONE_PREFIX = 4
SMALL = 40
MOST_PUBLIC_NAMES = 110

# What still breaks a rule, with the reason. An entry goes when it is mended; none may come.
KNOWN_FOLDERS = {"supervisors": "a library of its own, flat as trio is: the file list is its model"}
KNOWN_CLASS_NAMES: dict[str, str] = {}
# Public names above the limit: take one out before another comes.
PUBLIC_NAMES_NOW = 139

# Modules under 40 lines of code that a machine cannot tell to be one of those that may be small.
SMALL_MODULES = {
    "avatar_actors/avatar/trace_parent.py": "the avatars' one door to OpenTelemetry",
    "avatar_actors/cli/main.py": "entry point: the command `avatar`",
    "avatar_actors/cli/repl/command.py": "declares what a command of the terminal is",
    "avatar_actors/model/errors.py": "declares the tree of errors",
    "avatar_actors/session/remote/asyncio_loop.py": "the one door to trio_asyncio",
    "supervisors/errors.py": "declares the tree of errors",
    "supervisors/logs.py": "the one door to logging",
    "supervisors/policy.py": "a pure decision, tested by itself",
}


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


def folder_of(source: Source) -> str:
    return source.path.rpartition("/")[0]


def modules_by_folder(sources: Iterable[Source]) -> dict[str, list[str]]:
    """The modules of the packages, without `__init__`."""
    folders: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        if source.top in PACKAGES and not source.is_package:
            folders[folder_of(source)].append(source.path.rpartition("/")[2].removesuffix(".py"))
    return folders


def folder_violations(sources: Iterable[Source], known: Mapping[str, str]) -> Iterator[str]:
    for folder, modules in modules_by_folder(sources).items():
        if len(modules) > MOST_MODULES and folder not in known:
            yield f"{folder}:1 has {len(modules)} modules, at most {MOST_MODULES}"
        prefixes: dict[str, list[str]] = defaultdict(list)
        for module in modules:
            prefixes[module.lstrip("_").partition("_")[0]].append(module)
        for prefix, alike in prefixes.items():
            if prefix and len(alike) >= ONE_PREFIX:
                yield f"{folder}:1 {', '.join(sorted(alike))} should be a folder {prefix!r}"


def small_module_violations(source: Source, known: Mapping[str, str]) -> Iterator[str]:
    if source.top not in PACKAGES or source.path in known or may_be_small(source):
        return
    if (size := code_lines(source)) < SMALL:
        yield f"{source.path}:1 has {size} lines of code: merge it with what uses it"


def may_be_small(source: Source) -> bool:
    """An actor, a provider, an entry point, declarations, or a package's table of contents."""
    return (
        source.is_package
        or source.path.endswith("/__main__.py")
        or source.path.startswith("avatar_actors/providers/")
        or is_declarations(source)
        or any(is_actor(node) or is_command(node) for node in source.tree.body)
    )


def is_actor(node: ast.stmt) -> bool:
    if not isinstance(node, ast.AsyncFunctionDef):
        return False
    return [each.arg for each in node.args.args][:1] == ["inbox"]


def is_command(node: ast.stmt) -> bool:
    """A command of click: an entry point."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(each).startswith(("click.command", "click.group"))
        for each in node.decorator_list
    )


def class_name_violations(sources: Iterable[Source], known: Mapping[str, str]) -> Iterator[str]:
    first: dict[tuple[str, str], str] = {}
    for source in sources:
        if source.top not in PACKAGES:
            continue
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.ClassDef) or node.name in known:
                continue
            other = first.setdefault((source.top, node.name), source.path)
            if other != source.path:
                yield f"{source.path}:{node.lineno} {node.name} is also a class of {other}"


def door_modules(door: Source) -> dict[str, str]:
    """The one dict of the door, from name to module; empty where it is no plain literal."""
    for node in door.tree.body:
        if "_MODULES" in assigned_names(node) and isinstance(node, ast.Assign | ast.AnnAssign):
            try:
                return dict(ast.literal_eval(node.value or ast.Dict([], [])))
            except ValueError:
                return {}
    return {}


def door_for_types(door: Source) -> dict[str, str]:
    """Where type checkers are told that each name comes from."""
    blocks = [node.body for node in door.tree.body if is_for_types(node)]
    return {
        alias.asname or alias.name: (node.module or "").removeprefix("avatar_actors.")
        for node in (each for block in blocks for each in block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def door_violations(door: Source) -> Iterator[str]:
    """`__all__`, the dict and what type checkers see are one list."""
    modules, for_types = door_modules(door), door_for_types(door)
    if not modules:
        yield f"{door.path}:1 has no dict _MODULES that is written out"
    line, names = exports(door) or (1, [])
    for name in sorted(set(names) - {"__version__"} ^ modules.keys()):
        yield f"{door.path}:{line} {name} is in one of __all__ and _MODULES only"
    for name in sorted(modules.keys() | for_types.keys()):
        if modules.get(name) != for_types.get(name):
            yield f"{door.path}:{line} {name} is of {modules.get(name)} and {for_types.get(name)}"


def declared_names(source: Source) -> set[str]:
    """What the module itself defines at its top, not what it imports."""
    names: set[str] = set()
    for node in source.tree.body:
        names.update(assigned_names(node))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def declaration_violations(door: Source, sources: Iterable[Source]) -> Iterator[str]:
    declared = {source.module: declared_names(source) for source in sources}
    for name, module in door_modules(door).items():
        if name not in declared.get(f"avatar_actors.{module}", ()):
            yield f"{door.path}:1 {name} is not declared in {module}"


def wildcard_violations(law: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for layer, allowed in law.items():
        if "avatar_actors.*" in allowed:
            yield f"{layer} may import all of avatar_actors: name the rooms"


THE_DOOR = next(source for source in SOURCES if source.path == DOOR)


def test_folders_hold_few_modules_and_none_that_belong_together() -> None:
    assert not report(folder_violations(SOURCES, KNOWN_FOLDERS))


def test_small_modules_are_small_for_a_reason() -> None:
    assert not report(v for each in SOURCES for v in small_module_violations(each, SMALL_MODULES))


def test_packages_stay_within_their_lines_of_code() -> None:
    assert not report(code_lines_violations(SOURCES))


def test_every_exception_has_a_reason() -> None:
    for known in (KNOWN_FOLDERS, KNOWN_CLASS_NAMES, SMALL_MODULES):
        assert all(reason.strip() for reason in known.values())


def test_no_class_name_occurs_twice_in_a_package() -> None:
    assert not report(class_name_violations(SOURCES, KNOWN_CLASS_NAMES))


def test_the_door_is_one_dict() -> None:
    assert not report(door_violations(THE_DOOR))


def test_each_public_name_is_declared_where_the_door_says() -> None:
    assert not report(declaration_violations(THE_DOOR, SOURCES))


def test_each_public_name_is_its_declared_object() -> None:
    for name, module in door_modules(THE_DOOR).items():
        declared: object = getattr(import_module(f"avatar_actors.{module}"), name)
        assert getattr(avatar_actors, name) is declared, name


def test_public_names_do_not_become_more() -> None:
    assert len(door_modules(THE_DOOR)) <= max(MOST_PUBLIC_NAMES, PUBLIC_NAMES_NOW)


def test_the_law_of_imports_names_rooms() -> None:
    assert not report(wildcard_violations(IMPORT_MAP))


def test_the_doors_docstring_lists_every_room_in_twenty_lines() -> None:
    lines = (ast.get_docstring(THE_DOOR.tree) or "").splitlines()
    rooms = {each.path.split("/")[1] for each in SOURCES if each.path.startswith("avatar_actors/")}
    folders = {room for room in rooms if not room.endswith(".py")}
    listed = {line.split()[0] for line in lines if line.startswith("    ")}
    assert (len(lines) <= 20, listed) == (True, folders)


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    [declared] = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert sorted(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)) == sorted(
        declared.split()
    )
