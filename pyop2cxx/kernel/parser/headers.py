# SPDX-License-Identifier: BSD-3-Clause
"""Headers: known headers are tables, others are really included and hashed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.c_names import (
    CLASSIFICATIONS,
    LITERALS,
    LONG_DOUBLES,
    MACROS,
    NEAREST_MINIMUM,
    OTHER_CONSTANTS,
)
from pyop2cxx.kernel.parser.tokens import COMMENT, STRING
from pyop2cxx.kernel.parser.wire import call, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.kernel.parser.wire import Expr

# All usable names of known headers are in this module or in cpp/kernel/known_functions.cpp.
KNOWN_HEADERS = frozenset(
    f"{name}.h"
    for name in ("math", "stdint", "stdbool", "string", "complex", "stddef", "float", "limits")
) | {"stdalign.h", "petsc.h", "petscsys.h"}

_NAMES_COMPLEX = re.compile(r"\b_?[Cc]omplex\b")

# Macros of <math.h> for every real type need no header only as builtins.
RENAMED_FUNCTIONS = {
    **{name: f"__builtin_{name}" for name in ("isnan", "isinf", "isfinite", "signbit")},
    # `long long` is `long` wherever kernels run
    **{f"ll{name}{kind}": f"l{name}{kind}" for name in ("rint", "round") for kind in ("", "f")},
}

COMPLEX_MACROS = {"CMPLX": "float64", "CMPLXF": "float32"}
"""Macros of <complex.h> that combine two numbers, and the target type."""

# Headers needed by names if the compiler reads the text, besides constants.
_NEEDS = {
    "<stdint.h>": re.compile(r"u?int(_(least|fast))?\d+_t|u?int(ptr|max)_t|U?INT(\d+|MAX)_C"),
    "<stdbool.h>": re.compile(r"bool"),
    "<stddef.h>": re.compile(r"size_t|ptrdiff_t|NULL"),
    "<sys/types.h>": re.compile(r"ssize_t"),
    "<string.h>": re.compile(r"mem(cpy|move|set|cmp)"),
    "<stdlib.h>": re.compile(r"l?abs"),
    "<math.h>": re.compile(rf"NAN|INFINITY|HUGE_VAL[FL]?|{'|'.join(CLASSIFICATIONS)}"),
}
_OF_MATH = re.compile(
    r"([jy][01n]|gamma|exp10|sincos|scalb|scalbln|nan|nexttoward|remquo|significand|drem|finite)[fl]?"
)
"""Unknown functions of <math.h>, whose names a text may use for variables."""
_CONSTANTS = {
    "float.h": frozenset(MACROS["float.h"]) | LONG_DOUBLES.keys(),
    "math.h": frozenset(MACROS["math.h"]),
    "stdbool.h": frozenset(MACROS["stdbool.h"]),
    **{
        header: frozenset(MACROS[header])
        | {least for least, most in NEAREST_MINIMUM.items() if most in MACROS[header]}
        for header in ("limits.h", "stdint.h")
    },
}
# Headers needed by a printed text, which has no prototypes.
_PROVIDES = {
    "<math.h>": re.compile(rf"{'|'.join(CLASSIFICATIONS)}|{_OF_MATH.pattern}"),
    "<string.h>": re.compile(r"(str|mem)\w+"),
    "<stdlib.h>": re.compile(
        r"l{0,2}(abs|div)|ato[fil]l?|strto\w+|[mc]alloc|realloc|free|qsort|bsearch|s?rand"
        r"|[delmnj]rand48|abort|exit"
    ),
    "<complex.h>": re.compile(r"CMPLXL|c(a?(cos|sin|tan)h?|log10)[fl]?"),
}
_WITH_FUNCTIONS = frozenset({"<math.h>", "<string.h>", "<complex.h>"})
# Macros that need a known header: no constants here.
_MACROS_LEFT = {
    "<math.h>": re.compile(r"M_\w+|FP_\w+|HUGE_VALL|MAXFLOAT|math_errhandling|SNAN\w*"),
    "<limits.h>": re.compile(r"_POSIX\w+|_XOPEN\w+|\w+_(MAX|MIN|BIT)|MAX_\w+|PIPE_BUF|PTHREAD_\w+"),
    "<float.h>": re.compile(r"(FLT|DBL|LDBL)\w+"),
}
_OF_COMPLEX = re.compile(
    r"_?[Cc]omplex|_Complex_I|(creal|cimag|cabs|carg|conj|cproj|csqrt|cexp|clog|cpow)f?"
    r"|c(sin|cos|tan)h?f?"
)
_BEFORE_VALUES = frozenset({"return", "else", "do", "case", "sizeof", "goto"})
_NOT_OF_MATH = re.compile(r"mem\w+|l?abs")
_PETSC_NAMES = {
    "PetscInt": "int",
    "PetscReal": "double",
    "PetscScalar": "double",
    "PetscBool": "_Bool",
    "PETSC_PI": LITERALS["PETSC_PI"],
}

_LONG_LONG = re.compile(rf"{COMMENT}|{STRING}|\blong(?P<blanks>\s+)long\b", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"][^>"\n]+[>"]).*$', re.MULTILINE)
_FEATURE = re.compile(r"^[ \t]*#[ \t]*(define|undef)[ \t]+_", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*(define|undef)\b", re.MULTILINE)


def constant(name: str, line: int, *, has_complex: bool) -> Expr | None:
    """Return the expansion of a macro of a known header, or None for other names."""
    if name in LITERALS:
        value = literal(LITERALS[name].removeprefix("-"), line)
        return ("unary", line, "-", None, (value,)) if LITERALS[name][0] == "-" else value
    if name in LONG_DOUBLES:
        return ("name", line, LONG_DOUBLES[name], None, ())
    if name in NEAREST_MINIMUM:
        maximum = literal(LITERALS[NEAREST_MINIMUM[name]], line)
        minus: Expr = ("unary", line, "-", None, (maximum,))
        return ("binary", line, "-", None, (minus, literal("1", line)))
    if name not in OTHER_CONSTANTS:
        return None
    if name == "NULL":
        return ("cast", line, "", ("void", False, (("*", 0, False, False),)), (literal("0", line),))
    if name in ("INFINITY", "HUGE_VALF"):
        return call("__builtin_inff", line)
    if name == "HUGE_VAL":
        return call("__builtin_inf", line)
    if name == "NAN":
        return call("__builtin_nanf", line, literal('""', line))
    if name == "_Complex_I" or (name == "I" and has_complex):
        return call("__builtin_complex", line, literal("0.0f", line), literal("1.0f", line))
    return None


def spelled(header: str) -> str:
    """Return a header with delimiters, for any spelling: ``a.h``, ``<a.h>``, ``#include <a.h>``."""
    found = _INCLUDE.match(header)
    if found is not None:
        return found.group(1)
    header = header.strip()
    return header if header[:1] in ("<", '"') else f"<{header}>"


