# SPDX-License-Identifier: BSD-3-Clause
"""What docs/pyop2.md says of PyOP2's programs, where no other test does."""

from __future__ import annotations

import ctypes
import importlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    ConfigurationError,
    IndexValueError,
    MapTypeError,
    SetTypeError,
    SizeTypeError,
    UnsupportedError,
    UsageError,
)

pytestmark = pytest.mark.pyop2

PAGE = (Path(__file__).parents[2] / "docs/pyop2.md").read_text()
MODULES = {
    "op2": "par_loop",
    "exceptions": "MapValueError",
    "types": "Dat",
    "configuration": "configuration",
    "parloop": "Parloop",
    "global_kernel": "GlobalKernel",
    "local_kernel": "CStringLocalKernel",
    "logger": "set_log_level",
    "mpi": "COMM_WORLD",
    "base": "ParLoop",
    "utils": "verify_reshape",
    "datatypes": "as_cstr",
    "profiling": "timed_function",
    "caching": "memory_cache",
    "compilation": "load",
    "codegen.rep2loopy": "function_text",
    "types.access": "READ",
    "types.halo": "Halo",
}


@pytest.mark.parametrize("module", MODULES)
def test_modules_that_are_there(module: str) -> None:
    assert f"`{module}`" in PAGE or module.startswith("types.")
    assert hasattr(importlib.import_module(f"pyop2cxx.pyop2.{module}"), MODULES[module])


@pytest.mark.parametrize("name", ["DecoratedMap", "cfg", "generate_single_cell_wrapper"])
def test_names_that_are_not_there(name: str) -> None:
    assert re.search(rf"`(op2\.)?{name}\b", PAGE)
    assert not hasattr(op2, name)


def test_types_of_petsc() -> None:
    text = """
    void f(PetscScalar *x) {
      PetscInt i = 2;
      PetscReal r = 3;
      *x = (sizeof(PetscInt) == 4) * (sizeof(PetscReal) == 8) * (i + r);
    }
    """
    x = op2.Dat(op2.Set(3))
    op2.par_loop(op2.Kernel(text, "f"), x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [5, 5, 5]


def test_of_four_sizes_the_third_counts_ghosts_that_are_not_computed_here() -> None:
    assert op2.Set((1, 2, 3)).sizes == op2.Set((1, 2, 2, 3)).sizes == (1, 2, 3)
    cells, nodes = op2.Set(iter((1, 2, 3, 4))), op2.Set(4)
    assert cells.sizes == (1, 2, 4)
    for wrong in ((1, 2, 5, 4), (1, 3, 2, 4), (1, 2, -3, 4), (1, 2, 3.5, 4), (1, 2, 3, 4, 5)):
        with pytest.raises(SizeTypeError, match=r"\(core, owned, total\)"):
            op2.Set(wrong)
    ends = op2.Map(cells, nodes, 1, [0, 1, 2, 3])
    x, y = op2.Dat(cells, np.zeros(4)), op2.Dat(nodes, np.arange(4.0))
    copied = op2.Kernel("void f(double *x, const double *y) { *x = *y + 1; }", "f")
    op2.par_loop(copied, cells, x(op2.WRITE), y(op2.READ, ends))
    assert x.data_ro_with_halos.tolist() == [1, 2, 0, 0]
    for iterset in (cells, op2.Subset(cells, [0, 2])):
        added = op2.Kernel("void f(double *y) { *y += 1; }", "f")
        with pytest.raises(UnsupportedError, match="arg 0 is written through a Map, and by the th"):
            op2.par_loop(added, iterset, y(op2.INC, ends))
    assert y.data_ro.tolist() == [0, 1, 2, 3]


OVERWRITTEN = """
import numpy as np
import pyop2cxx.pyop2
pyop2cxx.pyop2.install(replace=True)
from pyop2 import op2
from pyop2.configuration import configuration
cells = op2.Set(5)
x, g = op2.Dat(cells, np.arange(5.0)), op2.Global(2, [7.0, 8.0], float)
kernel = op2.Kernel("void f(double *g, const double *x) { g[0] = x[0]; g[1] = 2 * x[0]; }", "f")
both = op2.Kernel("void f(double *g, double *x) { g[0] = x[0]; }", "f")
def refused(run):
    try:
        run()
    except Exception as error:
        print(type(error).__name__, str(error).split(": ")[-1][:50])
refused(lambda: op2.par_loop(kernel, cells, g(op2.WRITE), x(op2.READ)))
configuration["type_check"] = False
op2.par_loop(kernel, op2.Set(0), g(op2.WRITE), op2.Global(1, 1.0)(op2.READ))
print(g.data_ro.tolist())
op2.par_loop(kernel, cells, g(op2.WRITE), x(op2.READ))
print(g.data_ro.tolist())
loop = op2.ParLoop(kernel, op2.Subset(cells, [0, 3, 1]), g(op2.WRITE), x(op2.READ))
loop()
print(g.data_ro.tolist())
x.data[3] = 30
other = op2.Global(2, 0.0)
loop({0: other})
print(g.data_ro.tolist(), other.data_ro.tolist())
op2.par_loop(kernel, op2.ExtrudedSet(cells, 4), g(op2.WRITE), x(op2.READ))
print(g.data_ro.tolist())
refused(lambda: op2.par_loop(both, cells, g(op2.WRITE), x(op2.RW)))
refused(lambda: op2.ParLoop(kernel, cells, g(op2.WRITE), x(op2.READ)).compute(cells.core_part))
local = op2.LocalKernel(kernel.code, "f", [op2.WRITE, op2.READ], ["float64", "float64"])
described = op2.GlobalKernelArg((2,)), op2.DatKernelArg((1,))
given = op2.GlobalParloopArg(g), op2.DatParloopArg(x)
refused(lambda: op2.Parloop(op2.GlobalKernel(local, described), cells, given))
"""


@pytest.mark.parametrize("name", ["sequential", "openmp"])
def test_the_last_element_decides_about_a_global_that_is_overwritten(name: str) -> None:
    """Without PyOP2's checks of types, as Firedrake interpolates into Real spaces."""
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path), "PYOP2CXX_BACKEND": name}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OVERWRITTEN],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "ModeValueError READ, INC, MIN, MAX; to set it, assign to its 'dat",
        "[7.0, 8.0]",
        "[4.0, 8.0]",
        "[3.0, 6.0]",
        "[3.0, 6.0] [30.0, 60.0]",
        "[4.0, 8.0]",
        "UnsupportedError a Global is overwritten (WRITE), so argument 1 mus",
        "UnsupportedError a Global is overwritten; compute all elements",
        "UnsupportedError a Global is overwritten; use op2.ParLoop",
    ], done.stderr


