# SPDX-License-Identifier: BSD-3-Clause
"""DOLFINx as a peer, in one process on our meshes: matrices, actions, conjugate gradients.

Dofs are numbered differently, and are found by their places. FFCx compiles the forms with the flags
that our loops get. Sparse matrices are DOLFINx's own, so PETSc is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import basix.ufl
import numpy as np
import ufl
from mpi4py import MPI  # before DOLFINx, which finds the library by this

import dolfinx.la  # isort: skip
from dolfinx import fem, mesh

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, Any]

OPTIONS = {"cffi_extra_compile_args": ["-O3", "-march=native", "-fno-math-errno"]}
STEPS = 4


def space(m: Values, cell: str, degree: int, x: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the space on our mesh, and the number of each of our dofs in it.

    Args:
        m: Arrays `x` and `corners` of the mesh.
        cell: Name of the cells.
        degree: Degree of the functions.
        x: Places of our dofs.
    """
    element = basix.ufl.element("P", cell, 1, shape=(m["x"].shape[1],))
    cells = np.ascontiguousarray(m["corners"], np.int64)
    made = mesh.create_mesh(MPI.COMM_SELF, cells, element, np.ascontiguousarray(m["x"]))
    V = fem.functionspace(made, ("P", degree))
    theirs = V.tabulate_dof_coordinates()[:, : x.shape[1]]
    number = np.empty(len(x), np.int64)
    number[np.lexsort(x.round(9).T)] = np.lexsort(theirs.round(9).T)
    return V, number


def form(expression: Any, **more: Any) -> Any:
    return fem.form(expression, jit_options=OPTIONS, form_compiler_options=more)


class Gradients:
    """Iterations of conjugate gradients with a matrix."""

    def __init__(self, A: Any, V: Any) -> None:
        self.A = A
        self.p, self.w = (dolfinx.la.vector(V.dofmap.index_map) for _ in range(2))

    def step(self, u: Any, r: Any, square: float, free: Any = None) -> float:
        """Do an iteration, and return the square of the residual's norm."""
        p, w = self.p.array, self.w.array
        w[:] = 0.0
        self.A.mult(self.p, self.w)
        if free is not None:
            w *= free
        a = square / float(p @ w)
        u += a * p
        r -= a * w
        after = float(r @ r)
        p *= after / square
        p += r
        return after


def poisson_matrix(m: Values) -> tuple[Any, Any]:
    """Two iterations with a matrix that was assembled before."""
    V, number = space(m, "tetrahedron", 1, m["x"])
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A = fem.assemble_matrix(form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx))
    free, solver = np.empty(len(number)), Gradients(A, V)
    free[number] = m["free"].reshape(-1)

    def begin(s: Values) -> Values:
        t = {name: np.empty(len(number)) for name in "urp"}
        for name, array in t.items():
            array[number] = s[name]
        return t | {"square": float(s["square"][0])}

    def step(t: Values) -> None:
        solver.p.array[:] = t["p"]
        for _ in range(2):
            t["square"] = solver.step(t["u"], t["r"], t["square"], free)
        t["p"][:] = solver.p.array

    def end(t: Values) -> Values:
        found = {name: t[name][number] for name in "urp"}
        return found | {"square": np.array([t["square"]])}

    return step, (begin, end)


def aero(m: Values) -> tuple[Any, Any]:
    """The tangent as a sparse matrix, and ten iterations with it."""
    V, number = space(m, "quadrilateral", 1, m["x"])
    phi, v = fem.Function(V), ufl.TestFunction(V)
    phi.x.array[number] = m["phi"].reshape(-1)
    grad, dot = ufl.grad, ufl.dot
    flow = (1 + 0.4**2 / 5 * (1 - dot(grad(phi), grad(phi)))) ** 2.5
    F = flow * dot(grad(phi), grad(v)) * ufl.dx(degree=2)
    tangent = form(ufl.derivative(F, phi))
    A, b = fem.create_matrix(tangent), np.empty(len(number))
    b[number] = m["b"].reshape(-1)
    solver = Gradients(A, V)

    def step(t: Values) -> None:
        A.set_value(0.0)
        fem.assemble_matrix(A, tangent)
        t["u"][:] = 0.0
        t["r"][:], solver.p.array[:] = b, b
        square = float(b @ b)
        for _ in range(10):
            square = solver.step(t["u"], t["r"], square)

    def begin(s: Values) -> Values:
        return {name: np.zeros(len(number)) for name in "ur"}

    def end(t: Values) -> Values:
        return {name: t[name][number] for name in "ur"}

    return step, (begin, end)


def matrix(m: Values) -> tuple[Any, Any]:
    """Assembly into a matrix that exists."""
    from scipy.sparse import csr_matrix

    V, number = space(m, "triangle", 1 if m["dofs"].shape[1] == 3 else 2, m["dof_x"])
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    A = fem.create_matrix(a)

    def step(t: Values) -> None:
        A.set_value(0.0)
        fem.assemble_matrix(A, a)

    def end(t: Values) -> Values:
        found = A.to_scipy().tocsr()[number][:, number]
        n = len(number)
        rows = np.repeat(np.arange(n), np.diff(m["indptr"]))
        dense = csr_matrix(found)
        return {"A": np.asarray(dense[rows, m["indices"]]).reshape(-1)}

    return step, (dict, end)


def hexes(m: Values) -> tuple[Any, Any]:
    """The action of the form, with sums along one direction at a time where FFCx can."""
    degree = m["value"].shape[1] - 1
    ours = m["corners"][:, np.argsort([0, 4, 2, 6, 1, 5, 3, 7])]
    V, number = space(m | {"corners": ours}, "hexahedron", degree, m["dof_x"])
    u, v = fem.Function(V), ufl.TestFunction(V)
    u.x.array[number] = m["u"].reshape(-1)
    measure = ufl.dx(metadata={"quadrature_degree": 2 * degree + 3})
    action = form(ufl.inner(ufl.grad(u), ufl.grad(v)) * measure)
    y = dolfinx.la.vector(V.dofmap.index_map)

    def step(t: Values) -> None:
        y.array[:] = 0.0
        fem.assemble_vector(y.array, action)

    return step, (dict, lambda t: {"y": y.array[number]})


MAKE = {
    "poisson_matrix": poisson_matrix,
    "aero": aero,
    "matrix_p1": matrix,
    "matrix_p2": matrix,
    "hexes_q2": hexes,
    "hexes_q6": hexes,
}


def made(
    name: str, fixed: Values, is_steady: bool
) -> tuple[Callable[[Values], Values], Callable[[Values], Values], Callable[[Values], Values]]:
    """Return a function that does steps in place, one from our values and one back."""
    step, (begin, end) = MAKE[name](fixed)
    n = 1 if is_steady else STEPS

    def run(values: Values) -> Values:
        for _ in range(n):
            step(values)
        return values

    return run, begin, end
