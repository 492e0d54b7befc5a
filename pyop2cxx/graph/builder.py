# SPDX-License-Identifier: BSD-3-Clause
"""``with op2.graph() as g:`` collects loops and their order; nothing runs.

Two types for two phases, after source document 001: a builder cannot be run, and the result of
`GraphBuilder.instantiate` cannot be changed.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import INC, MAX, MIN, READ, Access
from pyop2cxx.base.arrays import as_array
from pyop2cxx.base.listing import Listed
from pyop2cxx.base.quoting import check_text
from pyop2cxx.data.carrier import DataCarrier
from pyop2cxx.data.conditions import Condition
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import DataValueError, GraphClosedError, UsageError, user_line
from pyop2cxx.graph.graph import Graph
from pyop2cxx.graph.joins import Join
from pyop2cxx.graph.library_calls import Captured, Copy, Fill, Scan
from pyop2cxx.graph.looks import Looks
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, Operation, Placed, While
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from typing_extensions import Self


_SCANNED = {INC: "sum", MIN: "min", MAX: "max"}


class Successors(Listed):
    """The nodes that can follow a node, or begin a graph."""

    __slots__ = ()

    def add_node(self, operation: Operation) -> Node:
        """Add an operation behind this place."""
        raise NotImplementedError

    def _open_builder(self) -> GraphBuilder:
        raise NotImplementedError

    def then(self, kernel: Kernel, iterset: Set, *args: Any, **options: Any) -> Node:
        """Add a parallel loop.

        Args:
            kernel: The kernel.
            iterset: The Set of the loop.
            *args: Arguments for the kernel's parameters: ``dat(access, map)``, ``glob(access)``.
            **options: As for `ParLoop`.

        Returns:
            The node, immutable.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: As for `ParLoop`; nothing is added.
        """
        return self.add_node(self._open_builder().add_loop(kernel, iterset, args, options))

    then_parallel_for = then

    def then_reduce(self, kernel: Kernel, iterset: Set, *args: Any, **options: Any) -> Node:
        """Add a parallel loop that reduces into a Global.

        Args:
            kernel: As for `then`.
            iterset: As for `then`.
            *args: As for `then`; at least a Global with INC, MIN or MAX.
            **options: As for `ParLoop`.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: No argument is a reduced Global; or as for `ParLoop`.
        """
        if not any(isinstance(arg.data, Global) and arg.access != READ for arg in args):
            raise UsageError(
                "graph: then_reduce needs a Global with INC, MIN or MAX among its arguments; "
                "for other loops there is then()"
            )
        return self.then(kernel, iterset, *args, **options)

    then_parallel_reduce = then_reduce

    def then_single(self, kernel: Kernel, *args: Any, **options: Any) -> Node:
        """Add a kernel called once, as a single work item.

        Args:
            kernel: The kernel.
            *args: Arguments for the kernel's parameters: Globals, and Dats on the same Set with a
                single entity.
            **options: As for `ParLoop`.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: A Dat lives on more entities, or Dats on several Sets; or as for `ParLoop`.
        """
        sets = {arg.data.dataset.set for arg in args if isinstance(getattr(arg, "data", None), Dat)}
        if len(sets) > 1 or any(one.total_size != 1 for one in sets):
            sizes = ", ".join(sorted(f"'{one.name}' of {one.total_size}" for one in sets))
            raise UsageError(
                f"graph: then_single calls '{kernel.name}' once, so its Dats live on one Set of "
                f"one entity, got {sizes}; for loops there is then()"
            )
        return self.then(kernel, sets.pop() if sets else Set(1, "one"), *args, **options)

    def then_host(
        self,
        function: Callable[[], object],
        *,
        reads: Sequence[DataCarrier] | None = None,
        writes: Sequence[DataCarrier] | None = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a Python function, free to use all of Python and of this library.

        On a device the call happens while earlier loops may still run; reading values waits for
        them.

        Args:
            function: Called without arguments, once a submit.
            reads: Dats and Globals read by the function.
            writes: Dats and Globals written by the function. If neither is given, the uses are
                unknown, and the node must be ordered with all other nodes.
            name: Name in messages and pictures; None means the function's name.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: No function, or data other than Dats and Globals.
        """
        if not callable(function):
            raise UsageError(f"graph: then_host needs a function, got {function!r}")
        for data in (*(reads or ()), *(writes or ())):
            if not isinstance(data, DataCarrier):
                raise UsageError(
                    f"graph: then_host reads and writes Dats and Globals, got {data!r} of type "
                    f"{type(data).__name__}"
                )
        called = name or getattr(function, "__name__", "host")
        return self.add_node(HostCall(str(called), function, reads, writes))

    def then_library(
        self,
        function: Callable[..., object],
        *,
        reads: Sequence[Dat | Global] = (),
        writes: Sequence[Dat | Global] = (),
        name: str | None = None,
    ) -> Node:
        """Add a call of another library, for example cuBLAS or cuSPARSE, where the values are.

        The function enqueues work without waiting. On CUDA the call happens while launches are
        recorded; the work becomes nodes of the replayed graph, and the function is not called again
        unless an address changes.

        Args:
            function: Called with a queue and the addresses of `reads` and `writes`, as integers.
                The queue is a ``cudaStream_t``; on backends of the host, and on OpenCL, the queue
                is None and the addresses are the host's.
            reads: Dats and Globals read by the function.
            writes: Dats and Globals written by the function, possibly also read.
            name: Name in messages and pictures; None means the function's name.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: No function, or data other than whole Dats and Globals.
        """
        if not callable(function):
            raise UsageError(f"graph: then_library needs a function, got {function!r}")
        for data in (*reads, *writes):
            if not isinstance(data, Dat | Global) or data.stride:
                raise UsageError(
                    f"graph: then_library reads and writes whole Dats and Globals, got {data!r}"
                )
        called = name or getattr(function, "__name__", "library")
        return self.add_node(Captured(str(called), function, reads, writes))

    def then_copy(self, source: Any, target: Any, *, casting: str = "fitting") -> Node:
        """Add a copy of all values into another Dat or Global, converted to the target's dtype.

        Args:
            source: The Dat or Global read.
            target: The Dat or Global written; a Dat on the same Set and of the same dim, or a
                Global.
            casting: As for `Dat.copy`. Without a conversion nothing waits for the host.

        Raises:
            GraphClosedError: The graph is not being built.
            DataValueError: They do not fit each other.
        """
        _check_copied(source, target)
        return self.add_node(Copy(source, target, casting))

    then_convert = then_copy

    def then_fill(self, target: Any, value: float | complex = 0) -> Node:
        """Add setting all values of a Dat or Global to a number.

        Args:
            target: The Dat or Global written.
            value: The number. A Dat on a device is set there, and nobody waits.

        Raises:
            GraphClosedError: The graph is not being built.
            DataValueError: The dtype does not hold the number.
        """
        if not isinstance(target, (Dat, Global)):
            raise UsageError(f"graph: then_fill sets a Dat or a Global, got {target!r}")
        held = as_array(value, target.dtype, (), f"graph: then_fill: '{target.name}'")
        if held != value and target.dtype.kind not in "fc":
            raise DataValueError(
                f"graph: then_fill: dtype {target.dtype} of '{target.name}' does not hold {value!r}"
            )
        return self.add_node(Fill(target, held[()]))

    def then_scan(
        self,
        source: Dat,
        target: Dat,
        operation: Access | Kernel = INC,
        *,
        inclusive: bool = False,
        identity: Any = None,
    ) -> Node:
        """Add a scan: each entity gets the sum, minimum or maximum over all earlier entities.

        Scans number the parts of entities, and make the offsets of sparse rows. Loops over chunks
        compute the sums on the device of loops: sums of real numbers are rounded in the same way
        each time, but differently from a sequential sum. Between two dtypes NumPy sums on the host.

        With a kernel as operation entities are joined by a function of the program, for example
        ``void join(double *sum, const double *x)``: `sum`, of earlier entities, takes in `x`, of
        later ones. Both have the shape of an entity's values. The function must be associative,
        since chunks are joined first; the order is kept. Check mode compares two groupings.

        Args:
            source: Values to sum, component by component, over owned entities; by a kernel, rows
                of shape (*dim).
            target: Target on the same Set and of the same dim; for a kernel of the same dtypes.
            operation: `INC` for sums, `MIN` or `MAX`. NaN stays, as in NumPy. Or a `Kernel` of two
                parameters.
            inclusive: Whether the entity itself counts. Otherwise the first entity gets 0, or of
                minima and maxima the largest or smallest number of the target's dtype, or the
                kernel's `identity`.
            identity: The neutral value of a kernel, of shape (*dim) or a number for all
                components: joined with any row, before or behind, the row results.

        Raises:
            GraphClosedError: The graph is not being built.
            DataValueError: They do not fit each other.
            UsageError: No Dats, another operation, an order of complex numbers, or a kernel that
                does not join two rows.
        """
        if not isinstance(operation, Access | Kernel) or (
            isinstance(operation, Access) and operation not in _SCANNED
        ):
            raise UsageError(
                f"graph: then_scan: the operation is op2.INC for sums, op2.MIN or op2.MAX, got "
                f"{operation!r}; or an op2.Kernel that joins two rows"
            )
        if not isinstance(inclusive, bool):
            raise UsageError(f"graph: then_scan: inclusive is True or False, got {inclusive!r}")
        if not isinstance(source, Dat) or not isinstance(target, Dat):
            raise UsageError(f"graph: then_scan needs two Dats, got {source!r} and {target!r}")
        _check_copied(source, target)
        if isinstance(operation, Kernel):
            self._open_builder()
            join = Join(operation, identity, source, target)
            return self.add_node(Scan(source, target, join, inclusive=inclusive))
        if identity is not None:
            raise UsageError(
                f"graph: then_scan: {operation.name} has a neutral value already; leave out "
                f"identity={identity!r}, or scan by a Kernel"
            )
        if operation != INC and "c" in source.dtype.kind + target.dtype.kind:
            raise UsageError(
                f"graph: then_scan: complex numbers have no {operation.name}; '{source.name}' is "
                f"{source.dtype}, '{target.name}' {target.dtype}; scan by op2.INC, or a real Dat"
            )
        return self.add_node(Scan(source, target, _SCANNED[operation], inclusive=inclusive))

    then_parallel_scan = then_scan

    def then_graph(self, graph: Graph) -> Node:
        """Add all nodes of another graph, as a single node.

        Args:
            graph: The graph; submitting the graph alone stays possible.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: Not a `Graph`.
        """
        if not isinstance(graph, Graph):
            raise UsageError(
                f"graph: then_graph needs a Graph, got {graph!r}; instantiate() makes one"
            )
        return self.add_node(Inner(graph.name, graph.nodes))

    def while_(self, condition: Condition, *, most: int) -> WhileBuilder:
        """Add nodes repeated as long as a condition holds.

        Use in a ``with`` statement, with the builder of the body as the variable. Later nodes
        follow the statement: ``loop.node.then(...)``.

        Args:
            condition: A comparison of a Global: ``residual > tolerance``. Looked at before each
                pass.
            most: So many passes at most.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: No condition, or `most` is no positive number.

        Example:
            >>> from pyop2cxx import op2
            >>> one, x = op2.Set(1), op2.Global(1, 0.0, name="x")
            >>> add = op2.Kernel("void add(double *x) { *x += 1; }", "add")
            >>> with op2.graph() as g, g.while_(x < 5, most=100) as again:
            ...     _ = again.then(add, one, x(op2.INC))
            >>> graph = g.instantiate()
            >>> graph.submit()
            >>> x.data_ro.tolist()
            [5.0]
        """
        if not isinstance(condition, Condition):
            raise UsageError(
                "graph: while_ needs a comparison of a Global, such as 'residual > 1e-8', got "
                f"{condition!r}; '==' or '!=' does not compare values"
            )
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise UsageError(f"graph: while_: most must be a positive number, got {most!r}")
        return WhileBuilder(self, condition, most, self._open_builder())


