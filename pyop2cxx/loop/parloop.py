# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops: checked and recorded when made, generated and run on demand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.data.constants import ConstantArg
from pyop2cxx.data.dats import DatArg
from pyop2cxx.data.globals import GlobalArg
from pyop2cxx.data.handles import PassthroughArg
from pyop2cxx.data.mat_args import (
    DenseBlockArg,
    MatArg,
    MixedMatArg,
)
from pyop2cxx.data.mat_paths import placed
from pyop2cxx.data.mixed_dats import DoubledGlobalArg, MixedDatArg
from pyop2cxx.exceptions import (
    IndexValueError,
    KernelTypeError,
    MapValueError,
    Op2Error,
    SetTypeError,
    StaticModeError,
    UnsupportedError,
    UsageError,
    user_line,
    user_stacklevel,
)
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.shapes import needs_wrapper, wrapped
from pyop2cxx.loop import symbolic
from pyop2cxx.loop.bounds import check_bounds
from pyop2cxx.loop.check_mode import CheckedRun
from pyop2cxx.loop.checks import (
    check_generate_options,
    checked_block_size,
    checked_flag,
    checked_lanes,
    checked_region,
    checked_strategy,
    kind_of,
    legacy_form,
)
from pyop2cxx.loop.execute import Run, check_frozen, effects_of, run_on_device
from pyop2cxx.loop.facts import LoopFacts
from pyop2cxx.loop.kernel_checks import Descriptor, check, check_text, fitting
from pyop2cxx.loop.parts import maps_of, parts_of, through_columns, values_of
from pyop2cxx.loop.value_checks import WatchedArguments
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline import tuning as tuning_numbers
from pyop2cxx.pipeline.explain import explain
from pyop2cxx.pipeline.request import GeneratedCode, Request
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import conventions
from pyop2cxx.runtime.tracebacks import ends_tracebacks, shorten
from pyop2cxx.sets.items import check_defined, check_reach, items_of
from pyop2cxx.sets.mixed_sets import MixedSet
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.base.access import Access
    from pyop2cxx.base.regions import IterationRegion
    from pyop2cxx.data.carrier import Lent
    from pyop2cxx.loop.parts import Arg, Part
    from pyop2cxx.pipeline.explain import Explanation
    from pyop2cxx.sets.maps import Map

_GENERATE_OPTIONS = ("convention", "debug", "deterministic", "lanes", "strategy", "tuning")
_LAYER = np.dtype(np.int32)


