# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    ContractError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    SetTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.op2 import INC, READ

pytestmark = pytest.mark.pyop2

EDGES, NODES = op2.Set(3, "edges"), op2.Set(4, "nodes")
E2N = op2.Map(EDGES, NODES, 2, [0, 1, 1, 2, 2, 3])
TEXT = "void f(const double *x, double *y, double *g) { y[0] += x[1]; y[1] += x[0]; g[0] += 1; }"
LOCAL = op2.LocalKernel(TEXT, "f", [READ, INC, INC])
ENDS = op2.MapKernelArg(2)
ARGUMENTS = (
    op2.DatKernelArg((1,), ENDS),
    op2.DatKernelArg((1,), ENDS),
    op2.GlobalKernelArg((1,)),
)


def data() -> tuple[op2.Dat, op2.Dat, op2.Global]:
    return op2.Dat(NODES, np.arange(4.0)), op2.Dat(NODES), op2.Global(1, 0.0)


def parloop_args(x: op2.Dat, y: op2.Dat, g: op2.Global) -> list[Any]:
    return [op2.DatParloopArg(x, E2N), op2.DatParloopArg(y, E2N), op2.GlobalParloopArg(g)]


def test_a_loop_in_two_steps() -> None:
    x, y, g = data()
    kernel = op2.GlobalKernel(LOCAL, ARGUMENTS)
    loop = op2.Parloop(kernel, EDGES, parloop_args(x, y, g))
    assert loop.accesses == (READ, INC, INC)
    loop()
    assert (y.data_ro.tolist(), g.data_ro.tolist()) == ([1, 2, 4, 2], [3])
    again, other = op2.Dat(NODES), op2.Global(1, 10.0)
    loop.replace_data(1, op2.DatParloopArg(again, E2N))
    loop.replace_data(2, other)
    loop()
    assert (again.data_ro.tolist(), other.data_ro.tolist()) == ([1, 2, 4, 2], [13])
    assert y.data_ro.tolist() == [1, 2, 4, 2]


def test_loops_explain_themselves_before_they_run(backend: str) -> None:
    x, y, g = data()
    kernel = op2.GlobalKernel(LOCAL, ARGUMENTS)
    found = kernel.explain(EDGES, parloop_args(x, y, g))
    code = op2.Parloop(kernel, EDGES, parloop_args(x, y, g)).generate()
    assert (found.loop, found.strategy, found.lanes) == (kernel.name, code.strategy, code.lanes)


def test_data_that_do_not_fit_change_nothing() -> None:
    x, y, g = data()
    loop = op2.Parloop(op2.GlobalKernel(LOCAL, ARGUMENTS), EDGES, parloop_args(x, y, g))
    for index, new, error in (
        (3, y, IndexValueError),
        (1, g, UsageError),
        (1, op2.Dat(NODES, dtype=np.float32), UsageError),
        (1, op2.Dat(NODES**2), UsageError),
        (1, op2.Dat(EDGES), MapValueError),
    ):
        with pytest.raises(error):
            loop.replace_data(index, new)
    loop()
    assert y.data_ro.tolist() == [1, 2, 4, 2]


def test_kernels_know_their_accesses() -> None:
    assert LOCAL.accesses == (READ, INC, INC)
    assert op2.LocalKernel(TEXT, "f").accesses is None
    with pytest.raises(ContractError, match="3 accesses, but 1 dtypes"):
        op2.CStringLocalKernel(TEXT, "f", [READ, INC, INC], ["float64"])
    with pytest.raises(UsageError, match="2 arguments, but the kernel has the accesses"):
        op2.GlobalKernel(LOCAL, ARGUMENTS[:2])
    with pytest.raises(UsageError, match="pass extruded=True"):
        op2.GlobalKernel(LOCAL, ARGUMENTS, pass_layer_arg=True)
    with pytest.raises(UsageError, match="must be of GlobalKernelArg"):
        op2.GlobalKernel(LOCAL, (1, 2, 3))


