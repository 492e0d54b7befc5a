# SPDX-License-Identifier: BSD-3-Clause
"""Known headers are tables; the others are included, and their contents count."""

from __future__ import annotations

import ctypes
import re
import subprocess
from typing import TYPE_CHECKING, Any

import header_names
import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.base.c_names import CLASSIFICATIONS, LITERALS, MACROS, NEAREST_MINIMUM
from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.parser import headers
from pyop2cxx.kernel.parser.preprocess import preprocess

if TYPE_CHECKING:
    from pathlib import Path


BACKENDS = [backend.name for backend in op2.backends() if backend.available]


@pytest.mark.parametrize("given", ["stdlib.h", "<stdlib.h>", "#include <stdlib.h>"])
def test_a_header_may_be_spelled_in_three_ways(given: str) -> None:
    assert headers.spelled(given) == "<stdlib.h>"
    assert headers.spelled('#include "a/b.h"') == '"a/b.h"'


def test_known_headers_vanish_and_others_are_included() -> None:
    code = (
        "#include <math.h>\n# include <stdlib.h>\n"
        'void k(double *x) { x[0] = sqrt(x[1]) + atof("1"); }'
    )
    kernel = Kernel(code, "k", headers=["<complex.h>", "errno.h"])
    text = _core.kernel_text(kernel.core, line_markers=False)
    assert kernel.core.headers == ["<errno.h>", "<stdlib.h>"]
    assert text.splitlines()[:3] == [
        "#include <errno.h>",
        "#include <stdlib.h>",
        "double sqrt(double);",
    ]


def test_contents_of_headers_are_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.h").write_text('#include "sub/b.h"\n')
    (tmp_path / "sub" / "b.h").write_text('#include "c.h"\n')
    (tmp_path / "sub" / "c.h").write_text("int c;\n")
    found = preprocess("int k;", ['"a.h"'], [str(tmp_path)], ()).contents
    assert found[::2] == ("a.h", "sub/b.h", "sub/c.h")
    assert len({*found[1::2]}) == 3


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("M_PI", "3.14159265358979323846"),
        ("true", "1"),
        ("INT64_MIN", "-9223372036854775807L - 1"),
        ("NULL == x", "(void *)0 == x"),
        ("INFINITY", "__builtin_inff()"),
        ("NAN", '__builtin_nanf("")'),
        ("HUGE_VAL", "__builtin_inf()"),
        ("isfinite(x[1])", "__builtin_isfinite(x[1])"),
        ("creal(_Complex_I)", "creal(__builtin_complex(0.0f, 1.0f))"),
        ("I", "I"),
    ],
)
def test_macros_of_known_headers(name: str, printed: str) -> None:
    kernel = Kernel(f"void k(double *x) {{ x[0] = {name}; }}", "k")
    assert f"x[0] = {printed};" in _core.kernel_text(kernel.core, line_markers=False)


@pytest.mark.parametrize("backend", BACKENDS)
def test_complex_numbers_are_made_of_two_reals(backend: str) -> None:
    text = """void k(double complex *z, float complex *c, const double *x) {
      z[0] = CMPLX(x[0], 2); z[1] = CMPLX(0, -x[0]) * I; c[0] = CMPLXF(1, x[0]); }"""
    points = op2.Set(1)
    x, c = op2.Dat(points, [0.5]), op2.Dat(points, dtype=np.complex64)
    z = op2.Dat(points**2, dtype=complex)
    with op2.backend(backend):
        op2.par_loop(Kernel(text, "k"), points, z(op2.WRITE), c(op2.WRITE), x(op2.READ))
    assert z.data_ro.tolist() == [[0.5 + 2j, 0.5]]
    assert c.data_ro.tolist() == [1 + 0.5j]


@pytest.mark.parametrize("backend", BACKENDS)
def test_tangents_far_from_the_axis_are_finite(backend: str) -> None:
    text = "void k(double complex *t, double complex *z) { t[0] = ctanh(*z); t[1] = ctan(I * *z); }"
    values = np.array([800 + 1j, -800 + 2j, 22 + 1j, 21 - 1j, 0.5 + 2j, -1e-9 + 3j])
    points = op2.Set(values.size)
    z, t = op2.Dat(points, values), op2.Dat(points**2, dtype=complex)
    with op2.backend(backend):
        op2.par_loop(Kernel(text, "k"), points, t(op2.WRITE), z(op2.READ))
    found = t.data_ro
    assert np.allclose(found[:, 0], np.tanh(values), rtol=1e-14, atol=0)
    assert np.allclose(found[:, 1], 1j * np.tanh(values), rtol=1e-14, atol=0)


