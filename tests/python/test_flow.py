# SPDX-License-Identifier: BSD-3-Clause
"""The text of loops: its order of parameters, its golden form, and that compilers take it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from programs import needs_program, with_program
from ring import Ring
from sided import Sided
from small_world import FLUX, World, run_python

from pyop2cxx import _core, op2
from pyop2cxx.backends._backend import HostToolchain
from pyop2cxx.base.folders import BACKENDS as BACKEND_FOLDER
from pyop2cxx.base.folders import PACKAGE, template_folder
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.chain.rename import Spares
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.kernel.parser import reads
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.pipeline.request import GeneratedCode

pytestmark = pytest.mark.usefixtures("exits")

GOLDEN = Path(__file__).parents[1] / "golden"
BACKENDS = runtime.backend_names()
HOSTS = [n for n in BACKENDS if isinstance(runtime.engine.backend(n).toolchain, HostToolchain)]
GOLDENS = (*HOSTS, "opencl", "cuda")  # the dialect of hip is CUDA's but for some words
STRATEGIES = ("direct", "owner", "scratch", "atomic", "block", "colour")


def flux() -> op2.ParLoop:
    return World().loop()


def power() -> op2.ParLoop:
    op2.Const(2, [1.0, 2.0], "gains")
    op2.Const(1, 1, "first", dtype="int32")
    code = "void power(const float *x, double *y) { y[0] = gains[first] * x[0]; }"
    cells = op2.Set(3)
    x, y = op2.Dat(cells, dtype="float32"), op2.Dat(cells)
    return op2.ParLoop(op2.Kernel(code, "power"), cells, x(op2.READ), y(op2.WRITE))


def lowest() -> op2.ParLoop:
    w = World()
    code = """#include <math.h>
/* The lowest of a node's neighbours, and of all. */
static double least(double a, double b) { return fmin(a, b); }
void lowest(const double *q, double *low, double *lowest_of_all) {
  double value = least(q[0], q[2]);
  for (int i = 0; i < 2; ++i) { if (value < low[i]) low[i] = value; }
  if (value < lowest_of_all[0]) lowest_of_all[0] = value;
}"""
    low = op2.Dat(w.nodes)
    return op2.ParLoop(
        op2.Kernel(code, "lowest"),
        w.edges,
        w.q(op2.READ, w.e2n),
        low(op2.MIN, w.e2n),
        w.total(op2.MIN),
    )


def masses() -> op2.ParLoop:
    """A matrix, and a kernel that reads two components of each row."""
    w = World()
    code = """void masses(double *m, const double *q) {
  double length = q[2] - q[0];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) m[i * 2 + j] += length * (i == j ? 2 : 1) / 6;
}"""
    mat = op2.Mat(op2.Sparsity((w.nodes, w.nodes), [(w.e2n, w.e2n, None)], name="s"), name="m")
    arguments = (mat(op2.INC, (w.e2n, w.e2n)), w.q(op2.READ, w.e2n))
    return op2.ParLoop(op2.Kernel(code, "masses"), w.edges, *arguments)


def layers() -> op2.ParLoop:
    """Cells of an extruded Set, whose Map goes up by one node a layer."""
    nodes = op2.Set(16)
    edges = op2.ExtrudedSet(op2.Set(3), layers=4)
    table = [[0, 1, 4, 5], [4, 5, 8, 9], [8, 9, 12, 13]]
    cells = op2.Map(edges, nodes, 4, table, offset=[1, 1, 1, 1])
    x, y = op2.Dat(nodes), op2.Dat(nodes)
    code = """void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) y[i] += x[i] - x[3 - i];
}"""
    return op2.ParLoop(op2.Kernel(code, "layers"), edges, x(op2.READ, cells), y(op2.INC, cells))


def roots() -> op2.ParLoop:
    """A kernel that is worth lanes, with a branch."""
    w = World()
    code = """#include <math.h>
