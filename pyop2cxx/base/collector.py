# SPDX-License-Identifier: BSD-3-Clause
"""Python's garbage collector, which need not look through what lives until the program ends."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused() -> Iterator[None]:
    """Let no cycles be collected within, if they were before, nor looked for among what was made.

    Classes and functions that a package makes while it is imported stay, and Python would look
    through all that NumPy and UFL made, too: a quarter of the time of importing ``pyop2cxx.fem``.
    At the end all objects count as old, as if a whole collection had been made and kept them:
    else Python would look through the new ones at once.

    Yields:
        Nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # what the user has frozen stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
