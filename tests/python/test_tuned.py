# SPDX-License-Identifier: BSD-3-Clause
"""Loops that are measured when a table is built, and run as was fastest by who loads it."""

from __future__ import annotations

import ast
import ctypes
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from programs import is_gpu

from pyop2cxx import op2
from pyop2cxx.ahead.entries import Collected
from pyop2cxx.ahead.manifest import MANIFEST
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.cli import main
from pyop2cxx.runtime.tuned_file import Entry, Place, read, written
from pyop2cxx.tune.measure import decide

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = """
import numpy as np
from pyop2cxx import op2

n = 3000
cells, edges = op2.Set(n, "cells"), op2.Set(n - 1, "edges")
i = np.arange(n - 1)
ends = op2.Map(edges, cells, 2, np.stack([i, i + 1], 1), "ends")
heat = op2.Dat(cells, np.arange(n) % 7.0, name="heat")
flow, total = op2.Dat(cells, name="flow"), op2.Global(1, 0.0, name="total")
flux = op2.Kernel(
    "void flux(double *f, const double *h) { double d = h[1] - h[0]; f[0] += d; f[1] -= d; }",
    "flux",
)
step = op2.Kernel("void step(double *h, double *f) { h[0] += 0.25 * f[0]; f[0] = 0; }", "step")
add = op2.Kernel("void add(double *t, const double *h) { t[0] += h[0]; }", "add")
for _ in range(3):
    op2.par_loop(flux, edges, flow(op2.INC, ends), heat(op2.READ, ends))
    op2.par_loop(step, cells, heat(op2.RW), flow(op2.RW))
op2.par_loop(flux, edges, flow(op2.INC, ends), heat(op2.READ, ends), strategy="atomic")
op2.par_loop(add, cells, total(op2.INC), heat(op2.READ))
total = total.data_ro[0]
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program and its table."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "heat.py").write_text(PROGRAM)
    backends = "sequential,openmp"
    if next(one for one in op2.backends() if one.name == "opencl").available:
        backends += ",opencl"
    command = ["build", "--tuned", "--backend", backends, "-o", str(folder / "lib")]
    assert main([*command, str(folder / "heat.py")]) == 0
    op2.exit()
    return folder


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return found


def program_with(folder: Path, library: Path, backend: str) -> list[str]:
    """What runs the program on a table, and says of its loop 'flux' how it ran."""
    code = f"""
from pyop2cxx import op2
op2.init(eti_only=True, backend={backend!r})
op2.dispatch.load({str(library)!r})
exec(open({str(folder / "heat.py")!r}).read())
loop = op2.ParLoop(flux, edges, flow(op2.INC, ends), heat(op2.READ, ends))
print(total, op2.dispatch.lookup(loop).strategy, loop.explain().why, sep="|")
print(loop.explain().lanes, dict(loop.explain().tuning), sep="|")
"""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [word for line in done.stdout.splitlines() for word in line.split("|")]


def measured_in(folder: Path) -> dict[tuple[str, str], Entry]:
    """The measurements of a table, by loop and backend."""
    found: dict[tuple[str, str], Entry] = {}
    for name in manifest_of(folder)["tuned"]:
        place, entries, problem = read(folder / name)
        assert place is not None
        assert not problem
        found |= {(one.name, place.backend): one for one in entries}
    return found


def test_each_loop_is_measured_on_each_backend(built: Path) -> None:
    manifest = manifest_of(built / "lib")
    backends = {loop["backend"] for loop in manifest["loops"]}
    measured = measured_in(built / "lib")
    assert set(measured) == {
        (kernel, backend) for kernel in ("flux", "step", "add") for backend in backends
    }
    for subject, one in measured.items():
        # a direct loop has lanes to choose, but for GPUs
        assert one.n >= (1 if is_gpu(subject[1]) else 2)
        assert 0 < one.us <= one.rule_us < 1e6
        # what was chosen is in the table
        assert (one.way["strategy"], one.way["lanes"]) in {
            (loop["strategy"], loop["lanes"])
            for loop in manifest["loops"]
            if (loop["kernel"], loop["backend"]) == subject
        }
    assert measured["flux", "openmp"].n > measured["step", "openmp"].n  # more strategies


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_what_was_measured_is_run(built: Path, backend: str) -> None:
    one = measured_in(built / "lib")["flux", backend]
    total, strategy, why, lanes, numbers = program_with(built, built / "lib", backend)
    found = {"strategy": strategy, "lanes": int(lanes), "tuning": ast.literal_eval(numbers)}
    assert found == one.way
    assert why.startswith(f"measured (device, {one.when}): ")
    assert float(total) == sum(i % 7 for i in range(3000))


def changed(folder: Path, backend: str, text: Callable[[str], str]) -> None:
    """Change the file of a backend's measurements."""
    (name,) = [one for one in manifest_of(folder)["tuned"] if Path(one).name.startswith(backend)]
    (folder / name).write_text(text((folder / name).read_text()))


