# SPDX-License-Identifier: BSD-3-Clause
"""Check mode: loops with checked kernels, undone if a check fails.

The checked kernel reports the first finding, in the order of the elements, in a Global of two
numbers, reduced by MIN: all backends and strategies support the reduction, and find the same. The
writes of a loop with a finding are undone.
"""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC, MIN, READ
from pyop2cxx.base.moves import kind_of
from pyop2cxx.check.checked_kernel import CheckedKernel, Site, checked, suspicious
from pyop2cxx.check.checked_sums import REAL, WHOLE, Sums, WrongSum, are_finite, first_element
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.lent import recall
from pyop2cxx.exceptions import CheckError, UnsupportedError
from pyop2cxx.kernel.shapes import users_name
from pyop2cxx.loop.bounds import as_written, line_of
from pyop2cxx.loop.parts import parts_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.communicators import ALONE
from pyop2cxx.sets.sets import Subset

_NOTHING = np.iinfo(np.int64).max


class CheckedRun:
    """The run of `ParLoop.compute` in check mode.

    If only values may go wrong, the loop runs first with a kernel that just sums whether all values
    are finite. If not, the run is undone, and repeated with all checks to find the cause.

    Args:
        loop: The loop; the kernel is not opaque.

    Attributes:
        prepared: The loop for the first run.
    """

    def __init__(self, loop: Any) -> None:
        self._loop = loop = _to_watch(loop)
        self._full: _FullRun | None = None
        self._suspected = Global(1, 0.0, np.float64, "op2_suspected", ALONE)
        kernel = (
            None if loop.options.pass_layer_arg or not _may_suspect(loop) else _suspicious(loop)
        )
        self._is_plain = kernel is not None and not kernel.sites
        if kernel is None:
            self.prepared = self._all_checks().prepared
            return
        extra = () if self._is_plain else (self._suspected(INC),)
        inner = _with_kernel(loop, loop.kernel if self._is_plain else kernel.kernel, extra)
        inner.parts = parts_of(inner.args, inner.items)
        self.prepared = _made_ready(inner).prepared

    def run(self) -> bool:
        """Run the loop.

        Raises:
            CheckError: A check failed; all values are as before.
        """
        if self._is_plain:
            return bool(self.prepared.run())
        if self._full is not None and self.prepared is self._full.prepared:
            return self._full.run()
        _give(self._suspected, [0.0])
        has_copied = self.prepared.run_saving([])
        if self._suspected.host_values[0] == 0 and all(map(_is_finite, self._sums())):
            self.prepared.forget_saved()
            return bool(has_copied)
        self.prepared.restore()
        return self._all_checks().run()

    def _all_checks(self) -> _FullRun:
        if self._full is None:
            self._full = _FullRun(self._loop)
        return self._full

    def _sums(self) -> list[Any]:
        """Data with sums over elements."""
        return [part.data for part in self._loop.parts if part.access == INC]


def _to_watch(loop: Any) -> Any:
    """Return the loop with a kernel whose checks describe the user's arguments."""
    to_watch = loop.kernel.to_watch
    kernel = None if to_watch is None else to_watch()
    if kernel is None or kernel.opaque_reason:
        return loop
    made = _with_kernel(loop, kernel, ())
    _change_options(made, lanes=0)  # no arrays of arrays for a checked kernel
    return made


def _may_suspect(loop: Any) -> bool:
    """Whether the sums of a loop can be looked at without a copy, and are Dats or Globals."""
    backend = runtime.engine.backend(runtime.backend)
    if runtime.engine.chosen_device(backend) is not None:
        return False
    return all(
        type(part.data) in (Dat, Global) for part in loop.parts if part.access == INC
    ) and not any(part.is_of_matrix for part in loop.parts)


def _suspicious(loop: Any) -> CheckedKernel | None:
    return suspicious(loop.kernel, loop.check_input())


def _is_finite(sums: Any) -> bool:
    """Whether no value is NaN or infinite; false, too, if their sum overflows."""
    values = sums.host_values
    if kind_of(values.dtype) not in "fc":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(values, axis=None)))


def _with_kernel(loop: Any, kernel: Any, extra: tuple[Any, ...]) -> Any:
    """Return the loop with another kernel and additional arguments."""
    inner = copy.copy(loop)
    inner.__dict__.update(kernel=kernel, args=(*loop.args, *extra))
    _change_options(inner, check=False)
    inner.built = None
    return inner


