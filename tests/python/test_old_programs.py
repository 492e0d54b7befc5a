# SPDX-License-Identifier: BSD-3-Clause
"""Programs in the form of PyOP2's old demos: kernels of 2013 and 2016, run as they were written.

Flow around an aerofoil, with entries of maps one by one and all at once; Jacobi's iteration on a
graph; potential flow by conjugate gradients on Dats and Globals; mass and stiffness matrices of
triangles from kernels for single entries; the volume of a column of prisms.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_arrays, free_stream
from pyop2cxx.mesh.square import square_arrays
from pyop2cxx.op2 import INC, MAX, READ, RW, WRITE

sys.path.insert(0, str(Path(__file__).parents[2] / "demos"))

from airfoil import Airfoil

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.pyop2

eras = pytest.mark.parametrize("abi", ["2013", "2016"])
everywhere = pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
on_hosts = pytest.mark.parametrize("backend", ["sequential", "openmp"])


@pytest.fixture
def gas() -> Iterator[None]:
    """The constants of the flow, which kernels of 2013 use by their names."""
    gam = float(np.float32(1.4))
    gm1 = float(np.float32(1.4) - np.float32(1.0))
    consts = [
        op2.Const(1, gam, "gam"),
        op2.Const(1, float(np.float32(1.4)) - 1.0, "gm1"),
        op2.Const(1, gm1, "gm1f"),
        op2.Const(1, float(np.float32(0.9)), "cfl"),
        op2.Const(1, float(np.float32(0.05)), "eps"),
        op2.Const(4, free_stream(), "qinf"),
    ]
    yield
    for const in consts:
        const.remove_from_namespace()


SAVE = "void save_soln(double *q, double *qold) { for (int n = 0; n < 4; n++) qold[n] = q[n]; }"
ADT = """
void adt_calc(double **x, double *q, double *adt) {
  double ri = 1.0 / q[0], u = ri * q[1], v = ri * q[2];
  double c = sqrt(gam * gm1 * (ri * q[3] - 0.5 * (u * u + v * v)));
  *adt = 0.0;
  for (int k = 0; k < 4; k++) {
    double dx = x[(k + 1) % 4][0] - x[k][0], dy = x[(k + 1) % 4][1] - x[k][1];
    *adt += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
  }
  *adt = (*adt) / cfl;
}
"""
RES = """
void res_calc(double *x1, double *x2, double *q1, double *q2, double *adt1, double *adt2,
              double *res1, double *res2) {
  double dx = x1[0] - x2[0], dy = x1[1] - x2[1], f;
  double ri = 1.0 / q1[0], p1 = gm1f * (q1[3] - 0.5 * ri * (q1[1] * q1[1] + q1[2] * q1[2]));
  double vol1 = ri * (q1[1] * dy - q1[2] * dx);
  ri = 1.0 / q2[0];
  double p2 = gm1f * (q2[3] - 0.5 * ri * (q2[1] * q2[1] + q2[2] * q2[2]));
  double vol2 = ri * (q2[1] * dy - q2[2] * dx);
  double mu = 0.5 * ((*adt1) + (*adt2)) * eps;
  f = 0.5 * (vol1 * q1[0] + vol2 * q2[0]) + mu * (q1[0] - q2[0]);
  res1[0] += f; res2[0] -= f;
  f = 0.5 * (vol1 * q1[1] + p1 * dy + vol2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);
  res1[1] += f; res2[1] -= f;
  f = 0.5 * (vol1 * q1[2] - p1 * dx + vol2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);
  res1[2] += f; res2[2] -= f;
  f = 0.5 * (vol1 * (q1[3] + p1) + vol2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);
  res1[3] += f; res2[3] -= f;
}
"""
RES_ALL = (
    RES.replace("res_calc", "edge_flux")
    + """
