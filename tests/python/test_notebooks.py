# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks of the manual are executed, and print what they show."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import pytest

from pyop2cxx import op2

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells_of(path: Path) -> list[dict[str, Any]]:
    return [one for one in json.loads(path.read_text())["cells"] if one["cell_type"] == "code"]


def kinds(cell: dict[str, Any]) -> set[str]:
    return {kind for output in cell["outputs"] for kind in output.get("data", ())}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_of_one_execution_are_kept(path: Path) -> None:
    cells = cells_of(path)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert not [one for one in outputs if one.get("name") == "stderr"]
    assert any("text/html" in kinds(cell) for cell in cells)
    assert any("image/png" in kinds(cell) for cell in cells)
    assert str(ROOT) not in path.read_text()
    assert path.stat().st_size < 300_000


def test_there_are_three_with_places_in_the_gallery() -> None:
    gallery = (ROOT / "docs" / "gallery.md").read_text()
    assert {path.stem for path in NOTEBOOKS} == {"first_loop", "navier_stokes", "graph_learning"}
    assert all(f"notebooks/{path.name}" in gallery for path in NOTEBOOKS)


@pytest.mark.parametrize(
    "name", ["first_loop", "graph_learning", pytest.param("navier_stokes", marks=pytest.mark.slow)]
)
def test_cells_print_what_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    if name == "navier_stokes":
        pytest.importorskip("ffcx")
    pyplot.switch_backend("agg")
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for cell in cells_of(ROOT / "docs" / "notebooks" / f"{name}.ipynb"):
            code = "".join(line for line in cell["source"] if not line.startswith("%"))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, name, "exec"), names)
            kept = ["".join(one["text"]) for one in cell["outputs"] if "text" in one]
            assert printed.getvalue() == "".join(kept)
    finally:
        pyplot.close("all")
        op2.exit()


def pages() -> Any:
    pytest.importorskip("myst_parser")
    place = ROOT / "docs" / "notebook_pages.py"
    spec = importlib.util.spec_from_file_location("notebook_pages", place)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_a_notebook_becomes_a_page() -> None:
    data = {"text/html": ["<b>1</b>\n", "\n", "x"], "text/plain": ["1"]}
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "$x$"]},
        {
            "cell_type": "code",
            "source": ["%matplotlib inline\n", "print(1)"],
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "execute_result", "data": data},
                {"output_type": "display_data", "data": {"image/png": "QUJD\n"}},
            ],
        },
    ]
    text = pages().as_markdown({"cells": cells})
    assert text.startswith("# Title\n\n$x$\n\n```py\nprint(1)\n```\n\n```text\n1\n```\n\n")
    assert "<div><b>1</b>\nx</div>" in text
    assert 'src="data:image/png;base64,QUJD"' in text


def test_a_notebook_that_failed_is_no_page() -> None:
    error = {"output_type": "error", "ename": "ValueError", "evalue": "wrong", "traceback": []}
    cell = {"cell_type": "code", "source": ["f()"], "outputs": [error]}
    with pytest.raises(ValueError, match="the notebook failed: ValueError: wrong"):
        pages().as_markdown({"cells": [cell]})
