# SPDX-License-Identifier: BSD-3-Clause
"""What random kernels do with structures in structures, and with whole ones: the kind 'aggregates'.

Values of structures are texts, one in C and one in Python, with marks where expressions of numbers
stand. In Python a structure is an object, a pointer to one is the object itself, and whatever
takes a value copies it. Members are always within the facts of their declaration, so every value of
a structure may stand wherever one of its kind does. Subscripts and conditions may read what an
assignment changes, as C has it; nothing else of a statement reads what it has an effect on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fuzz.c_types import INT, CType
from fuzz.facts import Facts
from fuzz.grammar import Name, Place, facts_of
from fuzz.tree import Expr, Function, Stmt, both

if TYPE_CHECKING:
    from fuzz.grammar import Grammar

_NOTHING = Facts(0, 0)
_OPAQUE_SHARE = 0.2  # of kernels may have what the library leaves to the host's compiler


@dataclass(frozen=True, slots=True)
class Member:
    """A member: a number or a structure, or an array of them where `extent` is not 0."""

    name: str
    type: CType
    facts: Facts
    extent: int = 0
    record: Record | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A structure, which may hold others."""

    name: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """A variable of structures.

    Attributes:
        record: Which.
        extent: Of an array; 0 for one structure, or a pointer.
        is_pointer: It is a pointer to one.
        is_const: Nothing is stored through its name.
    """

    record: Record
    extent: int = 0
    is_pointer: bool = False
    is_const: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A value of a structure in C and in Python; `is_loose` if a member cannot follow as it is."""

    c: str
    py: str
    is_loose: bool = False

    @property
    def tight(self) -> str:
        return f"({self.c})" if self.is_loose else self.c


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of structures.

    Attributes:
        function: It.
        takes: Its parameters: structures by value or behind pointers, or numbers.
        gives: The structure that it returns, or the number with what is certain of it.
    """

    function: Function
    takes: tuple[Holder | Member, ...]
    gives: Record | Member | None


class Marks:
    """The expressions of numbers in a text."""

    def __init__(self) -> None:
        self.exprs: list[Expr] = []

    def __call__(self, e: Expr, t: CType | None = None) -> str:
        """Return the mark of an expression, converted to a type if one is given."""
        self.exprs.append(e)
        return f"«{len(self.exprs) - 1}:{t.name if t is not None else ''}»"


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


