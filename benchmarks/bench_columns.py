#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops over columns of prisms of other shapes than those of bench_lanes.py, with its columns."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from bench_lanes import report

from pyop2cxx import op2
from pyop2cxx.mesh import square_arrays
from pyop2cxx.op2 import INC, READ, WRITE

VECTORS = """
static void vectors(const double *x, const double *v, double *z)
{
  for (int q = 0; q < 4; ++q) {
    double s[3] = {0.0};
    for (int i = 0; i < 6; ++i)
      for (int d = 0; d < 3; ++d)
        s[d] += v[3 * i + d] * (x[3 * i] + q * x[3 * i + 1] * x[3 * i + 2]);
    for (int i = 0; i < 6; ++i)
      for (int d = 0; d < 3; ++d) z[3 * i + d] += s[d] * s[0] * x[3 * i + 2];
  }
}"""
MATRIX = """
static void matrix(double *A, const double *x)
{
  double c[6];
  for (int i = 0; i < 6; ++i) c[i] = x[3 * i] * x[3 * i + 1] + x[3 * i + 2] * x[0];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) A[6 * i + j] += c[i] * c[j] * fabs(x[3 * i] - x[3 * j]);
}"""
CELLS = """
static void cells(const double *x, const double *u, double *w)
{
  double s = 0.0, t = 0.0;
  for (int i = 0; i < 6; ++i) {
    s += u[i] * x[3 * i] * x[3 * i + 1];
    t += u[i] * x[3 * i + 2] * x[3 * i] + s * t;
  }
  w[0] = s * t + sqrt(fabs(s));
  w[1] = s / (1.0 + t * t);
}"""
FACETS = """
static void facets(const double *x, const double *u, double *y)
{
  double s = 0.0;
  for (int i = 0; i < 12; ++i) s += u[i] * x[3 * i] * x[3 * i + 1] + x[3 * i + 2];
  for (int i = 0; i < 12; ++i) y[i] += s * u[i] * x[3 * i] + x[3 * i + 1] * x[3 * i + 2];
}"""


def shapes(square: int, layers: int) -> dict[str, tuple[str, op2.Set, tuple[Any, ...]]]:
    """The kernel, the columns and the arguments of each loop."""
    base = square_arrays(square)
    prisms = op2.ExtrudedSet(op2.Set(len(base.cell2vertex)), layers=layers + 1)
    points = op2.Set(len(base.x) * (layers + 1))
    foot = base.cell2vertex * (layers + 1)
    corners = np.stack([foot, foot + 1], 2).reshape(-1, 6)
    c2p = op2.Map(prisms, points, 6, corners, offset=[1] * 6)
    cells = op2.Set(prisms.size * layers)
    own = op2.Map(prisms, cells, 1, np.arange(prisms.size)[:, None] * layers, offset=[1])
    x = op2.Dat(points**3, np.random.default_rng(0).random((points.size, 3)))
    u, y = op2.Dat(points, np.ones(points.size)), op2.Dat(points)
    v, z = op2.Dat(points**3, np.ones((points.size, 3))), op2.Dat(points**3)
    mat = op2.Mat(op2.Sparsity((points**1, points**1), [(c2p, c2p, None)]))
    return {
        "vectors": (VECTORS, prisms, (x(READ, c2p), v(READ, c2p), z(INC, c2p))),
        "matrix": (MATRIX, prisms, (mat(INC, (c2p, c2p)), x(READ, c2p))),
        "cells": (CELLS, prisms, (x(READ, c2p), u(READ, c2p), op2.Dat(cells**2)(WRITE, own))),
        "facets": (FACETS, prisms, (x(READ, c2p), u(READ, c2p), y(INC, c2p))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanes", default="4,8", help="numbers of lanes to measure")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--square", type=int, default=60, help="2 n^2 columns")
    parser.add_argument("--layers", type=int, default=20, help="cells of a column")
    parser.add_argument("--cc", default="cc", help="the compiler of the loops that run")
    options = parser.parse_args()
    lanes = [0, *(int(w) for w in options.lanes.split(","))]
    op2.init(backend="sequential", cc=options.cc)
    heads = " ".join(f"{w or 'scalar':>9}" for w in lanes)
    print(f"{'CPU ms a call, one core':24s} {heads} best by gathers")
    for name, (text, prisms, args) in shapes(options.square, options.layers).items():
        kernel = op2.Kernel(text, name)
        how = {"iteration_region": op2.ON_INTERIOR_FACETS} if name == "facets" else {}
        made = {w: op2.ParLoop(kernel, prisms, *args, lanes=w, **how) for w in lanes}
        report(name, made, options.repeats)


if __name__ == "__main__":
    main()
