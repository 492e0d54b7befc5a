# SPDX-License-Identifier: BSD-3-Clause
"""Random kernels in which numbers of every type meet in every kind of expression."""

from __future__ import annotations

import random

REALS = ("double", "float")
INTEGERS = ("int", "long", "unsigned char", "unsigned", "_Bool")
COMPLEX = ("double complex", "float complex")
SCALARS = (*REALS, *INTEGERS, *COMPLEX)

HEAD = """
#include <complex.h>
static const double table[2][3] = {{0.5, -0.25, 1.0}, {2.0, -1.5, 0.75}};
static const float row[3] = {0.5f, 0.25f, -1.0f};
static const double complex roots[2] = {1.0 + 0.5 * I, -0.25 * I};
static double real(double v) { return 0.5 * v; }
static float single(float v) { return v + 0.25f; }
static int whole(int n) { return n & 7; }
static double complex turn(double complex z) { return z * (0.5 + 0.25 * I); }
static float complex half(float complex z, double by) { return z * by; }
static double sum(const double *v) { return v[0] + 0.5 * v[1]; }
static double first(const double *v, int n) { return sum(v) + v[n & 1] + table[n & 1][1]; }
static float low(const float *v) { return v[0] < v[1] ? v[0] : v[1]; }
static double complex both(const double complex *z) { return z[0] + conj(z[1]); }
static void add(double *v, double by) { v[0] += by; }
"""

LOCALS = """  {
    double p = x[0], v[4] = {x[1], 0.5, 0.25, 1}, m[2][2] = {{1, 2}, {3, x[0]}};
    float f = 0.5f, g[3] = {1, f, 0.25f};
    int k = i[0]; unsigned u = 5; _Bool b = x[1];
    double complex q = z[0], y[3] = {z[1], 1, I};
    float complex s = z[1]; const double *w = v + 1;"""


