# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    ContractError,
    DataSetTypeError,
    DataValueError,
    DatTypeError,
    DimTypeError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    ModeValueError,
    SetTypeError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from pathlib import Path

A, B = op2.Set((1, 2, 3), "a"), op2.Set(4, "b")
BOTH = op2.MixedSet((A, B))


def mixed() -> op2.MixedDat:
    return op2.MixedDat((op2.Dat(A, np.arange(3.0)), op2.Dat(B**2, np.arange(8.0))))


def test_sets() -> None:
    assert (BOTH.core_size, BOTH.size, BOTH.total_size) == (5, 6, 7)
    assert BOTH.sizes == (5, 6, 7)
    assert (BOTH.name, BOTH.halo, BOTH.layers) == (("a", "b"), None, None)
    assert (list(BOTH), len(BOTH), BOTH[1], BOTH.split) == ([A, B], 2, B, (A, B))
    assert op2.MixedSet([A, B]) == BOTH
    assert hash(BOTH) == hash(op2.MixedSet([A, B]))
    assert op2.MixedSet([B, A]) != BOTH
    assert op2.MixedSet(BOTH) == BOTH
    with pytest.raises(IndexValueError, match="MixedSet has fields 0 to 1; got index 2"):
        _ = BOTH[2]


@pytest.mark.parametrize("wrong", ["foo", ("foo", "bar"), 3, (A, 3), ()])
def test_what_is_no_set(wrong: Any) -> None:
    with pytest.raises(SetTypeError, match="MixedSet: expected Sets"):
        op2.MixedSet(wrong)


def test_layers_must_match() -> None:
    two, three = (op2.ExtrudedSet(A, n) for n in (2, 3))
    assert op2.MixedSet((two, op2.ExtrudedSet(B, 2))).layers == 2
    for wrong in ((two, three), (two, B)):
        with pytest.raises(ContractError, match="all Sets must have the same layers"):
            op2.MixedSet(wrong)


def test_datasets() -> None:
    for given in (
        op2.MixedDataSet((A, B), (1, 2)),
        op2.MixedDataSet(BOTH, (1, 2)),
        op2.MixedDataSet((A**1, B**2)),
        BOTH ** (1, 2),
    ):
        assert given.cdim == 3
        assert given.split == (A**1, B**2)
        assert given.set == BOTH
        assert given.size == 6
    assert op2.MixedDataSet(BOTH).dim == ((1,), (1,))
    assert op2.MixedDataSet(BOTH, 3).cdim == 6
    assert op2.MixedDataSet(A, (1, (2, 2))).dim == ((1,), (2, 2))
    assert mixed() in op2.MixedDataSet((A, B), (1, 2))


