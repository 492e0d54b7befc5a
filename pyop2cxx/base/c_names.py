# SPDX-License-Identifier: BSD-3-Clause
"""Names known in a kernel's text without a declaration, and therefore reserved."""

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
"""Type names of a single word, with the scalar type. `long` always has 64 bits."""

_TOP = {8: "127", 16: "32767", 32: "2147483647", 64: "9223372036854775807L"}
_FULL = {8: "255", 16: "65535", 32: "4294967295u", 64: "18446744073709551615UL"}
_SIZED = {
    **{f"{bits}": bits for bits in (8, 16, 32, 64)},
    **{f"_LEAST{bits}": bits for bits in (8, 16, 32, 64)},
    **{f"_FAST{bits}": 8 if bits == 8 else 64 for bits in (8, 16, 32, 64)},
    **{"PTR": 64, "MAX": 64},
}

MACROS: dict[str, dict[str, str]] = {
    "stdbool.h": {"true": "1", "false": "0"},
    "float.h": {
        "DBL_MAX": "1.7976931348623157e+308",
        "DBL_MIN": "2.2250738585072014e-308",
        "DBL_EPSILON": "2.2204460492503131e-16",
        "DBL_TRUE_MIN": "4.9406564584124654e-324",
        "FLT_MAX": "3.40282347e+38f",
        "FLT_MIN": "1.17549435e-38f",
        "FLT_EPSILON": "1.19209290e-07f",
        "FLT_TRUE_MIN": "1.40129846e-45f",
        **{"DBL_DIG": "15", "DBL_MANT_DIG": "53", "DBL_DECIMAL_DIG": "17", "DBL_HAS_SUBNORM": "1"},
        **{"DBL_MAX_EXP": "1024", "DBL_MIN_EXP": "-1021"},
        **{"DBL_MAX_10_EXP": "308", "DBL_MIN_10_EXP": "-307"},
        **{"FLT_DIG": "6", "FLT_MANT_DIG": "24", "FLT_DECIMAL_DIG": "9", "FLT_HAS_SUBNORM": "1"},
        **{"FLT_MAX_EXP": "128", "FLT_MIN_EXP": "-125"},
        **{"FLT_MAX_10_EXP": "38", "FLT_MIN_10_EXP": "-37"},
        **{"FLT_RADIX": "2", "FLT_ROUNDS": "1", "FLT_EVAL_METHOD": "0"},
    },
    "limits.h": {
        **{"CHAR_BIT": "8", "MB_LEN_MAX": "16", "CHAR_MAX": "127", "SCHAR_MAX": "127"},
        **{"UCHAR_MAX": "255", "SHRT_MAX": "32767", "USHRT_MAX": "65535"},
        **{"INT_MAX": _TOP[32], "UINT_MAX": _FULL[32]},
        **{f"{kind}_MAX": _TOP[64] for kind in ("LONG", "LLONG", "SSIZE")},
        **{f"{kind}_MAX": _FULL[64] for kind in ("ULONG", "ULLONG")},
    },
    "stdint.h": {
        **{f"INT{name}_MAX": _TOP[bits] for name, bits in _SIZED.items()},
        **{f"UINT{name}_MAX": _FULL[bits] for name, bits in _SIZED.items()},
        **{"SIZE_MAX": _FULL[64], "PTRDIFF_MAX": _TOP[64], "SIG_ATOMIC_MAX": _TOP[32]},
        **{"WCHAR_MAX": _TOP[32], "WINT_MAX": _FULL[32], "WINT_MIN": "0u"},
    },
    "math.h": {
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
        **{"FP_NAN": "0", "FP_INFINITE": "1", "FP_ZERO": "2", "FP_SUBNORMAL": "3"},
        **{"FP_NORMAL": "4", "MATH_ERRNO": "1", "MATH_ERREXCEPT": "2"},
    },
    "petsc.h": {"PETSC_PI": "3.14159265358979323846"},
}
"""Macros for literals, by the header of C or PETSc."""
LITERALS = {name: value for macros in MACROS.values() for name, value in macros.items()}
"""The macros of all headers for literals."""
NEAREST_MINIMUM = {
    f"{name}_MIN": f"{name}_MAX"
    for name in (
        *("SCHAR", "CHAR", "SHRT", "INT", "LONG", "LLONG", "PTRDIFF", "SIG_ATOMIC", "WCHAR"),
        *(f"INT{name}" for name in _SIZED),
    )
}
"""C spells a minimum as -max - 1."""
OTHER_CONSTANTS = frozenset({"NULL", "INFINITY", "HUGE_VAL", "HUGE_VALF", "NAN", "_Complex_I", "I"})
"""Macros for more than a literal; `I` only if numbers are complex."""
LONG_DOUBLES = {
    **{
        f"LDBL_{name}": f"__LDBL_{name}__"
        for name in (
            *("MAX", "MIN", "EPSILON", "DIG", "MANT_DIG", "MAX_EXP", "MIN_EXP", "MAX_10_EXP"),
            *("MIN_10_EXP", "DECIMAL_DIG"),
        )
    },
    **{"LDBL_TRUE_MIN": "__LDBL_DENORM_MIN__", "LDBL_HAS_SUBNORM": "__LDBL_HAS_DENORM__"},
    "DECIMAL_DIG": "__DECIMAL_DIG__",
}
"""Macros of <float.h> with values depending on the processor, and the compilers' names for them."""
INTEGER_SUFFIXES = {
    **{f"INT{bits}_C": "L" if bits == 64 else "" for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}_C": {32: "U", 64: "UL"}.get(bits, "") for bits in (8, 16, 32, 64)},
    **{"INTMAX_C": "L", "UINTMAX_C": "UL"},
}
"""Macros of <stdint.h> for typed literals, with the appended suffix."""
CLASSIFICATIONS = (
    *("isnan", "isinf", "isfinite", "signbit", "fpclassify", "isnormal", "isgreater"),
    *("isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"),
)
"""Macros of <math.h> with the syntax of functions, for any real type."""
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
"""Of C23; some compilers have them in older C, too. `offsetof` looks like a keyword to the grammar.
"""
_PREDEFINED = frozenset({"linux", "unix", "i386"})
"""Names replaced by 1 in GNU's compilers, on some machines."""

_RESERVED = re.compile(r"_[A-Z_]\w*")


def is_word(name: str) -> bool:
    """Return whether no function can have a name: keywords, replaced names, and `main`."""
    return (name in _KEYWORDS and name != "offsetof") or name in _PREDEFINED | {"_Bool", "main"}


def owner_of(name: str) -> str | None:
    """Return the owner of a name in C, which no value of a program can have; None: free.

    Names of functions can be borne: a variable `y0` hides the function.
    """
    if name in _KEYWORDS:
        return "a keyword of C"
    if name in TYPE_NAMES:
        return "a type of C or of its headers"
    if any(name in known for known in (LITERALS, NEAREST_MINIMUM, OTHER_CONSTANTS, LONG_DOUBLES)):
        return "a constant of C's headers"
    if _RESERVED.match(name) or name in _PREDEFINED:
        return "reserved for C's compilers"
    return None
