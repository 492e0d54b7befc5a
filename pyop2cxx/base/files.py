# SPDX-License-Identifier: BSD-3-Clause
"""Files written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyop2cxx.base.quoting import check_text

if TYPE_CHECKING:
    from collections.abc import Iterator


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return the place of a file.

    Args:
        path: Name of the file.

    Raises:
        UsageError: The name has a NUL or a lone surrogate.
    """
    return Path(check_text(os.fspath(path), "the name of a file"))


def npy_path(path: str | os.PathLike[str]) -> str:
    """Return the name of a file of NumPy's, with the ending ``.npy``."""
    name = str(as_path(path))
    return name if name.endswith(".npy") else name + ".npy"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a temporary file, to replace ``path`` once the block has succeeded.

    Both lie in the same directory, because only a rename within a file system is atomic. If the
    block raises, the temporary file is removed and ``path`` stays unchanged.

    Args:
        path: The file to write.

    Yields:
        The file to write to instead; exists and is empty.

    Raises:
        UsageError: Files cannot be called so.
        OSError: The directory does not exist or cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(f"{folder}/note") as file:
        ...         _ = file.write_text("whole")
        ...     os.listdir(folder)
        ['note']
    """
    target = as_path(path)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(8)}{target.suffix}")
    # Exclusively, so no other file of the same name is ever written to or removed.
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
