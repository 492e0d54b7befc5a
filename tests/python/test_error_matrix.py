# SPDX-License-Identifier: BSD-3-Clause
"""Wrong calls and the exceptions that PyOP2 raises for them: classes exact, messages ours.

Each class must be PyOP2's and, by inheritance, the built-in that its users catch. All of them are
a UsageError or UnsupportedError, too, and say more than the class does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from pyop2cxx import exceptions as x
from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable

SET, OTHER = op2.Set(5, "set"), op2.Set(4, "other")
COLUMNS = op2.ExtrudedSet(SET, 3)
DSET = op2.DataSet(SET, 1, "dset")
DAT = op2.Dat(DSET, np.zeros(5), name="dat")
MAP = op2.Map(SET, OTHER, 2, np.zeros((5, 2), int), "map")
ON_OTHER = op2.Dat(OTHER, np.zeros(4))
GLOBAL = op2.Global(1, 0.0)
MDSET = op2.MixedDataSet((SET, OTHER))
MDAT = op2.MixedDat(MDSET)
KERNEL = op2.Kernel("void f(double *x) { x[0] = 1; }", "f")


HUGE = op2.Set(2**44, "huge")
ON_HUGE = op2.Dat(HUGE)


class Row(NamedTuple):
    """A wrong call.

    Attributes:
        call: What is wrong.
        error: PyOP2's class.
        built_in: What its users may catch.
    """

    call: Callable[[], object]
    error: type[Exception]
    built_in: type[Exception]


def illegal(value: object) -> Any:
    return value


def set_global(values: object) -> None:
    GLOBAL.data = values  # type: ignore[assignment]


def write_read_only() -> None:
    DAT.data_ro[0] = 1


def frozen_twice() -> None:
    dat = op2.Dat(SET)
    with dat.frozen_halo(op2.READ):
        dat.freeze_halo(op2.READ)


def frozen_with_another_access() -> None:
    dat = op2.Dat(SET)
    with dat.frozen_halo(op2.INC):
        op2.par_loop(KERNEL, SET, dat(op2.WRITE))


ROWS = {
    "Set size": Row(lambda: op2.Set(illegal("illegalsize")), x.SizeTypeError, TypeError),
    "Set size beyond int64": Row(lambda: op2.Set(2**63), x.SizeTypeError, TypeError),
    "ExtrudedSet beyond int64": Row(
        lambda: op2.ParLoop(KERNEL, op2.ExtrudedSet(HUGE, 2**40), ON_HUGE(op2.WRITE)),
        x.SizeTypeError,
        TypeError,
    ),
    "Set name": Row(lambda: op2.Set(1, illegal(2)), x.NameTypeError, TypeError),
    "Set sizes shrink": Row(lambda: op2.Set((2, 1, 3)), x.ContractError, AssertionError),
    "ExtrudedSet layers": Row(lambda: op2.ExtrudedSet(SET, 1), x.SizeTypeError, TypeError),
    "ExtrudedSet parent": Row(lambda: op2.ExtrudedSet(illegal(1), 3), x.SetTypeError, TypeError),
    "map of another set than the base": Row(
        lambda: op2.par_loop(KERNEL, COLUMNS, DAT(op2.INC, op2.Map(OTHER, SET, 1, [0] * 4))),
        x.MapValueError,
        ValueError,
    ),
    "map that leads nowhere": Row(
        lambda: op2.par_loop(KERNEL, SET, DAT(op2.INC, op2.Map(SET, SET, 1, [0, -1, 0, 0, 0]))),
        x.MapValueError,
        ValueError,
    ),
    "Subset superset": Row(lambda: op2.Subset(illegal("fail"), [0, 1]), x.SetTypeError, TypeError),
    "Subset out of range": Row(lambda: op2.Subset(SET, [5]), x.SubsetIndexOutOfBounds, TypeError),
    "Subset -1": Row(lambda: op2.Subset(SET, [-1]), x.SubsetIndexOutOfBounds, TypeError),
    "Subset dim": Row(lambda: SET(0) ** 1, x.UnsupportedError, NotImplementedError),
    "MixedSet": Row(lambda: op2.MixedSet(illegal(("foo", "bar"))), x.SetTypeError, TypeError),
    "MixedSet layers": Row(
        lambda: op2.MixedSet((COLUMNS, op2.ExtrudedSet(SET, 4))), x.ContractError, AssertionError
    ),
    "DataSet set": Row(lambda: op2.DataSet(illegal("x")), x.SetTypeError, TypeError),
    "DataSet dim": Row(lambda: op2.DataSet(SET, illegal("illegaldim")), x.DimTypeError, TypeError),
    "DataSet dims": Row(lambda: op2.DataSet(SET, illegal((1, "2"))), x.DimTypeError, TypeError),
    "DataSet dim beyond int32": Row(lambda: SET ** (2**16, 2**15), x.DimTypeError, TypeError),
    "DataSet name": Row(lambda: op2.DataSet(SET, 1, illegal(2)), x.NameTypeError, TypeError),
    "MixedDataSet": Row(lambda: op2.MixedDataSet(illegal("foo")), x.DataSetTypeError, TypeError),
    "MixedDataSet of DataSets with dims": Row(
        lambda: op2.MixedDataSet((DSET, DSET), 1), x.DimTypeError, TypeError
    ),
    "MixedDataSet dims": Row(
        lambda: op2.MixedDataSet((SET, OTHER), illegal("ab")), x.DimTypeError, TypeError
    ),
    "MixedDataSet number of dims": Row(
        lambda: op2.MixedDataSet((SET, OTHER), (1, 2, 3)), x.UsageError, ValueError
    ),
    "Dat set": Row(lambda: op2.Dat(illegal("illegalset"), 1), x.DataSetTypeError, TypeError),
    "Dat name": Row(lambda: op2.Dat(DSET, name=illegal(2)), x.NameTypeError, TypeError),
    "Dat index": Row(lambda: DAT[1], x.IndexValueError, ValueError),
    "Dat dtype": Row(
        lambda: op2.Dat(DSET, dtype=illegal("illegal_type")), x.DataTypeError, TypeError
    ),
    "Dat length": Row(lambda: op2.Dat(DSET, [1] * 10), x.DataValueError, ValueError),
    "Dat beyond memory": Row(lambda: ON_HUGE.data, x.OutOfMemoryError, MemoryError),
    "Dat beyond addresses": Row(
        lambda: op2.Dat(op2.Set(2**62) ** 8).data, x.OutOfMemoryError, RuntimeError
    ),
    "loop over what is beyond memory": Row(
        lambda: op2.par_loop(KERNEL, HUGE, ON_HUGE(op2.WRITE)), x.OutOfMemoryError, RuntimeError
    ),
    "Dat map": Row(lambda: DAT(op2.READ, MAP), x.MapValueError, ValueError),
    "Dat path": Row(lambda: DAT(op2.READ, illegal("map")), x.MapTypeError, TypeError),
    "Dat mode": Row(lambda: DAT(illegal("illegalmode")), x.ModeValueError, ValueError),
    "Dat zero": Row(lambda: DAT.zero(subset=OTHER(0)), x.MapValueError, ValueError),
    "Dat copy": Row(lambda: DAT.copy(op2.Dat(SET), subset=OTHER(0)), x.MapValueError, ValueError),
    "Dat read only": Row(write_read_only, ValueError, ValueError),
    "DatView index": Row(lambda: op2.DatView(DAT, 1), x.IndexValueError, ValueError),
    "DatView indices": Row(lambda: op2.DatView(DAT, (0, 0)), x.ContractError, AssertionError),
    "MixedDat": Row(lambda: op2.MixedDat(illegal("illegalarg")), x.DataSetTypeError, TypeError),
    "MixedDat dtypes": Row(
        lambda: op2.MixedDat((DAT, op2.Dat(DSET, dtype=np.int32))), x.DataValueError, ValueError
    ),
    "MixedDat copy": Row(lambda: MDAT.copy(MDAT, SET(0)), x.UnsupportedError, NotImplementedError),
    "MixedDat zero": Row(lambda: MDAT.zero(SET(0)), x.UnsupportedError, NotImplementedError),
    "Global dim": Row(lambda: op2.Global(illegal("illegaldim")), x.DimTypeError, TypeError),
    "Global name": Row(lambda: op2.Global(1, 1, name=illegal(2)), x.NameTypeError, TypeError),
    "Global data": Row(
        lambda: op2.Global(1, illegal("illegal_type"), "double"), x.DataValueError, ValueError
    ),
    "Global length": Row(lambda: op2.Global(1, [1] * 5), x.DataValueError, ValueError),
    "Global setter": Row(lambda: set_global([1, 2]), x.DataValueError, ValueError),
    "Global mode": Row(lambda: GLOBAL(op2.WRITE), x.ModeValueError, ValueError),
    "Constant comm": Row(lambda: op2.Constant(1, 1.0, comm=3), x.UsageError, ValueError),
    "Constant mode": Row(lambda: op2.Constant(1, 1.0)(op2.INC), x.ModeValueError, ValueError),
    "Map from": Row(lambda: op2.Map(illegal("x"), SET, 1, []), x.SetTypeError, TypeError),
    "Map to": Row(lambda: op2.Map(SET, illegal("x"), 1, []), x.SetTypeError, TypeError),
    "Map arity": Row(lambda: op2.Map(SET, SET, illegal("1"), []), x.ArityTypeError, TypeError),
    "Map arity beyond int32": Row(lambda: op2.Map(SET, SET, 2**31), x.ArityTypeError, TypeError),
    "Map entry beyond int64": Row(
        lambda: op2.Map(SET, SET, 1, [2**64] * 5), x.DataValueError, ValueError
    ),
    "Map arities": Row(lambda: op2.Map(SET, SET, illegal((2, 2)), []), x.ArityTypeError, TypeError),
    "Map name": Row(lambda: op2.Map(SET, SET, 1, [0] * 5, illegal(2)), x.NameTypeError, TypeError),
    "Map values": Row(
        lambda: op2.Map(SET, SET, 1, illegal("abcdefg")), x.DataValueError, ValueError
    ),
    "Map length": Row(lambda: op2.Map(SET, SET, 1, [0, 1]), x.DataValueError, ValueError),
    "Map negative": Row(lambda: op2.Map(SET, SET, 1, [-2] * 5), x.DataValueError, ValueError),
    "Map out of range": Row(lambda: op2.Map(SET, SET, 1, [5] * 5), x.DataValueError, ValueError),
    "Map slice": Row(lambda: MAP[:], x.UnsupportedError, NotImplementedError),
    "Map index": Row(lambda: MAP["x"], x.IndexTypeError, TypeError),
    "Map entry": Row(lambda: MAP[2], x.IndexValueError, ValueError),
    "MixedMap": Row(lambda: op2.MixedMap(illegal("x")), x.MapTypeError, TypeError),
    "MixedMap starts": Row(
        lambda: op2.MixedMap((MAP, op2.Map(OTHER, OTHER, 1, [0] * 4))), x.MapTypeError, TypeError
    ),
    "PermutedMap": Row(lambda: op2.PermutedMap(illegal("x"), [0]), x.MapTypeError, TypeError),
    "PermutedMap order": Row(lambda: op2.PermutedMap(MAP, [0, 0]), x.ContractError, AssertionError),
    "ComposedMap arity": Row(
        lambda: op2.ComposedMap(op2.Map(OTHER, SET, 1, [0] * 4), MAP), x.MapTypeError, TypeError
    ),
    "ComposedMap values": Row(lambda: op2.ComposedMap(MAP).values, x.NoDataError, RuntimeError),
    "Kernel name": Row(lambda: op2.Kernel("", illegal(2)), x.NameTypeError, TypeError),
    "Kernel code": Row(lambda: op2.Kernel(illegal(3), "f"), x.DataTypeError, TypeError),
    "loop kernel": Row(
        lambda: op2.par_loop(illegal("illegal_kernel"), SET, DAT(op2.READ)),
        x.KernelTypeError,
        TypeError,
    ),
    "loop set": Row(
        lambda: op2.par_loop(KERNEL, illegal("illegal_set"), DAT(op2.READ)),
        x.SetTypeError,
        TypeError,
    ),
    "loop over a mixed set": Row(
        lambda: op2.par_loop(KERNEL, illegal(op2.MixedSet((SET, OTHER))), DAT(op2.READ)),
        x.SetTypeError,
        TypeError,
    ),
    "loop with a map from elsewhere": Row(
        lambda: op2.par_loop(KERNEL, OTHER, ON_OTHER(op2.WRITE, MAP)), x.MapValueError, ValueError
    ),
    "loop with a direct dat of elsewhere": Row(
        lambda: op2.par_loop(KERNEL, OTHER, DAT(op2.WRITE)), x.MapValueError, ValueError
    ),
    "loop with a map without values": Row(
        lambda: op2.par_loop(KERNEL, SET, ON_OTHER(op2.WRITE, op2.Map(SET, OTHER, 1))),
        x.MapValueError,
        ValueError,
    ),
    "loop over a region": Row(
        lambda: op2.par_loop(KERNEL, SET, DAT(op2.WRITE), iterate=op2.ON_TOP),
        x.IterateValueError,
        ValueError,
    ),
    "loop over no region": Row(
        lambda: op2.par_loop(KERNEL, COLUMNS, DAT(op2.WRITE), iterate=illegal("SIDES")),
        x.IterateValueError,
        ValueError,
    ),
    "layer of a plain set": Row(
        lambda: op2.par_loop(KERNEL, SET, DAT(op2.WRITE), pass_layer_arg=True),
        x.UsageError,
        ValueError,
    ),
    "spaces that differ": Row(
        lambda: op2.par_loop(
            op2.Kernel("void f(double *x, double *y, int i) {}", "f", abi="2013"),
            SET,
            ON_OTHER(op2.READ, MAP[op2.i[0]]),
            ON_OTHER(op2.READ, op2.Map(SET, OTHER, 1, [0] * 5)[op2.i[0]]),
        ),
        x.IndexValueError,
        ValueError,
    ),
    "frozen twice": Row(frozen_twice, x.HaloFrozenError, RuntimeError),
    "frozen with another access": Row(frozen_with_another_access, x.HaloFrozenError, RuntimeError),
    "Access": Row(lambda: op2.Access(illegal("X")), x.ModeValueError, ValueError),
    "dims that differ": Row(lambda: DAT + op2.Dat(SET**2), x.DataValueError, ValueError),
    "sets that differ": Row(lambda: DAT + ON_OTHER, x.MapValueError, ValueError),
    "axpy without a number": Row(lambda: DAT.axpy(illegal("x"), DAT), x.DataTypeError, TypeError),
    "maxpy": Row(lambda: DAT.maxpy([1.0], []), x.DataValueError, ValueError),
    "backend": Row(lambda: op2.init(backend="x"), x.UnknownBackendError, ImportError),
    "option": Row(lambda: op2.init(threads="x"), x.ConfigurationError, RuntimeError),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.pyop2 if n == "spaces that differ" else ()) for n in ROWS],
)
def test_wrong_call(name: str) -> None:
    call, error, built_in = ROWS[name]
    before = DAT.data_ro.copy(), ON_OTHER.data_ro.copy(), GLOBAL.data_ro.copy()
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, built_in)
    if error.__module__ == x.__name__ and error is not x.OutOfMemoryError:
        assert isinstance(caught.value, x.UsageError | x.UnsupportedError)
        assert len(str(caught.value)) > 20
    for kept, carrier in zip(before, (DAT, ON_OTHER, GLOBAL), strict=True):
        np.testing.assert_array_equal(carrier.data_ro, kept)
