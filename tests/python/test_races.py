# SPDX-License-Identifier: BSD-3-Clause
"""A simulator of OpenCL watches the loops of the corpus: it finds the race it is meant to find."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyop2cxx import _core

HERE = Path(__file__).parent
LIBRARY = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")

pytestmark = pytest.mark.skipif(
    not LIBRARY.exists(), reason=f"oclgrind is not installed ({LIBRARY}); apt-get install oclgrind"
)


def watched(tmp_path: Path, *arguments: str) -> str:
    """Run loops under the simulator and return what both have to say."""
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "oclgrind.icd").write_text(f"{LIBRARY}\n")
    found = subprocess.run(
        [sys.executable, str(HERE / "race_check.py"), *arguments],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OCL_ICD_VENDORS": str(tmp_path / "vendors"),
            "OCLGRIND_DATA_RACES": "1",
            "OCLGRIND_MAX_ERRORS": "10000000",  # it falls silent after a thousand
            # two blocks of lanes, and targets that many elements share
            "CORPUS_ELEMENTS": "100",
            "CORPUS_TARGETS": "40",
            "PYOP2CXX_CACHE_DIR": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-4000:]
    return found.stdout + found.stderr


def races_in(said: str) -> list[str]:
    """Return the reports of races, but for those that are none.

    A compare-exchange starts from what is there; OpenCL 1.2 has no atomic load to look at it, and
    if another lane is faster, the exchange itself notices. Kernels see such a value as well, where
    it is a MIN or MAX: from any that was there before they get to the same.
    """
    reports = re.findall(r"data race at .*?(?=\n\n\S|\Z)", said, re.DOTALL)
    return [r for r in reports if not ("= load " in r and "cmpxchg" in r)]


@pytest.mark.slow
def test_no_strategy_races(tmp_path: Path) -> None:
    """The whole corpus, in one program."""
    said = watched(tmp_path, "all")
    assert said.count("== ") > len(_core.STRATEGIES) * 100
    assert races_in(said) == []


def test_a_race_is_seen(tmp_path: Path) -> None:
    """Otherwise the test above could not fail."""
    assert races_in(watched(tmp_path, "race"))
