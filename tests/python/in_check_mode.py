# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs of all kinds in check mode, where none may raise an alarm: ``make check-mode``.

They are the demos, forms of all cells and spaces against other libraries, extruded meshes, and
programs in PyOP2's style. A test that fails here, and is not told below, is a false alarm, a crash,
or a loop that check mode changes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = (
    *(
        "test_demos.py",
        "test_airfoil.py",
        "test_fem.py",
        "test_fem_reference.py",
        "test_own_krylov.py",
    ),
    *("test_extruded.py", "test_extruded_mesh.py", "test_square.py", "test_old_programs.py"),
)
NO_PROGRAMS = ("test_hostile.py", "test_without_pyop2.py")
"""Of all other files what is marked `pyop2` is a program in PyOP2's style."""

LEFT_OUT = {
    "test_global_call.py::test_matrices_over_columns": "two elements write one entry of a matrix",
    "test_global_kernel.py::test_a_loop_in_the_steps_of_pyop2": (
        "looks at values after the first part of a loop, which runs as a whole with the last"
    ),
    "test_pyop2.py::test_a_write_argument_of_2016_keeps_what_is_not_written": (
        "a WRITE argument is written in part, as PyOP2 allowed in 2016"
    ),
}
"""Tests that do on purpose what check mode reports, or look at what it does otherwise.

Not even in `FILES` is what counts functions or copies of chains, graphs and matrices
(test_chain*.py, test_graph.py, test_assembly_again.py): in check mode each loop runs when it is
called, by functions of its own.
"""

LEFT_OUT_OF_DEBUG = {
    "test_fem.py::test_a_condition_that_is_not_in_a_list_is_refused": (
        "counts the lines of a traceback, which debug mode shows whole"
    ),
}

LEFT_OUT_OF_DEVICES = {
    "test_global_call.py::test_composed_maps_and_handles": "passes addresses of the host",
    "test_rejections.py::test_a_missing_semicolon_is_shown_where_it_is_missing": (
        "compares messages of the host's compiler"
    ),
}


def main() -> int:
    """Run the tests on each backend; return how many backends failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", nargs="+", default=["sequential", "openmp", "opencl"])
    parser.add_argument("--debug", action="store_true", help="debug mode, which includes checks")
    parser.add_argument("--jobs", type=int, default=1)
    options, others = parser.parse_known_args()
    mode = "debug" if options.debug else "check"
    left_out = (LEFT_OUT | LEFT_OUT_OF_DEBUG) if options.debug else LEFT_OUT
    common = [sys.executable, "-m", "pytest", "-n", str(options.jobs), *others]
    common += ["-W", "ignore::pyop2cxx.exceptions.KernelWarning"]  # of kernels that are opaque
    suites = (
        [str(HERE / name) for name in FILES],
        [str(HERE), "-m", "pyop2", *(f"--ignore={HERE / name}" for name in NO_PROGRAMS)],
    )
    n_failed = 0
    for backend in options.backend:
        print(f"{backend}, in {mode} mode", flush=True)
        environment = os.environ | {f"PYOP2CXX_{mode.upper()}": "1", "PYOP2CXX_BACKEND": backend}
        is_host = backend in ("sequential", "openmp")
        names = left_out if is_host else left_out | LEFT_OUT_OF_DEVICES
        deselected = [f"--deselect=tests/python/{name}" for name in names]
        codes = [
            subprocess.run(
                [*common, *deselected, *suite], cwd=ROOT, env=environment, check=False
            ).returncode
            for suite in suites
        ]
        n_failed += any(codes)
    return n_failed


if __name__ == "__main__":
    sys.exit(main())
