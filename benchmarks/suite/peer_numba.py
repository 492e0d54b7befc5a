# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: C901 - a loop is one function, as in the kernels
"""Numba as a peer: loops of finite volumes, hydrodynamics and messages, without fastmath.

On one thread the loop over edges or cells adds at the vertices at once. On several it stores its
entries, and a loop over the vertices gathers them, so that no two threads write the same place.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import njit, prange
from peer_arrays import incidences

if TYPE_CHECKING:
    from collections.abc import Callable

    Values = dict[str, Any]

PARALLEL = int(os.environ["OMP_NUM_THREADS"]) > 1
numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
jit = njit(parallel=PARALLEL, error_model="numpy")
inner = njit(error_model="numpy")
GAM, EPS, CFL = (float(np.float32(c)) for c in (1.4, 0.05, 0.9))
GM1 = GAM - 1.0
FACES = np.array(
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]
)


@jit
def gather(pointers, entries, f, out):
    """Add rows of f at the vertices of `incidences`."""
    for i in prange(len(pointers) - 1):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
        for at in range(pointers[i], pointers[i + 1]):
            for k in range(out.shape[1]):
                out[i, k] += f[entries[at], k]


@jit
def gather_pairs(pointers, entries, f, out):
    """Add a row of an edge at the first end, and subtract the row at the second."""
    for i in prange(len(pointers) - 1):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
        for at in range(pointers[i], pointers[i + 1]):
            e, is_second = entries[at] >> 1, entries[at] & 1
            for k in range(out.shape[1]):
                out[i, k] += -f[e, k] if is_second else f[e, k]


def adjacent(index: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `incidences` where several threads run."""
    if not PARALLEL:
        return np.zeros(1, np.int64), np.zeros(1, np.int32)
    pointers, entries = incidences(index.reshape(-1), n)
    return pointers, entries.astype(np.int32)


def stored(n: int, width: int) -> np.ndarray:
    """Return room for entries where several threads run."""
    return np.empty((n if PARALLEL else 1, width))


# Aerofoil ----------------------------------------------------------------------------------------


@jit
def airfoil_adt(x, c2n, q, adt):
    for c in prange(len(adt)):
        r = 1.0 / q[c, 0]
        u, v = r * q[c, 1], r * q[c, 2]
        sound = math.sqrt(GAM * GM1 * (r * q[c, 3] - 0.5 * (u * u + v * v)))
        total = 0.0
        for k in range(4):
            a, b = c2n[c, k], c2n[c, (k + 1) & 3]
            dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
            total += abs(u * dy - v * dx) + sound * math.sqrt(dx * dx + dy * dy)
        adt[c] = total / CFL


@inner
def airfoil_flux(dx, dy, a0, a1, a2, a3, b0, b1, b2, b3, mu):
    ra, rb = 1.0 / a0, 1.0 / b0
    pa = GM1 * (a3 - 0.5 * ra * (a1 * a1 + a2 * a2))
    pb = GM1 * (b3 - 0.5 * rb * (b1 * b1 + b2 * b2))
    wa, wb = ra * (a1 * dy - a2 * dx), rb * (b1 * dy - b2 * dx)
    return (
        0.5 * (wa * a0 + wb * b0) + mu * (a0 - b0),
        0.5 * (wa * a1 + pa * dy + wb * b1 + pb * dy) + mu * (a1 - b1),
        0.5 * (wa * a2 - pa * dx + wb * b2 - pb * dx) + mu * (a2 - b2),
        0.5 * (wa * (a3 + pa) + wb * (b3 + pb)) + mu * (a3 - b3),
    )


@jit
def airfoil_edges(x, e2n, e2c, q, adt, res, f):
    for e in prange(len(e2c)):
        i, j, m, n = e2c[e, 0], e2c[e, 1], e2n[e, 0], e2n[e, 1]
        f0, f1, f2, f3 = airfoil_flux(
            x[m, 0] - x[n, 0],
            x[m, 1] - x[n, 1],
            q[i, 0],
            q[i, 1],
            q[i, 2],
            q[i, 3],
            q[j, 0],
            q[j, 1],
            q[j, 2],
            q[j, 3],
            0.5 * (adt[i] + adt[j]) * EPS,
        )
        if PARALLEL:
            f[e, 0], f[e, 1], f[e, 2], f[e, 3] = f0, f1, f2, f3
        else:
            res[i, 0] += f0
            res[i, 1] += f1
            res[i, 2] += f2
            res[i, 3] += f3
            res[j, 0] -= f0
            res[j, 1] -= f1
            res[j, 2] -= f2
            res[j, 3] -= f3