void roots(const double *q, double *r) {
  double d = q[0] - q[2];
  double l = sqrt(d * d + 1.0);
  if (l > 2.0) l = 2.0 / l;
  r[0] += l;
  r[1] -= d * l;
}"""
    return op2.ParLoop(
        op2.Kernel(code, "roots"), w.edges, w.q(op2.READ, w.e2n), w.r(op2.INC, w.e2n)
    )


def messages() -> op2.ParLoop:
    """Each edge adds to one of its ends; rows of the other end stand in the order of the sums."""
    w = World()
    code = """void messages(const double *a, const double *b, double *r) {
  for (int i = 0; i < 2; ++i) r[i] += a[i] - b[i];
}"""
    return op2.ParLoop(
        op2.Kernel(code, "messages"),
        w.edges,
        w.q(op2.READ, w.e2n[0]),
        w.q(op2.READ, w.e2n[1]),
        w.r(op2.INC, w.e2n[1]),
    )


def wide() -> op2.ParLoop:
    """Rows of eight numbers without a Map, loaded and stored by neighbouring lanes together."""
    cells = op2.Set(100)
    x, y = op2.Dat(cells**8, name="x"), op2.Dat(cells**8, name="y")
    code = "void wide(const double *x, double *y) { for (int i = 0; i < 8; ++i) y[i] = x[7 - i]; }"
    return op2.ParLoop(op2.Kernel(code, "wide"), cells, x(op2.READ), y(op2.WRITE))


LOOPS = {
    "flux": flux,
    "power": power,
    "lowest": lowest,
    "masses": masses,
    "layers": layers,
    "roots": roots,
    "messages": messages,
    "wide": wide,
}
ONLY = {  # what a loop is asked for, where that is not every strategy
    "power": {"direct": {}},
    "messages": {"owner": {}},
    "wide": {"direct": {}},
    "roots": {
        "block": {"lanes": 4},
        "owner": {  # a target in each lane, by columns of one slot, however full they are
            "lanes": 4,
            "tuning": {"column_fill_light": 0.0, "column_fill_heavy": 0.0},
        },
    },
}


def texts(backends: Sequence[str], convention: int = 1) -> dict[str, GeneratedCode]:
    """Every text that the loops have on some backends, by a name for it."""
    found = {}
    for name, make in LOOPS.items():
        loop = make()
        for backend in backends:
            with op2.backend(backend):
                for strategy, more in ONLY.get(name, {key: {} for key in STRATEGIES}).items():
                    options = {
                        "strategy": strategy,
                        "convention": convention,
                        "any_device": True,
                        **more,
                    }
                    try:
                        found[f"{name}_{backend}_{strategy}"] = loop.generate(options)
                    except UnsupportedError as error:
                        why = "; use lanes=0" if "lanes" in more else "possible: "
                        assert why in str(error)  # noqa: PT017 - in a helper
        for constant in list(runtime.constants.values()):
            constant.remove_from_namespace()
    return found


def test_each_strategy_has_a_text_on_each_backend_that_can() -> None:
    found = set(texts(BACKENDS))
    for name in ("flux", "lowest"):
        for backend in BACKENDS:
            blocks = ("block",) if backend in HOSTS else ()
            for strategy in ("owner", "scratch", "atomic", "colour", *blocks):
                assert f"{name}_{backend}_{strategy}" in found
    assert "flux_sequential_direct" in found  # one lane has no races
    assert "flux_openmp_direct" not in found
    assert {f"power_{backend}_direct" for backend in BACKENDS} <= found


def corner_texts() -> dict[str, GeneratedCode]:
    """A function of a chain for GPUs, where nodes of edges are found among those of their cells."""
    loops, found = Sided(3).loops()[:2], {}
    group = GroupLoop(loops, [0], [], [], [], [], Spares(), has_geometry=True)
    for backend in ("opencl", "cuda"):
        request = group.request(group.built, {"backend": backend})
        found[f"corners_{backend}_owner"] = flow.generate(request, flow.choose(request))
    return found


def waiting_texts() -> dict[str, GeneratedCode]:
    """The same where sums start at zero, so that nothing is read at first but the plan."""
    loops, found = Sided(3).loops()[:2], {}
    sums = [k for k, part in enumerate(loops[0].parts) if part.access == op2.INC]
    group = GroupLoop(loops, [0], [], [], [(0, sums[0])], [], Spares(), has_geometry=True)
    for backend in ("opencl", "cuda"):
        request = group.request(group.built, {"backend": backend})
        found[f"waiting_{backend}_owner"] = flow.generate(request, flow.choose(request))
    return found


def test_kernels_of_cuda_read_the_plan_before_they_wait_for_others() -> None:
    text = str(waiting_texts()["waiting_cuda_owner"])
    body = text[text.index("for (int t") :]
    start = body.index("op2_start();")
    assert body.index("neighbour_fetched[k] = neighbour[at]") < start < body.index("= q + ")
    assert text.count("op2_start();") == 1
    summed = str(corner_texts()["corners_cuda_owner"])  # reads sums at first
    assert summed.index("op2_start();") < summed.index("for (int t")


def wall_texts() -> dict[str, GeneratedCode]:
    """A function of a chain for GPUs, where few cells have elements of a second loop."""
    ring, found = Ring(), {}
    loops = [op2.ParLoop(*ring.loops()[name]) for name in ("spread", "wall", "more r")]
    group = GroupLoop(loops, [0, 1], [], [], [], [], Spares())
    for backend in ("opencl", "cuda"):
        request = group.request(group.built, {"backend": backend})
        found[f"walls_{backend}_owner"] = flow.generate(request, flow.choose(request))
    return found


def summed_texts() -> dict[str, GeneratedCode]:
    """What a block adds to Dats of one and two components, summed in shared memory first."""
    w, found = World(), {}
    code = """void shares(double *r, double *total, const double *q) {
  for (int i = 0; i < 2; ++i) {
    total[i] += q[2 * i] + q[2 * i + 1];
    for (int c = 0; c < 2; ++c) r[2 * i + c] += q[2 * i + c];
  }
}"""
    r, total = op2.Dat(w.nodes**2, name="r"), op2.Dat(w.nodes, name="total")
    arguments = (r(op2.INC, w.e2n), total(op2.INC, w.e2n), w.q(op2.READ, w.e2n))
    tuning = {"least_summed_scalars": 0, "most_distinct": 1}
    loop = op2.ParLoop(
        op2.Kernel(code, "shares"), w.edges, *arguments, strategy="atomic", tuning=tuning
    )
    for backend in ("opencl", "cuda"):
        with op2.backend(backend):
            found[f"summed_{backend}_atomic"] = loop.generate({"any_device": True})
    return found


def listed_texts() -> dict[str, GeneratedCode]:
    """What a block adds to one Dat through two Maps, one list of targets after the other."""
    w, found = World(), {}
    ends = op2.Map(w.edges, w.nodes, 1, w.e2n.values[:, 1:], "ends")
    code = """void ends(double *r, double *last, const double *q) {
  for (int i = 0; i < 2; ++i) r[i] += q[2 * i];
  last[0] -= q[3];
}"""
    r = op2.Dat(w.nodes, name="r")
    arguments = (r(op2.INC, w.e2n), r(op2.INC, ends), w.q(op2.READ, w.e2n))
    loop = op2.ParLoop(op2.Kernel(code, "ends"), w.edges, *arguments, strategy="block")
    for backend in ("opencl", "cuda"):
        with op2.backend(backend):
            found[f"ends_{backend}_block"] = loop.generate({"any_device": True})
    return found


def test_lists_of_one_dat_wait_for_each_other() -> None:
    """They may hold the same target."""
    cuda = str(listed_texts()["ends_cuda_block"])
    flushed = cuda[cuda.index("The targets themselves.") :]
    before, behind = flushed.split("__syncthreads();")
    assert (before.count(" += r_shared"), behind.count(" += r_shared")) == (1, 1)


def test_who_has_elements_of_a_second_loop_is_read_before_the_first_is_computed() -> None:
    """Behind the first one all would wait for memory once more."""
    for text in map(str, wall_texts().values()):
        body = text[text.index("double r_own") :]
        read = body.index("is_present = has_incidences[t]")
        assert read < body.index("spread(") < body.index("if (0 < is_present)")


def all_texts() -> dict[str, GeneratedCode]:
    """Those that are kept as golden ones."""
    return (
        texts(GOLDENS)
        | corner_texts()
        | waiting_texts()
        | wall_texts()
        | summed_texts()
        | listed_texts()
    )


def test_texts_are_the_golden_ones() -> None:
    """After a change that is meant: UPDATE_GOLDEN=1 pytest ..., then read the difference."""
    found = {
        f"{name}{Path(next(iter(code.files))).suffix}": re.sub(
            r"^/\* pyop2cxx \S+:", "/* pyop2cxx VERSION:", code
        )
        for name, code in all_texts().items()
    }
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        for path in GOLDEN.iterdir():
            path.unlink()
        for name, text in found.items():
            (GOLDEN / name).write_text(text)
    assert {path.name for path in GOLDEN.iterdir()} == found.keys()
    for name, text in found.items():
        assert text == (GOLDEN / name).read_text(), name


def test_texts_fit_a_screen_and_have_no_loop_of_one_step() -> None:
    for name, text in all_texts().items():
        assert max(map(len, text.splitlines())) <= 120, name
        assert not re.search(r"for \(\w+ (\w+) = (\d+); \1 < 1;", text), name


def test_nested_calls_fit_a_screen() -> None:
    """Complex numbers on lanes are functions of functions, without a blank in between."""
    code = """#include <complex.h>