def _change_options(inner: Any, **changed: Any) -> None:
    inner.__dict__["options"] = inner.options._replace(**changed)


def _made_ready(inner: Any) -> Any:
    inner.note_effects()
    try:
        inner.prepare()
    except UnsupportedError:
        if inner.options.strategy is None:
            raise
        _change_options(inner, strategy=None)  # may not support a loop with a Global
        inner.prepare()
    return inner


class _FullRun:
    """A loop with all checks.

    Args:
        loop: The loop.
        watched: The dtypes of watched sums, as for `Sums`.

    Attributes:
        prepared: The loop with the checked kernel.
    """

    def __init__(self, loop: Any, watched: str = WHOLE) -> None:
        self._loop, self._watched = loop, watched
        self._sums = Sums(loop, watched)
        entries = frozenset(part.number for part in loop.parts if part.is_of_matrix)
        made = checked(
            loop.kernel,
            loop.check_input(),
            layer=loop.options.pass_layer_arg,
            matrices=entries,
            sums=self._sums.numbers,
        )
        self._sites = made.sites
        self._found = Global(2, [_NOTHING, _NOTHING], np.int64, "op2_found", ALONE)
        self._wanted = Global(2, [-1, _NOTHING], np.int64, "op2_wanted", ALONE)
        self._also = _written_against_access(loop)
        extra = (self._found(MIN), self._wanted(READ), *self._sums.args)
        inner = _with_kernel(loop, made.kernel, extra)
        inner.items = replace(loop.items, iteration=loop.items.iteration.with_element())
        inner.parts = parts_of(inner.args, inner.items)
        _change_options(inner, lanes=0)
        inner = _made_ready(inner)
        self.prepared, self.lent = inner.prepared, inner.lent
        self._of_reals: _FullRun | None = None

    def run(self) -> bool:
        """Run the loop.

        Raises:
            CheckError: A check failed; all values are as before.
        """
        has_copied, (number, _) = self._once(-1)
        if number == _NOTHING:
            self._check_sums()
            self.prepared.forget_saved()
            return has_copied
        self.prepared.restore()
        _, (_, value) = self._once(number)
        self.prepared.restore()
        raise _error(self._loop, self._sites, int(number), int(value))

    def _check_sums(self) -> None:
        """Check the sums; shares are checked only if a sum is not finite.

        Raises:
            CheckError: A sum does not fit the type, or is not finite although all shares are.
        """
        wrong = self._sums.wrong()
        if wrong is not None:
            self.prepared.restore()
            raise self._error_of_sum(wrong)
        if self._watched == REAL or are_finite(self._loop):
            return
        self.prepared.restore()
        if self._of_reals is None:
            self._of_reals = _FullRun(self._loop, REAL)
        self._of_reals.run()

    def _error_of_sum(self, wrong: WrongSum) -> CheckError:
        def is_wrong(last: int) -> bool:
            nonlocal wrong
            self._once(-1, last)
            found = self._sums.wrong()
            self.prepared.restore()
            wrong = found or wrong
            return found is not None

        element = first_element(is_wrong)
        return _error_of_sum(self._loop, wrong, element)

    def _once(self, wanted: int, last: int = _NOTHING) -> tuple[bool, tuple[int, int]]:
        """Run the loop; return whether values were copied, and the first finding with the value."""
        self._sums.begin()
        _give(self._found, [_NOTHING, _NOTHING])
        _give(self._wanted, [wanted, last])
        has_copied = self.prepared.run_saving(self._also)
        recall(self.lent)
        self._found.use_on_host(_core.Use.read, "check", is_explicit=True)
        number, value = self._found.host_values
        return has_copied, (int(number), int(value))


def _give(given: Global, values: list[Any]) -> None:
    """Set an internal Global in place, without a transfer for the user to allow."""
    given.use_on_host(_core.Use.write, "check", is_explicit=True)
    given.host_values[...] = values
    given.buffer.increment_version()


def _written_against_access(loop: Any) -> list[int]:
    """READ arguments possibly written by the kernel."""
    facts, parts = loop.kernel.facts, loop.parts
    if facts is None:
        return []
    return [
        i
        for i, part in enumerate(parts)
        if part.access == READ and facts.parameters[part.number].is_written
    ]


