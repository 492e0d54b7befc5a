# SPDX-License-Identifier: BSD-3-Clause
"""p-multigrid: levels of falling degree without matrices, smoothed by Chebyshev's iteration."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.convergence import Convergence, not_converged, of_zero
from pyop2cxx.algebra.solvers import Solver
from pyop2cxx.base.access import INC, MIN, READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.lent import Lent
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.exceptions import DataValueError, UnsupportedError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.assembly import assemble, compiled, lift
from pyop2cxx.fem.compiler import compile_form
from pyop2cxx.fem.conditions import DirichletBC
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.held import held_of
from pyop2cxx.fem.operators import action
from pyop2cxx.fem.spaces import FunctionSpace, element_name, scalar_part
from pyop2cxx.graph.capture import record
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyop2cxx.fem.loops import Form
    from pyop2cxx.graph.graph import Graph

STEPS = 3
"""Steps of Chebyshev's iteration before and after the correction from below."""
RANGE = (0.1, 1.2)
"""Smoothed eigenvalues, in parts of the largest found by Lanczos' method."""
LOWEST = 0.1
"""Error left by the iteration of the lowest level, in parts of the error before."""
MOST_STEPS = 500
"""Steps of this iteration; a level that needs more is factorised on the host."""
_LANCZOS, _LOWEST_LANCZOS = 15, 200
_DIRECT: Mapping[str, Any] = {"ksp_type": "preonly", "pc_type": "lu"}


