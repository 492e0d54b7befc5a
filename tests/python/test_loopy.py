# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import DataTypeError, MissingExtraError, UsageError
from pyop2cxx.kernel.kernel import LoopyLocalKernel
from pyop2cxx.kernel.loopy import is_loopy, written

if TYPE_CHECKING:
    from collections.abc import Callable

HAS_LOOPY = extras.installed()["loopy"]
needs_loopy = pytest.mark.skipif(not HAS_LOOPY, reason="loopy is not installed")


def program(target: str = "CWithGNULibcTarget") -> Any:
    """Return y += A sin(x), of three rows."""
    import loopy

    return loopy.make_kernel(
        "{[i, j]: 0 <= i, j < 3}",
        "y[i] = y[i] + sum(j, A[i, j] * sin(x[j]))",
        [
            loopy.GlobalArg("y", np.float64, (3,)),
            loopy.GlobalArg("A", np.float64, (3, 3)),
            loopy.GlobalArg("x", np.float64, (3,)),
        ],
        name="apply",
        target=getattr(loopy, target)(),
        lang_version=(2018, 2),
    )


def test_other_things_are_no_programs() -> None:
    assert not is_loopy("void f(void) {}")
    assert not is_loopy(None)
    with pytest.raises(DataTypeError, match="code must be a str with C text, got int"):
        op2.Kernel(3, "f")
    with pytest.raises(DataTypeError, match="expected a TranslationUnit or LoopKernel"):
        LoopyLocalKernel("void f(void) {}", "f")


def test_without_loopy_its_extra_is_named() -> None:
    if HAS_LOOPY:
        pytest.skip("loopy is installed")
    with pytest.raises(MissingExtraError, match=r"needs loopy.*pyop2cxx\[loopy\]"):
        written(None, "f")


@needs_loopy
@pytest.mark.parametrize("target", ["CTarget", "CWithGNULibcTarget", "OpenCLTarget"])
def test_every_target_gives_the_same_kernel(target: str) -> None:
    kernel = op2.Kernel(program(target), "apply")
    assert isinstance(kernel, op2.LoopyLocalKernel)
    assert [p.name for p in kernel.parameters] == ["y", "A", "x"]
    assert (kernel.opaque_reason, kernel.abi) == ("", "2026")
    assert kernel.dtypes == (np.dtype("float64"),) * 3
    assert kernel == op2.Kernel(kernel.text, "apply")
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@needs_loopy
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_it_runs(backend: str) -> None:
    kernel = op2.Kernel(program(), "apply", accesses=[op2.INC, op2.READ, op2.READ])
    assert [arg.access for arg in kernel.arguments] == [op2.INC, op2.READ, op2.READ]
    world = World()
    with op2.backend(backend):
        by_par_loop(world, kernel)
    world.check()


class World:
    """What the loop of `program` is called with."""

    def __init__(self) -> None:
        self.cells, self.nodes = op2.Set(5), op2.Set(7)
        self.path = op2.Map(self.cells, self.nodes, 3, [[i, i + 1, i + 2] for i in range(5)])
        self.y, self.x = op2.Dat(self.nodes), op2.Dat(self.nodes, np.arange(7.0))
        self.matrices = op2.Dat(self.cells ** (3, 3), np.arange(45.0))
        self.args = (
            self.y(op2.INC, self.path),
            self.matrices(op2.READ),
            self.x(op2.READ, self.path),
        )

    def check(self) -> None:
        wanted = np.zeros(7)
        values = np.sin(self.x.data_ro[self.path.values])
        products = np.einsum("nij,nj->ni", self.matrices.data_ro, values)
        np.add.at(wanted, self.path.values, products)
        np.testing.assert_allclose(self.y.data_ro, wanted)


def by_par_loop(world: World, kernel: Any) -> None:
    op2.par_loop(kernel, world.cells, *world.args)


def by_parloop(world: World, kernel: Any) -> None:
    loop = op2.ParLoop(kernel, world.cells, *world.args)
    assert "apply" in str(loop.explain())
    loop.compute()


def checked(world: World, kernel: Any) -> None:
    op2.par_loop(kernel, world.cells, *world.args, check=True)


def on_lanes(world: World, kernel: Any) -> None:
    op2.par_loop(kernel, world.cells, *world.args, lanes=4)


def in_a_chain(world: World, kernel: Any) -> None:
    zero = op2.Kernel("void zero(double *y) { y[0] = 0; }", "zero")
    with op2.chain():
        op2.par_loop(zero, world.nodes, world.y(op2.WRITE))
        op2.par_loop(kernel, world.cells, *world.args)


def in_a_graph(world: World, kernel: Any) -> None:
    op2.record(lambda: op2.par_loop(kernel, world.cells, *world.args)).submit()


