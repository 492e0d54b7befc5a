# SPDX-License-Identifier: BSD-3-Clause
"""Headers: the known ones are tables, the others are really included and hashed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.c_names import LITERALS, NEAREST_MINIMUM, OTHER_CONSTANTS
from pyop2cxx.kernel.parser.tokens import COMMENT, STRING
from pyop2cxx.kernel.parser.wire import call, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.kernel.parser.wire import Expr

# Everything in these that a kernel may use is in this module or in cpp/ir/known_functions.cpp.
KNOWN_HEADERS = frozenset(
    f"{name}.h"
    for name in ("math", "stdint", "stdbool", "string", "complex", "stddef", "float", "limits")
) | {"stdalign.h", "petsc.h", "petscsys.h"}

_NAMES_COMPLEX = re.compile(r"\b_?[Cc]omplex\b")

# Macros of <math.h> that work on every real type; only as builtins do they need no header.
RENAMED_FUNCTIONS = {
    name: f"__builtin_{name}" for name in ("isnan", "isinf", "isfinite", "signbit")
}

COMPLEX_MACROS = {"CMPLX": "float64", "CMPLXF": "float32"}
"""Macros of <complex.h> that make a number of two, and what they convert these to."""

# What needs which header where the compiler reads the text itself.
_NEEDS = {
    "<stdint.h>": re.compile(r"u?int(_least)?\d+_t|u?int(ptr|max)_t|(U?INT\d+|SIZE)_(MAX|MIN)"),
    "<stdbool.h>": re.compile(r"bool|true|false"),
    "<stddef.h>": re.compile(r"size_t|ptrdiff_t|NULL"),
    "<sys/types.h>": re.compile(r"ssize_t"),
    "<limits.h>": re.compile(r"U?(INT|LONG)_(MAX|MIN)"),
    "<float.h>": re.compile(r"(DBL|FLT)_\w+"),
    "<string.h>": re.compile(r"mem(cpy|move|set|cmp)"),
    "<stdlib.h>": re.compile(r"l?abs"),
    "<math.h>": re.compile(r"M_\w+|NAN|INFINITY|HUGE_VAL|signbit|is(nan|inf|finite)"),
}
_OF_COMPLEX = re.compile(
    r"_?[Cc]omplex|_Complex_I|(creal|cimag|cabs|carg|conj|cproj|csqrt|cexp|clog|cpow)f?"
    r"|c(sin|cos|tan)h?f?"
)
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
_DEFINE = re.compile(r"^[ \t]*#[ \t]*(define|undef)\b", re.MULTILINE)


def constant(name: str, line: int, *, has_complex: bool) -> Expr | None:
    """What a macro of a known header stands for, or None if `name` is none of them."""
    if name in LITERALS:
        return literal(LITERALS[name], line)
    if name in NEAREST_MINIMUM:
        maximum = literal(LITERALS[NEAREST_MINIMUM[name]], line)
        minus: Expr = ("unary", line, "-", None, (maximum,))
        return ("binary", line, "-", None, (minus, literal("1", line)))
    if name not in OTHER_CONSTANTS:
        return None
    if name == "NULL":
        return ("cast", line, "", ("void", False, (("*", 0, False, False),)), (literal("0", line),))
    if name == "INFINITY":
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
    names = {token for token in tokens if token.isidentifier()}
    found = [
        header for header, known in _NEEDS.items() if any(known.fullmatch(name) for name in names)
    ]
    if any(_core.is_known_function(name) and not _NOT_OF_MATH.fullmatch(name) for name in names):
        found.append("<math.h>")
    if not cpp and any(_OF_COMPLEX.fullmatch(name) for name in names):
        found.append("<complex.h>")
    return tuple(header for header in dict.fromkeys(found) if header not in given)


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


def follow_macros(text: str, named: Iterable[str]) -> bool:
    """Say whether a text includes one of these headers behind a macro that it defines."""
    first = _DEFINE.search(text)
    behind = included(text[first.end() :]) if first is not None else ()
    return not {*named}.isdisjoint(behind)


def without_includes(text: str) -> str:
    """`text` with every include line emptied, so that lines keep their numbers."""
    return _INCLUDE.sub("", text)


def contents(headers: Iterable[str], include_dirs: Sequence[str]) -> tuple[str, ...]:
    """Name and text, alternating, of the given headers and of all they include in turn.

    A header that is in none of the folders is the compiler's own affair: only its name counts.
    """
    found: dict[str, str] = {}
    queue = [(header, tuple(Path(folder) for folder in include_dirs)) for header in headers]
    for header, folders in queue:
        name = header[1:-1]
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if name in found or path is None:
            found.setdefault(name, "")
            continue
        found[name] = path.read_text(encoding="utf-8", errors="replace")
        queue += [(inner, (path.parent, *folders)) for inner in included(found[name])]
    return tuple(part for item in found.items() for part in item)
