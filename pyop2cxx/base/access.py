# SPDX-License-Identifier: BSD-3-Clause
"""Access modes of arguments, and the modes allowed for each kind of argument."""

from __future__ import annotations

from enum import Enum, IntEnum

from pyop2cxx.exceptions import ModeValueError


class Access(IntEnum):
    """The access of a kernel to an argument. The numeric values are PyOP2's.

    Example:
        >>> Access("READ")
        <Access.READ: 1>
    """

    READ = 1
    """Read; the kernel must not write."""
    WRITE = 2
    """Written whole; the old values are not seen."""
    RW = 3
    """Read and written."""
    INC = 4
    """Added to; contributions of elements with the same target are summed."""
    MIN = 5
    """The minimum of the old value and the elements' values."""
    MAX = 6
    """The maximum of the old value and the elements' values."""

    # IntEnum prints the number from Python 3.11 on, and the name before
    __str__ = Enum.__str__

    @classmethod
    def _missing_(cls, value: object) -> Access:
        if isinstance(value, str) and value in cls.__members__:
            return cls[value]
        names = ", ".join(cls.__members__)
        if isinstance(value, str | int):
            raise ModeValueError(f"there is no access {value!r}; there are: {names}")
        raise ModeValueError(
            f"an access is expected first, and then a Map if there is one, such as "
            f"dat(op2.READ, map); got a {type(value).__name__}; there are: {names}"
        )


READ = Access.READ
WRITE = Access.WRITE
RW = Access.RW
INC = Access.INC
MIN = Access.MIN
MAX = Access.MAX

DAT_ACCESSES = frozenset(Access)
GLOBAL_ACCESSES = frozenset({READ, INC, MIN, MAX})
CONSTANT_ACCESSES = frozenset({READ})
ORDERED_ACCESSES = frozenset({MIN, MAX})
"""Accesses with comparisons, undefined for complex numbers."""


def checked_access(
    access: object, allowed: frozenset[Access], is_complex: bool, what: str
) -> Access:
    """Return an access, checked for an argument.

    Args:
        access: The user's value.
        allowed: The accesses allowed for the kind of argument.
        is_complex: Whether the argument's values are complex.
        what: The argument in messages: ``Dat 'q'``.

    Returns:
        The access, also for a number or a name.

    Raises:
        ModeValueError: The access does not exist, or is not allowed here.
    """
    mode = Access(access)  # type: ignore[arg-type]  # anything else than an Access is refused here
    if mode not in allowed:
        names = ", ".join(a.name for a in sorted(allowed))
        message = f"{what} cannot be accessed with {mode.name}; it takes: {names}"
        if allowed == GLOBAL_ACCESSES and mode in (Access.WRITE, Access.RW):
            message += "; to set it, assign to its 'data' before the loop, or add to zero with INC"
        raise ModeValueError(message)
    if is_complex and mode in ORDERED_ACCESSES:
        raise ModeValueError(
            f"{what} cannot be accessed with {mode.name}: complex numbers have no order; "
            "keep the real quantity to compare in an argument of its own"
        )
    return mode
