# SPDX-License-Identifier: BSD-3-Clause
"""Python's garbage collector, kept from searching objects that live until the program ends."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused() -> Iterator[None]:
    """Disable the collector in a block, if enabled, and exempt the objects made there.

    Classes and functions made during an import stay, and Python would search all objects of NumPy
    and UFL, too: a quarter of the time of importing ``pyop2cxx.fem``. At the end all objects count
    as old, as after a full collection; otherwise Python would search the new objects at once.

    Yields:
        Nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # objects frozen by the user stay frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()