class Node(Successors):
    """A node of a graph under construction, or several nodes to wait for together.

    The node does not keep the graph alive, and is of no use once the graph is built.
    """

    __slots__ = ("__weakref__", "_builder", "_name", "numbers")

    def __init__(self, builder: GraphBuilder, numbers: tuple[int, ...], name: str) -> None:
        self._builder = weakref.ref(builder)
        self.numbers = numbers
        self._name = name

    @property
    def name(self) -> str:
        """Name in messages and pictures."""
        return self._name

    def is_of(self, builder: GraphBuilder) -> bool:
        """Return whether the node is of a graph."""
        return self._builder() is builder

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"node '{self._name}': it is of its graph, and can neither be copied nor pickled; add "
            "another one with then()"
        )

    def __repr__(self) -> str:
        return f"<node {'+'.join(map(str, self.numbers))} '{self._name}'>"

    def _open_builder(self) -> GraphBuilder:
        builder = self._builder()
        if builder is None:
            raise GraphClosedError(f"graph: the graph of node '{self._name}' is gone")
        builder.check_open(f"node '{self._name}'")
        return builder

    def add_node(self, operation: Operation) -> Node:
        """Add an operation behind this place."""
        return self._open_builder().add_operation(operation, self.numbers)


@ends_tracebacks("instantiate")
class GraphBuilder(Successors):
    """A graph under construction: loops and their dependencies.

    ``node.then(...)`` adds a node behind another, ``when_all(a, b).then(...)`` a node behind
    several; nodes added to the builder wait for nothing.

    Args:
        name: Name in messages and pictures; None means 'graph'.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(3)
        >>> u, v = op2.Dat(cells, [1.0, 2.0, 3.0], name="u"), op2.Dat(cells, name="v")
        >>> twice = op2.Kernel("void twice(double *v, const double *u) { *v = 2 * *u; }", "twice")
        >>> back = op2.Kernel("void back(double *u, const double *v) { *u = *v; }", "back")
        >>> with op2.graph("doubling") as g:
        ...     first = g.par_loop(twice, cells, v(op2.WRITE), u(op2.READ))
        ...     second = first.then(back, cells, u(op2.WRITE), v(op2.READ))
        >>> graph = g.instantiate()
        >>> graph.submit(3)
        >>> u.data_ro.tolist()
        [8.0, 16.0, 24.0]
    """

    def __init__(self, name: str | None = None) -> None:
        if name is not None and not isinstance(name, str):
            raise UsageError(f"graph: the name must be a string, got {name!r}")
        self._name = check_text(name or "graph", "graph: the name")
        self.nodes: list[Placed] = []
        self.loops: dict[tuple[object, ...], LoopOperation] = {}
        self.slots: dict[int, Any] = {}
        self.looks = Looks(f"graph '{self._name}': the block")
        self._outer_looks: Any = None
        self._state = "not open"

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"graph '{self._name}': a graph that is built can neither be copied nor pickled; "
            "build another one, or let instantiate() make what bind() copies and save() writes"
        )

    def __repr__(self) -> str:
        return f"<graph '{self._name}' of {len(self.nodes)} nodes, {self._state}>"

    def __enter__(self) -> Self:
        if self._state != "not open":
            raise GraphClosedError(f"graph '{self._name}' was built already; make another one")
        self._state = "open"
        here = runtime.here
        self._outer_looks, here.looks = here.looks, self.looks
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        runtime.here.looks = self._outer_looks
        self._state = "built" if kind is None else "given up"

    @property
    def name(self) -> str:
        """Name in messages and pictures."""
        return self._name

    par_loop = Successors.then

    def when_all(self, *nodes: Node) -> Node:
        """Return the place behind several nodes: ``g.when_all(a, b).then(...)``.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: No nodes, or a node of another graph.
        """
        self.check_open("when_all")
        numbers: dict[int, None] = {}
        for node in nodes:
            if not isinstance(node, Node) or not node.is_of(self):
                raise UsageError(
                    f"graph '{self._name}': when_all takes nodes of this graph, got {node!r}"
                )
            numbers.update(dict.fromkeys(node.numbers))
        if not nodes:
            raise UsageError(f"graph '{self._name}': when_all needs at least one node")
        return Node(self, tuple(numbers), "+".join(node.name for node in nodes))

    def slot(self, data: Any) -> Any:
        """Let another Dat or Global replace the given object; see `Graph.bind`.

        Returns:
            The given object.

        Raises:
            GraphClosedError: The graph is not being built.
            UsageError: Neither a Dat nor a Global.
        """
        self.check_open("slot")
        if not isinstance(data, (Dat, Global)):
            raise UsageError(f"graph '{self._name}': a slot is a Dat or a Global, got {data!r}")
        self.slots[data.uid] = data
        return data

    def instantiate(self, *, on_race: str = "error", to_save: bool = False) -> Graph:
        """Return the graph, compiled and ready to run.

        Args:
            on_race: Treatment of unordered nodes with conflicting uses of the same data:
                ``"error"``; ``"serialise"``, to run them in the order of the program; ``"ignore"``,
                if their order does not matter. Sums into the same values are no race, nor are
                minima or maxima.
            to_save: Whether the graph is meant for `Graph.save`, to refuse unsavable nodes now.

        Raises:
            GraphClosedError: The graph was instantiated before, is not built yet, or was given up.
            GraphRaceError: Unordered nodes conflict.
            UnsupportedError: As for `Graph.save`, with `to_save`.
            CompilationError: The compiler rejects a kernel.
        """
        if self._state != "built":
            why = "its block has not ended" if self._state == "open" else f"it is {self._state}"
            raise GraphClosedError(f"graph '{self._name}' cannot be instantiated: {why}")
        made = Graph(self._name, self.nodes, self.slots, on_race, to_save=to_save)
        self._state = "instantiated"
        return made

    # Inside

    def check_open(self, what: str) -> None:
        """Raise an error unless nodes can be added."""
        if self._state != "open":
            raise GraphClosedError(
                f"graph '{self._name}' is {self._state}: nothing can be added by {what}; nodes are "
                "added within 'with op2.graph() as g:'"
            )

    def _open_builder(self) -> GraphBuilder:
        self.check_open("the graph")
        return self

    def add_node(self, operation: Operation) -> Node:
        """Add an operation behind this place."""
        self.check_open("the graph")
        return self.add_operation(operation, ())

    def add_operation(self, operation: Operation, after: Iterable[int]) -> Node:
        """Add an operation behind nodes of some numbers."""
        line = user_line()
        self.looks.note_operation(operation, line)
        self.nodes.append(Placed(operation, tuple(after), line))
        return Node(self, (len(self.nodes) - 1,), operation.name)

    def add_loop(
        self, kernel: Kernel, iterset: Set, args: tuple[Any, ...], options: dict[str, Any]
    ) -> LoopOperation:
        """Return a loop; for the same objects the same loop, without further checks."""
        try:
            key = (
                id(kernel),
                id(iterset),
                *[(a.access, a.data.uid, None if a.map_ is None else a.map_.uid) for a in args],
                *options.items(),
            )
            known = self.loops.get(key)
        except (AttributeError, TypeError):
            return LoopOperation(ParLoop(kernel, iterset, *args, **options))
        if known is None:
            known = self.loops[key] = LoopOperation(ParLoop(kernel, iterset, *args, **options))
        return known