def test_the_data_must_be_what_the_kernel_was_made_for() -> None:
    x, y, g = data()
    kernel = op2.GlobalKernel(LOCAL, ARGUMENTS)
    good = parloop_args(x, y, g)
    for wrong, error in (
        (good[:2], UsageError),
        ([good[0], good[2], good[2]], UsageError),
        ([op2.DatParloopArg(op2.Dat(NODES**2), E2N), *good[1:]], UsageError),
        ([op2.DatParloopArg(x, E2N[0]), *good[1:]], MapTypeError),
    ):
        with pytest.raises(error):
            op2.Parloop(kernel, EDGES, wrong)
    with pytest.raises(SetTypeError, match=r"another kind of Set than .*: subset=True"):
        op2.Parloop(kernel, EDGES(0), good)
    part = op2.GlobalKernel(LOCAL, ARGUMENTS, subset=True)
    op2.Parloop(part, EDGES(0), good)()
    assert y.data_ro.tolist() == [1, 0, 0, 0]
    assert part.name == "f"


def test_mixed_and_extruded() -> None:
    columns = op2.ExtrudedSet(EDGES, 3)
    up = op2.Map(columns, op2.Set(9), 1, [0, 3, 6], offset=[1])
    both = op2.MixedDat((op2.Dat(up.toset), op2.Dat(up.toset)))
    text = "void f(double *x, int layer) { x[0] += 1; x[1] += layer; }"
    path = op2.MapKernelArg(1, (1,))
    fields = op2.MixedDatKernelArg((op2.DatKernelArg((1,), path), op2.DatKernelArg((1,), path)))
    kernel = op2.GlobalKernel(
        op2.LocalKernel(text, "f", [INC]),
        [fields],
        extruded=True,
        constant_layers=True,
        pass_layer_arg=True,
    )
    op2.Parloop(kernel, columns, [op2.MixedDatParloopArg(both, op2.MixedMap((up, up)))])()
    assert both[0].data_ro.tolist() == [1, 1, 0] * 3
    assert both[1].data_ro.tolist() == [0, 1, 0] * 3
    assert op2.PermutedMapKernelArg(path, (0,)).arity == 1
    assert op2.ComposedMapKernelArg(path, op2.MapKernelArg(1)).arity == 1


def test_kernels_that_compute_the_same_have_equal_keys() -> None:
    a, b = op2.MapKernelArg(2), op2.MapKernelArg(2)
    local = op2.LocalKernel(TEXT, "f", [READ, INC, INC])

    def key(first: op2.MapKernelArg, second: op2.MapKernelArg) -> object:
        dats = [op2.DatKernelArg((1,), first), op2.DatKernelArg((1,), second)]
        return op2.GlobalKernel(local, [*dats, op2.GlobalKernelArg((1,))]).cache_key

    assert key(a, a) == key(b, b) != key(a, b)
    assert hash(key(a, a)) == hash(key(b, b))
    loop = op2.GlobalKernel(local, ARGUMENTS)
    assert loop.num_flops(EDGES) == local.num_flops * EDGES.size > 0


def test_descriptions_that_are_wrong() -> None:
    for make, error in (
        (lambda: op2.MapKernelArg(1, [1]), UsageError),  # type: ignore[arg-type]
        (lambda: op2.PermutedMapKernelArg(3, (0,)), MapTypeError),  # type: ignore[arg-type]
        (lambda: op2.PermutedMapKernelArg(op2.MapKernelArg(1), [0]), UsageError),  # type: ignore[arg-type]
        (lambda: op2.ComposedMapKernelArg(3), MapTypeError),  # type: ignore[arg-type]
    ):
        with pytest.raises(error):
            make()


