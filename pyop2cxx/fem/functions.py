# SPDX-License-Identifier: BSD-3-Clause
"""Functions and constants: the data of forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import DataValueError, DatTypeError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.compiler import scalar_type
from pyop2cxx.fem.domain import domain_of
from pyop2cxx.fem.spaces import FunctionSpace
from pyop2cxx.fem.values import numbers
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array


@ends_tracebacks("__new__", "__init__")
class Function(ufl.Coefficient, Shown):
    """Function of a space: a coefficient of forms, with values in a Dat.

    Args:
        space: The space.
        dtype: Of the values: float32, float64, complex64 or complex128.
        name: Used in messages.
        dat: The Dat to use, on the space's dofs; None makes one of zeros.
        compute: The dtype of forms, at least as wide as `dtype`; as of `pyop2cxx.op2.Dat`.

    Attributes:
        space: As given.
        dat: The values, on ``space.dof_set`` of dim ``space.dim``; any loop may use it.

    Raises:
        UsageError: The first argument is no `FunctionSpace`, or `compute` stands beside a Dat.
        DatTypeError: The Dat lies elsewhere.
        DataTypeError: Forms do not support the dtype, or `compute` is narrower.

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

    def __new__(cls, space: FunctionSpace, *_: Any, **__: Any) -> Function:
        """Check the space before UFL does."""
        if not isinstance(space, FunctionSpace):
            raise UsageError(f"Function: expected a fem.FunctionSpace, got {type(space).__name__}")
        made: Function = super().__new__(cls, space)
        return made

    def __init__(
        self,
        space: FunctionSpace,
        dtype: DTypeLike = np.float64,
        name: str = "u",
        dat: Dat | None = None,
        *,
        compute: DTypeLike | None = None,
    ) -> None:
        super().__init__(space)
        self.space = space
        if dat is None:
            scalar = scalar_type(dtype if compute is None else compute, f"Function '{name}'")
            dtype = scalar if compute is None else dtype
            dat = Dat(space.dof_set**space.dim, dtype=dtype, name=name, compute=compute)
        elif compute is not None:
            raise UsageError(f"Function '{name}': a Dat has a compute of its own; pass one of both")
        elif not isinstance(dat, Dat):
            raise DatTypeError(f"Function '{name}': expected a Dat, got {type(dat).__name__}")
        elif dat.dataset.set is not space.dof_set or dat.cdim != space.dim:
            raise DatTypeError(
                f"Function '{name}': expected a Dat of dim {space.dim} on the space's dofs, got "
                f"'{dat.name}' of dim {dat.cdim} on Set '{dat.dataset.set.name}'"
            )
        self.dat = dat

    def __reduce__(self) -> tuple[Any, ...]:
        return _function_of, (self.space, self.dat)

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.dat.name

    def __str__(self) -> str:  # as forms show it
        return self.name

    def __repr__(self) -> str:
        return f"<Function '{self.name}' of {self.space}, {self.dat.dtype.name}>"

    def _ufl_compute_hash_(self) -> int:  # UFL's hash is of the text
        return hash((type(self), self.count()))

    def interpolate(self, given: Any) -> Function:
        """Set this function by `pyop2cxx.fem.interpolate`, and return it.

        Args:
            given: As of `pyop2cxx.fem.interpolate`.

        Raises:
            DataValueError: As of `pyop2cxx.fem.interpolate`.
            UsageError: As of `pyop2cxx.fem.interpolate`.
        """
        from pyop2cxx.fem import interpolation

        return interpolation.interpolate(given, self)

    def assign(self, given: Any) -> Function:
        """Set all values of this function, and return it.

        Args:
            given: A `Function` of the same dofs, copied without the host; or an argument of
                `pyop2cxx.fem.interpolate`, such as a number or an expression.

        Raises:
            DataValueError: As of `pyop2cxx.fem.interpolate`.
            UsageError: As of `pyop2cxx.fem.interpolate`.
        """
        if isinstance(given, Function) and given.space.dof_set is self.space.dof_set:
            self.check_holds(np.zeros(0, given.dat.dtype))
            given.dat.copy(self.dat)
            return self
        return self.interpolate(given)

    def on_mesh(self) -> Dat:
        """Return the values at the vertices of the mesh; see `pyop2cxx.fem.on_mesh`."""
        from pyop2cxx.fem import interpolation

        return interpolation.on_mesh(self)

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
        rows = self.dat.as_table()[1]
        return f"Function '{self.name}'", [("space", str(self.space)), *rows]

    @property
    def values(self) -> Array:
        """All values one after the other, shape (space.size,): a read-only view.

        May be set, to a number or to an array of as many values.
        """
        return np.asarray(self.dat.data_ro).reshape(-1)

    @values.setter
    def values(self, given: ArrayLike) -> None:
        what = f"Function '{self.name}': values"
        found = numbers(given, self.dat.dtype, what)
        if found.size not in (1, self.space.size):
            raise DataValueError(
                f"{what}: expected a number or {self.space.size} of them, got {found.size}"
            )
        self.set_values(np.broadcast_to(found.reshape(-1), (self.space.size,)))

    def set_values(self, values: Array) -> None:
        """Set all `values`, independent of the order in the Dat.

        Args:
            values: As many, in C order, of the function's dtype.
        """
        target = self.dat.data_wo
        target[...] = values.reshape(target.shape)

    def put(self, where: Any, values: Any) -> None:
        """Set some of `values`, independent of the order in the Dat.

        Args:
            where: An index of an array of shape (space.size,).
            values: The new values there.

        Raises:
            DataValueError: The values are complex, and the function is real.
        """
        self.check_holds(values)
        self.dat.data.flat[where] = values

    def check_holds(self, values: Any) -> None:
        """Raise DataValueError if values are complex, and the function is real."""
        if np.iscomplexobj(values) and self.dat.dtype.kind != "c":
            raise DataValueError(
                f"Function '{self.name}': its values are {self.dat.dtype}, got complex ones; make "
                "it with dtype=complex, or pass the real part"
            )

    def copy(self, name: str = "") -> Function:
        """Return a function with the same values, in memory of its own."""
        apart = self.dat.stored_apart
        name = name or f"copy_of_{self.name}"
        made = Function(self.space, self.dat.dtype, name, compute=apart)
        self.dat.copy(made.dat)
        return made

    def split(self) -> tuple[Function, ...]:
        """Return copies of the parts of a function of a mixed space.

        Raises:
            UsageError: The space is not mixed.
        """
        if not self.space.parts:
            raise UsageError(f"Function '{self.name}': its space is not mixed")
        found = []
        for i, part in enumerate(self.space.parts):
            name, apart = f"{self.name}_{i}", self.dat.stored_apart
            one = Function(part, self.dat.dtype, name, compute=apart)
            places = self.space.sub(i).numbers_in_whole(np.arange(part.size))
            one.set_values(self.values[places])
            found.append(one)
        return tuple(found)

    def join(self, given: list[Function]) -> None:
        """Set all values by functions of the parts of the space: the inverse of `split`."""
        values = np.empty(self.space.size, self.dat.dtype)
        for i, one in enumerate(given):
            values[self.space.sub(i).numbers_in_whole(np.arange(one.space.size))] = one.values
        self.set_values(values)


