# SPDX-License-Identifier: BSD-3-Clause
"""What loops know of their arguments; the corpus has loops over what cells update by columns."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import is_gpu

from pyop2cxx import op2
from pyop2cxx.data.carrier import Argument
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.loop.parts import Kind, Part, arrays_of, parts_of
from pyop2cxx.op2 import INC, READ, RW, WRITE
from pyop2cxx.sets.derived_maps import ColumnMap
from pyop2cxx.sets.items import Items, items_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.access import Access

COUNT = op2.Kernel("void count(double *x) { *x += 1; }", "count")


def parts(*args: Any, over: op2.Set, region: Any = None) -> tuple[Part, ...]:
    return parts_of(args, items_of(over, region, False, "loop"))


def test_which_arguments_are_seen_by_columns() -> None:
    base = op2.Set(3)
    columns, x, g = op2.ExtrudedSet(base, 4), op2.Dat(base), op2.Global(1, 0.0)
    elsewhere = op2.Dat(op2.Set(3))
    found = parts(x(READ), g(INC), elsewhere(INC), over=columns)
    assert [part.maps for part in found] == [(), (), ()]
    assert [part.maps for part in parts(x(INC), over=base)] == [()]
    found = parts(x(INC), x(RW), x(WRITE), over=columns)
    assert [part.access for part in found] == [INC, RW, RW]
    assert len({id(part.map_) for part in found}) == 1
    mixed = op2.MixedDat((x, g))
    assert [len(part.maps) for part in parts(mixed(INC), over=columns)] == [1, 0]


def test_what_a_part_says() -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
    x, y, g = op2.Dat(nodes**2, name="x"), op2.Dat(cells**3), op2.Global(4)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**2), [(ends, ends)]))
    handle = op2.PassthroughArg(op2.OpaqueType("box"), 64)
    args = (x(READ, ends), op2.DatView(y, 1)(WRITE), g(INC), mat(INC, (ends, ends)), handle)
    found = parts(*args, over=cells)
    assert [part.number for part in found] == [0, 1, 2, 3, 4]
    kinds = [Kind.ROWS, Kind.ROWS, Kind.TOTAL, Kind.PLACES, Kind.HANDLE]
    assert [part.kind for part in found] == kinds
    assert [part.layout for part in found[:4]] == [(2, 0, 0), (1, 3, 1), (4, 0, 0), (2, 0, 0)]
    assert [part.n_scalars for part in found] == [4, 1, 4, 8, 0]
    assert [part.home for part in found] == [nodes, cells, None, None, None]
    assert [part.is_of_matrix for part in found] == [False, False, False, True, False]
    assert [part.target for part in found] == [ends, None, None, ends, None]
    assert [part.map_ for part in found] == [ends, None, None, None, None]


def test_fields_and_blocks_know_where_they_are() -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
    x, g = op2.Dat(nodes**2), op2.Global(1, 0.0)
    both = op2.MixedMap((ends, None))
    fields = parts(g(READ), op2.MixedDat((x, g))(READ, both), over=cells)
    assert [(part.number, part.field, part.is_field) for part in fields] == [
        (0, 0, False),
        (1, 0, True),
        (1, 1, True),
    ]
    dsets = op2.MixedDataSet((nodes**2, op2.GlobalDataSet(g)))
    mat = op2.Mat(
        op2.Sparsity(
            (dsets, dsets),
            {(i, j): [(r, c, None)] for i, r in enumerate(both) for j, c in enumerate(both)},
        )
    )
    blocks = parts(mat(INC, (both, both)), over=cells)
    arities = {ends.uid: 2}
    # two rows of the Global's columns, of two values each, beside the block and below it
    assert [part.cell.place(arities) for part in blocks if part.cell] == [
        (0, 0, 4, 5),
        (0, 4, 1, 5),
        (4, 0, 4, 5),
        (4, 4, 1, 5),
    ]
    assert sum(part.n_scalars for part in blocks) == 25


def test_what_is_no_argument_is_named() -> None:
    x = op2.Dat(op2.Set(3))
    with pytest.raises(UsageError, match=r"par_loop: arg 1 must be made by calling .* got 3"):
        parts_of((x(READ), 3), items_of(x.dataset.set, None, False, "loop"))


FIRST_LOOP = """
import inspect, sys
from pathlib import Path
import pyop2cxx
from pyop2cxx import op2
from pyop2cxx.data.dats import DatArg
from pyop2cxx.loop.parts import Part

cells, nodes = op2.Set(2), op2.Set(3)
ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
x, y = op2.Dat(nodes, [1.0, 2.0, 3.0]), op2.Dat(cells, [0.0, 0.0])
copy = op2.Kernel("void copy(const double *x, double *y) { y[0] = x[0] + x[1]; }", "copy")
stays = []
folder = str(Path(pyop2cxx.__file__).parent)

def sees(value):
    if isinstance(value, (tuple, list)):
        return any(map(sees, value))
    return isinstance(value, (DatArg, Part))