def by_global_kernel(world: World, kernel: Any) -> None:
    local = op2.LoopyLocalKernel(kernel.code, "apply", [op2.INC, op2.READ, op2.READ])
    ends = op2.MapKernelArg(3)
    described = (
        op2.DatKernelArg((1,), ends),
        op2.DatKernelArg((3, 3)),
        op2.DatKernelArg((1,), ends),
    )
    given = (
        op2.DatParloopArg(world.y, world.path),
        op2.DatParloopArg(world.matrices),
        op2.DatParloopArg(world.x, world.path),
    )
    op2.Parloop(op2.GlobalKernel(local, described), world.cells, given)()


@needs_loopy
@pytest.mark.parametrize(
    "call",
    [
        *(by_par_loop, by_parloop, checked, on_lanes, in_a_chain, in_a_graph),
        pytest.param(by_global_kernel, marks=pytest.mark.pyop2),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_it_runs_by_every_call(call: Callable[[World, Any], None], whole: bool) -> None:
    made = program() if whole else program()["apply"]
    world = World()
    call(world, op2.Kernel(made, "apply"))
    world.check()


@needs_loopy
def test_its_errors_are_those_of_other_kernels() -> None:
    world = World()
    kernel = op2.Kernel(program(), "apply")
    counts, narrow = op2.Dat(world.nodes, dtype="int32"), op2.Dat(world.cells)
    for first, why in (
        ((), r"has 3 parameters .* but the loop passes 2"),
        ((counts(op2.INC, world.path),), r"argument 0, Dat .* of dtype int32"),
        ((narrow(op2.INC),), r"'y'|\by\["),
    ):
        with pytest.raises(UsageError, match=why):
            op2.par_loop(kernel, world.cells, *first, *world.args[1:])


@needs_loopy
def test_a_kernel_without_its_program_around_it() -> None:
    kernel = op2.Kernel(program()["apply"], "apply")
    assert kernel == op2.Kernel(program(), "apply")


@needs_loopy
def test_what_loopy_cannot_write_is_said() -> None:
    import loopy

    with pytest.raises(UsageError, match="has none of that name, but 'apply'"):
        op2.Kernel(program(), "other")
    untyped = loopy.make_kernel(
        "{[i]: 0 <= i < 3}", "y[i] = 2 * x[i]", name="f", lang_version=(2018, 2)
    )
    with pytest.raises(UsageError, match="Kernel 'f': loopy cannot write C for it: "):
        op2.Kernel(untyped, "f")


@needs_loopy
def test_equal_programs_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import loopy

    first = written(program(), "apply")
    monkeypatch.setattr(loopy, "generate_code_v2", lambda _: pytest.fail("written again"))
    assert written(program(), "apply") is first


@needs_loopy
def test_a_value_without_dtype_is_an_int() -> None:
    import loopy

    typed = [loopy.GlobalArg("y", np.int32, (1,)), loopy.ValueArg("layer")]
    made = loopy.make_kernel(
        "{[i]: 0 <= i < 1}", "y[i] = layer", typed, name="level", lang_version=(2018, 2)
    )
    columns = op2.ExtrudedSet(op2.Set(2), 3)
    kernel = op2.Kernel(made, "level", accesses=[op2.WRITE])
    nodes = op2.Set(4)
    up = op2.Map(columns, nodes, 1, [[0], [2]], offset=[1])
    y = op2.Dat(nodes, dtype=np.int32)
    op2.par_loop(kernel, columns, y(op2.WRITE, up), pass_layer_arg=True)
    assert y.data_ro.tolist() == [0, 1, 0, 1]


@needs_loopy
def test_an_array_of_one_column_is_indexed_once_or_twice() -> None:
    import loopy

    def twice(index: str) -> Any:
        args = [loopy.GlobalArg(name, np.float64, (3, 1)) for name in ("x", "y")]
        rule = f"y[{index}] = i * x[i, 0]"
        version = {"lang_version": (2018, 2)}
        made = loopy.make_function("{[i]: 0 <= i < 3}", rule, args, name="twice", **version)
        return op2.Kernel(made, "twice")

    cells, nodes = op2.Set(1), op2.Set(3)
    c2n = op2.Map(cells, nodes, 3, [[0, 1, 2]])
    for index in ("i", "i, 0"):
        x, y = op2.Dat(nodes, [1.0, 2.0, 3.0]), op2.Dat(nodes)
        op2.par_loop(twice(index), cells, x(op2.READ, c2n), y(op2.WRITE, c2n))
        assert y.data_ro.tolist() == [0, 2, 6]


@needs_loopy
def test_a_pickled_kernel_keeps_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = op2.Kernel(program(), "apply")
    pickled = pickle.dumps(kernel)
    monkeypatch.setattr("pyop2cxx.kernel.kernel.written", None)  # loopy is not asked again
    again = pickle.loads(pickled)
    assert (type(again), again, again.text) == (type(kernel), kernel, kernel.text)
    assert (again.code, again.dtypes) == (kernel.code, kernel.dtypes)
    assert pickle.loads(pickle.dumps(again)) == kernel
