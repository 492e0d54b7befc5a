# SPDX-License-Identifier: BSD-3-Clause
"""``python -m pyop2cxx.pyop2 enable | disable | status``: the tree as ``pyop2``, for a Python."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from pyop2cxx.base.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = "pyop2cxx_as_pyop2.pth"
_LINE = (
    "import sys; sys.meta_path.insert(0, type('PyOP2cxxAsPyOP2', (), {'find_spec': "
    "lambda self, name, path=None, target=None: None if name.partition('.')[0] != 'pyop2' else "
    "__import__('pyop2cxx.pyop2', fromlist=['finder']).finder().find_spec(name, path, target)})())"
)
"""Line run by Python at start-up: pyop2cxx is imported only where ``pyop2`` is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The command line without the program; `sys.argv`'s by default.

    Returns:
        The exit status: 0; 1 if the folder of packages cannot be written, or for ``status`` if
        ``pyop2`` is not pyop2cxx.
    """
    parser = argparse.ArgumentParser(
        prog="python -m pyop2cxx.pyop2",
        description="Let all programs of this Python import pyop2cxx as pyop2, also where a PyOP2 "
        "is installed, such as Firedrake's; or end that.",
    )
    parser.add_argument("command", choices=("enable", "disable", "status"))
    folder = Path(sysconfig.get_path("purelib"))
    parser.add_argument("--folder", type=Path, default=folder, help=f"of packages; {folder}")
    given = parser.parse_args(arguments)
    place: Path = given.folder / _FILE
    try:
        if given.command == "enable":
            with replacing(place) as path:
                path.write_text(_LINE + "\n", encoding="utf-8")
        elif given.command == "disable":
            place.unlink(missing_ok=True)
    except OSError as error:
        sys.stderr.write(f"{place} cannot be written: {error}; pass --folder, or use a venv\n")
        return 1
    found = importlib.util.find_spec("pyop2") if "pyop2" not in sys.modules else None
    theirs = "" if found is None or found.origin is None else f", in the place of {found.origin}"
    if place.exists():
        sys.stdout.write(f"pyop2 is pyop2cxx{theirs}, by {place}\n")
        return 0
    sys.stdout.write(f"pyop2 is not pyop2cxx: there is no {place}\n")
    return int(given.command == "status")


if __name__ == "__main__":
    sys.exit(main())