@pytest.mark.parametrize(
    ("given", "dims", "error"),
    [
        ("foo", None, DataSetTypeError),
        (3, None, DataSetTypeError),
        ((A, "b"), None, DataSetTypeError),
        ((A, B), "ab", DimTypeError),
        ((A, B), (1, "x"), DimTypeError),
        ((A**1, B**1), 1, DimTypeError),
        ((A, B), (1, 2, 3), UsageError),
    ],
)
def test_wrong_datasets(given: Any, dims: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        op2.MixedDataSet(given, dims)


def maps() -> tuple[op2.Map, op2.Map]:
    start = op2.Set(2, "start")
    return op2.Map(start, A, 1, [0, 1]), op2.Map(start, B, 2, [0, 1, 2, 3], offset=[1, 1])


def test_maps() -> None:
    first, second = maps()
    both = op2.MixedMap((first, second))
    assert (both.arity, both.arities, both.arange) == (3, (1, 2), (0, 1, 3))
    assert both.toset == BOTH
    assert both.iterset is first.iterset
    assert [v.tolist() for v in both.values] == [[[0], [1]], [[0, 1], [2, 3]]]
    assert both.flattened_maps == (first, second)
    assert both.offset[0] is None
    for wrong in ("x", (first, "x"), ()):
        with pytest.raises(MapTypeError, match="expected Maps"):
            op2.MixedMap(wrong)  # type: ignore[arg-type]
    with pytest.raises(MapTypeError, match="must start on the same Set"):
        op2.MixedMap((first, maps()[1]))


def test_dats() -> None:
    both = mixed()
    assert [v.shape for v in both.data_ro] == [(2,), (4, 2)]
    assert [v.shape for v in both.data_with_halos] == [(3,), (4, 2)]
    assert (both.shape, both.cdim, both.nbytes) == (((3,), (4, 2)), 3, 88)
    assert both.dat_version == 2
    assert op2.MixedDat(BOTH).cdim == 2
    assert op2.MixedDat(both) == both
    assert op2.MixedDat(both)[0] is not both[0]
    assert both != "x"
    with pytest.raises(DataSetTypeError):
        op2.MixedDat("illegalarg")
    with pytest.raises(DataSetTypeError):
        op2.MixedDat([A, 3])
    with pytest.raises(DataValueError, match="the same dtype"):
        op2.MixedDat((op2.Dat(A), op2.Dat(B, dtype=np.int32)))


def test_a_copy_that_does_not_fit_changes_no_field() -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    wide = op2.MixedDat([op2.Dat(cells, [1, 2]), op2.Dat(nodes, [3, 400, 5])])
    narrow = op2.MixedDat([op2.Dat(cells, dtype="int8"), op2.Dat(nodes, dtype="int8")])
    with pytest.raises(DataValueError, match="value 400 of entity 1 does not fit into int8"):
        wide.copy(narrow)
    assert [dat.data_ro.tolist() for dat in narrow] == [[0, 0], [0, 0, 0]]
    wide.copy(narrow, casting="unsafe")
    assert narrow[0].data_ro.tolist() == [1, 2]


def test_zero_and_copy() -> None:
    both, other = mixed(), mixed()
    other.zero()
    assert not any(v.any() for v in other.data_ro_with_halos)
    assert both != other
    both.copy(other)
    assert both == other
    with pytest.raises(UnsupportedError):
        both.zero(A(1))
    with pytest.raises(UnsupportedError):
        both.copy(other, A(1))
    with pytest.raises(DatTypeError):
        both.copy(both[0])  # type: ignore[arg-type]


def test_algebra() -> None:
    both = mixed()
    assert (both + both) == 2 * both == both * 2
    assert both - both == 0 * both
    assert (1 - both)[0].data_ro.tolist() == [1, 0]
    assert (both / 2 + both / 2) == both
    assert (-both) == both * -1
    assert +both == both
    assert both.inner(both) == 1 + 140
    assert both.norm == pytest.approx(np.sqrt(141))
    twice = both + 0
    twice += both
    twice *= 2
    twice -= both
    twice /= 3
    assert twice == both
    twice.axpy(3, both)
    twice.maxpy([-1, -2], [both, both])
    assert twice == both
    with pytest.raises(DataValueError):
        _ = both + op2.MixedDat((op2.Dat(A),))
    with pytest.raises(TypeError):
        _ = both + "x"


def test_files(tmp_path: Path) -> None:
    both = mixed()
    both.save(str(tmp_path / "x"))
    again = op2.MixedDat(both.dataset)
    again.load(str(tmp_path / "x"))
    assert again == both


def test_halos() -> None:
    both = mixed()
    with_ghosts, _ = both
    with_ghosts.halo_valid = False
    assert not both.halo_valid
    both.halo_valid = True
    assert with_ghosts.halo_valid
    both.freeze_halo(op2.READ)
    with pytest.raises(RuntimeError):
        with_ghosts.freeze_halo(op2.READ)
    both.unfreeze_halo()


# As an argument; what loops compute is in the corpus


def test_wrong_paths() -> None:
    first, second = maps()
    with pytest.raises(MapTypeError):
        mixed()(op2.READ, "x")  # type: ignore[arg-type]
    with pytest.raises(MapValueError, match="has 2 fields, but there are 1 Maps"):
        mixed()(op2.READ, op2.MixedMap((first,)))
    with pytest.raises(MapValueError, match="leads from Set"):
        mixed()(op2.READ, op2.MixedMap((second, first)))
    with pytest.raises(ModeValueError):
        mixed()("illegal")  # type: ignore[arg-type]


def test_loops_do_not_run_over_several_sets() -> None:
    kernel = op2.Kernel("void f(double *x) { *x = 0; }", "f")
    with pytest.raises(SetTypeError, match="cannot iterate over a MixedSet"):
        op2.par_loop(kernel, BOTH, mixed()(op2.WRITE))  # type: ignore[arg-type]


def test_frozen_fields() -> None:
    first, second = maps()
    both = mixed()
    arg = both(op2.INC, (first, second))
    kernel = op2.Kernel("void f(double *x) { x[0] += 1; }", "f")
    with both[1].frozen_halo(op2.READ), pytest.raises(RuntimeError, match="is frozen with READ"):
        op2.par_loop(kernel, first.iterset, arg)
    op2.par_loop(kernel, first.iterset, arg)
    assert not both.halo_valid


def test_pickling_and_text() -> None:
    for one in (BOTH, mixed()):
        again = pickle.loads(pickle.dumps(one))
        assert len(again) == 2
        assert type(one).__name__ in repr(one)
        assert str(one).startswith(f"OP2 {type(one).__name__} composed of ")


def test_the_same_fields_are_the_same_object() -> None:
    a, b = op2.Set(3), op2.Set(4)
    assert op2.MixedSet((a, b)) is op2.MixedSet([a, b])
    assert op2.MixedSet((a, b)) is not op2.MixedSet((b, a))
    assert op2.MixedDataSet((a, b)) is op2.MixedDataSet((a**1, b))
    assert op2.MixedDataSet((a, b), 2) is (op2.MixedSet((a, b)) ** 2)
    there, back = op2.Map(a, b, 1, [0] * 3), op2.Map(a, a, 1, [0] * 3)
    assert op2.MixedMap((there, back)) is op2.MixedMap((there, back))
    assert op2.MixedMap((there, back)) != op2.MixedMap((back, there))
    both = op2.MixedSet((a, b))
    assert pickle.loads(pickle.dumps(both)).sizes == both.sizes


def test_pyop2s_texts() -> None:
    a = op2.Set(3)
    sets, dsets = op2.MixedSet((a, a)), op2.MixedDataSet((a, a))
    maps = op2.MixedMap((op2.Map(a, a, 1, [0] * 3),))
    dats = op2.MixedDat(sets)
    assert str(sets) == f"OP2 MixedSet composed of Sets: {sets._sets}"
    assert str(dsets) == f"OP2 MixedDataSet composed of DataSets: {dsets._dsets}"
    assert str(maps) == f"OP2 MixedMap composed of Maps: {maps._maps}"
    assert str(dats) == f"OP2 MixedDat composed of Dats: {dats.split}"


def test_a_field_may_be_missing() -> None:
    a = op2.Set((1, 2, 3))
    sets = op2.MixedSet((None, a))
    assert (sets.sizes, sets.halo, sets.layers) == ((1, 2, 3), None, None)
    assert sets.name == ("None", a.name)
    with pytest.raises(SetTypeError):
        op2.MixedSet((None,))
    map_ = op2.Map(a, a, 2, [0] * 6)
    maps = op2.MixedMap((map_, None))
    assert (maps.iterset, maps.arities, maps.offset) == (a, (2, 1), (None, None))
    assert len(maps.values) == len(maps.flattened_maps) == 1
    assert maps.toset is op2.MixedSet((a, None))


def test_fields_may_be_sliced() -> None:
    both = op2.MixedDat(BOTH)
    assert both[:-1] == (both[0],)
    assert BOTH[::-1] == (B, A)


def test_a_map_to_a_set_of_the_same_size_is_taken_with_a_warning() -> None:
    cells, other = op2.Set(3), op2.Set(3)
    both = op2.MixedDat((op2.Dat(cells), op2.Dat(cells)))
    path = op2.MixedMap((op2.Map(cells, other, 1, [1, 2, 0]),) * 2)
    with pytest.warns(UserWarning, match="lives on another Set of the same size"):
        arg = both(op2.INC, path)
    op2.par_loop(op2.Kernel("void k(double *x) { x[0] += 1; x[1] += 2; }", "k"), cells, arg)
    assert [dat.data_ro.tolist() for dat in both] == [[1, 1, 1], [2, 2, 2]]
    small = op2.Map(cells, op2.Set(2), 1, [0, 1, 0])
    with pytest.raises(MapValueError, match="but the Dat lives on"):
        both(op2.INC, op2.MixedMap((small, small)))


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_a_global_may_be_a_field(backend: str) -> None:
    edges, nodes = op2.Set(3), op2.Set(4)
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3]])
    both = op2.MixedDat((op2.Dat(nodes), op2.Global(2, [1.0, 2.0])))
    other = op2.MixedDat(both.dataset)
    assert [type(field) for field in other] == [op2.Dat, op2.Global]
    path = op2.MixedMap((ends, None))
    text = "void k(double *x) { x[0] += 1; x[1] += 2; x[2] += 3; x[3] += 4; }"
    with op2.backend(backend):
        for _ in range(2):
            op2.par_loop(op2.Kernel(text, "k"), edges, both(op2.INC, path))
        assert both[0].data_ro.tolist() == [2, 6, 6, 4]
        assert both[1].data_ro.tolist() == [1 + 18, 2 + 24]
        both.copy(other)
        other += both
        assert other[1].data_ro.tolist() == [38, 52]
        assert op2.MixedDat(other)[1].data_ro.tolist() == [38, 52]
    with pytest.raises(MapValueError, match="only a Global has no Map"):
        both(op2.READ, op2.MixedMap((None, ends)))


def test_older_names_of_mixed_objects() -> None:
    sets = op2.Set((2, 3, 5)), op2.Set(4)
    assert op2.MixedSet(sets).exec_size == 7
    mixed = op2.MixedDat((op2.Dat(sets[0], soa=True), op2.Dat(sets[1])))
    assert mixed.soa == (True, False)
    assert not mixed.needs_halo_update
    mixed[0].needs_halo_update = True
    assert mixed.needs_halo_update
    mixed.needs_halo_update = False
    assert mixed[0].halo_valid
    mixed.needs_halo_update = True
    assert mixed[1].needs_halo_update
    for reverse in (False, True):  # nothing happens without a Halo
        mixed.halo_exchange_begin(reverse=reverse)
        mixed.halo_exchange_end(reverse=reverse)
