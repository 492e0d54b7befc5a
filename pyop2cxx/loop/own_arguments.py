# SPDX-License-Identifier: BSD-3-Clause
"""A loop's own arguments: assigning to them changes the loop, or is refused."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import ref

from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.loop.parts import Arg


class OfLoop:
    """Mixin for arguments owned by a loop. The loop is not kept alive.

    Assigning `data` is `ParLoop.replace_data`, as in PyOP2.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        owner = getattr(self, "_owner", None)
        if owner is None:  # a copy belongs to no loop
            super().__setattr__(name, value)
            return
        loop, number, is_shown = owner[0](), owner[1], owner[2]
        if loop is None:
            raise UsageError(f"argument {number} of a loop that is gone: '{name}' has no effect")
        if name != "data" or not is_shown:
            raise UsageError(
                f"{loop.label}: arg {number}: '{name}' cannot be assigned; other data are given by "
                f"loop.arguments[{number}].data = ... or loop.replace_data({number}, ...); "
                "make another loop for all else"
            )
        loop.replace_data(number, value)
        object.__setattr__(self, "data", loop.args[number].data)


def owned(args: Iterable[Arg], loop: Any, *, is_shown: bool) -> tuple[Arg, ...]:
    """Return copies of arguments owned by a loop.

    Args:
        args: The arguments.
        loop: The loop.
        is_shown: Whether the program gets the copies: assigning data to them is possible.
    """
    return tuple(_owned(arg, ref(loop), i, is_shown) for i, arg in enumerate(args))


def _owned(arg: Any, loop: Any, number: int, is_shown: bool) -> Any:
    if not is_dataclass(arg):
        return arg
    kind: Any = type(arg)
    if not isinstance(arg, OfLoop):
        kind = _kind(kind)
    made: Any = object.__new__(kind)
    for field in fields(arg):
        object.__setattr__(made, field.name, getattr(arg, field.name))
    object.__setattr__(made, "_owner", (loop, number, is_shown))
    return made


@lru_cache(maxsize=64)
def _kind(kind: Any) -> Any:
    return type(kind.__name__, (OfLoop, kind), {"__slots__": ("_owner",)})
