# SPDX-License-Identifier: BSD-3-Clause
"""Sum factorization: the same values as with the sums as written, by fewer operations."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
import ufl

from pyop2cxx import fem, op2
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.mesh import cube_mesh
from pyop2cxx.op2 import INC, READ, WRITE

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = "ijk"


def table(name: str, values: np.ndarray, ctype: str) -> str:
    rows = ", ".join(f"{{{', '.join(map(repr, row))}}}" for row in values.tolist())
    return f"static const {ctype} {name}[{values.shape[0]}][{values.shape[1]}] = {{{rows}}};\n"


def nest(letters: list[str], sizes: list[int], inner: str) -> str:
    heads = [f"for (int {i} = 0; {i} < {n}; ++{i})" for i, n in zip(letters, sizes, strict=True)]
    return f"{' '.join(heads)} {{\n{inner}\n}}\n"


def flat(letters: list[str], sizes: list[int]) -> str:
    text = letters[0]
    for letter, n in zip(letters[1:], sizes[1:], strict=True):
        text = f"({text}) * {n} + {letter}"
    return text


def factors(kinds: str, points: list[str], sums: list[str]) -> str:
    """A product of tables: of values or derivatives in each dimension."""
    return " * ".join(
        f"{kind}{d}[{p}][{i}]"
        for d, (kind, p, i) in enumerate(zip(kinds, points, sums, strict=True))
    )


class Case:
    """An action with gradients: evaluated at points, changed, and tested with all gradients."""

    def __init__(self, points: list[int], functions: list[int], dtype: str) -> None:
        rng = np.random.default_rng(len(points) + points[0] + functions[0])
        self.points, self.functions, self.dtype = points, functions, dtype
        pairs = list(zip(points, functions, strict=True))
        self.values = [rng.uniform(-1, 1, pair).astype(dtype) for pair in pairs]
        self.slopes = [rng.uniform(-1, 1, pair).astype(dtype) for pair in pairs]
        dims = len(points)
        self.kinds = ["".join("D" if d == k else "B" for d in range(dims)) for k in range(dims)]

    def text(self) -> str:
        ctype = {"float64": "double", "float32": "float", "complex128": "double _Complex"}
        number = ctype[self.dtype]
        real = "float" if self.dtype == "float32" else "double"
        dims = len(self.points)
        tables = "".join(
            table(f"{kind}{d}", values.real, real)
            for kind, of_dims in (("B", self.values), ("D", self.slopes))
            for d, values in enumerate(of_dims)
        )
        p, i, j = ([f"{letter}{d}" for d in range(dims)] for letter in "pij")
        evaluated = "".join(
            f"{number} g{k} = 0;\n"
            + nest(
                i,
                self.functions,
                f"g{k} += x[{flat(i, self.functions)}] * ({factors(kinds, p, i)});",
            )
            for k, kinds in enumerate(self.kinds)
        )
        changed = f"const {number} w = 2 + g0 * g{dims - 1} * c[{flat(p, self.points)}];\n"
        tested = nest(
            j,
            self.functions,
            "\n".join(
                f"y[{flat(j, self.functions)}] += w * g{k} * ({factors(kinds, p, j)});"
                for k, kinds in enumerate(self.kinds)
            ),
        )
        body = nest(p, self.points, evaluated + changed + tested)
        include = "#include <complex.h>\n" if "complex" in self.dtype else ""
        return (
            f"{include}{tables}void action({number} *y, const {number} *x, const {number} *c) "
            f"{{\n{body}}}\n"
        )

    def expected(self, x: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Compute by NumPy, for one element."""
        dims = len(self.points)
        x, c = x.reshape(self.functions), c.reshape(self.points)
        p, i = "pqr"[:dims], LETTERS[:dims]
        pairs = ",".join(f"{a}{b}" for a, b in zip(p, i, strict=True))
        tables = [
            [self.slopes[d] if kind == "D" else self.values[d] for d, kind in enumerate(kinds)]
            for kinds in self.kinds
        ]
        g = [np.einsum(f"{i},{pairs}->{p}", x, *of) for of in tables]
        w = 2 + g[0] * g[-1] * c
        return sum(
            np.einsum(f"{p},{pairs}->{i}", w * g[k], *of) for k, of in enumerate(tables)
        ).reshape(-1)