@pytest.mark.skipif("opencl" not in BACKENDS, reason="no OpenCL")
def test_a_function_that_devices_do_not_know_is_named() -> None:
    points = op2.Set(1)
    text = "void k(double *x) { x[0] = sqr(x[0]); }"
    message = "calls 'sqr', which is not known on a device; correct its name, define it in the kern"
    with op2.backend("opencl"), pytest.raises(UnsupportedError, match=message):
        op2.par_loop(Kernel(text, "k"), points, op2.Dat(points)(op2.RW))


@pytest.mark.skipif("opencl" not in BACKENDS, reason="no OpenCL")
@pytest.mark.parametrize("call", ["jn(1, x[0])", "NX"])
def test_a_known_header_is_no_reason_to_refuse_a_device(call: str) -> None:
    points = op2.Set(1)
    x = op2.Dat(points, [3.0])
    nx = op2.Const(1, 4.0, "NX")
    kernel = op2.Kernel(f"#include <math.h>\nvoid k(double *x) {{ x[0] = {call}; }}", "k")
    try:
        with op2.backend("opencl"):
            if call == "NX":
                op2.par_loop(kernel, points, x(op2.RW))
                assert x.data_ro.tolist() == [4.0]
            else:
                with pytest.raises(UnsupportedError, match="calls 'jn', which is not known"):
                    op2.par_loop(kernel, points, x(op2.RW))
    finally:
        nx.remove_from_namespace()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", ["exp", "sinh", "cosh", "sin", "cos"])
def test_functions_that_overflow_are_real_on_the_axes(backend: str, function: str) -> None:
    text = f"void k(double complex *t, double complex *z) {{ *t = c{function}(*z); }}"
    values = np.array([1000, -1000, 1000j, -1000j, 0, 1 + 2j])
    if function == "exp":
        values = values.real + 0j
    points = op2.Set(values.size)
    z, t = op2.Dat(points, values), op2.Dat(points, dtype=complex)
    with op2.backend(backend):
        op2.par_loop(Kernel(text, "k"), points, t(op2.WRITE), z(op2.READ))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = getattr(np, function)(values)
    assert np.allclose(t.data_ro.real, expected.real, rtol=1e-14, atol=0, equal_nan=True)
    assert np.allclose(t.data_ro.imag, expected.imag, rtol=1e-14, atol=0, equal_nan=True)
    assert (np.signbit(t.data_ro.imag) == np.signbit(expected.imag))[:4].all()


def test_the_imaginary_unit_is_known_where_complex_values_are() -> None:
    for type_ in ("double _Complex", "complex double"):
        facts = Kernel(f"void k({type_} *z) {{ z[0] = 2.0 * I; }}", "k").facts
        assert facts is not None
        assert facts.free_names == []
    real = "void k(double *z) { z[0] = 2.0 * I; }"
    without, included = Kernel(real, "k"), Kernel(real, "k", headers=["complex.h"])
    assert without.facts is not None
    assert included.facts is not None
    assert (without.facts.free_names, included.facts.free_names) == (["I"], [])
    assert without.key != included.key  # or one would get the other's code


def test_a_local_name_hides_a_macro() -> None:
    kernel = Kernel("void k(double *M_PI) { double NAN = 1; M_PI[0] = NAN; }", "k")
    assert "M_PI[0] = NAN;" in _core.kernel_text(kernel.core, line_markers=False)


# Kernels that the compiler reads as they are

OPAQUE = "goto end; end: ;"
NAMES = [
    "x[0] = abs(-3) + labs(-3L);",
    "int8_t q = 3; uint64_t r = UINT64_MAX; x[0] = q + r + SIZE_MAX;",
    "double y[2]; memset(y, 0, sizeof y); x[0] = y[0];",
    "x[0] = fabs(-3.0) + sqrtf(2.0f) + fmin(1, 2);",
    "bool b = true; x[0] = b;",
    "size_t n = 3; ptrdiff_t p = 1; int *q = NULL; x[0] = n + p + (q == NULL);",
    "ssize_t n = 3; x[0] = n;",
    "x[0] = INT_MAX + LONG_MIN + DBL_EPSILON;",
    "x[0] = M_PI;",
    "if (isnan(x[0]) || x[0] == INFINITY) x[0] = 1;",
    "double complex z = 1 + 2 * I; x[0] = creal(z);",
    "x[0] = cabs(3.0 + 4.0 * _Complex_I) + cimagf(2.0f * _Complex_I);",
    "PetscScalar s = 2; PetscInt i = 1; x[0] = s + i + PETSC_PI;",
]


