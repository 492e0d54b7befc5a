# SPDX-License-Identifier: BSD-3-Clause
"""What has values in a form: functions and constants."""

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
from pyop2cxx.runtime import seams
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array


@ends_tracebacks("__new__", "__init__")
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
        DataTypeError: There are no forms of this dtype.

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
        """Check the space, before UFL asks what it is."""
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
    ) -> None:
        super().__init__(space)
        self.space = space
        if dat is None:
            dtype = scalar_type(dtype, f"Function '{name}'")
            dat = Dat(space.dof_set**space.dim, dtype=dtype, name=name)
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
        """What messages call it."""
        return self.dat.name

    def __str__(self) -> str:  # as forms show it
        return self.name

    def __repr__(self) -> str:
        return f"<Function '{self.name}' of {self.space}, {self.dat.dtype.name}>"

    def _ufl_compute_hash_(self) -> int:  # UFL's is that of the text, which tells no two apart
        return hash((type(self), self.count()))

    def interpolate(self, given: Any) -> Function:
        """Set this function by `pyop2cxx.fem.interpolate`, and return it.

        Args:
            given: As of `pyop2cxx.fem.interpolate`.

        Raises:
            DataValueError: As of `pyop2cxx.fem.interpolate`.
            UsageError: As of `pyop2cxx.fem.interpolate`.
        """
        found: Function = seams.interpolate(given, self)
        return found

    def assign(self, given: Any) -> Function:
        """Set all values of this function, and return it.

        Args:
            given: A `Function` of the same dofs, whose values are copied where they are; or what
                `pyop2cxx.fem.interpolate` takes, such as a number or an expression.

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
        """Return the values as pictures and files take them; see `pyop2cxx.fem.on_mesh`."""
        found: Dat = seams.on_mesh(self)
        return found

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        rows = self.dat._as_table()[1]
        return f"Function '{self.name}'", [("space", str(self.space)), *rows]

    @property
    def values(self) -> Array:
        """All values one after the other, shape (space.size,), a view that is not written to.

        Set it to a number, or to as many numbers, to change them all.
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
        """Set all `values`, in whatever order the Dat has them.

        Args:
            values: As many, in C order, of the function's dtype.
        """
        target = self.dat.data_wo
        target[...] = values.reshape(target.shape)

    def put(self, where: Any, values: Any) -> None:
        """Set some of `values`, in whatever order the Dat has them.

        Args:
            where: What indexes an array of shape (space.size,).
            values: What is put there.

        Raises:
            DataValueError: They are complex, and the function is real.
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
            one.set_values(self.values[start : start + part.size])
            found.append(one)
            start += part.size
        return tuple(found)


def _function_of(space: FunctionSpace, dat: Dat) -> Function:
    """Return a function that was pickled or copied; for UFL it is another one."""
    return Function(space, dat=dat)


def check_function(given: Any, space: FunctionSpace, what: str) -> None:
    """Raise if this is no function of a space.

    Args:
        given: What should be one.
        space: Whose dofs it has to have.
        what: Begins the message.

    Raises:
        DatTypeError: It is something else, or of another space.
    """
    if not isinstance(given, Function):
        raise DatTypeError(f"{what}: expected a Function of {space}, got {type(given).__name__}")
    if given.space.dof_set is not space.dof_set:
        raise DatTypeError(
            f"{what}: expected a Function of {space}, got '{given.name}' of {given.space}"
        )


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
        DataTypeError: There are no forms of this dtype.
        DataValueError: The value is no number, or one that the dtype does not hold.
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

    def __repr__(self) -> str:  # by which UFL sorts constants, so that each has its own
        return f"<Constant {self}, shape {self.ufl_shape}, {self.data.dtype.name}>"

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        return "Constant", [("dtype", self.data.dtype.name), ("value", str(self.value))]

    @property
    def value(self) -> Array:
        """The value, of the shape that was given; set it to change it."""
        found: Array = np.array(self.data.data_ro).reshape(self.ufl_shape)
        return found

    @value.setter
    def value(self, value: ArrayLike) -> None:
        given = numbers(value, self.data.dtype, "Constant")
        if given.shape != self.ufl_shape:
            raise DataValueError(f"Constant: expected shape {self.ufl_shape}, got {given.shape}")
        self.data.data[:] = given.reshape(-1)


def _constant_of(mesh: Any, shape: tuple[int, ...], data: Global) -> Constant:
    """Return a constant that was pickled or copied; for UFL it is another one."""
    made = Constant(mesh, np.zeros(shape), data.dtype)
    made.data = data
    return made
