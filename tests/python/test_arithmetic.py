# SPDX-License-Identifier: BSD-3-Clause
"""Constant expressions have the types and values that the C compiler gives them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.parse import parse_c

if TYPE_CHECKING:
    from collections.abc import Sequence

KNOWN = """
    #include <stdint.h>
    #include <stddef.h>
    enum { MINUS = -1, LARGE = 4000000000u, LEAST = -2147483647 - 1 };
    enum { ZERO, HUGE = 1ul << 63 };
    enum cell { NONE, SOME = 5, NEXT };
    static const uint8_t cut = 300;
    static const int8_t low = 200;
    static const _Bool yes = 7;
    static const unsigned top = -1;
    static const int whole = 2.75;
    static const long far = 1L << 40;
    typedef unsigned short half;
    typedef double row[3];
"""
EXPRESSIONS = """
    0u - 1 > 0 | (unsigned)-1 / 2 | (unsigned char)300 | (signed char)200 | 1 << 31 | -1 << 3
    1u << 31 | 1L << 40 | 1ul << 63 | 4294967295 | 4294967295u | 0xffffffff | 0x7fffffff
    2147483648 | -2147483648 | 0x8000000000000000 | 037777777777 | 0777 | 0 | 1ul | 1lu | 1ll | 1llu
    -7 / 2 | -7 % 2 | 7 / -2 | 7 % -2 | -7 / 2u | -7 % 3u | 5u - 7 | 5u - 7l | 5ul - 7 | -1 < 1u
    -1 < 1ul | -1l < 1u | (long)-1 < 1u | -1 == 4294967295u | -1 == 18446744073709551615u
    ~0 | ~0u | ~0ul | ~(unsigned char)0 | -(unsigned char)1 | !0 | !7 | !0.0 | !!5u | +(short)-3
    (char)127 + 1 | (short)65535 | (unsigned short)-1 | (unsigned short)-1 + 1 | (_Bool)0.5
    (_Bool)256 | (int)2.9 | (int)-2.9 | (unsigned)3.7f | (int)(2.5 * 2) | (float)0.1 * 10
    1.0 / 3 | 1.0f / 3 | 1 / 2 * 2.0 | 0x1p4 | 0x1.8p1f | 1e3 | .5 + .5f | 16777217.0f
    'a' | '\\n' | '\\0' | '\\377' | '\\x41' | '\\'' | '\\\\' | 'a' + 1
    sizeof('a') | sizeof "abc" - 1
    sizeof(double) | sizeof(char) | sizeof(_Bool) | sizeof(long) | sizeof(int) - 5 > 0
    sizeof(1.0f) | sizeof(1.0f + 1) | sizeof(1u + 1l) | sizeof((char)1 + (char)1) | sizeof(row)
    sizeof(half) | sizeof(double *) | sizeof(double[4][2]) | sizeof(cut) | sizeof cut + 1
    sizeof(cut + 1) | sizeof(1 ? 1 : 2l) | -sizeof(char) | sizeof(far << 1)
    1 ? 2 : 3u | 0 ? 2 : -3l | 1 ? -1 : 1u | 1 ? -1 : 1ul | (0 ? 1 : -1u) > 0 | 1 ? 1 : 2.0
    1 ? (short)1 : (char)2 | 1 ? 2 : 1 / 0 | 0 && 1 / 0 | 1 || 1 / 0 | 2 && 3 | 0 || 0 | 0.5 || 0
    1 < 2 < 3 | 3 > 2 > 1 | 1 == 1.0 | 0.1f == 0.1 | 5 & 3 | 5|3 | 5 ^ -1 | 5u ^ -1 | -1 & 0xffu
    -8 >> 1 | -8 >> 1u | 0x80000000 >> 31 | (int)0x80000000 >> 31 | 1ul << 3 << 4
    1 << 3u | 2 >> 1l
    MINUS | MINUS / 2u | LARGE | LARGE + 1 | LEAST | sizeof(LEAST) | LEAST / 2 | HUGE | HUGE - 1
    NONE | SOME | NEXT * 2 | sizeof(LARGE) | sizeof(enum cell) | LARGE > MINUS
    cut | cut + 200 | low | low >> 1 | yes | yes + yes | top | top + 1 | top / 2 | -top
    whole | far
    cut - 45 < 0 | cut - 45u < 0 | (half)-1 | (half)-1 << 16 >> 31 | (int)far | -low % 7u
    INT32_MAX | INT32_MIN | UINT32_MAX + 1 | INT64_MIN | UINT64_MAX + 2 | SIZE_MAX / 2
    UINT8_MAX + 1 | (int8_t)UINT8_MAX | (uint64_t)-1 >> 60 | (int64_t)(uint32_t)-1 | 3000000000 * 2
    (uint32_t)3000000000 * 2 | 3000000000u * 2l | 65535 * 65537u | 0x7fff * 0x10001 | 1 - 2ul > 5
    ((char)-1 == (unsigned char)255) | (unsigned char)-1 == 255 | -1 >> 31