@pytest.mark.parametrize("statement", NAMES)
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_opaque_kernels_get_the_names_that_parsed_ones_get(statement: str, backend: str) -> None:
    found = []
    for text in (statement, statement + OPAQUE):
        x = op2.Dat(op2.Set(2), [1.0, 2.0])
        kernel = op2.Kernel(f"void k(double *x) {{ {text} }}", "k")
        assert (kernel.opaque_reason != "") == (OPAQUE in text)
        with op2.backend(backend):
            op2.par_loop(kernel, x.dataset.set, x(op2.RW))
        found.append(x.data_ro.tolist())
    assert found[0] == found[1]


@pytest.mark.usefixtures("host")
def test_kernels_in_cpp_get_them_too() -> None:
    x = op2.Dat(op2.Set(1), [-2.0])
    text = "void k(double *x) { int64_t n = 3; x[0] = fabs(x[0]) + n; }"
    op2.par_loop(op2.Kernel(text, "k", cpp=True), x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [5.0]


def test_only_what_a_text_names_is_included() -> None:
    assert headers.needed(("double", "x"), (), cpp=False) == ()
    assert headers.needed(("fabs", "bool"), (), cpp=False) == ("<stdbool.h>", "<math.h>")
    assert headers.needed(("fabs", "bool"), ("<math.h>",), cpp=False) == ("<stdbool.h>",)
    assert headers.needed(("complex",), (), cpp=True) == ()


@pytest.mark.parametrize("kind", ["long long", "unsigned long long int", "long", "int64_t"])
@pytest.mark.parametrize("how", ["parsed", "opaque", "C++"])
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
@pytest.mark.parametrize("abi", ["2026", pytest.param("2016", marks=pytest.mark.pyop2)])
def test_a_long_long_is_a_long(kind: str, how: str, backend: str, abi: str) -> None:
    if backend == "opencl" and how != "parsed":
        return  # devices translate kernels
    dtype = "uint64" if "unsigned" in kind else "int64"
    x = op2.Dat(op2.Set(3), [1, 2, 2**40], dtype)
    text = f"void k({kind} *x) {{ {kind} y = 1; x[0] += y; {OPAQUE if how == 'opaque' else ''} }}"
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(text, "k", cpp=how == "C++", abi=abi), x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [2, 3, 2**40 + 1]


def test_words_keep_their_places() -> None:
    text = 'long long x; /* long long */ long\n  long y; "long long" longlong'
    wanted = 'long      x; /* long long */ long\n       y; "long long" longlong'
    assert headers.with_one_long(text) == wanted


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("how", ["parsed", "not all known", "opaque", "C++"])
def test_a_header_is_included_where_the_text_names_it(how: str, tmp_path: Path) -> None:
    """Once, as it may be without a guard, and behind the macros that it goes by."""
    declared = "#include <stdio.h>\n" if how == "not all known" else ""
    (tmp_path / "step.h").write_text(
        f"{declared}#ifndef STEP\n#define STEP 1\n#endif\n"
        "static double scaled(double x) { return STEP * x; }\n"
    )
    text = f"""
#define STEP 4
#include "step.h"
void k(double *x) {{ x[0] = scaled(x[0]); {OPAQUE if how == "opaque" else ""} }}"""
    x = op2.Dat(op2.Set(1), [2.0])
    kernel = op2.Kernel(text, "k", include_dirs=[str(tmp_path)], cpp=how == "C++")
    assert (kernel.opaque_reason == "") == (how == "parsed")
    op2.par_loop(kernel, x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [8.0]


def by_c(text: str, n: int, folder: Path) -> np.ndarray[Any, Any]:
    """Compile a text as it is, and call it."""
    (folder / "judge.c").write_text(text)
    command = ["cc", "-std=gnu11", "-O3", "-fno-math-errno", "-shared", "-fPIC", "-o"]
    command += [str(folder / "judge.so"), str(folder / "judge.c"), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    y, x = np.zeros(n), np.array([0.0, 0.25])
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (y, x)]
    ctypes.CDLL(str(folder / "judge.so")).k(*addresses)
    return y


@pytest.mark.parametrize("how", ["parsed", "after a condition", "opaque"])
@pytest.mark.parametrize("header", [*header_names.HEADERS, "tgmath"])
def test_a_kernel_has_all_that_a_header_gives(header: str, how: str, tmp_path: Path) -> None:
    values = [] if header == "tgmath" else header_names.numbers_of(header)
    values += header_names.CALLS.get(header, [])
    assert len(values) > 4 or header == "stddef"
    named = f"#include <{header}.h>\n" + "#include <complex.h>\n" * (header == "tgmath")
    named += "#if 1\n#define ONE 1\n#endif\n" * (how == "after a condition")
    body = "".join(f"  y[{i}] = (double)({value});\n" for i, value in enumerate(values))
    body += OPAQUE * (how == "opaque")
    text = f"{named}void k(double *y, const double *x) {{\n{body}}}\n"
    x = op2.Dat(op2.Set(1) ** 2, [[0.0, 0.25]])
    y = op2.Dat(x.dataset.set ** max(len(values), 1))
    with op2.backend("sequential"):
        op2.par_loop(op2.Kernel(text, "k"), y.dataset.set, y(op2.WRITE), x(op2.READ))
    expected = by_c(text, len(values), tmp_path)
    found = np.array(y.data_ro).reshape(-1)[: len(values)]
    wrong = [
        (value, one, right)
        for value, one, right in zip(values, found, expected, strict=True)
        if not np.isclose(one, right, rtol=1e-14, atol=0, equal_nan=True)
    ]
    assert wrong == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("header", ["float", "limits", "stdint", "math"])
def test_numbers_of_headers_are_the_same_on_all_backends(
    header: str, backend: str, tmp_path: Path
) -> None:
    macros = {*LITERALS, *NEAREST_MINIMUM}
    values = [name for name in header_names.numbers_of(header) if name in macros]
    values += header_names.CALLS["stdint"] if header == "stdint" else []
    body = "".join(f"  y[{i}] = (double)({value});\n" for i, value in enumerate(values))
    text = f"#include <{header}.h>\nvoid k(double *y, const double *x) {{\n{body}}}\n"
    x = op2.Dat(op2.Set(1) ** 2, [[0.0, 0.25]])
    y = op2.Dat(x.dataset.set ** len(values))
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(text, "k"), y.dataset.set, y(op2.WRITE), x(op2.READ))
    assert len(values) > 12
    assert y.data_ro.reshape(-1).tolist() == by_c(text, len(values), tmp_path).tolist()


def test_macros_that_preprocessors_keep_are_known_by_name() -> None:
    """And all that are known and are no numbers in conditions are kept."""
    kept = {
        path.name: re.findall(r"#define (\w+) \1\n", path.read_text())
        for path in (template_folder() / "kept").iterdir()
    }
    classes = {*CLASSIFICATIONS, *headers.COMPLEX_MACROS}
    for name in (*kept["float.h"], *kept["math.h"], *kept["complex.h"]):
        assert name in classes or headers.constant(name, 1, has_complex=True) is not None
    for header, sign in (("float.h", "e"), ("math.h", ".")):
        assert {name for name, value in MACROS[header].items() if sign in value} <= {*kept[header]}
    assert {*CLASSIFICATIONS} <= {*kept["math.h"]}


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("call", ["toupper(97)", "tolower(65) - 32", "isdigit(55) ? 65 : 0"])
@pytest.mark.parametrize("header", ["ctype", "assert", "errno"])
def test_functions_that_are_also_macros_stay_calls(header: str, call: str) -> None:
    text = f"#include <{header}.h>\n#include <ctype.h>\n"
    uses = {"assert": "assert(x[0] == 0);", "errno": "errno = 2; x[0] = errno - 2;"}
    kernel = op2.Kernel(f"{text}void k(double *x) {{ {uses.get(header, '')} x[0] = {call}; }}", "k")
    x = op2.Dat(op2.Set(1))
    op2.par_loop(kernel, x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [65.0]
    assert kernel.opaque_reason == ""


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("how", ["", OPAQUE])
def test_own_functions_may_be_called_as_those_of_headers(how: str) -> None:
    text = f"""
static double gamma(double x) {{ return 2 * x; }}
static int div(int a) {{ return a / 2; }}
void k(double *x) {{ double j0 = 1, free = 2; x[0] = gamma(3) + div(4) + j0 + free; {how} }}"""
    x = op2.Dat(op2.Set(1))
    op2.par_loop(op2.Kernel(text, "k"), x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [11.0]
