# SPDX-License-Identifier: BSD-3-Clause
"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file beside ``path`` that takes its place once the block has succeeded.

    It lies in the same directory because only a rename within one file system is atomic. If the
    block raises, the temporary file is removed and ``path`` stays as it was.

    Args:
        path: The file to write.

    Yields:
        The file to write to instead; it exists and is empty.

    Raises:
        OSError: The directory does not exist or cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(f"{folder}/note") as file:
        ...         _ = file.write_text("whole")
        ...     os.listdir(folder)
        ['note']
    """
    target = Path(path)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(8)}{target.suffix}")
    # Exclusively, so that nothing else of that name is ever written to or removed.
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
