# SPDX-License-Identifier: BSD-3-Clause
"""Prints a random kernel as C."""

from __future__ import annotations

import contextlib
import re
from random import Random
from typing import TYPE_CHECKING

from fuzz.tree import filled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fuzz.c_types import CType
    from fuzz.tree import Expr, Function, Kernel, Parameter, Stmt, Structure

_STRENGTH = {
    "?": 1,
    "||": 2,
    "&&": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    "==": 7,
    "!=": 7,
    "<": 8,
    "<=": 8,
    ">": 8,
    ">=": 8,
    "<<": 9,
    ">>": 9,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
    "cast": 12,
    "sign": 12,
}


def strength(e: Expr) -> int:
    """Return how tightly an expression binds; what is not an operator binds tightest."""
    return _STRENGTH.get(e.op, 13)


def operand(e: Expr, least: int) -> str:
    """Return an operand, in parentheses where it binds less tightly than its operator."""
    text = expression(e)
    return text if strength(e) >= least else f"({text})"


class Effects:
    """Writes values with effects that do not change them, the same for a seed.

    Attributes:
        random: Decides which, and how.
        locals: What the values need, as declarations.
    """

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.locals: list[str] = []

    def around(self, text: str, t: CType) -> str:
        """Return a text of the same value and, once promoted, of the same type."""
        if self.random.random() > 0.2:
            return text
        value, count = self._local(_spelled(t)), self._local("int")
        forms = [
            f"({value} = {text})",
            f"({value} = {text}, {value})",
            f"({count}++, {text})",
            f"(++{count} > 0 ? {text} : {value})",
            f"({count} > 0 && {count}++ > 3 ? {text} : ({value} = {text}))",
            f"({count} < 0 || ({value} = {text}, 1) ? {value} : {value})",
            f"({count} >= 0 && ({count} += 2, {value} = {text}, 1) ? {value} : {value})",
            f"({count}++ < 0 || ({count} -= 1, 0) ? {value} : {text})",
        ]
        if t.kind == "u":
            forms.append(f"({value} = {text}, {value}++)")
            forms.append(f"({value} = {text}, ++{value}, --{value})")
        return self.random.choice(forms)

    def _local(self, spelled: str) -> str:
        name = f"e{len(self.locals)}"
        self.locals.append(f"{spelled} {name} = 0;")
        return name


_effects: list[Effects] = []  # the last one writes, if there is any


@contextlib.contextmanager
def _without_effects(*, if_true: bool = True) -> Iterator[None]:
    held = [*_effects]
    if if_true:
        _effects.clear()
    yield
    _effects[:] = held


def _has(e: Expr, part: Expr) -> bool:
    return e == part or any(_has(arg, part) for arg in e.args)


def expression(e: Expr) -> str:
    """Return an expression with as few parentheses as C allows."""
    text = place(e)
    if not _effects or e.op in ("literal", "+p", "piece"):
        return text
    return _effects[-1].around(text, e.type)


def place(e: Expr) -> str:
    """Return what may be assigned to, or an expression without effects of its own."""
    if e.op in ("literal", "name"):
        return e.word
    if e.op == "at":
        return e.word + "".join(f"[{expression(arg)}]" for arg in e.args)
    if e.op == "cast":
        return f"({e.type.spellings[0]}){operand(e.args[0], 12)}"
    if e.op == "sign":
        inner = operand(e.args[0], 12)
        return f"{e.word}({inner})" if inner[0] == e.word else f"{e.word}{inner}"
    if e.op == "?":
        a, b, c = e.args
        return f"{operand(a, 2)} ? {expression(b)} : {operand(c, 1)}"
    if e.op in ("call", "function"):
        return f"{e.word}({', '.join(map(expression, e.args))})"
    if e.op == "piece":
        return filled_in(e.word, e.args)
    if e.op == "+p":
        return e.word if not e.args else f"{e.word} + {operand(e.args[0], 11)}"
    a, b = e.args
    least = strength(e)
    return f"{operand(a, least)} {e.op} {operand(b, least + 1)}"


def filled_in(text: str, exprs: Sequence[Expr]) -> str:
    with _without_effects():  # marks may stand for places, and in what is evaluated twice
        return filled(text, 0, lambda i, _: expression(exprs[i]))


