# SPDX-License-Identifier: BSD-3-Clause
"""Caches cleared by `op2.exit`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar, cast

from pyop2cxx.runtime.engine import Bounded
from pyop2cxx.runtime.state import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")


def until_exit(most: int) -> Callable[[F], F]:
    """Remember results of a function, as `functools.lru_cache` does, but not beyond `op2.exit`.

    For results holding Kernels or other objects of a program. Results made of texts alone may stay.

    Args:
        most: How many results.
    """

    def decorate(function: F) -> F:
        remembered = lru_cache(maxsize=most)(function)
        runtime.forget_at_exit(remembered.cache_clear)
        return cast("F", remembered)

    return decorate


class Memo(Bounded):
    """A cache owned by an object, for loops or device memory, cleared by `op2.exit`.

    Args:
        most: How many entries.
    """

    def __init__(self, most: int) -> None:
        super().__init__(most)
        runtime.forget_at_exit(self)

    __hash__ = object.__hash__  # type: ignore[assignment]  # each is one table, whatever it holds

    def __eq__(self, other: object) -> bool:
        return self is other