@ends_tracebacks("__init__", "generate", "explain", "replace_data")
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
        iteration_region: The part of each column, where the Set is extruded; None means all.
        iterate: The same, as PyOP2 called it once.
        pass_layer_arg: Whether the kernel gets the number of the layer as its last parameter, an
            int, where the Set is extruded.
        lanes: Elements computed side by side in vectors: a power of two up to 16; 0 or 1 means one
            after the other; None means the default rule's choice.
        check: Whether the loop runs in check mode; None means as the options `check` and `debug`
            say.
        equal_writes: For check mode: elements that write one value through a Map write equal
            values, so that it does not matter which one is last.
        tuning: Numbers that steer the text and the launches, by name, where the defaults are not
            wanted: ``{"block_elements": 1024}``. All give the same results.

    Attributes:
        kernel: As given.
        iterset: As given.
        args: As given.

    Raises:
        KernelTypeError: The kernel is not a Kernel.
        SetTypeError: The Set is not a Set.
        MapValueError: A Map has no values or starts elsewhere; a Dat is on another Set.
        IterateValueError: There is no such region, or the Set is not extruded.
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
        iteration_region: IterationRegion | None = None,
        iterate: IterationRegion | None = None,
        pass_layer_arg: bool = False,
        lanes: int | None = None,
        check: bool | None = None,
        equal_writes: bool = False,
        tuning: Mapping[str, bool | int | float] | None = None,
    ) -> None:
        self.kernel = self._checked_kernel(kernel)
        self._what = f"par_loop '{kernel.name}'"
        if isinstance(iterset, MixedSet):
            raise SetTypeError(
                f"{self._what}: cannot iterate over a MixedSet; loop over each of its Sets"
            )
        if not isinstance(iterset, Set):
            raise SetTypeError(
                f"{self._what}: the second argument must be the Set to iterate over, got "
                f"{iterset!r} of type {type(iterset).__name__}"
            )
        self.iterset = iterset
        self.args = args
        self.iteration_region = checked_region(iteration_region, iterate, self._what)
        self.pass_layer_arg = bool(pass_layer_arg)
        self._items = items_of(iterset, self.iteration_region, self.pass_layer_arg, self._what)
        self._strategy = checked_strategy(strategy, self._what)
        self._block_size = checked_block_size(block_size, self._what)
        self._lanes = checked_lanes(lanes, self._what)
        self._check = checked_flag("check", check, self._what)
        self._equal_writes = bool(checked_flag("equal_writes", equal_writes, self._what))
        self._tuning = tuning_numbers.checked(tuning, self._what)
        for i, arg in enumerate(args):
            self._check_kind(i, arg)
        self.args = args = tuple(placed(arg, self._items.whole) for arg in args)
        self._parts, numbers = parts_of(args)
        for i, part in zip(numbers or range(len(args)), self._parts, strict=True):
            self._check_arg(i, part)
        self._seen = runtime.epoch
        self._adapt_kernel()
        self._line = user_line()
        self._epoch = -1
        self._prepared: _core.PreparedLoop
        self._run: Run
        self._lent: tuple[Lent, ...] = ()
        self._note_effects()

    def _checked_kernel(self, kernel: Kernel) -> Kernel:
        if not isinstance(kernel, Kernel):
            raise KernelTypeError(
                f"par_loop: the first argument must be a Kernel, got {kernel!r} of type "
                f"{type(kernel).__name__}"
            )
        check_text(kernel)
        return kernel

    def _adapt_kernel(self) -> None:
        """Check that the kernel takes these arguments, or let a function call it that does."""
        kernel, layer, given = self.kernel, self.pass_layer_arg, self.args
        if kernel.abi != "2026":
            self._adapt_older_kernel()
        elif needs_wrapper(kernel):
            values = values_of(given, 2 if self._items.facets else 1)
            self.kernel = wrapped(kernel, given, values, layer=layer)
        else:
            self._check_kernel()
        if self._items.extruded:
            self.args = tuple(through_columns(arg, self._items.base) for arg in self.args)
        if self.args is not given:
            self._parts = parts_of(self.args)[0]
        check_bounds(
            self.kernel,
            symbolic.build(self.kernel, self.args, self._items).loop,
            [f"{type(arg.data).__name__} '{arg.data.name}'" for arg in self.args],
            self._what,
            stacklevel=user_stacklevel(),
            strict=runtime.configuration["strict"],
        )

    def _adapt_older_kernel(self) -> None:
        """Let a function of today's convention call a kernel of an older one."""
        kernel = self.kernel
        self.pass_layer_arg |= kernel.abi == "2013" and self._items.extruded
        self._items = items_of(self.iterset, self.iteration_region, self.pass_layer_arg, self._what)
        self.kernel, self.args = conventions().adapted(
            kernel, self.args, layer=self.pass_layer_arg, facets=self._items.facets
        )

    def _note_effects(self) -> None:
        """Find out what a run has to keep up to date besides the values."""
        self._facts = LoopFacts(self.iterset, self._items, *parts_of(self.args))
        self._effects = effects_of(self.args)

    def _check_kind(self, i: int, arg: Arg) -> None:
        known = DatArg | MixedDatArg | GlobalArg | ConstantArg | PassthroughArg
        if not isinstance(arg, known | MatArg | MixedMatArg):
            raise UsageError(
                f"{self._what}: arg {i} must be made by calling a Dat or Global with an access, "
                f"such as dat(op2.READ, map), got {arg!r} of type {type(arg).__name__}"
            )
        if self.kernel.abi == "2026" and (legacy_form(arg) or (0, False))[1]:
            raise UsageError(
                f"{self._what}: arg {i}: flatten is of PyOP2's older conventions; leave it out, or "
                "say which one the kernel follows: Kernel(..., abi='2016')"
            )

    def _check_arg(self, i: int, arg: Part) -> None:
        if isinstance(arg, MatArg | DenseBlockArg):
            self._check_matrix(i, arg)
            return
        if not isinstance(arg, DatArg):
            return
        dat, map_ = arg.data, arg.map_
        if map_ is None:
            if dat.dataset.set is not self._items.base:
                raise MapValueError(
                    f"{self._what}: arg {i}: Dat '{dat.name}' lives on Set "
                    f"'{dat.dataset.set.name}', but the loop runs over '{self.iterset.name}'; "
                    f"pass a Map {self.iterset.name} → {dat.dataset.set.name}"
                )
            return
        if map_.iterset is not self._items.whole and map_.iterset is not self._items.base:
            raise MapValueError(
                f"{self._what}: arg {i}: Map '{map_.name}' starts on Set '{map_.iterset.name}', "
                f"but the loop runs over '{self.iterset.name}'; "
                f"pass a Map {self.iterset.name} → {dat.dataset.set.name}"
            )
        self._check_values(i, map_)

    def _check_values(self, i: int, map_: Map, *, drops: bool = False) -> None:
        """Check where a Map leads; `drops`: what leads nowhere is left out."""
        if not map_.has_values and not runtime.static:
            raise MapValueError(
                f"{self._what}: arg {i}: Map '{map_.name}' has no values yet; give it some by "
                "update_values() before it is used in a loop"
            )
        if map_.has_values and not runtime.static and not drops:
            check_defined(map_, self._items, self.iterset, f"{self._what}: arg {i}")
        if self._items.extruded and map_.has_values:
            check_reach(map_, self._items, self.iterset, f"{self._what}: arg {i}")

    def replace_data(self, index: int, new: Any) -> None:
        """Use other data from now on, of the same kind, shape and dtype, by the same Map.

        Args:
            index: The number of the argument.
            new: A Dat, Global, Constant or MixedDat; or what holds one as its `data`.

        Raises:
            IndexValueError: There is no such argument.
            UsageError: The data do not fit; the loop is as before.
            MapValueError: A Dat is on another Set.

        Example:
            >>> from pyop2cxx import op2
            >>> cells = op2.Set(2)
            >>> a, b = op2.Dat(cells), op2.Dat(cells)
            >>> one = op2.Kernel("void one(double *x) { *x = 1; }", "one")
            >>> loop = op2.ParLoop(one, cells, a(op2.WRITE))
            >>> loop.replace_data(0, b)
            >>> loop.compute()
            >>> b.data_ro.tolist()
            [1.0, 1.0]
        """
        if not 0 <= index < len(self.args):
            raise IndexValueError(
                f"{self._what} has arguments 0 to {len(self.args) - 1}, got index {index}"
            )
        old: Any = self.args[index]
        data = new if isinstance(new, type(old.data)) else getattr(new, "data", None)
        if not isinstance(data, type(old.data)) or kind_of(data) != kind_of(old.data):
            dtype, dim = kind_of(old.data)
            raise UsageError(
                f"{self._what}: arg {index}: {type(old.data).__name__} '{old.data.name}' of dtype "
                f"{dtype} and {dim} values can be replaced by one like it, got {new!r}"
            )
        if isinstance(old, MatArg | MixedMatArg):
            lgmaps, unroll_map = old.map_.given
            given = data(old.access, old.map_.maps, lgmaps=lgmaps, unroll_map=unroll_map)
        else:
            given = data(old.access) if old.map_ is None else data(old.access, old.map_)
        given = placed(given, self._items.whole)
        if isinstance(old, DoubledGlobalArg):
            given = DoubledGlobalArg(data, None, old.access)
        parts, numbers = parts_of((*self.args[:index], given, *self.args[index + 1 :]))
        for i, part in zip(numbers or range(len(self.args)), parts, strict=True):
            self._check_arg(i, part)
        self.args = (*self.args[:index], given, *self.args[index + 1 :])
        self._parts = parts
        self._note_effects()
        self._epoch = -1

    @property
    def arguments(self) -> tuple[Arg, ...]:
        """The arguments, as PyOP2 calls them."""
        return self.args

    @property
    def accesses(self) -> tuple[Access, ...]:
        """How each argument is used."""
        return tuple(arg.access for arg in self.args)

    @property
    def num_flops(self) -> int:
        """Floating-point operations of one call of the loop; 0 if not known."""
        return self.kernel.num_flops * self._items.n

    def _check_matrix(self, i: int, arg: MatArg | DenseBlockArg) -> None:
        for map_ in maps_of(arg):
            if map_.iterset is not self._items.whole:
                raise MapValueError(
                    f"{self._what}: arg {i}: Map '{map_.name}' starts on Set "
                    f"'{map_.iterset.name}', but the loop runs over '{self.iterset.name}'; "
                    f"pass Maps from there to the rows and columns of Mat '{arg.data.name}'"
                )
            self._check_values(i, map_, drops=isinstance(arg, MatArg))

    def _check_kernel(self) -> None:
        descriptors = [
            Descriptor(
                i,
                f"{type(a.data).__name__} '{a.data.name}'",
                None if isinstance(a, PassthroughArg) else a.data.dtype,
                a.access,
            )
            for i, a in enumerate(self.args)
        ]
        if self.pass_layer_arg:
            descriptors.append(Descriptor(len(self.args), "the layer", _LAYER, None))
        level, strict = user_stacklevel(), runtime.configuration["strict"]
        try:
            check(self.kernel, descriptors, stacklevel=level, strict=strict)
        except UsageError:
            fitted = fitting(self.kernel, descriptors)
            if fitted is self.kernel:
                raise
            check(fitted, descriptors, stacklevel=level, strict=strict)
            self.kernel = fitted

    # Text

    def generate(self, options: Mapping[str, Any] | None = None) -> GeneratedCode:
        """Return the text of this loop for the current backend, without running anything.

        Args:
            options: ``strategy``; ``convention`` (1: the arguments of source document 003, 2:
                unique Dats and Maps only); ``deterministic``; ``debug``; ``lanes``; ``tuning``.
                What is not given is as configured.

        Returns:
            The text, a `str`, with `files`, `signature`, `strategy`, `lanes`, `why_lanes`, `ir`,
            `key` and `header`.

        Raises:
            UsageError: An option is unknown.
            UnsupportedError: The strategy, or the number of lanes, is not possible here.
        """
        given = dict(options or {})
        unknown = sorted(set(given) - set(_GENERATE_OPTIONS))
        if unknown:
            raise UsageError(
                f"{self._what}: generate() has no option {', '.join(map(repr, unknown))}; there "
                f"are: {', '.join(_GENERATE_OPTIONS)}"
            )
        check_generate_options(given, self._what)
        request = self._request(symbolic.build(self.kernel, self.args, self._items), given)
        choice = flow.choose(request)
        known = flow.generate(request, choice)
        code = GeneratedCode(known)
        code.__dict__.update(known.__dict__)
        code.files, code.ir = dict(known.files), dict(known.ir)
        code.why, code.header = choice.why, self._header(known.strategy)
        code.why_lanes = choice.why_lanes
        if runtime.on_loop is not None:
            runtime.on_loop(self)
        return code

    def explain(self) -> Explanation:
        """Say how this loop would run now, and why: strategy, lanes, and the rules' figures.

        Nothing is compiled or run. `print` it, or read its attributes.

        Raises:
            UnsupportedError: The strategy, or the number of lanes, is not possible here.

        Example:
            >>> from pyop2cxx import op2
            >>> x = op2.Dat(op2.Set(3))
            >>> double = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
            >>> op2.ParLoop(double, x.dataset.set, x(op2.RW)).explain().why_lanes
            '1 operations for 2 scalars moved: too little to gain'
        """
        is_sized = self.iterset.is_sized and not runtime.static
        n_bytes = self.useful_bytes if is_sized else None
        return explain(self._current_request(), self.iterset.name, self._items.n, n_bytes)

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
        try:
            if self._epoch != runtime.epoch:
                self._prepare()
            self._run.once(self.args)
        except Op2Error as error:
            shorten(error)
            raise error

    __call__ = compute

    def _check_runnable(self) -> int:
        """Check what may have changed since the loop was made, and return the epoch of that."""
        if runtime.static:
            raise StaticModeError(
                f"{self._what}: 'compute' needs loops that run, but init(static=True) only "
                "generates text; call generate(), or run without static=True"
            )
        check_frozen(self._effects, self.args, self._what)
        for i, arg in zip(self._facts.numbers, self._parts, strict=True):
            if self._seen != runtime.epoch:
                for map_ in maps_of(arg):
                    self._check_values(i, map_, drops=isinstance(arg, MatArg))
            if isinstance(arg, DatArg):
                arg.data._allocated("par_loop")
        self._seen = runtime.epoch
        return self._seen

    def _prepare(self) -> None:
        epoch = self._check_runnable()
        if self._wants_checks() and self.kernel.core.body is not None:
            checked = CheckedRun(self)
            self._become(checked.run, epoch)
            self._prepared = checked.prepared
            return
        built = symbolic.build(self.kernel, self.args, self._items)
        for constant in built.constants:
            constant._check_readable(f"value for {self._what}")
        request = self._request(built, {})
        engine = runtime.engine
        executable = flow.executable(request)
        device = engine.chosen_device(request.backend)
        if device is not None and any(isinstance(arg, PassthroughArg) for arg in self._parts):
            raise UnsupportedError(
                f"{self._what}: a PassthroughArg is an address of this process, which a device "
                "cannot reach; run the loop on a backend of the host"
            )
        self._prepared = _core.PreparedLoop(
            executable=executable,
            binding=self._facts.binding(
                built,
                arguments=[arg.data._buffer for arg in self._parts],
                constants=[constant._buffer for constant in built.constants],
                matrices=self._facts.matrices(),
                matrix_paths=[
                    (built.maps.index(arg.map_.rows), built.maps.index(arg.map_.cols))
                    for arg in self._facts.inserted
                ],
            ),
            options=_core.LaunchOptions(
                n_threads=1 if self.kernel.calls_petsc else engine.n_threads,
                block_size=self._block_size,
                useful_bytes=self._facts.useful_bytes,
                tuning=flow.launch_tuning(request, device),
            ),
            plans=engine.plans,
            timing=engine.timing(self.kernel.shown_name, request.backend.name, executable.strategy),
            mirror=None if device is None else device.mirror,
        )
        launch = self._prepared.run
        if device is not None:
            carriers: list[Any] = [*(arg.data for arg in self._parts), *built.constants]
            lent = tuple({id(one._lent_out): one._lent_out for one in carriers}.values())
            launch = partial(run_on_device, self._prepared, lent)
            self._lent = lent
        self._become(launch, epoch)
        if runtime.on_loop is not None:
            runtime.on_loop(self)

    def _become(self, launch: Callable[[], bool], epoch: int) -> None:
        """Run by this from now on, for as long as nothing changes that the epoch tells."""
        debug, races = bool(runtime.configuration["debug"]), self._wants_checks()
        watch = WatchedArguments(self, debug=debug, races=races) if debug or races else None
        self._run, self._epoch = Run(self._what, self._effects, launch, watch), epoch

    def _wants_checks(self) -> bool:
        """Whether the loop runs in check mode."""
        options = runtime.configuration
        return bool(options["check"] or options["debug"]) if self._check is None else self._check

    def _current_request(self) -> Request:
        """Say what decides the text of the loop as it would run now."""
        return self._request(symbolic.build(self.kernel, self.args, self._items), {})

    def _request(self, built: symbolic.Symbolic, given: dict[str, Any]) -> Request:
        backend = runtime.engine.backend(runtime.backend)
        tuning = given.get("tuning", self._tuning)
        return Request(
            name=self.kernel.shown_name,
            line=self._line,
            kernel=self.kernel,
            loop=built.loop,
            backend=backend,
            map_facts=tuple(self._facts.map_facts(map_) for map_ in built.maps),
            options=self._facts.options(built, backend, given | {"tuning": tuning}),
            strategy=given.get("strategy", self._strategy),
            lanes=given.get("lanes", self._lanes),
            tuning=tuning,
            column_fill=partial(self._facts.column_fill, built),
        )

    @property
    def useful_bytes(self) -> int:
        """Bytes that one call must move: each Dat and Map entry once, INC and RW both ways."""
        return self._facts.useful_bytes