class Printer:
    """Collects lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def block(self, body: list[Stmt]) -> None:
        self.depth += 1
        for stmt in body:
            with _without_effects(if_true=stmt.is_best or stmt.op in _KEPT or _updates(stmt)):
                getattr(self, f"_{stmt.op}")(stmt)
        self.depth -= 1

    def _declare(self, s: Stmt) -> None:
        const = "const " if s.numbers else ""
        self.line(f"{const}{_spelled(s.type)} {s.word} = {expression(s.exprs[0])};")

    def _array(self, s: Stmt) -> None:
        values = ", ".join(map(expression, s.exprs))
        extents = "".join(f"[{n}]" for n in s.numbers)
        if len(s.numbers) == 2 and len(s.exprs) > 1:
            n = s.numbers[1]
            rows = [s.exprs[i : i + n] for i in range(0, len(s.exprs), n)]
            values = ", ".join(f"{{{', '.join(map(expression, row))}}}" for row in rows)
        self.line(f"{_spelled(s.type)} {s.word}{extents} = {{{values}}};")

    def _structure(self, s: Stmt) -> None:
        assert s.structure is not None
        name, values = s.structure.name, [expression(e) for e in s.exprs]
        if s.how in ("of", "copy"):
            made = values[0] if s.how == "copy" else f"{name}_of({', '.join(values)})"
            self.line(f"struct {name} {s.word} = {made};")
            return
        lists = []
        for _ in range(max(s.numbers[0], 1)):
            texts = []
            for member, _t, _facts, extent in s.structure.members:
                own, values = values[: max(extent, 1)], values[max(extent, 1) :]
                value = f"{{{', '.join(own)}}}" if extent else own[0]
                texts.append(f".{member} = {value}" if s.how == "named" else value)
            lists.append(f"{{{', '.join(texts)}}}")
        extent_text = f"[{s.numbers[0]}]" if s.numbers[0] else ""
        whole = f"{{{', '.join(lists)}}}" if s.numbers[0] else lists[0]
        self.line(f"struct {name} {s.word}{extent_text} = {whole};")

    def _treat(self, s: Stmt) -> None:
        assert s.structure is not None
        name, (target, other) = s.structure.name, s.exprs
        texts = {
            "assign": f"{target.word} = {other.word};",
            "turn": f"{name}_turn(&{target.word});",
            "turned": f"{target.word} = {name}_turned({other.word});",
            "move": f"memmove(&{target.word}, &{other.word}, sizeof {other.word});",
            "zero": f"memset(&{target.word}, 0, sizeof(struct {name}));",
        }
        self.line(texts[s.how])

    def structure(self, made: Structure) -> None:
        """Print a structure and its functions."""
        name = made.name
        self.line(f"struct {name} {{")
        for member, t, _, extent in made.members:
            self.line(f"  {_spelled(t)} {member}{f'[{extent}]' if extent else ''};")
        self.line("};")
        given = ", ".join(f"{_spelled(t)} {member}" for member, t, _, _ in made.members)
        self.line(f"static struct {name} {name}_of({given})")
        self.line(f"{{\n  struct {name} r;")
        for member, _, _, extent in made.members:
            each = f"for (int i = 0; i < {extent}; ++i) r.{member}[i]" if extent else f"r.{member}"
            self.line(f"  {each} = {member};")
        self.line("  return r;\n}")
        self.line(f"static void {name}_turn(struct {name} *p)\n{{")
        for member, t, _, extent in made.members:
            if extent:
                moved = [f"p->{member}[{i}] = p->{member}[{i + 1}]; " for i in range(extent - 1)]
                first = f"{_spelled(t)} {member} = p->{member}[0]; "
                self.line(f"  {first}{''.join(moved)}p->{member}[{extent - 1}] = {member};")
        self.line("}")
        self.line(f"static struct {name} {name}_turned(struct {name} p)")
        self.line(f"{{\n  {name}_turn(&p);\n  return p;\n}}")

    def _pointer(self, s: Stmt) -> None:
        self.line(f"const {_spelled(s.type)} *{s.word} = {expression(s.exprs[0])};")

    def _set(self, s: Stmt) -> None:
        target, value = s.exprs
        if s.word == "++":
            self.line(f"{place(target)}++;")
        elif s.word:
            self.line(f"{place(target)} {s.word}= {expression(value.args[1])};")
        else:
            self.line(f"{place(target)} = {expression(value)};")

    def _aggregate(self, s: Stmt) -> None:
        for line in filled_in(s.word, s.exprs).splitlines():
            self.line(line)

    def _call(self, s: Stmt) -> None:
        self.line(f"{s.word}({', '.join(map(expression, s.exprs))});")

    def _block(self, s: Stmt) -> None:
        self.line("{")
        self.block(s.bodies[0])
        self.line("}")

    def _if(self, s: Stmt) -> None:
        self.line(f"if ({expression(s.exprs[0])}) {{")
        self.block(s.bodies[0])
        if len(s.bodies) > 1:
            self.line("} else {")
            self.block(s.bodies[1])
        self.line("}")

    def _for(self, s: Stmt) -> None:
        first, _, step = s.numbers
        j, end = s.word, operand(s.exprs[0], 9)
        on = f"++{j}" if step == 1 else f"--{j}" if step == -1 else f"{j} += {step}"
        self.line(f"for (int {j} = {first}; {j} {'<' if step > 0 else '>'} {end}; {on}) {{")
        self.block(s.bodies[0])
        self.line("}")

    def _while(self, s: Stmt) -> None:
        self.line(f"int {s.word} = {s.numbers[0]};")
        condition = f" && {operand(s.exprs[0], 4)}" if s.exprs else ""
        self.line(f"while ({s.word} > 0{condition}) {{")
        self.line(f"  --{s.word};")
        self.block(s.bodies[0])
        self.line("}")

    def _do(self, s: Stmt) -> None:
        self.line(f"int {s.word} = {s.numbers[0]};")
        self.line("do {")
        self.block(s.bodies[0])
        self.line(f"}} while (--{s.word} > 0);")

    def _switch(self, s: Stmt) -> None:
        self.line(f"switch ({expression(s.exprs[0])}) {{")
        for label, body in zip(s.numbers, s.bodies, strict=True):
            self.line(f"case {label}:" if label >= 0 else "default:")
            self.block(body)
        self.line("}")

    def _return(self, s: Stmt) -> None:
        self.line(f"return {expression(s.exprs[0])};" if s.exprs else "return;")

    def _break(self, _: Stmt) -> None:
        self.line("break;")

    def _continue(self, _: Stmt) -> None:
        self.line("continue;")

    def function(self, f: Function, *, is_main: bool) -> None:
        before = "" if is_main else "static "
        returned = "void" if f.type is None else _spelled(f.type)
        head = f"{before}{returned} {f.name}({', '.join(map(_parameter, f.parameters))})"
        self.line(filled_in(f.head, ()) if f.head else head)
        self.line("{")
        start = len(self.lines)
        self.block(f.body)
        if _effects:
            self.lines[start:start] = [f"  {text}" for text in _effects[-1].locals]
            _effects[-1].locals.clear()
        self.line("}")


_KEPT = ("structure", "treat", "aggregate")
"""Statements whose expressions may be whole structures."""


def _updates(s: Stmt) -> bool:
    """Whether a statement assigns what its own target flows into: that has to be seen to."""
    return s.op == "set" and not s.word and _has(s.exprs[1], s.exprs[0])


def _spelled(t: CType | None) -> str:
    return t.spellings[0] if t is not None else "void"


def _parameter(p: Parameter) -> str:
    spelling = p.type.spellings[p.spelling % len(p.type.spellings)]
    if not p.size:
        return f"{spelling} {p.name}"
    return f"{'const ' if p.const else ''}{spelling} *{p.name}"


def _number(value: float, t: CType) -> str:
    return f"{value!r}f" if t.kind == "f" and t.bits == 32 else repr(value)


def source(kernel: Kernel) -> str:
    """Return the kernel as C."""
    printer = Printer()
    if kernel.definitions:  # what is left to the host's compiler has the headers it names
        printer.line("#include <complex.h>")
    for made in kernel.structures:
        printer.structure(made)
    for text in kernel.definitions:
        printer.line(text)
    for table in kernel.tables:
        extents = "".join(f"[{n}]" for n in table.shape)
        values = [_number(v, table.type) for v in table.values]
        if len(table.shape) == 2:
            n = table.shape[1]
            rows = [values[i : i + n] for i in range(0, len(values), n)]
            values = [f"{{{', '.join(row)}}}" for row in rows]
        spelled = _spelled(table.type)
        printer.line(f"static const {spelled} {table.name}{extents} = {{{', '.join(values)}}};")
    _effects[:] = [Effects(f"{kernel.effects} effects")] if kernel.effects is not None else []
    for f in kernel.functions:
        printer.function(f, is_main=f is kernel.main)
    _effects.clear()
    return with_macros("\n".join(printer.lines) + "\n")


# A sign of a name, an element or a number, behind an operator and a blank, a bracket, or return.
_SIGNED = re.compile(
    r"(?:(?P<blank>(?<=[-+*/%&|^=<>,?:!]) )|(?<=\()|(?<=return ))"
    r"(?P<value>-(?:[A-Za-z_]\w*(?:\[\w+\])*|\d+))(?![\w\[(.]|->)"
)
_SMALL = re.compile(r"(?<=[-+*/=<>] )[37](?=[ ;)])")
_SIZES = {
    "3": ("(int)(sizeof(int)-1)", "((int)sizeof (float) - 1)", "(int)(sizeof(char)*3)"),
    "7": ("(int)(sizeof(long)-1)", "((int)sizeof (double) - 1)", "(int)(sizeof(char)*7)"),
}


def with_macros(text: str) -> str:
    """Return a text of the same meaning, in one of two texts with names of macros for signs.

    The name of ``-x`` may follow a minus without a blank, as in ``a -M`` or ``-M``. Some numbers
    become sizes. The text decides how, so that it is always the same.
    """
    random = Random(text)
    if random.random() < 0.5:
        return text
    prefix, bodies = f"M{random.randrange(10**8)}_", []

    def named(found: re.Match[str]) -> str:
        if random.random() < 0.3:
            return found[0]
        bodies.append(found["value"])
        blank = "" if found["blank"] is None or random.random() < 0.5 else " "
        return f"{blank}{prefix}{len(bodies) - 1}"

    text = _SIGNED.sub(named, text)
    text = _SMALL.sub(lambda found: random.choice((*_SIZES[found[0]], found[0])), text)
    return "".join(f"#define {prefix}{i} {body}\n" for i, body in enumerate(bodies)) + text