def implied(text: str) -> tuple[str, ...]:
    """Return headers needed but not named by a text: PyOP2 includes <complex.h>."""
    # a missing word is found quickly
    names_it = "omplex" in text and _NAMES_COMPLEX.search(text)
    return ("<complex.h>",) if names_it else ()


def needed(tokens: Iterable[str], given: Iterable[str], *, cpp: bool) -> tuple[str, ...]:
    """Return the known headers needed by a text read by the compiler.

    Args:
        tokens: Of the text.
        given: Headers named in the text, included unchanged.
        cpp: Whether the text is C++, with other complex numbers.
    """
    read = [*tokens]
    names = {token for token in read if token.isidentifier()} - declared(read)
    found = [f"<{header}>" for header, known in _CONSTANTS.items() if not names.isdisjoint(known)]
    found += [
        header for header, known in _NEEDS.items() if any(known.fullmatch(name) for name in names)
    ]
    called = names & {name for name, after in pairwise(read) if after == "("}
    if any(_OF_MATH.fullmatch(name) for name in called) or any(
        _core.is_known_function(name) and not _NOT_OF_MATH.fullmatch(name) for name in names
    ):
        found.append("<math.h>")
    if not cpp and any(_OF_COMPLEX.fullmatch(name) for name in names):
        found.append("<complex.h>")
    return tuple(header for header in dict.fromkeys(found) if header not in given)


def declared(tokens: Sequence[str]) -> set[str]:
    """Return the functions declared or defined in a text: a type stands before the name."""
    threes = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return {
        name
        for before, name, after in threes
        if after == "(" and before.isidentifier() and before not in _BEFORE_VALUES
    }


def missing(
    functions: Iterable[str], names: Iterable[str], named: Iterable[str]
) -> tuple[str, ...]:
    """Return the headers needed by the printed text of a kernel besides the named.

    Args:
        functions: Functions called without a definition.
        names: Names without a declaration, which are macros only with the header.
        named: Headers named in the text or in the user's headers, with delimiters.
    """
    given = {*named}
    wanted = {
        header
        for header, macros in _MACROS_LEFT.items()
        if header in given and any(macros.fullmatch(name) for name in names)
    }
    for name in functions:
        if _core.is_known_function(name) or name.startswith("__"):
            continue
        found = {header for header, provided in _PROVIDES.items() if provided.fullmatch(name)}
        if name.endswith("l") and _core.is_known_function(name[:-1]):
            found = {"<complex.h>" if _OF_COMPLEX.fullmatch(name[:-1]) else "<math.h>"}
        wanted |= found or given & _WITH_FUNCTIONS
    return tuple(sorted(header for header in wanted if is_known(header) or header not in given))


def petsc_names(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return options with definitions of PETSc's names used in a text without PETSc."""
    names = {*tokens} & _PETSC_NAMES.keys()
    return tuple(f"-D{name}={_PETSC_NAMES[name]}" for name in sorted(names))


def with_one_long(text: str) -> str:
    """Return C or C++ text with `long` in place of `long long`, of equal size.

    Dats of int64 are `long` in generated text, and pointers to both types are incompatible. All
    text stays in place.
    """
    if "long" not in text:
        return text
    return _LONG_LONG.sub(_one_long, text)


def _one_long(match: re.Match[str]) -> str:
    between = match.group("blanks")
    return match.group() if between is None else f"long{between}    "


def is_known(header: str) -> bool:
    """True if `header` (with delimiters) needs no include."""
    return header[1:-1] in KNOWN_HEADERS


def included(text: str) -> tuple[str, ...]:
    """Return the headers named in `text`, in order, with their delimiters."""
    # a missing word is found quickly
    return tuple(dict.fromkeys(_INCLUDE.findall(text))) if "include" in text else ()


def n_included(text: str) -> int:
    """Return how many lines name a header in the usual way."""
    return len(_INCLUDE.findall(text))


def follow_macros(text: str, named: Iterable[str], *, reserved: bool = False) -> bool:
    """Return whether a text includes any of the headers behind a macro definition.

    Args:
        text: C.
        named: The headers, with delimiters.
        reserved: Whether only reserved macros of C's headers count, as ``_GNU_SOURCE``.
    """
    first = (_FEATURE if reserved else _DEFINE).search(text)
    behind = included(text[first.end() :]) if first is not None else ()
    return not {*named}.isdisjoint(behind)


def without_includes(text: str) -> str:
    """Return `text` with all include lines emptied; lines keep their numbers."""
    return _INCLUDE.sub("", text)