@dataclass(slots=True)
class Aggregates:
    """Makes statements of structures for a grammar.

    Attributes:
        grammar: Whose kernel or function it is.
        records: The structures.
        helpers: Functions so far.
        may_be_opaque: Whether there may be effects where structures are copied.
        n_plain: While it is not 0, neither calls nor effects are made.
        depth: How many pieces stand in one another.
    """

    grammar: Grammar
    records: list[Record] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    may_be_opaque: bool = False
    n_plain: int = 0
    depth: int = 0

    def chance(self, share: float) -> bool:
        return self.grammar.chance(share)

    def within(self, inner: Grammar) -> Aggregates:
        """Return what makes the same for a function."""
        return Aggregates(inner, self.records, [*self.helpers], self.may_be_opaque)

    # Structures

    def define(self) -> None:
        """Make one or two structures, of which the second holds the first."""
        g = self.grammar
        self.may_be_opaque = self.chance(_OPAQUE_SHARE)
        inner = self._record([])
        if self.chance(0.7):
            whole = Member("", INT, _NOTHING, 0, inner)
            several = Member("", INT, _NOTHING, 2, inner)
            self._record(
                [whole, several] if self.chance(0.5) else [g.random.choice([whole, several])]
            )

    def definitions(self) -> list[str]:
        return [definition(record) for record in self.records]

    def _record(self, held: list[Member]) -> Record:
        g = self.grammar
        members = [*held, Member("", INT, Facts(0, 1))]
        for _ in range(g.random.randint(1, 2 if held else 3)):
            t = g.any_type()
            members.append(Member("", t, facts_of(g.random, t), g.random.choice([0, 0, 2, 3])))
        g.random.shuffle(members)
        named = tuple(
            Member(f"m{i}", m.type, m.facts, m.extent, m.record) for i, m in enumerate(members)
        )
        made = Record(f"{g.prefix}a{len(self.records)}", named)
        self.records.append(made)
        return made

    def declared(self, word: str, holder: Holder, *, at: int | None = None) -> None:
        """Let expressions name a variable, and the numbers in it."""
        g = self.grammar
        found = [Name(word, INT, _NOTHING, (), False, False, holder=holder)]
        arrow = "->" if holder.is_pointer else "."
        for one in [f"{word}[0]", f"{word}[1]"] if holder.extent else [word]:
            for name, t, facts, extent in _numbers(f"{one}{arrow}", holder.record):
                shape = (extent,) if extent else ()
                found.append(Name(name, t, facts, shape, not holder.is_const))
        g.names[len(g.names) if at is None else at : at] = found

    # Values

    def index(self, marks: Marks, extent: int) -> str:
        return marks(self.grammar.index(extent), INT)

    def condition(self, marks: Marks) -> str:
        self.n_plain += not self.may_be_opaque
        found = marks(self.grammar.condition(self.grammar.random.choice([1, 1, 2])))
        self.n_plain -= not self.may_be_opaque
        return found

    def holders(self) -> list[tuple[str, Holder]]:
        return [(n.word, n.holder) for n in self.grammar.names if n.holder is not None]

    def place(
        self,
        marks: Marks,
        record: Record,
        *,
        stored: bool = False,
        fixed: bool = False,
        before: str = "",
    ) -> Text | None:
        """Return a structure that has a name.

        Args:
            marks: Of the text.
            record: Which structure.
            stored: Whether it may be changed.
            fixed: Whether its subscripts are numbers, and no pointer leads to it.
            before: It is declared before this variable.
        """
        g = self.grammar
        known = self.holders()
        if before:
            known = known[: [word for word, _ in known].index(before)]
        found = [
            one
            for one in places_in(known, record)
            if not ((stored and one[1].is_const) or (fixed and one[1].is_pointer))
        ]
        if not found:
            return None
        word, holder, member = g.random.choice(found)

        def subscript(extent: int) -> str:
            if fixed:
                return str(g.random.randrange(extent))
            return self.index(marks, extent)

        c, py = word, word
        if holder.extent:
            at = subscript(holder.extent)
            c, py = f"{c}[{at}]", f"{py}[{at}]"
        if member is None:
            c = g.random.choice([f"(*{c})", f"{c}[0]"]) if holder.is_pointer else c
            return Text(c, py)
        c, py = f"{c}{'->' if holder.is_pointer else '.'}{member.name}", f"{py}.{member.name}"
        if member.extent:
            at = subscript(member.extent)
            c, py = f"{c}[{at}]", f"{py}[{at}]"
        return Text(c, py)

    def listed(self, marks: Marks, record: Record, depth: int) -> Text:
        """Return a list in braces; what it leaves out is 0."""
        g = self.grammar
        chosen = list(record.members)
        how = g.random.choice(["all", "first", "named", "named"])
        if how == "first":
            chosen = chosen[: g.random.randint(1, len(chosen))]
        elif how == "named":
            chosen = g.random.sample(chosen, g.random.randint(1, len(chosen)))
        texts, values = [], {m.name: zero(m) for m in record.members}
        for m in chosen:
            n = g.random.randint(1, m.extent) if m.extent else 1
            items = [self._item(marks, m, depth) for _ in range(n)]
            c = items[0].c
            py = items[0].py
            if m.extent:
                c = f"{{{', '.join(one.c for one in items)}}}"
                rest = [zero(Member("", m.type, m.facts, 0, m.record))] * (m.extent - n)
                py = f"[{', '.join([*(one.py for one in items), *rest])}]"
            texts.append(f".{m.name} = {c}" if how == "named" else c)
            values[m.name] = py
        return Text(f"{{{', '.join(texts)}}}", made_of(values))

    def _item(self, marks: Marks, m: Member, depth: int) -> Text:
        if m.record is None:
            found = marks(self.grammar.value(m.type, m.facts, 0 if self.depth else 1), m.type)
            return Text(found, found)
        return self.entry(marks, m.record, depth)

    def entry(self, marks: Marks, record: Record, depth: int) -> Text:
        """Return what may stand in a list for a structure."""
        if depth <= 0 or self.chance(0.4):
            return self.listed(marks, record, depth - 1)
        value = self.value(marks, record, depth - 1)
        return Text(value.c, f"{value.py}.copied()")

    def literal(self, marks: Marks, record: Record, depth: int) -> Text:
        found = self.listed(marks, record, depth)
        return Text(f"(struct {record.name}){found.c}", found.py)

    def value(self, marks: Marks, record: Record, depth: int) -> Text:
        """Return a value of a structure, without effects."""
        kind = self.grammar.random.random()
        found = None
        if depth > 0 and kind < 0.25:
            found = self.choice(marks, record, depth)
        elif depth > 0 and kind < 0.5 and not self.n_plain:
            found = self.called(marks, record, depth)
        elif depth > 0 and kind < 0.56:
            first = marks(self.grammar.expression(1))
            inner = self.value(marks, record, depth - 1)
            found = Text(f"({first}, {inner.c})", f"({first}, {inner.py})[1]")
        elif kind < 0.7:
            found = self.literal(marks, record, depth)
        found = found or self.place(marks, record)
        return found or self.literal(marks, record, depth)

    def choice(self, marks: Marks, record: Record, depth: int) -> Text:
        """Return a choice; of what has a name, or is a list, unless the kernel may be opaque."""
        condition = self.condition(marks)
        if self.may_be_opaque and not self.n_plain:
            a, b = (self.value(marks, record, depth - 1) for _ in range(2))
        else:
            self.n_plain += 1
            a, b = (self._chosen(marks, record) for _ in range(2))
            if self.chance(0.3):
                c, d = (self.place(marks, record) for _ in range(2))
                if c is not None and d is not None:
                    other = self.condition(marks)
                    b = Text(f"({other}) ? {c.c} : {d.c}", f"({c.py} if {other} else {d.py})", True)
            self.n_plain -= 1
        return Text(
            f"({condition}) ? {a.tight} : {b.c}", f"({a.py} if {condition} else {b.py})", True
        )

    def _chosen(self, marks: Marks, record: Record) -> Text:
        found = self.place(marks, record) if self.chance(0.75) else None
        return found or self.literal(marks, record, 0)

    def called(self, marks: Marks, record: Record | None, depth: int) -> Text | None:
        """Return a call of a helper that returns a structure."""
        found = [h for h in self.helpers if h.gives is record]
        return self._call(marks, self.grammar.random.choice(found), depth) if found else None

    def _call(self, marks: Marks, helper: Helper, depth: int) -> Text | None:
        c, py = [], []
        for one in helper.takes:
            if isinstance(one, Member):
                mark = marks(self.grammar.value(one.type, one.facts, 1), one.type)
                c.append(mark)
                py.append(mark)
            elif one.is_pointer:
                place = self.place(marks, one.record, stored=not one.is_const)
                if place is None:
                    return None
                c.append(f"&{place.c}")
                py.append(place.py)
            else:
                value = self.value(marks, one.record, depth - 1)
                c.append(value.c)
                py.append(value.py)
        name = helper.function.name
        return Text(f"{name}({', '.join(c)})", f"{name}({', '.join(py)})")

    def piece(self) -> Expr | None:
        """Return a number in a structure, of which only that is used."""
        if self.depth > 1:
            return None
        self.depth += 1
        marks, g = Marks(), self.grammar
        numbers = [h for h in self.helpers if isinstance(h.gives, Member)]
        made = None
        if numbers and not self.n_plain and self.chance(0.2):
            helper = g.random.choice(numbers)
            call = self._call(marks, helper, 1)
            assert isinstance(helper.gives, Member)
            if call is not None:
                made = self._expr(marks, call, helper.gives)
        if made is None:
            marks = Marks()
            record = g.random.choice(self.records)
            value = self.value(marks, record, 1)
            made = self._expr(marks, *self.number_in(marks, value, record))
        self.depth -= 1
        return made

    def number_in(self, marks: Marks, value: Text, record: Record) -> tuple[Text, Member]:
        """Return a number in a structure."""
        c, py = value.tight, value.py
        while True:
            m = self.grammar.random.choice(record.members)
            c, py = f"{c}.{m.name}", f"{py}.{m.name}"
            if m.extent:
                at = self.index(marks, m.extent)
                c, py = f"{c}[{at}]", f"{py}[{at}]"
            if m.record is None:
                return Text(c, py), m
            record = m.record

    def _expr(self, marks: Marks, text: Text, m: Member) -> Expr:
        return Expr("piece", m.type, m.facts, tuple(marks.exprs), both(text.c, text.py))

    # Statements

    def statement(self, _: Place, __: int) -> list[Stmt]:
        """Return one of many kinds of statements."""
        kinds = [self._assign] * 6 + [self._declare] * 3 + [self._point] * 2 + [self._move] * 5
        kinds += [self._treat, self._through, self._chain, self._set_first, self._counted_member]
        kinds += [self._void] * 2 + [self._number] + [self._counted] * self.may_be_opaque
        record = self.grammar.random.choice(self.records)
        found = self.grammar.random.choice(kinds)(Marks(), record)
        return [] if found is None else [found]

    def _stmt(self, marks: Marks, c: str, py: str) -> Stmt:
        return Stmt("aggregate", both(c, py), marks.exprs)

    def start(self) -> list[Stmt]:
        """Return declarations of one structure and of an array of each."""
        found = [
            self.declare(Marks(), record, extent) for record in self.records for extent in (0, 2)
        ]
        pointer = self._point(Marks(), self.grammar.random.choice(self.records))
        return found if pointer is None else [*found, pointer]

    def _declare(self, marks: Marks, record: Record) -> Stmt:
        return self.declare(marks, record, self.grammar.random.choice([0, 0, 2, 3]))

    def declare(self, marks: Marks, record: Record, extent: int) -> Stmt:
        g, word = self.grammar, self.grammar.fresh("v")
        is_const = self.chance(0.15)
        head = f"{'const ' if is_const else ''}struct {record.name} {word}"
        if extent:
            n = g.random.randint(1, extent)
            items = [self.entry(marks, record, 2) for _ in range(n)]
            order = list(range(n))
            is_named = self.chance(0.3)
            if is_named:
                order = g.random.sample(range(extent), n)
            texts = [
                f"[{at}] = {one.c}" if is_named else one.c
                for at, one in zip(order, items, strict=True)
            ]
            values = [zero(Member("", INT, _NOTHING, 0, record)) for _ in range(extent)]
            for at, one in zip(order, items, strict=True):
                values[at] = one.py
            bound = extent if is_named or n < extent or self.chance(0.7) else ""
            c = f"{head}[{bound}] = {{{', '.join(texts)}}};"
            found = self._stmt(marks, c, f"{word} = [{', '.join(values)}]")
        elif self.chance(0.4):
            text = self.listed(marks, record, 2)
            found = self._stmt(marks, f"{head} = {text.c};", f"{word} = {text.py}")
        else:
            text = self.value(marks, record, 3)
            found = self._stmt(marks, f"{head} = {text.c};", f"{word} = {text.py}.copied()")
        self.declared(word, Holder(record, extent, False, is_const))
        return found

    def _assign(self, marks: Marks, record: Record) -> Stmt | None:
        target = self.place(marks, record, stored=True)
        if target is None:
            return None
        text = self.value(marks, record, 3)
        return self._stmt(marks, f"{target.c} = {text.c};", f"{target.py}.assign({text.py})")

    def _chain(self, marks: Marks, record: Record) -> Stmt | None:
        """Assign to two."""
        first = self.place(marks, record, stored=True, fixed=True)
        second = self.place(marks, record, stored=True)
        if first is None or second is None:
            return None
        text = self.value(marks, record, 2)
        c = f"{first.c} = {second.c} = {text.c};"
        # the place of the second is found before anything is stored
        py = f"_to, _from = {second.py}, {text.py}.copied()\n_to.assign(_from)\n"
        return self._stmt(marks, c, py + f"{first.py}.assign(_from)")

    def _set_first(self, marks: Marks, record: Record) -> Stmt | None:
        """Use a number of what has just been assigned."""
        g = self.grammar
        target = self.place(marks, record, stored=True, fixed=True)
        if target is None:
            return None
        text = self.value(marks, record, 2)
        stored = Text(f"{target.c} = {text.c}", "_at", True)
        m = g.random.choice([m for m in record.members if m.record is None])
        at = f"[{g.random.randrange(m.extent)}]" if m.extent else ""
        word = g.fresh("v")
        c = f"{m.type.spellings[0]} {word} = {stored.tight}.{m.name}{at};"
        py = f"_at = {target.py}\n_at.assign({text.py})\n{word} = _at.{m.name}{at}"
        self._new_number(word, m.type, m.facts)
        return self._stmt(marks, c, py)

    def _new_number(self, word: str, t: CType, facts: Facts) -> None:
        self.grammar.names.append(Name(word, t, facts))

    def _number(self, marks: Marks, record: Record) -> Stmt:
        """Declare a number that is part of a value."""
        word = self.grammar.fresh("v")
        text, m = self.number_in(marks, self.value(marks, record, 3), record)
        self._new_number(word, m.type, m.facts)
        return self._stmt(marks, f"{m.type.spellings[0]} {word} = {text.c};", f"{word} = {text.py}")

    def _arrays(self, record: Record, *, stored: bool) -> list[tuple[str, Holder]]:
        return [
            (word, h)
            for word, h in self.holders()
            if h.record is record and h.extent and not (stored and h.is_const)
        ]

    def _counter(self, marks: Marks, extent: int) -> tuple[str, str, str, str]:
        """Return the name of a counter, its declaration, and in C and Python one that it steps."""
        g, word = self.grammar, self.grammar.fresh("j")
        how = g.random.choice(["post", "post", "pre", "down"])
        start = g.random.randrange(extent - 1) if how == "pre" else g.random.randrange(extent)
        c = {"post": f"{word}++", "pre": f"++{word}", "down": f"{word}--"}[how]
        py = {
            "post": f"({word} := {word} + 1) - 1",
            "pre": f"({word} := {word} + 1)",
            "down": f"({word} := {word} - 1) + 1",
        }[how]
        return word, str(start), c, py

    def _counted_member(self, marks: Marks, record: Record) -> Stmt | None:
        """Set or read one number of the next of an array."""
        g = self.grammar
        found = self._arrays(record, stored=True)
        if not found:
            return None
        word, holder = g.random.choice(found)
        j, start, c, py = self._counter(marks, holder.extent)
        m = g.random.choice([m for m in record.members if m.record is None])
        at = f"[{self.index(marks, m.extent)}]" if m.extent else ""
        head = f"int {j} = {start};\n"
        if self.chance(0.5):
            value = marks(g.value(m.type, m.facts, 2), m.type)
            c = f"{head}{word}[{c}].{m.name}{at} = {value};"
            py = f"{j} = {start}\n{word}[{py}].{m.name}{at or ''} = {value}"
        else:
            new = g.fresh("v")
            c = f"{head}{m.type.spellings[0]} {new} = {word}[{c}].{m.name}{at};"
            py = f"{j} = {start}\n{new} = {word}[{py}].{m.name}{at}"
            self._new_number(new, m.type, m.facts)
        self._new_number(j, INT, Facts(-1, holder.extent))
        return self._stmt(marks, c, py)

    def _counted(self, marks: Marks, record: Record) -> Stmt | None:
        """Copy the next of an array, or into it: a kernel with that is opaque."""
        g = self.grammar
        found = self._arrays(record, stored=True)
        if not found:
            return None
        word, holder = g.random.choice(found)
        j, start, c, py = self._counter(marks, holder.extent)
        head = f"int {j} = {start};\n"
        kind = g.random.random()
        if kind < 0.4:
            text = self.value(marks, record, 2)
            c = f"{head}{word}[{c}] = {text.c};"
            py = f"{j} = {start}\n{word}[{py}].assign({text.py})"
        elif kind < 0.7:
            new = g.fresh("v")
            c = f"{head}struct {record.name} {new} = {word}[{c}];"
            py = f"{j} = {start}\n{new} = {word}[{py}].copied()"
            self.declared(new, Holder(record))
        else:
            new = g.fresh("v")
            c = f"{head}struct {record.name} {new}[2] = {{{word}[{c}], {word}[0]}};"
            py = f"{j} = {start}\n{new} = [{word}[{py}].copied(), {word}[0].copied()]"
            self.declared(new, Holder(record, 2))
        self._new_number(j, INT, Facts(-1, holder.extent))
        return self._stmt(marks, c, py)

    # Pointers

    def _point(self, marks: Marks, record: Record) -> Stmt | None:
        """Declare a pointer."""
        is_const = self.chance(0.3)
        place = self.place(marks, record, stored=not is_const)
        if place is None:
            return None
        word = self.grammar.fresh("q")
        head = f"{'const ' if is_const else ''}struct {record.name} *{word}"
        found = self._stmt(marks, f"{head} = &{place.c};", f"{word} = {place.py}")
        self.declared(word, Holder(record, 0, True, is_const))
        return found

    def _move(self, marks: Marks, record: Record) -> Stmt | None:
        """Let a pointer lead elsewhere, where it may say itself."""
        g = self.grammar
        found = [(w, h) for w, h in self.holders() if h.is_pointer and h.record is record]
        if not found:
            return self._point(marks, record)
        word, holder = g.random.choice(found)
        known = [w for w, _ in self.holders()]
        earlier = known[: known.index(word)]
        arrays = [
            (w, h) for w, h in self._arrays(record, stored=not holder.is_const) if w in earlier
        ]
        if arrays and self.chance(0.6):
            return self._step(marks, word, *g.random.choice(arrays))
        place = self.place(marks, record, stored=not holder.is_const, before=word)
        if place is None:
            return None
        if self.chance(0.2) and not holder.is_const:
            return self._set_there(marks, word, place, record)
        if self.chance(0.5):
            return self._stmt(marks, f"{word} = &{place.c};", f"{word} = {place.py}")
        self.n_plain += 1
        condition = self.condition(marks)
        self.n_plain -= 1
        if self.chance(0.3):
            number, op = g.fresh("v"), g.random.choice(["&&", "||"])
            self._new_number(number, INT, Facts(0, 1))
            c = f"int {number} = ({condition}) {op} ({word} = &{place.c});"
            stays = number if op == "||" else f"not {number}"
            py = f"{number} = 1 if {condition} else 0\n{word} = {word} if {stays} else {place.py}"
            py += f"\n{number} = 1" if op == "||" else ""
            return self._stmt(marks, c, py)
        a, b = (f"&{place.c}", place.py), (word, word)
        if self.chance(0.5):
            a, b = b, a
        c = f"{word} = ({condition}) ? {a[0]} : {b[0]};"
        return self._stmt(marks, c, f"{word} = {a[1]} if {condition} else {b[1]}")

    def _set_there(self, marks: Marks, word: str, place: Text, record: Record) -> Stmt:
        """Let a pointer lead elsewhere, and set a number there in the same expression."""
        g = self.grammar
        m = g.random.choice([m for m in record.members if m.record is None])
        at = f"[{g.random.randrange(m.extent)}]" if m.extent else ""
        value = marks(g.simple(m.type, m.facts), m.type)
        c = f"({word} = &{place.c})->{m.name}{at} = {value};"
        return self._stmt(marks, c, f"{word} = {place.py}\n{word}.{m.name}{at} = {value}")

    def _step(self, marks: Marks, word: str, array: str, holder: Holder) -> Stmt:
        """Let a pointer lead into an array, and on from there."""
        g = self.grammar
        indices = [
            m.name for m in holder.record.members if m.facts == Facts(0, 1) and m.type is INT
        ]
        member = indices[0]
        kind = g.random.choice(["index", "own", "add", "plus", "counted", "next"])
        if kind == "index":
            at = self.index(marks, holder.extent)
            return self._stmt(marks, f"{word} = {array} + ({at});", f"{word} = {array}[{at}]")
        if kind == "own":
            c = f"{word} = &{array}[{word}->{member}];"
            return self._stmt(marks, c, f"{word} = {array}[{word}.{member}]")
        if kind == "next":
            return self._stmt(marks, f"{word} = {array};\n++{word};", f"{word} = {array}[1]")
        if kind == "counted":
            j, start = g.fresh("j"), g.random.randrange(holder.extent)
            c = f"int {j} = {start};\n{word} = {array};\n{word} += {j}++;"
            self._new_number(j, INT, Facts(0, holder.extent))
            return self._stmt(marks, c, f"{j} = {start + 1}\n{word} = {array}[{start}]")
        on = f"{word} += {word}->{member};"
        if kind == "plus":
            on = f"{word} = {word} + {word}->{member};"
        c = f"{word} = {array};\n{on}"
        return self._stmt(marks, c, f"{word} = {array}[{array}[0].{member}]")

    def _through(self, marks: Marks, record: Record) -> Stmt | None:
        """Exchange two through a third."""
        a, b = (self.place(marks, record, stored=True) for _ in range(2))
        if a is None or b is None:
            return None
        word = self.grammar.fresh("v")
        c = f"struct {record.name} {word} = {a.c};\n{a.c} = {b.c};\n{b.c} = {word};"
        py = f"{word} = {a.py}.copied()\n{a.py}.assign({b.py})\n{b.py}.assign({word})"
        return self._stmt(marks, c, py)

    def _treat(self, marks: Marks, record: Record) -> Stmt | None:
        """Copy bytes, or set them."""
        target = self.place(marks, record, stored=True)
        if target is None:
            return None
        if self.chance(0.3):
            c = f"memset(&{target.c}, 0, sizeof(struct {record.name}));"
            return self._stmt(marks, c, f"{target.py}.clear()")
        other = self.place(marks, record)
        assert other is not None
        c = f"memmove(&{target.c}, &{other.c}, sizeof(struct {record.name}));"
        return self._stmt(marks, c, f"{target.py}.assign({other.py})")

    def _void(self, marks: Marks, _: Record) -> Stmt | None:
        call = self.called(marks, None, 2)
        return None if call is None else self._stmt(marks, f"{call.c};", call.py)

    # Functions

    def _taken(self, kind: str) -> list[Holder | Member]:
        """Return what a function takes, of which one that returns nothing changes the first."""
        g = self.grammar
        takes: list[Holder | Member] = [Holder(g.random.choice(self.records))]
        if kind == "nothing":
            takes[0] = Holder(g.random.choice(self.records), 0, True)
        for _ in range(g.random.randint(0, 2)):
            roll, record = g.random.random(), g.random.choice(self.records)
            if roll < 0.35:
                t = g.any_type()
                takes.append(Member("", t, facts_of(g.random, t)))
            elif roll < 0.7:
                takes.append(Holder(record))
            else:
                takes.append(Holder(record, 0, True, kind != "nothing" or self.chance(0.5)))
        return takes

    def function(self, inner: Grammar) -> None:
        """Make a function that takes structures: by value, or behind pointers."""
        g = self.grammar
        own = inner.aggregates = self.within(inner)
        kind = g.random.choice(["structure", "structure", "number", "nothing"])
        takes = self._taken(kind)
        heads, body = [], []
        for i, one in enumerate(takes):
            word = f"a{i}"
            if isinstance(one, Member):
                heads.append(f"{one.type.spellings[0]} {word}")
                inner.names.append(Name(word, one.type, one.facts, (), True))
                continue
            star = " *" if one.is_pointer else " "
            heads.append(f"{'const ' if one.is_const else ''}struct {one.record.name}{star}{word}")
            own.declared(word, one)
        for _ in range(g.random.randint(1, 3)):
            body += inner.statement(Place(returns=kind == "nothing", sums=False), 1)
        name = f"{g.prefix}h{len(g.functions)}"
        copies = "".join(
            f"a{i} = a{i}.copied()\n"
            for i, one in enumerate(takes)
            if isinstance(one, Holder) and not one.is_pointer
        )
        gives: Record | Member | None = None
        marks, returned = Marks(), "void"
        if kind == "structure":
            gives = g.random.choice(self.records)
            returned = f"struct {gives.name}"
            text = own.value(marks, gives, 3)
            body.append(Stmt("aggregate", both(f"return {text.c};", f"return {text.py}.copied()")))
        elif kind == "number":
            record = g.random.choice([one.record for one in takes if isinstance(one, Holder)])
            text, gives = own.number_in(marks, own.value(marks, record, 2), record)
            returned = gives.type.spellings[0]
            body.append(Stmt("aggregate", both(f"return {text.c};", f"return {text.py}")))
        if kind != "nothing":
            body[-1].exprs, body[-1].keep = marks.exprs, True
        head = both(
            f"static {returned} {name}({', '.join(heads)})",
            f"def {name}({', '.join(f'a{i}' for i in range(len(takes)))}):\n{indented(copies)}",
        )
        made = Function(name, [], body, head=head)
        g.functions.append(made)
        self.helpers.append(Helper(made, tuple(takes), gives))


