# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops: checked and recorded when made, generated and run on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.base.fixed import Fixed
from pyop2cxx.exceptions import (
    KernelTypeError,
    MapValueError,
    Op2Error,
    SetTypeError,
    UnsupportedError,
    UsageError,
    user_line,
    user_stacklevel,
)
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.shapes import needs_wrapper, wrapped
from pyop2cxx.loop import call_data, ragged, templates
from pyop2cxx.loop import symbolic as building
from pyop2cxx.loop.bounds import check_bounds
from pyop2cxx.loop.call_data import CallData, Shared
from pyop2cxx.loop.checks import (
    check_forms,
    check_generate_options,
    check_parts,
)
from pyop2cxx.loop.execute import bind, can_bind, effects_of, phase_of, prepare, travels
from pyop2cxx.loop.facts import LoopFacts, work_of
from pyop2cxx.loop.kernel_checks import Descriptor, check, check_text, fitting, passes
from pyop2cxx.loop.layouts import wide
from pyop2cxx.loop.numberings import all_current
from pyop2cxx.loop.options import checked_options, with_options
from pyop2cxx.loop.over_ghosts import with_ghosts
from pyop2cxx.loop.own_arguments import owned
from pyop2cxx.loop.parts import Kind, parts_of, uses_of, values_of
from pyop2cxx.loop.showing import as_table, in_a_line
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.request import GeneratedCode, Request
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import conventions
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks, shorten
from pyop2cxx.sets.items import items_of
from pyop2cxx.sets.mixed_sets import MixedSet
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyop2cxx import _core
    from pyop2cxx.base.access import Access
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop.execute import Run
    from pyop2cxx.loop.options import GivenOptions
    from pyop2cxx.loop.parts import Arg, Part
    from pyop2cxx.loop.symbolic import Symbolic
    from pyop2cxx.pipeline.explain import Explanation
    from pyop2cxx.sets.entities import SetPartition
    from pyop2cxx.sets.items import Items

_GENERATE_OPTIONS = (
    *("any_device", "convention", "debug", "deterministic", "lanes", "strategy", "tuning"),
)
_LAYER = np.dtype(np.int32)


