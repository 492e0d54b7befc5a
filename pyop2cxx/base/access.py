# SPDX-License-Identifier: BSD-3-Clause
"""How a loop uses an argument, and which ways each kind of argument allows."""

from __future__ import annotations

from enum import Enum, IntEnum

from pyop2cxx.exceptions import ModeValueError


class Access(IntEnum):
    """How a kernel uses an argument. The numeric values are those of PyOP2.

    Example:
        >>> Access("READ")
        <Access.READ: 1>
    """

    READ = 1
    """Read; the kernel must not write."""
    WRITE = 2
    """Written whole; what was there is not seen."""
    RW = 3
    """Read and written."""
    INC = 4
    """Added to; elements that share a target add up."""
    MIN = 5
    """The smallest of what was there and what elements give."""
    MAX = 6
    """The largest of what was there and what elements give."""

    # IntEnum prints its number from Python 3.11 on, and its name before
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
"""These compare, which complex numbers do not."""


def checked_access(
    access: object, allowed: frozenset[Access], is_complex: bool, what: str
) -> Access:
    """Return an access, once it is known to suit an argument.

    Args:
        access: What the user gave.
        allowed: The accesses that this kind of argument takes.
        is_complex: Whether the argument's values are complex.
        what: The argument, as messages should call it: ``Dat 'q'``.

    Returns:
        The access, also where it was given by its number or name.

    Raises:
        ModeValueError: There is no such access, or it is not allowed here.
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