def places_in(
    known: list[tuple[str, Holder]], record: Record
) -> list[tuple[str, Holder, Member | None]]:
    """Return where structures are: variables, twice, and members of variables."""
    found: list[tuple[str, Holder, Member | None]] = []
    for word, holder in known:
        if holder.record is record:
            found += [(word, holder, None)] * 2
        found += [(word, holder, m) for m in holder.record.members if m.record is record]
    return found


def _numbers(begin: str, record: Record) -> list[tuple[str, CType, Facts, int]]:
    found: list[tuple[str, CType, Facts, int]] = []
    for m in record.members:
        if m.record is None:
            found.append((f"{begin}{m.name}", m.type, m.facts, m.extent))
            continue
        for one in [f"{m.name}[{i}]" for i in range(m.extent)] if m.extent else [m.name]:
            found += _numbers(f"{begin}{one}.", m.record)
    return found


def made_of(values: dict[str, str]) -> str:
    """Return a structure in Python."""
    return f"_Structure({{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}})"


def zero(m: Member) -> str:
    """Return in Python what C gives to what a list leaves out."""
    one = "0j" if m.type.kind == "c" else "0.0" if m.type.kind == "f" else "0"
    if m.record is not None:
        one = made_of({inner.name: zero(inner) for inner in m.record.members})
    return f"[{', '.join([one] * m.extent)}]" if m.extent else one


def definition(record: Record) -> str:
    """Return a structure in C."""
    lines = [f"struct {record.name} {{"]
    for m in record.members:
        spelled = m.type.spellings[0] if m.record is None else f"struct {m.record.name}"
        lines.append(f"  {spelled} {m.name}{f'[{m.extent}]' if m.extent else ''};")
    return "\n".join([*lines, "};"])
