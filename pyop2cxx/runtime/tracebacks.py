# SPDX-License-Identifier: BSD-3-Clause
"""Errors are shown at the user's line, without the frames between it and what found out.

The option ``full_tracebacks``, or ``debug``, keeps all of it.
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
    """Let go of the frames of an error that was caught where the user called.

    It is to be raised by its name then: a bare ``raise`` of Python 3.10 would bring them back.
    """
    options = runtime.configuration
    if not (options["full_tracebacks"] or options["debug"]):
        error.__traceback__ = None


def ends_tracebacks(*names: str) -> Callable[[Class], Class]:
    """Return a decorator of a class that users see.

    Args:
        *names: Methods whose errors end there; not those that are called for each loop that runs.
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
    """Let the errors of a function that users call end there."""
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
