# SPDX-License-Identifier: BSD-3-Clause
"""Static condensation: dofs inside of cells are eliminated before a solve, and found afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.failures import first_failed
from pyop2cxx.algebra.solvers import Solver
from pyop2cxx.base.access import INC, READ, RW, WRITE
from pyop2cxx.base.arrays import c_name, is_integer
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DataValueError, IndexValueError, UnsupportedError, UsageError
from pyop2cxx.fem.assembly import compiled, right_side
from pyop2cxx.fem.functions import Function, check_function
from pyop2cxx.fem.held import checked, held_of
from pyop2cxx.fem.solving import DIRECT
from pyop2cxx.fem.spaces import element_name, scalar_part
from pyop2cxx.fem.values import shown
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.mesh.topology import with_owners
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import Memo
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_traceback, ends_tracebacks
from pyop2cxx.sets.maps import map_here
from pyop2cxx.sets.sets import Subset, joined
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pyop2cxx.fem.conditions import DirichletBC
    from pyop2cxx.fem.loops import Form
    from pyop2cxx.fem.spaces import FunctionSpace

MOST_INSIDE = 64
"""Largest number of values eliminated in a cell: as of `op2_solve` in kernels."""


@ends_traceback
def condense(
    a: Any,
    L: Any,
    keep: str | Sequence[int] = "facets",
    bcs: Sequence[DirichletBC] = (),
    *,
    dtype: DTypeLike | None = None,
) -> Condensed:
    """Assemble a linear problem without the dofs inside of cells.

    Each cell gives its Schur complement to a matrix over the kept dofs, computed by a loop. With
    the solution of that system, a second loop finds the dofs inside. The solution is the solution
    of ``a == L``, to rounding.

    Args:
        a: The bilinear form, of a single space: integrals over cells and exterior facets.
        L: The linear form; or 0.
        keep: ``"facets"`` keeps all dofs on facets, edges and vertices. Or numbers of the kept
            dofs in a cell, columns of ``space.cell_dofs``, such as one pressure of a mixed
            element; dofs shared by cells are among them.
        bcs: Boundary conditions, of any dofs.
        dtype: Of scalars, as of `pyop2cxx.fem.assemble`.

    Returns:
        The condensed system.

    Raises:
        UsageError: The forms are not a bilinear and a linear form; nothing is kept; or nothing
            lies inside of cells; or a dof of several cells is not kept.
        IndexValueError: A number in `keep` is no dof of the element.
        UnsupportedError: A form couples cells, by integrals over interior facets; or more than 64
            values lie inside of a cell.
        DataValueError: The matrix of the dofs inside of a cell is singular, or values are not
            finite; the cell is named.

    Example:
        >>> import ufl
        >>> from pyop2cxx import fem
        >>> from pyop2cxx.mesh import square_mesh
        >>> V = fem.FunctionSpace(square_mesh(4, cell="quadrilateral"), ("Q", 3))
        >>> u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        >>> a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
        >>> system = fem.condense(a, v * ufl.dx, bcs=[fem.DirichletBC(V, 0.0)])
        >>> V.size, system.matrix.nrows
        (169, 105)
        >>> f"{system.solve().values.max():.4f}"
        '0.0737'
    """
    left = compiled(a, dtype)
    if left.rank != 2 or left.spaces[0].dof_set is not left.spaces[1].dof_set:
        raise UsageError("condense: expected a bilinear form whose arguments are of one space")
    return Condensed(left, right_side(L, left, "condense"), keep, bcs)


@ends_tracebacks("assemble", "recover", "solve")
class Condensed(Shown):
    """Linear system without the dofs inside of cells, made by `condense`.

    Attributes:
        space: The space of the whole problem.
        matrix: Over the kept dofs.
        vector: The right-hand side, a Dat over the kept dofs.
        dofs: A Map from each kept dof to the dof of the space, arity 1.
        cell_dofs: The kept dofs of each cell.
    """

    def __init__(
        self,
        left: Form,
        right: Form,
        keep: str | Sequence[int],
        bcs: Sequence[DirichletBC],
    ) -> None:
        space = left.spaces[0]
        cells = space.mesh.cells
        for form in (left, right):
            if any(one.kind == "interior_facet" for one in form.integrals):
                raise UnsupportedError(
                    "condense: a form with integrals over interior facets (dS) couples the cells "
                    "on both sides, so cells have no system of their own; assemble the whole "
                    "system by fem.assemble_system"
                )
        self.space, self._left, self._right, self._bcs = space, left, right, tuple(checked(bcs))
        inside, outside = _separated(space, keep)
        numbers, dof_set = space.cell_dofs.computed_values, space.dof_set
        is_kept = np.zeros(dof_set.total_size, bool)
        is_kept[with_owners(dof_set, numbers[:, outside].reshape(-1))] = True
        kept_set, (places,) = joined([(dof_set, 1, is_kept)], f"kept_{dof_set.name}")
        kept = np.flatnonzero(is_kept)[:, None]
        self.dofs = map_here(kept_set, dof_set, kept, "kept_dofs", is_inside=True)
        self.cell_dofs = map_here(cells, kept_set, places[numbers[:, outside]], "cell_kept_dofs")
        self._inner = map_here(cells, dof_set, numbers[:, inside], "inner_dofs")
        dtype, dim = left.dtype, space.dim
        n = space.cell_dofs.arity * dim
        self._inside, self._outside = (
            [dim * one + c for one in chosen for c in range(dim)] for chosen in (inside, outside)
        )
        self.matrix = Mat(Sparsity((kept_set**dim,) * 2, [(self.cell_dofs,) * 2]), dtype, "S")
        self.vector = Dat(kept_set**dim, dtype=dtype, name="g")
        columns = len(self._outside) + 1
        self._system = Dat(cells ** (n, n), dtype=dtype, name="K"), Dat(cells**n, dtype=dtype)
        self._solved = Dat(cells ** (len(self._inside), columns), dtype=dtype, name="X")
        self._failed = Dat(cells, dtype=np.int32, name="failed")
        self._held = held_of(space, self._bcs)[0]
        is_given = np.zeros(dof_set.total_size, bool)
        is_given[self._held.dofs // dim] = True
        self._given_cells = Subset(cells, np.flatnonzero(is_given[numbers].any(axis=1)))
        self._given = Function(space, dtype, "given")
        self._kernels = Memo(4)
        self.assemble()

    def __repr__(self) -> str:
        return f"<Condensed: {self.matrix.nrows} of {self.space.size} values of {self.space}>"

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows, for notebooks."""
        kept = f"{self.matrix.nrows} of {self.space.size} values"
        inside = f"{len(self._inside)} values in each cell"
        return "Condensed", [("space", str(self.space)), ("kept", kept), ("eliminated", inside)]

    def assemble(self) -> None:
        """Compute the system again, after functions, constants or conditions have changed.

        Raises:
            DataValueError: As of `condense`; the system is not defined then. Or given values are
                complex, and the system is real.
        """
        (K, f), failed = self._system, self._failed
        K.zero()
        f.zero()
        self._left.add_to(K)
        self._right.add_to(f)
        held, own = held_of(self.space, self._bcs)
        given, flags, dofs = self._given.dat, held.flags, self.space.cell_dofs
        if held:
            held.put(self._given, held.values_of(own))
            arguments = flags()(READ, dofs), given(READ, dofs)
            par_loop(self._kernel("hold"), self._given_cells, K(RW), f(RW), *arguments)
        self.matrix.zero()
        self.vector.zero()
        results = self.matrix(INC, (self.cell_dofs,) * 2), self.vector(INC, self.cell_dofs)
        about = self._solved(WRITE), failed(WRITE)
        par_loop(self._kernel("condense"), K.dataset.set, *results, *about, K(READ), f(READ))
        self._refuse_singular()
        if held:
            mask = held.mask.reshape(-1, self.space.dim)[self.dofs.values[:, 0]]
            for component, chosen in enumerate(mask.T):
                self.matrix.set_local_diagonal_entries(np.flatnonzero(chosen), 1.0, component)
            source = flags()(READ, self.dofs), given(READ, self.dofs)
            give = held.kernel("give", self.vector.dtype)
            par_loop(give, self.vector.dataset.set, *source, self.vector(RW))
        self.matrix.assemble()

    def recover(self, x: Dat, u: Function) -> Function:
        """Find all dofs from the kept ones, by loops.

        Args:
            x: The solution of the condensed system, on the DataSet of `vector`.
            u: A function of the space; changed, and returned.

        Raises:
            DatTypeError: u is of another space.
            UsageError: x is of another DataSet, or a dtype differs from the system's.
        """
        check_function(u, self.space, "recover")
        if not isinstance(x, Dat) or x.dataset != self.vector.dataset:
            raise UsageError("recover: expected a Dat like the vector of the condensed system")
        if {x.compute, u.dat.compute} != {self.vector.dtype}:
            raise UsageError(
                f"recover: the system has dtype {self.vector.dtype}, x {x.compute} and "
                f"'{u.name}' {u.dat.compute}"
            )
        source = self._solved(READ), x(READ, self.cell_dofs)
        par_loop(self._kernel("recover"), self.space.mesh.cells, u.dat(WRITE, self._inner), *source)
        par_loop(self._kernel("copy"), x.dataset.set, u.dat(WRITE, self.dofs), x(READ))
        return u

    def solve(self, u: Function | None = None, **options: Any) -> Function:
        """Solve the condensed system, and find all dofs.

        Args:
            u: The function to set; None makes one.
            **options: Of `pyop2cxx.op2.solve`; a sparse LU factorisation if there are none.

        Raises:
            ConvergenceError: As of `pyop2cxx.op2.solve`.
            UsageError: As of `recover`.
        """
        if u is None:
            u = Function(self.space, self.vector.dtype)
        check_function(u, self.space, "solve")
        x = Dat(self.vector.dataset, dtype=self.vector.dtype, name="x")
        Solver(**(options or dict(DIRECT))).solve(self.matrix, x, self.vector)
        return self.recover(x, u)

    def _kernel(self, what: str) -> Kernel:
        found: Kernel = self._kernels.made(what, lambda: self._made(what))
        return found

    def _made(self, what: str) -> Kernel:
        about = {"type": c_name(self.vector.dtype), "inside": self._inside}
        if what == "condense":
            n = len(self._inside) + len(self._outside)
            text = render("kernels/condense.c.j2", {**about, "n": n, "outside": self._outside})
        else:
            n_out = len(self._outside)
            n = self.space.dim if what == "copy" else n_out + len(self._inside)
            text = render("kernels/condensed.c.j2", {**about, "what": what, "n": n, "n_out": n_out})
        return Kernel(text, what).written_here()

    def _refuse_singular(self) -> None:
        """Raise the error for the first cell that cannot be condensed."""
        found = first_failed(self._failed, *self._system)
        if found is None:
            return
        if found.column > len(self._inside) or not found.is_finite:
            raise DataValueError(
                f"condense: the system of cell {found.element} has values that are not finite"
                f"{found.others('cells')}"
            )
        dof, component = divmod(self._inside[found.column - 1], self.space.dim)
        of = f", component {component}" if self.space.dim > 1 else ""
        raise DataValueError(
            f"condense: the matrix of the dofs inside of cell {found.element} is singular: column "
            f"{found.column}, of dof {dof} of the element{of}, has no pivot"
            f"{found.others('cells')}; name more dofs in 'keep'"
        )


