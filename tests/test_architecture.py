"""The law of STYLE.md that a machine can hold: who imports whom, sizes, private files, names.

Each check is a pure function from sources to violations, "path:line what". The tests here run them
on this project; tests/test_planted_violations.py sees that they find something.
"""

import ast
import itertools
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeGuard

import pytest

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ("supervisors", "avatar_actors")
TREES = (*PACKAGES, "tests", "bench", "examples")

# What a layer may import besides the standard library: "x" is that module alone, "x.*" also all
# below it. The longest layer that holds a module is the one that counts. Tests may import
# everything. The rooms stand in a line, each may import those before it: model, wire, providers,
# processes, session, avatar, observe, runtime, config, hosting. Three stand beside it: processes
# knows only the warden's program; observe does not know runtime; config knows only model, wire and
# providers. Programs know nothing. Chaos and the command are hosts: they use the door.
PUBLIC = ("supervisors", "supervisors.testing", "avatar_actors")
MODEL = ("avatar_actors.model.*", "msgspec.*")
WIRE = (*MODEL, "avatar_actors", "avatar_actors.wire.*")  # "avatar_actors": its version
PROVIDERS = (*WIRE, "avatar_actors.providers.*")
BELOW_ACTORS = (*PROVIDERS, "avatar_actors.processes", "supervisors", "trio.*")
SESSION = (*BELOW_ACTORS, "avatar_actors.session.*")
AVATAR = (*SESSION, "avatar_actors.avatar.*")
OBSERVE = (*AVATAR, "avatar_actors.observe.*")
RUNTIME = (*OBSERVE, "avatar_actors.runtime.*")
HOSTING = (*RUNTIME, "avatar_actors.config.*", "avatar_actors.hosting.*")
# Actors know each other by address and message only: these are the pure parts they are made of.
SESSION_NAMES = "decoding", "messages", "opening", "running_turns", "turn_outcome", "unasked_tools"
SESSION_PARTS = (*BELOW_ACTORS, *(f"avatar_actors.session.{part}" for part in SESSION_NAMES))
AVATAR_PARTS = (
    *BELOW_ACTORS,
    "avatar_actors.session.messages",
    *(
        f"avatar_actors.avatar.{part}"
        for part in ("actor_client", "event_stream", "messages", "state.*", "structured_output")
    ),
)
ACTOR_PARTS = tuple(  # no actors of their own
    f"avatar_actors.avatar.actors.{part}"
    for part in ("host_functions", "turn_limits", "turn_runner", "unasked_turn")
)
IMPORT_MAP: dict[str, tuple[str, ...]] = {
    "supervisors": ("supervisors.*", "trio.*", "outcome.*"),
    "avatar_actors": (*HOSTING, "avatar_actors.cli.main"),
    "avatar_actors.model": MODEL,
    "avatar_actors.wire": WIRE,
    "avatar_actors.providers": PROVIDERS,
    "avatar_actors.processes": (
        "avatar_actors",
        "avatar_actors.processes.*",
        "avatar_actors.programs.warden.*",
        "msgspec.*",
        "trio.*",
    ),
    "avatar_actors.session": SESSION,
    "avatar_actors.session.agent_process": SESSION_PARTS,
    "avatar_actors.session.bridge": SESSION_PARTS,
    "avatar_actors.session.file_server": SESSION_PARTS,
    "avatar_actors.session.stdio": SESSION_PARTS,
    # What is asyncio's stays behind this door.
    "avatar_actors.session.remote": (*SESSION, "acp.*", "httpx.*", "websockets.*"),
    "avatar_actors.session.remote.asyncio_loop": ("trio_asyncio.*",),
    "avatar_actors.avatar": AVATAR,
    "avatar_actors.avatar.actors": AVATAR_PARTS,
    "avatar_actors.avatar.actors.gatekeeper": (*AVATAR_PARTS, *ACTOR_PARTS),
    "avatar_actors.avatar.actors.turn_queue": (*AVATAR_PARTS, *ACTOR_PARTS),
    "avatar_actors.avatar.actors.turn_runner": (*AVATAR_PARTS, *ACTOR_PARTS),
    "avatar_actors.avatar.actors.unasked_turn": (*AVATAR_PARTS, *ACTOR_PARTS),
    # Decisions without I/O: no trio, and of the actors only their messages.
    "avatar_actors.avatar.state": (
        *PROVIDERS,
        "avatar_actors.avatar.event_stream",
        "avatar_actors.avatar.messages",
        "avatar_actors.avatar.state.*",
        "avatar_actors.avatar.structured_output",
        "avatar_actors.processes",
        "avatar_actors.session.messages",
        "supervisors",
    ),
    # The two places that know JSON Schema. The second is also a program, so it knows nothing else.
    "avatar_actors.avatar.structured_output": (
        *WIRE,
        "avatar_actors.programs.schema_check",
        "jsonschema.*",
        "trio.*",
    ),
    "avatar_actors.avatar.trace_parent": ("opentelemetry.*",),
    "avatar_actors.programs.schema_check": ("jsonschema.*", "referencing.*"),
    "avatar_actors.observe": OBSERVE,
    "avatar_actors.observe.metrics": (*OBSERVE, "prometheus_client.*", "opentelemetry.*"),
    "avatar_actors.runtime": RUNTIME,
    "avatar_actors.runtime.event_router": AVATAR_PARTS,
    "avatar_actors.runtime.runtime_budget": AVATAR_PARTS,
    "avatar_actors.runtime.warden": AVATAR_PARTS,
    "avatar_actors.config": (*PROVIDERS, "avatar_actors.config.*", "yaml.*"),
    "avatar_actors.hosting": (*HOSTING, "sniffio.*"),
    # A host that is hard on its avatars: it wraps a provider and its wire, as any host may, and
    # looks at processes.
    "avatar_actors.chaos": (
        "avatar_actors.chaos.*",
        *PUBLIC,
        "avatar_actors.providers.registry",
        "avatar_actors.programs.warden.process_tree",
        "avatar_actors.wire.commands",
        "avatar_actors.wire.facts",
        "avatar_actors.wire.wire",
        "trio.*",
        "msgspec.*",
    ),
    "avatar_actors.picture": (  # what any screen shows: it knows no library that draws
        *("avatar_actors", "avatar_actors.picture.*", "msgspec.*"),
        *("avatar_actors.cli.terminal.formatting", "avatar_actors.cli.terminal.text"),
    ),
    # A program for people, made like any host's: of public names, and the one "did you mean".
    "avatar_actors.cli": (
        "avatar_actors.cli.*",
        "avatar_actors.chaos",
        "avatar_actors.picture.*",
        "avatar_actors.model.words",
        "avatar_actors.programs.embedded.program",  # `avatar embedded` is that program
        *PUBLIC,
        "trio.*",
        "msgspec.*",
        "click.*",
        "rich.*",
        "markdown_it.*",  # rich's own parser
        "prompt_toolkit.*",
    ),
    # Another one, alone with Textual. Nobody imports it: the table of commands names it.
    "avatar_actors.gui": (
        *("avatar_actors", "avatar_actors.gui.*", "avatar_actors.picture.*"),
        *(f"avatar_actors.cli.{part}" for part in ("agent_choice", "exit_codes", "options")),
        *("avatar_actors.cli.display.*", "avatar_actors.cli.terminal.*"),
        *("msgspec.*", "click.*", "rich.*", "textual.*"),
    ),
    # Programs of their own, on the standard library alone.
    "avatar_actors.programs.warden": ("avatar_actors.programs.warden.*",),
    "avatar_actors.programs.embedded": ("avatar_actors", "avatar_actors.programs.embedded.*"),
    "avatar_actors.programs.gemini_shim": ("avatar_actors.programs.gemini_shim.*",),
    "examples": ("examples.*", *PUBLIC, "trio.*"),
    "examples.asyncio_server": ("examples.*", *PUBLIC, "starlette.*"),
    "examples.loopback_server": (*PUBLIC, "hypercorn.*"),
    "examples.demo_gui": ("examples.demo_gui.*", *PUBLIC, "textual.*"),
    "examples.shouting_agent": (),
    # In a process of their own with another library's environment: that library is imported by
    # its name at run time, as it is not in this one.
    "bench.comparison.work": ("bench.comparison.work.*",),
    "bench.comparison.work.with_acp_sdk": ("bench.comparison.work.*", "acp.*"),
    "bench.comparison.work.with_avatar_actors": ("bench.comparison.work.*", *PUBLIC, "trio.*"),
    "bench.gui_markdown": ("avatar_actors", "textual.*"),  # the rival
    "bench.chaos": ("avatar_actors.cli.commands",),
    "bench": (
        "bench.*",
        "tests.fake_agents.launcher",  # a fake Claude is what some figures are measured with
        *PUBLIC,
        "avatar_actors.processes",
        "avatar_actors.programs.warden.process_tree",
        "trio.*",
        "pykka.*",
        "msgspec.*",
        "acp.*",
    ),
}

