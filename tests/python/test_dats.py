# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy import dtype  # noqa: F401 - reprs need it

from pyop2cxx import op2
from pyop2cxx.base.arrays import DTYPES, address_of
from pyop2cxx.exceptions import (
    DataSetTypeError,
    DataTypeError,
    DataValueError,
    DatTypeError,
    HaloFrozenError,
    IndexValueError,
    MapValueError,
    ModeValueError,
    NameTypeError,
    StaticModeError,
    UsageError,
)
from pyop2cxx.op2 import Dat, DataSet, Set  # noqa: F401 - reprs need them

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Part:
    """A part of a Set, as much of it as a Dat asks for."""

    superset: op2.Set
    owned_indices: np.ndarray[Any, Any]


@pytest.fixture
def cells() -> op2.Set:
    return op2.Set((1, 3, 5), "cells")


@pytest.fixture
def q(cells: op2.Set) -> op2.Dat:
    return op2.Dat(cells**2, np.arange(10.0), name="q")


# Construction


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.sampled_from(DTYPES),
    st.integers(0, 6),
    st.booleans(),
)
def test_every_dim_and_dtype(dim: list[int], name: str, size: int, has_data: bool) -> None:
    shape = (size, *(() if np.prod(dim) == 1 else dim))
    data = np.ones(shape, name) if has_data else None
    found = op2.Dat(op2.Set(size) ** dim, data, name)
    assert (found.dim, found.cdim, found.dtype) == (tuple(dim), np.prod(dim), np.dtype(name))
    assert found.shape == found.data.shape == shape
    assert found.nbytes == found.data.nbytes == np.prod(shape) * np.dtype(name).itemsize
    assert (found.data == (1 if has_data else 0)).all()


def test_defaults(cells: op2.Set) -> None:
    found = op2.Dat(cells)
    assert found.dataset is cells**1
    assert isinstance(found.dtype, np.dtype)
    assert found.dtype == np.float64
    assert found.name != op2.Dat(cells).name
    assert (found.dat_version, found.halo_valid) == (0, True)


@pytest.mark.parametrize(
    ("data", "asked", "got"),
    [
        ([1.0] * 5, None, "float64"),
        ([1] * 5, None, "int64"),
        ([1] * 5, np.double, "float64"),
        ([1.5] * 5, np.int32, "int32"),
        ([1j] * 5, None, "complex128"),
        (None, np.uint8, "uint8"),
    ],
)
def test_the_dtype_is_that_asked_for_or_that_of_the_data(
    cells: op2.Set, data: Any, asked: Any, got: str
) -> None:
    assert op2.Dat(cells, data, asked).dtype == got


def test_a_transpose_is_refused(cells: op2.Set) -> None:
    values = np.arange(10.0).reshape(5, 2)
    with pytest.raises(
        DataValueError, match=r"'q' on Set 'cells'.* shape \(5, 2\), got shape \(2, 5\)"
    ):
        op2.Dat(cells**2, values.T, name="q")
    found = op2.Dat(cells**2, values, name="q")
    with pytest.raises(DataValueError, match="pass its transpose"):
        found.data = values[:3].T
    with pytest.raises(DataValueError, match="pass its transpose"):
        op2.Dat(cells ** (2, 3), np.zeros((6, 5)))
    assert found.data_ro_with_halos.tolist() == values.tolist()


def test_a_grid_of_entities_is_in_their_order() -> None:
    nodes = op2.Set(4)
    values = np.arange(16.0)
    for shape in ((16,), (16, 1), (1, 16), (4, 4), (2, 2, 4), (2, 2, 2, 2), (4, 2, 2)):
        assert op2.Dat(nodes**4, values.reshape(shape)).data_ro.ravel().tolist() == values.tolist()


def test_c_types(cells: op2.Set) -> None:
    assert [op2.Dat(cells, dtype=name).ctype for name in ("float64", "int64", "uint8")] == [
        "double",
        "long",
        "unsigned char",
    ]


def test_illegal_arguments(cells: op2.Set) -> None:
    with pytest.raises(DataSetTypeError, match=r"expected a DataSet, a Set or a Dat, got 'illegal"):
        op2.Dat("illegalset", 1)  # type: ignore[arg-type]
    with pytest.raises(NameTypeError):
        op2.Dat(cells, name=2)  # type: ignore[arg-type]
    with pytest.raises(DataTypeError, match="Dat 'q' on Set 'cells': 'illegal_type'"):
        op2.Dat(cells, dtype="illegal_type", name="q")
    for wrong in ([1] * 6, [1] * 3, []):
        with pytest.raises(DataValueError, match="Dat 'q' on Set 'cells': expected 5 values"):
            op2.Dat(cells, wrong, name="q")
    with pytest.raises(ModeValueError):
        op2.Dat(cells)("X")  # type: ignore[arg-type]