class Tree:
    """A kernel as COFFEE's trees are: `gencode` returns the text."""

    def __init__(self, body: str) -> None:
        self.body = body

    def gencode(self) -> str:
        return f"static inline void f (double *x)\n{{\n  {self.body}\n}}\n"


def test_kernels_are_made_of_trees_of_coffee() -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells, np.arange(3.0))
    kernel = op2.Kernel(Tree("x[0] *= 2;"), "f")
    assert kernel.code.startswith("static inline void f")
    op2.par_loop(kernel, cells, x(op2.RW))
    assert x.data_ro.tolist() == [0, 2, 4]


def test_names_of_2016() -> None:
    from pyop2cxx.pyop2 import base, sequential

    cells = op2.Set(3)
    op2.par_loop(op2.Kernel("void f(double *x) { *x = 3; }", "f"), cells, op2.Dat(cells)(op2.WRITE))
    assert len(base.JITModule._cache) > 0
    base.JITModule._cache.clear()
    assert len(base.JITModule._cache) == 0
    assert sequential.Dat is op2.Dat
    assert issubclass(sequential.NameTypeError, TypeError)


def test_a_kernel_of_2016_without_text_is_refused_behind_its_space() -> None:
    cells, nodes = op2.Set(2), op2.Set(4)
    maps = [op2.Map(cells, nodes, n, np.zeros((2, n), int)) for n in (1, 2)]
    x, kernel = op2.Dat(nodes), op2.Kernel("", "f", abi="2016")
    with pytest.raises(IndexValueError):
        op2.par_loop(kernel, cells, *(x(op2.WRITE, map_[op2.i[0]]) for map_ in maps))
    with pytest.raises(UsageError, match="has no text"):
        op2.par_loop(kernel, cells, x(op2.WRITE, maps[0][op2.i[0]]))


def test_an_rw_argument_of_2016_is_written_back() -> None:
    cells, nodes = op2.Set(2), op2.Set(4)
    ends = op2.Map(cells, nodes, 2, [[0, 1], [2, 3]])
    x = op2.Dat(nodes, np.arange(4.0))
    kernel = op2.Kernel("void f(double *x) { x[0] += 10; }", "f", abi="2016")
    op2.par_loop(kernel, cells, x(op2.RW, ends[op2.i[0]]))
    assert x.data_ro.tolist() == [10, 1, 12, 3]


