# SPDX-License-Identifier: BSD-3-Clause
"""Folders from which code is loaded: nobody else may write there, and files lie within."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def check_trusted(path: Path, what: str) -> None:
    """Refuse a file or folder that others could have changed.

    Args:
        path: The file or folder.
        what: The asking function, for messages.

    Raises:
        UsageError: It belongs to another user than this one and the administrator, or others may
            write to it or replace it.
    """
    kind = "the folder" if path.is_dir() else "the file"
    if why := _core.why_untrusted(str(path.absolute()), kind):
        raise UsageError(f"{what}: {why}; code is loaded from there")


def file_within(folder: Path, name: str, what: str) -> Path:
    """Return a file of a trusted folder.

    Args:
        folder: The folder.
        name: The path in the folder, as a manifest has it.
        what: The asking function, for messages.

    Raises:
        UsageError: The path, or the target of a link, lies outside of the folder, or others may
            write to the file.
    """
    file = folder / name
    if not file.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{what}: '{file}' leads out of the folder, to '{file.resolve()}'; a folder has all of "
            "its files within: build or save it again"
        )
    if file.exists():
        check_trusted(file, what)
    return file