# Messages


def _error(loop: Any, sites: tuple[Site, ...], number: int, value: int) -> CheckError:
    element, site = divmod(number, max(len(sites), 1))
    found = sites[site]
    parameter, index = found.place(value)
    if loop.kernel.calls is not None:
        found, parameter = _as_users_kernel(loop.kernel.calls, found, parameter)
    found = replace(found, name=as_written(found.name, loop.kernel.shown_code, found.line))
    where = f"{loop.label}: {_element(loop, element)}: kernel line {found.line}"
    shown = line_of(loop.kernel.shown_code, found.line)
    array = _array(loop, found, parameter)
    what = _MESSAGES[found.check](_Finding(loop, found, parameter, index, array))
    error = CheckError(
        f"{where}{f': {shown!r}' if shown else ''}: {what}. Nothing was written by this loop"
    )
    error.loop, error.line, error.element = loop.kernel.shown_name, found.line, element
    error.argument, error.check, error.value = parameter, found.check, index
    return error


def _as_users_kernel(kernel: Any, site: Site, parameter: int) -> tuple[Site, int]:
    """Return a finding in a wrapper function as a finding in the user's kernel."""
    known = users_name(kernel, site.name)
    if site.line <= len(kernel.text.splitlines()):
        is_argument = known is not None and known[1] == parameter
        return (replace(site, name=known[0]) if known and is_argument else site), parameter
    if known is None:
        return replace(site, line=_line_of_definition(kernel)), parameter
    check = site.check
    if site.name.startswith("r") and check in ("load", "unset"):
        check = "written"  # unwritten values are copied back
    return Site(check, _line_of_definition(kernel), *known, site.extent), known[1]


def _line_of_definition(kernel: Any) -> int:
    found = re.search(rf"\b{kernel.name}\s*\([^;{{}}]*\{{", kernel.text)
    return 1 + kernel.text.count("\n", 0, found.start()) if found else 1


def _error_of_sum(loop: Any, wrong: WrongSum, element: int) -> CheckError:
    number, kernel, dtype = wrong.number, loop.kernel, wrong.data.dtype
    line = kernel.facts.parameters[number].first_write_line if kernel.facts else 0
    name = kernel.core.parameters[number].name
    if kernel.calls is not None and kernel.calls.parameters:
        name = kernel.calls.parameters[number].name
        if line > len(kernel.calls.text.splitlines()):
            line = _line_of_definition(kernel.calls)
    where = f"{_element(loop, element)}: kernel line {line}"
    data = f"'{name}' (argument {number}, {type(wrong.data).__name__} '{wrong.data.name}')"
    if kind_of(dtype) in REAL:
        what = "became infinite here, although all that was added up is finite; scale it"
    else:
        what = f"does not fit {dtype.name} (got {wrong.value:.0f}); use a wider type for it"
    error = CheckError(
        f"{loop.label}: {where}: the sum in value {wrong.component} of {data}{wrong.where} {what}. "
        "Nothing was written by this loop"
    )
    error.loop, error.line, error.element = kernel.shown_name, line, element
    error.argument, error.check, error.value = number, "sum", wrong.component
    return error


