#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cold starts: how long kernels take to be read, by size, and a first loop, by the compiler's time.

Texts have the shapes of generated code: tables as FFCx writes them, statements in a row, and small
loops in a row. Processor time counts, since other programs may run; each text is new to the cache
directory. A first loop, in a process of its own with an empty cache directory, is compared by turns
with the compiler alone, given the same text and options.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from bench_latency import in_fresh_process, now

N = 64


def tables(n_bytes: int) -> str:
    """Return tables of numbers, and loops that use them."""
    found, uses = [], []
    while sum(map(len, found)) < n_bytes:
        k = len(found)
        rows = [
            ", ".join(f"{(37 * i + 11 * j + k) % 1000 / 997.0 - 0.5:.15g}" for j in range(N))
            for i in range(N)
        ]
        numbers = "},\n  {".join(rows)
        found.append(f"static const double FE{k}[1][1][{N}][{N}] = {{{{{{{{{numbers}}}}}}}}};")
        uses.append(
            f"for (int q = 0; q < {N}; ++q)\n  for (int i = 0; i < {N}; ++i)\n"
            f"    A[i] += w[q] * FE{k}[0][0][q][i];"
        )
    return "\n".join([*found, *uses])


def statements(n_bytes: int) -> str:
    """Return constants in a row, each computed from earlier ones."""
    lines = ["const double t0 = w[0];"]
    while 75 * len(lines) < n_bytes:
        k = len(lines)
        lines.append(
            f"const double t{k} = 0.1234567890123 * w[{k % N}] + t{k - 1} * (w[{7 * k % N}] - "
            f"t{max(0, k - 5)});" + (f"\nA[{k % N}] += t{k} * 2.0;" if k % 8 == 0 else "")
        )
    return "\n".join(lines)


def loops(n_bytes: int) -> str:
    """Return small loops in a row."""
    lines: list[str] = []
    while 155 * len(lines) < n_bytes:
        k = len(lines)
        lines.append(
            f"for (int q = 0; q < 8; ++q) {{\n  double s{k} = 0.0;\n"
            f"  for (int i = 0; i < {N}; ++i) {{\n"
            f"    s{k} += w[i] * 0.25 * (w[(i + {k % N}) % {N}] - 1.0);\n  }}\n"
            f"  A[q] += s{k} * 2.0;\n}}"
        )
    return "\n".join(lines)


def measure_reading(kinds: list[str], sizes: list[float]) -> None:
    """Print the seconds a megabyte of reading a text, and of deriving facts."""
    from pyop2cxx import op2

    print("text            bytes   kernel s    facts s   kernel s/MB  of the smallest")
    with tempfile.TemporaryDirectory() as folder:
        op2.init(cache_dir=folder)
        _ = op2.Kernel("void warm(double *a) { a[0] = 1; }", "warm").facts
        for kind in kinds:
            first = 0.0
            for size in sizes:
                body = {"tables": tables, "statements": statements, "loops": loops}[kind](
                    int(1e6 * size)
                )
                text = f"void k(double *restrict A, const double *restrict w)\n{{\n{body}\n}}\n"
                begin = time.process_time()
                kernel = op2.Kernel(text, "k")
                middle = time.process_time()
                if kernel.facts is None:
                    raise SystemExit(f"bench_cold: {kind} was not read: {kernel.opaque_reason}")
                end = time.process_time()
                each = 1e6 * (middle - begin) / len(text)
                first = first or each
                print(
                    f"{kind:10} {len(text):10} {middle - begin:10.3f} {end - middle:10.3f} "
                    f"{each:13.2f} {each / first:16.2f}",
                    flush=True,
                )


def measure_first(backend: str, repeats: int, *, cpu: bool) -> None:
    """Print the times of a first loop, compiler included, and of the compiler alone."""
    ours: dict[str, list[float]] = {"direct": [], "edges": []}
    alone: dict[str, list[float]] = {"direct": [], "edges": []}
    before = os.environ.get("PYOP2CXX_CC")
    for _ in range(repeats):
        for kind in ours:
            with tempfile.TemporaryDirectory() as place:
                folder, real = Path(place), before or "cc"
                log, script = folder / "log", folder / "compiler"
                script.write_text(
                    '#!/bin/sh\nfor a in "$@"; do case $a in */loop.c) '
                    f'cp "$a" {folder}/loop.c; printf \'%s\\n\' "$@" > {log};; esac; done\n'
                    f'exec {real} "$@"\n'
                )
                script.chmod(0o755)
                os.environ["PYOP2CXX_CC"] = str(script)
                how = ("first", backend, str(folder / "cache"), f"first {kind}")
                ours[kind] += in_fresh_process(*how, cpu=cpu).values()
                words = [
                    str(folder / "loop.c") if word.endswith("/loop.c") else word
                    for word in log.read_text().splitlines()
                ]
                words[words.index("-o") + 1] = str(folder / "loop.so")
                begin = now(cpu=cpu)
                subprocess.run([real, *words], check=True)
                alone[kind].append(now(cpu=cpu) - begin)
    print("first loop   least s   compiler alone   ratio   medians and their ratio")
    for kind, seconds in ours.items():
        least, by_compiler = min(seconds), min(alone[kind])
        middle, usual = median(seconds), median(alone[kind])
        print(
            f"{kind:10} {least:9.4f} {by_compiler:16.4f} {least / by_compiler:7.2f}   "
            f"{middle:.4f} {usual:.4f} {middle / usual:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=["tables", "statements", "loops"])
    parser.add_argument("--sizes", nargs="+", type=float, default=[0.1, 0.3, 1.0, 3.0])
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--wall", action="store_true", help="first loops by the clock on the wall")
    parser.add_argument("--repeats", type=int, default=9, help="of first loops; 0: none")
    options = parser.parse_args()
    measure_reading(options.kinds, options.sizes)
    if options.repeats:
        measure_first(options.backend, options.repeats, cpu=not options.wall)


if __name__ == "__main__":
    main()