def test_matrices_and_addresses() -> None:
    sparsity = op2.Sparsity((NODES**1, NODES**1), [(E2N, E2N, None)])
    mat, box = op2.Mat(sparsity), np.zeros(1)
    text = "void k(double *A, void *b) { A[0] += 1; A[3] += 2; *(double *)b += 1; }"
    local = op2.LocalKernel(text, "k", [INC, op2.RW])
    path = op2.MapKernelArg(2)
    shape = op2.MatKernelArg(((1,), (1,)), (path, path))
    kernel = op2.GlobalKernel(local, [shape, op2.PassthroughKernelArg()])
    address = op2.PassthroughArg(op2.OpaqueType("box"), box.ctypes.data)
    data = [op2.MatParloopArg(mat, (E2N, E2N)), op2.PassthroughParloopArg(address)]
    with op2.backend("sequential"):
        op2.Parloop(kernel, EDGES, data)()
    mat.assemble()
    assert np.diag(mat.values).tolist() == [1, 3, 3, 2]
    assert box.tolist() == [3.0]
    wide = op2.MatKernelArg(((2,), (1,)), (path, path))
    other = op2.GlobalKernel(local, [wide, op2.PassthroughKernelArg()])
    with pytest.raises(UsageError, match=r"blocks of \(1, 1\), expected \(2, 1\)"):
        op2.Parloop(other, EDGES, data)


def test_a_global_for_both_cells_of_a_facet() -> None:
    columns = op2.ExtrudedSet(EDGES, 3)
    up = op2.Map(columns, op2.Set(9), 1, [0, 3, 6], offset=[1])
    g, y = op2.Global(2, [1.0, 2.0]), op2.Dat(up.toset)
    text = "void f(const double *g, double *y) { y[0] += g[0] + g[1]; y[1] += g[2] * g[3]; }"
    local = op2.LocalKernel(text, "f", [READ, INC])
    arguments = (
        op2.GlobalKernelArg((2,), double=True),
        op2.DatKernelArg((1,), op2.MapKernelArg(1, (1,))),
    )
    kernel = op2.GlobalKernel(
        local,
        arguments,
        extruded=True,
        constant_layers=True,
        iteration_region=op2.ON_INTERIOR_FACETS,
    )
    loop = op2.Parloop(kernel, columns, [op2.GlobalParloopArg(g), op2.DatParloopArg(y, up)])
    loop()
    assert y.data_ro.tolist() == [3, 2, 0] * 3
    loop.replace_data(0, op2.Global(2, [2.0, 3.0]))
    loop()
    assert y.data_ro.tolist() == [8, 8, 0] * 3
    with pytest.raises(UnsupportedError, match="argument 0: double=True is for a Global that is"):
        op2.GlobalKernel(op2.LocalKernel(text, "f", [INC, INC]), arguments, extruded=True)


def test_a_mixed_matrix() -> None:
    both, ends = op2.MixedSet((NODES, NODES)), op2.MapKernelArg(2)
    maps = op2.MixedMap((E2N, E2N))
    mat = op2.Mat(op2.Sparsity((both**1, both**1), [(maps, maps, None)]))
    text = "void f(double *A) { for (int i = 0; i < 16; ++i) A[i] += i; }"
    block = op2.MatKernelArg(((1,), (1,)), (ends, ends))
    local = op2.LocalKernel(text, "f", [INC])
    kernel = op2.GlobalKernel(local, [op2.MixedMatKernelArg((block,) * 4, (2, 2))])
    op2.Parloop(kernel, EDGES, [op2.MixedMatParloopArg(mat, (maps, maps))])()
    expected = np.zeros((8, 8))
    for edge in E2N.values:
        rows = [*edge, *(edge + 4)]
        expected[np.ix_(rows, rows)] += np.arange(16.0).reshape(4, 4)
    np.testing.assert_array_equal(mat.values, expected)

    with pytest.raises(UsageError, match="3 blocks, expected 2 x 2"):
        op2.MixedMatKernelArg((block,) * 3, (2, 2))
    for arguments, wrong, error in (
        ((block,) * 2, (1, 2), UsageError),
        ((op2.MatKernelArg(((2,), (1,)), (ends, ends)),) * 4, (2, 2), UsageError),
        ((op2.MatKernelArg(((1,), (1,)), (op2.MapKernelArg(3), ends)),) * 4, (2, 2), MapTypeError),
    ):
        other = op2.GlobalKernel(local, [op2.MixedMatKernelArg(arguments, wrong)])
        with pytest.raises(error):
            op2.Parloop(other, EDGES, [op2.MixedMatParloopArg(mat, (maps, maps))])