SIZES = [([3, 4], [2, 3]), ([5, 4], [4, 5]), ([2, 3, 4], [3, 2, 2]), ([4, 4, 3], [3, 4, 3])]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("lanes", [None, 4])
def test_values_are_those_of_the_sums_as_written(
    sizes: tuple[list[int], list[int]], dtype: str, lanes: int | None
) -> None:
    if lanes and dtype == "complex128":
        lanes = None
    case = Case(*sizes, dtype)
    agrees(case, "sequential", lanes)


@pytest.mark.parametrize("backend", ["openmp", "opencl"])
def test_all_backends_agree(backend: str) -> None:
    agrees(Case(*SIZES[2], "float64"), backend, None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_team_agrees(sizes: tuple[list[int], list[int]], dtype: str) -> None:
    agrees(Case(*sizes, dtype), "opencl", None, "team")


@pytest.mark.usefixtures("exits")
def test_a_team_agrees_with_any_number_of_lanes() -> None:
    with op2.backend("opencl"):
        for block_lanes in (1, 8, 256):
            op2.init(tuning={"block_lanes": block_lanes})
            agrees(Case(*SIZES[3], "float64"), "opencl", None, "team")


def test_a_team_adds_to_targets_of_neighbours() -> None:
    mesh = cube_mesh(2, cell="hexahedron")
    V = fem.FunctionSpace(mesh, ("P", 3))
    w, v = fem.Function(V), ufl.TestFunction(V)
    w.values = np.random.default_rng(0).random(V.size)
    (integral,) = fem.compile_form(ufl.inner((1 + w**2) * ufl.grad(w), ufl.grad(v)) * ufl.dx)
    found = {}
    for strategy in ("team", "colour"):
        y = fem.Function(V)
        args = [w.dat(READ, V.cell_dofs), mesh.coordinates(READ, mesh.cell_vertices)]
        some = op2.Subset(mesh.cells, [0, 2, 3, 7])
        for cells in (mesh.cells, some):
            with op2.backend("opencl"):
                loop = op2.ParLoop(
                    integral.kernel, cells, y.dat(INC, V.cell_dofs), *args, strategy=strategy
                )
                loop.compute()
                assert loop.explain().strategy == strategy
        found[strategy] = y.dat.data_ro.copy()
    np.testing.assert_allclose(found["team"], found["colour"], rtol=1e-12, atol=1e-13)


OVERLAPPING = "y[{i}] += g * B[p][i] * B[q][j];"
NOT_FOR_TEAMS = [
    ("", OVERLAPPING.format(i="i + j"), "INC", "nest of sums"),
    ("x[0] = 1;", OVERLAPPING.format(i="3 * i + j"), "INC", "nest of sums"),
    ("y[0] += 1;", OVERLAPPING.format(i="3 * i + j"), "INC", "nest of sums"),
    ("", OVERLAPPING.format(i="3 * i + j"), "RW", None),
]


@pytest.mark.parametrize(("before", "target", "access", "why"), NOT_FOR_TEAMS)
def test_a_team_is_refused_where_lanes_would_repeat_or_race(
    before: str, target: str, access: str, why: str | None
) -> None:
    values = np.random.default_rng(0).random((4, 3))
    text = table("B", values, "double") + (
        f"void f(double *y, double *x) {{ {before}\n"
        "for (int p = 0; p < 4; ++p) for (int q = 0; q < 4; ++q) {\n"
        "const double g = x[4 * p + q];\n"
        f"for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j) {target} }}}}"
    )
    cells = op2.Set(3)
    x = np.random.default_rng(1).random((3, 16))
    y = op2.Dat(cells**9)
    kernel = op2.Kernel(text, "f")
    assert kernel.core.contraction.n_sums == 1
    args = y(getattr(op2, access)), op2.Dat(cells**16, x)(op2.RW if "x[0]" in before else READ)
    with op2.backend("opencl"):
        loop = op2.ParLoop(kernel, cells, *args, strategy="team")
        if why is not None:
            with pytest.raises(UnsupportedError, match=why):
                loop.compute()
            return
        loop.compute()
    wanted = np.einsum("cpq,pi,qj->cij", x.reshape(3, 4, 4), values, values)
    np.testing.assert_allclose(y.data_ro.reshape(3, 3, 3), wanted, rtol=1e-13)


@pytest.mark.usefixtures("exits")
def test_a_team_is_refused_for_sums_over_all_elements_and_on_the_host() -> None:
    case = Case([4, 4], [3, 3], "float64")
    cells = op2.Set(3)
    x, c = op2.Dat(cells**9), op2.Dat(cells**16)
    kernel = op2.Kernel(case.text(), "action")
    with op2.backend("opencl"), pytest.raises(UnsupportedError, match="sum over all elements"):
        op2.par_loop(kernel, cells, op2.Global(9)(INC), x(READ), c(READ), strategy="team")
    y = op2.Dat(cells**9)
    with op2.backend("openmp"), pytest.raises(UnsupportedError, match="no blocks of lanes"):
        op2.par_loop(kernel, cells, y(INC), x(READ), c(READ), strategy="team")
    to_first = op2.Map(cells, op2.Set(1), 1, [[0], [0], [0]])
    z = op2.Dat(to_first.toset**9)
    op2.init(deterministic=True)
    with op2.backend("opencl"), pytest.raises(UnsupportedError, match="deterministic"):
        op2.par_loop(kernel, cells, z(INC, to_first), x(READ), c(READ), strategy="team")


def test_a_gpu_takes_a_team_for_large_elements_only(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, ufl\n"
        "from pyop2cxx import fem\n"
        "from pyop2cxx.mesh import cube_mesh\n"
        "V = fem.FunctionSpace(cube_mesh(2, cell='hexahedron'), ('P', int(sys.argv[1])))\n"
        "w, v = fem.Function(V), ufl.TestFunction(V)\n"
        "fem.assemble(ufl.inner(ufl.grad(w), ufl.grad(v)) * ufl.dx)\n"
    )
    for degree, strategy in (("3", "atomic"), ("5", "team")):
        out = tmp_path / degree
        command = ["generate", "--backend", "cuda", "-o", str(out), str(program), degree]
        subprocess.run([sys.executable, "-m", "pyop2cxx", *command], check=True)
        loops = json.loads((out / "manifest.json").read_text())["loops"]
        forms = [one["strategy"] for one in loops if one["kernel"].startswith("vector_")]
        assert set(forms) == {strategy}


def agrees(case: Case, backend: str, lanes: int | None, strategy: str | None = None) -> None:
    rng = np.random.default_rng(1)
    cells = op2.Set(5)
    n, m = int(np.prod(case.functions)), int(np.prod(case.points))
    draw = lambda size: (  # noqa: E731
        rng.random((5, size)) + (1j * rng.random((5, size)) if "complex" in case.dtype else 0)
    ).astype(case.dtype)
    x, c = op2.Dat(cells**n, draw(n)), op2.Dat(cells**m, draw(m))
    wanted = np.array([case.expected(a, b) for a, b in zip(x.data_ro, c.data_ro, strict=True)])
    found = {}
    with op2.backend(backend):
        for contract in (True, False):
            kernel = op2.Kernel(case.text(), "action", contract=contract)
            y = op2.Dat(cells**n, dtype=case.dtype)
            how = strategy if contract else None
            args = y(INC), x(READ), c(READ)
            loop = op2.ParLoop(kernel, cells, *args, lanes=lanes, strategy=how)
            loop.compute()
            found[contract] = y.data_ro.copy()
            n_sums = kernel.core.contraction.n_sums
            assert n_sums == (2 * len(case.points) if contract else 0)
    bound = 1e-4 if case.dtype == "float32" else 1e-11
    for values in found.values():
        assert np.abs(values - wanted).max() <= bound * np.abs(wanted).max()


def test_a_matrix_is_summed_dimension_by_dimension() -> None:
    values = np.random.default_rng(0).random((4, 3))
    n = 9
    sums = "i0 = 0; i0 < 3; ++i0", "i1 = 0; i1 < 3; ++i1", "j0 = 0; j0 < 3; ++j0"
    text = table("B", values, "double") + (
        "void mass(double *A, const double *c) {\n"
        "for (int p = 0; p < 4; ++p) for (int q = 0; q < 4; ++q) {\n"
        f"for (int {sums[0]}) for (int {sums[1]}) for (int {sums[2]})\n"
        "for (int j1 = 0; j1 < 3; ++j1)\n"
        "A[9 * (3 * i0 + i1) + 3 * j0 + j1] += c[4 * p + q] * B[p][i0] * B[q][i1] * B[p][j0] * "
        "B[q][j1];\n}}"
    )
    kernel = op2.Kernel(text, "mass")
    done = kernel.core.contraction
    assert done.n_sums == 1
    assert done.after < done.before / 2
    one = op2.Set(1)
    c = np.random.default_rng(1).random((4, 4))
    A = op2.Dat(one ** (n * n))
    with op2.backend("sequential"):
        op2.par_loop(kernel, one, A(INC), op2.Dat(one**16, c.reshape(1, 16))(READ))
    wanted = np.einsum("pq,pi,qj,pk,ql->ijkl", c, values, values, values, values)
    np.testing.assert_allclose(A.data_ro.reshape(3, 3, 3, 3), wanted, rtol=1e-13)


def test_explain_says_what_was_saved_and_it_can_be_switched_off() -> None:
    case = Case([4, 4], [3, 3], "float64")
    cells = op2.Set(2)
    dats = [op2.Dat(cells**9), op2.Dat(cells**9), op2.Dat(cells**16)]
    with op2.backend("sequential"):
        for contract in (True, False):
            kernel = op2.Kernel(case.text(), "action", contract=contract)
            args = [dat(access) for dat, access in zip(dats, (INC, READ, READ), strict=True)]
            found = op2.ParLoop(kernel, cells, *args).explain()
            if contract:
                assert found.operations_as_written is not None
                assert found.operations_as_written > found.operations
                assert f"{found.operations_as_written} as written" in str(found)
            else:
                assert found.operations_as_written is None
                assert "as written" not in str(found)


def test_the_option_is_part_of_a_kernel() -> None:
    text = Case([4, 4], [3, 3], "float64").text()
    kept, other = op2.Kernel(text, "action", contract=False), op2.Kernel(text, "action")
    assert kept.key != other.key
    again = pickle.loads(pickle.dumps(kept))
    assert again.key == kept.key
    assert again.core.contraction.n_sums == 0
    assert kept.num_flops > other.num_flops


def test_check_mode_names_the_line_of_a_wrong_subscript() -> None:
    text = (
        Case([3, 3], [2, 2], "float64").text().replace("x[(i0) * 2 + i1]", "x[(i0) * 2 + i1 + 1]")
    )
    kernel = op2.Kernel(text, "action")
    cells = op2.Set(1)
    args = [op2.Dat(cells**n)(a) for n, a in ((4, INC), (4, READ), (9, READ))]
    with (
        op2.backend("sequential"),
        pytest.raises(UsageError, match=r"line 9.*index 4 is outside of .x."),
    ):
        op2.par_loop(kernel, cells, *args, check=True)


@pytest.mark.parametrize("sizes", list(product([2, 3], [2, 3])))
def test_a_target_that_is_an_argument(sizes: tuple[int, int]) -> None:
    points, functions = sizes
    values = np.random.default_rng(0).random((points, functions))
    text = table("B", values, "double") + (
        f"void at(double *y, const double *x) {{\n"
        f"for (int p = 0; p < {points}; ++p) for (int q = 0; q < {points}; ++q) {{\n"
        f"y[{points} * p + q] = 1;\n"
        f"for (int i = 0; i < {functions}; ++i) for (int j = 0; j < {functions}; ++j)\n"
        f"y[{points} * p + q] += -x[{functions} * i + j] * B[p][i] * B[q][j];\n}}}}"
    )
    one = op2.Set(1)
    x = np.random.default_rng(1).random((functions, functions))
    y = op2.Dat(one ** (points * points))
    kernel = op2.Kernel(text, "at")
    with op2.backend("sequential"):
        x_dat = op2.Dat(one ** (functions * functions), x.reshape(1, -1))
        op2.par_loop(kernel, one, y(WRITE), x_dat(READ))
    wanted = 1 - values @ x @ values.T
    np.testing.assert_allclose(y.data_ro.reshape(points, points), wanted, rtol=1e-13)
    assert kernel.core.contraction.n_sums == 1