"""


def listed(text: str) -> list[str]:
    """The expressions of a text; ' | ' stands between them."""
    return [one.strip() for line in text.strip().split("\n") for one in line.split(" | ")]


def questions(text: str) -> list[str]:
    """Expressions of what has to be known of another one: its type and its value, as extents."""
    sixteens = (f"((unsigned long)(long)({text}) >> {16 * i} & 65535) + 1" for i in range(4))
    return [f"sizeof({text})", f"(({text}) * 0 - 1 > 0) + 1", f"!({text}) + 1", *sixteens]


def parsed_extents(texts: Sequence[str]) -> list[int]:
    """What the parser makes of expressions behind KNOWN, each the extent of an array."""
    arrays = "\n".join(f"double a{i}[{text}];" for i, text in enumerate(texts))
    parsed = parse_c(f"{KNOWN}\nvoid k(double *x) {{\n{arrays}\n}}", "k")
    assert parsed.opaque_reason == ""
    return [statement[3][0][1][2][0][1] for statement in parsed.functions[0].body]


def compiled_values(texts: Sequence[str], folder: Path) -> list[int]:
    """What the C compiler makes of them."""
    lines = "\n".join(f'printf("%lu\\n", (unsigned long)({text}));' for text in texts)
    source = folder / "expressions.c"
    source.write_text(f"#include <stdio.h>\n{KNOWN}\nint main(void) {{\n{lines}\nreturn 0; }}\n")
    program = folder / "expressions"
    subprocess.run(["cc", "-std=gnu11", "-w", "-O0", source, "-o", program], check=True)
    return [int(line) for line in subprocess.check_output([program], text=True).split()]


def test_types_and_values_are_the_compilers(tmp_path: Path) -> None:
    expressions = listed(EXPRESSIONS)
    assert len(expressions) >= 170
    asked = [question for text in expressions for question in questions(text)]
    found = dict(zip(asked, parsed_extents(asked), strict=True))
    assert found == dict(zip(asked, compiled_values(asked, tmp_path), strict=True))


NUMBERS = st.one_of(
    st.integers(0, 2**64 - 1).map(lambda n: f"0x{n:x}"),
    st.integers(0, 2**63 - 1).map(str),
    st.integers(0, 300).flatmap(lambda n: st.sampled_from([f"{n}{s}" for s in SUFFIXES])),
    st.sampled_from(["MINUS", "LARGE", "LEAST", "HUGE", "SOME", "NEXT"]),
    st.sampled_from(["cut", "low", "yes", "top", "whole", "far", "'a'", "2.5", ".5f"]),
)
SUFFIXES = ("", "u", "L", "UL", "ll")
CASTS = tuple(
    f"({name})"
    for name in ("char", "unsigned char", "short", "half", "int", "unsigned", "long", "_Bool")
)
WORDS = ("<", ">", "<=", ">=", "==", "!=", "&&", "||", "*", "/", "%", "+", "-", "&", "|", "^")


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(st.sampled_from([*CASTS, "-", "~", "!", "+"]), inner).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        ),
        st.tuples(inner, st.sampled_from(WORDS), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        st.tuples(inner, st.sampled_from(["<<", ">>"]), st.integers(0, 63)).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        st.tuples(inner, inner, inner).map(lambda parts: "({} ? {} : {})".format(*parts)),
    )


def is_told(text: str) -> bool:
    """Whether C gives an expression a value; what it gives none is refused by name."""
    try:
        return len(parsed_extents(questions(text))) == len(questions(text))
    except UsageError as error:
        if "has no value in C" not in str(error):
            raise
        return False
    except AssertionError:  # no integer constant, as ``~2.5``
        return False


@settings(max_examples=6, deadline=None)
@given(st.lists(st.recursive(NUMBERS, compound, max_leaves=6), min_size=60, max_size=60))
def test_any_expression_is_the_compilers(expressions: list[str]) -> None:
    asked = [question for text in filter(is_told, expressions) for question in questions(text)]
    with TemporaryDirectory() as folder:
        compiled = compiled_values(asked, Path(folder))
    assert dict(zip(asked, parsed_extents(asked), strict=True)) == dict(
        zip(asked, compiled, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 << -1", "shifts by less than 0 or by all 32 bits of int"),
        ("1 << 32", "shifts by less than 0 or by all 32 bits"),
        ("1 << 100000000000", "shifts by less than 0 or by all 32 bits"),
        ("1ul << 64", "by all 64 bits of unsigned long"),
        ("8 >> -2", "shifts by less than 0"),
        ("2147483647 + 1", "out of the range of int"),
        ("-(-2147483647 - 1)", "out of the range of int"),
        ("(-2147483647 - 1) / -1", "out of the range of int"),
        ("(-2147483647 - 1) % -1", "out of the range of int"),
        ("65536 * 65536", "out of the range of int"),
        ("7 / 0", "divides by zero"),
        ("7u % 0", "divides by zero"),
        ("(int)1e20", "out of the range of int"),
        ("(unsigned)-1.5", "out of the range of unsigned"),
        ("99999999999999999999", "is too large"),
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        "void k(double *x) {{\n double a[{}]; }}",
        "enum {{\n A = {} }}; void k(double *x) {{}}",
        "void k(double *x) {{ switch ((int)x[0]) {{\n case {}: x[0] = 1; }} }}",
        "void k(double *x) {{ double a[] = {{\n [{}] = 1 }}; }}",
        "struct s {{\n double a[{}]; }}; void k(double *x) {{ struct s one; }}",
        "typedef double\n row[{}]; void k(double *x) {{ row one; }}",
        "void k(double *x) {{ x[0] = sizeof(\n double[{}]); }}",
    ],
)
def test_what_has_no_value_in_c_is_told(text: str, why: str, place: str) -> None:
    with pytest.raises(UsageError, match=r"line 2: .* has no value in C") as raised:
        parse_c(place.format(text), "k")
    assert why in str(raised.value)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    "extent", ["-1", "1000000000000000000", "0x7fffffffffffffff", "-1ul", "2 - 3u * 0 - 5L"]
)
def test_no_array_has_such_an_extent(extent: str) -> None:
    with pytest.raises(UsageError, match=r"line 2: 'a.*C has no such array"):
        parse_c(f"void k(double *x) {{\n double a[{extent}][8]; }}", "k")


def test_an_extent_of_many_digits_is_too_large() -> None:
    with pytest.raises(UsageError, match="is too large"):
        parse_c("void k(double *x) { double a[100000000000000000000]; }", "k")


def test_overflowing_enumerators_are_left_to_the_compiler() -> None:
    parsed = parse_c("enum { A = 2147483647, B }; void k(double *x) { x[0] = B; }", "k")
    assert "an enumerator that is not a constant" in parsed.opaque_reason


def test_cases_are_compared_as_the_switch_compares_them() -> None:
    cases = "case 1: n[0] = 2; break;\n case 4294967297: n[0] = 3;"
    code = f"void k(int *n) {{{{ switch ({{}}) {{{{ {cases} }}}} }}}}"
    with pytest.raises(UsageError, match="line 2: this switch has two cases of value 1"):
        parse_c(code.format("n[0]"), "k")
    assert parse_c(code.format("(long)n[0]"), "k").opaque_reason == ""


def test_an_array_that_is_a_parameter_has_the_size_of_a_pointer() -> None:
    parsed = parse_c("void k(double x[3]) { double a[sizeof(x)]; a[0] = x[0]; }", "k")
    assert parsed.functions[0].body[0][3][0][1][2][0][1] == 8


def test_enumerators_are_computed_with_as_what_they_are() -> None:
    """On all backends: the text that is compiled has their types, too."""
    code = """
        enum { LEAST = -2147483647 - 1, CUT = (unsigned char)300 };
        enum { TOP = 4294967295u };
        void k(double *x) { x[0] = sizeof(LEAST); x[1] = TOP + 1; x[2] = CUT; x[3] = 0u - 1 > 0; }
    """
    x = op2.Dat(op2.Set(1) ** 4, dtype=float)
    op2.par_loop(op2.Kernel(code, "k"), x.dataset.set, x(op2.WRITE))
    assert x.data_ro.tolist() == [[4.0, 0.0, 44.0, 1.0]]