# NumPy, without copies


def test_memory_is_shared_both_ways(cells: op2.Set) -> None:
    values = np.zeros((5, 2))
    q = op2.Dat(cells**2, values)
    values[0] = 1
    q.data[1] = 2
    assert q.data_ro.tolist() == [[1, 1], [2, 2], [0, 0]]
    assert values[1].tolist() == [2, 2]
    assert address_of(np.asarray(q)) == address_of(values)
    assert q.buffer.address == address_of(values)
    assert q.buffer.n_bytes == values.nbytes


def test_numpy_takes_a_dat(q: op2.Dat) -> None:
    version = q.dat_version
    seen = np.asarray(q)
    assert not seen.flags.writeable
    assert np.shares_memory(seen, q.data_ro)
    assert np.array(q).flags.writeable
    assert not np.shares_memory(np.array(q), seen)
    assert np.asarray(q, dtype="float32").dtype == np.float32
    assert np.linalg.norm(q) == pytest.approx(np.sqrt(55))
    with pytest.raises(DataValueError, match="needs a copy"):
        q.__array__(np.dtype("float32"), copy=False)
    assert q.dat_version == version


def test_nothing_is_allocated_before_it_is_needed(cells: op2.Set) -> None:
    q = op2.Dat(cells**2)
    q(op2.READ)
    q.zero()
    assert not q.is_allocated
    assert (q.nbytes, q.shape) == (80, (5, 2))
    assert q.buffer.address == 0
    assert q.data_ro.tolist() == [[0, 0]] * 3
    assert q.is_allocated
    assert (q.buffer.address, q.buffer.n_bytes) == (address_of(q.data_ro), 80)


# Access to the data

OWNED = ["data", "data_ro", "data_wo"]
WHOLE = ["data_with_halos", "data_ro_with_halos", "data_wo_with_halos"]


@pytest.mark.parametrize("member", OWNED + WHOLE)
def test_every_view(q: op2.Dat, member: str) -> None:
    view = getattr(q, member)
    is_read_only = "_ro" in member
    assert view.shape == (3 if member in OWNED else 5, 2)
    assert address_of(view) == q.buffer.address
    assert q.dat_version == (0 if is_read_only else 1)
    assert q.halo_valid == is_read_only
    if is_read_only:
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    else:
        view[0] = 7
        assert q.data_ro[0].tolist() == [7, 7]


def test_a_read_only_view_leaves_others_writeable(q: op2.Dat) -> None:
    writeable = q.data
    assert not q.data_ro.flags.writeable
    writeable[:] = 3
    assert (q.data_ro == 3).all()


def test_the_version_can_be_grown_by_hand(q: op2.Dat) -> None:
    q.increment_dat_version()
    assert q.dat_version == q.buffer.version == 1


def test_a_dim_of_zero(cells: op2.Set) -> None:
    empty = op2.Dat(cells**0)
    assert empty.shape == (5, 0)
    assert empty.data.shape == (3, 0)


# Whole-Dat operations


def test_zero(q: op2.Dat, cells: op2.Set) -> None:
    q.zero(Part(cells, np.array([1])))
    assert q.data_ro_with_halos.tolist() == [[0, 1], [0, 0], [4, 5], [6, 7], [8, 9]]
    assert (q.dat_version, q.halo_valid) == (1, False)
    q.zero()
    assert not q.data_ro_with_halos.any()
    assert (q.dat_version, q.halo_valid) == (2, True)
    with pytest.raises(MapValueError, match="a part of Set 'nodes'"):
        q.zero(Part(op2.Set(5, "nodes"), np.array([1])))


def test_copy(q: op2.Dat, cells: op2.Set) -> None:
    other = op2.Dat(cells**2, dtype="float32")
    q.copy(other)
    assert other.data_ro_with_halos.tolist() == q.data_ro_with_halos.tolist()
    assert (other.dat_version, other.halo_valid, q.dat_version) == (1, True, 0)
    other.zero()
    q.copy(other, Part(cells, np.array([2])))
    assert other.data_ro_with_halos.tolist() == [[0, 0], [0, 0], [4, 5], [0, 0], [0, 0]]
    assert not other.halo_valid


