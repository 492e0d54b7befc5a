# SPDX-License-Identifier: BSD-3-Clause
"""Loops of the corpus are watched: by a simulator of OpenCL, and by ThreadSanitizer on threads.

Each watcher first finds the race that it is meant to find.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_world import quiet_library

HERE = Path(__file__).parent
SIMULATOR = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")

# One case for each shape of code that lowering makes, because each takes seconds in the simulator.
SHAPES = (
    "direct_read_write",
    "indirect_write_shared",
    "inc_two_dats_through_two_maps",
    "inc_and_globals",
    "inc_around_grid_cells",
    "min_max_through_map",
    "globals_reduced",
    "one_dat_directly_and_through_map",
)
SHAPES_ON_THREADS = (
    *SHAPES,
    "dtypes_complex",
    "mixed_inc",
    "subset_inc",
    "extruded_facets",
    "extruded_updates_on_the_base",
    "matrix_of_blocks_and_vector",
    "mixed_matrix",
)


def run(backend: str, names: tuple[str, ...], **environment: str) -> str:
    """Run loops in a process of their own and return what it has to say."""
    found = subprocess.run(
        [sys.executable, str(HERE / "race_check.py"), backend, *names],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-4000:]
    return found.stdout + found.stderr


def simulated(tmp_path: Path, *names: str) -> list[str]:
    """Run loops in the simulator and return its reports of races.

    But for those that are none. A compare-exchange starts from what is there; OpenCL 1.2 has no
    atomic load to look at it, and if another lane is faster, the exchange itself notices. Kernels
    see such a value as well, where it is a MIN or MAX: from any that was there before they get to
    the same.
    """
    if not SIMULATOR.exists():
        pytest.skip(f"oclgrind is not installed ({SIMULATOR}); apt-get install oclgrind")
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "oclgrind.icd").write_text(f"{SIMULATOR}\n")
    said = run(
        "opencl",
        names,
        OCL_ICD_VENDORS=str(tmp_path / "vendors"),
        OCLGRIND_DATA_RACES="1",
        OCLGRIND_MAX_ERRORS="10000000",  # it falls silent after a thousand
        CORPUS_ELEMENTS="100",  # two blocks of lanes, and targets that many elements share
        CORPUS_TARGETS="40",
        PYOP2CXX_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert names == ("race",) or said.count("== ") > len(names)
    reports = re.findall(r"data race at .*?(?=\n\n\S|\Z)", said, re.DOTALL)
    return [r for r in reports if not ("= load " in r and "cmpxchg" in r)]


def sanitized(tmp_path: Path, *names: str, preload: str = "") -> list[str]:
    """Run loops under ThreadSanitizer and return its reports of races.

    clang's OpenMP library tells it, by libarcher, what waits for what. GCC's run-time library of
    the sanitizer is the one that a Python without it can load. As in the simulator, a kernel may
    look at a MIN or MAX that others are just changing: a read while there is an atomic write.
    """
    archers = sorted(Path("/usr/lib").glob("llvm-*/lib/libarcher.so"))
    asked = ["gcc", "-print-file-name=libtsan.so"]
    library = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    if not archers or not library.is_absolute():
        pytest.skip("there is no ThreadSanitizer for OpenMP; apt-get install clang libomp-14-dev")
    said = run(
        "openmp",
        names,
        LD_PRELOAD=f"{library.resolve()} {preload}".strip(),
        OMP_TOOL_LIBRARIES=str(archers[0]),
        OMP_WAIT_POLICY="passive",
        TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=0",
        CORPUS_ELEMENTS="10000",
        CORPUS_TARGETS="3000",
        PYOP2CXX_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert names == ("race",) or said.count("== ") > len(names)
    if names[0] == "shared":
        assert said.count("shared 3") > len(names), said
    reports = re.findall(r"WARNING: ThreadSanitizer: .*?\n={18}", said, re.DOTALL)
    return [
        r
        for r in reports
        if not ("tomic write" in r and re.search(r"^ +(Previous )?[Rr]ead of", r, re.M))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("watched", "names"), [(simulated, SHAPES), (sanitized, SHAPES_ON_THREADS)]
)
def test_no_strategy_races(watched, names, tmp_path: Path) -> None:
    assert watched(tmp_path, *names) == []


@pytest.mark.slow
def test_no_strategy_races_in_a_region_that_loops_share(tmp_path: Path) -> None:
    quiet = str(quiet_library(tmp_path))
    assert sanitized(tmp_path, "shared", *SHAPES[1::2], preload=quiet) == []


@pytest.mark.parametrize("watched", [simulated, sanitized])
def test_a_race_is_seen(watched, tmp_path: Path) -> None:
    """Otherwise the test above could not fail."""
    assert watched(tmp_path, "race")
