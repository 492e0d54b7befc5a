# SPDX-License-Identifier: BSD-3-Clause
"""The loops of a block as a folder: `op2.dispatch.record`.

Few programs record loops, so the imports wait for the first use.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyop2cxx.ahead.entries import Collected
from pyop2cxx.ahead.project import Project, architectures, check_place
from pyop2cxx.base.files import as_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def recorded(
    path: str,
    *,
    backends: Sequence[str],
    name: str,
    arch: str,
    most: int | None,
    tuned: bool,
    build: bool,
) -> Iterator[None]:
    """Write the loops of a `with` block; see `dispatch.record` for arguments and errors."""
    check_place(name, as_path(path))
    archs, gpus = architectures(arch)
    collected = Collected(backends, gpus, tuned=tuned)
    with collected.recording():
        yield
    entries = list(collected.entries.values())
    project = Project(name=name, entries=entries, archs=archs, most=most, tuned=collected.tuned())
    project.write(path, build=build)
