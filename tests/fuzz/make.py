# SPDX-License-Identifier: BSD-3-Clause
"""Expressions made of others, typed by C's rules; None where C leaves the value undefined."""

from __future__ import annotations

import math
from dataclasses import replace

from fuzz.c_types import (
    COMPLEX,
    COMPLEX64,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    CType,
    common,
    promoted,
)
from fuzz.facts import (
    FUNCTION_ULPS,
    Facts,
    converted,
    joined,
    product,
    rounded,
    whole,
    wrapped,
)
from fuzz.tree import Expr

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
TRUTH = Facts(0, 1)
LARGEST = 2.0**40  # real numbers beyond this are not made


def integer(value: int, t: CType = INT) -> Expr:
    """Return a literal of type int, unsigned or long."""
    suffix = {INT: "", UINT: "u", LONG: "L"}[t]
    if value >= 0:
        return Expr("literal", t, Facts(value, value), (), f"{value}{suffix}")
    return Expr("sign", t, Facts(value, value), (integer(-value, t),), "-")


def real(value: float, t: CType = DOUBLE) -> Expr:
    """Return a literal of a multiple of a power of two."""
    fraction = 0
    while value * 2**fraction != int(value * 2**fraction):
        fraction += 1
    if value < 0:
        return sign("-", real(-value, t)) or real(0.0, t)
    word = f"{value!r}{'f' if t is FLOAT else ''}"
    return Expr("literal", t, Facts(value, value, fraction), (), word)


def cast(e: Expr, t: CType) -> Expr | None:
    """Return `(t)e`."""
    if e.type.kind == "c" and t.kind != "c":
        return None
    facts = converted(e.facts, e.type, t)
    return None if facts is None else Expr("cast", t, facts, (e,))


def as_operand(e: Expr, t: CType) -> Facts | None:
    """Return the facts of an operand once C has converted it; its tree does not change."""
    return e.facts if e.type is t else converted(e.facts, e.type, t)


def sign(word: str, e: Expr) -> Expr | None:
    """Return `-e`, `~e` or `!e`."""
    t = promoted(e.type)
    facts = e.facts
    if word == "!":
        return Expr("sign", INT, TRUTH, (e,), word) if e.facts.is_exact else None
    if word == "~":
        if not t.is_integer:
            return None
        known = as_operand(e, t)
        assert known is not None
        both = (-known.high - 1, -known.low - 1) if t.kind == "i" else (t.low, t.high)
        return Expr("sign", t, Facts(*both), (e,), word)
    if t.kind == "i":
        if -facts.low > t.high:
            return None
        return Expr("sign", t, Facts(-facts.high, -facts.low), (e,), word)
    if t.kind == "u":
        return Expr("sign", t, wrapped(-facts.high, -facts.low, t), (e,), word)
    return Expr("sign", t, replace(facts, low=-facts.high, high=-facts.low), (e,), word)


def binary(op: str, a: Expr, b: Expr) -> Expr | None:
    """Return `a op b`."""
    if op in ("&&", "||"):
        exact = a.facts.is_exact and b.facts.is_exact
        return Expr(op, INT, TRUTH, (a, b)) if exact else None
    if op in ("<<", ">>"):
        return _shift(op, a, b)
    t = common(a.type, b.type)
    x, y = as_operand(a, t), as_operand(b, t)
    if x is None or y is None:
        return None
    if op in COMPARISONS:
        if not (x.is_exact and y.is_exact) or (t.kind == "c" and op not in ("==", "!=")):
            return None
        return Expr(op, INT, TRUTH, (a, b))
    if t.is_integer:
        facts = _of_integers(op, x, y, t)
    elif op in ("+", "-", "*", "/"):
        facts = _of_reals(op, x, y, t)
    else:
        facts = None
    return None if facts is None else Expr(op, t, facts, (a, b))