def _element(loop: Any, number: int) -> str:
    """Return the name of an element for messages, by the kernel's number."""
    items = loop.items
    name = loop.iterset.name
    if number < 0:
        return f"the elements of Set '{name}' together"
    if not items.extruded:
        whole = number if isinstance(loop.iterset, Subset) else loop.iterset.number_of(number)
        return f"element {whole} of Set '{name}'"
    per_column = max(items.n // max(int(loop.iterset.size), 1), 1)
    if not items.whole.constant_layers:
        return f"item {number} of Set '{name}'"
    return f"column {number // per_column}, cell {number % per_column} of Set '{name}'"


class _Finding:
    """Input of a message."""

    def __init__(self, loop: Any, site: Site, parameter: int, index: int, array: str) -> None:
        self.site, self.parameter, self.index, self.array = site, parameter, index, array
        self.access = loop.args[parameter].access.name if 0 <= parameter < len(loop.args) else ""
        self.extent = site.extent
        arg = loop.args[parameter] if 0 <= parameter < len(loop.args) else None
        self.is_behind_map = getattr(arg, "map", None) is not None


def _array(loop: Any, site: Site, parameter: int) -> str:
    name = f"'{site.name}'" if site.name else "an array"
    if not 0 <= parameter < len(loop.args):
        return name
    data = loop.args[parameter].data
    return f"{name} (argument {parameter}, {type(data).__name__} '{data.name}')"


def _bounds(found: _Finding) -> str:
    size = f", which holds {found.extent} values, 0 to {found.extent - 1}"
    advice = "; a Dat behind a Map has arity x dim values, one row after the other"
    return (
        f"index {found.index} is outside of {found.array}{size if found.extent >= 0 else ''}; "
        f"correct the index{advice if found.is_behind_map else ''}"
    )


def _load(found: _Finding) -> str:
    at = f"value {found.index} of {found.array}"
    if found.access == "INC":
        return (
            f"{at} is used, but the loop INCrements it: it holds this element's share only, or a "
            "sum that others are still adding to; use a local variable, or pass it with RW"
        )
    if found.access == "WRITE":
        return (
            f"{at} is used before it is written, but the loop WRITEs it: what was there before is "
            "not handed over; pass it with RW"
        )
    return f"{at} is used before it has a value; give the array an initial value, as in = {{0}}"


def _store(found: _Finding) -> str:
    at = f"value {found.index} of {found.array}"
    if found.access == "INC":
        return f"{at} is overwritten, but the loop INCrements it; write +=, or pass it with WRITE"
    return (
        f"{at} is overwritten, but the loop only {found.access}s it; pass it with RW or WRITE, or "
        "work on a local copy"
    )


def _update(found: _Finding) -> str:
    if found.access == "READ":
        return _store(found)
    return _load(found)


def _unset(found: _Finding) -> str:
    return f"the variable {found.array} is used before it has a value; give it an initial value"


def _result(found: _Finding) -> str:
    return (
        f"the function {found.array} ends without returning a value, but its caller uses one; "
        "let all of its paths end with a 'return'"
    )


def _made(found: _Finding) -> str:
    kind = "NaN" if found.index == 0 else "infinite"
    return (
        f"the value for {found.array} became {kind} here, although all it was made from were "
        "finite; look for a division by zero, the root or logarithm of a negative number, or an "
        "overflow"
    )


def _divisor(found: _Finding) -> str:
    return "an integer is divided by zero; test the divisor first"


def _shift(found: _Finding) -> str:
    return f"an integer is shifted by {found.index} bits; shift by 0 to one less than it has"


def _overflow(found: _Finding) -> str:
    if found.extent == 64:
        return (
            f"the result does not fit its integer type, int64 (its last 64 bits are {found.index})"
            "; compute it as a real number, or keep its parts smaller"
        )
    return (
        f"the result does not fit its integer type, int32 (got {found.index}); compute it in "
        "int64_t"
    )


def _conversion(found: _Finding) -> str:
    return (
        f"the value {found.index} does not fit the integer type that it is converted to here, for "
        f"{found.array}; use a wider type, or a cast to say that bits may be cut off"
    )


def _truncation(found: _Finding) -> str:
    what = "NaN" if found.index == 0 else f"too {'large' if found.index > 0 else 'small'}"
    return (
        f"a real number is converted to an integer, for {found.array}, but it is {what}; test it "
        "first, or use a wider type"
    )


def _written(found: _Finding) -> str:
    number = f"{found.extent} " if found.extent >= 0 else ""
    return (
        f"value {found.index} of {found.array} was not written, but the loop WRITEs it: all "
        f"{number}values have to be written on every path; write it, or pass it with RW"
    )


def _extreme(found: _Finding) -> str:
    way = "raised" if found.access == "MIN" else "lowered"
    return (
        f"value {found.index} of {found.array} was {way}, but the loop takes its {found.access}; "
        "write only what is the smaller, or the larger, of the two"
    )


_MESSAGES = {
    "bounds": _bounds,
    "load": _load,
    "store": _store,
    "update": _update,
    "unset": _unset,
    "result": _result,
    "made": _made,
    "divisor": _divisor,
    "shift": _shift,
    "overflow": _overflow,
    "conversion": _conversion,
    "truncation": _truncation,
    "written": _written,
    "extreme": _extreme,
}
