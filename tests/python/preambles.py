# SPDX-License-Identifier: BSD-3-Clause
"""Texts with directives; which of their lines `TAKEN(n)` are left is for the C compiler to say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Preamble(NamedTuple):
    """A text, what it is read with, and whether all compilers of these machines agree on it."""

    text: str
    options: Sequence[str] = ()
    headers: Sequence[str] = ()
    is_general: bool = True


def either(condition: str, before: str = "", **others: object) -> Preamble:
    """Return a text where a condition chooses between two lines."""
    text = f"{before}\n#if {condition}\nTAKEN(1)\n#else\nTAKEN(2)\n#endif\n"
    return Preamble(text)._replace(**others)


def guarded(name: str, before: str = "", value: str = "1", **others: object) -> Preamble:
    """Return a text that defines a macro unless it is defined, and says which it was."""
    text = f"{before}\n#ifndef {name}\nTAKEN(1)\n#define {name} {value}\n#endif\nTAKEN(3)\n"
    return Preamble(text)._replace(**others)


FLOAT, LIMITS, STDINT = "#include <float.h>", "#include <limits.h>", "#include <stdint.h>"
MATH, COMPLEX, BOOL = "#include <math.h>", "#include <complex.h>", "#include <stdbool.h>"
STDDEF, STRING, STDLIB = "#include <stddef.h>", "#include <string.h>", "#include <stdlib.h>"

OWN_HEADERS = {
    "own.h": "#ifndef OWN_H\n#define OWN_H\n#include <float.h>\n#include <limits.h>\n#define N 3\n"
    "#endif\n",
    "outer.h": '#include "own.h"\n#ifdef DBL_MAX\n#define HAS_MAX 1\n#else\n#define HAS_MAX 0\n'
    "#endif\n",
    "tests_math.h": "#ifndef M_PI\n#define M_PI 3\n#define WITHOUT_PI\n#endif\n",
    "in/deep.h": '#include "beside.h"\n',
    "in/beside.h": "#define DEEP 7\n",
    "plain.h": "#define PLAIN(x) ((x) > 2)\n",
}

PREAMBLES = [
    # macros of headers, with the header and without
    *(guarded("DBL_EPSILON", header, "1e-3") for header in ("", FLOAT, MATH, LIMITS)),
    *(guarded("DBL_MAX", header) for header in ("", FLOAT, "#include <stdio.h>")),
    *(guarded("FLT_MIN", header) for header in ("", FLOAT)),
    *(guarded("M_PI", header, "3.14") for header in ("", MATH, FLOAT, COMPLEX)),
    *(guarded("INT_MAX", header) for header in ("", LIMITS, STDINT)),
    *(guarded("INT64_MAX", header) for header in ("", LIMITS, STDINT)),
    *(guarded("SIZE_MAX", header) for header in ("", STDDEF, STDINT)),
    *(guarded("NULL", header) for header in ("", STDDEF, STRING, STDLIB, MATH)),
    *(guarded("true", header) for header in ("", BOOL, STDINT)),
    *(guarded("bool", header, "int") for header in ("", BOOL)),
    *(guarded("I", header) for header in ("", COMPLEX, MATH)),
    *(guarded("complex", header, "double") for header in ("", COMPLEX)),
    *(guarded("NAN", header, "0") for header in ("", MATH)),
    *(guarded("INFINITY", header, "0") for header in ("", MATH)),
    *(guarded("isnan", header, "0") for header in ("", MATH, STDLIB, COMPLEX)),
    *(guarded("CMPLX", header) for header in ("", COMPLEX)),
    *(guarded("offsetof", header) for header in ("", STDDEF)),
    *(guarded("RAND_MAX", header) for header in ("", STDLIB)),
    *(guarded("memcpy", header) for header in ("", STRING)),
    *(guarded("sqrt", header) for header in ("", MATH)),
    *(guarded("FP_NAN", header) for header in ("", MATH)),
    *(guarded("INT64_C", header) for header in ("", STDINT)),
    *(guarded("CHAR_BIT", header) for header in ("", LIMITS)),
    *(guarded("LDBL_DIG", header) for header in ("", FLOAT)),
    Preamble(f"#ifndef DBL_MAX\nTAKEN(1)\n#endif\n{FLOAT}\n#ifndef DBL_MAX\nTAKEN(2)\n#endif\n"),
    guarded("DBL_MAX", "", headers=["<float.h>"]),
    guarded("M_PI", "", headers=["<math.h>", "<stdlib.h>"]),
    # what compilers define
    *(
        either(condition)
        for condition in (
            *("__STDC_VERSION__ >= 199901L", "__STDC_VERSION__ > 201710L", "__GNUC__ >= 4"),
            *("defined(__GNUC__) && !defined(__cplusplus)", "defined(_WIN32)", "_MSC_VER"),
            *("__SIZEOF_LONG__ == 8", "__SIZEOF_POINTER__ == 4", "__LP64__", "__OPTIMIZE__"),
            *("__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__", "__CHAR_BIT__ == 8", "defined __STDC__"),
            *("__INT_MAX__ > 32767", "__LONG_MAX__ > 2147483647", "__FLT_RADIX__ == 2"),
            *("__DBL_DIG__ == 15", "__linux__", "unix", "__STRICT_ANSI__", "__CUDACC__"),
            *("defined(__x86_64__) || defined(__aarch64__)", "defined __has_include"),
            *("__STDC_HOSTED__", "__SIZEOF_INT128__", "_OPENMP", "__OPENCL_VERSION__"),
            *("__SIZEOF_LONG_DOUBLE__ > 8", "__STDC_NO_COMPLEX__", "__OBJC__"),
        )
    ),
    *(
        either(condition, is_general=False)
        for condition in (
            *("defined __clang__", "__GNUC__ > 4", "__AVX2__", "__FMA__", "__clang_major__ >= 14"),
            *("__has_attribute(always_inline)", "__GNUC_MINOR__ == 2"),
        )
    ),
    either("__STDC_VERSION__ >= 201112L", options=["-std=c99"], is_general=False),
    either("__STRICT_ANSI__", options=["-std=c11"], is_general=False),
    either("defined M_PI", MATH, options=["-std=c99"], is_general=False),
    either("defined __OPTIMIZE__", options=["-O0"], is_general=False),
    either("__FAST_MATH__", options=["-ffast-math"], is_general=False),
    # files that may be there
    *(
        either(f"defined __has_include && __has_include({name})")
        for name in ("<math.h>", "<no_such_header.h>", '"own.h"', '"no_such.h"', "<stdatomic.h>")
    ),
    # numbers
    *(
        either(condition, f"{LIMITS}\n{STDINT}\n{FLOAT}")
        for condition in (
            *("INT_MAX > 32767", "LONG_MAX > 2147483647", "LONG_MAX > 2147483647L"),
            *("UINT_MAX == 0xffffffff", "UINT_MAX == 4294967295U", "INT_MIN < 0", "CHAR_BIT == 8"),
            *("LONG_MIN == -LONG_MAX - 1", "ULONG_MAX > LONG_MAX", "ULONG_MAX == -1", "-1 > 0u"),
            *(
                "UINT64_MAX == UINTMAX_MAX",
                "SIZE_MAX >> 63",
                "INT64_C(1) << 40 > 1",
                "FLT_RADIX==2",
            ),
            *(
                "INT8_MIN == -128",
                "INT_LEAST16_MAX == 32767",
                "INT_FAST16_MAX > 32767",
                "LLONG_MAX",
            ),
            *("DBL_DIG >= 15", "DBL_MANT_DIG == 53", "FLT_MAX_EXP == 128", "DBL_MIN_EXP < 0"),
            *("UCHAR_MAX == 255", "SHRT_MAX < INT_MAX", "PTRDIFF_MAX == LONG_MAX", "CHAR_MIN < 0"),
        )
    ),
    *(
        either(condition)
        for condition in (
            *("1 - 2 < 0u", "0u - 1 > 0", "-1 >> 1 == -1", "'a' == 97", "'\\n' == 10", "~0 == -1"),
            *("7 / 2 * 2 == 6", "-7 / 2 == -3", "1 ? 0 : 1", "017==15"),
            *(
                "0x10 == 16",
                "1 && 0 || 1",
                "!defined X && !X",
                "1 == 1 == 1",
                "3 & 1 ^ 2",
                "2 >= 2L",
            ),
            *("0x7fffffffffffffff + 1u > 0", "18446744073709551615u == -1", "-1 < 0", "1u < -1"),
        )
    ),
    either("INT_MAX > 32767"),
    either("true", BOOL),
    either("true"),
    either("NOT_DEFINED + 1"),
    either("-7 % 3 == -1", is_general=False),  # pcpp divides as Python does
    # defined, and taken back
    guarded("DBL_EPSILON", f"{FLOAT}\n#undef DBL_EPSILON"),
    guarded("INT_MAX", f"{LIMITS}\n#undef INT_MAX"),
    guarded("__GNUC__", "#undef __GNUC__"),
    either("INT_MAX == 5", f"{LIMITS}\n#undef INT_MAX\n#define INT_MAX 5"),
    either("INT_MAX == 5", f"{LIMITS}\n#undef INT_MAX\n#define INT_MAX 5\n{LIMITS}"),
    guarded("M_PI", f"#define M_PI 3.0\n{FLOAT}"),
    either("defined A && !defined B", "#define A\n#define B\n#undef B"),
    either("A", "#define A B\n#define B 0"),
    either("A", "#define A B\n#define B 0\n#undef B\n#define B 4"),
    either("F(3) == 9 && F(2) != 5", "#define F(x) ((x) * (x))"),
    either("MAX(2, 3) == 3", "#define MAX(a, b) ((a) > (b) ? (a) : (b))"),
    either("CAT(1, 2) == 12", "#define CAT(a, b) a ## b"),
    either(
        "EXPANDED(N, 2) == 12", "#define N 1\n#define EXPANDED(a, b) C(a, b)\n#define C(a, b) a##b"
    ),
    either("F == 2", "#define F 2\n#define G(x) F"),
    either("defined F", "#define F(x)"),
    either("VERSION(2, 1) > VERSION(1, 9)", "#define VERSION(a, b) (a * 10000 + b)"),
    either(
        "COUNT(1, 2, 3) == 3",
        "#define AT(a, b, c, n, ...) n\n#define COUNT(...) AT(__VA_ARGS__, 3, 2, 1)",
    ),
    # branches that are not taken
    Preamble(
        "#if 0\n#error no\n#elif 1\nTAKEN(1)\n#elif 1/0\nTAKEN(2)\n#else\n#error no\n#endif\n"
    ),
    Preamble("#ifdef NOT_DEFINED\n#warning no\n#error no luck\n#else\nTAKEN(1)\n#endif\n"),
    Preamble("#if 1\nTAKEN(1)\n#elif SOME_THING(\nTAKEN(2)\n#endif\n", is_general=False),
    Preamble("#if 0\n#include <no_such_header.h>\n#unknown\n#endif\nTAKEN(1)\n"),
    Preamble("#if 0\n#if 1\nTAKEN(1)\n#else\nTAKEN(2)\n#endif\n#else\nTAKEN(3)\n#endif\n"),
    Preamble(
        "#if 1\n#if 0\nTAKEN(1)\n#elif 0\nTAKEN(2)\n#else\nTAKEN(3)\n#endif\nTAKEN(4)\n#endif\n"
    ),
    Preamble(
        "#if 0\n#elif 0\nTAKEN(1)\n#elif 1\nTAKEN(2)\n#elif 1\nTAKEN(3)\n#else\nTAKEN(4)\n#endif\n"
    ),
    Preamble("/* #if 0 */\n#if 1 /* and\n more */\nTAKEN(1)\n#endif\n// #else\nTAKEN(2)\n"),
    Preamble("#if 1 \\\n && 0\nTAKEN(1)\n#else\nTAKEN(2)\n#endif\n"),
    Preamble("  #  if 1\nTAKEN(1)\n#  else // no\nTAKEN(2)\n # endif /* 1 */\n"),
    Preamble(f"#if __STDC__ // always\n{FLOAT}\n#endif\n#ifdef DBL_MAX\nTAKEN(1)\n#endif\n"),
    # headers of one's own
    either("N == 3 && INT_MAX > 2", '#include "own.h"'),
    guarded("DBL_MAX", '#include "own.h"'),
    either("HAS_MAX", '#include "outer.h"'),
    either("DEEP == 7", '#include "in/deep.h"'),
    either("defined WITHOUT_PI", '#include "tests_math.h"'),
    either("defined WITHOUT_PI", f'{MATH}\n#include "tests_math.h"'),
    either("PLAIN(3)", "#include NAME", options=['-DNAME="plain.h"']),
    either("PLAIN(3) && PLAIN(2)", '#define NAME "plain.h"\n#include NAME'),
    either("N == 3", headers=['"own.h"']),
    either("N == 3", options=["-include", "own.h"]),
    # options
    either("N == 3", options=["-DN=3"]),
    either("N", options=["-DN"]),
    either("defined N", options=["-DN", "-UN"]),
    either("defined N", options=["-UN", "-DN=2"]),
    either("F(2) == 4", options=["-DF(x)=x*2"]),
    guarded("__GNUC__", options=["-U__GNUC__"]),
    guarded("DBL_MAX", FLOAT, options=["-DDBL_MAX=1"]),
]


def write_headers(folder: Path) -> None:
    """Write the headers that the texts include."""
    for name, text in OWN_HEADERS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def taken_in(text: str) -> list[int]:
    """Return the numbers of the lines that are left, in order."""
    return [int(number) for number in re.findall(r"\bTAKEN\s*\(\s*(\d+)\s*\)", text)]