def test_a_write_argument_of_2016_keeps_what_is_not_written() -> None:
    cells, nodes = op2.Set(1), op2.Set(2)
    ends = op2.Map(cells, nodes, 2, [0, 1])
    for abi, text, wanted in (
        ("2016", "void f(double **x) { x[0][0] = 10; }", [10, 2]),
        ("2026", "void f(double *x) { x[0] = 10; }", [10, 0]),
    ):
        x = op2.Dat(nodes, [1.0, 2.0])
        op2.par_loop(op2.Kernel(text, "f", abi=abi), cells, x(op2.WRITE, ends))
        assert x.data_ro.tolist() == wanted


def test_maps_of_mixed_maps_start_together() -> None:
    a, b = op2.Set(1), op2.Set(1)
    with pytest.raises(MapTypeError):
        op2.MixedMap((op2.Map(a, a, 1, [0]), op2.Map(b, a, 1, [0])))


def test_options() -> None:
    op2.init(type_check=False, debug=0)
    assert op2.configuration["type_check"] is False
    with pytest.raises(ConfigurationError, match="unknown option 'foo'"):
        op2.init(foo="bar")
    op2.exit()


def test_who_wants_loops_to_wait_is_told_how() -> None:
    with pytest.warns(UserWarning, match=r"'lazy_evaluation': it has no effect; .*init\(lazy=True"):
        op2.init(lazy_evaluation=True)
    assert op2.configuration["lazy_evaluation"] is True
    assert op2.configuration["lazy"] is False
    op2.exit()
    op2.init(lazy_evaluation=False)  # without a warning, which would be an error here
    op2.exit()


def test_columns_have_no_values() -> None:
    with pytest.raises(UnsupportedError):
        op2.ExtrudedSet(op2.Set(2), 3) ** 1


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = ":".join(filter(None, (environment.get("first", ""), *sys.path)))
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_of_op2_is_in_the_package_itself() -> None:
    program = """
from pyop2cxx import Set, configuration, op2, pyop2
assert Set is op2.Set and configuration is op2.configuration
assert pyop2.Set is Set and pyop2.op2 is op2 and pyop2.READ is op2.READ
from pyop2cxx.pyop2.op2 import Dat, GlobalKernel
from pyop2cxx.pyop2 import op2 as again
assert again is op2 and Dat is op2.Dat and GlobalKernel is op2.GlobalKernel
try:
    from pyop2cxx import nothing
except ImportError as error:
    print("no nothing")
"""
    done = run(program)
    assert done.stdout == "no nothing\n", done.stderr


INSTALLED = """
import pyop2cxx.pyop2
pyop2cxx.pyop2.install(replace=True)
pyop2cxx.pyop2.install(replace=True)
import pyop2
from pyop2 import op2, READ
from pyop2.types.dat import Dat
from pyop2.types import Map
import pyop2.global_kernel, pyop2.codegen.rep2loopy
import pyop2cxx.op2
assert op2 is pyop2cxx.op2 and Dat is op2.Dat and Map is op2.Map and READ is op2.READ
assert pyop2.global_kernel is pyop2cxx.pyop2.global_kernel
assert pyop2.global_kernel.GlobalKernel is op2.GlobalKernel
assert pyop2.global_kernel.__spec__.name == "pyop2cxx.pyop2.global_kernel"
try:
    import pyop2.nothing
except ModuleNotFoundError as error:
    print(error)
"""


def test_a_program_of_pyop2s_modules_runs_once_they_are_installed() -> None:
    done = run(INSTALLED)
    assert done.stdout == "No module named 'pyop2.nothing'\n", done.stderr


def real_pyop2(folder: Path) -> None:
    (folder / "pyop2").mkdir()
    (folder / "pyop2" / "__init__.py").write_text("name = 'real'\n")
    (folder / "pyop2" / "sparsity.py").write_text("name = 'real'\n")


def test_a_real_pyop2_is_left_alone(tmp_path: Path) -> None:
    real_pyop2(tmp_path)
    program = """
import pyop2cxx.pyop2
from pyop2cxx.exceptions import UsageError
try:
    pyop2cxx.pyop2.install()
except UsageError as error:
    print(error)
import pyop2
print(pyop2.name)
try:
    pyop2cxx.pyop2.install(replace=True)
except UsageError as error:
    print(error)
"""
    done = run(program, first=str(tmp_path))
    first, second, third = done.stdout.splitlines()
    assert "a PyOP2 is installed, " in first, done.stderr
    assert "replace=True" in first
    assert str(tmp_path) in first
    assert second == "real"
    assert "'pyop2' was imported before" in third
    assert "before the first import of" in third


