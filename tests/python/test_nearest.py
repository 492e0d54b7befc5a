# SPDX-License-Identifier: BSD-3-Clause
"""The nearest loop of the loaded tables, named by the fields that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx import op2
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.nearest import fields_of, nearest
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = "void flux(double *f, const double *h) { f[0] += h[0]; f[1] -= h[1]; }"


class World:
    """A loop, and loops that differ from it."""

    def __init__(self) -> None:
        self.cells, self.edges = op2.Set(4, "cells"), op2.Set(3, "edges")
        self.ends = op2.Map(self.edges, self.cells, 2, [[0, 1], [1, 2], [2, 3]])
        self.f, self.h = op2.Dat(self.cells, name="f"), op2.Dat(self.cells, name="h")

    def loop(self, *, text: str = TEXT, **changes: Any) -> op2.ParLoop:
        h, access = changes.get("h", self.h), changes.get("access", op2.INC)
        arguments = (self.f(access, self.ends), h(op2.READ, self.ends))
        return op2.ParLoop(op2.Kernel(text, "flux"), changes.get("on", self.edges), *arguments)

    def fields(self, loop: op2.ParLoop, backend: str = "sequential", **tuning: Any) -> Any:
        request = loop.request(loop.symbolic(), {"backend": backend, **tuning})
        return request, flow.choose(request)


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    request, choice = made.fields(made.loop())
    runtime.engine.ahead_fields.append(fields_of(request, choice))
    yield made
    runtime.engine.ahead_fields.clear()


def said(world: World, loop: op2.ParLoop, **options: Any) -> str:
    return nearest(*world.fields(loop, **options)).removeprefix(
        "; the nearest loop in them differs: "
    )


def test_an_equal_loop_has_equal_fields(world: World) -> None:
    request, choice = world.fields(world.loop())
    assert runtime.engine.ahead_fields == [fields_of(request, choice)]


def test_each_field_is_named(world: World) -> None:
    wide = op2.Dat(world.cells**2, name="wide")
    assert said(world, world.loop(h=wide)) == "argument 1 'h': dim is 2 here and 1 in the table"
    narrow = op2.Dat(world.cells, dtype="float32", compute="float64", name="narrow")
    assert said(world, world.loop(h=narrow)) == (
        "argument 1 'h': dtype in memory is float32 here and float64 in the table"
    )
    assert said(world, world.loop(access=op2.RW)).startswith(
        "argument 0 'f': access is RW here and INC in the table"
    )
    assert said(world, world.loop(text=TEXT.replace("-=", "+="))) == (
        "text of kernel 'flux' is another"
    )
    some = op2.Subset(world.edges, [0, 2])
    assert said(world, world.loop(on=some)) == (
        "iteration: Subset is true here and false in the table"
    )
    assert "backend is openmp here and sequential in the table" in said(
        world, world.loop(), backend="openmp"
    )


def test_the_fewest_differences_count(world: World) -> None:
    request, choice = world.fields(world.loop(h=op2.Dat(world.cells**2)))
    runtime.engine.ahead_fields.append(fields_of(request, choice))
    three = op2.Dat(world.cells**2, dtype="float32", compute="float64")
    assert said(world, world.loop(h=three)).startswith("argument 1 'h': dtype in memory is float32")


def test_a_loop_of_another_kernel_is_not_near(world: World) -> None:
    kernel = op2.Kernel("void other(double *f) { f[0] = 0; }", "other")
    assert nearest(*world.fields(op2.ParLoop(kernel, world.cells, world.f(op2.WRITE)))) == ""


def test_many_fields_are_counted(world: World) -> None:
    cells = op2.ExtrudedSet(world.edges, 3)
    ends = op2.Map(cells, world.cells, 3, [[0, 1, 2], [1, 2, 3], [2, 3, 0]], offset=[0, 0, 0])
    x = op2.Dat(world.cells**2, dtype="int32")
    kernel = op2.Kernel("void flux(int *f, const int *h) { f[0] += h[0]; }", "flux")
    loop = op2.ParLoop(
        kernel, cells, x(op2.INC, ends), op2.Dat(world.cells**2, dtype="int32")(op2.READ, ends)
    )
    assert said(world, loop).endswith("more fields differ")


def test_looking_a_loop_up_says_it_too(world: World) -> None:
    with op2.backend("sequential"):
        match = op2.dispatch.lookup(world.loop(h=op2.Dat(world.cells**2)))
    assert match.tier == "none"
    assert match.rejected.endswith("argument 1 'h': dim is 2 here and 1 in the table")