class WhileBuilder(GraphBuilder):
    """The body of a ``while_``, under construction.

    Attributes:
        node: The node of the whole repetition, once the block has ended.
    """

    def __init__(
        self, before: Successors, condition: Condition, most: int, outer: GraphBuilder
    ) -> None:
        super().__init__(f"while {condition}")
        self._before = before
        self._condition = condition
        self._most = most
        self.slots = outer.slots
        self.loops = outer.loops
        self.looks = outer.looks
        self.node: Node | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if kind is None:
            self._state = "a part of another graph"
            self.node = self._before.add_node(While(self._condition, self.nodes, self._most))


def create_graph(
    closure: Callable[[GraphBuilder], object],
    *,
    name: str | None = None,
    on_race: str = "error",
    to_save: bool = False,
) -> Graph:
    """Build a graph in a function, called once, now.

    Args:
        closure: Gets the beginning of the graph, and adds nodes: ``root.then(...)``.
        name: Name in messages and pictures.
        on_race: As for `GraphBuilder.instantiate`.
        to_save: As for `GraphBuilder.instantiate`.

    Raises:
        GraphRaceError: As for `GraphBuilder.instantiate`.
        UnsupportedError: As for `Graph.save`, with `to_save`.
        UsageError: Not a function.

    Example:
        >>> from pyop2cxx import op2
        >>> u = op2.Dat(op2.Set(2))
        >>> add = op2.Kernel("void add(double *u) { *u += 1; }", "add")
        >>> more = op2.create_graph(lambda root: root.then(add, u.dataset.set, u(op2.RW)))
        >>> more.submit(4)
        >>> u.data_ro.tolist()
        [4.0, 4.0]
    """
    if not callable(closure):
        raise UsageError(f"create_graph: the first argument must be a function, got {closure!r}")
    with GraphBuilder(name or getattr(closure, "__name__", None)) as builder:
        closure(builder)
    return builder.instantiate(on_race=on_race, to_save=to_save)


def _check_copied(source: Any, target: Any) -> None:
    for data in (source, target):
        if not isinstance(data, (Dat, Global)):
            raise UsageError(f"graph: Dats and Globals can be copied, got {data!r}")
    if isinstance(source, Dat) != isinstance(target, Dat):
        raise UsageError("graph: a Dat is copied into a Dat, a Global into a Global")
    if isinstance(source, Dat):
        source.check_target(target)
    else:
        source.check_same(target, "copy")
