# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that keep values from one call to the next are refused; constants are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.kept_values import refuse_kept_values
from pyop2cxx.kernel.parser.tokens import tokens_with_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
each_backend = pytest.mark.parametrize("backend", BACKENDS)
GO = "goto a; a: ;"  # makes a kernel one without an AST
KEPT = {
    "local": "void k(double *x) {\n static int n; n++; x[0] = n; }",
    "only read": "void k(double *x) {\n static int n = 3; x[0] = n; }",
    "array": "void k(double *x) {\n static double w[2]; w[1] += 1; x[0] = w[1]; }",
    "pointer to constants": "void k(double *x) {\n static const double *p; p = x; x[0] = *p; }",
    "after goto": f"void k(double *x) {{ {GO}\n static int n; n++; x[0] = n; }}",
    "static in the middle": f"void k(double *x) {{ {GO}\n int static n; n++; x[0] = n; }}",
    "in a helper": f"double f(void) {{\n static int n; return n++; }}\n"
    f"void k(double *x) {{ {GO} x[0] = f(); }}",
    "in a for": f"void k(double *x) {{ {GO}\n for (static int n = 0; n < 3; ++n) x[0] = n; }}",
    "by a macro": f"#define KEEP static int\nvoid k(double *x) {{ {GO} KEEP n; n++; x[0] = n; }}",
    "a union": "union u { int i; float f; };\n"
    "void k(double *x) { static union u n; n.i++; x[0] = n.i; }",
    "of a thread": "void k(double *x) {\n static _Thread_local int n; n++; x[0] = n; }",
    "after assembly": 'void k(double *x) { __asm__("nop");\n static int n; n++; x[0] = n; }',
    "behind the kernel": f"extern int n;\nvoid k(double *x) {{ {GO} n++; x[0] = n; }}\nint n = 2;",
}
CONSTANT = {
    "table": "void k(double *x) { static const int n[2] = {1, 2}; x[0] = n[1]; }",
    "after goto": f"void k(double *x) {{ {GO} static const int n = 2; x[0] = n; }}",
    "const first": f"void k(double *x) {{ {GO} const static int n = 2; x[0] = n; }}",
    "outside": f"static const double w[] = {{2}};\nvoid k(double *x) {{ {GO} x[0] = w[0]; }}",
    "functions": f"static inline double f(double a);\nstatic double f(double a) {{ return a; }}\n"
    f"void k(double *x) {{ {GO} x[0] = f(2); }}",
    "a parameter": f"void k(double x[static 1]) {{ {GO} x[0] = 2; }}",
    "in strings": f'void k(double *x) {{ {GO} const char *s = "; static int n;"; /* static int n;\n'
    " */ x[0] = s[0] ? 2 : 0; }",
    "types": "typedef union { int i; float f; } u;\nstruct p { int n; };\n"
    "void k(double *x) { u v; v.i = 2; struct p q = {v.i}; x[0] = q.n; }",
}


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def run(code: str, **how: bool) -> list[float]:
    cells = op2.Set(4)
    x = op2.Dat(cells, np.zeros(4))
    op2.par_loop(op2.Kernel(code, "k", **how), cells, x(op2.RW))
    values: list[float] = x.data_ro.tolist()
    return values


@each_backend
@pytest.mark.parametrize("name", KEPT)
def test_values_that_are_kept(name: str, backend: str) -> None:
    op2.init(backend=backend)
    n = 3 if name == "behind the kernel" else 2
    message = rf"Kernel 'k': line {n}: '.*(keeps a value from one call to the next|no state)"
    with pytest.raises(UsageError, match=message):
        run(KEPT[name])


@pytest.mark.parametrize("name", CONSTANT)
def test_constants(name: str) -> None:
    op2.init(backend="openmp")
    assert run(CONSTANT[name]) == [2.0] * 4


@pytest.mark.parametrize(
    "declaration",
    [
        "static int n = 0; x[0] = n++;",
        "static std::pair<int, int> n; x[0] = n.first++;",
        "thread_local int n; x[0] = n++;",
        "struct t { static int f() { static int n; return n++; } }; x[0] = t::f();",
    ],
)
def test_values_that_are_kept_in_cpp(declaration: str) -> None:
    op2.init(backend="openmp")
    code = f"#include <utility>\nvoid k(double *x) {{ {declaration} }}"
    with pytest.raises(UsageError, match=r"line 2: .*keeps a value"):
        run(code, cpp=True)


def test_constants_in_cpp() -> None:
    op2.init(backend="openmp")
    code = """
#define KEPT \\
  static int n;
namespace { constexpr int one = 1; }
template <int N> struct t {
  static constexpr int m = N;
  static const int f(int a) { return a + m; }
};
template <class T> static T twice(T a) { return 2 * a; }
using real = double;
void k(double *x) { static const auto n = 0; x[0] = twice<real>(t<0>::f(one)) + n; }
"""
    assert run(code, cpp=True) == [2.0] * 4


def test_lines_are_those_of_the_user() -> None:
    with pytest.raises(UsageError, match="line 30: 'static int n'"):
        refuse_kept_values("void k() {\n static int n; }", [10, 30])
    found = list(tokens_with_rows("#define A \\\n 1\na /* \n */ # b\n"))
    assert found == [("a", 2), ("#", 3), ("b", 3)]
