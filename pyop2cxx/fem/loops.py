# SPDX-License-Identifier: BSD-3-Clause
"""The parallel loops of a form: one for each integral and subdomain."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DataTypeError, UsageError
from pyop2cxx.fem.compiler import EVERYWHERE, Integral, Parameter, compile_form, real
from pyop2cxx.fem.functions import Constant, Function
from pyop2cxx.fem.signs import with_signs
from pyop2cxx.fem.spaces import FunctionSpace
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.fem.domain import Domain
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set

    Tensor = Global | Dat | Mat

LARGE = 64
"""Tensors of so many entries are large: see `_tuning`."""


class Form:
    """A form of UFL's on meshes and functions of `pyop2cxx.fem`, compiled.

    Args:
        form: The form; its arguments are of `FunctionSpace`, its coefficients `Function`, its
            constants `Constant`.
        dtype: Of scalars; None means that of its functions and constants, float64 if there are
            none.
        name: What the kernels are called.

    Attributes:
        form: As given.
        dtype: Of scalars.
        spaces: Those of its arguments: of rows, then of columns.
        integrals: Its integrals, compiled.

    Raises:
        UsageError: It is no form, is not over one mesh, or has functions of another kind.
        DataTypeError: Functions have another dtype.
    """

    def __init__(self, form: Any, dtype: DTypeLike | None = None, name: str = "") -> None:
        if not hasattr(form, "integrals"):
            raise UsageError(
                f"pyop2cxx.fem: expected a form, got {type(form).__name__}; integrate an "
                "expression by '* ufl.dx'"
            )
        self.form = form
        self.coefficients: list[Function] = _all(form.coefficients(), Function)
        self.constants: list[Constant] = _all(form.constants(), Constant)
        self.spaces: list[FunctionSpace] = _all(
            [argument.ufl_function_space() for argument in form.arguments()], FunctionSpace
        )
        self.dtype = self._checked_dtype(dtype)
        self.integrals = [self._signed(one) for one in compile_form(form, self.dtype, name)]

    def _checked_dtype(self, wanted: DTypeLike | None) -> np.dtype[Any]:
        dtypes = {one.dat.dtype for one in self.coefficients}
        dtypes |= {one.data.dtype for one in self.constants}
        if wanted is not None:
            dtypes.add(np.dtype(wanted))
        if len(dtypes) > 1:
            raise DataTypeError(
                "pyop2cxx.fem: all functions and constants of a form have its dtype, got "
                f"{', '.join(sorted(map(str, dtypes)))}"
            )
        return dtypes.pop() if dtypes else np.dtype(np.float64)

    def _signed(self, integral: Integral) -> Integral:
        arguments = [i for i, space in enumerate(self.spaces) if space.signs is not None]
        coefficients = [i for i, f in enumerate(self.coefficients) if f.space.signs is not None]
        return with_signs(integral, arguments, coefficients)

    @cached_property
    def domain(self) -> Domain:
        """The mesh that it is over."""
        domains = [one.ufl_cargo() for one in self.form.ufl_domains()]
        if len(domains) != 1 or domains[0] is None:
            raise UsageError(
                f"pyop2cxx.fem: expected a form over one mesh of pyop2cxx, got {len(domains)} "
                "domains; take fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh), fem.dx(mesh)"
            )
        found: Domain = domains[0]
        return found

    @property
    def rank(self) -> int:
        """The number of its arguments: 0 of a number, 1 of a vector, 2 of a matrix."""
        return len(self.spaces)

    def tensor(self) -> Tensor:
        """Return what it can be assembled to, zero: a Global, a Dat or a Mat."""
        if self.rank == 0:
            return Global(1, 0.0, dtype=self.dtype, name="value")
        if self.rank == 1:
            space = self.spaces[0]
            return Dat(space.dof_set**space.dim, dtype=self.dtype, name="b")
        return Mat(self.sparsity, self.dtype, "A")

    @cached_property
    def sparsity(self) -> Sparsity:
        """Where the matrix of a bilinear form may have values."""
        rows, columns = self.spaces
        kinds = dict.fromkeys(integral.kind for integral in self.integrals)
        pairs = [(self._map(k, rows.cell_dofs), self._map(k, columns.cell_dofs)) for k in kinds]
        dsets = (rows.dof_set**rows.dim, columns.dof_set**columns.dim)
        return Sparsity(dsets, [(row, column, None) for row, column in pairs])

    def loops(self, tensor: Tensor, lgmaps: Any = None) -> list[ParLoop]:
        """Return the loops that add the form to a tensor.

        Args:
            tensor: As of `tensor`.
            lgmaps: Of a matrix, what is left out: see `Mat`; by components of dofs.
        """
        return [
            ParLoop(
                integral.kernel,
                part,
                *self._arguments(integral, tensor, lgmaps),
                tuning=_tuning(integral),
            )
            for integral in self.integrals
            for part in self._parts(integral)
        ]

    def _parts(self, integral: Integral) -> list[Set]:
        return [self._part(integral.kind, number) for number in integral.subdomains]

    def _part(self, kind: str, number: int) -> Set:
        if number != EVERYWHERE:
            return self.domain.part(kind, number)
        return self.domain.mesh.cells if kind == "cell" else self.domain.facets(kind).set

    def _map(self, kind: str, map_: Map) -> Map:
        return map_ if kind == "cell" else self.domain.facet_map(kind, map_)

    def _arguments(self, integral: Integral, tensor: Tensor, lgmaps: Any) -> list[Any]:
        first, *others = integral.parameters
        found = [self._argument(integral.kind, parameter) for parameter in others]
        maps = [self._map(integral.kind, space.cell_dofs) for space in self.spaces]
        if isinstance(tensor, Mat):
            path = {"lgmaps": lgmaps, "unroll_map": True} if lgmaps is not None else {}
            return [tensor(first.access, (maps[0], maps[1]), **path), *found]
        if isinstance(tensor, Dat):
            return [tensor(first.access, maps[0]), *found]
        return [tensor(first.access), *found]

    def _argument(self, kind: str, parameter: Parameter) -> Any:
        domain, role = self.domain, parameter.role
        if role == "coefficient":
            function = self.coefficients[parameter.number]
            return function.dat(READ, self._map(kind, function.space.cell_dofs))
        if role == "constant":
            return self.constants[parameter.number].data(READ)
        if role == "coordinates":
            where = domain.coordinates(real(self.dtype))
            return where(READ, self._map(kind, domain.cell_vertices))
        if role == "facets":
            return domain.facets(kind).local_numbers(READ)
        if role == "permutations":
            return domain.facets(kind).permutations(READ)
        numbers = self.spaces if role == "signs" else [f.space for f in self.coefficients]
        signs = numbers[parameter.number].signs_of(parameter.dtype)
        return signs(READ) if kind == "cell" else signs(READ, domain.facets(kind).cells)

    def mask(self, side: int, held: Array) -> Array:
        """Return the lgmap of rows or columns that leaves some out.

        Args:
            side: 0 for rows, 1 for columns.
            held: Whether each component of each dof is left out, shape (space.size,).
        """
        return np.where(held, -1, np.arange(self.spaces[side].size)).astype(np.int32)


def _tuning(integral: Integral) -> dict[str, int] | None:
    """Return numbers for loops with large tensors on processors under OpenCL.

    PoCL keeps the arrays of all items of a group on the stack of one thread: 9 MB for a 20 x 20
    tensor on eight lanes and 64 items. A stack has 8 MB, and what lies behind it is overwritten.
    """
    if runtime.static or integral.parameters[0].size < LARGE:
        return None
    opened = runtime.engine.chosen_device(runtime.engine.backend(runtime.backend))
    if opened is None or not opened.info.is_cpu:
        return None
    return {"block_lanes": 8, "streaming_lanes": 8}


def _all(found: Any, kind: type) -> list[Any]:
    for one in found:
        if not isinstance(one, kind):
            raise UsageError(
                f"pyop2cxx.fem: expected a fem.{kind.__name__} in the form, got {one!r} of type "
                f"{type(one).__name__}"
            )
    return list(found)
