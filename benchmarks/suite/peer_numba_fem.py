# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: C901 - a loop is one function, as in the kernels
"""Numba as a peer: loops of finite elements, in the way of `peer_numba`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import peer_numba
from numba import prange
from peer_arrays import STEPS
from peer_numba import PARALLEL, adjacent, gather, inner, jit, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, Any]


# Conjugate gradients -----------------------------------------------------------------------------


@jit
def tetrahedra(x, corners, p, w, f):
    for c in prange(len(corners)):
        o = corners[c, 0]
        a, b, d = corners[c, 1], corners[c, 2], corners[c, 3]
        ax, ay, az = x[a, 0] - x[o, 0], x[a, 1] - x[o, 1], x[a, 2] - x[o, 2]
        bx, by, bz = x[b, 0] - x[o, 0], x[b, 1] - x[o, 1], x[b, 2] - x[o, 2]
        dx, dy, dz = x[d, 0] - x[o, 0], x[d, 1] - x[o, 1], x[d, 2] - x[o, 2]
        a0, a1, a2 = by * dz - bz * dy, bz * dx - bx * dz, bx * dy - by * dx
        b0, b1, b2 = dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax
        d0, d1, d2 = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        scale = 1.0 / (6.0 * abs(ax * a0 + ay * a1 + az * a2))
        pa, pb, pd = p[a] - p[o], p[b] - p[o], p[d] - p[o]
        g0 = (pa * a0 + pb * b0 + pd * d0) * scale
        g1 = (pa * a1 + pb * b1 + pd * d1) * scale
        g2 = (pa * a2 + pb * b2 + pd * d2) * scale
        fa = g0 * a0 + g1 * a1 + g2 * a2
        fb = g0 * b0 + g1 * b1 + g2 * b2
        fd = g0 * d0 + g1 * d1 + g2 * d2
        if PARALLEL:
            f[4 * c, 0], f[4 * c + 1, 0], f[4 * c + 2, 0] = -fa - fb - fd, fa, fb
            f[4 * c + 3, 0] = fd
        else:
            w[o, 0] -= fa + fb + fd
            w[a, 0] += fa
            w[b, 0] += fb
            w[d, 0] += fd


@jit
def hold(free, p, w):
    energy = 0.0
    for i in prange(len(p)):
        w[i, 0] *= free[i]
        energy += p[i] * w[i, 0]
    return energy


@jit
def ahead(a, p, w, u, r):
    square = 0.0
    for i in prange(len(p)):
        u[i] += a * p[i]
        r[i] -= a * w[i, 0]
        w[i, 0] = 0.0
        square += r[i] * r[i]
    return square


@jit
def turn(b, r, p):
    for i in prange(len(p)):
        p[i] = r[i] + b * p[i]


@jit
def rows_times(pointers, columns, data, p, w):
    for i in prange(len(pointers) - 1):
        total = 0.0
        for at in range(pointers[i], pointers[i + 1]):
            total += data[at] * p[columns[at]]
        w[i, 0] = total


def poisson_matrix(m: Values) -> Callable[[Values], None]:
    n, free = len(m["x"]), m["free"].reshape(-1)
    matrix, w = (m["indptr"], m["indices"], m["data"]), np.zeros((n, 1))

    def step(s: Values) -> None:
        u, r, p = s["u"], s["r"], s["p"]
        for _ in range(2):
            rows_times(*matrix, p, w)
            before = s["square"][0]
            s["square"][0] = ahead(before / hold(free, p, w), p, w, u, r)
            turn(s["square"][0] / before, r, p)

    return step


def poisson_cg(m: Values) -> Callable[[Values], None]:
    n, cells, free = len(m["x"]), m["corners"], m["free"].reshape(-1)
    near, f, w = adjacent(cells, n), stored(4 * len(cells), 1), np.zeros((n, 1))

    def step(s: Values) -> None:
        u, r, p = s["u"], s["r"], s["p"]
        for _ in range(2):
            tetrahedra(m["x"], cells, p, w, f)
            if PARALLEL:
                gather(*near, f, w)
            before = s["square"][0]
            s["square"][0] = ahead(before / hold(free, p, w), p, w, u, r)
            turn(s["square"][0] / before, r, p)

    return step


@jit
def tangents(x, corners, dofs, phi, K):
    low, high = 0.5 - 0.5 / math.sqrt(3.0), 0.5 + 0.5 / math.sqrt(3.0)
    for c in prange(len(corners)):
        for k in range(16):
            K[c, k] = 0.0
        for at in range(4):
            s, t = (high if at & 1 else low), (high if at & 2 else low)
            a, b, d, e = corners[c, 0], corners[c, 1], corners[c, 2], corners[c, 3]
            xs = (1 - t) * (x[b, 0] - x[a, 0]) + t * (x[e, 0] - x[d, 0])
            ys = (1 - t) * (x[b, 1] - x[a, 1]) + t * (x[e, 1] - x[d, 1])
            xt = (1 - s) * (x[d, 0] - x[a, 0]) + s * (x[e, 0] - x[b, 0])
            yt = (1 - s) * (x[d, 1] - x[a, 1]) + s * (x[e, 1] - x[b, 1])
            det = xs * yt - ys * xt
            ds = (t - 1, 1 - t, -t, t)
            dt = (s - 1, -s, 1 - s, s)
            u = v = 0.0
            for i in range(4):
                u += (yt * ds[i] - ys * dt[i]) / det * phi[dofs[c, i]]
                v += (xs * dt[i] - xt * ds[i]) / det * phi[dofs[c, i]]
            base = 1.0 + 0.4**2 / 5 * (1.0 - u * u - v * v)
            root = 0.25 * abs(det) * math.sqrt(base) * base
            for i in range(4):
                ix, iy = (yt * ds[i] - ys * dt[i]) / det, (xs * dt[i] - xt * ds[i]) / det
                for j in range(4):
                    jx, jy = (yt * ds[j] - ys * dt[j]) / det, (xs * dt[j] - xt * ds[j]) / det
                    both = (u * ix + v * iy) * (u * jx + v * jy)
                    K[c, 4 * i + j] += root * (base * (ix * jx + iy * jy) - 0.4**2 * both)


@jit
def quadrilaterals(dofs, K, p, w, f):
    for c in prange(len(dofs)):
        p0, p1, p2, p3 = p[dofs[c, 0]], p[dofs[c, 1]], p[dofs[c, 2]], p[dofs[c, 3]]
        for i in range(4):
            at = 4 * i
            y = K[c, at] * p0 + K[c, at + 1] * p1 + K[c, at + 2] * p2 + K[c, at + 3] * p3
            if PARALLEL:
                f[4 * c + i, 0] = y
            else:
                w[dofs[c, i], 0] += y


def aero(m: Values) -> Callable[[Values], None]:
    dofs, b, phi = m["dofs"], m["b"].reshape(-1), m["phi"].reshape(-1)
    near, f = adjacent(dofs, len(b)), stored(dofs.size, 1)
    w, K, p, free = np.zeros((len(b), 1)), np.empty((len(dofs), 16)), b.copy(), np.ones(len(b))

    def step(s: Values) -> None:
        u, r = s["u"].reshape(-1), s["r"].reshape(-1)
        tangents(m["x"], m["corners"], dofs, phi, K)
        u[:] = 0.0
        r[:], p[:] = b, b
        before = float(r @ r)
        for _ in range(10):
            quadrilaterals(dofs, K, p, w, f)
            if PARALLEL:
                gather(*near, f, w)
            square = ahead(before / hold(free, p, w), p, w, u, r)
            turn(square / before, r, p)
            before = square

    return step


# Matrices ----------------------------------------------------------------------------------------


@jit
def matrix_cells(x, corners, reference, places, entries, data):
    n = reference.shape[1]
    for c in prange(len(corners)):
        a, b, d = corners[c, 0], corners[c, 1], corners[c, 2]
        ex, ey, fx, fy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[d, 0] - x[a, 0], x[d, 1] - x[a, 1]
        scale = 1.0 / abs(ex * fy - ey * fx)
        g0, g1 = (fx * fx + fy * fy) * scale, -(ex * fx + ey * fy) * scale
        g2 = (ex * ex + ey * ey) * scale
        for k in range(n):
            y = g0 * reference[0, k] + g1 * reference[1, k] + g2 * reference[2, k]
            if PARALLEL:
                entries[c * n + k, 0] = y
            else:
                data[places[c, k], 0] += y


def matrix(m: Values) -> Callable[[Values], None]:
    full, places = m["reference"], m["places"]
    reference = np.stack([full[0, 0], full[0, 1] + full[1, 0], full[1, 1]]).reshape(3, -1)
    near, entries = adjacent(places, len(m["indices"])), stored(places.size, 1)

    def step(s: Values) -> None:
        data = s["A"].reshape(-1, 1)
        data[:] = 0.0
        matrix_cells(m["x"], m["corners"], reference, places, entries, data)
        if PARALLEL:
            gather(*near, entries, data)

    return step


# Hexahedra ---------------------------------------------------------------------------------------


def derivation(m: int, q: int) -> Any:
    """Return a function from m x m x m values to a derivative at q x q x q points.

    The sizes are constants for the compiler. Innermost loops run over neighbouring numbers.
    """

    @inner
    def derive(value, slope, direction, u, out, room):
        t = slope if direction == 0 else value
        for a in range(q):
            for k in range(m * m):
                room[a * m * m + k] = 0.0
            for j in range(m):
                for k in range(m * m):
                    room[a * m * m + k] += t[j, a] * u[j * m * m + k]
        t = slope if direction == 1 else value
        for i in range(q):
            for a in range(q):
                for k in range(m):
                    out[(i * q + a) * m + k] = 0.0
                for j in range(m):
                    for k in range(m):
                        out[(i * q + a) * m + k] += t[j, a] * room[(i * m + j) * m + k]
        t = slope if direction == 2 else value
        for i in range(q * q):
            for a in range(q):
                room[i * q + a] = 0.0
            for j in range(m):
                for a in range(q):
                    room[i * q + a] += t[j, a] * out[i * m + j]
        for i in range(q * q * q):
            out[i] = room[i]

    return derive


def hexahedra_of(n: int, q: int) -> Any:
    """Return the action for n dofs and q points a direction."""
    of_corners, forward, backward = derivation(2, q), derivation(n, q), derivation(q, n)

    @jit
    def hexahedra(x, corners, dofs, value, slope, cv, cs, back, back_slope, w, u, y, f, chunks):
        for chunk in prange(chunks):
            J, g, local = np.empty((9, q**3)), np.empty((3, q**3)), np.empty(n**3)
            out, room, where = np.empty(q**3), np.empty(q**3), np.empty(8)
            for c in range(len(dofs) * chunk // chunks, len(dofs) * (chunk + 1) // chunks):
                for k in range(3):
                    for i in range(8):
                        where[i] = x[corners[c, i], k]
                    for a in range(3):
                        of_corners(cv, cs, a, where, J[3 * a + k], room)
                for i in range(n**3):
                    local[i] = u[dofs[c, i]]
                for a in range(3):
                    forward(value, slope, a, local, g[a], room)
                for at in range(q**3):
                    a0, a1, a2 = J[0, at], J[1, at], J[2, at]
                    b0, b1, b2 = J[3, at], J[4, at], J[5, at]
                    d0, d1, d2 = J[6, at], J[7, at], J[8, at]
                    p0, p1, p2 = b1 * d2 - b2 * d1, b2 * d0 - b0 * d2, b0 * d1 - b1 * d0
                    r0, r1, r2 = d1 * a2 - d2 * a1, d2 * a0 - d0 * a2, d0 * a1 - d1 * a0
                    t0, t1, t2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
                    weight = w[at // (q * q)] * w[at // q % q] * w[at % q]
                    scale = weight / abs(a0 * p0 + a1 * p1 + a2 * p2)
                    s0 = (g[0, at] * p0 + g[1, at] * r0 + g[2, at] * t0) * scale
                    s1 = (g[0, at] * p1 + g[1, at] * r1 + g[2, at] * t1) * scale
                    s2 = (g[0, at] * p2 + g[1, at] * r2 + g[2, at] * t2) * scale
                    g[0, at] = s0 * p0 + s1 * p1 + s2 * p2
                    g[1, at] = s0 * r0 + s1 * r1 + s2 * r2
                    g[2, at] = s0 * t0 + s1 * t1 + s2 * t2
                local[:] = 0.0
                for a in range(3):
                    backward(back, back_slope, a, g[a], out, room)
                    for i in range(n**3):
                        local[i] += out[i]
                for i in range(n**3):
                    if PARALLEL:
                        f[c * n**3 + i, 0] = local[i]
                    else:
                        y[dofs[c, i], 0] += local[i]

    return hexahedra


def hexes(m: Values) -> Callable[[Values], None]:
    dofs, u = m["dofs"], m["u"].reshape(-1)
    near, entries = adjacent(dofs, len(u)), stored(dofs.size, 1)
    q, n = m["value"].shape
    forward = ("value", "slope", "corner_value", "corner_slope")
    tables = [np.ascontiguousarray(m[name].T) for name in forward]
    tables += [np.ascontiguousarray(m[name]) for name in ("value", "slope")]
    chunks = max(min(len(dofs), 4 * numba.get_num_threads()), 1) if PARALLEL else 1
    hexahedra = hexahedra_of(n, q)

    def step(s: Values) -> None:
        y = s["y"].reshape(-1, 1)
        y[:] = 0.0
        given = m["x"], m["corners"], dofs, *tables, m["weights"], u
        hexahedra(*given, y, entries, chunks)
        if PARALLEL:
            gather(*near, entries, y)

    return step


MAKE = peer_numba.MAKE | {
    "poisson_cg": poisson_cg,
    "poisson_matrix": poisson_matrix,
    "aero": aero,
    "matrix_p1": matrix,
    "matrix_p2": matrix,
    "hexes_q2": hexes,
    "hexes_q6": hexes,
}


def made(name: str, fixed: Values, is_steady: bool) -> Callable[[Values], Values]:
    """Return a function that does `STEPS` steps in place, or one if they are all the same."""
    step, n = MAKE[name](fixed), 1 if is_steady else STEPS

    def run(values: Values) -> Values:
        for _ in range(n):
            step(values)
        return values

    return run
