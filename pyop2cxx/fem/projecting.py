# SPDX-License-Identifier: BSD-3-Clause
"""L2 projection, cell by cell into spaces whose dofs lie inside of cells; and patches of dofs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pyop2cxx.algebra.failures import first_failed
from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.fem import cells as reference
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.functions import Function
from pyop2cxx.fem.loops import Form
from pyop2cxx.fem.solving import solve
from pyop2cxx.fem.spaces import FunctionSpace, scalar_part
from pyop2cxx.fem.stand_ins import form_of
from pyop2cxx.fem.values import shown
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.mesh.topology import refuse_shared
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.tracebacks import ends_traceback

MOST_IN_CELL = 64
"""Largest number of dofs in a cell solved by a kernel: as of `op2_spd_solve`."""


@ends_traceback
def project(
    given: Any, target: Function | FunctionSpace, degree: int | None = None, **options: Any
) -> Function:
    """Project into a space: the function of the space with the smallest L2 distance.

    In a space whose dofs lie inside of cells, such as DG, each cell is a system of its own, and a
    loop solves all of them. In other spaces, or with more than 64 dofs in a cell, the system of
    the whole mesh is solved.

    Args:
        given: A number, or an expression of UFL's, of functions on the same mesh.
        target: The function to set; or a space, for a new one.
        degree: Of the quadrature; None means UFL's estimate.
        **options: Of `pyop2cxx.op2.solve`, for the system of the whole mesh; conjugate gradients
            with ``ksp_rtol=1e-12`` if there are none.

    Returns:
        The function.

    Raises:
        UsageError: `given` is no expression or has another shape, or `target` is of another kind.
        DataValueError: A cell has no volume, or values that are not finite; the cell is named.

    Example:
        >>> from pyop2cxx import fem
        >>> from pyop2cxx.mesh import interval_mesh
        >>> mesh = interval_mesh(2)
        >>> x = fem.SpatialCoordinate(mesh)
        >>> fem.project(x[0], fem.FunctionSpace(mesh, ("DG", 0))).values.tolist()
        [0.25, 0.75]
    """
    u = Function(target) if isinstance(target, FunctionSpace) else target
    if not isinstance(u, Function):
        raise UsageError(
            f"project: expected a Function or a FunctionSpace, got {type(target).__name__}"
        )
    space, dtype = u.space, u.dat.compute
    if isinstance(given, int | float | complex | np.number):
        given = ufl.as_ufl(given)
    if not isinstance(given, ufl.core.expr.Expr):
        raise UsageError(
            f"project: expected an expression of UFL's, got {shown(given)}; a function of "
            "coordinates is for fem.interpolate"
        )
    if tuple(given.ufl_shape) != tuple(space.value_shape):
        raise UsageError(
            f"project: expected an expression of shape {space.value_shape}, got {given.ufl_shape}"
        )
    measure = ufl.dx(domain=space.domain.ufl)
    right = measure if degree is None else measure(degree=degree)
    v = ufl.TestFunction(space)
    if not space.is_apart or space.cell_dofs.arity > MOST_IN_CELL:
        equation = ufl.inner(ufl.TrialFunction(space), v) * measure == ufl.inner(given, v) * right
        solve(equation, u, **(options or {"ksp_rtol": 1e-12}))
        return u
    with space.domain.lock:  # held while the moments, kept for the next call, are in use
        moments = form_of(
            given,
            space.domain,
            ("project", space, degree, dtype),
            lambda one: Form(ufl.inner(one, v) * right, dtype, "moments"),
        )
        _solve_cells(moments, u, partial(_mass_of, space, dtype))
    return u


def _mass_of(space: FunctionSpace, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Return the form of the scalar part's mass matrix, the Dats of a system, and the kernel."""
    scalar, cells = FunctionSpace(space.mesh, scalar_part(space.element)), space.mesh.cells
    u, v = ufl.TrialFunction(scalar), ufl.TestFunction(scalar)
    n, m = space.cell_dofs.arity, space.dim
    solver = "op2_solve" if dtype.kind == "c" else "op2_spd_solve"
    about = {"type": c_name(dtype), "solve": solver, "n": n, "m": m}
    text = render("kernels/project.c.j2", about)
    return (
        Form(ufl.inner(u, v) * ufl.dx, dtype, "mass"),
        Dat(cells ** (n, n), dtype=dtype, name="M"),
        Dat(cells ** (n * m), dtype=dtype, name="f"),
        Dat(cells, dtype=np.int32, name="failed"),
        Kernel(text, "project").written_here(),
    )


def _solve_cells(moments: Form, u: Function, make: Any) -> None:
    space = u.space
    about = ("mass", space, u.dat.compute)
    mass, M, f, failed, kernel = space.domain.derived.made(about, make)
    M.zero()
    f.zero()
    mass.add_to(M)
    moments.add_to(f)
    results = u.dat(WRITE, space.cell_dofs), failed(WRITE)
    par_loop(kernel, space.mesh.cells, *results, M(READ), f(READ))
    found = first_failed(failed)
    if found is not None:
        raise DataValueError(
            f"project: the mass matrix of cell {found.element} has no inverse: the cell has no "
            f"volume, or coordinates that are not finite{found.others('cells')}"
        )


def vertex_stars(space: FunctionSpace) -> RaggedMap:
    """Return the patches of a space around vertices, for ``pc_type="patch"`` of `op2.solve`.

    The patch of a vertex has the dofs at the vertex, and inside of all edges, faces and cells
    around.

    Args:
        space: The space, not mixed.

    Returns:
        A ragged Map from the vertices to the dofs.

    Raises:
        UsageError: The space is mixed, or no space.
        UnsupportedError: Processes share the mesh.
    """
    if not isinstance(space, FunctionSpace) or space.element.is_mixed:
        raise UsageError(f"vertex_stars: expected a FunctionSpace, not mixed, got {space!r}")
    domain = space.domain
    refuse_shared(domain.mesh.cells, "vertex_stars")
    entities = reference.topology(domain.cell_type)
    of_entities = scalar_part(space.element).entity_dofs
    corners, dofs = domain.corners, space.cell_dofs.values
    keys, n = [], space.dof_set.size
    for vertex in range(corners.shape[1]):
        around = [
            one
            for dim, of_dim in enumerate(of_entities)
            for entity, local in enumerate(of_dim)
            for one in local
            if vertex in entities[dim][entity]
        ]
        keys.append((corners[:, vertex, None].astype(np.int64) * n + dofs[:, around]).reshape(-1))
    vertices, found = np.divmod(np.unique(np.concatenate(keys)), n)
    n_vertices = domain.mesh.vertices.total_size
    offsets = np.searchsorted(vertices, np.arange(n_vertices + 1))
    return RaggedMap(domain.mesh.vertices, space.dof_set, offsets, found, "vertex_stars")