def trace(frame, event, _):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(folder):
        return
    n = code.co_argcount + code.co_kwonlyargcount
    has_more = bool(code.co_flags & inspect.CO_VARARGS)
    given = [frame.f_locals.get(name) for name in code.co_varnames[: n + has_more]]
    file = code.co_filename[len(folder) + 1 :]
    is_kept = file == "base/fixed.py"
    is_its_own = is_kept or (
        n > 0 and isinstance(given[0], (DatArg, Part)) and code.co_varnames[0] == "self"
    )
    if any(map(sees, given)) and not is_its_own and stays[-1:] != [file]:
        stays.append(file)

with op2.backend("sequential"):
    sys.setprofile(trace)
    op2.par_loop(copy, cells, x(op2.READ, ends), y(op2.WRITE))
    sys.setprofile(None)
assert y.data_ro.tolist() == [3.0, 5.0]
print(*stays)
"""


def test_an_argument_is_looked_at_in_one_file_after_the_other() -> None:
    """No file sees an argument of an everyday loop again, but the one that runs loops.

    What an argument says of itself is no stay, nor is an assignment to a loop's attribute. The
    loop is the first of its process, so that no test before this one changes the count.
    """
    done = subprocess.run(
        [sys.executable, "-c", FIRST_LOOP], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    stays = done.stdout.split()
    # with the loop's own arguments; ghosts are looked at when the loop is made, and when it runs
    assert 4 <= len(stays) <= 16, stays
    seen_again = {file for file in stays if stays.count(file) > 1}
    remember = {"loop/run.py", "loop/alike.py"}  # loops that ran: before it, and after it
    assert seen_again <= {"loop/execute.py", "loop/over_ghosts.py", *remember}, stays


@dataclass(frozen=True, slots=True)
class LastArg(Argument):
    """The last component of a Dat, which no class of the package stands for."""

    data: op2.Dat
    map_: op2.Map
    access: Access


@arrays_of.register(LastArg)
def _of_last(arg: LastArg, number: int, items: Items) -> Sequence[Part]:
    (whole,) = arrays_of(arg.data(arg.access, arg.map_), number, items)
    dim, n_scalars = arg.data.cdim, whole.n_scalars // arg.data.cdim
    return [replace(whole, dim=1, stride=dim, component=dim - 1, n_scalars=n_scalars)]


def test_a_new_kind_of_argument_needs_its_own_file_only(backend: str) -> None:
    """Kernels, lanes, chains, Python functions and reports know what its arrays say."""
    cells, nodes = op2.Set(2), op2.Set(3)
    ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
    x, y = op2.Dat(nodes**3, np.arange(9.0)), op2.Dat(cells)
    read = op2.Kernel("void pick(const double *x, double *y) { y[0] = x[0] + 2 * x[1]; }", "pick")
    add = op2.Kernel("void give(double *x, const double *y) { x[0] += y[0]; x[1] += 1; }", "give")

    loop = op2.ParLoop(read, cells, LastArg(x, ends, READ), y(WRITE))
    assert loop.explain().bytes == 3 * 8 + 2 * 8 + 4 * 4  # read, written, the Map
    loop.compute()
    assert y.data_ro.tolist() == [12.0, 21.0]
    if not is_gpu(backend):
        y.zero()
        op2.par_loop(read, cells, LastArg(x, ends, READ), y(WRITE), lanes=2)
        assert y.data_ro.tolist() == [12.0, 21.0]
    with op2.chain():
        op2.par_loop(add, cells, LastArg(x, ends, INC), y(READ))
        op2.par_loop(read, cells, LastArg(x, ends, READ), y(WRITE))
    assert x.data_ro.tolist() == [[0, 1, 14], [3, 4, 27], [6, 7, 9]]
    assert y.data_ro.tolist() == [68.0, 45.0]

    def pick(x: Any, y: Any) -> None:
        y[0] = x[0, 0] + 2 * x[1, 0]

    y.zero()
    op2.par_loop(pick, cells, LastArg(x, ends, READ), y(WRITE))
    assert y.data_ro.tolist() == [68.0, 45.0]


def test_a_column_leads_to_what_it_stands_on() -> None:
    assert ColumnMap(op2.Set((2, 3, 4))).values_with_halo.tolist() == [[0], [1], [2], [3]]


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_threads_and_lanes_do_not_race_within_a_column(backend: str) -> None:
    base = op2.Set(5)
    layers = np.array([[0, 40], [0, 3], [2, 60], [0, 2], [1, 30]])
    columns, x = op2.ExtrudedSet(base, layers), op2.Dat(base)
    expected = layers[:, 1] - layers[:, 0] - 1.0
    with op2.backend(backend):
        for options in ({}, {"lanes": 8}):
            x.zero()
            op2.par_loop(COUNT, columns, x(INC), **options)
            assert x.data_ro.tolist() == expected.tolist()
    with op2.backend("openmp"), pytest.raises(UnsupportedError, match="the same target"):
        op2.par_loop(COUNT, columns, x(INC), strategy="direct")


def test_text_alone() -> None:
    op2.init(static=True)
    base = op2.Set(3, "base")
    text = op2.ParLoop(COUNT, op2.ExtrudedSet(base, 5), op2.Dat(base)(INC)).generate()
    assert "count" in text
    op2.exit()
