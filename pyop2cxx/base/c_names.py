# SPDX-License-Identifier: BSD-3-Clause
"""Names that a kernel's text has without declaring them, so that nothing else may have them."""

from __future__ import annotations

import re

TYPE_NAMES = {
    "void": "void",
    "bool": "bool",
    "_Bool": "bool",
    "char": "int8",
    "int": "int32",
    "float": "float32",
    "double": "float64",
    "size_t": "uint64",
    "ssize_t": "int64",
    "ptrdiff_t": "int64",
    "intptr_t": "int64",
    "uintptr_t": "uint64",
    "intmax_t": "int64",
    "uintmax_t": "uint64",
    "PetscInt": "int32",
    "PetscReal": "float64",
    "PetscScalar": "float64",
    "PetscBool": "bool",
    **{f"int{bits}_t": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"int_least{bits}_t": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint_least{bits}_t": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
"""Type names in one word, and the scalar each is. `long` has 64 bits wherever we run."""

LITERALS = {
    "true": "1",
    "false": "0",
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    "PETSC_PI": "3.14159265358979323846",
    "DBL_MAX": "1.7976931348623157e+308",
    "DBL_MIN": "2.2250738585072014e-308",
    "DBL_EPSILON": "2.2204460492503131e-16",
    "FLT_MAX": "3.40282347e+38f",
    "FLT_MIN": "1.17549435e-38f",
    "FLT_EPSILON": "1.19209290e-07f",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295u",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "INT8_MAX": "127",
    "INT16_MAX": "32767",
    "INT32_MAX": "2147483647",
    "INT64_MAX": "9223372036854775807L",
    "UINT8_MAX": "255",
    "UINT16_MAX": "65535",
    "UINT32_MAX": "4294967295u",
    "UINT64_MAX": "18446744073709551615UL",
    "SIZE_MAX": "18446744073709551615UL",
}
"""Macros of C's headers, and of PETSc's, that stand for a literal."""
NEAREST_MINIMUM = {
    f"{name}_MIN": f"{name}_MAX" for name in ("INT", "LONG", "INT8", "INT16", "INT32", "INT64")
}
"""C spells a minimum as -max - 1."""
OTHER_CONSTANTS = frozenset({"NULL", "INFINITY", "HUGE_VAL", "NAN", "_Complex_I", "I"})
"""Macros that stand for more than a literal; `I` only where numbers are complex."""

_KEYWORDS = frozenset(
    (
        *("alignas", "alignof", "asm", "auto", "break", "case", "char", "const", "constexpr"),
        *("continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto"),
        *("if", "inline", "int", "long", "nullptr", "register", "restrict", "return", "short"),
        *("signed", "sizeof", "static", "static_assert", "struct", "switch", "thread_local"),
        *("typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while"),
        "offsetof",
    )
)
"""Of C23; some compilers have these in older C, too. `offsetof` looks like one to the grammar."""
_PREDEFINED = frozenset({"linux", "unix", "i386"})
"""What GNU's compilers replace by 1, on some machines."""

_RESERVED = re.compile(r"_[A-Z_]\w*")


def owner_of(name: str) -> str | None:
    """Say whose a name is in C, so that no value of a program can bear it; None: nobody's.

    Names of functions can be borne: a variable `y0` hides the function.
    """
    if name in _KEYWORDS:
        return "a keyword of C"
    if name in TYPE_NAMES:
        return "a type of C or of its headers"
    if name in LITERALS or name in NEAREST_MINIMUM or name in OTHER_CONSTANTS:
        return "a constant of C's headers"
    if _RESERVED.match(name) or name in _PREDEFINED:
        return "reserved for C's compilers"
    return None