void nested(const double complex *z, double complex *w) {
  w[0] = csin(*z) + ccos(*z) + ctan(*z) + csinh(*z) + ccosh(*z) + ctanh(*z) + csqrt(*z);
}"""
    cells = op2.Set(9)
    z, w = (op2.Dat(cells, np.arange(9) / 9 + 0.5j, dtype=np.complex128) for _ in range(2))
    with op2.backend("sequential"):
        loop = op2.ParLoop(op2.Kernel(code, "nested"), cells, z(op2.READ), w(op2.WRITE), lanes=4)
        assert max(map(len, str(loop.generate()).splitlines())) <= 120
        loop.compute()
    x = z.data_ro
    wanted = sum(f(x) for f in (np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.sqrt))
    np.testing.assert_allclose(w.data_ro, wanted, rtol=1e-14)


@pytest.mark.parametrize("compiler", [with_program("gcc"), with_program("clang")])
@pytest.mark.parametrize("convention", [1, 2])
def test_texts_compile_alone_and_without_a_warning(
    compiler: str, convention: int, tmp_path: Path
) -> None:
    for name, code in texts(HOSTS, convention).items():
        path = tmp_path / f"{name}_{next(iter(code.files))}"
        path.write_text(code)
        openmp = ["-fopenmp"] if "#pragma omp" in code else []
        compile_alone([compiler, "-std=c11", *openmp], path)


@needs_program("clang")
@pytest.mark.skipif("opencl" not in BACKENDS, reason="no backend of this language")
def test_texts_in_opencl_compile_alone_and_without_a_warning(tmp_path: Path) -> None:
    for name, code in texts(["opencl"]).items():
        path = tmp_path / f"{name}.cl"
        path.write_text(code)
        language = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header"]
        compile_alone(["clang", *language, "-target", "spir64"], path)


@pytest.mark.parametrize(
    ("compiler", "language"), [with_program("g++", "c++"), with_program("clang++", "c++")]
)
@pytest.mark.parametrize("backend", HOSTS)
def test_texts_of_kernels_in_cpp_compile_as_cpp(
    compiler: str, language: str, backend: str, tmp_path: Path
) -> None:
    w = World()
    code = "#include <algorithm>\n" + FLUX.replace(
        "total[0] += f * f", "total[0] += std::max(f, -f)"
    )
    loop = op2.ParLoop(op2.Kernel(code, "flux", cpp=True), w.edges, *w.args())
    with op2.backend(backend):
        for strategy in (None, "atomic", "block", "colour", "scratch"):
            text = loop.generate({"strategy": strategy})
            [name] = text.files
            assert name.endswith(".cpp")
            assert 'extern "C" int op2_launch_flux' in text
            path = tmp_path / name
            path.write_text(text)
            openmp = ["-fopenmp"] if "#pragma omp" in text else []
            compile_alone([compiler, "-x", language, "-std=c++17", *openmp], path)
        loop.compute()
    np.testing.assert_allclose(w.r.data_ro, w.expected())


def compile_alone(command: list[str], path: Path) -> None:
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    ran = subprocess.run([*command, *flags, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{ran.stderr}\n{path.read_text()}"


# Names


KEYWORDS = {
    *(
        "char",
        "const",
        "do",
        "double",
        "else",
        "float",
        "for",
        "if",
        "inline",
        "int",
        "long",
        "return",
        "static",
    ),
    *("struct", "typedef", "unsigned", "void", "while"),
}


def identifiers() -> list[str]:
    """Every name that generated texts have for something of their own."""
    found = set()
    for code in texts(HOSTS).values():
        own = re.sub(r"/\*.*?\*/", "", str(code), flags=re.DOTALL)
        own = re.sub(r"//.*|#pragma.*", "", own)
        found |= set(re.findall(r"\b[A-Za-z][A-Za-z0-9_]*\b", own))
    mine = {
        name for name in found if re.match(r"(op2|OP2|wrap|sum)_|.*_(pack|partial|map|own)", name)
    }
    return sorted(found - mine - KEYWORDS)


def named_loop(kernel: str, names: list[str]) -> op2.ParLoop:
    """The flux loop with other names for kernel and parameters."""
    w = World()
    new = dict(zip(("flux", "q", "r", "total"), (kernel, *names), strict=True))
    new |= {"f": "own_f", "c": "own_c"}
    code = re.sub(r"\b[a-z]\w*\b", lambda found: new.get(found.group(), found.group()), FLUX)
    return op2.ParLoop(op2.Kernel(code, kernel), w.edges, *w.args())


@pytest.mark.parametrize("backend", HOSTS)
def test_any_name_will_do_for_parameters_and_kernels(backend: str, tmp_path: Path) -> None:
    names = [name for name in identifiers() if name not in ("fmin", "sqrt")]
    assert {"begin", "context", "n", "argv"} <= set(names)
    names += ["a", "b"][: -len(names) % 3]
    wrong = []
    for i in range(0, len(names), 3):
        loop = named_loop(names[i - 1], names[i : i + 3])
        for strategy in ("owner", "scratch", "atomic", "block", "colour"):
            with op2.backend(backend):
                code = loop.generate({"strategy": strategy})
            path = tmp_path / "names.c"
            path.write_text(code)
            try:
                compile_alone(["gcc", "-std=c11", "-fopenmp"], path)
            except AssertionError as error:
                said = re.findall("error: .*", str(error))[0]
                wrong.append(f"{names[i - 1]}({', '.join(names[i : i + 3])}), {strategy}: {said}")
    assert wrong == []


@pytest.mark.parametrize("backend", ["opencl", "cuda"])
def test_any_name_will_do_on_devices(backend: str) -> None:
    names = [*identifiers(), "place", "n_here", "first_block"]
    names = [name for name in dict.fromkeys(names) if name not in ("fmin", "sqrt")]
    names += ["a", "b"][: -len(names) % 3]
    for i in range(0, len(names), 3):
        loop = named_loop(names[i - 1], names[i : i + 3])
        for strategy in ("owner", "scratch", "atomic", "block", "colour"):
            with op2.backend(backend):
                assert names[i - 1] in str(loop.generate({"strategy": strategy}))


@pytest.mark.parametrize("name", ["place", "n_here", "first_block", "m", "last", "block"])
def test_any_name_will_do_for_matrices_on_devices(name: str) -> None:
    cells, nodes = op2.Set(5), op2.Set(6)
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(5)])
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    code = f"void mass(double {name}[2][2]) {{ {name}[0][0] += 2; {name}[1][1] += 2; }}"
    with op2.backend("cuda"):
        loop = op2.ParLoop(op2.Kernel(code, "mass"), cells, mat(op2.INC, (ends, ends)))
        assert "mass" in str(loop.generate({"strategy": "block"}))


# The order of source document 003


SIGNATURES = {
    (1, "direct"): """wrap_k(long begin, long end,
    const double *__restrict__ x,
    double *__restrict__ y,
    const double *__restrict__ a_const,
    const float *__restrict__ b_const,
    const int *__restrict__ c_const)""",
    (2, "direct"): """wrap_k(long begin, long end,
    const double *__restrict__ x,
    double *__restrict__ y,
    const double *__restrict__ a_const,
    const float *__restrict__ b_const,
    const int *__restrict__ c_const)""",
    (1, "indirect"): """wrap_k(long begin, long end,
    const double *__restrict__ x,
    const double *__restrict__ p,
    const int *__restrict__ p_map,
    double *__restrict__ y,
    const int *__restrict__ y_map,
    const long *__restrict__ g,
    double *__restrict__ sum,
    const double *__restrict__ a_const,
    const float *__restrict__ b_const,
    const int *__restrict__ c_const)""",
    (2, "indirect"): """wrap_k(long begin, long end,
    const double *__restrict__ x,
    const double *__restrict__ p,
    const int *__restrict__ p_map,
    double *__restrict__ y,
    const long *__restrict__ g,
    double *__restrict__ sum,
    const double *__restrict__ a_const,
    const float *__restrict__ b_const,
    const int *__restrict__ c_const)""",
    (1, "twice"): """wrap_k(long begin, long end,
    double *p,
    const int *__restrict__ p_map,
    double *y,
    const int *__restrict__ y_map,
    const double *__restrict__ a_const,
    const float *__restrict__ b_const,
    const int *__restrict__ c_const)""",
    (2, "twice"): """wrap_k(long begin, long end,
    double *p,
    const int *__restrict__ p_map,
    const double *__restrict__ a_const,
    const float *__restrict__ b_const,
    const int *__restrict__ c_const)""",
}


def ordered_loop(shape: str) -> op2.ParLoop:
    nodes, edges = op2.Set(4, "nodes"), op2.Set(3, "edges")
    e2n = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3]], "e2n")
    for name, dtype in (("c_const", "int32"), ("b_const", "float32"), ("a_const", "float64")):
        op2.Const(1, 1, name, dtype)
    uses = "a_const + b_const + c_const;"
    x, y, p = op2.Dat(edges, name="x"), op2.Dat(edges, name="y"), op2.Dat(nodes**2, name="p")
    r, g, total = op2.Dat(nodes), op2.Global(1, 1, dtype="int64"), op2.Global(1)
    if shape == "direct":
        code = f"void k(const double *x, double *y) {{ y[0] = x[0] + {uses} }}"
        return op2.ParLoop(op2.Kernel(code, "k"), edges, x(op2.READ), y(op2.WRITE))
    if shape == "twice":
        code = f"void k(double *p, double *y) {{ p[0] = {uses} y[1] = p[0]; }}"
        return op2.ParLoop(op2.Kernel(code, "k"), edges, p(op2.RW, e2n), p(op2.RW, e2n))
    code = (
        "void k(const double *x, const double *p, double *y, const long *g, double *sum) {"
        f" y[0] += x[0] + p[3] * g[0] + {uses} sum[0] += x[0]; }}"
    )
    args = (x(op2.READ), p(op2.READ, e2n), r(op2.INC, e2n), g(op2.READ), total(op2.INC))
    return op2.ParLoop(op2.Kernel(code, "k"), edges, *args)


@pytest.mark.parametrize(("convention", "shape"), SIGNATURES)
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_parameters_come_in_the_order_of_document_003(
    backend: str, convention: int, shape: str
) -> None:
    op2.init(backend=backend)
    code = ordered_loop(shape).generate({"convention": convention})
    # what stands before the name keeps the function apart, and is no part of the convention
    assert code.signature[code.signature.index("wrap_k") :] == SIGNATURES[convention, shape]
    assert code.signature + " {" in code


@pytest.mark.skipif("opencl" not in BACKENDS, reason="no backend of this order")
def test_parameters_on_devices_come_in_the_order_of_document_003() -> None:
    op2.init(backend="opencl")
    code = ordered_loop("indirect").generate({"strategy": "block", "any_device": True})
    wrapper = code.signature[: code.signature.index(")")]
    names = re.findall(r"(\w+)(?:,|$)", wrapper.replace("\n", ""))
    tail = ["ind_sizes", "ind_offs", "blkmap", "offset", "nelems", "nthrcol", "thrcol"]
    assert names == [
        *("x", "p", "y", "g", "sum_partial", "a_const", "b_const", "c_const", "p_map"),
        *("y_ind_map", "y_loc_map", *tail, "block_offset", "slot"),
    ]
    op2.exit()  # the Consts of the other loop go
    op2.init(backend="opencl")
    direct = ordered_loop("direct").generate()
    wrapper = direct.signature[: direct.signature.index(")")]
    names = re.findall(r"(\w+)(?:,|$)", wrapper.replace("\n", ""))
    assert names == ["x", "y", "a_const", "b_const", "c_const", "begin", "end"]


# The same text everywhere


DIGEST = """
import hashlib, sys
sys.path.insert(0, {folder!r})
from test_flow import BACKENDS, texts
found = sorted((n, str(c), c.key, c.ir) for n, c in texts(BACKENDS).items())
print(hashlib.sha256(repr(found).encode()).hexdigest())
"""


def test_texts_are_the_same_in_every_process(tmp_path: Path) -> None:
    script = DIGEST.format(folder=str(Path(__file__).parent))
    runs = [run_python(script, tmp_path, PYTHONHASHSEED=seed) for seed in ("0", "1", "random")]
    assert [run.stderr for run in runs] == [""] * 3
    assert len({run.stdout for run in runs}) == 1


def test_a_text_that_is_on_disk_is_not_printed_again(tmp_path: Path) -> None:
    script = """
