# SPDX-License-Identifier: BSD-3-Clause
"""What C's headers give: their numbers as the compiler lists them, and calls of their functions."""

from __future__ import annotations

import re
import subprocess

HEADERS = ("float", "limits", "stdint", "math", "complex", "string", "stdlib", "stddef")
_NO_NUMBERS = re.compile(
    r"_.*|[a-z].*|NULL|I|HUGE_VALL|CMPLX\w*|\w+_C|MB_CUR_MAX|\w+_H|W[A-Z]+STATUS.*|PTHREAD_.*"
)
_NAMES = {
    "real": "acos asin atan cos sin tan cosh sinh tanh asinh atanh exp exp2 expm1 log log10 log1p "
    "log2 logb sqrt cbrt fabs erf erfc tgamma lgamma ceil floor trunc round rint nearbyint j0 j1 "
    "y0 y1 gamma significand",
    "of two": "atan2 pow hypot fmod remainder fmin fmax fdim copysign nextafter drem scalb",
    "whole": "ilogb lround lrint llround llrint finite",
    "classes": "fpclassify isfinite isinf isnan isnormal signbit",
    "orders": "isgreater isgreaterequal isless islessequal islessgreater isunordered",
    "complex": "cacos casin catan ccos csin ctan cacosh casinh catanh ccosh csinh ctanh cexp clog "
    "csqrt conj cproj",
}
_REAL, _REAL_2, _WHOLE, _CLASSES, _ORDERS, _COMPLEX = (words.split() for words in _NAMES.values())

CALLS = {
    "math": [
        *(f"{name}{kind}(0.5{kind})" for name in _REAL for kind in ("", "f", "l")),
        *(f"acosh{kind}(1.5{kind})" for kind in ("", "f", "l")),
        *(f"{name}{kind}(0.5{kind}, 2.0{kind})" for name in _REAL_2 for kind in ("", "f", "l")),
        *(f"{name}{kind}(2.5{kind})" for name in _WHOLE for kind in ("", "f", "l")),
        *(f"{name}(x[1])" for name in _CLASSES),
        *(f"{name}((float)x[1])" for name in _CLASSES),
        *(f"{name}(x[1], 2.0)" for name in _ORDERS),
        *("fma(2.0, 3.0, 1.0)", "fmaf(2.0f, 3.0f, 1.0f)", "fmal(2.0l, 3.0l, 1.0l)"),
        *("ldexp(1.0, 3)", "scalbn(1.0, 3)", "scalbln(1.0, 3L)", "jn(2, 0.5)", "yn(2, 0.5)"),
        *("jnf(2, 0.5f)", "nexttoward(1.0, 2.0l)", 'isnan(nan(""))', "isnormal(1e-310)"),
        *("isnormal(1e-40f)", "fpclassify(1e-310) == FP_SUBNORMAL", "math_errhandling >= 0"),
    ],
    "complex": [
        *(f"creal{k}({name}{k}(0.5{k} + 0.1{k} * I))" for name in _COMPLEX for k in ("", "f", "l")),
        *(
            f"{name}{k}(0.5{k} + 0.1{k} * I)"
            for name in ("cabs", "carg", "cimag")
            for k in ("", "f")
        ),
        *("creal(cpow(0.5 + I, 2.0))", "cimag(CMPLX(1, 2))", "cimagf(CMPLXF(1, 2))"),
    ],
    "stdint": [f"{name}INT{bits}_C(3)" for name in ("", "U") for bits in (8, 16, 32, 64, "MAX")],
    "string": [
        *('strlen("abc")', 'strcmp("a", "b") < 0', 'strncmp("ab", "ac", 1)', 'strspn("aab", "a")'),
        *(
            'strcspn("aab", "b")',
            'strchr("abc", 98)[0]',
            'strrchr("abc", 98)[0]',
            "memcmp(x, x, 8)",
        ),
        *('strstr("abc", "bc")[0]', 'strpbrk("abc", "c")[0]', '((char *)memchr("ab", 98, 2))[0]'),
    ],
    "stdlib": [
        *("abs(-3)", "labs(-3L)", "llabs(-3LL)", 'atoi("3")', 'atof("3.5")', 'atol("3")'),
        *('atoll("3")', 'strtol("12", 0, 8)', 'strtod("1.5", 0)', 'strtoul("7", 0, 10)'),
        *("div(7, 2).rem", "ldiv(7, 2).quot", 'strtof("1.5", 0)', 'strtoll("-5", 0, 10)'),
    ],
    "tgmath": [
        *(f"{name}(0.5)" for name in ("sin", "fabs", "exp", "sqrt", "round")),
        *("sizeof sin(0.5f)", "sizeof sin(0.5)", "creal(sqrt(-1.0 + 0.0 * I))", "pow(0.5f, 2)"),
        *("fabs(3.0 + 4.0 * I)", "fmax(1, 2.5f)", "atan2(1.0f, 2.0f)"),
    ],
}
"""Expressions that each header makes possible, by the header's name."""


def numbers_of(header: str, compiler: str = "cc") -> list[str]:
    """Return the macros of a header, and of those that it includes, that stand for a number."""
    listed = []
    for text in ("", f"#include <{header}.h>\n"):
        command = [compiler, "-std=gnu11", "-dM", "-E", "-x", "c", "-"]
        said = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        listed.append({*re.findall(r"^#define (\w+) \S", said.stdout, re.MULTILINE)})
    # a compiler's FLT_EVAL_METHOD follows the processor that it compiles for
    names = listed[1] - listed[0] - {"FLT_EVAL_METHOD"}
    return sorted(name for name in names if not _NO_NUMBERS.fullmatch(name))