def test_what_looks_the_same_has_equal_keys() -> None:
    other = op2.MapKernelArg(2)
    assert other != ENDS
    assert ENDS.cache_key == other.cache_key != op2.MapKernelArg(3).cache_key
    turned = [op2.PermutedMapKernelArg(path, (1, 0)) for path in (ENDS, other)]
    one, two = (op2.DatKernelArg((2,), path) for path in turned)
    assert one.cache_key == two.cache_key != op2.DatKernelArg((2,), ENDS).cache_key
    assert (one.maps, one.is_indirect, one.is_direct) == ((turned[0],), True, False)
    direct = op2.DatKernelArg((2,))
    assert (direct.maps, direct.is_direct) == ((), True)
    both = op2.MixedDatKernelArg((one, ARGUMENTS[2], direct))
    assert (both.maps, both.is_direct, both.is_indirect) == ((turned[0],), False, True)
    block = op2.MatKernelArg(((1,), (1,)), (ENDS, other))
    assert op2.MixedMatKernelArg((block, block), (1, 2)).maps == (ENDS, other) * 2
    assert op2.PassthroughKernelArg().maps == ARGUMENTS[2].maps == ()


def test_arguments_side_by_side() -> None:
    x, y, g = data()
    local = op2.LocalKernel(TEXT, "f", [READ, INC, INC], ["float64"] * 3)
    loop = op2.Parloop(op2.GlobalKernel(local, ARGUMENTS), EDGES, parloop_args(x, y, g))
    assert (loop.local_kernel, loop.comm) == (local, EDGES.comm)
    [first, *_] = loop.zipped_arguments
    assert (first[0].access, first[1], first[2].data) == (READ, ARGUMENTS[0], x)
    assert loop.global_kernel.zipped_arguments[0][1] is ARGUMENTS[0]


def test_a_loop_in_the_steps_of_pyop2() -> None:
    edges = op2.Set((2, 3, 3))
    ends = op2.Map(edges, NODES, 2, E2N.values)
    x, y, g = data()
    args = [op2.DatParloopArg(x, ends), op2.DatParloopArg(y, ends), op2.GlobalParloopArg(g)]
    loop = op2.Parloop(op2.GlobalKernel(LOCAL, ARGUMENTS), edges, args)
    loop.global_to_local_begin()
    loop._compute(edges.core_part)
    assert (y.data_ro.tolist(), g.data_ro.tolist()) == ([1, 2, 1, 0], [2])
    loop.global_to_local_end()
    loop._compute(edges.owned_part)
    loop.local_to_global_begin()
    loop.local_to_global_end()
    assert (y.data_ro.tolist(), g.data_ro.tolist()) == ([1, 2, 4, 2], [3])


def test_no_dim_is_a_single_value() -> None:
    local = op2.LocalKernel("void k(double *x) { x[0] += 1; }", "k", [INC])
    kernel = op2.GlobalKernel(local, [op2.DatKernelArg((), ENDS)])
    x = op2.Dat(NODES)
    op2.Parloop(kernel, EDGES, [op2.DatParloopArg(x, E2N)])()
    assert x.data_ro.tolist() == [1, 1, 1, 0]


def test_written_globals_are_replaced_as_in_pyop2() -> None:
    x, y, g = data()
    loop = op2.Parloop(op2.GlobalKernel(LOCAL, ARGUMENTS), EDGES, parloop_args(x, y, g))
    assert list(loop.reduced_globals) == [g]
    assert len(loop.reduced_globals) == 1
    other = op2.Global(1, 10.0)
    loop.reduced_globals[loop.arguments[2].data] = op2.GlobalParloopArg(other)
    assert loop.reduced_globals[other].data is other
    loop()
    assert (g.data_ro.tolist(), other.data_ro.tolist()) == ([0], [13])
    with pytest.raises(KeyError):
        loop.reduced_globals[g] = op2.GlobalParloopArg(g)


