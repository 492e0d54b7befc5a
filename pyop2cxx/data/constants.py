# SPDX-License-Identifier: BSD-3-Clause
"""Constants passed to loops as arguments, and named constants known to all kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pyop2cxx import _core
from pyop2cxx.base.access import CONSTANT_ACCESSES, Access
from pyop2cxx.base.arrays import as_copy
from pyop2cxx.base.c_names import owner_of
from pyop2cxx.data.carrier import Argument, SetFreeCarrier, copied
from pyop2cxx.exceptions import (
    NameTypeError,
    NoDataError,
    NonUniqueNameError,
    UsageError,
    user_line,
)
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array

_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@ends_tracebacks("__init__")
class Constant(SetFreeCarrier):
    """Read-only values of loops, passed as an argument.

    Args:
        dim: The number of values, or their shape; or a Constant to copy.
        data: As many values; None means zeros.
        dtype: The dtype; None means the data's, or float64 without data.
        name: Used in messages; does not affect the generated code.
        comm: Must be None: nothing is reduced.
        copy: As for `Dat`.

    Raises:
        UsageError: A communicator was given.
        DimTypeError, DataTypeError, DataValueError, NameTypeError: As for `Global`.

    Example:
        >>> gravity = Constant(3, [0.0, 0.0, -9.81], name="gravity")
        >>> gravity(Access.READ).access
        <Access.READ: 1>
    """

    kind = "Constant"
    _kind_accesses = CONSTANT_ACCESSES

    def __init__(
        self,
        dim: int | Iterable[int] | Constant,
        data: ArrayLike | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        comm: Any = None,
        *,
        copy: bool | None = None,
    ) -> None:
        if comm is not None:
            raise UsageError(
                f"Constant: nothing is reduced, so it takes no communicator, got {comm!r}; "
                "use a Global where processes must agree"
            )
        if isinstance(dim, Constant):
            dim, data, name = copied(dim, data, name)
        super().__init__(dim, data, dtype, name, copy)

    def __call__(self, access: Access, path: None = None) -> GlobalArg:
        """Return the Constant as an argument of a loop.

        Raises:
            ModeValueError: The access is not READ.
            ContractError: A Map was given: a Constant belongs to no Set.
        """
        if access is not Access.READ or path is not None:
            access = self._checked_call(access, path)
        return GlobalArg(self, access)

    def duplicate(self) -> Constant:
        """Return a separate Constant with the same values and name."""
        values = as_copy(self.read_values("duplicate"), self.label)
        return Constant(self._dim, values, None, self._name)

    def __str__(self) -> str:
        return f"OP2 Constant Argument: {self._name} with dim {self._dim} and value {self._shown}"

    def __repr__(self) -> str:
        return f"Constant({self._dim!r}, {self._shown!r}, {self.dtype!r}, {self._name!r})"


@ends_tracebacks("__init__")
class Const(SetFreeCarrier):
    """A named constant, usable by every kernel by bare name.

    The value may change at any time without recompiling loops. A name stays taken until
    `remove_from_namespace`, even if the program drops the object. A second declaration with the
    same dim and dtype gives the same object with a new value, so cells of a notebook can be
    repeated.

    Args:
        dim: The number of values, or their shape.
        data: As many values; None means assigned later, before the first use.
        name: A C identifier, unique among Consts.
        dtype: The dtype; None means the data's, or float64 without data.
        copy: As for `Dat`.

    Raises:
        NonUniqueNameError: A Const of another dim or dtype has the name.
        NameTypeError: The name is not a string, is not a C identifier, or is reserved in C.
        DimTypeError, DataTypeError, DataValueError: As for `Global`.

    Example:
        >>> gam = Const(1, 1.4, "gam")
        >>> gam.data = 1.3
        >>> gam.remove_from_namespace()
    """

    NonUniqueNameError = NonUniqueNameError
    kind = "Const"
    _kind_accesses = frozenset()

    def __new__(
        cls,
        dim: int | Iterable[int],
        data: ArrayLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        copy: bool | None = None,
    ) -> Const:
        """Return the Const of the name, if there is one: `__init__` checks the rest."""
        known = runtime.constants.get(name) if isinstance(name, str) else None
        return known if type(known) is cls else super().__new__(cls)

    def __init__(
        self,
        dim: int | Iterable[int],
        data: ArrayLike | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        copy: bool | None = None,
    ) -> None:
        if "declared_at" in self.__dict__:
            given = Constant(dim, data, dtype, name, copy=copy)
            self._declare_again(given, is_given=data is not None)
            return
        super().__init__(dim, data, dtype, name, copy)
        if not name:
            self._name = f"const_{self.uid}"  # unlike other default names, a C identifier
        if not _C_NAME.fullmatch(self._name):
            raise NameTypeError(
                f"Const: kernels use the name, so it must be a C identifier, got '{self._name}'"
            )
        if (whose := owner_of(self._name)) is not None:
            raise NameTypeError(
                f"Const: kernels use the name, but '{self._name}' is {whose}; choose another name"
            )
        self._is_given = data is not None
        self.declared_at = user_line()
        runtime.register_constant(self)

    def _declare_again(self, given: Constant, *, is_given: bool) -> None:
        """Take the values of a second declaration with otherwise equal arguments."""
        if (given.dim, given.dtype) != (self._dim, self.dtype):
            raise NonUniqueNameError(
                f"{self.label} was already declared at {self.declared_at}, with dim {self._dim} "
                f"and dtype {self.dtype.name}; got dim {given.dim} and dtype {given.dtype.name}. "
                "Choose another name, or call remove_from_namespace() of that one"
            )
        if is_given:
            self.data = given.data_ro
        declared_at = user_line()
        runtime.logger.debug(
            "%s, of %s, is declared again at %s%s",
            self.label,
            self.declared_at,
            declared_at,
            ": its values are the new ones" if is_given else "",
        )
        self.declared_at = declared_at

    def check_readable(self, member: str) -> None:
        """Raise an error if a member may not read the values."""
        super().check_readable(member)
        if not self._is_given:
            raise NoDataError(
                f"{self.label}: '{member}' was asked for, but no value was given yet; assign to "
                "its data"
            )

    @property
    def data(self) -> Array:
        """The values, writeable; shape `dim`. Assigning copies new values into them.

        Raises:
            NoDataError: None were given yet.
        """
        return self._writeable("data", _core.Use.read_write)

    @data.setter
    def data(self, values: ArrayLike) -> None:
        self._assign(values)
        self._is_given = True

    def remove_from_namespace(self) -> None:
        """Hide the Const from kernels compiled from now on, to free the name."""
        runtime.remove_constant(self)

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"{self.label}: a named constant cannot be copied or pickled, its name is taken; "
            f"op2.Const({self._dim}, {self._name}.data_ro, 'other_name') makes another one, and "
            "data_ro can be pickled"
        )

    def __str__(self) -> str:
        return (
            f"OP2 Const: {self._name} of dim {self._dim} and type {self.dtype.name} "
            f"with value {self._shown}"
        )

    def __repr__(self) -> str:
        values = self._shown if self._is_given else None
        return f"Const({self._dim!r}, {values!r}, {self._name!r})"


@dataclass(slots=True)
class GlobalArg(Argument):
    """A Global or Constant as an argument of a loop.

    Attributes:
        data: The Global or Constant.
        access: The access of the kernel.
        map_: None, for a uniform interface of arguments.
    """

    map_: ClassVar[None] = None

    data: Any
    access: Access
