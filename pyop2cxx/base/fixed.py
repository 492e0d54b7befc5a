# SPDX-License-Identifier: BSD-3-Clause
"""Objects with fixed constructor arguments."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any, ClassVar

from pyop2cxx.exceptions import UsageError


class Fixed:
    """An object whose constructor's arguments cannot be assigned: no user of them would notice.

    Classes set `_is_made` at the end of their constructors, and change their objects by
    ``__dict__`` from there on.
    """

    assignable: ClassVar[frozenset[str]] = frozenset()
    """Assignable arguments, read anew at each use."""
    _is_made = False
    label: str
    """The object, for messages."""

    def __setattr__(self, name: str, value: Any) -> None:
        kind: Any = type(self)
        if self._is_made and name in _parameters(kind):
            raise UsageError(
                f"{self.label}: '{name}' cannot be assigned: it is what the object was made with, "
                "so nothing would follow it; make another one"
            )
        super().__setattr__(name, value)


@lru_cache(maxsize=64)
def _parameters(kind: Any) -> frozenset[str]:
    makers = (vars(base).get(one) for base in kind.__mro__ for one in ("__init__", "__new__"))
    plain = (getattr(one, "__func__", one) for one in makers)  # `__new__` is a static method
    signatures = (inspect.signature(one).parameters for one in plain if inspect.isfunction(one))
    free: frozenset[str] = kind.assignable
    return frozenset(name for names in signatures for name in names) - free
