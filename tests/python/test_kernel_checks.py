# SPDX-License-Identifier: BSD-3-Clause
"""A kernel against a loop's arguments: every error and warning, with the user's line."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import KernelWarning, UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.kernel_checks import check, check_text, fitting, passes

READ, WRITE, RW, INC, MIN, MAX = 1, 2, 3, 4, 5, 6


def run(
    code: str, *arguments: tuple[str, object, int | None], headers: tuple[str, ...] = ()
) -> None:
    descriptors = [
        (i, what, None if dtype is None else np.dtype(dtype), access)  # type: ignore[call-overload] # any
        for i, (what, dtype, access) in enumerate(arguments)
    ]
    check(Kernel(code, "k", headers=headers), descriptors)


def test_what_a_kernel_does_not_use_may_be_of_any_dtype() -> None:
    longs = (0, "Dat 'x'", np.dtype("int64"), READ)
    kernel = Kernel("void k(int *x) {}", "k")
    fitted = fitting(kernel, [longs])
    assert fitted is not kernel
    assert fitted.key != kernel.key
    check(fitted, [longs])
    used = Kernel("static int f(int *y) { return 0; } void k(int *x) { f(x); }", "k")
    assert fitting(used, [longs]) is used
    assert fitting(kernel, [(0, "Dat 'x'", np.dtype("int32"), READ)]) is kernel
    opaque = Kernel("void k(int *x) { goto end; end: ; }", "k")
    assert opaque.opaque_reason
    assert fitting(opaque, [longs]) is opaque


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_an_unused_argument_of_another_dtype_runs(backend: str) -> None:
    cells = op2.Set(2)
    x, y = op2.Dat(cells, dtype="int64"), op2.Dat(cells, dtype="int32")
    kernel = Kernel("void k(int *x, int *y) { y[0] = 3; }", "k")
    with op2.backend(backend):
        op2.par_loop(kernel, cells, x(op2.READ), y(op2.WRITE))
    assert y.data_ro.tolist() == [3, 3]
    with pytest.raises(UsageError, match="of dtype int64: expected 'long "):
        op2.par_loop(kernel, cells, y(op2.READ), x(op2.WRITE))


@pytest.mark.parametrize(
    ("code", "dtype", "access"),
    [
        ("void k(double *x) { x[0] = 1; }", "float64", READ),
        ("void k(double *x) { x[0] = 1; }", "float64", INC),
        ("void k(double *x) { x[0] += x[0]; }", "float64", INC),
        ("void k(double *x) {}", "int32", RW),
        ("void k(double x) {}", "float64", READ),
        ("void k(double *x, double *y) {}", "float64", RW),
        ("void k(int *x) { goto end; end: ; }", "int64", RW),
    ],
)
def test_what_fails_a_check_never_passes(code: str, dtype: str, access: int) -> None:
    kernel, kinds = Kernel(code, "k"), ((np.dtype(dtype), access),)
    assert not passes(kernel, kinds)
    with pytest.raises(UsageError):
        check(kernel, [(0, "Dat 'x'", *kinds[0])], strict=True)
    assert not passes(kernel, kinds)


@pytest.mark.parametrize(
    "code",
    [
        "void k(double *x) { x[0] += 1; }",
        "void k(double *x) { goto end; end: ; }",
        "void k(void *x) {}",
    ],
)
def test_what_passes_has_nothing_to_be_told(code: str) -> None:
    kernel, kinds = Kernel(code, "k"), ((np.dtype("float64"), INC),)
    assert passes(kernel, kinds)
    check(kernel, [(0, "Dat 'x'", *kinds[0])], strict=True)


def test_a_mistake_is_told_at_each_loop() -> None:
    cells = op2.Set(2)
    x, kernel = op2.Dat(cells), op2.Kernel("void k(double *x) { x[0] = 1; }", "k")
    op2.ParLoop(kernel, cells, x(op2.WRITE))
    for _ in range(2):
        with pytest.warns(KernelWarning, match="only READs"):
            op2.ParLoop(kernel, cells, x(op2.READ))


def test_a_kernel_that_fits_passes_in_silence() -> None:
    code = """void k(const double *x, float *f, long *l, long long *q, unsigned char *b, bool *c,
                     double _Complex *z, int i, void *opaque, double a[3], size_t *u) {}"""
    arguments: list[tuple[str, object, int | None]] = [
        ("Dat 'x'", "float64", READ),
        ("Dat 'f'", "float32", RW),
        ("Dat 'l'", "int64", RW),
        ("Dat 'q'", "int64", RW),
        ("Dat 'b'", "uint8", RW),
        ("Dat 'c'", "uint8", RW),
        ("Dat 'z'", "complex128", RW),
        ("layer", "int32", None),
        ("handle", None, None),
        ("Dat 'a'", "float64", INC),
        ("Dat 'u'", "uint64", READ),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(code, *arguments)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_wrong_count(n: int) -> None:
    message = rf"2 parameters \(double \*x, int \*n\) but the loop passes {n} arguments"
    with pytest.raises(UsageError, match=message):
        run("void k(double *x, int *n) {}", *[("Dat 'x'", "float64", RW)] * n)


@pytest.mark.parametrize(
    ("parameter", "dtype", "access", "message"),
    [
        ("double **x", "float64", RW, r"line 2: .*expected 'double \*x'.*x\[i \* n \+ j\]"),
        ("double x[3][3]", "float64", RW, r"got 'double x\[3\]\[3\]'.*one flat pointer"),
        ("double x", "float64", READ, r"expected 'double \*x', got 'double x'; declare it"),
        ("double *x", None, None, ""),
        ("float *x", "float64", RW, r"of dtype float64: .*declare it .*or make the data float32"),
        ("int *x", "int64", READ, r"expected 'long \*x', got 'int \*x'"),
        ("double *x", "complex128", RW, r"expected 'double _Complex \*x'"),
        ("int *x", "int32", None, r"expected 'int x', got 'int \*x'"),
        ("double *x", "float64", RW, ""),
    ],
)
def test_wrong_types(parameter: str, dtype: str | None, access: int | None, message: str) -> None:
    code = f"void k(\n  {parameter}) {{}}"
    if not message:
        run(code, ("Dat 'q'", dtype, access))
        return
    with pytest.raises(UsageError, match=message) as caught:
        run(code, ("Dat 'q'", dtype, access))
    assert "Kernel 'k', line 2: parameter" in str(caught.value)
    assert "argument 0, Dat 'q'" in str(caught.value)


def test_no_text() -> None:
    with pytest.raises(UsageError, match="Kernel 'k' has no text"):
        check_text(Kernel("  ", "k"))


def test_an_opaque_kernel_is_checked_as_far_as_it_is_known() -> None:
    with pytest.raises(UsageError, match=r"expected 'double \*x'"):
        run("void k(float *x) { goto e; e: ; }", ("Dat 'q'", "float64", RW))
    code = "template <class T> void k(T *x) {}"
    check(Kernel(code, "k", cpp=True), [])


def test_a_write_to_a_read_argument_is_told() -> None:
    code = "void k(double *x,\n double *y) {\n  y[0] += x[0];\n  x[1] = 0;\n}"
    with pytest.warns(KernelWarning, match="'k': line 4 writes to parameter 'x'.*only READs"):
        run(code, ("Dat 'q'", "float64", READ), ("Dat 'r'", "float64", INC))


# The kernel of a well-known demo: it uses what it increments.
JAC = """
void k(const double *x, double *res, double *sum) {
  res[0] += 2.0 * x[0];
  res[1] -= x[1];
  sum[0] += res[0] * res[0];
}
"""


def test_the_use_of_an_incremented_value_is_told() -> None:
    arguments = [("Dat 'x'", "float64", READ), ("Dat 'r'", "float64", INC), ("g", "float64", INC)]
    with pytest.warns(KernelWarning) as caught:
        run(JAC, *arguments)
    assert [str(warning.message) for warning in caught] == [
        "Kernel 'k': line 5 uses the value of parameter 'res' (argument 1, Dat 'r'), which the"
        " loop INCrements: it holds this element's share only, or a sum that others are still"
        " adding to; use a local variable, or pass it with RW"
    ]


INCREMENTS = [
    "r[0] += x[0];",
    "r[0] -= x[0] * x[1];",
    "r[0] = r[0] + x[0];",
    "r[0] = x[0] + r[0];",
    "r[0] = r[0] - x[0] + x[1];",
    "r[0]++; --r[1];",
    "for (int i = 0; i < 4; i++) *(r + i) += x[i];",
    "double *s = r + 1; s[0] += x[0]; *s -= 1;",
    "double (*s)[2] = (double (*)[2])r; s[1][0] += x[0];",
    "add(r, x);",
    "add(r + 2, x); add(&r[1], x);",
    "(void)r;",
]
USES = [
    "r[0] += r[1];",
    "r[0] *= 2;",
    "r[0] = x[0] - r[0];",
    "r[0] = 2 * (r[0] + x[0]);",
    "r[1] = r[0] + x[0];",
    "double y = (r[0] += x[0]); (void)y;",
    "double y = r[0]++; (void)y;",
    "if (r[0] > 3) r[0] += 1;",
    "double *s = r + 1; double y = *s; (void)y;",
    "r[0] = fmin(r[0], x[0]);",
    "x[(int)r[0]];",
    "add(r, r);",
    "use(r);",
    "memcpy(z, r, 8);",
    "mystery(r);",
    "long p = (long)r; (void)p;",
    "double *q[2] = {r, z}; double y = q[0][0]; (void)y;",
    "double *q[2]; q[1] = r; double y = *q[0]; (void)y;",
    "double y = *((x[0] > 0) ? r : z); (void)y;",
]
HELPERS = """static void add(double *to, const double *from) { to[0] += from[0]; }
static double use(const double *from) { return from[0]; }
"""


def known(statement: str) -> list[str]:
    code = f"{HELPERS}void k(const double *x, double *r, double *z) {{\n{statement}\n}}"
    arguments = [("x", "float64", READ), ("r", "float64", INC), ("z", "float64", RW)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(code, *arguments)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("statement", INCREMENTS)
def test_an_increment_is_no_use(statement: str) -> None:
    assert known(statement) == []


@pytest.mark.parametrize(
    "statement",
    [
        "r[0] = x[0];",
        "r[0] = 0; r[0] += x[0];",
        "double *p = r; *p = 1;",
        "if (x[0] > 0) r[0] = 1;",
    ],
)
def test_an_increment_that_overwrites(statement: str) -> None:
    (message,) = known(statement)
    assert "line 4 overwrites parameter 'r' (argument 1, r), which the loop INC" in message
    assert "write +=" in message


@pytest.mark.parametrize("statement", USES)
def test_a_use_is_found(statement: str) -> None:
    messages = known(statement)
    assert len(messages) == 1
    assert "uses the value of parameter 'r'" in messages[0]


def test_min_and_max_may_look_at_their_argument() -> None:
    code = "void k(double *m) { if (m[0] < 3) m[0] = 3; }"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(code, ("Global 'm'", "float64", MAX))