def test_a_global_is_described_by_its_number_of_values() -> None:
    def looped(n: int) -> op2.Parloop:
        local = op2.LocalKernel(
            "void f(double *g, const double *h) { g[0] += h[3]; }", "f", [INC, READ]
        )
        kernel = op2.GlobalKernel(local, [op2.GlobalKernelArg((1,)), op2.GlobalKernelArg((n,))])
        return op2.Parloop(kernel, EDGES, [op2.GlobalParloopArg(g), op2.GlobalParloopArg(tensor)])

    g, tensor = op2.Global(1, 0.0), op2.Constant((2, 2), [[1.0, 2.0], [3.0, 4.0]])
    looped(4)()
    assert g.data_ro.tolist() == [12]
    with pytest.raises(UsageError, match="dim"):
        looped(3)


def test_a_parloop_takes_maps_that_the_sparsity_was_not_made_from() -> None:
    faces = op2.Set(2, "faces")
    sides = op2.Map(faces, NODES, 3, [0, 1, 2, 1, 2, 3])
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**1), [(sides, sides, None)]))
    local = op2.LocalKernel("void k(double *A) { A[1] += 1; A[2] += 2; }", "k", [INC])
    path = op2.MapKernelArg(2)
    kernel = op2.GlobalKernel(local, [op2.MatKernelArg(((1,), (1,)), (path, path))])
    op2.Parloop(kernel, EDGES, [op2.MatParloopArg(mat, (E2N, E2N))])()
    mat.assemble()
    assert np.diag(mat.values, 1).tolist() == [1, 1, 1]
    assert np.diag(mat.values, -1).tolist() == [2, 2, 2]
    far = op2.Map(EDGES, NODES, 2, [0, 1, 1, 2, 0, 3])
    loop = op2.Parloop(kernel, EDGES, [op2.MatParloopArg(mat, (far, far))])
    with pytest.raises(UsageError, match="element 2 couples row 0 with column 3"):
        loop()
    with pytest.raises(MapValueError, match="no pair that Sparsity"):
        mat(INC, (E2N, E2N))


def test_the_same_data_again_change_nothing() -> None:
    x, y, g = data()
    with op2.backend("sequential"):
        loop = op2.Parloop(op2.GlobalKernel(LOCAL, ARGUMENTS), EDGES, parloop_args(x, y, g))
        loop()
        ready = loop.prepared
        loop.arguments[1].data = y
        loop.reduced_globals[g] = op2.GlobalParloopArg(g)
        loop()
        assert loop.prepared is ready
    assert (y.data_ro.tolist(), g.data_ro.tolist()) == ([2, 4, 8, 4], [6])


def test_a_composed_map_of_composed_maps() -> None:
    cells, faces, marks = op2.Set(2), op2.Set(3), op2.Set(2)
    first = op2.Map(cells, NODES, 2, [0, 1, 2, 3])
    to_cell, to_face = op2.Map(faces, cells, 1, [1, 0, 1]), op2.Map(marks, faces, 1, [2, 1])
    nested = op2.ComposedMap(op2.ComposedMap(first, to_cell), to_face)
    inner = op2.ComposedMap(first, op2.ComposedMap(to_cell, to_face))
    for path in (nested, inner):
        described = path._global_kernel_arg
        assert [one.arity for one in described.base_maps] == [2, 1, 1]
        local = op2.LocalKernel("void k(double *x) { x[0] += 1; x[1] += 2; }", "k", [INC])
        kernel = op2.GlobalKernel(local, [op2.DatKernelArg((1,), described)])
        x = op2.Dat(NODES)
        op2.Parloop(kernel, marks, [op2.DatParloopArg(x, path)])()
        assert x.data_ro.tolist() == [1, 2, 1, 2]
