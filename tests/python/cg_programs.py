# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of subgenerators, and what they mean where no name is ever shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from pyop2cxx import _core

cg = _core.cg

BITS = {"unsigned long": 64, "unsigned int": 32}
ACCUMULATOR = cg.Memory("", "")


# --- programs: trees of what subgenerators ask for ---


@dataclass(frozen=True)
class Declare:
    name: str
    type: str
    constant: int
    source: int | None  # which visible variable the initialiser reads, modulo their number
    sharing: str
    scope: int
    conflict: str
    reads_known: bool


@dataclass(frozen=True)
class Update:
    target: int
    constant: int


@dataclass(frozen=True)
class Trace:
    source: int


@dataclass(frozen=True)
class Section:
    owner: str
    reorder: str
    children: tuple[Any, ...]


@dataclass(frozen=True)
class Loop:
    n: int
    children: tuple[Any, ...]


@dataclass(frozen=True)
class Choice:
    then: tuple[Any, ...]
    otherwise: tuple[Any, ...]


def children(node: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(node, min_size=1, max_size=6).map(tuple)


CONSTANT = st.integers(0, 9)
CHOICE = st.integers(0, 7)
LEAF = st.one_of(
    st.builds(
        Declare,
        # Also the suffix that renaming appends, the loop counter and a function's name.
        name=st.sampled_from(["x", "y", "x_1", "i", "f_0"]),
        type=st.sampled_from(list(BITS)),
        constant=CONSTANT,
        source=st.none() | CHOICE,
        sharing=st.sampled_from(["none", "not_nested", "nested", "both"]),
        scope=st.sampled_from([0, 0, 0, -1, -2]),
        conflict=st.sampled_from(["brace", "rename"]),
        reads_known=st.booleans(),
    ),
    st.builds(Update, target=CHOICE, constant=CONSTANT),
    st.builds(Trace, source=CHOICE),
)
NODE = st.recursive(
    LEAF,
    lambda node: st.one_of(
        st.builds(
            Section,
            owner=st.sampled_from(["a", "b"]),
            reorder=st.sampled_from(["direct", "merge_fas_checked"]),
            children=children(node),
        ),
        st.builds(Loop, n=st.integers(0, 3), children=children(node)),
        st.builds(Choice, then=children(node), otherwise=children(node)),
    ),
    max_leaves=20,
)
PROGRAM = st.lists(NODE, min_size=1, max_size=8).map(tuple)


# --- the unscoped program: every variable is an entity of its own ---


@dataclass(eq=False)
class Frame:
    """What ends together: a section, or a block of one section."""

    section: int
    is_branch: bool
    operations: list[Any]  # of the block it stands in
    names: dict[str, Binding] = field(default_factory=dict)
    counter: str = ""  # what the header of a loop declares


@dataclass(eq=False)
class Entity:
    type: str
    uses: list[tuple[Frame, str]] = field(default_factory=list)  # with the sharing asked for


@dataclass
class Binding:
    entity: Entity
    final_name: str
    order: int


Value = dict[int, int]
Operation = Callable[[Value, list[int]], None]


def wrapped(value: int, type_name: str) -> int:
    return value & ((1 << BITS[type_name]) - 1)


class Driver:
    """Writes a program through a context and, beside it, the operations that it means."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.operations: list[Operation] = []
        self.frames = [Frame(0, False, self.operations)]
        self.sections = [0]
        self.n_sections = 0
        self.n_hoisted = 0
        self.n_bound = 0

    def bindings(self) -> dict[str, Binding]:
        """Names that stand for a variable here."""
        names: dict[str, Binding] = {}
        for frame in self.frames:
            if frame.counter:
                names = {n: b for n, b in names.items() if b.final_name != frame.counter}
            for name, binding in frame.names.items():
                if name not in names or names[name].order < binding.order:
                    names[name] = binding
        return names

    def visible(self) -> list[Binding]:
        return list(self.bindings().values())

    def run(self, node: Any) -> None:
        getattr(self, type(node).__name__.lower())(node)

    def block(self, nodes: tuple[Any, ...], frame: Frame) -> None:
        self.frames.append(frame)
        for node in nodes:
            self.run(node)
        self.frames.pop()

    def section(self, node: Section) -> None:
        self.n_sections += 1
        self.sections.append(self.n_sections)
        with self.context.section(node.owner, getattr(cg.Reorder, node.reorder)):
            self.block(node.children, Frame(self.sections[-1], False, self.frames[-1].operations))
        self.sections.pop()

    def loop(self, node: Loop) -> None:
        body: list[Operation] = []
        self.context.comment("a loop")
        self.context.begin_branch(f"for (int i = 0; i < {node.n}; ++i)")
        self.block(node.children, Frame(self.sections[-1], True, body, counter="i"))
        self.context.end_branch("")

        def run_loop(values: Value, trace: list[int]) -> None:
            for _ in range(node.n):
                for operation in body:
                    operation(values, trace)

        self.frames[-1].operations.append(run_loop)

    def choice(self, node: Choice) -> None:
        arms: tuple[list[Operation], list[Operation]] = ([], [])
        self.context.begin_branch("if (*t % 2 == 0)")
        self.block(node.then, Frame(self.sections[-1], True, arms[0]))
        self.context.else_branch("else")
        self.block(node.otherwise, Frame(self.sections[-1], True, arms[1]))
        self.context.end_branch("")

        def run_choice(values: Value, trace: list[int]) -> None:
            for operation in arms[trace[0] % 2]:
                operation(values, trace)

        self.frames[-1].operations.append(run_choice)

    def may_assign(self, entity: Entity, node: Declare) -> bool:
        if node.sharing == "none" or entity.type != node.type:
            return False
        for frame, sharing in entity.uses:
            if frame not in self.frames:
                continue
            if frame.section == self.sections[-1]:
                if sharing == "none":
                    return False
            elif not {sharing, node.sharing} <= {"nested", "both"}:
                return False
        return True

    def declare(self, node: Declare) -> None:
        branches = [index for index, frame in enumerate(self.frames) if frame.is_branch]
        scope = max(node.scope, -len(branches))
        if scope < 0:
            self.hoist(node, scope, branches[scope])
            return
        visible = self.visible()
        source = (
            visible[node.source % len(visible)] if visible and node.source is not None else None
        )
        init = f"{source.final_name} + {node.constant}u" if source else f"{node.constant}u"
        reads = [cg.Variable(source.final_name)] if source else []
        name = self.emit(node, init, 0, reads if node.reads_known else None)

        old = self.bindings().get(node.name)
        if old and self.may_assign(old.entity, node):
            entity = old.entity
            assert name == old.final_name
        else:
            entity = Entity(node.type)
        self.bind(entity, node, name, self.frames[-1])
        source_entity = source.entity if source else None

        def run_declare(values: Value, trace: list[int]) -> None:
            value = node.constant
            if source_entity:
                value = wrapped(values[id(source_entity)] + node.constant, source_entity.type)
            values[id(entity)] = wrapped(value, node.type)

        self.frames[-1].operations.append(run_declare)

    def hoist(self, node: Declare, scope: int, branch: int) -> None:
        # No two initialisers are the same, so none of these is "already initialised".
        self.n_hoisted += 1
        value = 100 + self.n_hoisted
        name = self.emit(node, f"{value}u", scope, [])
        entity = Entity(node.type)
        section = min(
            i for i, frame in enumerate(self.frames) if frame.section == self.sections[-1]
        )
        self.bind(entity, node, name, self.frames[max(branch - 1, section)])

        def run_hoisted(values: Value, trace: list[int]) -> None:
            values[id(entity)] = value

        self.frames[branch - 1].operations.append(run_hoisted)

    def bind(self, entity: Entity, node: Declare, name: str, frame: Frame) -> None:
        self.n_bound += 1
        frame.names[node.name] = Binding(entity, name, self.n_bound)
        entity.uses.append((frame, node.sharing))

    def emit(self, node: Declare, init: str, scope: int, reads: list[Any] | None) -> str:
        declaration = cg.Declaration(
            type=node.type,
            declarators=[cg.Declarator(name=node.name, init=init, extents="")],
            sharing=getattr(cg.Sharing, node.sharing),
            scope=scope,
            conflict=getattr(cg.Conflict, node.conflict),
            init_reads=reads,
        )
        (name,) = self.context.declare(declaration)
        assert isinstance(name, str)
        return name

    def update(self, node: Update) -> None:
        visible = self.visible()
        if not visible:
            return
        binding = visible[node.target % len(visible)]
        name, entity = binding.final_name, binding.entity
        self.context.statement(
            cg.StatementKind.arithm,
            f"{name} = {name} * 3u + {node.constant}u;",
            cg.Effects(reads=[cg.Variable(name)], writes=[cg.Variable(name)]),
        )

        def run_update(values: Value, trace: list[int]) -> None:
            values[id(entity)] = wrapped(values[id(entity)] * 3 + node.constant, entity.type)

        self.frames[-1].operations.append(run_update)

    def trace(self, node: Trace) -> None:
        visible = self.visible()
        if not visible:
            return
        binding = visible[node.source % len(visible)]
        name, entity = binding.final_name, binding.entity
        self.context.statement(
            cg.StatementKind.store,
            f"*t = *t * 31u + {name};",
            cg.Effects(reads=[cg.Variable(name), ACCUMULATOR], writes=[ACCUMULATOR]),
        )

        def run_trace(values: Value, trace: list[int]) -> None:
            trace[0] = wrapped(trace[0] * 31 + values[id(entity)], "unsigned long")

        self.frames[-1].operations.append(run_trace)


def write(context: Any, programs: list[tuple[Any, ...]]) -> list[Driver]:
    drivers = []
    for k, program in enumerate(programs):
        driver = Driver(context)
        with context.function(f"void f_{k}(unsigned long *t)"):
            for node in program:
                driver.run(node)
            for index in range(len(driver.visible())):
                driver.trace(Trace(index))
        drivers.append(driver)
    return drivers


def interpreted(driver: Driver) -> int:
    trace = [1]
    values: Value = {}
    for operation in driver.operations:
        operation(values, trace)
    return trace[0]