def _shift(op: str, a: Expr, b: Expr) -> Expr | None:
    if not (a.type.is_integer and b.type.is_integer):
        return None
    t = promoted(a.type)
    if b.facts.low < 0 or b.facts.high >= t.bits or (op == "<<" and a.facts.low < 0):
        return None
    if op == ">>":
        far = int(b.facts.high)
        low = min(int(a.facts.low), int(a.facts.low) >> far)
        return Expr(op, t, Facts(low, max(int(a.facts.high), 0)), (a, b))
    most = int(a.facts.high) << int(b.facts.high)
    if most > t.high:
        if t.kind == "i":
            return None
        return Expr(op, t, whole(t), (a, b))
    return Expr(op, t, Facts(0, most), (a, b))


def _of_integers(op: str, x: Facts, y: Facts, t: CType) -> Facts | None:
    if op in ("+", "-", "*"):
        return _sum_or_product(op, x, y, t)
    if op in ("/", "%"):
        return _ratio_or_rest(op, x, y, t)
    if op in ("&", "|", "^"):
        return _of_bits(op, x, y, t)
    return None


def _sum_or_product(op: str, x: Facts, y: Facts, t: CType) -> Facts | None:
    if op == "+":
        low, high = x.low + y.low, x.high + y.high
    elif op == "-":
        low, high = x.low - y.high, x.high - y.low
    else:
        low, high = product(x, y)
    if t.kind == "i" and (low < t.low or high > t.high):
        return None
    return wrapped(low, high, t)


def _ratio_or_rest(op: str, x: Facts, y: Facts, t: CType) -> Facts | None:
    if y.low <= 0 <= y.high or (t.kind == "i" and x.low == t.low and y.low <= -1):
        return None
    if op == "%":
        most = min(y.size - 1, x.size)
        return Facts(-most if x.low < 0 else 0, most)
    if t.kind == "u":
        return Facts(0, x.high)
    return Facts(min(x.low, -x.high, 0), max(x.high, -x.low, 0))


def _of_bits(op: str, x: Facts, y: Facts, t: CType) -> Facts:
    if x.low >= 0 and y.low >= 0:
        all_ones = (1 << max(int(x.high), int(y.high)).bit_length()) - 1
        return Facts(0, min(x.high, y.high) if op == "&" else all_ones)
    if op == "&" and max(x.low, y.low) >= 0:  # one of them clears the sign
        return Facts(0, x.high if x.low >= 0 else y.high)
    return whole(t)


def _of_reals(op: str, x: Facts, y: Facts, t: CType) -> Facts | None:
    exact, fraction = x.is_exact and y.is_exact, max(x.fraction, y.fraction)
    error = 0.0 if exact else x.error + y.error
    if op == "+":
        low, high = x.low + y.low, x.high + y.high
    elif op == "-":
        low, high = x.low - y.high, x.high - y.low
    elif op == "*":
        low, high = product(x, y)
        fraction = x.fraction + y.fraction
        if t.kind == "c":  # each part is a sum of two products
            low, high = -2 * x.size * y.size, 2 * x.size * y.size
        error = 0.0 if exact else 2 * (x.size * y.error + y.size * x.error + x.error * y.error)
        error += 0.0 if exact or t.kind != "c" else 2 * x.size * y.size * t.epsilon
    else:
        return _quotient(x, y, t)
    if max(abs(low), abs(high)) > LARGEST:
        return None
    return rounded(Facts(low, high, fraction, error), t)


def _quotient(x: Facts, y: Facts, t: CType) -> Facts | None:
    if t.kind == "c" or (y.low - y.error <= 0.5 and y.high + y.error >= -0.5):
        return None
    least = min(abs(y.low), abs(y.high)) - y.error
    if y.low == y.high and y.is_exact and math.frexp(abs(y.low))[0] == 0.5:
        shift = int(math.log2(abs(y.low)))
        ends = sorted((x.low / y.low, x.high / y.low))
        fraction = max(0, x.fraction + shift) if x.is_exact else 0
        return rounded(Facts(*ends, fraction, x.error / abs(y.low)), t)
    size = x.size / least
    error = x.error / least + size * y.error / least + size * t.epsilon
    return rounded(Facts(-size, size, 0, max(error, 1e-300)), t) if size <= LARGEST else None