void res_calc(double **x, double **q, double **adt, double **res) {
  edge_flux(x[0], x[1], q[0], q[1], adt[0], adt[1], res[0], res[1]);
}
"""
)
BRES = """
void bres_calc(double *x1, double *x2, double *q1, double *adt1, double *res1, int *bound) {
  double dx = x1[0] - x2[0], dy = x1[1] - x2[1], ri = 1.0 / q1[0];
  double p1 = gm1f * (q1[3] - 0.5 * ri * (q1[1] * q1[1] + q1[2] * q1[2]));
  if (*bound == 1) {
    res1[1] += p1 * dy;
    res1[2] += -p1 * dx;
  } else {
    double vol1 = ri * (q1[1] * dy - q1[2] * dx);
    ri = 1.0 / qinf[0];
    double p2 = gm1f * (qinf[3] - 0.5 * ri * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
    double vol2 = ri * (qinf[1] * dy - qinf[2] * dx), mu = (*adt1) * eps;
    res1[0] += 0.5 * (vol1 * q1[0] + vol2 * qinf[0]) + mu * (q1[0] - qinf[0]);
    res1[1] += 0.5 * (vol1 * q1[1] + p1 * dy + vol2 * qinf[1] + p2 * dy) + mu * (q1[1] - qinf[1]);
    res1[2] += 0.5 * (vol1 * q1[2] - p1 * dx + vol2 * qinf[2] - p2 * dx) + mu * (q1[2] - qinf[2]);
    res1[3] += 0.5 * (vol1 * (q1[3] + p1) + vol2 * (qinf[3] + p2)) + mu * (q1[3] - qinf[3]);
  }
}
"""
UPDATE = """
void update(double *qold, double *q, double *res, double *adt, double *rms) {
  double del, adti = 1.0 / (*adt);
  for (int n = 0; n < 4; n++) {
    del = adti * res[n];
    q[n] = qold[n] - del;
    res[n] = 0.0;
    *rms += del * del;
  }
}
"""


@on_hosts  # a processor's OpenCL compiler takes seconds for each of these kernels
@pytest.mark.parametrize(("abi", "whole"), [("2013", False), ("2016", True)])
@pytest.mark.usefixtures("gas")
def test_airfoil(abi: str, whole: bool, backend: str) -> None:
    mesh = airfoil_arrays(16, 8)
    nodes, cells = op2.Set(mesh.n_nodes, "nodes"), op2.Set(mesh.n_cells, "cells")
    edges, bedges = op2.Set(mesh.n_edges, "edges"), op2.Set(mesh.n_bedges, "bedges")
    pedge = op2.Map(edges, nodes, 2, mesh.edge2node, "pedge")
    pecell = op2.Map(edges, cells, 2, mesh.edge2cell, "pecell")
    pbedge = op2.Map(bedges, nodes, 2, mesh.bedge2node, "pbedge")
    pbecell = op2.Map(bedges, cells, 1, mesh.bedge2cell, "pbecell")
    pcell = op2.Map(cells, nodes, 4, mesh.cell2node, "pcell")
    x, bound = op2.Dat(nodes**2, mesh.x), op2.Dat(bedges, mesh.bound)
    q = op2.Dat(cells**4, np.tile(free_stream(), (mesh.n_cells, 1)))
    qold, adt, res = op2.Dat(cells**4), op2.Dat(cells), op2.Dat(cells**4)
    rms = op2.Global(1, 0.0, name="rms")

    def kernel(code: str, name: str) -> op2.Kernel:
        return op2.Kernel(code, name, abi=abi)

    save, adt_calc = kernel(SAVE, "save_soln"), kernel(ADT, "adt_calc")
    res_calc = kernel(RES_ALL if whole else RES, "res_calc")
    bres, update = kernel(BRES, "bres_calc"), kernel(UPDATE, "update")
    wanted = Airfoil(mesh)
    with op2.backend(backend):
        for _ in range(2):
            op2.par_loop(save, cells, q(READ), qold(WRITE))
            for _ in range(2):
                op2.par_loop(adt_calc, cells, x(READ, pcell), q(READ), adt(WRITE))
                ends: list[Any] = [x(READ, pedge), q(READ, pecell), adt(READ, pecell)]
                ends.append(res(INC, pecell))
                if not whole:
                    ends = [arg.data(arg.access, arg.map_[k]) for arg in ends for k in range(2)]
                op2.par_loop(res_calc, edges, *ends)
                op2.par_loop(
                    bres,
                    bedges,
                    *(x(READ, pbedge[0]), x(READ, pbedge[1]), q(READ, pbecell[0])),
                    *(adt(READ, pbecell[0]), res(INC, pbecell[0]), bound(READ)),
                )
                rms.data = 0.0
                op2.par_loop(update, cells, qold(READ), q(WRITE), res(RW), adt(READ), rms(INC))
        found, change = q.data_ro.copy(), rms.data_ro[0]
    for _ in range(2):
        wanted.iterate()
    np.testing.assert_allclose(found, wanted.q.data_ro, rtol=1e-12)
    assert change == pytest.approx(wanted.rms.data_ro[0], rel=1e-10)


@everywhere
@eras
def test_jacobi(abi: str, backend: str) -> None:
    n = 6
    node = np.arange(n * n).reshape(n, n)
    pairs = [(node[:, 1:], node[:, :-1]), (node[1:], node[:-1])]
    ends = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in pairs])
    both_ways = np.concatenate([ends, ends[:, ::-1]])
    own = np.arange(n * n)
    pedge = np.concatenate([both_ways, np.stack([own, own], 1)])
    nodes, edges = op2.Set(n * n), op2.Set(len(pedge))
    map_ = op2.Map(edges, nodes, 2, pedge)
    matrix = np.r_[np.full(len(both_ways), 0.25), np.full(n * n, -1.0)]
    right = np.where((4 - np.bincount(both_ways[:, 0])) > 0, -0.25, 0.0)
    right *= 4 - np.bincount(both_ways[:, 0])
    a, r = op2.Dat(edges, matrix), op2.Dat(nodes, right)
    u, du, beta = op2.Dat(nodes), op2.Dat(nodes), op2.Global(1, 1.0, name="beta")
    res = op2.Kernel(
        "void res(double *A, double *u, double *du, const double *beta)"
        "{ *du += (*beta) * (*A) * (*u); }",
        "res",
        abi=abi,
    )
    update = op2.Kernel(
        """
        void update(double *r, double *du, double *u, double *u_sum, double *u_max) {
          *u += *du - (*r);
          *du = 0.0;
          *u_sum += (*u) * (*u);
          *u_max = *u_max > *u ? *u_max : *u;
        }
        """,
        "update",
        abi=abi,
    )
    with op2.backend(backend):
        for _ in range(5):
            u_sum, u_max = op2.Global(1, 0.0), op2.Global(1, 0.0)
            op2.par_loop(res, edges, a(READ), u(READ, map_[1]), du(INC, map_[0]), beta(READ))
            op2.par_loop(update, nodes, r(READ), du(RW), u(RW), u_sum(INC), u_max(MAX))
        found = u.data_ro.copy()
    wanted = np.zeros((n + 2, n + 2))
    wanted[0], wanted[-1], wanted[:, 0], wanted[:, -1] = 1, 1, 1, 1
    for _ in range(5):
        inner = wanted[:-2, 1:-1] + wanted[2:, 1:-1] + wanted[1:-1, :-2] + wanted[1:-1, 2:]
        wanted[1:-1, 1:-1] = 0.25 * inner
    np.testing.assert_allclose(found.reshape(n, n), wanted[1:-1, 1:-1], rtol=1e-13)
    assert u_sum.data_ro[0] == pytest.approx((found**2).sum())
    assert u_max.data_ro[0] == found.max()


AERO = {
    "res_calc": """
    void res_calc(double **x, double **phi, double *K, double **res) {
      double g[3] = {0.1127016653792583, 0.5, 0.8872983346207417};
      double w[3] = {0.2777777777777778, 0.4444444444444444, 0.2777777777777778};
      for (int k = 0; k < 16; k++) K[k] = 0.0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
          double s = g[a], t = g[b];
          double ds[4] = {-(1 - t), 1 - t, t, -t}, dt[4] = {-(1 - s), -s, s, 1 - s};
          double xs = 0, xt = 0, ys = 0, yt = 0;
          for (int i = 0; i < 4; i++) {
            xs += ds[i] * x[i][0]; xt += dt[i] * x[i][0];
            ys += ds[i] * x[i][1]; yt += dt[i] * x[i][1];
          }
          double det = xs * yt - xt * ys, dx[4], dy[4];
          for (int i = 0; i < 4; i++) {
            dx[i] = (yt * ds[i] - ys * dt[i]) / det;
            dy[i] = (xs * dt[i] - xt * ds[i]) / det;
          }
          double W = w[a] * w[b] * det;
          for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) K[4 * i + j] += W * (dx[i] * dx[j] + dy[i] * dy[j]);
        }
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) res[i][0] += K[4 * i + j] * phi[j][0];
    }
    """,
    "dirichlet": "void dirichlet(double *res) { *res = 0.0; }",
    "init_cg": """
    void init_cg(double *r, double *c, double *u, double *v, double *p) {
      *c += (*r) * (*r); *p = *r; *u = 0; *v = 0;
    }
    """,
    "spMV": """
    void spMV(double **v, double *K, double **p) {
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) v[i][0] += K[4 * i + j] * p[j][0];
    }
    """,
    "dotPV": "void dotPV(double *p, double *v, double *c) { *c += (*p) * (*v); }",
    "updateUR": """
    void updateUR(double *u, double *r, double *p, double *v, const double *alpha) {
      *u += (*alpha) * (*p); *r -= (*alpha) * (*v); *v = 0.0;
    }
    """,
    "dotR": "void dotR(double *r, double *c) { *c += (*r) * (*r); }",
    "updateP": """
    void updateP(double *r, double *p, const double *beta) { *p = (*beta) * (*p) + (*r); }
    """,
    "update": "void update(double *phi, double *res, double *u) { *phi -= *u; *res = 0.0; }",
}  # fmt: skip


@on_hosts
@eras
def test_aero(abi: str, backend: str) -> None:
    """Potential flow past nothing: the exact answer is linear, by conjugate gradients."""
    n = 5
    grid = np.stack(np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1)), -1)
    grid[1:-1, 1:-1] += 0.05 * np.random.default_rng(5).standard_normal((n - 1, n - 1, 2))
    node = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    corners = [node[:-1, :-1], node[:-1, 1:], node[1:, 1:], node[1:, :-1]]
    pcell = np.stack([c.ravel() for c in corners], 1)
    rim = np.unique(np.r_[node[0], node[-1], node[:, 0], node[:, -1]])
    nodes, bnodes, cells = op2.Set(node.size), op2.Set(len(rim)), op2.Set(n * n)
    pvcell, pbnodes = op2.Map(cells, nodes, 4, pcell), op2.Map(bnodes, nodes, 1, rim)
    wanted = grid.reshape(-1, 2) @ [2.0, -1.0]
    start = np.zeros(node.size)
    start[rim] = wanted[rim]
    x, phim, k = op2.Dat(nodes**2, grid), op2.Dat(nodes, start), op2.Dat(cells**16)
    resm, v, p, u = (op2.Dat(nodes) for _ in range(4))
    kernel = {name: op2.Kernel(text, name, abi=abi) for name, text in AERO.items()}
    with op2.backend(backend):
        args = x(READ, pvcell), phim(READ, pvcell), k(WRITE), resm(INC, pvcell)
        op2.par_loop(kernel["res_calc"], cells, *args)
        op2.par_loop(kernel["dirichlet"], bnodes, resm(WRITE, pbnodes[0]))
        c1, c2, c3 = (op2.Global(1, 0.0, name=f"c{i}") for i in range(3))
        alpha, beta = op2.Global(1, 0.0), op2.Global(1, 0.0)
        op2.par_loop(kernel["init_cg"], nodes, resm(READ), c1(INC), u(WRITE), v(WRITE), p(WRITE))
        first = now = float(c1.data_ro[0])
        for _ in range(200):
            op2.par_loop(kernel["spMV"], cells, v(INC, pvcell), k(READ), p(READ, pvcell))
            op2.par_loop(kernel["dirichlet"], bnodes, v(WRITE, pbnodes[0]))
            c2.data = 0.0
            op2.par_loop(kernel["dotPV"], nodes, p(READ), v(READ), c2(INC))
            alpha.data = now / c2.data
            op2.par_loop(kernel["updateUR"], nodes, u(INC), resm(INC), p(READ), v(RW), alpha(READ))
            c3.data = 0.0
            op2.par_loop(kernel["dotR"], nodes, resm(READ), c3(INC))
            beta.data = c3.data / now
            op2.par_loop(kernel["updateP"], nodes, resm(READ), p(RW), beta(READ))
            now = float(c3.data_ro[0])
            if now < 1e-26 * first:
                break
        op2.par_loop(kernel["update"], nodes, phim(INC), resm(WRITE), u(READ))
        found = phim.data_ro.copy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)


TRIANGLE = """
static double area2(double **x) {
  return (x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[1][1] - x[0][1]) * (x[2][0] - x[0][0]);
}
static double dot_of_gradients(double **x, int j, int k) {
  double g[3][2] = {{x[1][1] - x[2][1], x[2][0] - x[1][0]}, {x[2][1] - x[0][1], x[0][0] - x[2][0]},
                    {x[0][1] - x[1][1], x[1][0] - x[0][0]}};
  return (g[j][0] * g[k][0] + g[j][1] * g[k][1]) / (2 * area2(x));
}
"""
ENTRIES = {
    "2013": TRIANGLE
    + """
    void mass(double A[1][1], double **x, int j, int k) {
      A[0][0] += area2(x) * (j == k ? 2.0 : 1.0) / 24;
    }
    void laplace(double A[1][1], double **x, int j, int k) { A[0][0] += dot_of_gradients(x, j, k); }
    void rhs(double *A, double **x, double **w, int j) {
      for (int k = 0; k < 3; k++) *A += area2(x) * (j == k ? 2.0 : 1.0) / 24 * w[k][0];
    }
    """,
    "2016": TRIANGLE
    + """
    void mass(double A[3][3], double **x) {
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) A[j][k] += area2(x) * (j == k ? 2.0 : 1.0) / 24;
    }
    void laplace(double A[3][3], double **x) {
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) A[j][k] += dot_of_gradients(x, j, k);
    }
    void rhs(double A[3], double **x, double **w) {
      for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) A[j] += area2(x) * (j == k ? 2.0 : 1.0) / 24 * w[k][0];
    }
    """,
}


@everywhere
@eras
def test_mass_and_laplace(abi: str, backend: str) -> None:
    """A projection, which is exact, and a harmonic function from its values on the boundary."""
    mesh = square_arrays(4)
    elements, nodes = op2.Set(mesh.n_cells), op2.Set(mesh.n_vertices)
    elem_node = op2.Map(elements, nodes, 3, mesh.cell2vertex, "elem_node")
    sparsity = op2.Sparsity((nodes**1, nodes**1), [(elem_node, elem_node, None)])
    coords = op2.Dat(nodes**2, mesh.x)
    values = 1 + 2 * mesh.x[:, 0] - mesh.x[:, 1]
    f, b, x = op2.Dat(nodes, values), op2.Dat(nodes), op2.Dat(nodes)
    path = elem_node[op2.i[0]], elem_node[op2.i[1]]
    kernel = {name: op2.Kernel(ENTRIES[abi], name, abi=abi) for name in ("mass", "laplace", "rhs")}
    parameters = {"ksp_rtol": 1e-13}
    with op2.backend(backend):
        mass = op2.Mat(sparsity, name="mass")
        op2.par_loop(kernel["mass"], elements, mass(INC, path), coords(READ, elem_node))
        mass.assemble()
        op2.par_loop(
            kernel["rhs"],
            elements,
            *(b(INC, elem_node[op2.i[0]]), coords(READ, elem_node), f(READ, elem_node)),
        )
    op2.Solver(parameters).solve(mass, x, b)
    np.testing.assert_allclose(x.data_ro, values, rtol=0, atol=1e-10)
    assert mass.values.sum() == pytest.approx(1.0)
    with op2.backend(backend):
        laplace = op2.Mat(sparsity, name="laplace")
        op2.par_loop(kernel["laplace"], elements, laplace(INC, path), coords(READ, elem_node))
        laplace.assemble()
    rim = np.unique(mesh.facet2vertex)
    laplace.zero_rows(rim, 1.0)
    b.zero()
    b.data[rim] = values[rim]
    op2.Solver({"ksp_type": "gmres", **parameters}).solve(laplace, x, b)
    np.testing.assert_allclose(x.data_ro, values, rtol=0, atol=1e-9)


@everywhere
@eras
def test_the_volume_of_columns(abi: str, backend: str) -> None:
    """Coordinates of the base and a layer's number in 2013, six vertices of a prism in 2016."""
    mesh, layers = square_arrays(3), 6
    base = op2.Set(mesh.n_cells, "base")
    columns = op2.ExtrudedSet(base, layers)
    height = 0.1
    points = op2.Set(mesh.n_vertices * layers)
    low = mesh.cell2vertex * layers
    prism = op2.Map(columns, points, 6, np.stack([low, low + 1], 2).reshape(-1, 6), offset=[1] * 6)
    z = height * np.arange(layers)
    xyz = np.column_stack([np.repeat(mesh.x, layers, axis=0), np.tile(z, mesh.n_vertices)])
    x, volume, top = op2.Dat(points**3, xyz), op2.Global(1, 0.0), op2.Global(1, 0.0)
    layer = ", int j" if abi == "2013" else ""
    own = "(0.1 * (j + 1))" if abi == "2013" else "x[1][2]"
    text = f"""
    void comp_vol(double *A, double *top, double **x{layer}) {{
      double base = (x[2][0] - x[0][0]) * (x[4][1] - x[0][1])
                  - (x[2][1] - x[0][1]) * (x[4][0] - x[0][0]);
      *A += 0.5 * base * (x[1][2] - x[0][2]);
      *top = fmax(*top, {own});
    }}
    """
    kernel = op2.Kernel(text, "comp_vol", abi=abi)
    with op2.backend(backend):
        args = volume(INC), top(MAX), x(READ, prism)
        op2.par_loop(kernel, columns, *args, iterate=op2.ALL)
        assert volume.data_ro[0] == pytest.approx(height * (layers - 1))
        op2.par_loop(kernel, columns, *args, iterate=op2.ON_BOTTOM)
        assert volume.data_ro[0] == pytest.approx(height * layers)
        assert top.data_ro[0] == pytest.approx(height * (layers - 1))