def test_a_real_pyop2_is_replaced(tmp_path: Path) -> None:
    real_pyop2(tmp_path)
    program = """
import sys, types
import pyop2cxx.pyop2
pyop2cxx.pyop2.install(replace=True)
pyop2cxx.pyop2.install()
import pyop2, pyop2.types.dat
assert pyop2 is pyop2cxx.pyop2 and not hasattr(pyop2, "name")
added = types.ModuleType("pyop2cxx.pyop2.added")
sys.modules["pyop2cxx.pyop2.added"] = added
import pyop2.added
assert pyop2.added is added
print(pyop2.types.dat.Dat.__module__)
"""
    done = run(program, first=str(tmp_path))
    assert done.stdout == "pyop2cxx.data.dats\n", done.stderr


def test_pyop2_is_replaced_for_all_programs_of_a_folder(tmp_path: Path) -> None:
    real_pyop2(tmp_path)
    program = f"import site; site.addsitedir({str(tmp_path)!r}); import pyop2; print(pyop2)"
    asked = "import sys, pyop2cxx.pyop2.__main__ as m; sys.exit(m.main(['{}', '--folder={}']))"
    for command, status, said, found in (
        ("status", 1, "pyop2 is not pyop2cxx", str(tmp_path)),
        ("enable", 0, "pyop2 is pyop2cxx", "pyop2cxx.pyop2"),
        ("enable", 0, "in the place of", "pyop2cxx.pyop2"),
        ("status", 0, "pyop2 is pyop2cxx", "pyop2cxx.pyop2"),
        ("disable", 0, "pyop2 is not pyop2cxx", str(tmp_path)),
        ("disable", 0, "pyop2 is not pyop2cxx", str(tmp_path)),
    ):
        done = run(asked.format(command, tmp_path), first=str(tmp_path))
        assert (done.returncode, said in done.stdout) == (status, True), done
        imported = run(program, first=str(tmp_path))
        assert found in imported.stdout, imported
    done = run(asked.format("enable", tmp_path / "absent"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


def test_all_names_used_by_firedrake_are_there() -> None:
    pytest.importorskip("loopy")  # some names are callables of loopy
    folder = Path(__file__).parents[1] / "firedrake"
    done = run(f"import sys; sys.path.insert(0, {str(folder)!r}); import names; {NAMES}")
    assert done.stdout.splitlines() == ["['pyop2.op2.nothing']", "True", "[]"], done.stderr


NAMES = "; ".join(
    (
        "print([n for n in ('pyop2.op2.Dat', 'pyop2.op2.nothing') if not names.is_there(n)])",
        "print(len(names.LIST.read_text().split()) > 100)",
        "print(names.missing())",
    )
)


def test_options_are_set_by_pyop2s_other_name() -> None:
    op2.configuration.unsafe_reconfigure(type_check=False)
    assert op2.configuration["type_check"] is False
    op2.exit()


def test_sets_and_maps_describe_themselves() -> None:
    base, nodes = op2.Set(2), op2.Set(8)
    columns = op2.ExtrudedSet(base, 3)
    part = op2.Subset(columns, [1])
    assert [one._extruded for one in (base, columns, part)] == [False, True, True]
    assert [one._extruded_periodic for one in (base, columns, part)] == [False, False, False]
    assert op2.MixedSet((base, nodes))._extruded is False
    up = op2.Map(columns, nodes, 2, [[0, 1], [4, 5]], offset=[1, 1])
    assert isinstance(up._global_kernel_arg, op2.MapKernelArg)
    assert up._global_kernel_arg is up._global_kernel_arg
    assert up._global_kernel_arg.offset == (1, 1)
    turned = op2.PermutedMap(up, [1, 0])._global_kernel_arg
    assert turned.base_map is up._global_kernel_arg
    assert turned.permutation == (1, 0)
    first = op2.Map(nodes, base, 1, [0] * 8)
    second = op2.Map(base, nodes, 1, [3, 4])
    assert op2.ComposedMap(second, first)._global_kernel_arg.arity == 1
    both = op2.MixedMap((up, up))
    assert both._global_kernel_arg == (up._global_kernel_arg,) * 2


def test_a_global_among_dats_is_zeroed_by_subset_too() -> None:
    total = op2.Global(1, 3.0)
    total.halo_valid = False
    total.zero(subset=op2.Subset(op2.Set(3), [1]))
    assert (total.data_ro[0], total.halo_valid) == (0, True)


def test_mixed_data_are_given_as_those_of_a_single_field() -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    c2n, c2c = op2.Map(cells, nodes, 2, [0, 1, 1, 2]), op2.Map(cells, cells, 1, [0, 1])
    both, dset = op2.MixedMap((c2n, c2c)), op2.MixedDataSet((nodes, cells), (1, 1))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)]))
    x = op2.MixedDat((op2.Dat(nodes), op2.Dat(cells)))
    text = "void f(double *A, double *x) { for (int i = 0; i < 9; ++i) A[i] += 1; x[2] += 1; }"
    local = op2.LocalKernel(text, "f", [op2.INC, op2.INC], ["float64"] * 2)
    maps = both._global_kernel_arg
    of_mat = op2.MixedMatKernelArg(
        tuple(op2.MatKernelArg((((1, 1),),), (r, c)) for r in maps for c in maps), (2, 2)
    )
    of_dat = op2.MixedDatKernelArg(tuple(op2.DatKernelArg((1,), m) for m in maps))
    data = [op2.MatParloopArg(mat, (both, both)), op2.DatParloopArg(x, both)]
    assert all(isinstance(one, op2.ParloopArg) for one in data)
    loop = op2.Parloop(op2.GlobalKernel(local, [of_mat, of_dat]), cells, data)
    loop()
    assert mat.values.sum() == 18
    assert x[1].data_ro.tolist() == [1, 1]
    other = op2.Mat(mat.sparsity)
    loop.arguments[0].data = other
    loop()
    assert mat.values.sum() == other.values.sum() == 18


