# SPDX-License-Identifier: BSD-3-Clause
"""Factors and preconditioners stay for as long as the matrix has the same values."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.algebra import krylov, libraries, own_krylov
from pyop2cxx.algebra.preconditioners import Kept
from pyop2cxx.base import extras

if TYPE_CHECKING:
    from collections.abc import Callable

methods = pytest.importorskip("scipy.sparse.linalg")

N = 30
TEXT = "void k(double *A) { A[0] %s 2; A[1] %s -1; A[2] %s -1; A[3] %s 2; }"


class World:
    """A path of points, with a regular matrix."""

    def __init__(self, dim: int = 1) -> None:
        self.edges, self.nodes = op2.Set(N - 1, "edges"), op2.Set(N, "nodes")
        ends = np.stack([np.arange(N - 1), np.arange(1, N)], axis=1)
        self.e2n = op2.Map(self.edges, self.nodes, 2, ends)
        dset = self.nodes**dim
        self.mat = op2.Mat(op2.Sparsity((dset, dset), [(self.e2n, self.e2n, None)]), name="A")
        self.x, self.b = op2.Dat(dset), op2.Dat(dset)
        self.b.data[...] = np.sin(np.arange(float(self.b.data.size))).reshape(self.b.data.shape)
        for end in ends:
            self.mat.addto_values(end, end, np.kron([[2.0, -1], [-1, 2]], np.eye(dim)))
        self.held = self.mat.array

    def loop(self, access: Any, sign: str) -> None:
        kernel = op2.Kernel(TEXT % ((sign,) * 4), "k")
        op2.par_loop(kernel, self.edges, self.mat(access, (self.e2n, self.e2n)))
        self.mat.assemble()

    def is_solved(self) -> bool:
        left = self.mat.values @ self.x.data_ro.reshape(-1)
        return bool(np.allclose(left, self.b.data_ro.reshape(-1), atol=1e-8))


def other(world: World) -> op2.Mat:
    made = op2.Mat(world.mat.sparsity)
    made.set_local_diagonal_entries(range(N), 0.5)
    return made


CHANGES: dict[str, Callable[[World], Any]] = {
    "INC": lambda w: w.loop(op2.INC, "+="),
    "WRITE": lambda w: w.loop(op2.WRITE, "="),
    "zero and INC": lambda w: (w.mat.zero(), w.loop(op2.INC, "+="), w.loop(op2.INC, "+=")),
    "set_values": lambda w: w.mat.set_values([2], [2], [[9.0]]),
    "addto_values": lambda w: w.mat.addto_values([2], [2], [[9.0]]),
    "zero_rows": lambda w: w.mat.zero_rows([0, N - 1], 1.0),
    "diagonal set": lambda w: w.mat.set_local_diagonal_entries([3], 7.0),
    "diagonal added": lambda w: w.mat.inc_local_diagonal_entries([3], 7.0),
    "axpy": lambda w: w.mat.axpy(0.5, other(w)),
    "scaled": lambda w: w.mat.__imul__(3.0),
    "array": lambda w: w.mat.array.__imul__(3.0),
    "an array held before": lambda w: w.held.__setitem__(0, 11.0),
    "SciPy's matrix": lambda w: w.mat.to_scipy().data.__imul__(3.0),
}
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # older ones take what is writeable as read-only
    CHANGES["DLPack"] = lambda w: np.from_dlpack(w.mat).__imul__(3.0)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what was factorised."""
    found: list[str] = []

    def counted(name: str, make: Any) -> Any:
        def call(*args: Any, **how: Any) -> Any:
            found.append(name)
            return make(*args, **how)

        return call

    for name in ("splu", "spilu"):
        monkeypatch.setattr(methods, name, counted(name, getattr(methods, name)))
    core = own_krylov._core
    monkeypatch.setattr(core, "IncompleteLu", counted("ilu", core.IncompleteLu))
    return found


