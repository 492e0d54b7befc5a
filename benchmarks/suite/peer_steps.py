# SPDX-License-Identifier: BSD-3-Clause
"""The steps of the suite's programs by arrays, for the libraries of `peer_arrays`.

A step gets the library, the arrays that are only read, and the values of the step before, and
returns the new values. Where entries are added up, ``m["onto NAME"]`` are the places
of ``m[NAME]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from peer_arrays import Arrays, Step, Values


@dataclass(frozen=True, slots=True)
class Known:
    """A step, and on whose rows the entries of its index arrays are added up."""

    step: Step
    onto: dict[str, str]


STEPS: dict[str, Known] = {}


def step_of(*names: str, **onto: str) -> Callable[[Step], Step]:
    """Declare the step of programs."""

    def declare(step: Step) -> Step:
        STEPS.update(dict.fromkeys(names, Known(step, onto)))
        return step

    return declare


def prepared(
    lib: Arrays, name: str, fixed: dict[str, np.ndarray], values: dict[str, np.ndarray]
) -> tuple[Step, Values]:
    """Return the step of a program, and its arrays that are only read, for a library."""
    known = STEPS[name]
    found: Values = {}
    for key, array in fixed.items():
        if array.dtype.kind == "i" and array.ndim == 2 and array.shape[1] == 2:
            found[key] = tuple(lib.put(np.ascontiguousarray(column)) for column in array.T)
        else:
            found[key] = lib.put(array)
    for key, rows in known.onto.items():
        like = fixed[rows] if rows in fixed else values[rows]
        dtype = np.float64 if like.dtype.kind == "i" else like.dtype
        found[f"onto {key}"] = lib.places(fixed[key], len(like), dtype)
    if type(lib).__name__ == "Arrays" and name in SPARSE:
        return SPARSE[name](fixed), found
    return known.step, found


# Steps -------------------------------------------------------------------------------------------

GM1, EPS, CFL, GAM = (float(np.float32(c)) for c in (0.4, 0.05, 0.9, 1.4))
GM1 = GAM - 1.0


@step_of("airfoil", e2c="q", b2c="q")
def airfoil(lib: Arrays, m: Values, s: Values) -> Values:
    """Two stages of the inviscid flow."""
    xp, old, q = lib.xp, s["q"], s["q"]
    x, (i, j), (n1, n2) = m["x"], m["e2c"], m["e2n"]
    for _ in range(2):
        corners = x[m["c2n"]]
        r = 1.0 / q[:, 0]
        u, v = r * q[:, 1], r * q[:, 2]
        c = xp.sqrt(GAM * GM1 * (r * q[:, 3] - 0.5 * (u * u + v * v)))
        adt = 0.0
        for k in range(4):
            d = corners[:, (k + 1) % 4] - corners[:, k]
            adt = adt + abs(u * d[:, 1] - v * d[:, 0]) + c * xp.sqrt((d * d).sum(1))
        adt = adt / CFL

        d = x[n1] - x[n2]
        f = _flux(xp, d, q[i], q[j], 0.5 * (adt[i] + adt[j]) * EPS)
        res = lib.difference(q, m["onto e2c"], f)

        d, a, far = x[m["b2n"][0]] - x[m["b2n"][1]], q[m["b2c"]], m["qinf"][None]
        dx, dy, p = d[:, 0], d[:, 1], _pressure(a)
        zero = 0.0 * p
        at_wall = xp.stack([zero, p * dy, -p * dx, zero], 1)
        outside = _flux(xp, d, a, far, adt[m["b2c"]] * EPS)
        is_wall = m["is_wall"][:, None]
        res = res + lib.sum(q, m["onto b2c"], is_wall * at_wall + (1.0 - is_wall) * outside)

        change = res / adt[:, None]
        q = old - change
    return {"q": q, "rms": (change * change).sum().reshape(1)}


def _pressure(q: Any) -> Any:
    return GM1 * (q[:, 3] - 0.5 / q[:, 0] * (q[:, 1] * q[:, 1] + q[:, 2] * q[:, 2]))


def _flux(xp: Any, d: Any, a: Any, b: Any, mu: Any) -> Any:
    """Flux across edges between cells with values a and b."""
    dx, dy = d[:, 0], d[:, 1]
    pa, pb = _pressure(a), _pressure(b)
    wa = (a[:, 1] * dy - a[:, 2] * dx) / a[:, 0]
    wb = (b[:, 1] * dy - b[:, 2] * dx) / b[:, 0]
    p, pw = 0.5 * (pa + pb), 0.5 * (wa * pa + wb * pb)
    middle = 0.5 * (wa[:, None] * a + wb[:, None] * b) + mu[:, None] * (a - b)
    zero = 0.0 * p
    return middle + xp.stack([zero, p * dy, -p * dx, pw], 1)


@step_of("jacobi", ends="u")
def jacobi(lib: Arrays, m: Values, s: Values) -> Values:
    """An iteration; each edge adds to both of its ends."""
    u, (i, j) = s["u"], m["ends"]
    du = lib.sum(u, m["onto ends"], 0.25 * lib.xp.stack([u[j], u[i]], 1))
    d = m["inside"] * (du - u)
    return {"u": u + d, "total": (d * d).sum().reshape(1), "largest": abs(d).max().reshape(1)}


@step_of("shallow_water", cells="v", wall_cells="v")
def shallow_water(lib: Arrays, m: Values, s: Values) -> Values:
    """A step as long as the smallest cell allows."""
    xp, q, v, n, (i, j) = lib.xp, s["q"], m["v"], m["normals"], m["cells"]
    (fa, sa), (fb, sb) = _across(xp, q[i], n), _across(xp, q[j], n)
    speed = xp.maximum(sa, sb)
    dt = xp.minimum(0.0 * s["dt"] + 1.0, (0.4 * xp.minimum(v[i], v[j]) / speed).min())
    f = 0.5 * (fa + fb - speed[:, None] * (q[j] - q[i]))
    r = -lib.difference(q, m["onto cells"], f)
    wall = m["wall_normals"]
    p = (0.5 * 9.81 * q[m["wall_cells"]][:, 0] ** 2)[:, None] * wall
    r = r - lib.sum(q, m["onto wall_cells"], xp.concatenate([0.0 * p[:, :1], p], 1))
    return {"q": q + (dt / v)[:, None] * r, "dt": dt}


def _across(xp: Any, q: Any, n: Any) -> tuple[Any, Any]:
    flow = (q[:, 1] * n[:, 0] + q[:, 2] * n[:, 1]) / q[:, 0]
    p = 0.5 * 9.81 * q[:, 0] * q[:, 0]
    f = flow[:, None] * q + xp.stack([0.0 * p, p * n[:, 0], p * n[:, 1]], 1)
    return f, abs(flow) + xp.sqrt(9.81 * q[:, 0] * (n * n).sum(1))


@step_of("poisson_cg", corners="x")
def poisson_cg(lib: Arrays, m: Values, s: Values) -> Values:
    """Two iterations without a matrix."""
    xp, corners = lib.xp, m["corners"]

    def product(p: Any) -> Any:
        where, at = m["x"][corners], p[corners]
        e = where[:, 1:] - where[:, :1]
        e0, e1, e2 = e[:, 0], e[:, 1], e[:, 2]
        n = xp.stack([_cross(xp, e1, e2), _cross(xp, e2, e0), _cross(xp, e0, e1)], 1)
        volume = 6.0 * abs((e0 * n[:, 0]).sum(1))
        g = ((at[:, 1:] - at[:, :1])[:, :, None] * n).sum(1)
        f = (g[:, None] * n).sum(2) / volume[:, None]
        entries = xp.concatenate([-f.sum(1)[:, None], f], 1)
        return m["free"] * lib.sum(p, m["onto corners"], entries)

    return _iterations(product, s)


@step_of("poisson_matrix", rows="x")
def poisson_matrix(lib: Arrays, m: Values, s: Values) -> Values:
    """Two iterations with the entries of a matrix."""

    def product(p: Any) -> Any:
        return m["free"] * lib.sum(p, m["onto rows"], m["data"] * p[m["indices"]])

    return _iterations(product, s)


def _iterations(product: Callable[[Any], Any], s: Values) -> Values:
    u, r, p, square = s["u"], s["r"], s["p"], s["square"]
    for _ in range(2):
        w = product(p)
        a = square / (p * w).sum()
        u, r = u + a * p, r - a * w
        old, square = square, (r * r).sum().reshape(1)
        p = r + square / old * p
    return {"u": u, "r": r, "p": p, "square": square}


def _cross(xp: Any, a: Any, b: Any) -> Any:
    return xp.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        1,
    )


@step_of("aero", dofs="b")
def aero(lib: Arrays, m: Values, s: Values) -> Values:
    """Matrices of the cells, and ten iterations of conjugate gradients with them."""
    xp, dofs, b = lib.xp, m["dofs"], m["b"]
    x, at = m["x"][m["corners"]], m["phi"][dofs]
    K = 0.0
    for slopes in GAUSS_SLOPES:
        g = lib.xp.stack([_dot(slopes[a], x) for a in range(2)], 1)  # cells, directions, xy
        det = g[:, 0, 0] * g[:, 1, 1] - g[:, 0, 1] * g[:, 1, 0]
        # rows of the inverse times derivatives of the four functions
        dx = [(g[:, 1, 1] * slopes[0][i] - g[:, 0, 1] * slopes[1][i]) / det for i in range(4)]
        dy = [(g[:, 0, 0] * slopes[1][i] - g[:, 1, 0] * slopes[0][i]) / det for i in range(4)]
        dx, dy = xp.stack(dx, 1), xp.stack(dy, 1)
        u, v = (dx * at).sum(1), (dy * at).sum(1)
        base = 1.0 + 0.4**2 / 5 * (1.0 - u * u - v * v)
        weight = 0.25 * abs(det)
        root = xp.sqrt(base) * base
        along = u[:, None] * dx + v[:, None] * dy
        first, second = (weight * root * base), (weight * root * 0.4**2)
        K = (
            K
            + first[:, None, None] * (dx[:, :, None] * dx[:, None] + dy[:, :, None] * dy[:, None])
            - second[:, None, None] * (along[:, :, None] * along[:, None])
        )
    u, r, p = 0.0 * b, b + 0.0, b + 0.0
    square = (r * r).sum()
    for _ in range(10):
        w = lib.sum(b, m["onto dofs"], (K * p[dofs][:, None]).sum(2))
        a = square / (p * w).sum()
        u, r = u + a * p, r - a * w
        old, square = square, (r * r).sum()
        p = r + square / old * p
    return {"u": u, "r": r}


def _gauss_slopes() -> list[list[list[float]]]:
    """Return derivatives of the bilinear functions at 2 x 2 Gauss points."""
    t = (0.5 - 0.5 / np.sqrt(3), 0.5 + 0.5 / np.sqrt(3))
    return [[[-(1 - y), 1 - y, -y, y], [-(1 - x), -x, 1 - x, x]] for x in t for y in t]


GAUSS_SLOPES = _gauss_slopes()


def _dot(weights: list[float], x: Any) -> Any:
    return sum(weight * x[:, i] for i, weight in enumerate(weights))


@step_of("euler", ends="q", walls="q")
def euler(lib: Arrays, m: Values, s: Values) -> Values:
    """Fluxes, walls, update."""
    return {"q": _level(lib, m, s["q"])}


def _level(lib: Arrays, m: Values, q: Any, of: str = "") -> Any:
    xp, n, (i, j) = lib.xp, m[of + "normals"], m[of + "ends"]
    a, b = q[i], q[j]
    pa, pb = (0.4 * (c[:, 4] - 0.5 / c[:, 0] * (c[:, 1:4] ** 2).sum(1)) for c in (a, b))
    va, vb = ((c[:, 1:4] * n).sum(1) / c[:, 0] for c in (a, b))
    area = xp.sqrt((n * n).sum(1))
    ca = abs(va) + area * xp.sqrt(1.4 * pa / a[:, 0])
    cb = abs(vb) + area * xp.sqrt(1.4 * pb / b[:, 0])
    f = va[:, None] * a + vb[:, None] * b - xp.maximum(ca, cb)[:, None] * (b - a)
    work = (va * pa + vb * pb)[:, None]
    f = 0.5 * xp.concatenate([f[:, :1], f[:, 1:4] + (pa + pb)[:, None] * n, f[:, 4:] + work], 1)
    r = lib.difference(q, m[f"onto {of}ends"], f)
    c = q[m[of + "walls"]]
    p = 0.4 * (c[:, 4] - 0.5 / c[:, 0] * (c[:, 1:4] ** 2).sum(1))
    push, zero = p[:, None] * m[of + "wall_normals"], 0.0 * p[:, None]
    r = r + lib.sum(q, m[f"onto {of}walls"], xp.concatenate([zero, push, zero], 1))
    return q - m[of + "rates"][:, None] * r


@step_of("multigrid", ends="q", walls="q", coarse_ends="q2", coarse_walls="q2", near="q2")
def multigrid(lib: Arrays, m: Values, s: Values) -> Values:
    """A step on the fine level, two on the coarse."""
    q, near = _level(lib, m, s["q"]), m["near"]
    old = lib.sum(s["q2"], m["onto near"], m["parts"][:, None] * q)
    q2 = _level(lib, m, _level(lib, m, old, "coarse_"), "coarse_")
    return {"q": q + 0.5 * (q2 - old)[near], "q2": q2}


FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))


@step_of("hydro", corners="inertia")
def hydro(lib: Arrays, m: Values, s: Values) -> Values:
    """Forces of the cells, motion of the vertices, work."""
    xp, corners, mass = lib.xp, m["corners"], m["mass"]
    x, v, energy = s["x"], s["v"], s["energy"]
    where = x[corners]
    parts: list[Any] = [0.0] * 8
    volume = 0.0
    for face in FACES:
        w, y, z, t = (where[:, k] for k in face)
        area = 0.5 * _cross(xp, z - w, t - y)
        volume = volume + (0.25 * (w + y + z + t) * area).sum(1) / 3.0
        for k in face:
            parts[k] = parts[k] + 0.25 * area
    n = xp.stack(parts, 1)
    growth = (n * v[corners]).sum(2).sum(1)
    length = xp.cbrt(volume) if hasattr(xp, "cbrt") else volume ** (1.0 / 3.0)
    density = mass / volume
    pressure = 0.4 * density * energy
    sound = xp.sqrt(1.4 * pressure / density)
    closing = xp.where(growth < 0.0, -growth / (length * length), 0.0 * growth)
    viscous = density * closing * (2.0 * closing + 0.3 * sound)
    forces = (pressure + viscous)[:, None, None] * n
    limit = (0.15 * length / (sound + 4.0 * closing + 1e-12)).min()
    dt = xp.minimum(0.0 * s["dt"] + 1.0, limit)
    f = lib.sum(x, m["onto corners"], forces)
    after = m["free"] * (v + dt * f / m["inertia"][:, None])
    half = 0.5 * (v + after)
    power = (forces * half[corners]).sum(2).sum(1)
    return {"x": x + dt * half, "v": after, "energy": energy - dt * power / mass, "dt": dt}


@step_of("messages_f64", "messages_f32", second="x")
def messages(lib: Arrays, m: Values, s: Values) -> Values:
    """Messages along the edges, then an update."""
    x, (i, j) = s["x"], m["ends"]
    sent = lib.xp.tanh(x[i] - x[j])
    return {"x": x + 0.1 * lib.sum(x, m["onto second"], sent)}


@step_of("matrix_p1", "matrix_p2", places="indices")
def matrix(lib: Arrays, m: Values, s: Values) -> Values:
    """The matrix of each cell, and their sum."""
    xp = lib.xp
    where = m["x"][m["corners"]]
    e, f = where[:, 1] - where[:, 0], where[:, 2] - where[:, 0]
    det = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    scale = 1.0 / abs(det)
    ee, ef, ff = (e * e).sum(1) * scale, (e * f).sum(1) * scale, (f * f).sum(1) * scale
    G = xp.stack([ff, -ef, -ef, ee], 1)
    K = G @ m["reference"].reshape(4, -1)
    return {"A": lib.sum(s["A"], m["onto places"], K.reshape(-1))}


@step_of("hexes_q2", "hexes_q6", dofs="u")
def hexes(lib: Arrays, m: Values, s: Values) -> Values:
    """The action on each cell by sums along one direction at a time."""
    xp, n = lib.xp, m["value"].shape[1]
    u = m["u"][m["dofs"]].reshape(-1, n, n, n)
    x = m["x"][m["corners"]].reshape(-1, 2, 2, 2, 3)
    J = [_derivative(xp, m["corner_value"], m["corner_slope"], x, a) for a in range(3)]
    c = [_cross_last(xp, J[1], J[2]), _cross_last(xp, J[2], J[0]), _cross_last(xp, J[0], J[1])]
    det = (J[0] * c[0]).sum(-1)
    w = m["weights"]
    scale = (w[:, None, None] * w[:, None] * w)[None] / abs(det)
    g = [_derivative(xp, m["value"], m["slope"], u, a) for a in range(3)]
    slope = sum(g[a][..., None] * c[a] for a in range(3)) * scale[..., None]
    y = 0.0
    for a in range(3):
        y = y + _derivative(xp, m["value"].T, m["slope"].T, (slope * c[a]).sum(-1), a)
    return {"y": lib.sum(s["y"], m["onto dofs"], y.reshape(-1))}


def _derivative(xp: Any, value: Any, slope: Any, u: Any, direction: int) -> Any:
    """Interpolate along all directions but one, and derive along this one."""
    for axis in range(3):
        table = slope if axis == direction else value
        u = xp.moveaxis(xp.tensordot(table, u, ([1], [axis + 1])), 0, axis + 1)
    return u


def _cross_last(xp: Any, a: Any, b: Any) -> Any:
    return xp.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        -1,
    )


# SciPy's own ways --------------------------------------------------------------------------------


def sparse_jacobi(fixed: dict[str, np.ndarray]) -> Step:
    """Return the iteration by a sparse matrix."""
    from scipy.sparse import csr_matrix

    i, j = np.concatenate([fixed["ends"], fixed["ends"][:, ::-1]]).T
    n, inside = len(fixed["inside"]), fixed["inside"].reshape(-1)
    matrix = csr_matrix((np.full(len(i), 0.25), (i, j)), (n, n))

    def step(lib: Arrays, m: Values, s: Values) -> Values:
        d = inside * (matrix @ s["u"] - s["u"])
        return {"u": s["u"] + d, "total": (d @ d).reshape(1), "largest": abs(d).max().reshape(1)}

    return step


def sparse_poisson(fixed: dict[str, np.ndarray]) -> Step:
    """Return the iterations by a sparse matrix."""
    from scipy.sparse import csr_matrix

    n, free = len(fixed["x"]), fixed["free"]
    matrix = csr_matrix((fixed["data"], fixed["indices"], fixed["indptr"]), (n, n))
    return lambda lib, m, s: _iterations(lambda p: free * (matrix @ p), s)


SPARSE = {"jacobi": sparse_jacobi, "poisson_matrix": sparse_poisson}