STRICT = {
    "lines of module": 400,
    "lines of class": 250,
    "lines of function": 40,
    "positional parameters": 5,
    "keyword-only parameters": 8,
}
LOOSE = {"lines of module": 500, "lines of function": 60}
DECLARATION_LINES = 500
PROVIDER_LINES = 250
SIZE_LIMITS = {tree: STRICT if tree in PACKAGES else LOOSE for tree in TREES}

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


@cache
def imports(source: Source, modules: frozenset[str]) -> tuple[Import, ...]:
    """Every module that the source imports, wherever in it; `modules` are those of this project."""
    return tuple(found_imports(source, modules))


def found_imports(source: Source, modules: frozenset[str]) -> Iterator[Import]:
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
            positional, keyword = parameter_counts(node.args)
            yield Measure(node.lineno, node.name, "positional parameters", positional)
            yield Measure(node.lineno, node.name, "keyword-only parameters", keyword)


def line_count(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameter_counts(arguments: ast.arguments) -> tuple[int, int]:
    """How many a caller can give by position, and how many only by name."""
    positional = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    if positional[:1] in (["self"], ["cls"]):
        del positional[0]
    count = len(positional) + (arguments.vararg is not None)
    return count, len(arguments.kwonlyargs) + (arguments.kwarg is not None)


def is_declarations(source: Source) -> bool:
    """Whether the module only declares: imports, constants, and classes without methods."""
    return all(is_declaration(node) for node in source.tree.body)


def is_declaration(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return all(is_declaration(each) or is_stub(each) for each in node.body)
    if is_for_types(node):
        return all(map(is_declaration, node.body))
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass)
    return isinstance(node, plain)


def is_stub(node: ast.stmt) -> bool:
    """A method that is only a signature, with or without a docstring."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and all(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in node.body
    )


def size_violations(source: Source) -> Iterator[str]:
    limits = SIZE_LIMITS[source.top]
    if source.top in PACKAGES and is_declarations(source):
        limits = {**limits, "lines of module": DECLARATION_LINES}
    if source.path.startswith("avatar_actors/providers/"):
        limits = {**limits, "lines of module": PROVIDER_LINES}
    for line, name, kind, size in measures(source):
        if size > limits.get(kind, size):
            yield f"{source.path}:{line} {name} has {size} {kind}, at most {limits[kind]}"


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
# One worker parses all sources, not each.
pytestmark = pytest.mark.xdist_group("sources")


@pytest.fixture(scope="module", autouse=True)
def dropped_trees() -> Iterator[None]:
    """A million nodes would make every later search for garbage slow."""
    yield
    for source in SOURCES:
        source.__dict__.pop("tree", None)


def test_imports_follow_the_map() -> None:
    assert not report(v for source in SOURCES for v in import_map_violations(source, MODULES))


def test_private_files_are_imported_only_within_their_folder() -> None:
    assert not report(v for source in SOURCES for v in private_file_violations(source, MODULES))


def test_nothing_outgrows_its_limit() -> None:
    assert not report(v for source in SOURCES for v in size_violations(source))


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