from pyop2cxx import _core, op2
op2.init(backend="openmp")
printed, n_printed = _core.print_source, []
_core.print_source = lambda *args, **how: n_printed.append(1) or printed(*args, **how)
kernel, cells = op2.Kernel("void f(double *x) { *x += %s; }", "f"), op2.Set(2)
loop = op2.ParLoop(kernel, cells, op2.Dat(cells)(op2.RW))
print(repr(loop.generate()), len(n_printed))
"""
    first, again, other = (
        run_python(script % value, tmp_path).stdout.splitlines() for value in (1, 1, 2)
    )
    assert first[-1].endswith(" 1")
    assert again[-1] == first[-1].removesuffix("1") + "0"
    assert other[-1].endswith(" 1")


@pytest.mark.usefixtures("host")
def test_the_spelling_of_an_opaque_kernel_that_came_first_does_not_matter() -> None:
    w = World()
    first, second = (
        op2.ParLoop(op2.Kernel(comment + FLUX, "flux", cpp=True), w.edges, *w.args()).generate()
        for comment in ("// one\n", "// two\n")
    )
    assert "// one" in first
    assert "// one" not in second
    assert "// two" in second


@pytest.mark.usefixtures("host")
def test_options_that_change_the_text_change_the_key() -> None:
    loop = World().loop()
    codes = [
        loop.generate(options)
        for options in (
            {},
            {"convention": 2},
            {"strategy": "owner"},
            {"strategy": "atomic"},
            {"deterministic": True},
            {"debug": True},
        )
    ]
    assert len({code.key for code in codes}) == len(codes)


# Dumps


def test_a_dump_prints_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    op2.init(dump="lower, source")
    kernel = op2.Kernel("void shown(double *x) { x[0] += 0.125; }", "shown")
    cells = op2.Set(2)
    code = op2.ParLoop(kernel, cells, op2.Dat(cells)(op2.RW)).generate()
    said = capsys.readouterr().err
    places = [said.index("--- shown: loop\nloop shown")]
    places += [said.index(f"--- shown: {stage}\n{text}") for stage, text in code.ir.items()]
    places += [said.index(f"--- shown: source\n{code}")]
    assert places == sorted(places)
    assert said.count("---") == len(code.ir) + 2


def test_a_dump_of_one_pass_goes_to_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    op2.init(dump=f"expand, {tmp_path}/dumps")
    kernel = op2.Kernel("void kept(double *x) { x[0] += 0.125; }", "kept")
    cells = op2.Set(2)
    code = op2.ParLoop(kernel, cells, op2.Dat(cells)(op2.RW)).generate()
    (file,) = (tmp_path / "dumps").iterdir()
    assert file.name == f"kept_{code.strategy}.0_expand.txt"
    assert file.read_text() == code.ir["expand"]
    assert capsys.readouterr().err == ""


def test_a_dump_by_the_environment_prints_what_is_asked_for(tmp_path: Path) -> None:
    script = (
        "from pyop2cxx import op2\n"
        "cells = op2.Set(2)\n"
        "k = op2.Kernel('void shown(double *x) { x[0] += 0.125; }', 'shown')\n"
        "op2.par_loop(k, cells, op2.Dat(cells)(op2.RW))\n"
    )
    ran = run_python(script, tmp_path, PYOP2CXX_DUMP="source")
    assert ran.returncode == 0
    assert ran.stderr.startswith("--- shown: source\n/* pyop2cxx")
    assert "legalise" not in ran.stderr
    ran = run_python(script, tmp_path, PYOP2CXX_DUMP="sauce")
    said = "option 'dump': there is no stage sauce; there are: kernel, lower, in_order,"
    assert said in ran.stderr


def test_a_dump_of_the_kernel_shows_it_after_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    op2.init(dump="kernel")
    kernel = op2.Kernel("void told(double *x) { int i = 0; { int i = 1; } x[i++] = i; }", "told")
    cells = op2.Set(2)
    op2.ParLoop(kernel, cells, op2.Dat(cells)(op2.RW)).generate()
    parsed, names, effects = capsys.readouterr().err.split("--- told: kernel_")[1:]
    assert parsed.startswith("parsed\n")
    assert "x[i++] = i;" in parsed
    assert names.startswith("names\n")
    assert "int i_2 = 1;" in names
    assert "x[i++] = i;" in names
    assert effects.startswith("effects\n")
    assert "x[op2_value1] = i;" in effects


def test_a_strategy_that_is_unknown_to_the_core_is_listed() -> None:
    with pytest.raises(UsageError, match="direct, owner, scratch, atomic, block, colour"):
        World().loop().generate({"strategy": "guess"})


def choices_of_lanes(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows with each choice by the rules: of the lanes that were forced."""
    asked: list[object] = []
    choose = _core.choose_lanes

    def noted(*given: object) -> object:
        asked.append(given[0])
        return choose(*given)

    monkeypatch.setattr(_core, "choose_lanes", noted)
    return asked