def test_copy_leaves_out_ghosts_that_are_stale(q: op2.Dat, cells: op2.Set) -> None:
    q.halo_valid = False
    other = op2.Dat(cells**2)
    q.copy(other)
    assert other.data_ro_with_halos.tolist() == [[0, 1], [2, 3], [4, 5], [0, 0], [0, 0]]
    assert not other.halo_valid


def test_copy_to_itself_changes_nothing(q: op2.Dat) -> None:
    q.copy(q)
    assert q.dat_version == 0


def test_a_copy_names_the_first_value_that_does_not_fit(cells: op2.Set) -> None:
    source = op2.Dat(cells**2, [1, 2, 3, 300.5, -129, 6, 7, 8, 9, 1000], "float64", name="source")
    target = op2.Dat(cells**2, dtype="int8", name="target")
    with pytest.raises(DataValueError, match=r"value 300\.5 of entity 1 at \[1\] .*'target'"):
        source.copy(target)
    assert (target.dat_version, target.is_allocated and target.data_ro.any()) == (0, False)
    with pytest.raises(DataValueError, match=r"-129\.0 of entity 2 at \[0\]"):
        source.copy(target, Part(cells, np.array([0, 2])))
    source.copy(target, Part(cells, np.array([0])))
    assert target.data_ro[0].tolist() == [1, 2]
    source.copy(target, casting="unsafe")
    assert target.data_ro[0].tolist() == [1, 2]
    with pytest.raises(DataValueError, match="casting must be one of 'fitting', 'exact', 'unsafe'"):
        source.copy(target, casting="safe")


def test_stale_ghosts_are_not_copied_and_may_not_fit(cells: op2.Set) -> None:
    source = op2.Dat(cells, [1, 2, 3, 4, 1000], "int64")
    target = op2.Dat(cells, dtype="int8")
    source.halo_valid = False
    source.copy(target)
    assert target.data_ro.tolist() == [1, 2, 3]


def test_illegal_copies(q: op2.Dat, cells: op2.Set) -> None:
    with pytest.raises(DatTypeError):
        q.copy(np.zeros(10))  # type: ignore[arg-type]
    with pytest.raises(MapValueError, match="cannot be copied into"):
        q.copy(op2.Dat(op2.Set(5) ** 2))
    with pytest.raises(DataValueError, match=r"has dim \(2,\)"):
        q.copy(op2.Dat(cells**3))
    with pytest.raises(DataValueError, match="complex"):
        op2.Dat(cells, dtype="complex64").copy(op2.Dat(cells))
    with pytest.raises(MapValueError):
        q.copy(op2.Dat(cells**2), Part(op2.Set(5), np.array([0])))


def test_a_dat_of_a_dat_is_a_copy(q: op2.Dat) -> None:
    other = op2.Dat(q)
    assert (other.name, other.dataset, other.dtype) == ("copy_of_q", q.dataset, q.dtype)
    assert other.data_ro_with_halos.tolist() == q.data_ro_with_halos.tolist()
    other.data[:] = 0
    assert q.data_ro.any()
    assert op2.Dat(q, dtype="int32", name="r").dtype == np.int32
    assert not op2.Dat(op2.Dat(q.dataset)).is_allocated
    assert op2.Dat(op2.Dat(q.dataset, dtype="int8")).dtype == np.int8
    with pytest.raises(UsageError, match="a copy takes the values"):
        op2.Dat(q, np.zeros(10))
    shallow = copy.copy(q)
    assert shallow.uid != q.uid
    assert np.shares_memory(shallow.data_ro, q.data_ro)


@pytest.mark.parametrize("name", ["q.npy", "q"])
def test_save_and_load(q: op2.Dat, cells: op2.Set, tmp_path: Path, name: str) -> None:
    q.save(tmp_path / name)
    assert np.load(tmp_path / "q.npy").tolist() == q.data_ro.tolist()
    other = op2.Dat(cells**2, dtype="float32")
    other.load(str(tmp_path / name))
    assert other.data_ro.tolist() == q.data_ro.tolist()
    assert other.dat_version == 1
    with pytest.raises(DataValueError, match=r"q\.npy: expected 9 values .* got 6"):
        op2.Dat(cells**3).load(tmp_path / name)


