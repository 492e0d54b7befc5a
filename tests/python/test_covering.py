# SPDX-License-Identifier: BSD-3-Clause
"""Requests for code that runs a loop without being made for it."""

from __future__ import annotations

import pytest

from pyop2cxx import op2
from pyop2cxx.pipeline.covering import general, weaker

ADD = "void add(double *x, const double *y) { x[0] += y[0]; }"
BLOCK = "void block(double *a) { a[0] += 1; a[1] += 1; a[2] += 1; a[3] += 1; }"


def into_cells(values: list[int]) -> op2.ParLoop:
    cells, sides = op2.Set(4, "cells"), op2.Set(len(values), "sides")
    side = op2.Map(sides, cells, 1, values, "side")
    x, y = op2.Dat(cells, name="x"), op2.Dat(sides, name="y")
    return op2.ParLoop(op2.Kernel(ADD, "add"), sides, x(op2.INC, side), y(op2.READ))


def into_a_matrix() -> op2.ParLoop:
    nodes, bars = op2.Set(3, "nodes"), op2.Set(2, "bars")
    ends = op2.Map(bars, nodes, 2, [[0, 1], [1, 2]], "ends")
    stiff = op2.Mat(op2.Sparsity((nodes, nodes), [(ends, ends, None)]), name="stiff")
    return op2.ParLoop(op2.Kernel(BLOCK, "block"), bars, stiff(op2.INC, (ends, ends)))


@pytest.mark.parametrize("values", [[3, 1], [3, 3]])
def test_general_code_lets_maps_lead_somewhere_twice(values: list[int]) -> None:
    request = into_cells(values).current_request()
    assert [one.injective for one in request.map_facts] == [len({*values}) == len(values)]
    assert [one.injective for one in general(request).map_facts] == [False]
    assert general(request).options.widths.position_bytes == request.options.widths.position_bytes


def test_general_code_has_room_for_rows_of_any_length() -> None:
    request = into_a_matrix().current_request()
    assert request.options.widths.position_bytes == 1
    assert general(request).options.widths.position_bytes == 4
    assert {one.options.widths.position_bytes for one in weaker(request)} == {1, 2, 4}


def test_weaker_requests_know_less_and_end_with_the_least() -> None:
    request = into_cells([3, 1]).current_request()
    known = [(one.map_facts[0].injective, one.map_facts[0].has_negative) for one in weaker(request)]
    assert known[0] == (True, False)  # with columns of one slot given up
    assert known[-1] == (False, True)
    assert len(set(known)) == 4


@pytest.mark.usefixtures("host")
def test_code_with_atomics_serves_loops_that_could_gather() -> None:
    edges, nodes = op2.Set(8), op2.Set(4)
    to_nodes = op2.Map(edges, nodes, 1, [3, 3, 2, 2, 1, 1, 0, 0])
    x, y = op2.Dat(nodes**4), op2.Dat(edges**4)
    text = "void add(double *x, const double *y) { for (int i = 0; i < 4; ++i) x[i] += y[i]; }"
    with op2.backend("cuda"):
        loop = op2.ParLoop(
            op2.Kernel(text, "add"),
            edges,
            x(op2.INC, to_nodes),
            y(op2.READ),
            tuning={"least_gathered_targets": 4},
        )
        request = loop.current_request()
        assert request.options.widths.gathered
        assert loop.explain().strategy == "owner"
        assert {one.options.widths.gathered for one in weaker(request)} == {True, False}
        assert not general(request).options.widths.gathered


def test_what_is_known_is_never_made_up() -> None:
    request = into_cells([3, 3]).current_request()
    assert not any(one.map_facts[0].injective for one in weaker(request))
    fills = [one.column_fill(8, request.options.tuning, 0.5) for one in weaker(request)]
    assert fills[0] == 0.0
