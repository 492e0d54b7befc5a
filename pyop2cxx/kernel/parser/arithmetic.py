# SPDX-License-Identifier: BSD-3-Clause
"""Constant expressions by C's rules: operands have types, and results fit them.

Types are as on the machines of kernels: `int` has 32 bits, `long` has 64, `char` is signed, and
negative numbers are in two's complement.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.kernel.parser.scope import size_of, type_of
from pyop2cxx.kernel.parser.wire import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pyop2cxx.kernel.parser.scope import Scope
    from pyop2cxx.kernel.parser.wire import Expr, Type

_BITS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
_INTEGERS = {**_BITS, "bool": 1}
_FLOATS = ("float32", "float64")
_ARITHMETIC = {*_INTEGERS, *_FLOATS}
_SUFFIXES = {"int32": "", "uint32": "u", "int64": "L", "uint64": "UL"}
_SPELLED = {
    **{"int8": "signed char", "uint8": "unsigned char", "int16": "short"},
    **{"uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long"},
    **{"uint64": "unsigned long", "bool": "bool"},
}
_UNIT = re.compile(
    r"'(?:([^\\'\n])|\\(?:([abefnrtv'\"?\\])|([0-7]{1,3})|x([0-9a-fA-F]+)))'", re.DOTALL
)
_STRING = r'"(?:[^"\\\x80-\uffff]|\\(?:[^x0-7uU]|[0-7]{1,3}|x[0-9a-fA-F]{1,2}))*"'
"""Compiled on use, which takes two milliseconds."""
_OF_STRING = re.compile(r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]+|.)|[^\\]", re.DOTALL)
_ESCAPES = dict(zip("abefnrtv'\"?\\", map(ord, "\a\b\033\f\n\r\t\v'\"?\\"), strict=True))


class Number(NamedTuple):
    """The known facts of an arithmetic expression.

    Attributes:
        base: Type of the expression, as `wire` names scalars.
        value: None if unknown, or if the expression has no value in C.
        fault: Reason for having no value; empty otherwise.
    """

    base: str
    value: int | float | None
    fault: str = ""


def integer_in(expr: Expr, scope: Scope) -> Number | None:
    """Return a constant expression of an integer type, None for other expressions.

    Returns:
        Type and value; a fault for an expression without a value in C, as ``1 << -1``.
    """
    found = number_of(expr, scope)
    if found is None or found.base not in _INTEGERS or (found.value is None and not found.fault):
        return None
    return found


def evaluate(expr: Expr, scope: Scope) -> int | None:
    """Return the value of a constant integer expression, None if there is no value."""
    found = integer_in(expr, scope)
    return None if found is None or found.value is None else int(found.value)


def held(number: Number, base: str) -> bool:
    """Say whether an integer type holds a number."""
    return converted(number, base).value == number.value


def converted(number: Number, base: str) -> Number:
    """Return a number as a value of another arithmetic type."""
    value = number.value
    if value is None:
        return Number(base, None, number.fault)
    if base == "bool":
        return Number(base, int(value != 0))
    if base in _FLOATS:
        return Number(base, _rounded(float(value), base))
    if isinstance(value, float):
        whole = int(value) if math.isfinite(value) else None
        if whole is None or _wrapped(whole, base) != whole:
            return Number(base, None, f"{value!r} is out of the range of {_SPELLED[base]}")
        return Number(base, whole)
    return Number(base, _wrapped(value, base))


def spelled(number: Number, line: int) -> Expr:
    """Return an integer as an expression of the same type; C spells the least as -max - 1."""
    value, suffix = int(number.value or 0), _SUFFIXES[number.base]
    if value >= 0:
        return literal(f"{value}{suffix}", line)
    if _wrapped(-value, number.base) == -value:
        return ("unary", line, "-", None, (literal(f"{-value}{suffix}", line),))
    nearest = spelled(Number(number.base, value + 1), line)
    return ("binary", line, "-", None, (nearest, literal("1", line)))


def following(before: Number) -> Number | None:
    """Return the enumerator behind another, None if no type holds the value."""
    after = Number(before.base, int(before.value or 0) + 1)
    return after if held(after, before.base) else None


def common_base(numbers: Collection[Number]) -> str:
    """Return the type of an enum with the given constants."""
    bases = ("int32", "uint32", "uint64", "int64")
    return next((base for base in bases if all(held(n, base) for n in numbers)), bases[-1])


def number_of(expr: Expr, scope: Scope) -> Number | None:
    """Return the known facts of an expression, None if the type is unknown, or not arithmetic."""
    return scope.descend(_READERS.get(expr[0], _of_type), expr)


def _of_type(expr: Expr, scope: Scope) -> Number | None:
    return _scalar(type_of(expr, scope))


def _scalar(type_: Type | None) -> Number | None:
    if type_ is None or type_[2] or type_[0] not in _ARITHMETIC:
        return None
    return Number(type_[0], None)


def _wrapped(value: int, base: str) -> int:
    if base == "bool":
        return int(value != 0)
    value &= (1 << _BITS[base]) - 1
    return value - (1 << _BITS[base]) if base[0] == "i" and value >> (_BITS[base] - 1) else value


def _rounded(value: float, base: str) -> float:
    if base == "float64" or not math.isfinite(value):
        return value
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


# Operands


def _literal(expr: Expr, _: Scope) -> Number | None:
    text = expr[2]
    if text[0] == "'":
        return _character(text)
    if text[0] not in "0123456789.":
        return None
    text = text.lower()
    is_hex = text.startswith("0x")
    if re.search("[.p]" if is_hex else "[.e]", text) and not text.startswith("0b"):
        return _real(text, is_hex=is_hex)
    digits = text.rstrip("ul")
    is_octal = digits.startswith("0") and digits.isdigit()
    try:
        value = int(digits, 8 if is_octal else 0)
    except ValueError:
        return None
    suffix = text[len(digits) :]
    bases = [base for base in _SUFFIXES if "l" not in suffix or base.endswith("64")]
    if "u" in suffix:
        bases = [base for base in bases if base[0] == "u"]
    elif digits[0] != "0":
        bases = [base for base in bases if base[0] == "i"]
    fitting = (base for base in bases if _wrapped(value, base) == value)
    base = next(fitting, "")
    return Number(base, value) if base else Number(bases[-1], None, f"{text} is too large")


def _real(text: str, *, is_hex: bool) -> Number | None:
    base = "float32" if text[-1] == "f" else "float64"
    digits = text.rstrip("f")  # a hexadecimal float ends in the exponent, without f
    try:
        value = float.fromhex(digits) if is_hex else float(digits)
    except (ValueError, OverflowError):
        return None  # a long double, or no number of C's
    return Number(base, _rounded(value, base))


def _character(text: str) -> Number | None:
    found = _UNIT.fullmatch(text)
    if found is None:
        return None
    plain, escape, octal, hexadecimal = found.groups()
    if plain is not None:
        code = ord(plain)
    elif escape is not None:
        code = _ESCAPES[escape]
    else:
        code = int(octal, 8) if octal is not None else int(hexadecimal, 16)
    if code > (127 if plain is not None else 255):
        return None  # several units, or none
    return Number("int32", _wrapped(code, "int8"))


def _name(expr: Expr, scope: Scope) -> Number | None:
    binding = scope.find(expr[2])
    known = None if binding is None or binding.is_type else _scalar(binding.type)
    return None if known is None or binding is None else known._replace(value=binding.value)


def _size(expr: Expr, scope: Scope) -> Number | None:
    _, _, _, target, operands = expr
    if target is None and re.fullmatch(_STRING, operands[0][2]):
        return Number("uint64", len(_OF_STRING.findall(operands[0][2][1:-1])) + 1)
    type_ = type_of(operands[0], scope) if target is None else target
    if type_ is None and target is None:
        known = number_of(operands[0], scope)  # a computed value
        type_ = None if known is None else (known.base, False, ())
    size = None if type_ is None else size_of(type_)
    return Number("uint64", size)


# Operators


def _cast(expr: Expr, scope: Scope) -> Number | None:
    target = _scalar(expr[3])
    if target is None:
        return None
    number = number_of(expr[4][0], scope)
    return target if number is None else converted(number, target.base)


def promoted(base: str) -> str:
    """Return the type of C's computations with a type."""
    return "int32" if _INTEGERS.get(base, 64) < 32 else base