def test_the_cache_is_cleared_if_the_user_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compilation = importlib.import_module("pyop2cxx.pyop2.compilation")
    op2.init(cache_dir=str(tmp_path / "kernels"))
    for answer, said in (("n", False), ("y", True)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer + chr(10)))
        compilation.clear_compiler_disk_cache(prompt=True)
        out = capsys.readouterr().out
        assert str(tmp_path) in out
        assert ("deleted " in out) is said
    compilation.clear_compiler_disk_cache()
    assert "deleted 0 kernels" in capsys.readouterr().out
    op2.exit()


def test_values_are_taken_in_c_order_by_programs_of_pyop2() -> None:
    program = """
import sys
from pyop2cxx import op2
from pyop2cxx.exceptions import DataValueError
import numpy as np
two = np.array([[0., 1, 2], [3, 4, 5]])
try:
    op2.Dat(op2.Set(3) ** 2, two)
except DataValueError as error:
    print("refused")
import pyop2cxx.pyop2
pyop2cxx.pyop2.install(replace=True)
print(op2.Dat(op2.Set(3) ** 2, two).data_ro.tolist())
"""
    done = run(program)
    assert done.stdout.splitlines() == ["refused", "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]"], done


def test_a_kernel_without_text_is_refused_after_the_set() -> None:
    cells = op2.Set(2)
    x = op2.Dat(cells)
    with pytest.raises(SetTypeError):
        op2.par_loop(op2.Kernel("", "k"), "no set", x(op2.READ))
    with pytest.raises(UsageError, match="has no text"):
        op2.par_loop(op2.Kernel("", "k"), cells, x(op2.READ))


def test_pyop2s_programs_ask_dats_and_sparsities() -> None:
    cells = op2.Set(2)
    dat, identity = op2.Dat(cells), op2.Map(cells, cells, 1, [0, 1])
    assert dat._is_allocated is False
    assert dat.data.tolist() == [0, 0]
    assert dat._is_allocated is True
    assert op2.Sparsity((cells**1, cells**1), identity)._diagonal_block is True


def test_addresses_for_c_of_the_program() -> None:
    from pyop2cxx.pyop2.compilation import load

    edges, nodes = op2.Set(2), op2.Set(3)
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2]])
    x, g = op2.Dat(nodes, [1.0, 2.0, 4.0]), op2.Global(1, 3.0)
    text = "double far(const double *x, const int *e, double *g) { return g[0] * x[e[3]]; }"
    far = load(text, "c").far
    addresses = [address for one in (x, ends, g) for address in one._kernel_args_]
    far.restype, far.argtypes = ctypes.c_double, [ctypes.c_void_p] * 3
    with op2.backend("sequential"):
        assert far(*addresses) == 12
        op2.par_loop(op2.Kernel("void up(double *x) { x[0] += 1; }", "up"), nodes, x(op2.RW))
        assert far(*addresses) == 15  # the memory of a Dat stays
    assert ends._cache is ends._cache
    assert ends._cache == {}