def test_a_save_that_fails_leaves_the_older_file(
    q: op2.Dat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    q.save(tmp_path / "q.npy")
    before = (tmp_path / "q.npy").read_bytes()
    write, n_written = np.save, []

    def fill(file: Any, values: Any, **options: Any) -> None:
        if n_written:
            raise OSError("No space left on device")
        n_written.append(values.size)
        write(file, values, **options)

    monkeypatch.setattr(np, "save", fill)
    with pytest.raises(OSError, match="No space left"):
        q.save(tmp_path / "q.npy")
    assert n_written
    assert (tmp_path / "q.npy").read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["q.npy"]


# Halos


def test_freezing(q: op2.Dat) -> None:
    with q.frozen_halo(op2.INC), pytest.raises(RuntimeError, match="already frozen with INC"):
        q.freeze_halo(op2.READ)
    with pytest.raises(HaloFrozenError, match="is not frozen"):
        q.unfreeze_halo()
    with pytest.raises(ModeValueError):
        q.freeze_halo("X")  # type: ignore[arg-type]


# What it is


def test_a_dat_is_its_only_component(q: op2.Dat) -> None:
    assert list(q) == [q]
    assert len(q) == 1
    assert q[0] is q
    assert q.split == (q,)
    with pytest.raises(
        IndexValueError, match=r"'q' on Set 'cells' has one component.*DatView\(dat, i"
    ):
        q[1]


def test_equality_is_identity(q: op2.Dat) -> None:
    assert q == q
    assert q != op2.Dat(q)
    assert len({q, op2.Dat(q)}) == 2


def test_repr_and_str(q: op2.Dat) -> None:
    where = DataSet(q.dataset.set, 2, "vectors")
    found = op2.Dat(where, dtype="int32", name="n")
    assert repr(found) == (
        "Dat(DataSet(Set((1, 3, 5), 'cells'), (2,), 'vectors', False), None, dtype('int32'), 'n')"
    )
    assert str(found) == f"OP2 Dat: n on ({where}) with datatype int32"
    again = eval(repr(found))
    assert isinstance(again, Dat)
    assert repr(again) == repr(found)


# Static mode

RUNNING: list[Any] = [
    *(lambda dat, member=member: getattr(dat, member) for member in OWNED + WHOLE),
    lambda dat: dat.zero(),
    lambda dat: dat.copy(dat),
    lambda dat: dat.save("never"),
    lambda dat: dat.load("never"),
    lambda dat: np.asarray(dat),
]


@pytest.mark.parametrize("use", RUNNING)
@pytest.mark.parametrize("size", [None, 3])
def test_static_mode_names_the_member(static: None, use: Any, size: int | None) -> None:
    with pytest.raises(StaticModeError, match=r"Dat 'q' on Set 'cells': '\w+' needs loops"):
        use(op2.Dat(op2.Set(size, "cells"), name="q"))


def test_a_dat_without_a_size(static: None) -> None:
    cells = op2.Set(name="cells")
    q = op2.Dat(cells**4, dtype="float32", name="q")
    assert (q.dim, q.cdim, q.dtype, q.dataset.set) == ((4,), 4, np.float32, cells)
    assert q(op2.INC, op2.Map(op2.Set(name="edges"), cells, 2)).data is q
    for member in ("shape", "nbytes"):
        with pytest.raises(StaticModeError, match=f"'{member}' is unknown"):
            getattr(q, member)
    with pytest.raises(DataValueError, match="the Set has no size"):
        op2.Dat(cells, [1.0, 2.0])


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_truth_values_are_bytes(backend: str) -> None:
    cells = op2.Set(3)
    flags = op2.Dat(cells, [True, False, True], bool)
    assert (flags.dtype, flags.ctype, flags.nbytes) == (np.dtype(bool), "unsigned char", 3)
    found = op2.Dat(cells, dtype=bool)
    kernel = op2.Kernel("void k(const unsigned char *x, unsigned char *y) { *y = !*x; }", "k")
    with op2.backend(backend):
        op2.par_loop(kernel, cells, flags(op2.READ), found(op2.WRITE))
    assert found.data_ro.tolist() == [False, True, False]
    assert found.data_ro.dtype == bool


def test_a_copy_of_a_view_is_one_value_an_entity() -> None:
    whole = op2.Dat(op2.Set(2) ** 3, np.arange(6.0))
    copy = op2.Dat(op2.DatView(whole, 1))
    assert (copy.dim, copy.data_ro.tolist()) == ((1,), [1, 4])


@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_pyop2s_programs_may_replace_all_values(cells: op2.Set, backend: str) -> None:
    dat = op2.Dat(cells, dtype="float64")
    twice = op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
    with op2.backend(backend):
        op2.par_loop(twice, cells, dat(op2.RW))
        dat._data = np.arange(cells.total_size)
        op2.par_loop(twice, cells, dat(op2.RW))
    assert dat.dtype == np.float64
    np.testing.assert_array_equal(dat.data_ro, 2.0 * np.arange(cells.size))
    with pytest.raises(DataValueError, match="expected"):
        dat._data = np.zeros(cells.total_size + 1)
