# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops: checked and recorded when made, generated and run on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core, debugging, pipeline, symbolic
from pyop2cxx.exceptions import (
    HaloFrozenError,
    KernelTypeError,
    MapValueError,
    SetTypeError,
    StaticModeError,
    UsageError,
    user_line,
    user_stacklevel,
)
from pyop2cxx.front.check import Descriptor, check
from pyop2cxx.kernel import Kernel
from pyop2cxx.runtime import runtime
from pyop2cxx.types.access import INC, READ, WRITE
from pyop2cxx.types.args import ConstantArg, DatArg, GlobalArg, MatArg
from pyop2cxx.types.mats import Mat
from pyop2cxx.types.sets import Set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.symbolic import Arg
    from pyop2cxx.types.dats import Dat

_GENERATE_OPTIONS = ("convention", "debug", "deterministic", "strategy")
_MOST_INT32 = 2**31 - 1


class ParLoop:
    """One kernel over one Set, with its arguments: recorded, not run.

    Everything is checked here, so `compute` repeats nothing: keep the object and call it again
    where a loop runs often.

    Args:
        kernel: The kernel.
        iterset: The Set whose entities it is called for.
        *args: One for each parameter of the kernel: ``dat(access, map)``, ``glob(access)``.
        strategy: How racing updates are resolved: 'direct', 'owner', 'scratch', 'atomic', 'block'
            or 'colour'; None means the default rule's choice.
        block_size: Elements of one block of strategy 'block'; None means chosen from the size.

    Attributes:
        kernel: As given.
        iterset: As given.
        args: As given.

    Raises:
        KernelTypeError: The kernel is not a Kernel.
        SetTypeError: The Set is not a Set.
        MapValueError: A Map has no values or starts elsewhere; a Dat is on another Set.
        UsageError: Arguments do not fit the kernel's parameters.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(3)
        >>> x = op2.Dat(cells, [1.0, 2.0, 3.0])
        >>> double = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
        >>> op2.ParLoop(double, cells, x(op2.RW)).compute()
        >>> x.data_ro.tolist()
        [2.0, 4.0, 6.0]
    """

    def __init__(
        self,
        kernel: Kernel,
        iterset: Set,
        *args: Arg,
        strategy: str | None = None,
        block_size: int | None = None,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise KernelTypeError(
                f"par_loop: the first argument must be a Kernel, got {kernel!r} of type "
                f"{type(kernel).__name__}"
            )
        self.kernel = kernel
        self._what = f"par_loop '{kernel.name}'"
        if not isinstance(iterset, Set):
            raise SetTypeError(
                f"{self._what}: the second argument must be the Set to iterate over, got "
                f"{iterset!r} of type {type(iterset).__name__}"
            )
        self.iterset = iterset
        self.args = args
        self._strategy = _checked_strategy(strategy, self._what)
        self._block_size = _checked_block_size(block_size, self._what)
        for i, arg in enumerate(args):
            self._check_arg(i, arg)
        self._check_kernel()
        self._line = user_line()
        self._epoch = -1
        self._checks = False
        self._prepared: _core.PreparedLoop
        self._written = _written_dats(args)
        self._assembled = tuple(arg for arg in args if isinstance(arg, MatArg))

    def _check_arg(self, i: int, arg: Arg) -> None:
        if not isinstance(arg, DatArg | GlobalArg | ConstantArg | MatArg):
            raise UsageError(
                f"{self._what}: arg {i} must be made by calling a Dat or Global with an access, "
                f"such as dat(op2.READ, map), got {arg!r} of type {type(arg).__name__}"
            )
        if isinstance(arg, MatArg):
            for end, what in zip(arg.maps, ("rows", "columns"), strict=True):
                self._check_map(i, end, f"the {what} of Mat '{arg.data.name}'")
            return
        if not isinstance(arg, DatArg):
            return
        dat, map_ = arg.data, arg.map_
        if map_ is None:
            if dat.dataset.set is not self.iterset:
                raise MapValueError(
                    f"{self._what}: arg {i}: Dat '{dat.name}' lives on Set "
                    f"'{dat.dataset.set.name}', but the loop runs over '{self.iterset.name}'; "
                    f"pass a Map {self.iterset.name} → {dat.dataset.set.name}"
                )
            return
        self._check_map(i, map_, dat.dataset.set.name)

    def _check_map(self, i: int, map_: Any, target: str) -> None:
        if map_.iterset is not self.iterset:
            raise MapValueError(
                f"{self._what}: arg {i}: Map '{map_.name}' starts on Set '{map_.iterset.name}', "
                f"but the loop runs over '{self.iterset.name}'; "
                f"pass a Map {self.iterset.name} → {target}"
            )
        if not map_.has_values and not runtime.static:
            raise MapValueError(
                f"{self._what}: arg {i}: Map '{map_.name}' has no values yet; give it some by "
                "update_values() before it is used in a loop"
            )

    def _check_kernel(self) -> None:
        descriptors = [
            Descriptor(i, f"{type(a.data).__name__} '{a.data.name}'", a.data.dtype, a.access)
            for i, a in enumerate(self.args)
        ]
        check(
            self.kernel,
            descriptors,
            stacklevel=user_stacklevel(),
            strict=runtime.configuration["strict"],
        )

    # Text

    def generate(self, options: Mapping[str, Any] | None = None) -> pipeline.GeneratedCode:
        """Return the text of this loop for the current backend, without running anything.

        Args:
            options: ``strategy``; ``convention`` (1: the arguments of source document 003, 2:
                unique Dats and Maps only); ``deterministic``; ``debug``. What is not given is as
                configured.

        Returns:
            The text, a `str`, with `files`, `signature`, `strategy`, `ir`, `key` and `header`.

        Raises:
            UsageError: An option is unknown.
            UnsupportedError: The strategy is not possible here.
        """
        given = dict(options or {})
        unknown = sorted(set(given) - set(_GENERATE_OPTIONS))
        if unknown:
            raise UsageError(
                f"{self._what}: generate() has no option {', '.join(map(repr, unknown))}; there "
                f"are: {', '.join(_GENERATE_OPTIONS)}"
            )
        _check_generate_options(given, self._what)
        request = self._request(symbolic.build(self.kernel, self.args), given)
        choice = pipeline.choose(request)
        known = pipeline.generate(request, choice)
        code = pipeline.GeneratedCode(known)
        code.__dict__.update(known.__dict__)
        code.files, code.ir = dict(known.files), dict(known.ir)
        code.why, code.header = choice.why, self._header(known.strategy)
        return code

    def _header(self, strategy: str) -> str:
        lines = [f"{self._what} over Set '{self.iterset.name}', strategy {strategy}"]
        for i, arg in enumerate(self.args):
            path = f" via Map '{arg.map_.name}'" if arg.map_ is not None else ""
            kind = type(arg.data).__name__
            lines.append(f"  arg {i}: {kind} '{arg.data.name}' {arg.access.name}{path}")
        return "\n".join(lines)

    # Running

    def compute(self) -> None:
        """Run the loop once, now.

        Raises:
            StaticModeError: Under ``init(static=True)``.
            CompilationError: The compiler rejects the kernel.
            ToolchainError: There is no compiler.
            ExecutionError: The loop failed while it ran.
        """
        if self._epoch != runtime.epoch:
            self._prepare()
        if runtime.n_frozen:
            _check_frozen(self.args, self._what)
        if self._checks:
            debugging.check_before(self)
        self._prepared.run()
        for dat in self._written:
            dat.halo_valid = False
        for arg in self._assembled:
            _note_assembly(arg)
        if self._checks:
            debugging.check_after(self)

    __call__ = compute

    def _prepare(self) -> None:
        if runtime.static:
            raise StaticModeError(
                f"{self._what}: 'compute' needs loops that run, but init(static=True) only "
                "generates text; call generate(), or run without static=True"
            )
        _check_frozen(self.args, self._what)
        for arg in self.args:
            if isinstance(arg, DatArg):
                arg.data._allocated("par_loop")
        epoch = runtime.epoch
        built = symbolic.build(self.kernel, self.args)
        for constant in built.constants:
            constant._check_readable(f"value for {self._what}")
        request = self._request(built, {})
        engine = runtime.engine
        executable = pipeline.executable(request)
        self._prepared = _core.PreparedLoop(
            executable=executable,
            binding=_core.Binding(
                arguments=[arg.data._buffer for arg in self.args],
                constants=[constant._buffer for constant in built.constants],
                maps=[_table(map_) for map_ in built.maps],
                spaces=list(built.spaces),
                n_elements=self.iterset.size,
                matrices=[_positions(arg, self._position_bytes()) for arg in self._assembled],
            ),
            options=_core.LaunchOptions(
                n_threads=engine.n_threads,
                block_size=self._block_size,
                useful_bytes=self.useful_bytes,
            ),
            plans=engine.plans,
            timing=engine.timing(self.kernel.name, request.backend.name, executable.strategy),
        )
        self._checks = bool(runtime.configuration["debug"])
        self._epoch = epoch

    def _request(self, built: symbolic.Symbolic, given: Mapping[str, Any]) -> pipeline.Request:
        options = runtime.configuration
        widths = self._widths(built)
        return pipeline.Request(
            name=self.kernel.name,
            line=self._line,
            kernel=self.kernel,
            loop=built.loop,
            backend=runtime.engine.backend(runtime.backend),
            map_facts=tuple(self._map_facts(map_) for map_ in built.maps),
            options=_core.LoweringOptions(
                deterministic=bool(given.get("deterministic", options["deterministic"])),
                debug=bool(given.get("debug", options["debug"])),
                element_bytes=widths[0],
                entry_bytes=widths[1],
                target_bytes=widths[2],
                position_bytes=self._position_bytes(),
                convention=given.get("convention", 1),
            ),
            strategy=given.get("strategy", self._strategy),
        )

    def _map_facts(self, map_: Any) -> _core.LoweringMapFacts:
        """Facts cost a pass over the values, so they are found only where something is written."""
        written = any(symbolic.target_map(arg) is map_ and arg.access != READ for arg in self.args)
        if runtime.static or not map_.has_values or not written:
            width = 4 if map_._table is None else map_._table.index_bytes
            return _core.LoweringMapFacts(index_bytes=width, injective=False)
        engine = runtime.engine
        facts = engine.plans.facts(map_._table, self.iterset.size, engine.n_threads)
        return _core.LoweringMapFacts(index_bytes=facts.index_bytes, injective=facts.injective)

    def _widths(self, built: symbolic.Symbolic) -> tuple[int, int, int]:
        """Bytes of element numbers, of incidences and of target numbers in plan arrays."""
        if not self.iterset.is_sized:
            return 4, 4, 4
        n = self.iterset.size
        targets = [m.toset.total_size for m in built.maps if m.toset.is_sized]
        counts = (n, n * max(built.loop.n_slots(), 1), max(targets, default=0))
        element, entry, target = (4 if count <= _MOST_INT32 else 8 for count in counts)
        return element, entry, target

    def _position_bytes(self) -> int:
        """Bytes of a place within the longest row of all matrices."""
        longest = [arg.data.sparsity.longest_row for arg in self._assembled if not runtime.static]
        return _core.plan.position_bytes(max(longest, default=0))

    @property
    def useful_bytes(self) -> int:
        """Bytes that one call must move: each Dat and Map entry once, INC and RW both ways."""
        n = self.iterset.size
        dats: dict[int, int] = {}
        maps: dict[int, int] = {}
        for arg in self.args:
            if isinstance(arg, MatArg):
                rows_map, cols_map = arg.maps
                maps[rows_map._uid] = n * rows_map.arity * _table(rows_map).index_bytes
                positions = n * rows_map.arity * cols_map.arity * self._position_bytes()
                dats[arg.data._uid] = 2 * arg.data.nbytes + positions
            if not isinstance(arg, DatArg):
                continue
            rows = n
            if arg.map_ is not None:
                rows = min(n * arg.map_.arity, arg.data.dataset.set.total_size)
                maps[arg.map_._uid] = n * arg.map_.arity * _table(arg.map_).index_bytes
            ways = 1 if arg.access in (READ, WRITE) else 2
            moved = rows * arg.data.cdim * arg.data.dtype.itemsize * ways
            dats[arg.data._uid] = max(dats.get(arg.data._uid, 0), moved)
        return sum(dats.values()) + sum(maps.values())


def par_loop(
    kernel: Kernel,
    iterset: Set,
    *args: Arg,
    strategy: str | None = None,
    block_size: int | None = None,
) -> None:
    """Call a kernel for each entity of a Set, now.

    The same as ``ParLoop(...).compute()``; a loop that was run before with the same objects is
    remembered, without keeping their data alive.

    Args:
        kernel: The kernel.
        iterset: The Set whose entities it is called for.
        *args: One for each parameter of the kernel: ``dat(access, map)``, ``glob(access)``.
        strategy: As for `ParLoop`.
        block_size: As for `ParLoop`.

    Raises:
        UsageError: As for `ParLoop`.
        CompilationError: The compiler rejects the kernel.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(3)
        >>> x = op2.Dat(cells, [1.0, 2.0, 3.0])
        >>> total = op2.Global(1, 0.0)
        >>> add = op2.Kernel("void add(double *x, double *sum) { *sum += *x; }", "add")
        >>> op2.par_loop(add, cells, x(op2.READ), total(op2.INC))
        >>> total.data_ro.tolist()
        [6.0]
    """
    loops = runtime.engine.loops
    try:
        # access first: what is no argument has none, and asking a Dat for its data counts as a use
        key = (
            id(kernel),
            iterset._uid,
            runtime.epoch,
            strategy,
            block_size,
            *[(a.access, a.data._uid, None if a.map_ is None else a.map_._uid) for a in args],
        )
        known = loops.find(key)
    except (AttributeError, TypeError):
        known = None  # ParLoop says what is wrong
    if known is not None and known[0] is kernel:
        if runtime.n_frozen:
            _check_frozen(args, f"par_loop '{kernel.name}'")
        known[1].run()
        for arg in args:
            if arg.__class__ is DatArg and arg.access != READ:
                arg.data.halo_valid = False
            elif arg.__class__ is MatArg:
                _note_assembly(arg)
        return
    loop = ParLoop(kernel, iterset, *args, strategy=strategy, block_size=block_size)
    loop.compute()
    if not loop._checks:
        loops.keep(key, (kernel, loop._prepared))


def _check_frozen(args: tuple[Arg, ...], what: str) -> None:
    for i, arg in enumerate(args):
        frozen = arg.data._frozen if isinstance(arg, DatArg) else None
        if frozen is not None and frozen != arg.access:
            raise HaloFrozenError(
                f"{what}: arg {i}: the halo of Dat '{arg.data.name}' is frozen with {frozen.name}, "
                f"but the loop uses it with {arg.access.name}; leave frozen_halo() first"
            )


def _table(map_: Any) -> _core.MapTable:
    table: _core.MapTable = map_._table
    return table


def _note_assembly(arg: MatArg) -> None:
    added = arg.access == INC
    arg.data.change_assembly_state(Mat.ADD_VALUES if added else Mat.INSERT_VALUES)


def _positions(arg: MatArg, n_bytes: int) -> _core.plan.PositionSpec:
    """Say which positions of which matrix a loop needs."""
    path, (row_dim, col_dim) = arg.map_, arg.data.block_dims
    return _core.plan.PositionSpec(
        sparsity=arg.data.sparsity._table("loops"),
        n_elements=path.rows.iterset.size,
        rows=_table(path.rows),
        columns=_table(path.cols),
        row_mask=path.row_mask,  # type: ignore[arg-type]  # None is allowed
        column_mask=path.col_mask,  # type: ignore[arg-type]  # None is allowed
        row_dim=row_dim if path.unrolled else 1,
        column_dim=col_dim if path.unrolled else 1,
        bytes=n_bytes,
    )


def _written_dats(args: tuple[Arg, ...]) -> tuple[Dat, ...]:
    found = {
        arg.data._uid: arg.data for arg in args if isinstance(arg, DatArg) and arg.access != READ
    }
    return tuple(found.values())


def _checked_strategy(strategy: object, what: str) -> str | None:
    if strategy is None or strategy in _core.STRATEGIES:
        return strategy
    raise UsageError(
        f"{what}: there is no strategy {strategy!r}; there are: {', '.join(_core.STRATEGIES)}"
    )


def _check_generate_options(given: dict[str, Any], what: str) -> None:
    if "strategy" in given:
        given["strategy"] = _checked_strategy(given["strategy"], what)
    if given.get("convention", 1) not in (1, 2):
        raise UsageError(f"{what}: convention must be 1 or 2, got {given['convention']!r}")
    for name in ("debug", "deterministic"):
        if not isinstance(given.get(name, False), bool):
            raise UsageError(f"{what}: {name} must be True or False, got {given[name]!r}")


def _checked_block_size(block_size: object, what: str) -> int:
    if block_size is None:
        return 0
    if isinstance(block_size, int) and not isinstance(block_size, bool) and block_size > 0:
        return block_size
    raise UsageError(f"{what}: block_size must be a positive int, got {block_size!r}")