def asked_for_atomic(library: Path) -> dict[str, Any]:
    """Return the way of the loop 'flux' by 'atomic' on 'openmp', for which the program asks."""
    (lanes,) = [
        loop["lanes"]
        for loop in manifest_of(library)["loops"]
        if (loop["backend"], loop["kernel"], loop["strategy"]) == ("openmp", "flux", "atomic")
    ]
    return {"strategy": "atomic", "lanes": lanes, "tuning": {}}


def test_another_outcome_is_another_choice(built: Path) -> None:
    """As if 'atomic' had been fastest: the table has it, for a loop that asks for it."""
    library = built / "other"
    shutil.copytree(built / "lib", library)
    way = asked_for_atomic(library)

    def other(text: str) -> str:
        body = json.loads(text)
        entries = [Entry(**one) for one in body["entries"]]
        others = [one for one in entries if one.name != "flux"]
        fast = [replace(one, way=way, us=1.0, rule_us=3.0) for one in entries if one not in others]
        return written(Place(**body["place"]), [*others, *fast])

    changed(library, "openmp", other)
    total, strategy, why, *chosen = program_with(built, library, "openmp")
    assert [strategy, *chosen] == ["atomic", str(way["lanes"]), "{}"]
    assert why.endswith("1.0 us in place of 3.0 by the rules")
    assert float(total) == sum(i % 7 for i in range(3000))


def test_without_tuned_the_rules_choose(built: Path, tmp_path: Path) -> None:
    command = ["build", "--backend", "sequential", "-o", str(tmp_path / "lib")]
    assert main([*command, str(built / "heat.py")]) == 0
    op2.exit()
    assert manifest_of(tmp_path / "lib")["tuned"] == []
    _, _, why, *_ = program_with(built, tmp_path / "lib", "sequential")
    assert "measured" not in why