def _common(left: str, right: str) -> str:
    """C's usual arithmetic conversions: the wider, and of equal widths the unsigned."""
    both = promoted(left), promoted(right)
    order = ("float64", "float32", "uint64", "int64", "uint32")
    return next((base for base in order if base in both), "int32")


def _unary(expr: Expr, scope: Scope) -> Number | None:
    op = expr[2]
    if op not in _SIGNS:
        return _of_type(expr, scope)
    operand = number_of(expr[4][0], scope)
    if operand is None:
        return Number("int32", None) if op == "!" else None
    number = operand if op == "!" else converted(operand, promoted(operand.base))
    base = "int32" if op == "!" else number.base
    if number.value is None or (op == "~" and base in _FLOATS):
        return Number(base, None, number.fault)
    return _fitted(_SIGNS[op](number.value), base, f"{op}{number.value}")


_SIGNS: dict[str, Callable[[int | float], int | float]] = {
    "-": lambda value: -value,
    "+": lambda value: value,
    "~": lambda value: ~int(value),
    "!": lambda value: int(not value),
}


def _fitted(value: int | float, base: str, shown: str) -> Number:
    """Return a computed number: unsigned numbers wrap, signed numbers may not overflow."""
    if base in _FLOATS:
        return Number(base, _rounded(float(value), base))
    if base[0] == "i" and _wrapped(int(value), base) != value:
        return Number(base, None, f"{shown} is out of the range of {_SPELLED[base]}")
    return Number(base, _wrapped(int(value), base))