@inner
def airfoil_rim(x, b2n, b2c, is_wall, qinf, q, adt, res):
    for e in range(len(b2c)):
        c = b2c[e]
        dx, dy = x[b2n[e, 0], 0] - x[b2n[e, 1], 0], x[b2n[e, 0], 1] - x[b2n[e, 1], 1]
        if is_wall[e]:
            p = GM1 * (q[c, 3] - 0.5 / q[c, 0] * (q[c, 1] * q[c, 1] + q[c, 2] * q[c, 2]))
            res[c, 1] += p * dy
            res[c, 2] -= p * dx
        else:
            f0, f1, f2, f3 = airfoil_flux(
                dx,
                dy,
                q[c, 0],
                q[c, 1],
                q[c, 2],
                q[c, 3],
                qinf[0],
                qinf[1],
                qinf[2],
                qinf[3],
                adt[c] * EPS,
            )
            res[c, 0] += f0
            res[c, 1] += f1
            res[c, 2] += f2
            res[c, 3] += f3


@jit
def airfoil_update(old, q, res, adt):
    rms = 0.0
    for c in prange(len(adt)):
        r = 1.0 / adt[c]
        for k in range(4):
            d = r * res[c, k]
            q[c, k] = old[c, k] - d
            res[c, k] = 0.0
            rms += d * d
    return rms


@jit
def copy(a, b):
    for i in prange(len(a)):
        for k in range(a.shape[1]):
            b[i, k] = a[i, k]


def airfoil(m: Values) -> Callable[[Values], None]:
    n = len(m["c2n"])
    near, f = adjacent(m["e2c"], n), stored(len(m["e2c"]), 4)
    adt, res, old = np.empty(n), np.zeros((n, 4)), np.empty((n, 4))
    rim = m["x"], m["b2n"], m["b2c"], m["is_wall"], m["qinf"]

    def step(s: Values) -> None:
        copy(s["q"], old)
        for _ in range(2):
            airfoil_adt(m["x"], m["c2n"], s["q"], adt)
            airfoil_edges(m["x"], m["e2n"], m["e2c"], s["q"], adt, res, f)
            if PARALLEL:
                gather_pairs(*near, f, res)
            airfoil_rim(*rim, s["q"], adt, res)
            s["rms"][0] = airfoil_update(old, s["q"], res, adt)

    return step


# Jacobi's iteration ------------------------------------------------------------------------------


@jit
def jacobi_edges(ends, u, du):
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        du[i] += 0.25 * u[j]
        du[j] += 0.25 * u[i]


@jit
def jacobi_rows(pointers, others, u, du):
    for i in prange(len(u)):
        total = 0.0
        for at in range(pointers[i], pointers[i + 1]):
            total += 0.25 * u[others[at]]
        du[i] = total


@jit
def jacobi_update(inside, du, u):
    total, largest = 0.0, 0.0
    for i in prange(len(u)):
        d = inside[i, 0] * (du[i] - u[i])
        u[i] += d
        du[i] = 0.0
        total += d * d
        largest = max(largest, abs(d))
    return total, largest


def jacobi(m: Values) -> Callable[[Values], None]:
    n, inside = len(m["inside"]), m["inside"].reshape(-1, 1)
    pointers, entries = adjacent(m["ends"], n)
    others = m["ends"][:, ::-1].reshape(-1)[entries]
    du = np.zeros(n)

    def step(s: Values) -> None:
        if PARALLEL:
            jacobi_rows(pointers, others, s["u"], du)
        else:
            jacobi_edges(m["ends"], s["u"], du)
        s["total"][0], s["largest"][0] = jacobi_update(inside, du, s["u"])

    return step


