# SPDX-License-Identifier: BSD-3-Clause
"""Other data at the call of a loop, and loops that differ in their data only."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.loop import call_data
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime import runtime

N = 5
SCALE = op2.Kernel(
    "void scale(double *out, const double *h, const double *by) { *out = *h * *by; }", "scale"
)
GATHER = op2.Kernel("void gather(double *out, const double *h) { *out += h[0] + h[1]; }", "gather")
SUM = op2.Kernel("void total(double *s, const double *h) { s[0] += h[0]; }", "total")


class Tensor:
    """An array of a library that only speaks DLPack."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    def __dlpack__(self, **given: Any) -> Any:
        return self.values.__dlpack__(**given)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


class Torch(Tensor):
    """One that NumPy can look at, too, with names of methods that ours have, as PyTorch's."""

    @property
    def data(self) -> Torch:
        return self

    def split(self, size: int) -> tuple[Torch, ...]:
        return (self,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.values


class World:
    """A loop over cells, and what it was made with."""

    def __init__(self) -> None:
        self.cells = op2.Set(N, "cells")
        self.other = op2.Set(N, "other")
        self.out = op2.Dat(self.cells, name="out0")
        self.h = op2.Dat(self.cells, np.arange(float(N)), name="h0")
        self.by = op2.Global(1, 2.0, name="by0")
        self.loop = ParLoop(
            SCALE, self.cells, self.out(op2.WRITE), self.h(op2.READ), self.by(op2.READ)
        )


def count_made(monkeypatch: Any) -> list[int]:
    made, init = [0], ParLoop.__init__

    def counted(self: Any, *args: Any, **options: Any) -> None:
        made[0] += 1
        init(self, *args, **options)

    monkeypatch.setattr(ParLoop, "__init__", counted)
    return made


KINDS = {
    "array": lambda world, values: values,
    "DLPack": lambda world, values: Tensor(values),
    "like PyTorch's": lambda world, values: Torch(values),
    "Dat": lambda world, values: op2.Dat(world.cells, values),
    "Function": lambda world, values: SimpleNamespace(dat=op2.Dat(world.cells, values)),
    "flat": lambda world, values: values.reshape(N, 1),
}


@pytest.mark.parametrize("by_number", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_data_at_the_call(backend: str, kind: str, by_number: bool) -> None:
    world = World()
    for i in range(3):
        h, out = np.full(N, 3.0 + i), np.full(N, -1.0)
        given = {"h": h, "out": out}
        bound = {name: KINDS[kind](world, values) for name, values in given.items()}
        if by_number:
            world.loop({0: bound["out"], 1: bound["h"]})
        else:
            world.loop(**bound)
        written = bound["out"]
        written = getattr(written, "dat", written)
        if isinstance(written, op2.Dat):
            out = written.data_ro
        np.testing.assert_array_equal(out, 6 + 2 * i)
    assert world.out.dat_version <= 1
    np.testing.assert_array_equal(world.out.data_ro, 0)
    world.loop()
    np.testing.assert_array_equal(world.out.data_ro, 2 * np.arange(N))


def test_globals_take_arrays_globals_and_numbers(backend: str) -> None:
    world = World()
    for by, expected in [(np.array([3.0]), 3), (op2.Global(1, 4.0), 4), (5.0, 5), (6, 6)]:
        world.loop(by=by)
        np.testing.assert_array_equal(world.out.data_ro, expected * np.arange(N))
    total = op2.Global(1, 0.0)
    loop = ParLoop(SUM, world.cells, total(op2.INC), world.h(op2.READ))
    mine = np.array([100.0])
    loop(s=mine)
    assert mine[0] == 100 + sum(range(N))
    assert float(total) == 0
    with pytest.raises(UsageError, match=r"argument 0 \('s'\).*got 3"):
        loop(s=3.0)


def test_through_maps(backend: str) -> None:
    edges, nodes = op2.Set(3, "edges"), op2.Set(4, "nodes")
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3]])
    out, h = op2.Dat(edges), op2.Dat(nodes)
    loop = ParLoop(GATHER, edges, out(op2.INC), h(op2.READ, ends))
    mine = np.zeros(3)
    loop(h=np.array([1.0, 2.0, 4.0, 8.0]), out=mine)
    loop(h=op2.Dat(nodes, 1.0), out=mine)
    np.testing.assert_array_equal(mine, [5, 8, 14])


