# SPDX-License-Identifier: BSD-3-Clause
"""A loop in a single call; loops with the same objects are remembered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyop2cxx.exceptions import Op2Error, SetTypeError, UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.alike import Alike, key_of
from pyop2cxx.loop.options import known_options, with_options
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.parts import uses_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import shorten

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from typing_extensions import Unpack

    from pyop2cxx.loop.execute import Run
    from pyop2cxx.loop.options import GivenOptions
    from pyop2cxx.loop.parts import Arg
    from pyop2cxx.runtime.recorder import Recorder
    from pyop2cxx.sets.sets import Set

_N_OPTIONS = 5
"""Number of entries of a loop's key before the arguments."""


@with_options
def par_loop(
    kernel: Kernel | Callable[..., object],
    iterset: Set,
    *args: Arg,
    **options: Unpack[GivenOptions],
) -> None:
    """Call a kernel for each entity of a Set, now.

    The same as ``ParLoop(...).compute()``; repeated loops with the same objects are remembered,
    without keeping their data alive.

    Args:
        kernel: The kernel; or, for debugging, a Python function: see
            `pyop2cxx.loop.python_loop.PythonLoop`.
        iterset: The Set of entities to call the kernel for.
        *args: Arguments for the kernel's parameters: ``dat(access, map)``, ``glob(access)``.
        **options: As for `ParLoop`.

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
            from pyop2cxx.loop import python_loop

            python_loop.PythonLoop(kernel, iterset, *args, **options).compute()
            return
        recorder = runtime.here.recorder if runtime.recorders else None
        key: tuple[object, ...]
        try:
            # `access` first: other objects lack the attribute, and reading `dat.data` counts as a
            # use
            key = (
                id(kernel),
                iterset.uid,
                runtime.epoch,
                known_options(options),
                kernel.is_legacy and tuple(arg.form for arg in args),
                *[(a.access, a.data.uid, None if a.map_ is None else a.map_.uid) for a in args],
            )
            hash(key)
        except (AttributeError, TypeError, UsageError):
            key = ()  # ParLoop raises the right error
        run = _known(key, kernel, args, recorder)
        if run is None:
            make = partial(ParLoop, kernel, iterset, **options)
            _run_anew(make, key, kernel, args, recorder)
        elif run:
            if runtime.recorders and runtime.others_record:
                runtime.settle_others(*uses_of(args))
            run.once(args)
    except Op2Error as error:
        shorten(error)
        raise error


def _known(
    key: tuple[object, ...], kernel: Kernel, args: tuple[Arg, ...], recorder: Recorder | None
) -> Run | Literal[False] | None:
    """Return the run of a known loop; False: the loop waits now; None: unknown.

    Args:
        key: Options and numbers of the objects; empty if an argument is wrong.
        kernel: The kernel.
        args: The arguments.
        recorder: Records the thread's loops.
    """
    if recorder is not None:
        is_taken = recorder.takes_call(key, kernel, args)
        if is_taken:
            return False
        if is_taken is not None and recorder.records:
            return None
    loops = runtime.engine.loops
    known = loops.find(key)
    if known is not None and known[0] is kernel:
        found: Run = known[1]
        return found
    if recorder is not None or not key or kernel.is_legacy:
        return None
    alike = runtime.of(Alike).find(key_of(key[:_N_OPTIONS], args), kernel, args)
    if alike is not None:
        loops.keep(key, (kernel, alike))
    return alike


def _run_anew(
    make: Callable[..., ParLoop],
    key: tuple[object, ...],
    kernel: Kernel,
    args: tuple[Arg, ...],
    recorder: Recorder | None,
) -> None:
    """Make a loop, run and remember the loop; arguments as for `_known`."""
    loop = make(*args)
    if recorder is not None:
        recorder.learn(key, kernel, loop, make)
    loop.compute()
    if loop.is_kept:
        runtime.engine.loops.keep(key, (kernel, loop.bound_run))
        if not kernel.is_legacy:
            runtime.of(Alike).keep(key_of(key[:_N_OPTIONS], args), loop)
