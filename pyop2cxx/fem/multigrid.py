# SPDX-License-Identifier: BSD-3-Clause
"""p-multigrid: levels of falling degree, smoothed without matrices by Chebyshev's iteration."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.convergence import Convergence, not_converged, of_zero
from pyop2cxx.algebra.solvers import Solver
from pyop2cxx.base.access import INC, READ, RW
from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import DataValueError, UnsupportedError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.assembly import assemble, compiled, lift
from pyop2cxx.fem.compiler import compile_form
from pyop2cxx.fem.conditions import DirichletBC
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.held import held_of
from pyop2cxx.fem.operators import action
from pyop2cxx.fem.spaces import FunctionSpace, element_name, scalar_part
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.mesh.topology import refuse_shared
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.fem.loops import Form

STEPS = 3
"""Steps of Chebyshev's iteration before and after the correction from below."""
RANGE = (0.1, 1.2)
"""Smoothed eigenvalues, in parts of the largest found by the power method."""
_POWERS = 15
_COARSE: Mapping[str, Any] = {"ksp_type": "preonly", "pc_type": "lu"}


class Level:
    """A degree: the operator, the diagonal, vectors, and the way to the next lower degree."""

    def __init__(self, a: Form, bcs: Sequence[DirichletBC]) -> None:
        self.form, self.space, self.bcs = a, a.spaces[0], bcs
        self.held = held_of(self.space, bcs)[0]
        self.right, self.found, self.step, self.product, self.inverse = (
            Function(self.space, a.dtype, name)
            for name in ("right", "found", "step", "product", "inverse")
        )
        self._factors = Global(2, [0.0, 0.0], dtype=a.dtype)
        self._smooth = self._kernel("smooth", n=1, n_low=1, table=[0])
        self.largest = 0.0

    def make_smoother(self) -> None:
        """Prepare the operator: the inverse diagonal, and the largest eigenvalue.

        Raises:
            DataValueError: The diagonal has a value that is not positive.
        """
        self.operator = action(self.form, self.bcs)
        diagonal = self.form.derived("diagonal", lambda: _diagonal(self.form))
        entries = Function(self.space, self.form.dtype, "diagonal")
        diagonal.add_to(entries.dat)
        self.held.put(entries, np.ones(self.held.dofs.size))
        values = entries.dat.data_ro.reshape(-1)
        if not (values > 0).all():
            bad = int(np.argmin(values > 0))
            raise DataValueError(
                f"pmg: entry {bad} of the diagonal, of {self.space}, is {values[bad]:.6g}; the "
                "form must be positive definite"
            )
        self.inverse.dat.data_wo.reshape(-1)[:] = 1 / values
        start = np.random.default_rng(1).standard_normal(values.size)
        self.found.dat.data_wo.reshape(-1)[:] = start
        self.held.put(self.found)
        x, y = self.found.dat, self.product.dat
        for _ in range(_POWERS):
            x *= 1 / x.norm
            self.operator(x, y)
            self.largest = float(np.real(x.inner(y) / x.inner(x * entries.dat)))
            y *= self.inverse.dat
            y.copy(x)

    def smooth(self) -> None:
        """Improve `found` for the system with `right`; `product` is overwritten."""
        low, high = (part * self.largest for part in RANGE)
        middle, half = (high + low) / 2, (high - low) / 2
        rho, factors = half / middle, (0.0, 1 / middle)
        for _ in range(STEPS):
            self.residual()
            self._factors.data[:] = factors
            given = self.product.dat(READ), self.inverse.dat(READ), self._factors(READ)
            kinds = self.found.dat(RW), self.step.dat(RW)
            par_loop(self._smooth, self.space.dof_set, *kinds, *given)
            last, rho = rho, 1 / (2 * middle / half - rho)
            factors = (rho * last, 2 * rho / half)

    def residual(self) -> None:
        """Put the residual of `found` into `product`."""
        self.operator(self.found.dat, self.product.dat)
        self.product.dat *= -1
        self.product.dat += self.right.dat

    def lower(self, degree: int) -> Level:
        """Return the level of a lower degree, and keep the way there."""
        space = self.space
        low = FunctionSpace(space.mesh, _with_degree(space, degree))
        mask = np.zeros((space.dof_set.size, space.dim), bool)
        mask.reshape(-1)[self.held.dofs] = True
        given = np.zeros((low.dof_set.size, space.dim), bool)
        high_dofs, low_dofs = (scalar_part(one.element).entity_dofs for one in (space, low))
        rows, low_rows = space.cell_dofs.values, low.cell_dofs.values
        for dim, entities in enumerate(low_dofs):
            for entity, local in enumerate(entities):
                on_entity = mask[rows[:, high_dofs[dim][entity]]].all(axis=1)
                for one in local:
                    given[low_rows[:, one]] |= on_entity
        bcs = [
            DirichletBC(low, 0.0, chosen, component if space.dim > 1 else None)
            for component, chosen in enumerate(given.T)
            if chosen.any()
        ]
        new = ufl.TestFunction(low), ufl.TrialFunction(low)
        old = self.form.form.arguments()
        form = ufl.replace(self.form.form, dict(zip(old, new, strict=True)))
        points = scalar_part(space.element).basix_element.points
        table = scalar_part(low.element).basix_element.tabulate(0, points)[0, :, :, 0]
        table[abs(table) < 1e-14] = 0
        about = {"n": len(points), "n_low": table.shape[1], "table": table.reshape(-1).tolist()}
        self._up, self._down = self._kernel("up", **about), self._kernel("down", **about)
        shares = np.bincount(rows.reshape(-1), minlength=space.dof_set.size)
        values = np.where(mask, 0, 1 / np.maximum(shares, 1)[:, None])
        self._shares = Dat(space.dof_set**space.dim, values, self.form.dtype, "shares")
        return Level(compiled(form, self.form.dtype), bcs)

    def go_down(self, low: Level) -> None:
        """Restrict the residual to the next level."""
        self.residual()
        low.right.dat.zero()
        given = self.product.dat(READ, self.space.cell_dofs)
        target = low.right.dat(INC, low.space.cell_dofs)
        shares = self._shares(READ, self.space.cell_dofs)
        par_loop(self._down, self.space.mesh.cells, target, given, shares)
        low.held.put(low.right)

    def go_up(self, low: Level) -> None:
        """Add the correction of the next level."""
        given = low.found.dat(READ, low.space.cell_dofs)
        target = self.found.dat(INC, self.space.cell_dofs)
        shares = self._shares(READ, self.space.cell_dofs)
        par_loop(self._up, self.space.mesh.cells, target, given, shares)

    def _kernel(self, what: str, **about: Any) -> Kernel:
        facts = {"what": what, "type": c_name(self.form.dtype), "dim": self.space.dim, **about}
        return Kernel(render("kernels/between.c.j2", facts), what).written_here()


