# SPDX-License-Identifier: BSD-3-Clause
"""What has values in a form: functions and constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import plain_array
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import DataValueError, DatTypeError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.domain import domain_of
from pyop2cxx.fem.spaces import FunctionSpace
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array


@ends_tracebacks("__init__")
class Function(ufl.Coefficient, Shown):
    """A function of a space: a coefficient of forms whose values lie in a Dat.

    Args:
        space: The space.
        dtype: Of the values: float32, float64, complex64 or complex128.
        name: Used in messages.
        dat: The Dat to use, on the space's dofs; None makes one of zeros.

    Attributes:
        space: As given.
        dat: The values, on ``space.dof_set`` of dim ``space.dim``; any loop may use it.

    Raises:
        UsageError: The first argument is no `FunctionSpace`.
        DatTypeError: The Dat lies elsewhere.

    Example:
        >>> from pyop2cxx import fem, op2
        >>> from types import SimpleNamespace
        >>> cells, vertices = op2.Set(1, "cells"), op2.Set(2, "vertices")
        >>> mesh = SimpleNamespace(
        ...     cell_type="interval", cells=cells, vertices=vertices,
        ...     cell_vertices=op2.Map(cells, vertices, 2, [0, 1]),
        ...     coordinates=op2.Dat(vertices**1, [0.0, 2.0]))
        >>> u = fem.Function(fem.FunctionSpace(mesh, ("P", 1)))
        >>> fem.interpolate(lambda x: 3 * x[0], u).dat.data_ro.tolist()
        [0.0, 6.0]
    """

    def __init__(
        self,
        space: FunctionSpace,
        dtype: DTypeLike = np.float64,
        name: str = "u",
        dat: Dat | None = None,
    ) -> None:
        if not isinstance(space, FunctionSpace):
            raise UsageError(f"Function: expected a fem.FunctionSpace, got {type(space).__name__}")
        super().__init__(space)
        self.space = space
        if dat is None:
            dat = Dat(space.dof_set**space.dim, dtype=dtype, name=name)
        elif dat.dataset.set is not space.dof_set or dat.cdim != space.dim:
            raise DatTypeError(
                f"Function '{name}': expected a Dat of dim {space.dim} on the space's dofs, got "
                f"'{dat.name}' of dim {dat.cdim} on Set '{dat.dataset.set.name}'"
            )
        self.dat = dat

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.dat.name

    def __str__(self) -> str:  # as forms show it; UFL tells functions apart by what repr says
        return self.name

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        rows = self.dat._as_table()[1]
        return f"Function '{self.name}'", [("space", str(self.space)), *rows]

    @property
    def values(self) -> Array:
        """All values one after the other, shape (space.size,): a view that is not written to."""
        return np.asarray(self.dat.data_ro).reshape(-1)

    def copy(self, name: str = "") -> Function:
        """Return a function with the same values, in memory of its own."""
        made = Function(self.space, self.dat.dtype, name or f"copy_of_{self.name}")
        self.dat.copy(made.dat)
        return made

    def split(self) -> tuple[Function, ...]:
        """Return copies of the parts of a function of a mixed space.

        Raises:
            UsageError: The space is not mixed.
        """
        if not self.space.parts:
            raise UsageError(f"Function '{self.name}': its space is not mixed")
        found, start = [], 0
        for i, part in enumerate(self.space.parts):
            one = Function(part, self.dat.dtype, f"{self.name}_{i}")
            one.dat.data_wo.reshape(-1)[:] = self.values[start : start + part.size]
            found.append(one)
            start += part.size
        return tuple(found)


@ends_tracebacks("__init__")
class Constant(ufl.Constant, Shown):
    """A constant of forms, whose value may change without compiling them again.

    Args:
        where: A mesh, or a function space on it.
        value: A number or an array.
        dtype: Of the value in loops; that of the forms it is in.

    Attributes:
        data: The Global that loops read.

    Raises:
        UsageError: The first argument is no mesh.
    """

    def __init__(self, where: Any, value: ArrayLike, dtype: DTypeLike = np.float64) -> None:
        domain = where.domain if isinstance(where, FunctionSpace) else domain_of(where)
        given = np.asarray(plain_array(value, "Constant") if np.ndim(value) else value, dtype)
        super().__init__(domain.ufl, given.shape)
        self.data = Global(given.size, given.reshape(-1), dtype=dtype, name="constant")

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        return "Constant", [("dtype", self.data.dtype.name), ("value", str(self.value))]

    @property
    def value(self) -> Array:
        """The value, of the shape that was given; set it to change it."""
        found: Array = np.array(self.data.data_ro).reshape(self.ufl_shape)
        return found

    @value.setter
    def value(self, value: ArrayLike) -> None:
        given = plain_array(value, "Constant")
        if given.shape != self.ufl_shape:
            raise DataValueError(f"Constant: expected shape {self.ufl_shape}, got {given.shape}")
        self.data.data[:] = given.reshape(-1)
