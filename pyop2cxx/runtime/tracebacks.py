# SPDX-License-Identifier: BSD-3-Clause
"""Errors shown at the user's line, without frames of the package.

The option ``full_tracebacks``, or ``debug``, keeps all frames.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyop2cxx.exceptions import Op2Error
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

Class = TypeVar("Class", bound=type[Any])
Function = TypeVar("Function", bound="Callable[..., Any]")


def shorten(error: Op2Error) -> None:
    """Drop the frames of an error caught at the user's call.

    The error must then be raised by name: a bare ``raise`` of Python 3.10 would restore the frames.
    """
    options = runtime.configuration
    if not (options["full_tracebacks"] or options["debug"]):
        error.__traceback__ = None


def ends_tracebacks(*names: str) -> Callable[[Class], Class]:
    """Return a decorator for classes of the public interface.

    Args:
        *names: Methods that shorten errors; not methods called for each run of a loop.
    """

    def decorated(cls: Class) -> Class:
        for name in names:
            found = cls.__dict__[name]
            if isinstance(found, staticmethod):
                setattr(cls, name, staticmethod(_ending(found.__func__)))
            else:
                setattr(cls, name, _ending(found))
        return cls

    return decorated


def ends_traceback(function: Function) -> Function:
    """Shorten the errors of a function called by users."""
    return cast("Function", _ending(function))


def _ending(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def shown(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Op2Error as error:
            shorten(error)
            raise error

    return shown
