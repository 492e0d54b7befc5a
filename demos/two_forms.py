#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two forms assembled over one mesh: the stiffness and the mass of a function, and their quotient.

Both are loops over the same triangles that gather the same corners. For a product of sines the
quotient of the two energies is twice pi squared, which linear elements approach with order 2.
"""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh
from pyop2cxx.op2 import INC, READ

if TYPE_CHECKING:
    from collections.abc import Sequence

KERNELS = """
#include <math.h>
static void stiffness(const double *x, const double *u, double *k) {
  const double ax = x[2] - x[0], ay = x[3] - x[1], bx = x[4] - x[0], by = x[5] - x[1];
  const double det = ax * by - ay * bx, p = u[1] - u[0], q = u[2] - u[0];
  const double gx = (p * by - q * ay) / det, gy = (q * ax - p * bx) / det;
  const double sense = det > 0.0 ? 0.5 : -0.5;
  const double f = sense * (gx * by - gy * bx), g = sense * (gy * ax - gx * ay);
  k[0] -= f + g; k[1] += f; k[2] += g;
}
static void mass(const double *x, const double *u, double *m) {
  const double area = 0.5 * fabs((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1]));
  const double sum = u[0] + u[1] + u[2];
  for (int i = 0; i < 3; ++i) m[i] += area / 12.0 * (sum + u[i]);
}
static void energies(const double *u, const double *k, const double *m, double *e) {
  e[0] += u[0] * k[0]; e[1] += u[0] * m[0];
}
"""


class TwoForms:
    """A product of sines on a square of n x n squares of two triangles each.

    Attributes:
        mesh: The square.
        k: The stiffness matrix times the function.
        m: The mass matrix times the function.
        e: The two energies.
    """

    def __init__(self, n: int) -> None:
        self.mesh = mesh = square_mesh(n)
        vertices, corners, x = mesh.vertices, mesh.cell_vertices, mesh.coordinates
        u = op2.Dat(vertices, np.sin(np.pi * x.data_ro).prod(axis=1), name="u")
        self.k, self.m = op2.Dat(vertices, name="k"), op2.Dat(vertices, name="m")
        self.e = op2.Global(2, 0.0, name="e")
        ends = x(READ, corners), u(READ, corners)
        self.stiffness, self.mass = (
            op2.ParLoop(op2.Kernel(KERNELS, name), mesh.cells, *ends, dat(INC, corners))
            for name, dat in (("stiffness", self.k), ("mass", self.m))
        )
        self.energies = op2.ParLoop(
            op2.Kernel(KERNELS, "energies"),
            vertices,
            *(u(READ), self.k(READ), self.m(READ), self.e(INC)),
        )

    def step(self) -> None:
        """Assemble both, and add up the energies."""
        self.k.zero()
        self.m.zero()
        self.e.zero()
        self.stiffness.compute()
        self.mass.compute()
        self.energies.compute()

    def quotient(self) -> float:
        """The quotient of the energies."""
        stiffness, mass = map(float, self.e.data_ro)
        return stiffness / mass


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the quotient does not converge as it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=16, help="a side, default: %(default)s")
    parser.add_argument("--chain", action="store_true", help="let the loops of a step be combined")
    given = parser.parse_args(argv)
    if given.cells < 4:
        parser.error("--cells must be at least 4")
    op2.init(backend=given.backend)
    errors = []
    with op2.profile(every=1) as profile:
        for n in (given.cells, 2 * given.cells):
            forms = TwoForms(n)
            with op2.chain() if given.chain else nullcontext():
                forms.step()
            errors.append(abs(forms.quotient() / (2 * math.pi**2) - 1))
            print(f"{n} x {n}: quotient {forms.quotient():.6f}, error {errors[-1]:.1e}")
    print(profile)
    order = math.log2(errors[0] / errors[1])
    passed = order > 1.9
    print(f"check: {'passed' if passed else 'FAILED'}: order {order:.2f}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