@ends_tracebacks("__init__", "generate", "explain", "replace_data")
class ParLoop(Fixed, Shown):
    """A loop: a kernel, a Set and the arguments. `compute` runs the loop.

    The constructor checks the arguments, and `compute` does not repeat the checks: keep the object
    for repeated runs.

    Args:
        kernel: The kernel.
        iterset: The Set of entities to call the kernel for.
        *args: Arguments for the kernel's parameters: ``dat(access, map)``, ``glob(access)``.
        strategy: How racing updates are resolved: 'direct', 'owner', 'scratch', 'atomic', 'block',
            'colour' or 'team'; None means the default rule's choice.
        block_size: Elements of a block in strategy 'block'; None means chosen from the size.
        iteration_region: The part of each column, where the Set is extruded; None means all.
        iterate: Old name of `iteration_region` in PyOP2.
        pass_layer_arg: Whether the kernel gets the layer's number as last parameter, an int, for an
            extruded Set.
        lanes: Elements computed side by side in vectors: a power of two up to 16; 0 or 1 means no
            vectors; None means the default rule's choice.
        check: Whether the loop runs in check mode; None means as the options `check` and `debug`
            say.
        equal_writes: For check mode: elements with a common target of WRITE write equal values, so
            their order does not matter.
        tuning: Changed thresholds and sizes, by name: ``{"block_elements": 1024}``. Results do not
            depend on them.

    Attributes:
        kernel: As given; this and the following attributes cannot be assigned.
        iterset: As given.
        args: As given, but the loop's own: see `arguments`.
        options: The options, checked: a `pyop2cxx.loop.options.LoopOptions`.

    Raises:
        KernelTypeError: The kernel is not a Kernel.
        SetTypeError: The Set is not a Set.
        MapValueError: A Map has no values or starts elsewhere; a Dat is on another Set.
        IterateValueError: The region does not exist, or the Set is not extruded.
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

    _facts_kind = LoopFacts

    @with_options
    def __init__(
        self,
        kernel: Kernel,
        iterset: Set,
        *args: Arg,
        **options: Unpack[GivenOptions],
    ) -> None:
        self.kernel = self.written_kernel = self._checked_kernel(kernel)
        self.label = f"par_loop '{kernel.name}'"
        if isinstance(iterset, MixedSet):
            raise SetTypeError(
                f"{self.label}: cannot iterate over a MixedSet; loop over each of its Sets"
            )
        if not isinstance(iterset, Set):
            raise SetTypeError(
                f"{self.label}: the second argument must be the Set to iterate over, got "
                f"{iterset!r} of type {type(iterset).__name__}"
            )
        self.iterset = iterset
        self.args = args
        self.options = checked_options(options, self.label)
        self.items = self._owned_items()
        self.parts = parts_of(args, self.items, self.label)
        if any(part.kind is Kind.TOTAL and part.access is WRITE for part in self.parts):
            # a Global is overwritten, as PyOP2 allows without its checks of types
            if type(self) is not ParLoop:
                raise UnsupportedError(f"{self.label}: a Global is overwritten; use op2.ParLoop")
            object.__setattr__(self, "__class__", conventions().LastElement)
            self.__init__(kernel, iterset, *args, **options)  # type: ignore[misc]
            return
        check_parts(self.parts, self.items, iterset, self.label)
        self.is_ragged = any(map_.is_ragged for part in self.parts for map_ in part.maps)
        if kernel.abi == "2026":
            check_forms(args, self.label)
        self.items = with_ghosts(self.items, iterset, self.parts, self.label)
        self.distribution = runtime.n_distributions
        self.is_same_on_ranks = runtime.same_on_ranks
        self.seen = runtime.epoch
        self._adapt_kernel()
        self.built: Symbolic | None
        self.template: templates.Template | None
        runtime.of(templates.Templates).find(self)
        self.line = user_line()
        if self.template is None and self._check_bounds():
            self.template_key = None  # each such loop is a warning
        self.epoch = -1
        self.recorded: Any = None
        self.prepared: _core.PreparedLoop
        self.bound_run: Run
        self.lent: tuple[Lent, ...] = ()
        self._known_call_data: CallData | None = None
        self.args = owned(self.args, self, is_shown=False)
        self.note_effects()
        self._check_lengths()
        self._is_made = True

    def __copy__(self) -> ParLoop:
        made = object.__new__(type(self))
        args = owned(self.args, made, is_shown=False)
        # a copy gets another kernel or other data: no template fits
        made.__dict__.update(self.__dict__, args=args, template=None, template_key=None)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"{self.label}: a loop cannot be pickled, nor copied deeply; make it again from its "
            "kernel, Set and arguments, which can"
        )

    def __repr__(self) -> str:
        return in_a_line(self)

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
        return as_table(self)

    def _checked_kernel(self, kernel: Kernel) -> Kernel:
        if not isinstance(kernel, Kernel):
            raise KernelTypeError(
                f"par_loop: the first argument must be a Kernel, got {kernel!r} of type "
                f"{type(kernel).__name__}"
            )
        return kernel

    def _adapt_kernel(self) -> None:
        """Check that the kernel takes the arguments, or call the kernel from a wrapper."""
        kernel = self.kernel
        if kernel.abi == "2026":  # for older kernels behind the checks of their spaces
            check_text(kernel)
        if self.is_ragged:
            ragged.check_kernel(kernel, self.parts, self.label)
        if kernel.abi != "2026":
            self._adapt_older_kernel()
        elif needs_wrapper(kernel):
            values = values_of(self.args, self.parts)
            self.kernel = wrapped(kernel, self.args, values, layer=self.options.pass_layer_arg)
        else:
            self._check_kernel()

    def _adapt_older_kernel(self) -> None:
        """Call a kernel of an older convention from a wrapper of today's convention."""
        kernel = self.kernel
        if kernel.abi == "2013" and self.items.extruded:
            self.options = self.options._replace(pass_layer_arg=True)
            self.items = self._owned_items()
        self.kernel, self.args = conventions().adapted(
            kernel, self.args, layer=self.options.pass_layer_arg, facets=self.items.facets
        )
        self.parts = parts_of(self.args, self.items)
        self.items = with_ghosts(self.items, self.iterset, self.parts, self.label)

    def _owned_items(self) -> Items:
        region, layer = self.options.iteration_region, self.options.pass_layer_arg
        return items_of(self.iterset, region, layer, self.label)

    def follow_distribution(self) -> None:
        """Have the items and arrays of now, if `op2.distribute` has shared Sets since."""
        if self.distribution == runtime.n_distributions and (
            self.is_same_on_ranks == runtime.same_on_ranks
        ):
            return
        self.items = self._owned_items()
        self.take(self.args)
        self.items = with_ghosts(self.items, self.iterset, self.parts, self.label)
        self.note_effects()
        self.distribution = runtime.n_distributions
        self.is_same_on_ranks = runtime.same_on_ranks

    def _check_kernel(self) -> None:
        handles = {part.number for part in self.parts if part.kind is Kind.HANDLE}
        kinds: list[tuple[Any, Any]] = [
            (None if i in handles else arg.compute, arg.access) for i, arg in enumerate(self.args)
        ]
        if self.options.pass_layer_arg:
            kinds.append((_LAYER, None))
        if passes(self.kernel, tuple(kinds)):
            return
        names = (*self._names(), "the layer")
        descriptors = [Descriptor(i, names[i], *kind) for i, kind in enumerate(kinds)]
        level, strict = user_stacklevel(), runtime.configuration["strict"]
        try:
            check(self.kernel, descriptors, stacklevel=level, strict=strict)
        except UsageError:
            fitted = fitting(self.kernel, descriptors)
            if fitted is self.kernel:
                raise
            check(fitted, descriptors, stacklevel=level, strict=strict)
            self.kernel = fitted

    def _check_bounds(self) -> bool:
        """Check the kernel's subscripts that are independent of data; return whether it warned."""
        level, strict = user_stacklevel(), runtime.configuration["strict"]
        loop = self.symbolic().loop
        rows = ragged.shortest_extents(self.parts) if self.is_ragged else {}
        usual: dict[str, Any] = {"stacklevel": level, "strict": strict, "extents": rows}
        return check_bounds(self.kernel, loop, self._names, self.label, **usual)

    def _names(self) -> list[str]:
        """Names of the arguments in messages."""
        return [f"{type(arg.data).__name__} '{arg.data.name}'" for arg in self.args]

    def check_input(self) -> _core.CheckInput:
        """Return what the loop hands to its kernel, for check mode."""
        rows = ragged.counted_rows(self.parts), ragged.shortest_extents(self.parts)
        return self.symbolic().loop.check_input(rows=rows[0], extents=rows[1])  # type: ignore[no-any-return]

    def note_effects(self) -> None:
        """Find the effects of a run beside the values."""
        self.effects = effects_of(self.parts, self.iterset)
        self.known_facts: LoopFacts | None = None

    @property
    def facts(self) -> LoopFacts:
        """Facts for the choice of the text, beside the loop itself."""
        if self.known_facts is None:
            self.known_facts = self._facts_kind(self.iterset, self.items, self.parts)
        return self.known_facts

    def symbolic(self) -> Symbolic:
        """Return the loop without data, for the present state."""
        self.follow_distribution()
        built = self.built
        if built is None or not built.is_current:
            kept = None if built is None else built.renewed(self.parts)
            self.built = built = kept or building.build(self.kernel, self.parts, self.items)
        return built

    @property
    def call_data(self) -> CallData:
        """Facts for binding other data."""
        if self._known_call_data is None:
            names = [one.name for one in self.written_kernel.parameters]
            self._known_call_data = CallData(self, names)
        return self._known_call_data

    def replace_data(self, index: int | str, new: Any) -> None:
        """Use other data from now on, of the same kind, shape and dtype, by the same Map.

        Args:
            index: The number of the argument, or the name of the kernel's parameter.
            new: A Dat, Global, Constant, MixedDat or Mat; an object holding one as `data`; or an
                array, as new memory of a Dat or Global, as for `__call__`.

        Raises:
            IndexValueError: The argument does not exist.
            UsageError: The data do not fit; the loop is as before.
            MapValueError: A Dat is on another Set.

        Example:
            >>> from pyop2cxx import op2
            >>> cells = op2.Set(2)
            >>> a, b = op2.Dat(cells), op2.Dat(cells)
            >>> one = op2.Kernel("void one(double *x) { *x = 1; }", "one")
            >>> loop = op2.ParLoop(one, cells, a(op2.WRITE))
            >>> loop.replace_data("x", b)
            >>> loop.compute()
            >>> b.data_ro.tolist()
            [1.0, 1.0]
        """
        data = self.call_data
        number = data.number_of(index)
        old: Any = self.args[number]
        held = getattr(new, "data", None)
        taken = data.slots[number].taken(held if isinstance(held, type(old.data)) else new)
        made = data.slots[number].wrapped(taken.array) if isinstance(taken, Shared) else taken
        if made is old.data:
            return  # as Firedrake does before each assembly
        arg = old.of(made)
        is_bound = data.has_place_for(number, made) and can_bind(self)
        is_bound = is_bound and all_current(None, [(made, old.map_)])
        args = (*self.args[:number], arg, *self.args[number + 1 :])
        parts = self.parts if is_bound else self._parts_of(args)
        if runtime.recorder is not None and not runtime.recorder.takes_all:
            runtime.settle()  # the loop may wait, with the present data
        if is_bound:
            bind(self, number, arg)
        else:
            self.take(args, parts)

    def _parts_of(self, args: tuple[Arg, ...]) -> tuple[Part, ...]:
        parts = parts_of(args, self.items)
        check_parts(parts, self.items, self.iterset, self.label)
        return parts

    def take(self, args: tuple[Arg, ...], parts: tuple[Part, ...] | None = None) -> None:
        """Have other arguments from now on."""
        self.parts = self._parts_of(args) if parts is None else parts
        self.__dict__["args"] = owned(args, self, is_shown=False)
        self.built = self.recorded = self._known_call_data = None
        self.template = self.template_key = None
        self.note_effects()
        self.epoch = -1

    @property
    def arguments(self) -> tuple[Arg, ...]:
        """The arguments, as in PyOP2: assigning `data` of an argument is `replace_data`; tuple."""
        return owned(self.args, self, is_shown=True)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The access of each argument; tuple."""
        return tuple(arg.access for arg in self.args)

    @property
    def num_flops(self) -> int:
        """Floating-point operations of a run; 0 if unknown."""
        return self.kernel.num_flops * self.items.n

    # Text

    def generate(self, options: Mapping[str, Any] | None = None) -> GeneratedCode:
        """Return the text of the loop for the current backend, without running.

        Args:
            options: ``strategy``; ``convention`` (1: the arguments of source document 003, 2:
                unique Dats and Maps only); ``deterministic``; ``debug``; ``lanes``; ``tuning``;
                ``any_device``, a text for all devices of the backend, not only the present device.
                The others are as configured.

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
                f"{self.label}: generate() has no option {', '.join(map(repr, unknown))}; there "
                f"are: {', '.join(_GENERATE_OPTIONS)}"
            )
        check_generate_options(given, self.label)
        request = self.request(self.symbolic(), given)
        if given.get("any_device", False):
            choice = flow.choose(request)
        else:
            request, choice = flow.as_it_runs(request)
        known = flow.generate(request, choice)
        if runtime.on_loop is not None:
            runtime.on_loop(self)
        rest = {"files": dict(known.files), "header": self._header(known.strategy)}
        return GeneratedCode.chosen(known, choice, **rest)

    def explain(self) -> Explanation:
        """Explain how the loop would run now: strategy, lanes, and the rules' figures.

        Nothing is compiled or run. `print` the result, or read the attributes.

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
        size = self.items.n
        from pyop2cxx.pipeline import explain

        dats = [dat.name for dat in wide(self.parts).values()]
        found: Explanation = explain.explain(
            self.current_request(), self.iterset.name, size, n_bytes, dats
        )
        found = replace(found, ghosts=travels(self.effects, self.args))
        return found.planned(self.prepared) if self.epoch == runtime.epoch else found

    def _header(self, strategy: str) -> str:
        lines = [f"{self.label} over Set '{self.iterset.name}', strategy {strategy}"]
        for i, arg in enumerate(self.args):
            path = f" via Map '{arg.map_.name}'" if arg.map_ is not None else ""
            kind = type(arg.data).__name__
            lines.append(f"  arg {i}: {kind} '{arg.data.name}' {arg.access.name}{path}")
        return "\n".join(lines)

    # Running

    def compute(self, part: SetPartition | None = None) -> None:
        """Run the loop once, now.

        Args:
            part: ``iterset.core_part`` or ``iterset.owned_part``: run a part of the loop, without
                exchange of ghosts. The core and then the rest make the whole loop; before the rest
                has run, only core entities were read. None means all.

        Raises:
            UsageError: The part is neither of them.
            StaticModeError: Under ``init(static=True)``.
            CompilationError: The compiler rejects the kernel.
            ToolchainError: There is no compiler.
            ExecutionError: The loop failed during the run.
        """
        try:
            if part is not None:
                self._compute_part(part)
                return
            if runtime.recorders:
                recorder = runtime.here.recorder
                if recorder is not None and recorder.takes(self):
                    return
                if runtime.others_record:
                    runtime.settle_others(*uses_of(self.args))
            if self.epoch != runtime.epoch:
                self.prepare()
            self.bound_run.once(self.args)
        except Op2Error as error:
            shorten(error)
            raise error

    def __call__(
        self, given: SetPartition | Mapping[int | str, Any] | None = None, /, **data: Any
    ) -> None:
        """Run the loop once, now; optionally with other data for some arguments.

        New data are checked and bound, without analysis or compilation. The loop keeps the old
        data. Within `op2.chain` the call runs at once, after the waiting loops; `op2.record`
        records the call, and the graph keeps the given data.

        Args:
            given: A part of the Set, as for `compute`; or data by names or numbers of arguments.
            **data: By the names of the kernel's parameters. Values are objects like the loop's own:
                a Dat on the same Set, a Global, Constant, MixedDat or Mat, or an object holding a
                Dat as `dat`; or an array of NumPy, PyTorch, JAX and other libraries with DLPack,
                contiguous, of the Dat's or Global's shape and dtype. An array's memory is used in
                place, on the host or on the device of loops, until the call returns. A Global that
                is read also takes a number.

        Raises:
            IndexValueError: The argument does not exist.
            UsageError, DataTypeError, DataValueError, MapValueError: An object does not fit, or a
                written argument would share memory not shared before; nothing was run.
            UnsupportedError: A graph on a device cannot write to an array of the host.

        Example:
            >>> import numpy as np
            >>> from pyop2cxx import op2
            >>> cells = op2.Set(2)
            >>> x, y = op2.Dat(cells), op2.Dat(cells)
            >>> text = "void twice(double *out, const double *h) { *out = 2 * *h; }"
            >>> twice = op2.ParLoop(op2.Kernel(text, "twice"), cells, y(op2.WRITE), x(op2.READ))
            >>> h, out = np.array([1.0, 2.0]), np.empty(2)
            >>> twice(h=h, out=out)
            >>> out.tolist()
            [2.0, 4.0]
        """
        is_mapping = isinstance(given, Mapping)
        if not data and not is_mapping:
            self.compute(given)  # type: ignore[arg-type]  # it is no Mapping
            return
        try:
            runtime.require_running(self.label, "compute")
            if given is not None and not is_mapping:
                raise UsageError(f"{self.label}: a part of the loop runs with the loop's own data")
            call_data.run(self, {**given, **data} if is_mapping else data)  # type: ignore[dict-item]
        except Op2Error as error:
            shorten(error)
            raise error

    def _compute_part(self, part: SetPartition) -> None:
        phase = phase_of(part, self.iterset, self.label)
        runtime.settle()
        with runtime.at_once():
            if self.epoch != runtime.epoch:
                self.prepare()
            self.bound_run.part(phase, self.args)

    @property
    def is_kept(self) -> bool:
        """Whether the loop is prepared, and later runs may reuse the preparation without data."""
        if self.epoch != runtime.epoch or self.effects.exact:
            return False
        return not self.bound_run.is_watched

    def prepare(self) -> None:
        """Prepare the run: check the arguments and choose the text."""
        self._check_lengths()
        prepare(self)
        self._known_call_data = None

    def _check_lengths(self) -> None:
        """Refuse rows of ragged Maps longer than what a kernel gets packed."""
        if self.is_ragged:
            ragged.check_lengths(self.parts, self.current_request, self.label)

    def wants_checks(self) -> bool:
        """Whether the loop runs in check mode."""
        configured, check = runtime.configuration, self.options.check
        return bool(configured["check"] or configured["debug"]) if check is None else check

    def current_request(self) -> Request:
        """Return the input for the choice of the loop's text."""
        return self.request(self.symbolic(), {})

    def request(self, built: Symbolic, given: dict[str, Any]) -> Request:
        """Return the input for the choice of a text."""
        backend = runtime.engine.backend(str(given.get("backend", runtime.backend)))
        tuning = given.get("tuning", self.options.tuning)
        return Request(
            name=self.kernel.shown_name,
            line=self.line,
            kernel=self.kernel,
            loop=built.loop,
            backend=backend,
            map_facts=tuple(self.map_facts(map_) for map_ in built.maps),
            n_elements=self.items.n,
            options=self.facts.options(built, backend, given | {"tuning": tuning}),
            strategy=given.get("strategy", self.options.strategy),
            lanes=given.get("lanes", self.options.lanes),
            tuning=tuning,
            column_fill=partial(self.facts.column_fill, built),
        )

    @property
    def keeps_elements(self) -> bool:
        """Whether targets of Maps are written in the order of elements, for equal bits."""
        return runtime.same_on_ranks and any(
            part.access is not READ and (part.map_ is not None or part.is_of_matrix)
            for part in self.parts
        )

    def map_facts(self, map_: Any) -> _core.plan.MapFacts:
        """Return facts about a Map, for the estimate."""
        try:
            return self.facts.map_facts(map_)
        except UsageError as error:  # the program has changed an array shared by the Map
            number = next(part.number for part in self.parts if part.target is map_)
            raise MapValueError(
                f"{self.label}: arg {number}: Map '{map_.name}': {error}; pass changed values to "
                "Map.update_values"
            ) from None

    @property
    def useful_bytes(self) -> int:
        """Bytes moved by a call, at least: each Dat and Map entry once, INC and RW both ways."""
        return self.facts.useful_bytes

    @property
    def work(self) -> tuple[int, int]:
        """Floating-point operations of a call, -1 if unknown; bytes of the widest operand."""
        return work_of([self])
