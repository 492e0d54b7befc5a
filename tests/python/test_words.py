# SPDX-License-Identifier: BSD-3-Clause
"""Names and texts that C, files and UTF-8 cannot hold are refused by name, wherever they enter."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import io, mesh, op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh.files import read_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
TEXT = "void k(double *x) { x[0] = 1; }"
NODES = op2.Set(2)
ENTRIES: dict[str, Callable[[str], Any]] = {
    "Set": lambda s: op2.Set(2, s),
    "DataSet": lambda s: op2.DataSet(NODES, 1, s),
    "Map": lambda s: op2.Map(NODES, NODES, 1, [0, 1], s),
    "Dat": lambda s: op2.Dat(NODES, name=s),
    "Global": lambda s: op2.Global(1, 0.0, name=s),
    "Constant": lambda s: op2.Constant(1, 0.0, name=s),
    "Const": lambda s: op2.Const(1, 0.0, s),
    "Sparsity": lambda s: op2.Sparsity(
        (op2.DataSet(NODES), op2.DataSet(NODES)), [(op2.Map(NODES, NODES, 1, [0, 1]),) * 2], s
    ),
    "Kernel name": lambda s: op2.Kernel(TEXT, s),
    "Kernel text": lambda s: op2.Kernel(f"{TEXT} // {s}", "k"),
    "Kernel text of C++": lambda s: op2.Kernel(f"{TEXT} // {s}", "k", cpp=True),
    "opts": lambda s: op2.Kernel(TEXT, "k", opts=[f"-D{s}"]),
    "include_dirs": lambda s: op2.Kernel(TEXT, "k", include_dirs=[s]),
    "headers": lambda s: op2.Kernel(TEXT, "k", headers=[s]),
    "ldargs": lambda s: op2.Kernel(TEXT, "k", ldargs=[s]),
    "cflags": lambda s: op2.init(cflags=s),
    "cache_dir": lambda s: op2.init(cache_dir=s),
    "graph": lambda s: op2.graph(s),
    "record": lambda s: op2.record(lambda: None, name=s),
    "Dat.save": lambda s: op2.Dat(NODES).save(s),
    "Dat.load": lambda s: op2.Dat(NODES).load(s),
    "mesh.read": lambda s: mesh.read(f"{s}.msh"),
    "read_mesh": lambda s: read_mesh(f"{s}.npz"),
    "io.save": lambda s: io.save(f"{s}.h5", {"x": op2.Dat(NODES)}),
    "io.restore": lambda s: io.restore(f"{s}.h5", {"x": op2.Dat(NODES)}),
    "write_vtu": lambda s: io.write_vtu(f"{s}.vtu", mesh.interval_mesh(2), {}),
    "load_graph": lambda s: op2.load_graph(s),
}


@pytest.mark.parametrize("enter", ENTRIES.values(), ids=ENTRIES.keys())
@pytest.mark.parametrize("word", ["a\0b", "a\ud800b", "\udcff"], ids=["NUL", "half", "byte"])
def test_it_is_refused_by_name(enter: Callable[[str], Any], word: str) -> None:
    with pytest.raises(UsageError, match=r"NUL character|lone surrogate"):
        enter(word)


def test_where_it_stands_is_said() -> None:
    with pytest.raises(UsageError, match=r"Kernel 'k': the text .* in line 3"):
        op2.Kernel("void k(double *x) {\n x[0] = 1;\n // \0 \n}", "k")


@pytest.mark.parametrize("word", ["int", "double", "while", "_Bool", "restrict", "sizeof", "void"])
@pytest.mark.parametrize("cpp", [False, True])
def test_no_function_is_called_like_a_word_of_c(word: str, cpp: bool) -> None:
    with pytest.raises(UsageError, match=f"Kernel '{word}': .* is a word of C"):
        op2.Kernel(f"void {word}(double *x) {{ x[0] = 1; }}", word, cpp=cpp)


def test_other_letters_are_names() -> None:
    name = "größe_é"
    x = op2.Dat(op2.Set(2, name), name=name)
    op2.par_loop(
        op2.Kernel("void k(double *x) { x[0] = 1; /* größe */ }", "k"), x.dataset.set, x(op2.WRITE)
    )
    np.testing.assert_array_equal(x.data_ro, 1.0)


def test_a_subinterpreter_is_told_that_it_cannot_import() -> None:
    modules = [
        name
        for name in ("_interpreters", "_xxsubinterpreters")
        if importlib.util.find_spec(name) is not None
    ]
    if not modules:
        pytest.skip("this Python has no subinterpreters")
    for name in ("pyop2cxx", "pyop2cxx.op2", "pyop2cxx.exceptions"):
        program = f"""
import {modules[0]} as interpreters
inner = interpreters.create()
run = getattr(interpreters, "exec", None) or interpreters.run_string
text = '''
import sys
sys.path.insert(0, {str(ROOT)!r})
try:
    import {name}
except ImportError as error:
    assert "cannot be imported in a subinterpreter" in str(error), error
else:
    raise AssertionError("imported")
'''
found = run(inner, text)
assert found is None, found
print("told")
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout == "told\n", done.stderr