class Shapes:
    """Expressions of every shape: values stay small, and what they do is defined by C."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def value(self, depth: int) -> str:
        """Of any type."""
        kinds = (self.real, self.whole, self.number)
        return self.random.choice(kinds)(depth)

    def leaf_real(self) -> str:
        return self.pick(
            *("x[0]", "x[1]", "1[x]", "(0)[x]", "*x", "*(x + 1)", "v[2]", "w[1]", "*w", "2[v]"),
            *("table[1][2]", "2[table[0]]", "(*table)[1]", "row[1]", "1[row]", "0.5", "0.25f"),
            *("c[0]", "p", "f", "m[1][0]", "(1[m])[1]", "M_PI_4", "table[whole(i[0]) & 1][0]"),
        )

    def leaf_whole(self) -> str:
        return self.pick("i[0]", "1[i]", "k", "u", "b", "3", "2u", "1L", "'a'", "sizeof p")

    def leaf_number(self) -> str:
        return self.pick("z[0]", "1[z]", "(0)[z]", "*z", "q", "s", "I", "roots[1]", "0[roots]")

    def truth(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(self.leaf_real(), self.leaf_whole(), self.leaf_number(), "x", "b")
        a, b = self.value(depth - 1), self.value(depth - 1)
        c, d = self.real(depth - 1), self.real(depth - 1)
        return self.pick(
            a,
            f"!({a})",
            f"({a}) && ({b})",
            f"({a}) || ({b})",
            f"({a}) == ({b})",
            f"({a}) != ({b})",
            f"({c}) < ({d})",
            f"({c}) >= ({d})",
            f"!!({a})",
            f"({self.truth(depth - 1)}) ? ({a}) : ({b})",
            f"isnan({c})",
            f"({a}, {b})",
        )

    def real(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf_real()
        a, b, n = self.value(depth - 1), self.real(depth - 1), self.whole(depth - 1)
        return self.pick(
            f"({self.real(depth - 1)}) + ({b})",
            f"({self.whole(depth - 1)}) * ({b})",
            f"-({b})",
            f"+({b})",
            f"({b}) / (2.0 + sin({self.real(depth - 1)}))",
            f"(({self.truth(depth - 1)}) ? ({a}) : ({b})) * 0.5",
            f"real({a})",
            f"single({a})",
            f"creal({a})",
            f"cimagf({a})",
            f"cabs({a})",
            f"sin({a})",
            f"fmin({a}, {b})",
            f"(double)({a})",
            f"(float)({a})",
            f"sum({self.pointer(n)})",
            f"first({self.pick('table[0]', 'v', 'x + 0', 'w', '*table', 'table[k & 1]')}, {a})",
            f"low({self.pick('row', 'g', '&row[1]', 'row + 1', '&g[1]')})",
            f"(p = {a})",
            f"(f += {b})",
            f"(v[{n} & 3] = {a})",
            f"(add(v, {a}), v[0])",
            f"({n} & 1)[{self.pick('x', 'v', 'w', 'table[0]', 'm[1]')}]",
            "p++",
            "--f",
            f"(v[1] -= {a})",
        )

    def pointer(self, n: str) -> str:
        own = ("v", "x", "w", "&v[1]", "m[1]")
        return self.pick(*own, "table[1]", "&table[0][1]", f"table[{n} & 1]")

    def whole(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf_whole()
        a, b, c = self.value(depth - 1), self.whole(depth - 1), self.whole(depth - 1)
        return self.pick(
            f"(({b}) & 7) + (({c}) & 7)",
            f"(({b}) & 7) * (({c}) & 7)",
            f"(({b}) & 7) / (1 + (({c}) & 3))",
            f"(({b}) & 7) % (1 + (({c}) & 3))",
            f"(({b}) & 7) << (({c}) & 3)",
            f"(({b}) & 63) >> (({c}) & 3)",
            f"~({b}) & 15",
            f"-(({b}) & 7)",
            f"({b}) ^ ({c})",
            f"whole(4.0 * sin({a}))",
            f"(int)(4.0 * sin({a}))",
            f"(_Bool)({a})",
            f"(unsigned char)(({b}) & 63)",
            f"(k = {b})",
            f"(u += {b})",
            f"(b = {a})",
            "k++",
            f"!({a})",
            f"(({self.truth(depth - 1)}) ? {b} : {c})",
            f"({a}, {b})",
            f"abs(({b}) & 7)",
            f"(({self.truth(depth - 1)}) && ({self.truth(depth - 1)}))",
        )

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.leaf_number()
        a, b, n = self.value(depth - 1), self.number(depth - 1), self.whole(depth - 1)
        return self.pick(
            f"({a}) * ({b})",
            f"({b}) - ({a})",
            f"({a}) / (2.0 + ({b}) * conj({b}))",
            f"-({b})",
            f"~({b})",
            f"conj({a})",
            f"turn({a})",
            f"half({a}, {self.value(depth - 1)})",
            f"cexp(0.125 * creal({b}))",
            f"both({self.pick('roots', 'z', 'y', '&y[1]', 'roots + 0')})",
            f"(({self.truth(depth - 1)}) ? {a} : {b})",
            f"(q = {a})",
            f"(s *= {b})",
            f"(y[{n} & 1] -= {a})",
            f"-({n} & 1)[{self.pick('z', 'y', 'roots')}]",
            f"(double complex)({a})",
            f"(float complex)({a})",
            "q++",
            f"({a}, {b})",
        )

    def statement(self, n: int, depth: int) -> str:
        target = f"o[{n}]"
        value = f"o[{n}] += 0.25 * ({self.value(depth)});"
        test = self.truth(depth - 1)
        return self.pick(
            value,
            value,
            f"{target} = {self.value(depth)};",
            f"if ({test}) {value}",
            f"for (int j = 0; j < 2 && ({test}); ++j) {value}",
            f"{{ int j = 2; while (j-- > 0 && ({test})) {value} }}",
            f"{{ double t = {self.value(depth)}; o[{n}] += t; }}",
            f"{{ float complex t[2] = {{{self.value(depth)}, 1}}; o[{n}] += t[0]; }}",
            f"{{ double t[2] = {{{self.real(1)}, {self.value(depth - 1)}}}; o[{n}] += sum(t); }}",
            f"switch (whole({self.whole(depth - 1)})) {{ case 1: {value} break;"
            f" default: {target} -= 1; }}",
        )

    def kernel(self, n: int, depth: int = 3) -> str:
        body = []
        for j in range(n):
            body.append(LOCALS)
            body.append("  " + self.statement(j, depth) + "\n  }")
        lines = "\n".join(body)
        return f"""{HEAD}
void k(double complex *o, const double *x, const double complex *z, const int *i, const double *c)
{{
{lines}
}}
"""