# Shallow water -----------------------------------------------------------------------------------


@inner
def across(h, hu, hv, nx, ny):
    flow, p = (hu * nx + hv * ny) / h, 0.5 * 9.81 * h * h
    speed = abs(flow) + math.sqrt(9.81 * h * (nx * nx + ny * ny))
    return flow * h, flow * hu + p * nx, flow * hv + p * ny, speed


@jit
def water_edges(normals, cells, v, q, r, f):
    dt = 1.0
    for e in prange(len(cells)):
        i, j, nx, ny = cells[e, 0], cells[e, 1], normals[e, 0], normals[e, 1]
        a0, a1, a2, sa = across(q[i, 0], q[i, 1], q[i, 2], nx, ny)
        b0, b1, b2, sb = across(q[j, 0], q[j, 1], q[j, 2], nx, ny)
        speed = max(sa, sb)
        dt = min(dt, 0.4 * min(v[i], v[j]) / speed)
        f0 = 0.5 * (a0 + b0 - speed * (q[j, 0] - q[i, 0]))
        f1 = 0.5 * (a1 + b1 - speed * (q[j, 1] - q[i, 1]))
        f2 = 0.5 * (a2 + b2 - speed * (q[j, 2] - q[i, 2]))
        if PARALLEL:
            f[e, 0], f[e, 1], f[e, 2] = f0, f1, f2
        else:
            r[i, 0] += f0
            r[i, 1] += f1
            r[i, 2] += f2
            r[j, 0] -= f0
            r[j, 1] -= f1
            r[j, 2] -= f2
    return dt


@inner
def water_walls(normals, cells, q, r):
    for e in range(len(cells)):
        c = cells[e]
        p = 0.5 * 9.81 * q[c, 0] * q[c, 0]
        r[c, 1] += p * normals[e, 0]
        r[c, 2] += p * normals[e, 1]


@jit
def water_update(dt, v, r, q):
    for c in prange(len(q)):
        for k in range(3):
            q[c, k] -= dt / v[c] * r[c, k]
            r[c, k] = 0.0


def shallow_water(m: Values) -> Callable[[Values], None]:
    v = m["v"].reshape(-1)
    near, f, r = adjacent(m["cells"], len(v)), stored(len(m["cells"]), 3), np.zeros((len(v), 3))

    def step(s: Values) -> None:
        s["dt"][0] = water_edges(m["normals"], m["cells"], v, s["q"], r, f)
        if PARALLEL:
            gather_pairs(*near, f, r)
        water_walls(m["wall_normals"], m["wall_cells"], s["q"], r)
        water_update(s["dt"][0], v, r, s["q"])

    return step


# Euler's equations -------------------------------------------------------------------------------