class Multigrid:
    """A cycle of p-multigrid for a symmetric positive definite form: a preconditioner.

    Args:
        a: The bilinear form, of a space of continuous Lagrange elements of degree 2 or more.
        bcs: Boundary conditions.

    Raises:
        UsageError: The space has other elements.
        UnsupportedError: Scalars are complex, or processes share the mesh.
    """

    def __init__(self, a: Form, bcs: Sequence[DirichletBC]) -> None:
        space = a.spaces[0]
        refuse_shared(space.mesh.cells, "pmg")
        part: Any = None if space.element.is_mixed else scalar_part(space.element)
        is_plain = part is not None and not part.has_custom_quadrature
        if not is_plain or part.family_name != "P" or part.discontinuous or part.degree < 2:
            raise UsageError(
                "pmg: expected continuous Lagrange elements of degree 2 or more, got "
                f"{element_name(space.element)}"
            )
        if a.dtype.kind != "f":
            raise UnsupportedError(f"pmg: expected real numbers, got {a.dtype}")
        self.levels = [Level(a, bcs)]
        degree = part.degree
        while degree > 1:
            degree //= 2
            self.levels.append(self.levels[-1].lower(degree))
        self._solver = Solver(**_COARSE)
        self._matrix: Any = None

    def assemble(self) -> None:
        """Follow new values of functions in the form.

        Raises:
            DataValueError: A diagonal has a value that is not positive.
        """
        for level in self.levels[:-1]:
            level.make_smoother()
        lowest = self.levels[-1]
        self._matrix = assemble(lowest.form, lowest.bcs, self._matrix)

    def __call__(self, r: Dat, z: Dat) -> None:
        """Compute an approximate solution z of the system with right-hand side r, by loops."""
        first = self.levels[0]
        r.copy(first.right.dat)
        self._cycle(0)
        first.found.dat.copy(z)

    def _cycle(self, n: int) -> None:
        level = self.levels[n]
        level.found.dat.zero()
        if n == len(self.levels) - 1:
            self._solver.solve(self._matrix, level.found.dat, level.right.dat)
            return
        level.smooth()
        level.go_down(self.levels[n + 1])
        self._cycle(n + 1)
        level.go_up(self.levels[n + 1])
        level.smooth()