def choice(condition: Expr, a: Expr, b: Expr) -> Expr | None:
    """Return `condition ? a : b`."""
    t = common(a.type, b.type) if a.type is not b.type else promoted(a.type)
    x, y = as_operand(a, t), as_operand(b, t)
    if x is None or y is None or not condition.facts.is_exact or condition.type.kind == "c":
        return None
    return Expr("?", t, joined(x, y), (condition, a, b))


def function(name: str, *args: Expr) -> Expr | None:
    """Return a call of a function of the library; 'f' at its end takes floats."""
    single = name.endswith("f") and name not in ("modf", "erf")
    plain = name[:-1] if single else name
    if plain in ("abs", "labs"):
        t = INT if plain == "abs" else LONG
        x = as_operand(args[0], t)
        if not args[0].type.is_integer or x is None or x.low <= t.low:
            return None
        low = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
        return Expr("function", t, Facts(low, x.size), args, name)
    if plain in ("creal", "cimag", "conj", "cabs"):
        return _of_complex(name, plain, single, args[0])
    t = FLOAT if single else DOUBLE
    known = [as_operand(arg, t) for arg in args]
    if any(arg.type.kind == "c" for arg in args) or any(one is None for one in known):
        return None
    facts = _of_library(plain, [one for one in known if one is not None], t)
    return None if facts is None else Expr("function", t, rounded(facts, t), args, name)


def _of_complex(name: str, plain: str, single: bool, arg: Expr) -> Expr | None:
    if arg.type.kind != "c":
        return None
    t = COMPLEX64 if single else COMPLEX
    x = converted(arg.facts, arg.type, t)
    assert x is not None
    if plain == "cabs":
        # a root is as exact as its operand only away from 0; its size bounds what is lost
        size = 1.5 * x.size + x.error
        facts = Facts(0, size, 0, 2 * x.error + FUNCTION_ULPS * size * t.epsilon + 1e-300)
        return Expr("function", t.real, facts, (arg,), name)
    if plain == "conj":
        return Expr("function", t, replace(x, low=-x.size, high=x.size), (arg,), name)
    return Expr("function", t.real, x, (arg,), name)


def _of_library(name: str, known: list[Facts], t: CType) -> Facts | None:
    x = known[0]
    if name == "fabs":
        return replace(x, low=0.0, high=x.size)
    if name in ("floor", "ceil", "trunc", "rint"):
        # exact operands are needed, whose bounds are small
        low, high = math.floor(x.low), math.ceil(x.high)
        return Facts(low, high) if x.is_exact and x.size < 2**20 else None
    if name in ("fmin", "fmax"):
        y, pick = known[1], min if name == "fmin" else max
        both = joined(x, y)
        return replace(both, low=pick(x.low, y.low), high=pick(x.high, y.high))
    slack = FUNCTION_ULPS * t.epsilon
    if name in ("sin", "cos", "tanh", "atan") and x.size <= 64:
        size = 2.0 if name == "atan" else 1.0
        return Facts(-size, size, 0, x.error + slack * size)
    if name == "sqrt" and x.low - x.error >= 0.25:
        return Facts(0.25, x.high + 1, 0, x.error + slack * (x.high + 1))
    if name == "exp" and x.size + x.error <= 4:
        return Facts(0, 60.0, 0, 60 * x.error + slack * 60)
    if name == "log" and x.low - x.error >= 0.5:
        return Facts(-1, x.high, 0, 2 * x.error + slack * max(1.0, x.high))
    return None


def name(word: str, t: CType, facts: Facts) -> Expr:
    """Return a variable."""
    return Expr("name", t, facts, (), word)


def entry(word: str, t: CType, facts: Facts, *index: Expr) -> Expr:
    """Return an entry of an array."""
    return Expr("at", t, facts, index, word)


def assigned(target: Expr, value: Expr) -> Facts | None:
    """Return what a value is once it is stored in a target of another type."""
    if value.type.kind == "c" and target.type.kind != "c":
        return None
    return converted(value.facts, value.type, target.type)