def test_damaged_measurements_of_a_table_are_said(built: Path) -> None:
    library = built / "damaged"
    shutil.copytree(built / "lib", library)
    changed(library, "openmp", lambda text: text[: len(text) // 2])
    with pytest.raises(UsageError, match=r"it is cut short.*; build the folder again"):
        op2.dispatch.load(library)


MAIN = """
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "heat.hpp"
#include "api/report.hpp"
int main(int, char** words) {
  const int n = std::atoi(words[1]);
  op2::init({"openmp", 2, "", "", 0, words[2]});
  op2::Set cells(n, "cells"), edges(n - 1, "edges");
  std::vector<int> values;
  for (int i = 0; i < n - 1; ++i) values.insert(values.end(), {i, i + 1});
  std::vector<double> heats(n), flows(n, 0.0);
  for (int i = 0; i < n; ++i) heats[i] = i % 7;
  op2::Map<2> ends(edges, cells, values, "ends");
  op2::Dat<double> heat(cells, heats, "heat"), flow(cells, flows, "flow");
  heat::flux(edges, flow, ends, heat)();
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += flows[i] * i;
  const op2::Report found = op2::report();
  for (const op2::LoopReport& one : found.loops) {
    std::printf("%s|%.1f|%s", one.strategy.c_str(), sum,
                one.measured.empty() ? "rule" : one.measured[0].c_str());
  }
  for (const std::string& line : found.problems) std::printf("|%s", line.c_str());
}
"""
BUILD = """
cmake_minimum_required(VERSION 3.16)
project(tuned_main LANGUAGES C CXX)
add_subdirectory({lib} loops)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE heat::cpp)
"""


def test_a_program_in_cpp_takes_the_way_of_its_size_and_device(
    built: Path, installed_runtime: Callable[[Path], Path]
) -> None:
    """As if 'atomic' had been fastest for few edges, and the other way of the table for many."""
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    source = built / "cpp"
    source.mkdir()
    (source / "main.cpp").write_text(MAIN)
    (source / "CMakeLists.txt").write_text(BUILD.format(lib=built / "lib"))
    prefix = f"-DCMAKE_PREFIX_PATH={installed_runtime(built / 'lib' / 'runtime')}"
    for command in (
        ["-S", str(source), "-B", str(source / "out"), "-DCMAKE_CXX_FLAGS_RELEASE=-O0", prefix],
        ["--build", str(source / "out"), "--target", "main", "-j2"],
    ):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert command[0] != "-S" or "the run-time is that of" in done.stdout
    (known,) = [one for one in read(store_of(built / "lib")).entries if one.name == "flux"]
    # both ways are in the table; the measured one may have numbers for tuning
    ways = {way["strategy"]: way for way in (known.way, asked_for_atomic(built / "lib"))}
    many, few = ways
    place = read(store_of(built / "lib")).place
    assert place is not None

    def kept(name: str, device: str, *sizes: tuple[int, str]) -> Path:
        folder = built / name
        folder.mkdir(mode=0o700)
        entries = [
            replace(
                known,
                size=size,
                way=ways[strategy],
                us=2.0,
                rule_us=6.0,
            )
            for size, strategy in sizes
        ]
        here = place._replace(device=device)
        (folder / here.file_name).write_text(written(here, entries))
        (folder / here.file_name).chmod(0o600)
        return folder

    def run(n: int, folder: Path) -> list[str]:
        done = subprocess.run(
            [str(source / "out" / "main"), str(n), str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("|")

    both = kept("both", place.device, (9, few), (13, many))
    small, large = run(400, both), run(5000, both)
    assert (small[0], large[0]) == (few, many)
    assert small[2].startswith(f"measured (exact): 2.0 us, 6.0 us by the rules: {few}")
    assert large[2].startswith("measured (exact)")
    assert run(2000, both)[0] in (few, many)
    far = run(400, kept("far", "A processor of 1979", (9, few)))
    assert (far[0], far[2][:17]) == (few, "measured (device)")
    assert run(400, built / "lib" / "tuned")[0] == known.way["strategy"]
    damaged = kept("cut", place.device, (9, few))
    (file,) = damaged.iterdir()
    file.write_text(file.read_text()[:300])
    strategy, total, how, problem = run(400, damaged)
    assert how == "rule"
    assert total == small[1]
    assert problem.endswith("it is cut short, or no file of this kind")
    assert strategy


def store_of(library: Path) -> Path:
    """The file of measurements for `openmp`."""
    (name,) = [one for one in manifest_of(library)["tuned"] if Path(one).name.startswith("openmp")]
    return library / str(name)


def test_the_data_of_the_program_are_as_they_were() -> None:
    cells = op2.Set(100, "cells")
    x, n = op2.Dat(cells, name="x"), op2.Global(1, 0, "int32", name="n")
    kernel = op2.Kernel("void grow(double *x, int *n) { x[0] += 1; n[0] += 1; }", "grow")
    loop = op2.ParLoop(kernel, cells, x(op2.RW), n(op2.INC))
    loop.compute()
    for backend in ("sequential", "openmp"):
        found = decide(loop, backend)
        assert isinstance(found, Entry)
        assert found.us <= found.rule_us
        assert found.n >= 2
        assert not found.refused
    assert x.data_ro.tolist() == [1.0] * 100
    assert n.data_ro.tolist() == [100]


def test_what_is_asked_for_is_not_measured() -> None:
    cells = op2.Set(4, "cells")
    x = op2.Dat(cells, name="x")
    kernel = op2.Kernel("void one(double *x) { x[0] = 1; }", "one")
    loop = op2.ParLoop(kernel, cells, x(op2.WRITE), lanes=4)
    assert decide(loop, "sequential") == ("its strategy, its lanes or its tuning were asked for")


def test_loops_that_were_not_measured_are_named() -> None:
    x = op2.Dat(op2.Set(4, "cells"), name="x")
    kernel = op2.Kernel("void one(double *x) { x[0] = 1; }", "one")
    collected = Collected(["sequential"], records=False, tuned=True)
    collected.note(op2.ParLoop(kernel, x.dataset.set, x(op2.WRITE), lanes=4))
    assert list(collected.measurements()) == [
        "not tuned: 'one' on sequential: its strategy, its lanes or its tuning were asked for"
    ]


def test_what_could_not_be_put_back_is_not_measured() -> None:
    box = (ctypes.c_double * 1)()
    handle = op2.PassthroughArg(op2.OpaqueType("double"), ctypes.addressof(box))
    put = op2.Kernel("void put(double *x, double *box) { *box += x[0]; }", "put")
    cells = op2.Set(4)
    with op2.backend("sequential"):
        loop = op2.ParLoop(put, cells, op2.Dat(cells, 1.0)(op2.READ), handle)
        loop.compute()
        assert "handed an address" in str(decide(loop, "sequential"))
    assert box[0] == 4.0
