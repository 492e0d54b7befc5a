# SPDX-License-Identifier: BSD-3-Clause
"""Headers: the known ones are tables, the others are really included and hashed."""

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

# Everything in these that a kernel may use is in this module or in cpp/kernel/known_functions.cpp.
KNOWN_HEADERS = frozenset(
    f"{name}.h"
    for name in ("math", "stdint", "stdbool", "string", "complex", "stddef", "float", "limits")
) | {"stdalign.h", "petsc.h", "petscsys.h"}

_NAMES_COMPLEX = re.compile(r"\b_?[Cc]omplex\b")

# Macros of <math.h> that work on every real type need no header only as builtins.
RENAMED_FUNCTIONS = {
    **{name: f"__builtin_{name}" for name in ("isnan", "isinf", "isfinite", "signbit")},
    # `long long` is `long` wherever kernels run
    **{f"ll{name}{kind}": f"l{name}{kind}" for name in ("rint", "round") for kind in ("", "f")},
}

COMPLEX_MACROS = {"CMPLX": "float64", "CMPLXF": "float32"}
"""Macros of <complex.h> that make a number of two, and what they convert these to."""

# What needs which header where the compiler reads the text itself, besides constants.
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
"""Functions of <math.h> that are not known, and whose names a text may have for its variables."""
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
# What a printed text needs which header for, as it has no prototype of it.
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
# Macros for which a known header has to be included: they are no constants here.
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
    """What a macro of a known header stands for, or None if `name` is none of them."""
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
    """A header with its delimiters, from any spelling: ``a.h``, ``<a.h>``, ``#include <a.h>``."""
    found = _INCLUDE.match(header)
    if found is not None:
        return found.group(1)
    header = header.strip()
    return header if header[:1] in ("<", '"') else f"<{header}>"


def implied(text: str) -> tuple[str, ...]:
    """Return the headers that a text needs without naming them: PyOP2 includes <complex.h>."""
    # a word that is not there at all is found out at once
    names_it = "omplex" in text and _NAMES_COMPLEX.search(text)
    return ("<complex.h>",) if names_it else ()


def needed(tokens: Iterable[str], given: Iterable[str], *, cpp: bool) -> tuple[str, ...]:
    """Return the known headers that a text needs where the compiler reads it itself.

    Args:
        tokens: Of the text.
        given: The headers it names, which are included as they are.
        cpp: Whether it is C++, which has complex numbers of its own.
    """
    read = [*tokens]
    names = {token for token in read if token.isidentifier()} - _declared(read)
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


def _declared(tokens: Sequence[str]) -> set[str]:
    """Return the functions that a text declares or defines itself: a type stands before them."""
    threes = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return {
        name
        for before, name, after in threes
        if after == "(" and before.isidentifier() and before not in _BEFORE_VALUES
    }


def missing(
    functions: Iterable[str], names: Iterable[str], named: Iterable[str]
) -> tuple[str, ...]:
    """Return the headers that the printed text of a kernel with a tree needs besides its own.

    Args:
        functions: What it calls without defining it.
        names: What it names without declaring it. Such a name is a macro only with its header.
        named: The headers that the text or the user's headers name, with delimiters.
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
    """Return options that define PETSc's names where a text uses them without PETSc."""
    names = {*tokens} & _PETSC_NAMES.keys()
    return tuple(f"-D{name}={_PETSC_NAMES[name]}" for name in sorted(names))


def with_one_long(text: str) -> str:
    """Return C or C++ text where `long long` is `long`, which has as many bits wherever we run.

    Dats of int64 are `long` in generated text, and a pointer to the one is none to the other.
    Nothing changes its place.
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
    """The headers that `text` names, in order, with their delimiters."""
    # a word that is not there at all is found out at once
    return tuple(dict.fromkeys(_INCLUDE.findall(text))) if "include" in text else ()


def n_included(text: str) -> int:
    """Return how many lines name a header in the usual way."""
    return len(_INCLUDE.findall(text))


def follow_macros(text: str, named: Iterable[str], *, reserved: bool = False) -> bool:
    """Say whether a text includes one of these headers behind a macro that it defines.

    Args:
        text: C.
        named: The headers, with delimiters.
        reserved: Whether only macros count that headers of C go by, as ``_GNU_SOURCE``.
    """
    first = (_FEATURE if reserved else _DEFINE).search(text)
    behind = included(text[first.end() :]) if first is not None else ()
    return not {*named}.isdisjoint(behind)


def without_includes(text: str) -> str:
    """`text` with every include line emptied, so that lines keep their numbers."""
    return _INCLUDE.sub("", text)
