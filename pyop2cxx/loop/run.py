# SPDX-License-Identifier: BSD-3-Clause
"""A loop in one call; what ran before with the same objects is remembered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import Op2Error, SetTypeError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.alike import Alike, key_of
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import uses_of
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.tracebacks import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.base.regions import IterationRegion
    from pyop2cxx.loop.parts import Arg
    from pyop2cxx.sets.sets import Set


def par_loop(
    kernel: Kernel | Callable[..., object],
    iterset: Set,
    *args: Arg,
    strategy: str | None = None,
    block_size: int | None = None,
    iteration_region: IterationRegion | None = None,
    iterate: IterationRegion | None = None,
    pass_layer_arg: bool = False,
    lanes: int | None = None,
    tuning: Mapping[str, bool | int | float] | None = None,
    check: bool | None = None,
    equal_writes: bool = False,
) -> None:
    """Call a kernel for each entity of a Set, now.

    The same as ``ParLoop(...).compute()``; a loop that was run before with the same objects is
    remembered, without keeping their data alive.

    Args:
        kernel: The kernel; or, for debugging, a Python function: see
            `pyop2cxx.loop.python_loop.PythonLoop`.
        iterset: The Set whose entities it is called for.
        *args: One for each parameter of the kernel: ``dat(access, map)``, ``glob(access)``.
        strategy: As for `ParLoop`.
        block_size: As for `ParLoop`.
        iteration_region: As for `ParLoop`.
        iterate: As for `ParLoop`.
        pass_layer_arg: As for `ParLoop`.
        lanes: As for `ParLoop`.
        tuning: As for `ParLoop`.
        check: As for `ParLoop`.
        equal_writes: As for `ParLoop`.

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
    try:
        if isinstance(iterset, Kernel):
            raise SetTypeError(
                f"par_loop '{iterset.name}': the kernel comes first and then the Set to iterate "
                f"over, got {type(kernel).__name__} and Kernel"
            )
        if not isinstance(kernel, Kernel) and callable(kernel):
            runtime.settle()
            layers = {"iterate": iterate, "pass_layer_arg": pass_layer_arg}
            seams.python_loop(
                kernel, iterset, *args, iteration_region=iteration_region, **layers
            ).compute()
            return
        options = {
            "strategy": strategy,
            "block_size": block_size,
            "iteration_region": iteration_region,
            "iterate": iterate,
            "pass_layer_arg": pass_layer_arg,
            "lanes": lanes,
            "tuning": tuning,
            "check": check,
            "equal_writes": equal_writes,
        }
        # access first: what is no argument has none, and asking a Dat for data is a use
        try:
            head: tuple[object, ...] = (
                id(kernel),
                iterset._uid,
                runtime.epoch,
                strategy,
                block_size,
                iteration_region or iterate,
                pass_layer_arg,
                kernel._is_legacy and tuple(arg.form for arg in args),
                lanes,
                repr(sorted(tuning.items())) if tuning else None,
                check,
                equal_writes,
            )
            key = (
                *head,
                *[(a.access, a.data._uid, None if a.map_ is None else a.map_._uid) for a in args],
            )
            hash(key)
        except (AttributeError, TypeError):
            head = key = ()  # ParLoop says what is wrong
        _call(kernel, iterset, args, options, head, key)
    except Op2Error as error:
        shorten(error)
        raise error


def _call(
    kernel: Kernel,
    iterset: Set,
    args: tuple[Arg, ...],
    options: dict[str, Any],
    head: tuple[object, ...],
    key: tuple[object, ...],
) -> None:
    """Run a loop: recorded, as it ran before, as one like it ran before, or made anew.

    Args:
        kernel: The kernel.
        iterset: The Set.
        args: The arguments.
        options: Those of `ParLoop`.
        head: All that decides what is run, without the arguments.
        key: The same with them; empty if something is wrong with them.
    """
    loops = runtime.engine.loops
    recorder = runtime.here.recorder if runtime.recorders else None
    is_taken = recorder.takes_call(key, kernel, args) if recorder is not None else None
    if is_taken:
        return
    found = kinds = None
    if key and (is_taken is None or (recorder is not None and not recorder.records)):
        known = loops.find(key)
        found = known[1] if known is not None and known[0] is kernel else None
        if found is None and recorder is None and not kernel._is_legacy:
            kinds = key_of(head, args)
            found = runtime.of(Alike).find(kinds, kernel, args)
            if found is not None:
                loops.keep(key, (kernel, found))
    if found is not None:
        if runtime.recorders and runtime.others_record:
            runtime.settle_others(*uses_of(args))
        found.once(args)
        return
    make = partial(ParLoop, kernel, iterset, **options)
    loop = make(*args)
    if recorder is not None:
        recorder.learn(key, kernel, loop, make)
    loop.compute()
    if loop.is_kept:
        loops.keep(key, (kernel, loop._run))
        runtime.of(Alike).keep(kinds, loop)