@pytest.mark.usefixtures("host")
def test_lanes_are_chosen_once_for_equal_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = choices_of_lanes(monkeypatch)
    for _ in range(2):
        World().loop().compute()
    assert asked == [None]
    lanes = [World().loop(lanes=n).explain().lanes for n in (0, 4, None, 4)]
    assert lanes == [0, 4, 0, 4]
    assert asked == [None, 0, 4]
    wide = World().loop(tuning={"lane_operations": 1, "lane_operations_a_scalar": 0})
    assert wide.explain().lanes > 0
    with op2.backend("opencl"):
        World().loop().generate()
    assert len(asked) == 5


def long_kernel(n: int) -> op2.Kernel:
    squared = " ".join(["a = a * a + x[0];"] * n)
    code = f"void power(const double *x, double *y) {{ double a = x[0]; {squared} y[0] = a; }}"
    return op2.Kernel(code, "power")


def test_nothing_is_kept_where_no_lanes_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = choices_of_lanes(monkeypatch)
    op2.init(backend="cuda", cache_dir=str(tmp_path))
    cells = op2.Set(3)
    loop = op2.ParLoop(long_kernel(40), cells, op2.Dat(cells)(op2.READ), op2.Dat(cells)(op2.WRITE))
    loop.generate()
    assert len(asked) == 1
    assert not list(tmp_path.rglob("*.lanes"))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(("n", "times"), [(1, [2, 3]), (40, [1, 2])])