def solve_by_multigrid(
    a: Form, L: Form, u: Function, bcs: Sequence[DirichletBC], options: Mapping[str, Any]
) -> Convergence:
    """Solve a linear problem by conjugate gradients without a matrix, and p-multigrid.

    Args:
        a: The bilinear form.
        L: The linear form.
        u: The first guess, then the solution.
        bcs: Boundary conditions.
        options: Of `pyop2cxx.op2.solve`, with pc_type pmg.

    Raises:
        UsageError: As of `Multigrid`, or the method is another than cg.
        UnsupportedError: As of `Multigrid`.
        DataValueError: As of `Multigrid.assemble`, or the load is not finite.
        ConvergenceError: The method did not converge; u has the last values.
    """
    wanted = Solver(**{**options, "pc_type": "none"}).parameters
    if wanted["ksp_type"] != "cg" or wanted["package"] not in ("auto", "own"):
        raise UsageError("solve: pc_type 'pmg' is for ksp_type 'cg' of package 'own'")
    held, own = held_of(u.space, bcs)
    key = ("pmg", held.key)
    multigrid = a.derived(key, lambda: Multigrid(a, bcs))
    multigrid.assemble()
    values = held.values_of(own)
    b = assemble(L)
    lift(b, a, bcs)
    held.put(b, values)
    held.put(u, values)
    if not wanted["ksp_initial_guess_nonzero"]:
        u.dat.zero()
        held.put(u, values)
    reason, norms = _conjugate_gradients(multigrid, u.dat, b.dat, wanted)
    if not norms:
        return of_zero()
    went = Convergence(reason=reason, n_iterations=len(norms) - 1, history=tuple(norms))
    if not went.converged and wanted["error_on_nonconvergence"]:
        raise not_converged(went, {**wanted, "pc_type": "pmg"}, has_constants=False)
    return went


def _conjugate_gradients(
    multigrid: Multigrid, u: Dat, b: Dat, options: Mapping[str, Any]
) -> tuple[str, list[float]]:
    """Return why the method ended, and the norms of residuals; none for a load of zero."""
    operator = multigrid.levels[0].operator
    length = b.norm
    if not np.isfinite(length):
        raise DataValueError("solve: the right-hand side has values that are not finite")
    if length == 0:
        u.zero()
        return "CONVERGED_ATOL", []
    wanted = max(options["ksp_rtol"] * length, options["ksp_atol"])
    r, p, q, z = (Dat(b.dataset, dtype=b.dtype) for _ in range(4))
    operator(u, q)
    b.copy(r)
    r.axpy(-1.0, q)
    norms, last = [r.norm], 0.0
    while norms[-1] > wanted:
        if len(norms) > options["ksp_max_it"]:
            return "DIVERGED_MAX_IT", norms
        multigrid(r, z)
        now = float(np.real(r.inner(z)))
        p *= now / last if last else 0.0
        p += z
        operator(p, q)
        curvature = float(np.real(p.inner(q)))
        if not (now > 0 and curvature > 0):
            is_finite = np.isfinite(now) and np.isfinite(curvature)
            return "DIVERGED_INDEFINITE_MAT" if is_finite else "DIVERGED_NANORINF", norms
        u.axpy(now / curvature, p)
        r.axpy(-now / curvature, q)
        norms.append(r.norm)
        last = now
    return "CONVERGED_RTOL", norms


def _with_degree(space: FunctionSpace, degree: int) -> tuple[Any, ...]:
    shape = space.element.reference_value_shape
    return ("P", degree, shape) if space.dim > 1 else ("P", degree)


def _diagonal(a: Form) -> Form:
    """Return a form whose vector is the diagonal of a bilinear form's matrix."""
    made = copy.copy(a)
    made.spaces = a.spaces[:1]
    made.fixed, made.ready = ((), []), set()
    made.integrals = compile_form(a.form, a.dtype, options={"part": "diagonal"})
    return made