def _separated(space: FunctionSpace, keep: Any) -> tuple[list[int], list[int]]:
    """Return the eliminated and the kept dofs of an element, columns of ``space.cell_dofs``."""
    n = space.cell_dofs.arity
    own = _inner(space.element, space.domain.tdim)
    name = element_name(space.element)
    if isinstance(keep, str) and keep == "facets":
        kept = sorted(set(range(n)) - set(own))
    elif not isinstance(keep, str) and np.iterable(keep) and all(map(is_integer, keep)):
        kept = sorted({int(one) for one in keep})
        if kept and not 0 <= kept[0] <= kept[-1] < n:
            raise IndexValueError(
                f"condense: the dofs of {name} are 0 to {n - 1}, got {kept[0]} to {kept[-1]}"
            )
    else:
        raise UsageError(
            "condense: 'keep' is \"facets\", or numbers of the kept dofs of an element, got "
            f"{shown(keep)}"
        )
    inside = sorted(set(range(n)) - set(kept))
    shared = sorted(set(inside) - set(own))
    if shared:
        raise UsageError(
            f"condense: dofs {', '.join(map(str, shared))} of {name} lie on facets, and belong to "
            "several cells; name them in 'keep', too"
        )
    if not inside:
        raise UsageError(
            f"condense: 'keep' leaves nothing inside of the cells; {name} has {len(own)} dofs "
            "there; solve the whole system by fem.solve"
        )
    if not kept or not space.mesh.cells.global_size:
        raise UsageError(
            f"condense: nothing is kept of {name}, so cells have nothing in common; name dofs in "
            "'keep', or solve by op2.solve(..., pc_type='bjacobi')"
        )
    if len(inside) * space.dim > MOST_INSIDE:
        raise UnsupportedError(
            f"condense: {name} has {len(inside) * space.dim} values inside of a cell, more than "
            f"{MOST_INSIDE}; name more dofs in 'keep'"
        )
    return inside, kept


def _inner(element: Any, tdim: int) -> list[int]:
    """Return the dofs inside of a cell, numbers of columns of ``cell_dofs``."""
    if not element.is_mixed:
        scalar = scalar_part(element)
        of_cells = scalar.entity_dofs[tdim][0] if len(scalar.entity_dofs) > tdim else []
        return sorted(of_cells)
    found: list[int] = []
    start = 0
    for part in element.sub_elements:
        dim = 1 if part.is_mixed else part.block_size
        found += [start + dim * one + c for one in _inner(part, tdim) for c in range(dim)]
        start += part.dim
    return found