KINDS: dict[str, dict[str, Any]] = {
    "splu": {"ksp_type": "preonly", "pc_type": "lu"},
    "spilu": {"ksp_type": "bicgstab", "pc_type": "ilu", "package": "scipy"},
    "ilu": {"ksp_type": "gmres", "pc_type": "ilu"},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_change_of_the_matrix_is_seen(kind: str, change: str, made: list[str]) -> None:
    world = World()
    solver = op2.Solver(ksp_rtol=1e-12, **KINDS[kind])
    for _ in range(3):
        solver.solve(world.mat, world.x, world.b)
        world.b.data[:] += 1
    assert made == [kind]
    CHANGES[change](world)
    world.mat.assemble()
    for _ in range(2):
        world.b.data[:] += 1
        solver.solve(world.mat, world.x, world.b)
        assert world.is_solved()
    assert made == [kind] * 2


def test_options_that_matter_and_those_that_do_not(made: list[str]) -> None:
    world = World()
    solver = op2.Solver(ksp_type="cg", pc_type="lu")
    solver.solve(world.mat, world.x, world.b)
    for changed in ({"ksp_rtol": 1e-3}, {"ksp_type": "preonly"}, {"ksp_type": "gmres"}):
        solver.update_parameters(changed)
        solver.solve(world.mat, world.x, world.b)
    assert made == ["splu"]
    solver.update_parameters({"pc_type": "ilu", "package": "scipy"})
    world.x.zero()
    solver.solve(world.mat, world.x, world.b)
    solver.update_parameters({"package": "own"})
    world.x.zero()
    solver.solve(world.mat, world.x, world.b)
    assert made == ["splu", "spilu", "ilu"]


def test_another_matrix_is_another_one(made: list[str]) -> None:
    world, second = World(), World()
    solver = op2.Solver(ksp_type="preonly", pc_type="lu")
    solver.solve(world.mat, world.x, world.b)
    solver.solve(second.mat, second.x, second.b)  # with the same values: the same factors
    assert made == ["splu"]
    second.mat.array[:] *= 2
    solver.solve(second.mat, second.x, second.b)
    assert second.is_solved()
    wide = World(2)
    solver.solve(wide.mat, wide.x, wide.b)
    assert wide.is_solved()
    assert made == ["splu"] * 3


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_loops_of_each_backend_change_it(backend: str, made: list[str]) -> None:
    if not next(one for one in op2.backends() if one.name == backend).available:
        pytest.skip(f"{backend} does not work here")
    with op2.backend(backend):
        world = World()
        del world.held
        solver = op2.Solver(ksp_type="preonly", pc_type="lu")
        for n in range(1, 3):
            world.loop(op2.INC, "+=")
            solver.solve(world.mat, world.x, world.b)
            assert world.is_solved()
            assert made == ["splu"] * n


@pytest.mark.skipif(not extras.installed()["pyamg"], reason="PyAMG is not installed")
def test_a_multigrid_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    amg, calls = extras.load("pyamg", "a test"), []
    make = amg.smoothed_aggregation_solver
    monkeypatch.setattr(amg, "smoothed_aggregation_solver", lambda A: (calls.append(A), make(A))[1])
    world = World()
    solver = op2.Solver(pc_type="amg", ksp_rtol=1e-12)
    for n in (1, 1, 2):
        if n == 2:
            world.held[:] *= 3
        solver.solve(world.mat, world.x, world.b)
        assert world.is_solved()
        assert len(calls) == n


def test_a_failure_keeps_nothing() -> None:
    kept, values = Kept(), np.ones(3)
    assert kept.get("a", (values,), lambda: "first") == "first"
    with pytest.raises(ValueError, match="no"):
        kept.get("b", (values,), lambda: (_ for _ in ()).throw(ValueError("no")))
    assert kept.get("a", (values,), lambda: "second") == "second"
    assert kept.get("a", (np.ones(4),), lambda: "third") == "third"
    assert kept.get("a", (np.ones(4, np.float32),), lambda: "fourth") == "fourth"


def test_a_solver_is_copied_and_pickled_without_its_factors(made: list[str]) -> None:
    world = World()
    solver = op2.Solver(ksp_type="preonly", pc_type="lu")
    solver.solve(world.mat, world.x, world.b)
    for n, other_one in enumerate((copy.deepcopy(solver), pickle.loads(pickle.dumps(solver)))):
        assert other_one.parameters == solver.parameters
        assert other_one.history == solver.history
        other_one.solve(world.mat, world.x, world.b)
        assert made == ["splu"] * (n + 2)


def test_threads_share_a_solver() -> None:
    worlds = [World() for _ in range(4)]
    for n, world in enumerate(worlds):
        world.mat.array[:] *= n + 1
    solver = op2.Solver(ksp_type="preonly", pc_type="lu")
    # loops of several threads take turns; here their matrices do
    operators = [world.mat.to_scipy() for world in worlds]
    library, right = libraries.scipy("a test"), np.ones(N)

    def run(n: int) -> bool:
        return all(
            np.allclose(
                operators[n]
                @ krylov.solve(
                    library, operators[n], right, right.copy(), solver.parameters, solver._kept
                )[0],
                right,
            )
            for _ in range(50)
        )

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(run, range(4)))


def test_a_time_loop_of_forms_factorises_once(made: list[str]) -> None:
    for package in ("basix", "ffcx", "ufl"):
        pytest.importorskip(package)
    import ufl

    from pyop2cxx import fem
    from pyop2cxx.mesh import square_mesh

    mesh = square_mesh(4)
    V = fem.FunctionSpace(mesh, ("P", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    old, k = fem.Function(V), fem.Constant(mesh, 1.0)
    a = (u * v + k * ufl.inner(ufl.grad(u), ufl.grad(v))) * ufl.dx
    L = (old + 1) * v * ufl.dx
    for _ in range(3):
        fem.solve(a == L, old)
    assert made == ["splu"]
    np.testing.assert_allclose(old.values, 3)
    k.value = 2.0
    fem.solve(a == L, old)
    np.testing.assert_allclose(old.values, 4)
    assert made == ["splu"] * 2