def _binary(expr: Expr, scope: Scope) -> Number | None:
    op, operands = expr[2], expr[4]
    left, right = (number_of(operand, scope) for operand in operands)
    if op == ",":
        return None if right is None else Number(right.base, None)
    if op in ("&&", "||"):
        return _logical(op == "||", left, right)
    if left is None or right is None:
        return Number("int32", None) if op in _COMPARISONS else None
    if op in ("<<", ">>"):
        return _shifted(op, left, right)
    base = _common(left.base, right.base)
    left, right = converted(left, base), converted(right, base)
    result = "int32" if op in _COMPARISONS else base
    if left.value is None or right.value is None:
        return Number(result, None, left.fault or right.fault)
    if op in _COMPARISONS:
        return Number(result, int(_COMPARISONS[op](left.value, right.value)))
    return _combined(op, left.value, right.value, base)


def _logical(decisive: bool, left: Number | None, right: Number | None) -> Number:
    """``&&`` and ``||``: a deciding operand leaves the other out."""
    for number in (left, right):
        if number is None or number.value is None:
            return Number("int32", None, "" if number is None else number.fault)
        if bool(number.value) == decisive and (right is not None or number is right):
            known = right is not None and (right.value is not None or right.fault)
            return Number("int32", int(decisive) if known else None)
    return Number("int32", int(not decisive))


def _shifted(op: str, left: Number, right: Number) -> Number:
    base = promoted(left.base)
    left = converted(left, base)
    if left.value is None or right.value is None or not {base, right.base} <= _INTEGERS.keys():
        return Number(base, None, left.fault or right.fault)
    value, count = int(left.value), int(right.value)
    if not 0 <= count < _BITS[base]:
        bits = f"all {_BITS[base]} bits of {_SPELLED[base]}"
        return Number(base, None, f"{value} {op} {count} shifts by less than 0 or by {bits}")
    # compilers define the bits shifted out of a signed number
    return Number(base, _wrapped(value << count if op == "<<" else value >> count, base))


_COMPARISONS: dict[str, Callable[[int | float, int | float], bool]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}
_WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "/": lambda left, right: _quotient(left, right),
    "%": lambda left, right: left - right * _quotient(left, right),
}
_REAL: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}


def _combined(op: str, left: int | float, right: int | float, base: str) -> Number | None:
    shown = f"{left} {op} {right}"
    if op in "/%" and right == 0:
        return Number(base, None, f"{shown} divides by zero")
    if base in _FLOATS:
        compute = _REAL.get(op)
        return None if compute is None else _fitted(compute(left, right), base, shown)
    operate = _WHOLE.get(op)
    if operate is None:
        return None
    if op == "%":  # overflows with the quotient
        quotient = _fitted(_quotient(int(left), int(right)), base, shown)
        if quotient.fault:
            return quotient
    return _fitted(operate(int(left), int(right)), base, shown)


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _choice(expr: Expr, scope: Scope) -> Number | None:
    condition, yes, no = (number_of(operand, scope) for operand in expr[4])
    if yes is None or no is None:
        return None
    base = _common(yes.base, no.base)
    if condition is None or condition.value is None:
        return Number(base, None, "" if condition is None else condition.fault)
    chosen, other = (yes, no) if condition.value else (no, yes)
    if other.value is None and not other.fault:
        return Number(base, None)  # C requires constants there, too
    return converted(chosen, base)


_READERS: dict[str, Callable[[Expr, Scope], Number | None]] = {
    "literal": _literal,
    "name": _name,
    "sizeof": _size,
    "cast": _cast,
    "unary": _unary,
    "binary": _binary,
    "ternary": _choice,
}