def _function_of(space: FunctionSpace, dat: Dat) -> Function:
    """Return a pickled or copied function; UFL sees a new function."""
    return Function(space, dat=dat)


def check_function(given: Any, space: FunctionSpace, what: str) -> None:
    """Raise if the argument is no function of a space.

    Args:
        given: The argument.
        space: The space needed.
        what: Begins the message.

    Raises:
        DatTypeError: The argument is no function, or of another space.
    """
    if not isinstance(given, Function):
        raise DatTypeError(f"{what}: expected a Function of {space}, got {type(given).__name__}")
    if given.space.dof_set is not space.dof_set:
        raise DatTypeError(
            f"{what}: expected a Function of {space}, got '{given.name}' of {given.space}"
        )


@ends_tracebacks("__init__")
class Constant(ufl.Constant, Shown):
    """Constant of forms; a new value needs no compilation.

    Args:
        where: A mesh, or a function space on it.
        value: A number or an array.
        dtype: Of the value in loops; the same as of the forms.

    Attributes:
        data: The Global that loops read.

    Raises:
        UsageError: The first argument is no mesh.
        DataTypeError: Forms do not support the dtype, or `compute` is narrower.
        DataValueError: The value is no number, or outside the range of the dtype.
    """

    def __init__(self, where: Any, value: ArrayLike, dtype: DTypeLike = np.float64) -> None:
        domain = domain_of(where)
        given = numbers(value, scalar_type(dtype, "Constant"), "Constant")
        if not given.size:
            raise DataValueError(f"Constant: expected numbers, got none, of shape {given.shape}")
        self.data = Global(given.size, given.reshape(-1).copy(), name="constant")
        super().__init__(domain.ufl, given.shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return _constant_of, (self.ufl_domain().ufl_cargo().mesh, self.ufl_shape, self.data)

    def __repr__(self) -> str:  # unique, because UFL sorts constants by repr
        return f"<Constant {self}, shape {self.ufl_shape}, {self.data.dtype.name}>"

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
        return "Constant", [("dtype", self.data.dtype.name), ("value", str(self.value))]

    @property
    def value(self) -> Array:
        """The value, of the given shape; may be set."""
        found: Array = np.array(self.data.data_ro).reshape(self.ufl_shape)
        return found

    @value.setter
    def value(self, value: ArrayLike) -> None:
        given = numbers(value, self.data.dtype, "Constant")
        if given.shape != self.ufl_shape:
            raise DataValueError(f"Constant: expected shape {self.ufl_shape}, got {given.shape}")
        self.data.data[:] = given.reshape(-1)


def _constant_of(mesh: Any, shape: tuple[int, ...], data: Global) -> Constant:
    """Return a pickled or copied constant; UFL sees a new constant."""
    made = Constant(mesh, np.zeros(shape), data.dtype)
    made.data = data
    return made
