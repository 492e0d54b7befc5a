# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops of a form: a loop for each integral and subdomain."""

from __future__ import annotations

import copy
from contextlib import suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DataTypeError, ToolchainError, UnsupportedError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.compiler import EVERYWHERE, Integral, Parameter, compile_form, real
from pyop2cxx.fem.functions import Constant, Function
from pyop2cxx.fem.signs import with_signs
from pyop2cxx.fem.spaces import FunctionSpace
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.run import par_loop
from pyop2cxx.pipeline.together import compile_together
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import Memo
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import DTypeLike

    from pyop2cxx.fem.domain import Domain
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set

    Tensor = Global | Dat | Mat


class Form(Shown):
    """Compiled form of UFL's, on meshes and functions of `pyop2cxx.fem`.

    Args:
        form: The form; arguments are of `FunctionSpace`, coefficients `Function`, constants
            `Constant`.
        dtype: Of scalars; None means the dtype of functions and constants, float64 if there are
            none.
        name: Name of the kernels.

    Attributes:
        form: As given.
        dtype: Of scalars.
        spaces: Spaces of the arguments: of rows, then of columns.
        integrals: The compiled integrals.
        lock: Held while data kept with the form is in use: the number, the matrix in `solve`.

    Raises:
        UsageError: No form, or on several meshes, or with functions of another kind.
        DataTypeError: Functions have another dtype.
    """

    def __init__(self, form: Any, dtype: DTypeLike | None = None, name: str = "") -> None:
        if not isinstance(form, ufl.form.BaseForm):
            raise UsageError(
                f"pyop2cxx.fem: expected a form, got {type(form).__name__}; integrate an "
                "expression by '* ufl.dx'"
            )
        self.form = form
        self.coefficients: list[Function] = _all(form.coefficients(), Function)
        self.constants: list[Constant] = _all(getattr(form, "constants", tuple)(), Constant)
        self.spaces: list[FunctionSpace] = _all(
            [argument.ufl_function_space() for argument in form.arguments()], FunctionSpace
        )
        self.dtype = self._checked_dtype(dtype)
        is_nothing = isinstance(form, ufl.ZeroBaseForm) or not form.integrals()
        made = [] if is_nothing else compile_form(form, self.dtype, name)
        self.integrals = [self._signed(one) for one in made]
        self._derived = Memo(8)
        self.lock = Lock()
        self.fixed: tuple[tuple[int, ...], list[list[Any]]] = ((), [])
        self.ready: set[tuple[Any, ...]] = set()

    def __copy__(self) -> Form:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"{self!r}: a form can neither be pickled nor copied deeply; pickle its functions, "
            "constants and spaces, and write the form again"
        )

    def __repr__(self) -> str:
        kinds = ", ".join(integral.kind for integral in self.integrals) or "nothing"
        return f"<Form of rank {self.rank} over {kinds}, {self.dtype.name}>"

    def of(self, given: Mapping[Any, Any]) -> Form:
        """Return the same form of other functions and constants; nothing is compiled.

        Args:
            given: A replacement for each coefficient and constant, of the same space or shape,
                and of the same dtype.
        """
        if self.rank == 0:
            _ = self.number  # shared by both forms, as the domain is
        _ = self.domain
        made = copy.copy(self)
        made.coefficients = [given.get(one, one) for one in self.coefficients]
        made.constants = [given.get(one, one) for one in self.constants]
        made.fixed = ((), [])
        return made

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
        rows = [("form", str(self.form)), ("dtype", self.dtype.name)]
        rows += [("space", str(space)) for space in self.spaces]
        rows += [("function", one.name) for one in self.coefficients]
        rows += [(one.kind, f"kernel '{one.kernel.name}' {one.shape}") for one in self.integrals]
        return f"Form of rank {self.rank}", rows

    def _checked_dtype(self, wanted: DTypeLike | None) -> np.dtype[Any]:
        dtypes = {one.dat.compute for one in self.coefficients}
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
        """The mesh of the form."""
        if self.spaces and not self.integrals:  # UFL may have dropped the integrals with the mesh
            return self.spaces[0].domain
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
        """The number of arguments: 0 of a number, 1 of a vector, 2 of a matrix."""
        return len(self.spaces)

    @cached_property
    def number(self) -> Global:
        """The Global of a form without arguments; used by a single thread at a time."""
        return Global(1, 0.0, dtype=self.dtype, name="value")

    def derived(self, name: Any, make: Callable[[], Any]) -> Any:
        """Return an object kept with the form, made once, and again after `pyop2cxx.op2.exit`.

        Args:
            name: The key of the object.
            make: Makes the object.
        """
        return self._derived.made(name, make)

    def tensor(self) -> Tensor:
        """Return a zero Global, Dat or Mat for the rank of the form."""
        if self.rank == 0:
            return Global(1, 0.0, dtype=self.dtype, name="value")
        if self.rank == 1:
            space = self.spaces[0]
            return Dat(space.dof_set**space.dim, dtype=self.dtype, name="b")
        return Mat(self.sparsity, self.dtype, "A")

    @cached_property
    def sparsity(self) -> Sparsity:
        """Nonzero places of a bilinear form's matrix; of cells if the form has no integrals."""
        rows, columns = self.spaces
        kinds = dict.fromkeys([integral.kind for integral in self.integrals] or ["cell"])
        pairs = [(self._map(k, rows.cell_dofs), self._map(k, columns.cell_dofs)) for k in kinds]
        dsets = (rows.dof_set**rows.dim, columns.dof_set**columns.dim)
        return Sparsity(dsets, [(row, column, None) for row, column in pairs])

    def loops(self, tensor: Tensor, lgmaps: Any = None) -> list[ParLoop]:
        """Return the loops that add the form to a tensor.

        Args:
            tensor: As of `tensor`; or a Dat on the cells, for the tensor of each cell.
            lgmaps: Of a matrix, left out rows and columns: see `Mat`; by components of dofs.
        """
        return [
            ParLoop(
                integral.kernel,
                part,
                *self._arguments(integral, tensor, lgmaps),
            )
            for integral in self.integrals
            for part in self._parts(integral)
        ]

    def add_to(self, tensor: Tensor, lgmaps: Any = None) -> None:
        """Add the form to a tensor, now.

        Computes all `loops`. The loops for a tensor and functions are remembered, without keeping
        the tensor alive.

        Args:
            tensor: As of `loops`.
            lgmaps: As of `loops`.
        """
        for integral, fixed in zip(self.integrals, self._fixed_arguments(), strict=True):
            first = self._first_argument(integral, tensor, lgmaps)
            for part in self._parts(integral):
                par_loop(integral.kernel, part, first, *fixed)

    def _fixed_arguments(self) -> list[list[Any]]:
        """Return for each integral all arguments but the tensor, made once for the same data."""
        data = (*(one.dat for one in self.coefficients), *(one.data for one in self.constants))
        used = tuple(one.uid for one in data)
        if len(self.fixed[1]) != len(self.integrals) or self.fixed[0] != used:
            self.fixed = (used, [self._other_arguments(one) for one in self.integrals])
        return self.fixed[1]

    def _parts(self, integral: Integral) -> list[Set]:
        return [self._part(integral.kind, number) for number in integral.subdomains]

    def _part(self, kind: str, number: int) -> Set:
        if number != EVERYWHERE:
            return self.domain.part(kind, number)
        return self.domain.mesh.cells if kind == "cell" else self.domain.facets(kind).set

    def _map(self, kind: str, map_: Map) -> Map:
        return map_ if kind == "cell" else self.domain.facet_map(kind, map_)

    def _arguments(self, integral: Integral, tensor: Tensor, lgmaps: Any) -> list[Any]:
        others = self._other_arguments(integral)
        return [self._first_argument(integral, tensor, lgmaps), *others]

    def _other_arguments(self, integral: Integral) -> list[Any]:
        return [self._argument(integral.kind, one) for one in integral.parameters[1:]]

    def _first_argument(self, integral: Integral, tensor: Tensor, lgmaps: Any) -> Any:
        access = integral.parameters[0].access
        if isinstance(tensor, Dat) and tensor.dataset.set is self.domain.mesh.cells:
            is_cell = integral.kind == "cell"
            return tensor(access, *(() if is_cell else (self.domain.facets(integral.kind).cells,)))
        maps = [self._map(integral.kind, space.cell_dofs) for space in self.spaces]
        if isinstance(tensor, Mat):
            path = {"lgmaps": lgmaps, "unroll_map": True} if lgmaps is not None else {}
            return tensor(access, (maps[0], maps[1]), **path)
        return tensor(access, maps[0]) if isinstance(tensor, Dat) else tensor(access)

    def _argument(self, kind: str, parameter: Parameter) -> Any:
        domain, role = self.domain, parameter.role
        if role == "coefficient":
            function = self.coefficients[parameter.number]
            return function.dat(READ, self._map(kind, function.space.cell_dofs))
        if role == "constant":
            return self.constants[parameter.number].data(READ)
        if role == "coordinates":
            where = domain.coordinates(real(self.dtype))
            return where(READ, self._map(kind, domain.cell_nodes))
        if role == "facets":
            return domain.facets(kind).local_numbers(READ)
        if role == "permutations":
            return domain.facets(kind).permutations(READ)
        numbers = self.spaces if role == "signs" else [f.space for f in self.coefficients]
        signs = numbers[parameter.number].signs_of(parameter.dtype)
        return signs(READ) if kind == "cell" else signs(READ, domain.facets(kind).cells)


def compile_first(*wanted: tuple[Form, Tensor]) -> None:
    """Compile in parallel the loops needed for tensors and not compiled so far.

    Nothing happens where loops wait for others, or run in check mode. Errors of the compiler are
    left to the loops, for better messages.

    Args:
        *wanted: Forms, and tensors for `Form.add_to`.

    Raises:
        UsageError: A tensor does not fit.
    """
    keys = [(form, (runtime.backend, type(tensor))) for form, tensor in wanted]
    if all(key in form.ready for form, key in keys):
        return
    options = runtime.configuration
    if runtime.recorders or runtime.static or options["check"] or options["debug"]:
        return
    loops = [loop for form, tensor in wanted for loop in form.loops(tensor)]
    if len(loops) > 1:
        with suppress(ToolchainError, UnsupportedError):
            compile_together(loops)
    for form, key in keys:
        form.ready.add(key)


def _all(found: Any, kind: type) -> list[Any]:
    for one in found:
        if not isinstance(one, kind):
            raise UsageError(
                f"pyop2cxx.fem: expected a fem.{kind.__name__} in the form, got {one} of type "
                f"{type(one).__module__}.{type(one).__name__}"
            )
    return list(found)