def test_vectors_and_other_dtypes(backend: str) -> None:
    cells = op2.Set(N)
    code = "void flip(int *out, const int *h) { out[0] = h[1]; out[1] = h[0]; }"
    out, h = op2.Dat(cells**2, dtype=np.int32), op2.Dat(cells**2, dtype=np.int32)
    loop = ParLoop(op2.Kernel(code, "flip"), cells, out(op2.WRITE), h(op2.READ))
    given = np.arange(2 * N, dtype=np.int32).reshape(N, 2)
    mine = np.zeros((N, 2), np.int32)
    loop(h=given, out=mine)
    np.testing.assert_array_equal(mine, given[:, ::-1])
    loop(h=given.ravel(), out=mine)
    np.testing.assert_array_equal(mine, given[:, ::-1])


def _read_only(values: Any) -> Any:
    values.flags.writeable = False
    return values


class NeedsGradient:
    """A tensor that its library does not share."""

    def __dlpack__(self, **given: Any) -> Any:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


WRONG = {
    "gradient": (
        {"h": NeedsGradient()},
        r"argument 1 \('h'\): the array cannot be shared: .*detach",
    ),
    "text": ({"h": "text"}, "expected a Dat or Global, or an array with DLPack"),
    "shape": ({"h": np.zeros(N + 1)}, r"argument 1 \('h'\): expected shape \(5,\), got \(6,\)"),
    "dtype": ({"h": np.zeros(N, np.float32)}, "expected dtype float64, got float32"),
    "order of bytes": ({"h": np.zeros(N, ">f8")}, "expected dtype float64, got >f8"),
    "gaps": ({"h": np.zeros(2 * N)[::2]}, "contiguous"),
    "read-only": ({"out": _read_only(np.zeros(N))}, "read-only"),
    "list": ({"h": [0.0] * N}, "expected a Dat or Global, or an array with DLPack"),
    "None": ({"h": None}, "expected a Dat or Global, or an array with DLPack"),
    "number": ({"h": 1.0}, "expected"),
    "masked": ({"h": np.ma.zeros(N)}, "masked arrays"),
    "name": ({"hh": np.zeros(N)}, "parameters 'out', 'h', 'by'; got 'hh'"),
    "index": ({3: np.zeros(N)}, "arguments 0 to 2"),
    "negative index": ({-1: np.zeros(N)}, "arguments 0 to 2"),
    "twice": ({"h": np.zeros(N), 1: np.zeros(N)}, "given twice"),
    "a Global for a Dat": ({"h": op2.Global(1, 0.0)}, "can be replaced by one like it"),
    "a Dat for a Global": ({"by": op2.Dat(op2.Set(1))}, "can be replaced by one like it"),
    "another dim": ({"h": op2.Dat(op2.Set(N) ** 2)}, "can be replaced by one like it"),
    "another Set": ({"h": op2.Dat(op2.Set(N, "b"), name="b")}, "Dat 'b' on Set 'b'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_before_anything_is_done(wrong: str) -> None:
    world = World()
    given, message = WRONG[wrong]
    mine = np.full(N, -1.0)
    good = {} if "out" in given else {"out": mine}
    with pytest.raises(Op2Error, match=message):
        world.loop({**good, **given})
    np.testing.assert_array_equal(mine, -1)
    np.testing.assert_array_equal(world.out.data_ro, 0)
    world.loop()
    np.testing.assert_array_equal(world.out.data_ro, 2 * np.arange(N))


def test_arguments_share_memory_as_they_did() -> None:
    world = World()
    memory = np.arange(2.0 * N)
    shared = r"argument \d \('\w+'\) would share memory with argument \d"
    for h, out in [
        (memory[:N], memory[:N]),
        (memory[1 : N + 1], memory[:N]),
        (world.out, memory[:N]),
    ]:
        given = {"h": h} if h is world.out else {"h": h, "out": out}
        with pytest.raises(UsageError, match=shared):
            world.loop(**given)
    np.testing.assert_array_equal(memory, np.arange(2.0 * N))
    add = op2.Kernel(
        "void add(double *out, const double *a, const double *b) { *out = *a + *b; }", "add"
    )
    loop = ParLoop(add, world.cells, world.out(op2.WRITE), world.h(op2.READ), world.h(op2.READ))
    with pytest.raises(UsageError, match="arguments 1 and 2 had the same memory"):
        loop(a=memory[:N])
    with pytest.raises(UsageError, match="arguments 1 and 2 had the same memory"):
        loop(a=memory[:N], b=memory[N:])
    loop(a=memory[:N], b=memory[:N])
    np.testing.assert_array_equal(world.out.data_ro, 2 * memory[:N])


def test_arrays_that_are_only_read_may_overlap() -> None:
    cells = op2.Set(N)
    add = op2.Kernel(
        "void add(double *out, const double *a, const double *b) { *out = *a + *b; }", "add"
    )
    out, a, b = op2.Dat(cells), op2.Dat(cells), op2.Dat(cells)
    loop = ParLoop(add, cells, out(op2.WRITE), a(op2.READ), b(op2.READ))
    memory = np.arange(2.0 * N)
    loop(a=memory[:N], b=memory[1 : N + 1])
    np.testing.assert_array_equal(out.data_ro, memory[:N] + memory[1 : N + 1])


def test_nothing_is_analysed_again(monkeypatch: Any) -> None:
    world = World()
    world.loop()
    made = count_made(monkeypatch)
    prepared: list[Any] = []
    monkeypatch.setattr(ParLoop, "prepare", lambda self: prepared.append(self))
    for _ in range(3):
        world.loop(h=np.ones(N), out=np.zeros(N))
        world.loop(h=op2.Dat(world.cells))
        assert world.loop.args[1].data is world.h
    assert not made[0]
    assert not prepared


def test_what_was_given_is_let_go() -> None:
    world = World()
    h, out = op2.Dat(world.cells), np.zeros(N)
    seen = weakref.ref(h), weakref.ref(out)
    world.loop(h=h, out=out)
    del h, out
    gc.collect()
    assert [one() for one in seen] == [None, None]


@pytest.mark.parametrize("how", ["chain", "lazy"])
def test_within_a_chain_it_runs_at_once_after_what_waits(backend: str, how: str) -> None:
    world = World()
    more = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")
    op2.init(lazy=how == "lazy")
    mine = np.zeros(N)
    h = op2.Dat(world.cells, [1.0] * N)
    try:
        with op2.chain():
            op2.par_loop(more, world.cells, h(op2.RW))
            world.loop(h=h, out=mine)
            np.testing.assert_array_equal(mine, 4)
            op2.par_loop(more, world.cells, h(op2.RW))
    finally:
        op2.init(lazy=False)
    np.testing.assert_array_equal(h.data_ro, 3)


@pytest.mark.parametrize("in_chain", [False, True])
def test_graphs_keep_what_was_given(backend: str, in_chain: bool) -> None:
    world = World()
    out, h = op2.Dat(world.cells, name="mine"), np.ones(N)

    def step() -> None:
        if in_chain:
            with op2.chain():
                world.loop(h=h, out=out)
        else:
            world.loop(h=h, out=out)

    graph = op2.record(step)
    np.testing.assert_array_equal(out.data_ro, 0)
    graph.submit()
    np.testing.assert_array_equal(out.data_ro, 2)
    np.testing.assert_array_equal(world.out.data_ro, 0)
    if runtime.device is None:
        h[:] = 3
        graph.submit()
        np.testing.assert_array_equal(out.data_ro, 6)


def test_a_graph_on_a_device_writes_to_no_array_of_the_host(device: object) -> None:
    world = World()
    with pytest.raises(NotImplementedError, match=r"argument 0 \('out'\): a graph on a device"):
        op2.record(lambda: world.loop(out=np.zeros(N)))


def test_check_mode_sees_the_data_of_the_call() -> None:
    cells = op2.Set(N)
    out, h = op2.Dat(cells), op2.Dat(cells, 1.0)
    code = "void index(double *out, const double *h) { double t[2] = {1, 2}; *out = t[(int)*h]; }"
    loop = ParLoop(op2.Kernel(code, "index"), cells, out(op2.WRITE), h(op2.READ), check=True)
    mine = np.zeros(N)
    loop(h=np.zeros(N), out=mine)
    np.testing.assert_array_equal(mine, 1)
    with pytest.raises(Op2Error, match="index"):
        loop(h=np.full(N, 5.0), out=mine)


@pytest.mark.parametrize("by_name", [False, True])
def test_data_are_replaced_for_good(backend: str, by_name: bool) -> None:
    world = World()
    world.loop()
    mine = np.zeros(N)
    h = op2.Dat(world.cells, 7.0)
    world.loop.replace_data("h" if by_name else 1, h)
    world.loop.replace_data("out" if by_name else 0, op2.Dat(world.cells, mine, name="mine"))
    world.loop()
    np.testing.assert_array_equal(world.loop.args[0].data.data_ro, 14)
    assert world.loop.args[1].data is h
    np.testing.assert_array_equal(world.out.data_ro, 2 * np.arange(N))
    with pytest.raises(UsageError, match="parameters 'out', 'h', 'by'; got 'x'"):
        world.loop.replace_data("x", h)


def test_an_array_may_replace_a_dat() -> None:
    with op2.backend("sequential"):
        world, mine = World(), np.zeros(N)
        world.loop.replace_data("out", mine)
        world.loop()
        np.testing.assert_array_equal(mine, 2 * np.arange(N))


def test_mixed_dats_and_matrices_are_replaced_by_their_like() -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        same = op2.Map(cells, cells, 1, np.arange(N))
        sparsity = op2.Sparsity((cells**1, cells**1), [(same, same, None)])
        one, two = op2.Mat(sparsity, name="one"), op2.Mat(sparsity, name="two")
        put = op2.Kernel("void put(double *A) { A[0] += 1; }", "put")
        loop = ParLoop(put, cells, one(op2.INC, (same, same)))
        loop(A=two)
        assert two.values.trace() == N
        assert one.values.trace() == 0
        with pytest.raises(UsageError, match="cannot be bound in place of Mat 'one'"):
            loop(A=np.zeros(N))
        mixed = op2.MixedDat([op2.Dat(cells), op2.Dat(cells)])
        other = op2.MixedDat([op2.Dat(cells), op2.Dat(cells)])
        both = op2.Kernel("void both(double *x) { x[0] = 1; x[1] = 2; }", "both")
        maps = op2.MixedMap([same, same])
        loop = ParLoop(both, cells, mixed(op2.WRITE, maps))
        loop(x=other)
        assert [dat.data_ro.sum() for dat in other] == [N, 2 * N]
        assert [dat.data_ro.sum() for dat in mixed] == [0, 0]


def test_components_take_components() -> None:
    with op2.backend("sequential"):
        world = World()
        wide, narrow = op2.Dat(world.cells**2), op2.Dat(world.cells)
        world.loop(out=op2.DatView(wide, 1))
        np.testing.assert_array_equal(wide.data_ro[:, 1], 2 * np.arange(N))
        np.testing.assert_array_equal(wide.data_ro[:, 0], 0)
        loop = ParLoop(
            SCALE,
            world.cells,
            op2.DatView(wide, 0)(op2.WRITE),
            world.h(op2.READ),
            world.by(op2.READ),
        )
        loop(out=narrow)
        np.testing.assert_array_equal(narrow.data_ro, 2 * np.arange(N))
        with pytest.raises(UsageError, match="an array cannot be bound in place of DatView"):
            loop(out=np.zeros(N))


def test_a_const_is_no_argument() -> None:
    world = World()
    const = op2.Const(1, 2.0, name="shared_by_all")
    try:
        with pytest.raises(UsageError, match="'shared_by_all' is a Const"):
            world.loop(shared_by_all=3.0)
    finally:
        const.remove_from_namespace()


@pytest.mark.parametrize("own", ["aos", "soa"])
@pytest.mark.parametrize("given", ["aos", "soa", "array"])
def test_another_layout_is_seen_to(backend: str, own: str, given: str) -> None:
    cells = op2.Set(N)
    flip = op2.Kernel(
        "void flip(double *out, const double *h) { out[0] = h[1]; out[1] = h[0]; }", "flip"
    )
    out, h = op2.Dat(cells**2, layout=own), op2.Dat(cells**2, layout=own)
    loop = ParLoop(flip, cells, out(op2.WRITE), h(op2.READ))
    loop.compute()
    values = np.arange(2.0 * N).reshape(N, 2)
    mine = np.zeros((N, 2))
    if given == "array":
        loop(h=values, out=mine)
    else:
        into = op2.Dat(cells**2, layout=given)
        loop(h=op2.Dat(cells**2, values, layout=given), out=into)
        mine = into.data_ro
    np.testing.assert_array_equal(mine, values[:, ::-1])


def test_static_mode_runs_nothing(static: None) -> None:
    world = World()
    with pytest.raises(Op2Error, match="needs loops that run"):
        world.loop(h=op2.Dat(world.cells))


def test_a_call_with_a_part_takes_no_data() -> None:
    world = World()
    with pytest.raises(UsageError, match="a part of the loop runs with the loop's own data"):
        world.loop(world.cells.core_part, h=np.zeros(N))


def test_the_page_shows_an_operation_that_pytorch_differentiates() -> None:
    torch = pytest.importorskip("torch")
    page = (Path(__file__).parents[2] / "docs" / "residency.md").read_text()
    part = page.partition("## PyTorch, JAX, Warp")[2]
    names: dict[str, Any] = {}
    for code in re.findall(r"```pyt?h?o?n?\n(.*?)```", part, re.DOTALL):
        exec(code, names)
    assert torch.equal(names["h"].grad, 2 * names["h"].detach())


def test_tensors_on_a_gpu_are_used_there() -> None:
    cupy = pytest.importorskip("cupy")
    if not any(found.name == "cuda" and found.available for found in op2.backends()):
        pytest.skip("there is no GPU")
    with op2.backend("cuda"):
        world = World()
        for i in range(3):
            h, out = cupy.full(N, float(i)), cupy.zeros(N)
            world.loop(h=h, out=out)
            np.testing.assert_array_equal(out.get(), 2 * i)
        with pytest.raises(UsageError, match="would share memory"):
            world.loop(h=out, out=out)


def test_spans_of_tensors_on_a_gpu() -> None:
    interface = {"data": (4096, False), "shape": (3, 2), "typestr": "<f8"}
    tensor = SimpleNamespace(__cuda_array_interface__=interface)
    assert call_data._span_on_device(tensor) == (4096, 4096 + 48)
    one, other = object(), object()
    assert call_data._span_on_device(one) == call_data._span_on_device(one)
    assert call_data._span_on_device(one) != call_data._span_on_device(other)


def test_arrays_of_jax_are_read() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    with op2.backend("sequential"):
        world, out = World(), np.zeros(N)
        h = jax.device_put(jax.numpy.arange(float(N)), jax.devices("cpu")[0])
        world.loop(h=h, out=out)
        np.testing.assert_array_equal(out, 2 * np.arange(N))
        with pytest.raises(UsageError, match="read-only"):
            world.loop(out=h)


def test_after_a_device_was_used_arrays_of_the_host_count(device: object) -> None:
    cells = op2.Set(N)
    more = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")
    values, out = np.zeros(N), np.zeros(N)
    x = op2.Dat(cells, values)
    op2.par_loop(more, cells, x(op2.RW))  # newer on the device now
    with op2.backend("sequential"):
        world = World()
        world.loop(h=values, out=out)
        np.testing.assert_array_equal(out, 2)
        world.loop(h=np.full(N, 3.0), out=out)
    np.testing.assert_array_equal(out, 6)
    np.testing.assert_array_equal(x.data_ro, 1)


def test_copies_of_arrays_are_asked_for_by_the_call(device: object) -> None:
    world = World()
    world.loop()
    op2.init(strict_residency=True)
    try:
        h, out = np.ones(N), np.zeros(N)
        for i in range(3):
            h[:] = i
            world.loop(h=h, out=out)
            np.testing.assert_array_equal(out, 2 * i)
    finally:
        op2.init(strict_residency=False)


def test_threads_may_give_a_loop_different_data() -> None:
    with op2.backend("sequential"):
        world = World()
        world.loop()
        wrong: list[int] = []

        def work(number: int) -> None:
            h, out = np.full(N, float(number)), np.zeros(N)
            for _ in range(200):
                out[:] = -1
                world.loop(h=h, out=out)
                if not (out == 2 * number).all():
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
