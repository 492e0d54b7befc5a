# SPDX-License-Identifier: BSD-3-Clause
"""Runs a random kernel in Python: from its tree, by C's rules, with neither parser nor compiler.

A kernel becomes a Python function of lists. Real numbers are Python's: those that decide anything
are exact in the kernel's own type, and the error of all others is bounded beforehand.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fuzz.c_types import BY_NAME, CType, common, promoted
from fuzz.make import COMPARISONS
from fuzz.tree import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fuzz.tree import Expr, Function, Kernel, Stmt


class WrongFacts(Exception):
    """A value lies outside of what the generator took for certain: the generator is wrong."""


def _wrap(value: int, bits: int, signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


class _Conversions:
    """Implicit conversions to integer types, and whether any has lost a signed value."""

    def __init__(self) -> None:
        self.have_lost = False

    def __call__(self, value: int, bits: int, signed: bool) -> int:
        made = _wrap(value, bits, signed)
        self.have_lost = self.have_lost or (signed and made != value)
        return made


def _quotient(a: int, b: int) -> int:
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


def _checked(value: Any, e: Expr) -> Any:
    """Compare a value with what is certain of it."""
    facts = e.facts
    slack = facts.error + 1e-9 * facts.size if facts.error else 0.0
    parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
    for part in parts:
        low, high = facts.low - slack, facts.high + slack
        is_fine = low <= part <= high
        if facts.is_exact and not e.type.is_integer:
            is_fine = is_fine and part * 2**facts.fraction == int(part * 2**facts.fraction)
        if e.type.is_integer:
            is_fine = is_fine and isinstance(value, int) and e.type.low <= value <= e.type.high
        if not is_fine:
            raise WrongFacts(f"{value!r} of {e}")
    return value


_LIBRARY: dict[str, Callable[..., Any]] = {
    "fabs": abs,
    "abs": abs,
    "labs": abs,
    "floor": lambda x: float(math.floor(x)),
    "ceil": lambda x: float(math.ceil(x)),
    "trunc": lambda x: float(math.trunc(x)),
    "rint": lambda x: float(round(x)),
    "fmin": min,
    "fmax": max,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "atan": math.atan,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "creal": lambda z: z.real,
    "cimag": lambda z: z.imag,
    "conj": lambda z: z.conjugate(),
    "cabs": abs,
}


class _Structure:
    """A structure; copies share nothing."""

    def __init__(self, members: dict[str, Any]) -> None:
        vars(self).update(members)

    def copied(self) -> _Structure:
        return _Structure({name: _copied(value) for name, value in vars(self).items()})

    def assign(self, other: _Structure) -> None:
        """Take the values of another one, in place: pointers to arrays stay."""
        _take(vars(self), vars(other.copied()).items())

    def clear(self) -> None:
        """Set all to zero, of their own types."""
        _take(vars(self), [(name, _zero(value)) for name, value in vars(self).items()])

    def turn(self) -> None:
        for value in vars(self).values():
            if isinstance(value, list):
                value[:] = [*value[1:], value[0]]

    def turned(self) -> _Structure:
        made = self.copied()
        made.turn()
        return made


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return value.copied() if isinstance(value, _Structure) else value


def _zero(value: Any) -> Any:
    if isinstance(value, list):
        return [_zero(one) for one in value]
    if isinstance(value, _Structure):
        return _Structure({name: _zero(one) for name, one in vars(value).items()})
    return type(value)(0)


def _take(places: Any, values: Iterable[tuple[Any, Any]]) -> None:
    """Set what a list or the members of a structure hold: lists and structures in place."""
    for at, value in values:
        if isinstance(value, list):
            _take(places[at], enumerate(value))
        elif isinstance(value, _Structure):
            places[at].assign(value)
        else:
            places[at] = value


def _counted(first: int, end: Callable[[], int], step: int) -> Iterator[int]:
    """Count as C does, which looks at the end before each round: the body may change it."""
    while first < end() if step > 0 else first > end():
        yield first
        first += step


def _named(word: str) -> str:
    """Return a name of C in Python, where a pointer to a structure is the structure."""
    return word.replace("->", ".")


class Writer:
    """Turns functions into the text of Python functions.

    Args:
        kernel: The kernel.
        checked: Whether every value is compared with its facts.
    """

    def __init__(self, kernel: Kernel, checked: bool) -> None:
        self.kernel = kernel
        self.checked = checked
        self.lines: list[str] = []
        self.depth = 0
        self.pointers: dict[str, str] = {}  # names that have an offset, which is a variable
        self.n_switches = 0
        self.noted: list[Expr] = []

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    # Expressions

    def value(self, e: Expr) -> str:
        text = self._value(e)
        if not self.checked or e.op == "literal":
            return text
        self.noted.append(e)
        return f"_checked({text}, _e[{len(self.noted) - 1}])"

    def as_type(self, e: Expr, t: CType) -> str:
        """Return an operand once C has converted it."""
        return converted(self.value(e), e.type, t)

    def _value(self, e: Expr) -> str:
        op = e.op
        if op == "literal":
            return e.word.rstrip("uLf")
        if op == "name":
            return _named(e.word)
        if op == "piece":
            return self.filled_in(e.word, e.args)
        if op == "at":
            return self.place(e)
        if op == "cast":
            return converted(self.value(e.args[0]), e.args[0].type, e.type, "_wrap")
        if op == "sign":
            return self._sign(e)
        if op == "?":
            condition = self.value(e.args[0])
            a, b = (self.as_type(arg, e.type) for arg in e.args[1:])
            return f"({a} if {condition} else {b})"
        if op == "call":
            return self._call(e)
        if op == "function":
            return self._library(e)
        return self._binary(e)

    def place(self, e: Expr) -> str:
        """Return an entry of an array or of what is pointed to, or a variable."""
        if e.op == "name":
            return _named(e.word)
        index = [self.value(arg) for arg in e.args]
        if e.word in self.pointers:
            return f"{e.word}[{self.pointers[e.word]} + {index[0]}]"
        return _named(e.word) + "".join(f"[{i}]" for i in index)

    def filled_in(self, text: str, exprs: Sequence[Expr]) -> str:
        """Return the Python of what `both` has joined, with its expressions."""
        return filled(
            text,
            1,
            lambda i, t: self.as_type(exprs[i], BY_NAME[t]) if t else self.value(exprs[i]),
        )

    def _sign(self, e: Expr) -> str:
        if e.word == "!":
            return f"(0 if {self.value(e.args[0])} else 1)"
        operand = self.as_type(e.args[0], e.type)
        return _as_unsigned(f"({e.word}{operand})", e.type)

    def _binary(self, e: Expr) -> str:
        op, (a, b) = e.op, e.args
        if op in ("&&", "||"):
            word = "and" if op == "&&" else "or"
            return f"(1 if ({self.value(a)}) {word} ({self.value(b)}) else 0)"
        if op in ("<<", ">>"):
            t = promoted(a.type)
            return _as_unsigned(f"({self.as_type(a, t)} {op} {self.value(b)})", t)
        t = common(a.type, b.type)
        x, y = self.as_type(a, t), self.as_type(b, t)
        if op in COMPARISONS:
            return f"(1 if {x} {op} {y} else 0)"
        if t.is_integer and op in "/%":
            return f"{'_quotient' if op == '/' else '_remainder'}({x}, {y})"
        return _as_unsigned(f"({x} {op} {y})", t)

    def _call(self, e: Expr) -> str:
        called = next(f for f in self.kernel.functions if f.name == e.word)
        return self.call_text(called, e.args)

    def call_text(self, called: Function, args: tuple[Expr, ...] | list[Expr]) -> str:
        """Return a call; a pointer is passed as its list and where in it."""
        texts = []
        for parameter, arg in zip(called.parameters, args, strict=True):
            if not parameter.size:
                texts.append(self.as_type(arg, parameter.type))
                continue
            offset = self.value(arg.args[0]) if arg.args else "0"
            inner = self.pointers.get(arg.word, "0")
            texts.append(f"{_named(arg.word)}, {inner} + {offset}")
        return f"{called.name}({', '.join(texts)})"

    def _library(self, e: Expr) -> str:
        single = e.word.endswith("f")
        plain = e.word[:-1] if single else e.word
        if plain in ("creal", "cimag", "conj", "cabs"):
            args = [self.value(arg) for arg in e.args]
        else:
            args = [self.as_type(arg, e.type) for arg in e.args]
        return f"_f_{plain}({', '.join(args)})"

    # Statements

    def block(self, body: list[Stmt]) -> None:
        self.depth += 1
        for stmt in body:
            getattr(self, f"_{stmt.op}_stmt")(stmt)
        if not body:
            self.line("pass")
        self.depth -= 1

    def _declare_stmt(self, s: Stmt) -> None:
        assert s.type is not None
        self.line(f"{s.word} = {self.as_type(s.exprs[0], s.type)}")

    def _array_stmt(self, s: Stmt) -> None:
        assert s.type is not None
        values = [self.as_type(e, s.type) for e in s.exprs]
        values += [converted("0", BY_NAME["int32"], s.type)] * (math.prod(s.numbers) - len(values))
        self.line(f"{s.word} = {_nested(values, s.numbers)}")

    def _structure_stmt(self, s: Stmt) -> None:
        assert s.structure is not None
        if s.how == "copy":
            self.line(f"{s.word} = {s.exprs[0].word}.copied()")
            return
        exprs, made = [*s.exprs], []
        for _ in range(max(s.numbers[0], 1)):
            members = []
            for member, t, _facts, extent in s.structure.members:
                n = extent if extent and s.how != "of" else 1
                values = [self.as_type(exprs.pop(0), t) for _k in range(n)]
                text = f"[{', '.join(values)}]" if extent else values[0]
                repeated = f"{text} * {extent}" if extent and s.how == "of" else text
                members.append(f"{member!r}: {repeated}")
            made.append(f"_Structure({{{', '.join(members)}}})")
        self.line(f"{s.word} = {f'[{chr(44).join(made)}]' if s.numbers[0] else made[0]}")

    def _treat_stmt(self, s: Stmt) -> None:
        target, other = (e.word for e in s.exprs)
        texts = {
            "assign": f"{target}.assign({other})",
            "turn": f"{target}.turn()",
            "turned": f"{target}.assign({other}.turned())",
            "move": f"{target}.assign({other})",
            "zero": f"{target}.clear()",
        }
        self.line(texts[s.how])

    def _pointer_stmt(self, s: Stmt) -> None:
        base = s.exprs[0]
        inner = self.pointers.get(base.word, "0")
        self.line(f"{s.word} = {_named(base.word)}")
        self.line(f"{s.word}_o = {inner} + {self.value(base.args[0])}")
        self.pointers[s.word] = f"{s.word}_o"

    def _set_stmt(self, s: Stmt) -> None:
        target, value = s.exprs
        place = self.place(target)
        result = self.as_type(value, target.type)
        self.line(f"{place} = {result}")
        if self.checked:
            self.noted.append(target)
            self.line(f"_checked({place}, _e[{len(self.noted) - 1}])")

    def _aggregate_stmt(self, s: Stmt) -> None:
        for line in self.filled_in(s.word, s.exprs).splitlines():
            self.line(line)

    def _call_stmt(self, s: Stmt) -> None:
        called = next(f for f in self.kernel.functions if f.name == s.word)
        self.line(self.call_text(called, s.exprs))

    def _block_stmt(self, s: Stmt) -> None:
        self.line("if True:")
        self.block(s.bodies[0])

    def _if_stmt(self, s: Stmt) -> None:
        self.line(f"if {self.value(s.exprs[0])}:")
        self.block(s.bodies[0])
        if len(s.bodies) > 1:
            self.line("else:")
            self.block(s.bodies[1])

    def _for_stmt(self, s: Stmt) -> None:
        first, _, step = s.numbers
        end = self.value(s.exprs[0])
        self.line(f"for {s.word} in _counted({first}, lambda: {end}, {step}):")
        self.block(s.bodies[0])

    def _while_stmt(self, s: Stmt) -> None:
        self.line(f"{s.word} = {s.numbers[0]}")
        condition = f" and {self.value(s.exprs[0])}" if s.exprs else ""
        self.line(f"while {s.word} > 0{condition}:")
        self.line(f"  {s.word} -= 1")
        self.block(s.bodies[0])

    def _do_stmt(self, s: Stmt) -> None:
        self.line(f"{s.word} = {s.numbers[0]}")
        self.line("while True:")
        self.block(s.bodies[0])
        self.line(f"  {s.word} -= 1")
        self.line(f"  if not {s.word} > 0: break")

    def _switch_stmt(self, s: Stmt) -> None:
        """Each case is entered if it, or one before it that did not end, has the label."""
        self.n_switches += 1
        at = f"_at{self.n_switches}"
        labels = {label: i for i, label in enumerate(s.numbers) if label >= 0}
        default = next((i for i, label in enumerate(s.numbers) if label < 0), len(s.numbers))
        self.line(f"{at} = {labels}.get({self.value(s.exprs[0])}, {default})")
        self.line("for _ in (0,):")
        for i, body in enumerate(s.bodies):
            self.line(f"  if {at} <= {i}:")
            self.depth += 1
            self.block(body)
            self.depth -= 1
        if not s.bodies:
            self.line("  pass")

    def _return_stmt(self, s: Stmt) -> None:
        value = self.as_type(s.exprs[0], s.type) if s.exprs and s.type is not None else ""
        self.line(f"return {value}")

    def _break_stmt(self, _: Stmt) -> None:
        self.line("break")

    def _continue_stmt(self, _: Stmt) -> None:
        self.line("continue")

    def function(self, f: Function) -> None:
        self.pointers = {p.name: f"{p.name}_o" for p in f.parameters if p.size}
        names = [f"{p.name}, {p.name}_o" if p.size else p.name for p in f.parameters]
        head = self.filled_in(f.head, ()) if f.head else f"def {f.name}({', '.join(names)}):"
        self.lines += head.splitlines()
        self.block(f.body)

    def whole(self) -> str:
        """Return the text of all tables and functions."""
        for table in self.kernel.tables:
            values = [converted(repr(v), table.type, table.type) for v in table.values]
            self.line(f"{table.name} = {_nested(values, table.shape)}")
        for f in self.kernel.functions:
            self.function(f)
        return "\n".join(self.lines) + "\n"


def _as_unsigned(text: str, t: CType) -> str:
    return f"({text} & {t.high})" if t.kind == "u" else text


def converted(text: str, source: CType, t: CType, how: str = "_convert") -> str:
    """Return what a conversion makes of a value; who casts has asked for what is lost."""
    if source is t:
        return text
    if t.kind == "c":
        return text if source.kind == "c" else f"complex({text})"
    if t.kind == "f":
        return text if source.kind == "f" else f"float({text})"
    if source.kind == "f":
        return f"int({text})"
    if source.low >= t.low and source.high <= t.high:
        return text
    return f"{how}({text}, {t.bits}, {t.kind == 'i'})"


def _nested(values: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"[{', '.join(values)}]"
    n = shape[1]
    rows = [f"[{', '.join(values[i : i + n])}]" for i in range(0, len(values), n)]
    return f"[{', '.join(rows)}]"


def compiled(kernel: Kernel, *, checked: bool = False) -> Callable[..., None]:
    """Return a Python function that does what the kernel does to lists of numbers.

    Args:
        kernel: The kernel.
        checked: Whether every value is compared with what the generator took for certain.

    Returns:
        Takes each argument as a list and where in it the argument begins. Whether it has lost a
        value by a conversion that nobody asked for, `loses` tells.
    """
    writer = Writer(kernel, checked)
    text = writer.whole()
    names: dict[str, Any] = {
        "_wrap": _wrap,
        "_counted": _counted,
        "_convert": _Conversions(),
        "_Structure": _Structure,
        "_quotient": _quotient,
        "_remainder": _remainder,
        "_checked": _checked,
        "_e": writer.noted,
        **{f"_f_{name}": function for name, function in _LIBRARY.items()},
    }
    exec(compile(text, f"<{kernel.main.name}>", "exec"), names)
    return names[kernel.main.name]  # type: ignore[no-any-return]


def loses(kernel: Callable[..., None]) -> bool:
    """Whether a function that `compiled` made has stored an integer in a signed type too narrow."""
    found: bool = kernel.__globals__["_convert"].have_lost
    return found
