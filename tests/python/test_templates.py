# SPDX-License-Identifier: BSD-3-Clause
"""Templates and their keys; see test_frames for what is made of them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.runtime.templates import fill, keys

if TYPE_CHECKING:
    from pathlib import Path


def test_a_template_says_what_it_takes() -> None:
    taken = {"headers", "before", "name", "parameters", "body"}
    assert keys("kernels/function.c.j2") == taken


def test_a_template_is_filled() -> None:
    values = {"headers": (), "before": "", "name": "f", "parameters": (), "body": "return;"}
    assert fill("kernels/function.c.j2", values).splitlines()[-3:] == ["{", "return;", "}"]


def test_what_a_template_takes_is_known_to_the_next_process(tmp_path: Path) -> None:
    op2.init(cache_dir=str(tmp_path))
    keys.cache_clear()
    keys("kernels/function.c.j2")
    assert list(tmp_path.glob("*.keys"))
    op2.exit()


def test_jinja_is_imported_by_who_fills_a_template() -> None:
    program = "import sys; from pyop2cxx import op2; print('jinja2' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"