def test_lanes_of_long_kernels_are_chosen_once_for_all_processes(
    n: int, times: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = choices_of_lanes(monkeypatch)
    op2.init(cache_dir=str(tmp_path))
    cells = op2.Set(3)
    x, y = op2.Dat(cells), op2.Dat(cells)
    loop = op2.ParLoop(long_kernel(n), cells, x(op2.READ), y(op2.WRITE))

    def chosen() -> tuple[int, str, str]:
        runtime.engine.lanes.clear()  # as in another process
        code = loop.generate()
        return code.lanes, code.why_lanes, code.key

    first = chosen()
    assert chosen() == first
    assert len(asked) == times[0]
    assert len(list(tmp_path.rglob("*.lanes"))) == (n >= 40)
    monkeypatch.setattr(flow, "_core_file", lambda: ("another build",))
    assert chosen() == first
    assert len(asked) == times[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_texts_on_disk_depend_on_what_writes_them(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = PACKAGE / "kernel" / "parser"
    folders = {"templates": template_folder(), "backends": BACKEND_FOLDER, "parser": parser}
    for name, folder in folders.items():
        shutil.copytree(folder, tmp_path / name)
    monkeypatch.setattr(flow, "template_folder", lambda: tmp_path / "templates")
    monkeypatch.setattr(flow, "BACKENDS", tmp_path / "backends")
    monkeypatch.setattr(reads, "__file__", str(tmp_path / "parser" / "reads.py"))
    found = runtime.engine.backend(backend)

    def printer() -> object:
        reads.front_end.cache_clear()
        return flow._printer.__wrapped__(flow.framing(found))

    frame = tmp_path / "templates" / found.template
    others = [] if frame.parent.name == "host" else [tmp_path / "templates" / "device/program.j2"]
    front_end = tmp_path / "parser" / "disambiguate.py"
    for file in (frame, *others, tmp_path / "backends" / f"{backend}.py", front_end):
        before = printer()
        assert printer() == before
        os.utime(file, ns=(1, 1))
        assert printer() != before, file
    reads.front_end.cache_clear()
