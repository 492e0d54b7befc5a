# SPDX-License-Identifier: BSD-3-Clause
"""One loop, however it is spelled, has one signature; another loop has another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small_world import EDGES, FLUX, statistics

from pyop2cxx import op2
from pyop2cxx.loop import symbolic
from pyop2cxx.loop.parts import parts_of
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import items_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Q = np.arange(8.0).reshape(4, 2)


@pytest.fixture(autouse=True)
def clean(tmp_path: Path) -> Iterator[None]:
    op2.init(cache_dir=tmp_path)
    yield
    op2.exit()


def read_only(values: np.ndarray) -> np.ndarray:
    values = values.view()
    values.flags.writeable = False
    return values


def spelled(
    *,
    code: str = FLUX,
    nodes: Any = 4,
    edges: Any = 3,
    node_name: str | None = "nodes",
    edge_name: str | None = "edges",
    map_name: str | None = "e2n",
    names: tuple[str | None, str | None, str | None] = ("q", "r", "total"),
    values: Any = EDGES,
    q: Any = Q,
    r: Any = None,
    total: Any = 0.0,
    dim: Any = 2,
    accesses: tuple[Any, Any, Any] = (op2.READ, op2.INC, op2.INC),
    dtype: Any = None,
) -> op2.ParLoop:
    """The loop of `small_world`; each parameter is one way to spell it differently."""
    node_set, edge_set = op2.Set(nodes, node_name), op2.Set(edges, edge_name)
    e2n = op2.Map(edge_set, node_set, 2, values, map_name)
    return op2.ParLoop(
        op2.Kernel(code, "flux"),
        edge_set,
        op2.Dat(node_set**dim, q, dtype, names[0])(accesses[0], e2n),
        op2.Dat(node_set**dim, r, dtype, names[1])(accesses[1], e2n),
        op2.Global(1, total, name=names[2])(accesses[2]),
    )


SPELLINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "Set renamed": {"node_name": "vertices"},
    "Sets without names": {"node_name": None, "edge_name": None},
    "Map renamed": {"map_name": "pedge"},
    "Dats renamed": {"names": ("state", "residual", "rms")},
    "Dats without names": {"names": (None, None, None)},
    "block comment": {"code": FLUX.replace("{\n", "{ /* per edge; b */\n", 1)},
    "line comments": {"code": "// flux of an edge\n" + FLUX.replace(";\n", "; // c\n")},
    "blanks": {"code": FLUX.replace(" ", "   ").replace("*", " * ")},
    "one line": {"code": FLUX.replace("\n", " ")},
    "tabs": {"code": FLUX.replace("  ", "\t")},
    "int32 Map": {"values": np.array(EDGES, dtype=np.int32)},
    "int64 Map": {"values": np.array(EDGES, dtype=np.int64)},
    "uint8 Map": {"values": np.array(EDGES, dtype=np.uint8)},
    "F-ordered Map": {"values": np.asfortranarray(EDGES)},
    "flat Map": {"values": np.array(EDGES).ravel()},
    "read-only Map": {"values": read_only(np.array(EDGES, dtype=np.int32))},
    "F-ordered data": {"q": np.asfortranarray(Q)},
    "read-only data": {"q": read_only(Q)},
    "strided data": {"q": np.repeat(Q, 2, axis=0)[::2]},
    "data as lists": {"q": Q.tolist(), "r": np.zeros(8)},
    "accesses by name and number": {"accesses": ("READ", 4, "INC")},
    "other sizes": {
        "nodes": (5, 7, 9),
        "edges": [6, 6, 6],
        "values": [[i, i + 1] for i in range(6)],
        "q": None,
    },
    "dim and dtype spelled out": {"dim": (2,), "dtype": "double", "total": np.float64(0)},
}


def signature(loop: op2.ParLoop) -> str:
    return loop.symbolic().loop.signature()


def test_24_spellings_are_one_signature_one_text_and_one_compilation() -> None:
    loops = {name: spelled(**options) for name, options in SPELLINGS.items()}
    assert len(loops) == 24
    wanted = signature(loops["as it is"])
    assert [name for name, loop in loops.items() if signature(loop) != wanted] == []
    for backend in ("sequential", "openmp"):
        with op2.backend(backend):
            before = (runtime.engine.n_generated, statistics()[0])
            texts = set()
            for loop in loops.values():
                loop.compute()
                texts.add(loop.generate())
            assert len(texts) == 1
            n_generated, n_compiles = runtime.engine.n_generated, statistics()[0]
            assert n_generated - before[0] <= 1  # another test may have asked for this text
            assert n_compiles - before[1] <= 1


def different() -> dict[str, op2.ParLoop]:
    """Loops that differ in one thing each."""
    nodes, edges, cells = op2.Set(4, "nodes"), op2.Set(3, "edges"), op2.Set(4, "cells")
    e2n = op2.Map(edges, nodes, 2, EDGES)
    other = op2.Map(edges, nodes, 2, EDGES)
    e2c = op2.Map(edges, cells, 2, EDGES)
    wide = op2.Map(edges, nodes, 3, [[0, 1, 2]] * 3)
    kernel = op2.Kernel("void flux(double *q, double *r) { r[0] += q[0]; r[1] += q[1]; }", "flux")
    single = op2.Kernel("void flux(float *q, float *r) { r[0] += q[0]; r[1] += q[1]; }", "flux")
    q, r = op2.Dat(nodes**2), op2.Dat(nodes**2)
    q3, q32, r32 = op2.Dat(nodes**3), op2.Dat(nodes**2, dtype="f4"), op2.Dat(nodes**2, dtype="f4")
    elsewhere = op2.Dat(cells**2)

    def loop(*args: Any, kernel: op2.Kernel = kernel) -> op2.ParLoop:
        return op2.ParLoop(kernel, edges, *args)

    return {
        "itself": loop(q(op2.READ, e2n), r(op2.INC, e2n)),
        "alias": loop(r(op2.RW, e2n), r(op2.INC, e2n)),
        "access": loop(q(op2.RW, e2n), r(op2.INC, e2n)),
        "dim": loop(q3(op2.READ, e2n), r(op2.INC, e2n)),
        "dtype": loop(q32(op2.READ, e2n), r32(op2.INC, e2n), kernel=single),
        "arity": loop(q(op2.READ, wide), r(op2.INC, e2n)),
        "two Maps": loop(q(op2.READ, other), r(op2.INC, e2n)),
        "two Sets": loop(elsewhere(op2.READ, e2c), r(op2.INC, e2n)),
    }


def test_different_loops_have_different_signatures() -> None:
    loops = different()
    assert len({signature(loop) for loop in loops.values()}) == len(loops) == 8


@pytest.mark.usefixtures("host")
def test_wide_indices_are_another_text_but_the_same_signature() -> None:
    texts = []
    edges = op2.Set(3)
    kernel = op2.Kernel("void get(const double *x, double *y) { y[0] = x[0]; }", "get")
    for n_nodes in (2**31 - 1, 2**31 + 1):
        nodes = op2.Set(n_nodes)
        loop = op2.ParLoop(
            kernel,
            edges,
            op2.Dat(nodes)(op2.READ, op2.Map(edges, nodes, 1, [0, 1, 2])),
            op2.Dat(edges)(op2.WRITE),
        )
        texts.append((signature(loop), loop.generate()))
    (first, narrow), (second, wide) = texts
    assert first == second
    assert narrow.key != wide.key
    assert "const int *__restrict__ x_map" in narrow
    assert "const long *__restrict__ x_map" in wide


def numbers(*carriers: Any) -> tuple[list[int], list[int]]:
    items = items_of(carriers[0].dataset.set, None, False, "f")
    return symbolic.aliases(parts_of([carrier(op2.READ) for carrier in carriers], items))


def test_aliases_are_found_by_memory() -> None:
    cells, pair = op2.Set(4), op2.Set(2)
    memory = np.zeros(4)
    a, b = op2.Dat(cells, memory), op2.Dat(cells, memory)
    head, tail = op2.Dat(pair, memory[:2]), op2.Dat(pair, memory[2:])
    integers = op2.Dat(cells, memory.view(np.int64))
    other, unallocated = op2.Dat(cells, np.zeros(4)), op2.Dat(cells)
    assert numbers(a, other, a) == ([0, 1, 0], [0, 1, 0])
    assert numbers(a, b) == ([0, 0], [0, 0])  # two Dats over one array
    assert numbers(head, tail) == ([0, 1], [0, 1])  # neighbours do not overlap
    assert numbers(a, integers) == ([0, 1], [0, 0])
    assert numbers(unallocated, a, unallocated) == ([0, 1, 0], [0, 1, 0])
    data, memories = numbers(head, other, a, tail)  # a overlaps both halves, and so joins them
    assert data == [0, 1, 2, 3]
    assert memories[0] == memories[2] == memories[3] != memories[1]


def test_static_mode_has_the_signature_of_the_running_one() -> None:
    running = signature(spelled())
    op2.init(static=True)
    kernel, edges, nodes = op2.Kernel(FLUX, "flux"), op2.Set(), op2.Set()
    e2n = op2.Map(edges, nodes, 2)
    q, r, total = op2.Dat(nodes**2), op2.Dat(nodes**2), op2.Global(1)
    loop = op2.ParLoop(kernel, edges, q(op2.READ, e2n), r(op2.INC, e2n), total(op2.INC))
    assert signature(loop) == running


def test_consts_are_found_by_name_and_sorted() -> None:
    kernel = op2.Kernel(
        "void k(double *x) { double b = 1; { double c_const = b; x[0] += c_const; }"
        " x[0] += zeta * a_const[1] * eps; }",
        "k",
    )
    op2.Const(1, 1.0, "zeta")
    op2.Const(2, [1.0, 2.0], "a_const")
    op2.Const(1, 1.0, "c_const")  # the kernel's own variable hides it
    op2.Const(1, 1.0, "unused")
    assert symbolic.free_names(kernel) == ["a_const", "eps", "zeta"]
    cells = op2.Set(2)
    items = items_of(cells, None, False, "loop")
    built = symbolic.build(kernel, parts_of([op2.Dat(cells)(op2.RW)], items), items)
    assert [constant.name for constant in built.constants] == ["a_const", "zeta"]