class Level:
    """A degree: the operator, the diagonal, vectors, and the way to the next lower degree."""

    def __init__(self, a: Form, bcs: Sequence[DirichletBC]) -> None:
        self.form, self.space, self.bcs = a, a.spaces[0], bcs
        self.held = held_of(self.space, bcs)[0]
        self.right, self.found, self.step, self.product, self.inverse = (
            Function(self.space, a.dtype, name)
            for name in ("right", "found", "step", "product", "inverse")
        )
        self._factors: list[Global] = []
        self._invert, self._begin, self._smooth, self._rest = (
            self._kernel(what, n=1, n_low=1, table=[0])
            for what in ("invert", "begin", "smooth", "rest")
        )

    def make_smoother(self, *, is_lowest: bool = False) -> None:
        """Prepare the operator: the inverse diagonal, and the factors of Chebyshev's iteration.

        Args:
            is_lowest: Whether the iteration reduces all errors to the part `LOWEST`, in as many
                steps as the eigenvalues ask for. On other levels it has `STEPS` for the errors that
                lower levels cannot reduce.

        Raises:
            DataValueError: The diagonal has a value that is not positive.
        """
        self.operator = action(self.form, self.bcs)
        diagonal = self.form.derived("diagonal", lambda: _diagonal(self.form))
        entries = Function(self.space, self.form.dtype, "diagonal")
        diagonal.add_to(entries.dat)
        self.held.put(entries, np.ones(self.held.dofs.size))
        least = Global(1, 1.0, dtype=self.form.dtype)
        given = entries.dat(READ), self.inverse.dat(WRITE), least(MIN)
        par_loop(self._invert, self.space.dof_set, *given)
        if not least.data_ro[0] > 0:
            values = entries.dat.gathered().reshape(-1)
            bad = int(np.argmin(values > 0))
            raise DataValueError(
                f"pmg: entry {bad} of the diagonal, of {self.space}, is {values[bad]:.6g}; the "
                "form must be positive definite"
            )
        smallest, largest = self._eigenvalues(_LOWEST_LANCZOS if is_lowest else _LANCZOS)
        low, high = (part * largest for part in RANGE)
        n_steps = STEPS
        if is_lowest:
            low = smallest
            # Saad, Iterative Methods for Sparse Linear Systems, section 6.11.3
            rate = (np.sqrt(high / low) + 1) / max(np.sqrt(high / low) - 1, 1e-3)
            n_steps = int(np.ceil(np.log(2 / LOWEST) / np.log(rate)))
        self._set_factors(low, high, n_steps)

    @property
    def n_steps(self) -> int:
        """Steps of Chebyshev's iteration."""
        return len(self._factors)

    def _set_factors(self, low: float, high: float, n_steps: int) -> None:
        middle, half = (high + low) / 2, (high - low) / 2
        rho, factors = half / middle, (0.0, 1 / middle)
        if n_steps != self.n_steps:
            self._factors = [Global(2, dtype=self.form.dtype) for _ in range(n_steps)]
        for one in self._factors:
            one.data = factors
            last, rho = rho, 1 / (2 * middle / half - rho)
            factors = (rho * last, 2 * rho / half)

    def _eigenvalues(self, n: int) -> tuple[float, float]:
        """Return the least and the largest eigenvalue of the operator scaled by the diagonal.

        They are those of the matrix of Lanczos' method, whose entries conjugate gradients compute
        (Saad, Iterative Methods for Sparse Linear Systems, section 6.7.3).

        Args:
            n: Most steps.
        """
        b, u = self.right, self.found
        dofs, dim = self.space.dof_set, self.space.dim
        start = np.random.default_rng(1).random((dofs.global_size, dim)) - 0.5
        b.dat.data_wo.reshape(-1, dim)[:] = start[dofs.global_numbers[: dofs.size]]
        self.held.put(b)
        u.dat.zero()
        options = {"ksp_rtol": 1e-5, "ksp_atol": 0.0, "ksp_max_it": n}
        went = _conjugate_gradients(self.operator, self._scale, u.dat, b.dat, options)
        steps, turns = (np.array(one, float) for one in (went.lengths, went.turns))
        if not steps.size:
            raise DataValueError(
                f"pmg: the operator of {self.space} is not positive definite: {went.reason}"
            )
        diagonal = 1 / steps
        diagonal[1:] += turns[: steps.size - 1] / steps[:-1]
        beside = np.sqrt(turns[: steps.size - 1]) / steps[:-1]
        matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        found = np.linalg.eigvalsh(matrix)
        return float(found[0]), float(found[-1])

    def _scale(self, r: Dat, z: Dat) -> None:
        r.copy(z)
        z *= self.inverse.dat

    def smooth(self, *, from_zero: bool = False) -> None:
        """Improve `found` for the system with `right`; `product` is overwritten.

        Args:
            from_zero: Whether `found` counts as zero, whatever it holds.
        """
        nodes, b, scale = self.space.dof_set, self.right.dat(READ), self.inverse.dat(READ)
        for n, factors in enumerate(self._factors):
            if from_zero and n == 0:
                new = self.found.dat(WRITE), self.step.dat(WRITE)
                par_loop(self._begin, nodes, *new, b, scale, factors(READ))
                continue
            self.operator(self.found.dat, self.product.dat)
            given = self.product.dat(READ), b, scale, factors(READ)
            par_loop(self._smooth, nodes, self.found.dat(RW), self.step.dat(RW), *given)

    def residual(self) -> None:
        """Put the residual of `found` into `product`."""
        self.operator(self.found.dat, self.product.dat)
        par_loop(self._rest, self.space.dof_set, self.product.dat(RW), self.right.dat(READ))

    def lower(self, degree: int) -> Level:
        """Return the level of a lower degree, and keep the way there."""
        space = self.space
        low = FunctionSpace(space.mesh, _with_degree(space, degree))
        mask = self.held.mask.reshape(-1, space.dim)
        given = np.zeros((low.dof_set.total_size, space.dim), bool)
        high_dofs, low_dofs = (scalar_part(one.element).entity_dofs for one in (space, low))
        rows, low_rows = space.cell_dofs.computed_values, low.cell_dofs.computed_values
        for dim, entities in enumerate(low_dofs):
            for entity, local in enumerate(entities):
                on_entity = mask[rows[:, high_dofs[dim][entity]]].all(axis=1)
                for one in local:
                    given[low_rows[:, one]] |= on_entity
        given = given[: low.dof_set.size]  # of these all cells are there
        bcs = [
            DirichletBC(low, 0.0, chosen, component if space.dim > 1 else None)
            for component, chosen in enumerate(given.T)
            if chosen.any() or space.domain.is_shared
        ]
        new = ufl.TestFunction(low), ufl.TrialFunction(low)
        old = self.form.form.arguments()
        form = ufl.replace(self.form.form, dict(zip(old, new, strict=True)))
        points = scalar_part(space.element).basix_element.points
        table = scalar_part(low.element).basix_element.tabulate(0, points)[0, :, :, 0]
        table[abs(table) < 1e-14] = 0
        about = {"n": len(points), "n_low": table.shape[1], "table": table.reshape(-1).tolist()}
        self._up, self._down = self._kernel("up", **about), self._kernel("down", **about)
        shares = np.bincount(rows.reshape(-1), minlength=space.dof_set.total_size)
        values = np.where(mask, 0, 1 / np.maximum(shares, 1)[:, None])
        self._shares = Dat(space.dof_set**space.dim, values, self.form.dtype, "shares")
        self._shares.halo_valid = not space.domain.is_shared
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
        UnsupportedError: Scalars are complex.
    """

    def __init__(self, a: Form, bcs: Sequence[DirichletBC]) -> None:
        space = a.spaces[0]
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
        self._solver = Solver(**_DIRECT)
        self._matrix: Any = None
        self._values: tuple[Any, ...] | None = None
        self._recorded: tuple[tuple[int, int], Graph] | None = None

    def assemble(self) -> None:
        """Follow new values of functions, constants and coordinates in the form.

        Raises:
            DataValueError: A diagonal has a value that is not positive.
        """
        values = _versions(self.levels[0].form)
        if values is not None and values == self._values:
            return
        self._values = None
        lowest = self.levels[-1]
        for level in self.levels:
            level.make_smoother(is_lowest=level is lowest)
        if lowest.n_steps > MOST_STEPS:
            self._matrix = assemble(lowest.form, lowest.bcs, self._matrix)
        self._values = values

    def __call__(self, r: Dat, z: Dat) -> None:
        """Compute an approximate solution z of the system with right-hand side r, by loops."""
        first = self.levels[0]
        r.copy(first.right.dat)
        if self.levels[-1].n_steps > MOST_STEPS:
            self._cycle(0)
        else:
            self._cycle_of_loops().submit()
        first.found.dat.copy(z)

    def _cycle_of_loops(self) -> Graph:
        """Return the graph of a cycle, which the backend and the number of steps belong to."""
        key = (runtime.epoch, self.levels[-1].n_steps)
        if self._recorded is None or self._recorded[0] != key:
            self._recorded = key, record(lambda: self._cycle(0))
        return self._recorded[1]

    def _cycle(self, n: int) -> None:
        level = self.levels[n]
        if n == len(self.levels) - 1:
            if level.n_steps > MOST_STEPS:
                self._solver.solve(self._matrix, level.found.dat, level.right.dat)
            else:
                level.smooth(from_zero=True)
            return
        level.smooth(from_zero=True)
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
    ended = _conjugate_gradients(multigrid.levels[0].operator, multigrid, u.dat, b.dat, wanted)
    norms = ended.norms
    if not norms:
        return of_zero()
    went = Convergence(reason=ended.reason, n_iterations=len(norms) - 1, history=tuple(norms))
    if not went.converged and wanted["error_on_nonconvergence"]:
        raise not_converged(went, {**wanted, "pc_type": "pmg"}, has_constants=False)
    return went


@dataclass
class Ended:
    """The end of conjugate gradients.

    Attributes:
        reason: Name of the reason, as of `pyop2cxx.op2.solve`.
        norms: Of the residuals, from that of the first guess on; none for a load of zero.
        lengths: Of the steps.
        turns: Parts of the directions before, from the second step on.
    """

    reason: str = "CONVERGED_ATOL"
    norms: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)


def _conjugate_gradients(
    operator: Callable[[Dat, Dat], None],
    precondition: Callable[[Dat, Dat], None],
    u: Dat,
    b: Dat,
    options: Mapping[str, Any],
) -> Ended:
    """Run conjugate gradients.

    Raises:
        DataValueError: The load is not finite.
    """
    ended = Ended()
    length = b.norm
    if not np.isfinite(length):
        raise DataValueError("solve: the right-hand side has values that are not finite")
    if length == 0:
        u.zero()
        return ended
    wanted = max(options["ksp_rtol"] * length, options["ksp_atol"])
    r, p, q, z = (Dat(b.dataset, dtype=b.dtype) for _ in range(4))
    operator(u, q)
    b.copy(r)
    r.axpy(-1.0, q)
    ended.norms.append(r.norm)
    last = 0.0
    while ended.norms[-1] > wanted:
        if len(ended.norms) > options["ksp_max_it"]:
            ended.reason = "DIVERGED_MAX_IT"
            return ended
        precondition(r, z)
        now = float(np.real(r.inner(z)))
        if last:
            ended.turns.append(now / last)
            p *= now / last
            p += z
        else:
            z.copy(p)
        operator(p, q)
        curvature = float(np.real(p.inner(q)))
        if not (now > 0 and curvature > 0):
            is_finite = np.isfinite(now) and np.isfinite(curvature)
            ended.reason = "DIVERGED_INDEFINITE_MAT" if is_finite else "DIVERGED_NANORINF"
            return ended
        ended.lengths.append(now / curvature)
        u.axpy(now / curvature, p)
        r.axpy(-now / curvature, q)
        ended.norms.append(r.norm)
        last = now
    ended.reason = "CONVERGED_RTOL"
    return ended


def _versions(a: Form) -> tuple[Any, ...] | None:
    """Return the versions of the values in a form; None if some may change unnoticed."""
    data: list[Any] = [one.dat for one in a.coefficients]
    data += [a.domain.mesh.coordinates, *(one.data for one in a.constants)]
    if any(isinstance(one, MixedDat) for one in data):
        return None
    lent = [one.lent_out for one in data]
    if Lent.any_held(lent) or any(one.others or one.is_watching for one in lent):
        return None
    return tuple((one.uid, one.dat_version) for one in data)


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