@jit
def euler_edges(normals, ends, q, r, f):
    for e in prange(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        nx, ny, nz = normals[e, 0], normals[e, 1], normals[e, 2]
        a0, a1, a2, a3, a4 = q[i, 0], q[i, 1], q[i, 2], q[i, 3], q[i, 4]
        b0, b1, b2, b3, b4 = q[j, 0], q[j, 1], q[j, 2], q[j, 3], q[j, 4]
        ia, ib = 1.0 / a0, 1.0 / b0
        pa = 0.4 * (a4 - 0.5 * ia * (a1 * a1 + a2 * a2 + a3 * a3))
        pb = 0.4 * (b4 - 0.5 * ib * (b1 * b1 + b2 * b2 + b3 * b3))
        va, vb = ia * (a1 * nx + a2 * ny + a3 * nz), ib * (b1 * nx + b2 * ny + b3 * nz)
        area = math.sqrt(nx * nx + ny * ny + nz * nz)
        ca = abs(va) + area * math.sqrt(1.4 * pa * ia)
        cb = abs(vb) + area * math.sqrt(1.4 * pb * ib)
        c, p = max(ca, cb), pa + pb
        f0 = 0.5 * (va * a0 + vb * b0 - c * (b0 - a0))
        f1 = 0.5 * (va * a1 + vb * b1 + p * nx - c * (b1 - a1))
        f2 = 0.5 * (va * a2 + vb * b2 + p * ny - c * (b2 - a2))
        f3 = 0.5 * (va * a3 + vb * b3 + p * nz - c * (b3 - a3))
        f4 = 0.5 * (va * (a4 + pa) + vb * (b4 + pb) - c * (b4 - a4))
        if PARALLEL:
            f[e, 0], f[e, 1], f[e, 2], f[e, 3], f[e, 4] = f0, f1, f2, f3, f4
        else:
            r[i, 0] += f0
            r[i, 1] += f1
            r[i, 2] += f2
            r[i, 3] += f3
            r[i, 4] += f4
            r[j, 0] -= f0
            r[j, 1] -= f1
            r[j, 2] -= f2
            r[j, 3] -= f3
            r[j, 4] -= f4


@inner
def euler_walls(normals, walls, q, r):
    for e in range(len(walls)):
        c = walls[e]
        square = q[c, 1] * q[c, 1] + q[c, 2] * q[c, 2] + q[c, 3] * q[c, 3]
        p = 0.4 * (q[c, 4] - 0.5 / q[c, 0] * square)
        for k in range(3):
            r[c, k + 1] += p * normals[e, k]


@jit
def euler_update(rates, r, q):
    for c in prange(len(q)):
        for k in range(5):
            q[c, k] -= rates[c] * r[c, k]
            r[c, k] = 0.0


def level(m: Values, of: str = "") -> Callable[[np.ndarray], None]:
    normals, ends, wall_normals, walls, rates = (
        m[of + name] for name in ("normals", "ends", "wall_normals", "walls", "rates")
    )
    n, rates = len(rates), rates.reshape(-1)
    near, f, r = adjacent(ends, n), stored(len(ends), 5), np.zeros((n, 5))

    def step(q: np.ndarray) -> None:
        euler_edges(normals, ends, q, r, f)
        if PARALLEL:
            gather_pairs(*near, f, r)
        euler_walls(wall_normals, walls, q, r)
        euler_update(rates, r, q)

    return step


def euler(m: Values) -> Callable[[Values], None]:
    step = level(m)
    return lambda s: step(s["q"])


@inner
def restrict(near, parts, q, coarse):
    coarse[:] = 0.0
    for i in range(len(near)):
        for k in range(5):
            coarse[near[i], k] += parts[i] * q[i, k]


@jit
def restrict_rows(pointers, entries, parts, q, coarse):
    for i in prange(len(coarse)):
        for k in range(5):
            total = 0.0
            for at in range(pointers[i], pointers[i + 1]):
                total += parts[entries[at]] * q[entries[at], k]
            coarse[i, k] = total


@jit
def prolong(near, now, old, q):
    for i in prange(len(near)):
        for k in range(5):
            q[i, k] += 0.5 * (now[near[i], k] - old[near[i], k])


def multigrid(m: Values) -> Callable[[Values], None]:
    fine, coarse = level(m), level(m, "coarse_")
    n = len(m["coarse_rates"])
    near, old = adjacent(m["near"], n), np.empty((n, 5))

    def step(s: Values) -> None:
        fine(s["q"])
        if PARALLEL:
            restrict_rows(*near, m["parts"], s["q"], s["q2"])
        else:
            restrict(m["near"], m["parts"], s["q"], s["q2"])
        copy(s["q2"], old)
        coarse(s["q2"])
        coarse(s["q2"])
        prolong(m["near"], s["q2"], old, s["q"])

    return step


# Hydrodynamics -----------------------------------------------------------------------------------


@jit
def hydro_forces(faces, x, v, mass, energy, corners, corner, f):
    dt = 1.0
    for c in prange(len(corners)):
        volume = growth = 0.0
        for i in range(8):
            for k in range(3):
                corner[c, i, k] = 0.0
        for s in range(6):
            n0, n1 = corners[c, faces[s, 0]], corners[c, faces[s, 1]]
            n2, n3 = corners[c, faces[s, 2]], corners[c, faces[s, 3]]
            a0, a1, a2 = x[n2, 0] - x[n0, 0], x[n2, 1] - x[n0, 1], x[n2, 2] - x[n0, 2]
            b0, b1, b2 = x[n3, 0] - x[n1, 0], x[n3, 1] - x[n1, 1], x[n3, 2] - x[n1, 2]
            area = (
                0.5 * (a1 * b2 - a2 * b1),
                0.5 * (a2 * b0 - a0 * b2),
                0.5 * (a0 * b1 - a1 * b0),
            )
            for k in range(3):
                middle = 0.25 * (x[n0, k] + x[n1, k] + x[n2, k] + x[n3, k])
                volume += middle * area[k] / 3.0
                for i in range(4):
                    corner[c, faces[s, i], k] += 0.25 * area[k]
        for i in range(8):
            for k in range(3):
                growth += corner[c, i, k] * v[corners[c, i], k]
        length, density = volume ** (1.0 / 3.0), mass[c] / volume
        pressure = 0.4 * density * energy[c]
        sound = math.sqrt(1.4 * pressure / density)
        closing = -growth / (length * length) if growth < 0.0 else 0.0
        push = pressure + density * closing * (2.0 * closing + 0.3 * sound)
        for i in range(8):
            for k in range(3):
                corner[c, i, k] *= push
                if not PARALLEL:
                    f[corners[c, i], k] += corner[c, i, k]
        dt = min(dt, 0.15 * length / (sound + 4.0 * closing + 1e-12))
    return dt


@jit
def hydro_move(mass, free, dt, f, v, half, x):
    for i in prange(len(x)):
        for k in range(3):
            after = free[i, k] * (v[i, k] + dt * f[i, k] / mass[i])
            half[i, k] = 0.5 * (v[i, k] + after)
            v[i, k] = after
            x[i, k] += dt * half[i, k]
            f[i, k] = 0.0


@jit
def hydro_work(corner, half, corners, mass, dt, energy):
    for c in prange(len(corners)):
        power = 0.0
        for i in range(8):
            for k in range(3):
                power += corner[c, i, k] * half[corners[c, i], k]
        energy[c] -= dt * power / mass[c]


def hydro(m: Values) -> Callable[[Values], None]:
    corners, mass, inertia = m["corners"], m["mass"].reshape(-1), m["inertia"].reshape(-1)
    n = len(inertia)
    near, corner = adjacent(corners, n), np.empty((len(corners), 8, 3))
    f, half = np.zeros((n, 3)), np.empty((n, 3))

    def step(s: Values) -> None:
        x, v, energy = s["x"], s["v"], s["energy"]
        s["dt"][0] = hydro_forces(FACES, x, v, mass, energy, corners, corner, f)
        if PARALLEL:
            gather(*near, corner.reshape(-1, 3), f)
        hydro_move(inertia, m["free"], s["dt"][0], f, v, half, x)
        hydro_work(corner, half, corners, mass, s["dt"][0], energy)

    return step


# Messages ----------------------------------------------------------------------------------------


@jit
def send(pointers, source, x, y):
    for i in prange(len(y)):
        for k in range(8):
            y[i, k] = 0.0
        for at in range(pointers[i], pointers[i + 1]):
            j = source[at]
            for k in range(8):
                y[i, k] += math.tanh(x[j, k] - x[i, k])


@jit
def take(tenth, y, x):
    for i in prange(len(y)):
        for k in range(8):
            x[i, k] += tenth * y[i, k]


def messages(m: Values) -> Callable[[Values], None]:
    """Edges are sorted by target, so both numbers of threads gather."""
    n = int(m["second"].max()) + 1
    pointers, entries = incidences(m["second"], n)
    source, room = m["ends"][entries, 0], {}

    def step(s: Values) -> None:
        x = s["x"]
        y = room.setdefault("y", np.empty_like(x))
        send(pointers, source, x, y)
        take(x.dtype.type(0.1), y, x)

    return step


MAKE = {
    "airfoil": airfoil,
    "jacobi": jacobi,
    "shallow_water": shallow_water,
    "euler": euler,
    "multigrid": multigrid,
    "hydro": hydro,
    "messages_f64": messages,
    "messages_f32": messages,
}
