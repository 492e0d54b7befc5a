# SPDX-License-Identifier: BSD-3-Clause
"""Text on lanes under the address and undefined-behaviour sanitizers: no lane reads or writes
what is not its own, whatever the tails."""

from __future__ import annotations

import re
import struct
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import with_program
from random_kernels import carriers, loop_of, many_kernels
from test_owner_lanes import force, sums_data, sums_of

from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ, WRITE
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

# Reads the arrays, each into memory of its own, runs the loop and writes them again.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  long head[3];
  if (fread(head, sizeof(long), 3, stdin) != 3) return 2;
  void **argv = malloc(head[2] * sizeof(void *));
  long *sizes = malloc(head[2] * sizeof(long));
  for (long i = 0; i < head[2]; ++i) {
    if (fread(sizes + i, sizeof(long), 1, stdin) != 1) return 2;
    argv[i] = malloc(sizes[i]);
    if (fread(argv[i], 1, sizes[i], stdin) != (size_t)sizes[i]) return 2;
  }
  struct op2_context_v1 context = {0};
  context.n_threads = 1;
  if (LAUNCH(&context, head[0], head[1], argv, (unsigned)head[2]) != 0) return 3;
  for (long i = 0; i < head[2]; ++i) {
    fwrite(argv[i], 1, sizes[i], stdout);
    free(argv[i]);
  }
  free(argv);
  free(sizes);
  return 0;
}
"""
FLAGS = ("-O1", "-g", "-march=native", "-fno-math-errno", "-w")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    """One thread, and no options left behind."""
    with op2.backend("sequential"):
        yield
    op2.exit()


class Program:
    """A loop's text as a program under the sanitizers.

    Args:
        text: The text.
        name: The kernel's name.
        compiler: Who compiles it.
        folder: Where it may write.
    """

    def __init__(self, text: str, name: str, compiler: str, folder: Path) -> None:
        source, self.path = folder / "loop.c", folder / "loop"
        source.write_text(text + DRIVER.replace("LAUNCH", f"op2_launch_{name}"))
        command = [compiler, *FLAGS, *SANITIZERS, "-o", str(self.path), str(source), "-lm"]
        subprocess.run(command, check=True)
        found = re.findall(r"\*const (\w+) = \([^)]*\)argv\[(\d+)\];", text)
        named = {int(index): name for name, index in found}
        # names that the wrapper has itself are given a number; what has no name is not used
        self.names = [re.sub(r"_\d+$", "", named.get(i, "")) for i in range(max(named) + 1)]

    def run(self, begin: int, end: int, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Run it over copies of the arrays, named as in the text; return what they hold then."""
        unused = np.empty(0)
        given = [np.ascontiguousarray(arrays[name] if name else unused) for name in self.names]
        parts = [struct.pack("3q", begin, end, len(given))]
        for array in given:
            parts += [struct.pack("q", array.nbytes), array.tobytes()]
        ran = subprocess.run([self.path], input=b"".join(parts), capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
        out, at = {}, 0
        for name, array in zip(self.names, given, strict=True):
            out[name] = np.frombuffer(ran.stdout, array.dtype, array.size, at).reshape(array.shape)
            at += array.nbytes
        return out


@pytest.mark.parametrize(("compiler", "lanes"), [with_program("gcc", 4), with_program("clang", 8)])
def test_random_kernels(compiler: str, lanes: int, tmp_path: Path) -> None:
    kernel = op2.Kernel(many_kernels(lanes, 2), "many")
    text = str(loop_of(kernel, carriers(1, 0), lanes).generate())
    program = Program(text, "many", compiler, tmp_path)
    for n in (1, lanes + 1, 3 * lanes - 1):
        data = carriers(n, n)
        arrays = {name: carrier.data_ro.copy() for name, carrier in data.items() if name != "c2n"}
        arrays["x_map"] = data["c2n"].values.astype(np.int32)
        found = program.run(0, n, arrays)
        loop_of(kernel, data, 0).compute()
        for name in ("a", "w", "z", "total", "most"):
            want = data[name].data_ro
            scale = max(1.0, float(np.abs(want).max()))
            np.testing.assert_allclose(found[name], want, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("by_instructions", [False, True])
def test_columns_and_gather_instructions(by_instructions: bool, tmp_path: Path) -> None:
    """Ranges of cells that begin and end inside columns."""
    if by_instructions and runtime.engine.gather_bytes == 0:
        pytest.skip("the machine has no gather instructions")
    op2.init(hardware_gathers=by_instructions)
    text = """void f(const double *x, double *y, double *z) {
      double s = 0.0;
      for (int i = 0; i < 4; ++i) s += x[2 * i] * x[2 * i + 1];
      for (int i = 0; i < 4; ++i) y[i] += s * i;
      *z = s;
    }"""
    kernel = op2.Kernel(text, "f")
    rng, n, layers = np.random.default_rng(3), 7, 5
    columns = op2.ExtrudedSet(op2.Set(n), layers + 1)
    points, cells = op2.Set(4 * (layers + 1)), op2.Set(n * layers)
    start = rng.integers(0, 4, (n, 2)) * (layers + 1)
    c2p = op2.Map(
        columns, points, 4, np.hstack([start, start + 1])[:, [0, 2, 1, 3]], offset=[1] * 4
    )
    own = op2.Map(columns, cells, 1, np.arange(n)[:, None] * layers, offset=[1])
    x = op2.Dat(points**2, rng.standard_normal((points.size, 2)))
    y, z = op2.Dat(points), op2.Dat(cells)
    args = (x(READ, c2p), y(INC, c2p), z(WRITE, own))
    code = str(op2.ParLoop(kernel, columns, *args, lanes=4).generate())
    program = Program(code, "f", "gcc", tmp_path)
    arrays = {"x": x.data_ro.copy(), "y": y.data_ro.copy(), "z": z.data_ro.copy()}
    arrays |= {"x_map": c2p.values.astype(np.int32), "z_map": own.values.astype(np.int32)}
    arrays["layers"] = np.array([layers, 0, 0, layers + 1])
    for begin, end in ((0, 3), (3, 4), (4, 19), (19, 35)):
        arrays |= program.run(begin, end, arrays)
    op2.ParLoop(kernel, columns, *args, lanes=0).compute()
    np.testing.assert_allclose(arrays["y"], y.data_ro, rtol=0, atol=1e-12)
    np.testing.assert_allclose(arrays["z"], z.data_ro, rtol=0, atol=1e-13)


def columns_of(maps: list[NDArray[Any]], n_targets: int, lanes: int) -> dict[str, NDArray[Any]]:
    """Columns of one slot, from their definition: targets in their order, gaps repeat a neighbour.

    Args:
        maps: Entries of the Maps that are added through.
        n_targets: Of all of them.
        lanes: Targets of a group.
    """
    slots = np.hstack(maps).T
    found: list[list[list[int]]] = [[[] for _ in slots] for _ in range(n_targets)]
    for slot, targets in enumerate(slots):
        for element, target in enumerate(targets):
            found[target][slot].append(element)
    offset, slot_of, elements = [0], [], []
    for first in range(0, n_targets, lanes):
        group = found[first : first + lanes]
        group += [[[] for _ in slots]] * (lanes - len(group))
        for slot in range(len(slots)):
            for k in range(max(len(rows[slot]) for rows in group)):
                column = [rows[slot][k] if k < len(rows[slot]) else -1 for rows in group]
                spare = -1 - max(column)
                elements.append([e if e >= 0 else spare for e in column])
                slot_of.append(slot)
        offset.append(len(slot_of))
    return {
        "sizes": np.array([n_targets]),
        "column_offset": np.array(offset),
        "column_slot": np.array(slot_of, np.int32),
        "incidence": np.array(elements, np.int32).reshape(-1, lanes),
        "row_target": np.arange(n_targets, dtype=np.int32),
    }


@pytest.mark.parametrize(("compiler", "lanes"), [with_program("gcc", 4), with_program("clang", 8)])
def test_owners_by_slot(compiler: str, lanes: int, tmp_path: Path) -> None:
    """Groups that are not full, and targets without elements."""
    with pytest.MonkeyPatch.context() as patch:
        force(patch, by_slot=True)
        text = str(sums_of(*sums_data(1, 1, 0), lanes).generate())
    program = Program(text, "sums", compiler, tmp_path)
    for n, n_nodes in ((1, 3), (40, lanes + 1), (25, 3 * lanes - 1), (9, 2 * lanes)):
        cells, args = sums_data(n, n_nodes, n)
        x, w, z, y, v, low, total, most = (arg.data for arg in args)
        carriers = {"x": x, "w": w, "z": z, "y": y, "v": v, "low": low}
        carriers |= {"total": total, "most": most}
        arrays = {name: carrier.data_ro.copy() for name, carrier in carriers.items()}
        arrays |= columns_of([args[3].map_.values, args[4].map_.values], n_nodes, lanes)
        elements = np.where(arrays["incidence"] < 0, -1 - arrays["incidence"], arrays["incidence"])
        arrays["x_map_rows"] = args[0].map_.values.astype(np.int32)[elements]
        found = program.run(0, -(-n_nodes // lanes), arrays)
        sums_of(cells, args, 0).compute()
        for name in ("y", "v", "low", "total", "most"):
            want = carriers[name].data_ro
            scale = max(1.0, float(np.abs(want).max()))
            np.testing.assert_allclose(found[name], want, rtol=0, atol=1e-13 * scale)
