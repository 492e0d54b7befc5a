# SPDX-License-Identifier: BSD-3-Clause
"""What facts of kernels say of the memory that they leave behind, against compiled kernels."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.op2 import READ, RW

DIM, N_DATA, N_KERNELS = 6, 3, 8
WHOLE = ("0", "1", "2", "100", "3u", "1 + 2", "7 / 2", "n", "two", "1 ? 2 : 2.5", "(n = 2.5)")
REAL = ("0.0", "2.5", "0.1", "0.1f", "1e2", "0x1.8p1", "(float)0.1", "(int)2.5", "(_Bool)2", "a")
SIGNED = ("-0.0", "-1", "-(2.5)", "-a", "-n")
TYPES = {
    "float64": ("double", REAL + SIGNED),
    "float32": ("float", REAL + SIGNED),
    "int32": ("int", REAL + SIGNED),
    "uint8": ("unsigned char", REAL),
    "complex128": ("double _Complex", REAL + SIGNED),
}


class Made:
    """A random kernel `k(x, d)`: constants and data go to x, on paths that d decides."""

    def __init__(self, seed: int, dtype: str) -> None:
        self.random = random.Random(seed)
        self.type, others = TYPES[dtype]
        self.values = WHOLE + others

    def source(self) -> str:
        return (
            "static const int two = 2;\n"
            "static double same(double b) { return b; }\n"
            f"static void fill({self.type} *to, {self.type} b) {{ to[0] = b; }}\n"
            f"void k({self.type} *x, const double *d) {{\n"
            f"  int n = 1; double a = 0.5; {self.type} b = 1;\n"
            f"{self.block(3)}{''.join(self.statement(0) for _ in range(6))}}}\n"
        )

    def block(self, depth: int) -> str:
        return "".join(self.statement(depth) for _ in range(self.random.randint(1, 5)))

    def statement(self, depth: int) -> str:
        i, j = self.random.randrange(DIM), self.random.randrange(N_DATA)
        kind = self.random.random() if depth else 0.0
        value = self.random.choice(self.values)
        if kind > 0.9:
            return f"for (int i = 0; i < {i}; ++i) {{ x[i] = {value}; {self.block(depth - 1)} }}\n"
        if kind > 0.7:
            other = self.block(depth - 1) if self.random.random() < 0.5 else ""
            return f"if (d[{j}] < 0) {{ {self.block(depth - 1)} }} else {{ {other} }}\n"
        if kind > 0.68:
            return f"if (d[{j}] < 0) return;\n"
        return self.random.choice(
            (
                f"x[{i}] = {value};\n",
                f"x[{i}] = {value};\n",
                f"x[{i}] = {value};\n",
                f"x[{i}] = d[{j}] < 0 ? {value} : {self.random.choice(self.values)};\n",
                f"b = {value}; x[{i}] = b;\n",
                f"fill(x + {i}, {value});\n",
                f"a = {value}; n = {self.random.choice(WHOLE)};\n",
                f"x[{i}] = same({value});\n",
                f"x[{i}] += {value};\n",
                f"x[{i}] = d[{j}];\n",
                f"x[{i}] = d[{min(i, N_DATA - 1)}];\n",
            )
        )


@pytest.mark.parametrize("dtype", TYPES)
def test_constants_and_copies_are_what_compiled_kernels_store(dtype: str) -> None:
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=N_DATA)))
    data = signs * (1 + np.arange(signs.size).reshape(signs.shape))
    cells = op2.Set(len(data))
    met: Counter[str] = Counter()
    for seed in range(N_KERNELS):
        code = Made(seed, dtype).source()
        kernel = op2.Kernel(code, "k")
        assert kernel.facts is not None
        facts = kernel.facts.parameters[0]
        x = op2.Dat(cells**DIM, np.full((len(data), DIM), 77), dtype)
        with op2.backend("sequential"):
            op2.par_loop(kernel, cells, x(RW), op2.Dat(cells**N_DATA, data)(READ))
        found = x.data_ro
        for i, value in facts.constants.items():
            expected = np.full(len(data), value, dtype)
            assert found[:, i].tobytes() == expected.tobytes(), (seed, i, value, code)
        for i, (source, j) in facts.copies.items():
            assert source == 1
            assert np.array_equal(found[:, i], data[:, j]), (seed, i, j, code)
        met.update(constants=len(facts.constants), copies=len(facts.copies))
    assert met["constants"] >= N_KERNELS // 2
    assert (met["copies"] > 0) == (dtype == "float64")
