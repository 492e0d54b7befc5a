# SPDX-License-Identifier: BSD-3-Clause
"""Display of loops at a prompt and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyop2cxx.loop.options import LoopOptions


class Loop(Protocol):
    """The displayed attributes of a loop; see `ParLoop`."""

    kernel: Any
    iterset: Any
    args: Any
    options: LoopOptions


def in_a_line(loop: Loop) -> str:
    """Return the text of `repr`: the kernel, the Set, and the access of each argument."""
    uses = ", ".join(f"{name} {use}" for name, use in _uses(loop)) or "no arguments"
    return f"<{_head(loop)}: {uses}>"


def as_table(loop: Loop) -> tuple[str, list[tuple[str, str]]]:
    """Return a title and rows, as `pyop2cxx.runtime.showing.Shown` wants them."""
    where = loop.iterset
    size = str(where.size) if where.is_sized else "unknown"
    rows = [("over", f"Set '{where.name}', {size} entities")]
    region = loop.options.iteration_region
    if region is not None:
        rows.append(("region", region.name))
    return _head(loop), [*rows, *_uses(loop)]


def _head(loop: Loop) -> str:
    return f"{type(loop).__name__} '{loop.kernel.name}' over Set '{loop.iterset.name}'"


def _uses(loop: Loop) -> list[tuple[str, str]]:
    found = []
    for i, arg in enumerate(loop.args):
        access, data = getattr(arg, "access", None), getattr(arg, "data", None)
        name = getattr(data, "name", None) or f"argument {i}"
        use = access.name if access is not None else "as it is"
        found.append((str(name), use + _way(getattr(arg, "map_", None))))
    return found


def _way(path: Any) -> str:
    """Return the names of an argument's Maps."""
    if path is None:
        return ""
    return f" by {getattr(path, 'name', 'several Maps')}"
