#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What check mode costs: airfoil with and without it, on one backend.

The number to watch is the ratio on `sequential`, at most 4.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = Path(__file__).parents[1] / "demos" / "airfoil.py"


def seconds(backend: str, iterations: int, mesh: str, *, check: bool) -> float:
    """Run the demo in a fresh process; return the time of an iteration, without the first."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "airfoil.json")
        command = [sys.executable, str(DEMO), "--backend", backend, "--json", str(record)]
        command += ["--iterations", str(iterations)]
        if mesh:
            command += ["--mesh", mesh]
        environment = os.environ | {"PYOP2CXX_CHECK": str(int(check))}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        found = json.loads(record.read_text())
        return float(found["seconds"] - found["first_seconds"]) / (iterations - 1)


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--mesh", default="", help="as for demos/airfoil.py")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()

    run = (options.backend, options.iterations, options.mesh)
    # by turns, and the best of each: other processes take time from either
    times = [[seconds(*run, check=check) for check in (False, True)] for _ in range(options.repeat)]
    plain, checked = map(min, zip(*times, strict=True))
    print(
        f"{options.backend}: {plain * 1e3:.2f} ms an iteration, {checked * 1e3:.2f} in check mode"
    )
    print(f"ratio {checked / plain:.2f}")


if __name__ == "__main__":
    main()
