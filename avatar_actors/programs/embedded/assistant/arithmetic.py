"""Evaluates arithmetic that a person types: numbers and operators only, with bounded size."""

from __future__ import annotations

import ast
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Number = int | float

LONGEST = 200
LARGEST = 10**100
LARGEST_EXPONENT = 300

BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: operator.mod,
}


class NoArithmetic(Exception):
    """The text is not an expression that can be calculated; the message says why."""


def calculate(text: str) -> Number:
    """The value of an expression; raises NoArithmetic."""
    if len(text) > LONGEST:
        raise NoArithmetic("that is too long")
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
        return _value(tree.body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NoArithmetic("that is no expression") from None
    except ZeroDivisionError:
        raise NoArithmetic("that divides by zero") from None
    except OverflowError:
        raise NoArithmetic("that is too large") from None


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _small(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return _small(BINARY[type(op)](_value(left), _value(right)))
        case _:
            raise NoArithmetic("only numbers and + - * / // % ** are calculated")


def _power(number: Number, exponent: Number) -> Number:
    # Bounded before it is calculated: 9**9**9 would take hours.
    if abs(exponent) > LARGEST_EXPONENT or abs(number) > LARGEST:
        raise NoArithmetic("that is too large")
    if number < 0 and not float(exponent).is_integer():
        raise NoArithmetic("that is no real number")
    power: object = number**exponent
    if not isinstance(power, int | float):
        raise NoArithmetic("that is no real number")
    return _small(power)


def _small(number: Number) -> Number:
    if abs(number) > LARGEST:
        raise NoArithmetic("that is too large")
    return number
