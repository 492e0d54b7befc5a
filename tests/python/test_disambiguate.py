# SPDX-License-Identifier: BSD-3-Clause
"""Casts and parentheses that look alike, as the parser must see them."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.kernel.parser.disambiguate import unambiguous
from pyop2cxx.kernel.parser.parse import parse_c


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = (z) - a*b;", "y = z - a*b;"),
        ("y = (a[i]) - b;", "y = a[i] - b;"),
        ("y = (f(x)) * b;", "y = f(x) * b;"),
        ("y = (double)(z) - b;", "y = (double) z - b;"),
        ("y = (double)(z[1][j + 2]) & b;", "y = (double) z[1][j + 2] & b;"),
        ("return (z) - 1;", "return z - 1;"),
        ("y = 2*((z) + (w));", "y = 2*(z + w);"),
        ("y = (unsigned)(z) - 1;", "y = (unsigned) z - 1;"),
        ("y = ((z)) - 1;", "y = z - 1;"),
        ("y = ((z) * ((w[0]))) + (z);", "y = (z * w[0]) + z;"),
        ("y = f(((z))) - (double)((w));", "y = f(z) - (double) w;"),
    ],
)
def test_parentheses_that_look_like_a_cast_go(text: str, expected: str) -> None:
    result = unambiguous(text, {}, frozenset())
    assert squeezed(result) == squeezed(expected)
    assert len(result) == len(text)


@pytest.mark.parametrize(
    "product",
    [
        "(a * (a*b)) * 0.5",
        "(a*(b*c)) - c",
        "(f(a) * (a * b)) * 0.5",
        "(double)(f(a) * (a * b)) * 0.5",
        "(f((a))*(a*b)) * 0.5",
        "(f(f(a))*(a*b)) & *p",
        "(f(a) * (a*p[0])) * 2.",
        "2*(f(a) * (a*b)) * (*p)",
        "(p[1] * (a * (b*c))) * a",
    ],
)
def test_a_product_is_no_type_of_a_function(product: str) -> None:
    text = (
        "static int f(int a) { return a; }\n"
        f"void k(int *p) {{ int a = 1, b = 2, c = 3; p[0] = {product.replace('0.5', '5')}; }}"
    )
    parsed = parse_c(text.replace("2.", "2"), "k")
    assert parsed.opaque_reason == ""


@pytest.mark.parametrize(
    "text",
    ["y = (double)-x;", "f(x) - 1;", "if (x) -y;", "while (x) *p = 1;", "y = (vec)(x) - 1;"],
)
def test_casts_calls_and_conditions_stay(text: str) -> None:
    result = unambiguous(text, {}, frozenset({"vec"}))
    assert result.replace("( x )", "(x)").count("(") >= 1
    assert squeezed(result) in (squeezed(text), squeezed("y = (vec) x - 1;"))


def test_comments_and_strings_are_not_touched() -> None:
    text = 'y = f("(z) - 1" /* (z) - 1 */, (z) - 1); // (z) - 1'
    result = unambiguous(text, {}, frozenset())
    assert '"(z) - 1" /* (z) - 1 */' in result
    assert result.endswith("// (z) - 1")


@pytest.mark.parametrize(
    ("spelling", "base"),
    [
        ("double _Complex", "complex128"),
        ("_Complex double", "complex128"),
        ("double complex", "complex128"),
        ("float\n  complex", "complex64"),
        ("complex float", "complex64"),
        ("PetscScalar", "float64"),
        ("PetscInt", "int32"),
        ("_Bool", "bool"),
        ("real", "float32"),
    ],
)
def test_names_of_scalars_become_words_of_the_grammar(spelling: str, base: str) -> None:
    text = f"typedef float real;\nvoid k({spelling} *z, int n) {{\n  nope = ({spelling})n;\n}}"
    parsed = parse_c(text, "k")
    assert parsed.opaque_reason == ""
    assert parsed.parameters is not None
    assert parsed.parameters[0][1][0] == base
    line = text[: text.index("nope")].count("\n") + 1
    assert parsed.functions[0].body[0][1] == line


SIZES = {
    "sizeof(int) - 1": 3,
    "sizeof(int)+1": 5,
    "sizeof (int)-1*2": 2,
    "2*sizeof(double[3])-1": 47,
    "(sizeof(int))-1": 3,
    "(int)sizeof(short)-5 < 0": 1,
    "-1-(int)sizeof(int)-1": -6,
    "sizeof(const unsigned)-sizeof(char)-1": 2,
    "sizeof(struct two)-1": 15,
    "sizeof(two)-1": 15,
    "sizeof(two *)-1": 7,
    "sizeof(pair)-1": 15,
    "sizeof(pair *)-1": 7,
    "sizeof(real)-1": 7,
    "sizeof x[0]-1": 7,
    "sizeof(x[0])-1": 7,
    "sizeof(int){1}-1": 3,
    "sizeof(int[2]){1, 2}-1": 7,
}


@pytest.mark.parametrize("size", SIZES)
def test_a_size_is_no_size_of_a_cast(backend: str, size: str) -> None:
    """Behind sizeof, (int) - 1 is no cast of -1."""
    text = f"""typedef double real;
typedef real pair[2];
typedef struct two {{ int a; double b; }} two;
void k(long *n, const double *x) {{ n[0] = {size}; }}"""
    cells = op2.Set(2)
    n, x = op2.Dat(cells, dtype="int64"), op2.Dat(cells)
    op2.par_loop(op2.Kernel(text, "k"), cells, n(op2.WRITE), x(op2.READ))
    assert np.array_equal(n.data_ro, [SIZES[size]] * 2)
