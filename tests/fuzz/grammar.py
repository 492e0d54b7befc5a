# SPDX-License-Identifier: BSD-3-Clause
"""Random kernels: expressions of every type, branches, loops, arrays, tables, helper functions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fuzz import make
from fuzz.c_types import (
    COMPLEX64,
    COMPLEXES,
    DOUBLE,
    FLOAT,
    INT,
    INT8,
    INT16,
    INTEGERS,
    LONG,
    REALS,
    TYPES,
    UINT,
    UINT16,
    CType,
)
from fuzz.facts import Facts, whole
from fuzz.tree import Expr, Function, Kernel, Parameter, Stmt, Structure, Table

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from fuzz.aggregates import Aggregates, Holder

MOST_STEPS = 400  # iterations of nested loops
_OF_INTEGERS = ("%", "&", "|", "^", "<<", ">>", "/")
_FUNCTIONS = ("fabs", "floor", "ceil", "trunc", "rint", "fmin", "fmax", "sqrt", "sin", "cos")
_FUNCTIONS += ("tanh", "atan", "exp", "log", "abs", "labs")


@dataclass(slots=True)
class Name:
    """Something that an expression may name.

    Attributes:
        word: The name.
        type: Of the number, or of the entries.
        facts: What is always certain of it.
        shape: Extents of an array, or of what is pointed to; empty for a number.
        writable: Whether statements may set it.
        readable: Whether expressions may read it.
        structure: It is one of these, whose members have names of their own.
        holder: It holds structures of the kind 'aggregates', or is a pointer to one.
    """

    word: str
    type: CType
    facts: Facts
    shape: tuple[int, ...] = ()
    writable: bool = False
    readable: bool = True
    structure: Structure | None = None
    holder: Holder | None = None


@dataclass(slots=True)
class Sum:
    """What may be added to one entry of an argument by one call, and what was.

    Attributes:
        parameter: The argument.
        left: How much may still be added to an entry.
        fraction: The most fractional digits of a share; -1 where rounding is allowed for.
        error: How far off what was added may be.
        size: How much was.
    """

    parameter: Parameter
    left: float
    fraction: int
    error: float = 0.0
    size: float = 0.0


@dataclass(slots=True)
class Place:
    """Where a statement stands.

    Attributes:
        steps: How often it runs at most in one call.
        in_loop: Whether 'break' is possible.
        may_continue: Whether 'continue' is.
        returns: Whether 'return' is, without a value.
        sums: Whether it may add to arguments.
    """

    steps: int = 1
    in_loop: bool = False
    may_continue: bool = False
    returns: bool = False
    sums: bool = True


def facts_of(rng: Random, t: CType) -> Facts:
    """Return what is to be certain of a variable or argument of type `t`."""
    if t.is_integer:
        ranges = [Facts(max(t.low, -9), 9), Facts(0, 3), Facts(0, 7), whole(t), whole(t)]
        return rng.choice(ranges)
    exact = Facts(-8.0, 8.0, 2) if t.bits == 32 else Facts(-16.0, 16.0, 3)
    if rng.random() < (0.7 if t.kind == "f" else 0.85):
        return exact
    return Facts(-16.0, 16.0, 0, 2000 * t.epsilon)


@dataclass(slots=True)
class Grammar:
    """Makes one kernel.

    Attributes:
        random: Decides everything.
        prefix: Begins the names of functions and tables, which are unlike those of other kernels.
        names: What is in scope.
        sums: What is only added to.
        bests: Arguments that are only lowered or raised, by the operator that says when.
        functions: Helpers so far.
        tables: Tables so far.
        n_names: Names made so far.
        structures: Structures so far.
        aggregates: Makes what the kind 'aggregates' has.
    """

    random: Random
    prefix: str
    names: list[Name] = field(default_factory=list)
    sums: list[Sum] = field(default_factory=list)
    bests: list[tuple[Parameter, str]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    n_names: int = 0
    structures: list[Structure] = field(default_factory=list)
    aggregates: Aggregates | None = None

    # Small decisions

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def fresh(self, letter: str) -> str:
        self.n_names += 1
        return f"{letter}{self.n_names}"

    def any_type(self) -> CType:
        kind = self.random.random()
        if kind < 0.35:
            return DOUBLE
        if kind < 0.5:
            return FLOAT
        if kind < 0.65:
            return INT
        return self.random.choice(INTEGERS if kind < 0.92 else COMPLEXES)

    # Expressions

    def literal(self) -> Expr:
        kind = self.random.random()
        if kind < 0.5:
            return make.integer(self.random.randint(-3, 9))
        if kind < 0.6:
            return make.integer(self.random.randint(0, 2**31), UINT)
        if kind < 0.65:
            return Expr("name", COMPLEX64, Facts(0, 1), (), "_Complex_I")
        value = self.random.choice([0.5, 1.0, 2.0, 0.25, 1.5, -1.0, 3.0])
        return make.real(value, self.random.choice(REALS))

    def readable(self, accept: Callable[[Name], bool] = lambda _: True) -> list[Name]:
        return [name for name in self.names if name.readable and accept(name)]

    def leaf(self) -> Expr:
        if self.aggregates is not None and self.chance(0.12):
            piece = self.aggregates.piece()
            if piece is not None:
                return piece
        found = self.readable()
        if not found or self.chance(0.15):
            return self.literal()
        return self.read(self.random.choice(found))

    def read(self, found: Name) -> Expr:
        """Return a variable, or any entry of an array."""
        if not found.shape:
            return make.name(found.word, found.type, found.facts)
        index = [self.index(extent) for extent in found.shape]
        return make.entry(found.word, found.type, found.facts, *index)

    def index(self, extent: int) -> Expr:
        """Return an index below an extent."""
        if extent == 1 or self.chance(0.5):
            return make.integer(self.random.randrange(extent))
        small = self.readable(
            lambda n: (
                not n.shape and n.type.is_integer and n.facts.low >= 0 and n.facts.high < extent
            )
        )
        if small and self.chance(0.8):
            return self.read(self.random.choice(small))
        inner = self.readable(lambda n: not n.shape and n.type.is_integer)
        value = self.read(self.random.choice(inner)) if inner else make.integer(1)
        mask = (1 << (extent.bit_length() - 1)) - 1
        if value.facts.low >= 0 and self.chance(0.5):
            found = make.binary("%", value, make.integer(extent))
        else:
            found = make.binary("&", value, make.integer(mask))
        if found is None or found.facts.low < 0 or found.facts.high >= extent:
            return make.integer(self.random.randrange(extent))
        return found

    def expression(self, depth: int) -> Expr:
        """Return an expression of any type."""
        if depth <= 0:
            return self.leaf()
        for _ in range(4):
            found = self._operation(depth)
            if found is not None:
                return found
        return self.leaf()

    def _operation(self, depth: int) -> Expr | None:
        kind = self.random.random()
        if kind < 0.42:
            op = self.random.choice("++--**/")
            return make.binary(op, self.expression(depth - 1), self.expression(depth - 1))
        if kind < 0.58:
            return self._of_integers(depth)
        if kind < 0.65:
            return self.condition(depth - 1)
        if kind < 0.73:
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            return make.choice(self.condition(depth - 1), a, b)
        if kind < 0.78:
            return make.sign(self.random.choice("-~!"), self.expression(depth - 1))
        if kind < 0.84:
            e = self.expression(depth - 1)
            if e.type.is_integer and self.chance(0.4):
                return self._narrowed_negation(e)
            return make.cast(e, self.random.choice(TYPES))
        if kind < 0.95 or not self.functions:
            return self._of_library(depth)
        return self.called(depth)

    def _of_integers(self, depth: int) -> Expr | None:
        op = self.random.choice(_OF_INTEGERS)
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if not (a.type.is_integer and b.type.is_integer):
            return None
        if op in ("<<", ">>"):
            a = make.binary("&", a, make.integer(255)) if a.facts.low < 0 else a
            b = make.binary("&", b, make.integer(7)) or b
            return None if a is None else make.binary(op, a, b)
        if op in ("/", "%") and b.facts.low <= 0:
            b = make.binary("+", make.integer(1), make.binary("&", b, make.integer(7)) or b) or b
        return make.binary(op, a, b)

    def _narrowed_negation(self, e: Expr) -> Expr | None:
        """Return `-e` in 8 or 16 bits, often the least value, widened again or not."""
        low = make.binary("&", e, make.integer(255))
        n_bits = make.integer(self.random.randrange(9))
        shifted = None if low is None else make.binary("<<", low, n_bits)
        negated = make.sign("-", shifted or e)
        narrow = None if negated is None else make.cast(negated, self.random.choice([INT8, INT16]))
        if narrow is None or self.chance(0.3):
            return narrow
        return make.cast(narrow, self.random.choice([UINT16, UINT, INT, LONG]))

    def _of_library(self, depth: int) -> Expr | None:
        arg = self.expression(depth - 1)
        if arg.type.kind == "c":
            name = self.random.choice(["creal", "cimag", "conj", "cabs"])
            return make.function(name + "f" * (arg.type is COMPLEX64), arg)
        name = self.random.choice(_FUNCTIONS)
        if name in ("abs", "labs"):
            return make.function(name, arg)
        args = [arg, self.expression(depth - 1)] if name in ("fmin", "fmax") else [arg]
        if name in ("sqrt", "log") and arg.type.kind == "f":
            args[0] = make.binary("+", make.real(1.0), make.function("fabs", arg) or arg) or arg
        if name == "exp" and arg.facts.size > 4:
            args[0] = make.function("sin", arg) or arg
        return make.function(name + "f" * self.chance(0.3), *args)

    def condition(self, depth: int) -> Expr:
        """Return a condition: nothing in it is rounded."""
        for _ in range(4):
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            if self.chance(0.25) and depth > 1:
                op = self.random.choice(["&&", "||"])
                a, b = self.condition(depth - 1), self.condition(depth - 1)
            else:
                op = self.random.choice(make.COMPARISONS)
            found = make.binary(op, a, b)
            if found is not None:
                return found
        exact = self.readable(lambda n: n.facts.is_exact and n.type.kind != "c")
        a = self.read(self.random.choice(exact)) if exact else make.integer(1)
        return make.binary("<", a, make.integer(2)) or make.integer(1)

    def fitted(self, e: Expr, t: CType, facts: Facts) -> Expr | None:
        """Return an expression that may be stored in a variable of these facts, made of `e`."""
        if e.type.kind == "c" and t.kind != "c":
            e = make.function("creal" + "f" * (e.type is COMPLEX64), e) or e
        known = make.as_operand(e, t)
        if known is not None and known.within(facts):
            return e
        if t.is_integer:
            return self._fitted_integer(e, t, facts)
        if t.kind == "c" and e.type.kind == "c":
            e = make.function("cimag" + "f" * (e.type is COMPLEX64), e) or e
        return self._fitted_real(e, t, facts)

    def _fitted_integer(self, e: Expr, t: CType, facts: Facts) -> Expr | None:
        found: Expr | None = e
        if e.type.kind == "f":
            low, high = max(facts.low, -100), min(facts.high, 100)
            if not e.facts.is_exact:
                return None
            found = self._clamped(e, float(low), float(high))
            found = None if found is None else make.cast(found, t)
        elif facts != whole(t):
            mask = (1 << int(facts.high + 1).bit_length() - 1) - 1
            found = make.binary("&", e, make.integer(mask))
        known = None if found is None else make.as_operand(found, t)
        return found if known is not None and known.within(facts) else None

    def _clamped(self, e: Expr, low: float, high: float) -> Expr | None:
        found = make.function("fmin", e, make.real(high))
        return None if found is None else make.function("fmax", found, make.real(low))

    def _fitted_real(self, e: Expr, t: CType, facts: Facts) -> Expr | None:
        found: Expr | None = e
        if e.type.is_integer:
            found = make.binary("&", e, make.integer(7))
        elif facts.is_exact:
            if not e.facts.is_exact:
                return None
            if e.facts.fraction > facts.fraction:
                found = make.function(self.random.choice(["floor", "ceil", "trunc", "rint"]), e)
        elif e.facts.error > facts.error / 2:
            scale = 2.0 ** -math.ceil(math.log2(4 * e.facts.error / facts.error))
            found = make.binary("*", e, make.real(scale)) if scale > 1e-6 else None
        if found is None:
            return None
        if found.facts.low < facts.low or found.facts.high > facts.high:
            margin = 0.5 if not facts.is_exact else 0.0
            found = self._clamped(found, facts.low + margin, facts.high - margin)
        known = None if found is None else make.as_operand(found, t)
        return found if known is not None and known.within(facts) else None

    def value(self, t: CType, facts: Facts, depth: int) -> Expr:
        """Return an expression that may be stored in a variable of these facts."""
        for _ in range(4):
            found = self.fitted(self.expression(depth), t, facts)
            if found is not None:
                return found
        return self.simple(t, facts)

    def simple(self, t: CType, facts: Facts) -> Expr:
        """Return a literal that fits."""
        value = self.random.randint(int(max(facts.low, -2)), int(min(facts.high, 3)))
        if t.is_integer:
            return make.integer(value)
        return make.real(float(value), t.real) if self.chance(0.7) else make.integer(value)

    def pointed(self, p: Parameter) -> Expr | None:
        """Return a pointer that may be passed for a parameter."""
        found = [
            n
            for n in self.names
            if n.readable
            and len(n.shape) == 1
            and n.type is p.type
            and n.facts.within(p.facts)
            and n.shape[0] >= p.size
            and (p.const or (n.writable and p.facts == n.facts))
        ]
        if not found:
            return None
        chosen = self.random.choice(found)
        extent = chosen.shape[0] - p.size + 1
        args = (self.index(extent),) if extent > 1 else ()
        return Expr("+p", p.type, p.facts, args, chosen.word)

    def called(self, depth: int) -> Expr | None:
        """Return a call of a helper."""
        found = [f for f in self.functions if f.type is not None]
        if not found or (self.aggregates is not None and self.aggregates.n_plain):
            return None
        f = self.random.choice(found)
        args = self.arguments(f, depth)
        assert f.type is not None
        return None if args is None else Expr("call", f.type, f.facts, tuple(args), f.name)

    def arguments(self, f: Function, depth: int) -> list[Expr] | None:
        args = []
        for p in f.parameters:
            arg = self.pointed(p) if p.size else self.value(p.type, p.facts, depth - 1)
            if arg is None:
                return None
            args.append(arg)
        return args

    # Statements

    def block(self, place: Place, n: int, depth: int) -> list[Stmt]:
        """Return statements in a scope of their own."""
        outside = len(self.names)
        found: list[Stmt] = []
        for _ in range(n):
            found += self.statement(place, depth)
        if place.in_loop and self.chance(0.1):
            word = "continue" if place.may_continue and self.chance(0.5) else "break"
            found.append(Stmt("if", exprs=[self.condition(2)], bodies=[[Stmt(word)]]))
        del self.names[outside:]
        return found

    def statement(self, place: Place, depth: int) -> list[Stmt]:
        kinds: list[Callable[[Place, int], list[Stmt]]] = [self.set] * 5 + [self._declare] * 2
        kinds += [self._array, self._pointer, self._call]
        kinds += [self._structure] * 2 + [self._treat] * 4 if self.structures else []
        if self.aggregates is not None:
            kinds += [self.aggregates.statement] * 10
        if place.sums:
            kinds += [self._add] * (4 if self.sums else 0) + [self._best] * (2 * bool(self.bests))
        if depth > 0:
            kinds += [self._if] * 3 + [self._for] * 3 + [self._switch, self._while, self._do]
            kinds += [self._block]
        return self.random.choice(kinds)(place, depth)

    def _declare(self, _: Place, __: int) -> list[Stmt]:
        t = self.any_type()
        facts = facts_of(self.random, t)
        value = self.value(t, facts, 2)
        is_const = self.chance(0.3)
        word = self.fresh("v")
        self.names.append(Name(word, t, facts, (), not is_const))
        return [Stmt("declare", word, [value], type=t, numbers=(1,) if is_const else ())]

    def _array(self, _: Place, __: int) -> list[Stmt]:
        t = self.any_type()
        facts = facts_of(self.random, t)
        shape = self.random.choice([(2,), (3,), (4,), (2, 2), (2, 3)])
        whole_list = self.chance(0.5) or len(shape) == 2
        n = math.prod(shape) if whole_list else 1
        values = [self.value(t, facts, 1) for _ in range(n)]
        if not whole_list or (len(shape) == 2 and self.chance(0.3)):
            values = [make.integer(0)]
        word = self.fresh("v")
        self.names.append(Name(word, t, facts, shape, True))
        return [Stmt("array", word, values, type=t, numbers=shape)]

    def _structure(self, _: Place, __: int) -> list[Stmt]:
        """Declare one or two: from a list, by the names of members, by a function, as a copy."""
        made = self.random.choice(self.structures)
        same = self._instances(made)
        how = self.random.choice(["list", "named", "of", *["copy"] * bool(same)])
        n = 2 if how in ("list", "named") and self.chance(0.3) else 0
        values: list[Expr] = []
        for _member, t, facts, extent in () if how == "copy" else made.members * max(n, 1):
            n_values = max(extent, 1) if how != "of" else 1
            values += [self.value(t, facts, 1) for _k in range(n_values)]
        source = self.random.choice(same) if how == "copy" else ""
        word = self.fresh("v")
        for one in [word] if not n else [f"{word}[0]", f"{word}[1]"]:
            self.names.append(Name(one, INT, Facts(0, 0), (), False, False, made))
            for member, t, facts, extent in made.members:
                shape = (extent,) if extent else ()
                self.names.append(Name(f"{one}.{member}", t, facts, shape, True))
        exprs = [make.name(source, INT, Facts(0, 0))] if source else values
        return [Stmt("structure", word, exprs, numbers=(n,), structure=made, how=how)]

    def _treat(self, _: Place, __: int) -> list[Stmt]:
        """Assign a structure, as a whole or by its bytes, or hand it to a function."""
        made = self.random.choice(self.structures)
        same = self._instances(made)
        if not same:
            return []
        target, other = (self.random.choice(same) for _ in range(2))
        may_vanish = all(facts.low <= 0 <= facts.high for _, _, facts, _ in made.members)
        hows = ["assign", "turn", "turned", "move", *["zero"] * may_vanish]
        how = self.random.choice(hows)
        exprs = [make.name(word, INT, Facts(0, 0)) for word in (target, other)]
        return [Stmt("treat", "", exprs, structure=made, how=how)]

    def _instances(self, made: Structure) -> list[str]:
        return [name.word for name in self.names if name.structure is made]

    def structure(self) -> None:
        """Make a structure of one to three members."""
        members = []
        for i in range(self.random.randint(1, 3)):
            t = self.any_type()
            extent = self.random.choice([0, 0, 2, 3])
            members.append((f"m{i}", t, facts_of(self.random, t), extent))
        name = f"{self.prefix}r{len(self.structures)}"
        self.structures.append(Structure(name, tuple(members)))

    def _pointer(self, _: Place, __: int) -> list[Stmt]:
        found = self.readable(lambda n: len(n.shape) == 1 and n.shape[0] > 1)
        if not found:
            return []
        base = self.random.choice(found)
        size = self.random.randint(1, base.shape[0] - 1)
        start = Expr(
            "+p", base.type, base.facts, (self.index(base.shape[0] - size + 1),), base.word
        )
        word = self.fresh("q")
        self.names.append(Name(word, base.type, base.facts, (size,)))
        return [Stmt("pointer", word, [start], type=base.type)]

    def set(self, _: Place, __: int) -> list[Stmt]:
        found = [name for name in self.names if name.writable]
        if not found:
            return []
        chosen = self.random.choice(found)
        target = self.read(chosen)
        t, facts = chosen.type, chosen.facts
        if self.chance(0.35) and chosen.readable:
            op = self.random.choice("+-*/&|^" if t.is_integer else "+-*/")
            made = make.binary(op, target, self.expression(2))
            known = None if made is None else make.assigned(target, made)
            if made is not None and known is not None and known.within(facts):
                one = made.args[1].op == "literal" and made.args[1].word == "1" and op == "+"
                return [Stmt("set", "++" if one else op, [target, made])]
        return [Stmt("set", "", [target, self.value(t, facts, 3)])]

    def _call(self, _: Place, depth: int) -> list[Stmt]:
        found = [f for f in self.functions if f.type is None and not f.head]
        if not found:
            return []
        f = self.random.choice(found)
        args = self.arguments(f, 2)
        return [] if args is None else [Stmt("call", f.name, args)]

    def _add(self, place: Place, _: int) -> list[Stmt]:
        chosen = self.random.choice(self.sums)
        p = chosen.parameter
        target = make.entry(p.name, p.type, p.facts, self.index(p.size))
        value = self._share(chosen, place.steps)
        if value is None:
            return []
        t = make.common(p.type, value.type)
        facts = whole(t) if t.is_integer else replace(p.facts, low=-math.inf, high=math.inf)
        op = self.random.choice("+-")
        return [Stmt("set", op, [target, Expr(op, t, facts, (target, value))])]

    def _share(self, chosen: Sum, steps: int) -> Expr | None:
        """Return what may still be added to an argument so many times."""
        t = chosen.parameter.type
        value = self.expression(3)
        if value.type.kind == "c" and t.kind != "c":
            return None
        if t.is_integer:
            value = self.value(t, Facts(max(t.low, -9), 9), 3)
            value = value if value.type.is_integer else make.cast(value, t) or make.integer(1)
        elif chosen.fraction >= 0:
            limit = 8.0 if t.bits == 32 else 256.0
            found = self.fitted(value, t, Facts(-limit, limit, chosen.fraction))
            value = self.simple(t, Facts(0, 3)) if found is None else found
        size = value.facts.size * steps
        if size > chosen.left:
            return None
        known = make.as_operand(value, t)
        chosen.left -= size
        chosen.size += size
        chosen.error += steps * (math.inf if known is None else known.error)
        return value

    def _best(self, _: Place, __: int) -> list[Stmt]:
        p, op = self.random.choice(self.bests)
        target = make.entry(p.name, p.type, p.facts, self.index(p.size))
        value = self.value(p.type, p.facts, 2)
        if value.type.is_integer or p.type.is_integer:
            value = make.cast(value, p.type) or value
        if p.type.kind == "f" and self.chance(0.5):
            found = make.function("fmin" if op == "<" else "fmax", target, value)
            if found is not None:
                return [Stmt("set", "", [target, found], is_best=True)]
        if not value.facts.is_exact:
            return []
        test = make.binary(op, value, target)
        if test is None:
            return []
        if self.chance(0.3):
            picked = make.choice(test, value, target)
            return [] if picked is None else [Stmt("set", "", [target, picked], is_best=True)]
        inner = Stmt("set", "", [target, value], is_best=True)
        return [Stmt("if", exprs=[test], bodies=[[inner]], is_best=True)]

    def _block(self, place: Place, depth: int) -> list[Stmt]:
        return [Stmt("block", bodies=[self.block(place, 2, depth - 1)])]

    def _if(self, place: Place, depth: int) -> list[Stmt]:
        condition = self.condition(3)
        if place.returns and self.chance(0.15):
            return [Stmt("if", exprs=[condition], bodies=[[Stmt("return")]])]
        bodies = [self.block(place, self.random.randint(1, 3), depth - 1)]
        if self.chance(0.5):
            bodies.append(self.block(place, self.random.randint(1, 2), depth - 1))
        return [Stmt("if", exprs=[condition], bodies=bodies)]

    def _for(self, place: Place, depth: int) -> list[Stmt]:
        trips = self.random.randint(1, 4)
        if place.steps * trips > MOST_STEPS:
            return []
        step = self.random.choice([1, 1, 1, 2, -1])
        first, end = (0, trips * step) if step > 0 else (trips - 1, -1)
        bound = make.integer(end)
        fixed = self.readable(lambda n: not n.writable and n.type.is_integer and not n.shape)
        if step == 1 and trips == 4 and fixed and self.chance(0.6):
            bound = make.binary("&", self.read(self.random.choice(fixed)), make.integer(3)) or bound
        if bound.type.kind == "u":  # it would be compared as one
            bound = make.cast(bound, INT) or make.integer(end)
        word = self.fresh("j")
        inside = len(self.names)
        self.names.append(Name(word, INT, Facts(0, max(first, end - 1))))
        deeper = replace(place, steps=place.steps * trips, in_loop=True, may_continue=True)
        body = self.block(deeper, self.random.randint(1, 3), depth - 1)
        del self.names[inside:]
        return [Stmt("for", word, [bound], [body], numbers=(first, end, step))]

    def _while(self, place: Place, depth: int) -> list[Stmt]:
        return self._counted("while", place, depth, self.chance(0.6))

    def _do(self, place: Place, depth: int) -> list[Stmt]:
        return self._counted("do", place, depth, False)

    def _counted(self, op: str, place: Place, depth: int, has_test: bool) -> list[Stmt]:
        trips = self.random.randint(1, 3)
        if place.steps * trips > MOST_STEPS:
            return []
        word = self.fresh("w")
        tests = [self.condition(2)] if has_test else []
        inside = len(self.names)
        self.names.append(Name(word, INT, Facts(0, trips)))
        deeper = replace(place, steps=place.steps * trips, in_loop=True, may_continue=op == "while")
        body = self.block(deeper, 2, depth - 1)
        del self.names[inside:]
        return [Stmt(op, word, tests, [body], numbers=(trips,))]

    def _switch(self, place: Place, depth: int) -> list[Stmt]:
        ints = self.readable(lambda n: n.type.is_integer)
        value = self.read(self.random.choice(ints)) if ints else make.integer(1)
        value = make.binary("&", value, make.integer(3)) or value
        labels = self.random.sample([0, 1, 2, 3, -1], self.random.randint(2, 4))
        # an end is the switch's own, and the next round is not to be reached from inside of it
        inner = replace(place, in_loop=False, may_continue=False)
        bodies = []
        for i in range(len(labels)):
            bodies.append([Stmt("block", bodies=[self.block(inner, self.random.randint(1, 2), 0)])])
            if self.chance(0.7) or i == len(labels) - 1:
                bodies[-1].append(Stmt("break"))
        return [Stmt("switch", "", [value], bodies, numbers=tuple(labels))]

    # Functions

    def table(self) -> None:
        t = self.random.choice([DOUBLE, FLOAT, INT])
        facts = Facts(0, 3) if t is INT else Facts(-8.0, 8.0, 2)
        shape = self.random.choice([(3,), (4,), (2, 2), (2, 3)])
        step = 1 if t is INT else 4
        n = math.prod(shape)
        numbers = [
            self.random.randint(int(facts.low) * step, int(facts.high) * step) for _ in range(n)
        ]
        values = tuple(k if t is INT else k / 4 for k in numbers)
        word = f"{self.prefix}t{len(self.tables)}"
        self.tables.append(Table(word, t, facts, shape, values))

    def helper(self) -> None:
        """Make a function that returns a value, or one that sets what it is given."""
        is_void = self.chance(0.3)
        inner = Grammar(self.random, self.prefix, tables=self.tables, functions=[*self.functions])
        inner.structures = self.structures
        inner.names = table_names(self.tables)
        inner.aggregates = None if self.aggregates is None else self.aggregates.within(inner)
        parameters = []
        for i in range(self.random.randint(1, 3)):
            t = self.any_type()
            size = self.random.choice([0, 0, 2, 3]) if i or not is_void else 2
            const = bool(i or not is_void)
            facts = facts_of(self.random, t)
            parameters.append(Parameter(f"a{i}", t, facts, size, const))
            inner.names.append(Name(f"a{i}", t, facts, (size,) if size else (), not const))
        body = inner.block(Place(returns=is_void, sums=False), self.random.randint(1, 3), 1)
        f = Function(f"{self.prefix}h{len(self.functions)}", parameters, body)
        if not is_void:
            f.type = self.any_type()
            f.facts = facts_of(self.random, f.type)
            result = inner.value(f.type, f.facts, 2)
            f.body.append(Stmt("return", "", [result], type=f.type, keep=True))
        self.functions.append(f)

    def aggregate_helper(self, aggregates: Aggregates) -> None:
        """Make a function of structures of the kind 'aggregates'."""
        inner = Grammar(self.random, self.prefix, tables=self.tables, functions=[*self.functions])
        inner.structures = self.structures
        inner.names = table_names(self.tables)
        aggregates.function(inner)

    def observed(self, place: Place, parameters: list[Parameter]) -> list[Stmt]:
        """Let arguments depend on what structures hold at the end."""
        found: list[Stmt] = []
        words = {p.name for p in parameters}
        stored = [name for name in self.names if name.writable and name.word in words]
        for _ in range(3):
            found += self._add(place, 0) if self.sums else []
            if stored:
                chosen = self.random.choice(stored)
                value = self.value(chosen.type, chosen.facts, 2)
                found.append(Stmt("set", "", [self.read(chosen), value]))
        return found

    def main(self, parameters: list[Parameter], writes: list[Parameter], n: int) -> Kernel:
        """Return the kernel, whose arguments have been put into `names`, `sums` and `bests`.

        Args:
            parameters: Of the kernel.
            writes: Those that are to be written as a whole.
            n: How many statements there are at least.
        """
        body = [
            Stmt(
                "set",
                "",
                [
                    make.entry(p.name, p.type, p.facts, make.integer(i)),
                    self.value(p.type, p.facts, 2),
                ],
                keep=True,
            )
            for p in writes
            for i in range(p.size)
        ]
        self.names += [Name(p.name, p.type, p.facts, (p.size,), True, False) for p in writes]
        place = Place(returns=True)
        body += [stmt for _ in 2 * self.structures for stmt in self._structure(place, 0)]
        if self.aggregates is None:
            body += self.block(place, n, 2)
        else:
            body += self.aggregates.start()
            body += self.block(place, n + 4, 2)
            body += self.observed(place, parameters)
        f = Function(f"{self.prefix}k", parameters, body)
        texts = [] if self.aggregates is None else self.aggregates.definitions()
        return Kernel(self.tables, [*self.functions, f], self.structures, texts)


def table_names(tables: list[Table]) -> list[Name]:
    """Return what expressions may name of tables."""
    return [Name(t.name, t.type, t.facts, t.shape) for t in tables]


def sum_of(p: Parameter, is_exact: bool) -> Sum:
    """Return how much one call may add to an argument's entries.

    Some thousand calls may add to one entry, and no bit of it may be lost where it is exact.
    """
    if p.type.is_integer:
        return Sum(p, 2.0**12, 0)
    if p.type.bits == 32:
        return Sum(p, 2.0**7, 2 if is_exact else -1)
    return Sum(p, 2.0**20, 8 if is_exact else -1)


def sum_facts(t: CType, is_exact: bool) -> Facts:
    """Return what is certain of an argument that is only added to."""
    if t.is_integer:
        return whole(t) if t.bits < 32 or t.kind == "u" else Facts(-(2**30), 2**30)
    if not is_exact:
        return Facts(-(2.0**36), 2.0**36, 0, 1e6)
    return Facts(-(2.0**36), 2.0**36, 8) if t.bits == 64 else Facts(-(2.0**20), 2.0**20, 2)
