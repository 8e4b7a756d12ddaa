"""Small faults for a source: each one edit of its text, found by its syntax tree."""

import ast
import random
from typing import Final

from msgspec import Struct

TURNED: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}
# Their loss is seen by readers of a log, not by a program.
LOGGING: Final = ("log", "logger", "logging")


class Fault(Struct, frozen=True):
    """The text from `start` to `end` becomes `text`. Its statement begins in line `first`."""

    file: str
    line: int
    first: int
    start: int
    end: int
    text: str
    before: str
    after: str

    def planted_in(self, source: str) -> str:
        """The source with the fault in it."""
        return source[: self.start] + self.text + source[self.end :]

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}:{self.line}  {before}  →  {after}"


def faults_of(file: str, source: str) -> list[Fault]:
    """All that we know to plant there; each leaves a source that compiles."""
    faults = Planter(file, source).faults()
    return [fault for fault in faults if _compiles(fault.planted_in(source))]


def _compiles(source: str) -> bool:
    try:
        compile(source, "planted", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


class Planter(ast.NodeVisitor):
    """Walks through the statements that run in functions; declarations have tests of their own."""

    def __init__(self, file: str, source: str) -> None:
        self._file, self._source = file, source
        # Positions in the tree are in bytes of a line.
        self._lines = source.encode().splitlines(keepends=True)
        self._found: list[Fault] = []
        self._statement: ast.stmt | None = None
        self._depth = 0

    def faults(self) -> list[Fault]:
        """In the order of the source."""
        self.visit(ast.parse(self._source))
        return sorted(self._found, key=lambda fault: fault.start)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Its body only: defaults, annotations and decorators are declarations."""
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._statement = node
            if self._depth:
                self._plant_in_statement(node)
        elif isinstance(node, ast.expr) and self._depth:
            self._plant_in_expression(node)
        if not isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
            super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def _plant_in_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value) if not _is_logging(value):
                self._replace(node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign():
                self._replace(node, "pass")
            case ast.Return(value=ast.expr() as value) if not _is_falsy(value):
                self._replace(node, "return None")
            case ast.Break():
                self._replace(node, "continue")
            case ast.Continue():
                self._replace(node, "break")
            case ast.Raise(exc=None):
                self._replace(node, "pass")
            case ast.If() | ast.While():
                self._turn(node.test)
            case _:
                pass
        if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(node.op)]
            self._between(node.target, node.value, f"{old}=", f"{new}=")

    def _plant_in_expression(self, node: ast.expr) -> None:
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self._between(left, right, *TURNED[type(operator)])
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                words = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                self._between(left, right, *words)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
                self._between(left, right, *ARITHMETIC[type(operator)])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._replace(node, self._text(operand))
            case ast.IfExp(test=test):
                self._turn(test)
            case ast.Constant(value=bool() as value):
                self._replace(node, str(not value))
            case ast.Constant(value=int() as value):
                self._replace(node, str(value + 1))
            case ast.Constant(value=float() as value):
                self._replace(node, str(value * 2 + 1))
            case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress")):
                self._replace(node, f"{self._text(node.func)}()")
            case ast.Await(value=value) if not isinstance(self._statement, ast.Expr):
                self._replace(node, self._text(value))
            case _:
                pass

    def _turn(self, test: ast.expr) -> None:
        """A condition that is no comparison: the opposite."""
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.NamedExpr):
            self._replace(test, f"not {self._text(test)}")

    def _replace(self, node: ast.stmt | ast.expr, after: str) -> None:
        start, end = self._span(node)
        self._add(start, end, after)

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """The operator stands alone between the two, but for brackets and blanks."""
        begin, end = self._span(left)[1], self._span(right)[0]
        at = self._source.find(old, begin, end)
        if at >= 0:
            self._add(at, at + len(old), new)

    def _add(self, start: int, end: int, after: str) -> None:
        statement = self._statement
        assert statement is not None
        line = self._source.count("\n", 0, start) + 1
        begin = self._source.rfind("\n", 0, start) + 1
        stop = self._source.find("\n", end)
        head, tail = self._source[begin:start], self._source[end:stop]
        fault = Fault(
            file=self._file,
            line=line,
            first=statement.lineno,
            start=start,
            end=end,
            text=after,
            before=head + self._source[start:end] + tail,
            after=head + after + tail,
        )
        self._found.append(fault)

    def _span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )

    def _offset(self, line: int, column: int) -> int:
        before = b"".join(self._lines[: line - 1]) + self._lines[line - 1][:column]
        return len(before.decode())

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._source[start:end]


def sample(faults: list[Fault], seed: int, count: int) -> list[Fault]:
    """So many of them by chance, at most one per line; the same for the same seed."""
    shuffled = random.Random(seed).sample(faults, len(faults))
    of_lines: dict[tuple[str, int], Fault] = {}
    for fault in shuffled:
        of_lines.setdefault((fault.file, fault.line), fault)
    return list(of_lines.values())[:count]


def _is_logging(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name in LOGGING
        case _:
            return False


def _is_falsy(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value
