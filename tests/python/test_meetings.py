# SPDX-License-Identifier: BSD-3-Clause
"""Elements that meet: found from the Maps, once, and only where they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.check.entry_meetings import check_entries
from pyop2cxx.check.meetings import check_races
from pyop2cxx.exceptions import CheckError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

COPY = "void k(double *a, const double *b) { a[0] = b[0]; }"
SET = "void k(double *a) { a[0] = 1; }"


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    op2.init(backend="sequential")
    yield
    op2.exit()


def check(code: str, iterset: op2.Set, *args: Any, equal_writes: bool = False, **how: Any) -> None:
    loop = op2.ParLoop(op2.Kernel(code, "k"), iterset, *args, **how)
    check_races(loop, equal_writes=equal_writes)


def test_two_elements_and_the_entity() -> None:
    edges, nodes = op2.Set(4, "edges"), op2.Set(5, "nodes")
    a = op2.Dat(nodes, name="a")
    apart = op2.Map(edges, nodes, 1, [4, 2, 0, 1], "apart")
    check(SET, edges, a(op2.WRITE, apart))
    together = op2.Map(edges, nodes, 1, [4, 2, 0, 2], "together")
    with pytest.raises(CheckError, match="elements 1 and 3 both WRITE entity 2 of Set 'nodes'"):
        check(SET, edges, a(op2.WRITE, together))
    check(SET, edges, a(op2.WRITE, together), equal_writes=True)
    check("void k(double *a) { a[0] += 1; }", edges, a(op2.INC, together))
    check(SET, op2.Subset(edges, [0, 1, 2]), a(op2.WRITE, together))


def test_an_entity_twice_in_one_row() -> None:
    cells, nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
    a = op2.Dat(nodes, name="a")
    path = op2.Map(cells, nodes, 2, [[0, 1], [2, 2], [3, 1]], "path")
    both = "void k(double *a) { a[0] = 1; a[1] = 2; }"
    part = op2.Subset(cells, [1])
    with pytest.raises(CheckError, match=r"element 1 has entity 2 of Set 'nodes' twice") as caught:
        check(both, part, a(op2.WRITE, path))
    assert caught.value.element == 1
    with pytest.raises(CheckError, match=r"row of Map 'path' to RW, .* INC, MIN or MAX"):
        check("void k(double *a) { a[0] += 1; a[1] *= 2; }", part, a(op2.RW, path))
    check(both, part, a(op2.WRITE, path), equal_writes=True)
    check("void k(double *a) { a[0] += 1; a[1] += 2; }", part, a(op2.INC, path))
    check(both, op2.Subset(cells, [0]), a(op2.WRITE, path))


def test_elements_of_subsets_are_those_of_their_sets() -> None:
    nodes = op2.Set(5, "nodes")
    a = op2.Dat(nodes, name="a")
    part = op2.Subset(nodes, [1, 3, 4])
    together = op2.Map(nodes, nodes, 1, [0, 2, 0, 1, 2], "together")
    with pytest.raises(CheckError, match="elements 1 and 4 both RW entity 2") as caught:
        check(SET, part, a(op2.RW, together))
    assert caught.value.element == 4
    following = op2.Map(nodes, nodes, 1, [1, 2, 3, 4, 0], "following")
    with pytest.raises(CheckError, match=r"WRITE by element 4 and, as argument 1, .* element 3"):
        check(COPY, part, a(op2.WRITE), a(op2.READ, following))
    sparsity = op2.Sparsity((nodes, nodes), [(together, together)])
    entries = op2.Mat(sparsity)(op2.WRITE, (together, together))
    with pytest.raises(CheckError, match="elements 1 and 4 both WRITE"):
        check_entries(op2.ParLoop(op2.Kernel(SET, "k"), part, entries))


def test_each_of_two_dats_is_named_with_its_argument() -> None:
    nodes, memory = op2.Set(4, "nodes"), np.zeros(4)
    a, b = op2.Dat(nodes, memory, name="a"), op2.Dat(nodes, memory, name="b")
    shifted = op2.Map(nodes, nodes, 1, [1, 2, 3, 0], "shifted")
    code = "void k(const double *b, double *a) { a[0] = b[0]; }"
    with pytest.raises(CheckError, match=r"arg 1: Dat 'a', which .* argument 0, Dat 'b', is used"):
        check(code, nodes, b(op2.READ, shifted), a(op2.WRITE))


def test_a_map_that_changes_is_looked_at_again() -> None:
    edges, nodes = op2.Set(2), op2.Set(3)
    path = op2.Map(edges, nodes, 1, [0, 1])
    a = op2.Dat(nodes)
    loop = op2.ParLoop(op2.Kernel(SET, "k"), edges, a(op2.RW, path))
    check_races(loop, equal_writes=False)
    path.update_values([1, 1])
    with pytest.raises(CheckError, match="elements 0 and 1 both RW"):
        check_races(loop, equal_writes=False)


def test_one_dat_in_two_ways() -> None:
    nodes = op2.Set(4, "nodes")
    a = op2.Dat(nodes, name="a")
    shifted = op2.Map(nodes, nodes, 1, [1, 2, 3, 0], "shifted")
    own = op2.Map(nodes, nodes, 1, [0, 1, 2, 3], "own")
    with pytest.raises(CheckError, match=r"Dat 'a' is used with WRITE .* with READ"):
        check(COPY, nodes, a(op2.WRITE), a(op2.READ, shifted))
    with pytest.raises(CheckError, match=r"Dat 'a' is used with WRITE .* with READ"):
        check(COPY, nodes, a(op2.WRITE, shifted), a(op2.READ))
    check(COPY, nodes, a(op2.WRITE), a(op2.READ, own))
    check(COPY, nodes, a(op2.WRITE), a(op2.READ))


def test_components_of_one_dat_are_apart() -> None:
    nodes = op2.Set(4)
    both = op2.Dat(nodes**2)
    shifted = op2.Map(nodes, nodes, 1, [1, 2, 3, 0])
    check(COPY, nodes, op2.DatView(both, 0)(op2.WRITE), op2.DatView(both, 1)(op2.READ, shifted))
    with pytest.raises(CheckError):
        check(COPY, nodes, op2.DatView(both, 0)(op2.WRITE), op2.DatView(both, 0)(op2.READ, shifted))


def test_memory_that_two_dats_share_in_part() -> None:
    memory = np.zeros(6)
    ones, others = op2.Set(4, "ones"), op2.Set(4, "others")
    a, b = op2.Dat(ones, memory[:4], name="a"), op2.Dat(others, memory[2:], name="b")
    far = op2.Map(ones, others, 1, [2, 3, 2, 3])
    check(COPY, ones, a(op2.WRITE), b(op2.READ, far))
    near = op2.Map(ones, others, 1, [0, 3, 2, 3])
    with pytest.raises(CheckError, match="'a', which shares memory with argument 1, Dat 'b'"):
        check(COPY, ones, a(op2.WRITE), b(op2.READ, near))


def test_cells_of_a_column_come_in_order_to_its_base() -> None:
    columns = op2.Set(3, "columns")
    cells = op2.ExtrudedSet(columns, 4)
    base = op2.Dat(columns, name="base")
    check(SET, cells, base(op2.RW))  # from the bottom up
    nodes = op2.Set(12)
    up = op2.Map(cells, nodes, 1, [[0], [4], [8]], offset=[1])
    check(SET, cells, op2.Dat(nodes)(op2.RW, up))
    still = op2.Map(cells, nodes, 1, [[0], [4], [8]], offset=[0])
    with pytest.raises(CheckError, match="elements 0 and 2 both RW"):
        check(SET, cells, op2.Dat(nodes)(op2.RW, still))


def test_a_global_that_is_summed_and_read() -> None:
    cells = op2.Set(3)
    total = op2.Global(1, 0.0, name="total")
    code = "void k(double *s, const double *t) { s[0] += t[0]; }"
    with pytest.raises(UsageError, match="Global 'total', with INC and READ"):
        check(code, cells, total(op2.INC), total(op2.READ))


def test_a_field_is_named_by_its_argument() -> None:
    edges, nodes = op2.Set(2), op2.Set(3)
    apart, together = op2.Map(edges, nodes, 1, [0, 1]), op2.Map(edges, nodes, 1, [2, 2])
    both = op2.MixedDat((op2.Dat(nodes), op2.Dat(nodes)))
    path = op2.MixedMap((apart, together))
    with pytest.raises(CheckError, match=r"arg 0: elements 0 and 1 both WRITE") as caught:
        check("void k(double *a) { a[0] = 1; a[1] = 2; }", edges, both(op2.WRITE, path))
    assert caught.value.argument == 0
