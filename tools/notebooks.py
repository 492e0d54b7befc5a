# SPDX-License-Identifier: BSD-3-Clause
"""Execute the notebooks of the manual in place: `python tools/notebooks.py [NAME...]`.

A notebook with an error stays unchanged, and the program fails. Needs nbclient and ipykernel, which
`pip install 'pyop2cxx[notebooks]'` brings. Times and places of the execution are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def execute(path: Path) -> None:
    """Execute a notebook, and keep the outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.clear()
    language = {"name": "python"}
    notebook.metadata["language_info"] = language  # without the version of the interpreter
    nbformat.write(notebook, path)


def main(names: list[str]) -> None:
    """Execute the named notebooks, or all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            execute(path)


if __name__ == "__main__":
    main(sys.argv[1:])
