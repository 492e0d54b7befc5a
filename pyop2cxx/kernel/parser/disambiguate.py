# SPDX-License-Identifier: BSD-3-Clause
"""Tell the parser the names of types.

C cannot be parsed without the names of types: ``(a) - b`` is a cast or a difference. tree-sitter
knows only C's own type names and guesses the rest, so names of scalar types are replaced by its
words, superfluous parentheses with a wrong guess are blanked out, products similar to a function's
type get two signs, dropped again by the parser, and sizes of types get parentheses. Lines do not
move.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyop2cxx.base.c_names import TYPE_NAMES
from pyop2cxx.kernel.parser.branches import without_comments
from pyop2cxx.kernel.parser.tokens import substitute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Type names the grammar takes for granted and C kernels have no other use for.
COMPLEX_DOUBLE = "char64_t"
COMPLEX_FLOAT = "char32_t"
WORDS = {**TYPE_NAMES, COMPLEX_DOUBLE: "complex128", COMPLEX_FLOAT: "complex64"}

# A word of the grammar for each scalar, to replace other names.
_WORD_OF = {
    "bool": "bool",
    "float32": "float",
    "float64": "double",
    "complex64": COMPLEX_FLOAT,
    "complex128": COMPLEX_DOUBLE,
    "void": "void",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_GRAMMAR_WORDS = {*_WORD_OF.values(), "char", "int", "size_t", "ssize_t", "ptrdiff_t"} | {
    "intptr_t",
    "uintptr_t",
}
_OTHER_NAMES = {
    name: _WORD_OF[base] for name, base in TYPE_NAMES.items() if name not in _GRAMMAR_WORDS
}
_MAY_HAVE_OTHER_NAMES = re.compile("|".join(rf"\b{name}\b" for name in _OTHER_NAMES))

_COMPLEX = re.compile(
    r"\b(?:(double|float)(\s+)(?:_Complex|complex|__complex__)"
    r"|(?:_Complex|complex|__complex__)(\s+)(double|float))\b"
)
# A parenthesis at the start of an operand, around a name possibly followed by brackets.
_SUSPECT = re.compile(r"(?:[-+*/%=<>&|^!~?:,(\[{;)]|return)\s*\(\s*[A-Za-z_]\w*\s*[\[()]")
# ... (a * (b or (f(x) * (b: a function of some b returning a pointer to a?
_SUSPECT_PRODUCT = re.compile(r"\(\s*[A-Za-z_]\w*\s*(?:\([^;{}]*)?\*\s*\(\s*[A-Za-z_]")
# sizeof (int) - 1 is read as the size of a cast.
_SIZE = re.compile(r"\bsizeof\b")
_PIECE = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|\d(?:[eEpP][+-]|[\w.])*|\w+|[^\s\w]",
    re.DOTALL,
)
_TYPE_WORDS = {"const", "unsigned", "signed", "long", "short", "*", *WORDS}
_BEGIN_TYPES = (_TYPE_WORDS | {"volatile", "struct", "union", "enum"}) - {"*"}
_NOT_OPERANDS = {"return", "else", "do", "case", "sizeof"}


def unambiguous(text: str, aliases: Mapping[str, str], type_names: frozenset[str]) -> str:
    """Return `text` in a form read correctly by tree-sitter.

    Args:
        text: C without directives.
        aliases: The user's own names for scalars, and the scalar each is.
        type_names: The user's names for pointers and arrays.
    """
    text = _COMPLEX.sub(_complex_word, text) if "omplex" in text else text
    replacements = {name: _WORD_OF[base] for name, base in aliases.items()}
    if _MAY_HAVE_OTHER_NAMES.search(text) is not None:
        replacements |= _OTHER_NAMES
    if replacements:
        text = substitute(text, replacements)
    if not any(shape.search(text) for shape in (_SUSPECT, _SUSPECT_PRODUCT, _SIZE)):
        return text
    bare = without_comments(text)  # of the same length
    words = _PIECE.findall(bare)
    # with two words behind
    opening = [i for i, word in enumerate(words[:-2]) if word == "("]
    changes = dict.fromkeys(_superfluous(words, opening, type_names), " ")
    changes |= dict.fromkeys(_products(words, opening, type_names), "(+ +")
    for i, end in _sizes_of_types(words, opening, type_names):
        changes |= {i: "(s", end: "))"}
    if not changes:
        return text
    characters, starts = list(text), [piece.start() for piece in _PIECE.finditer(bare)]
    for i, new in changes.items():
        characters[starts[i]] = new
    return "".join(characters)


def _complex_word(match: re.Match[str]) -> str:
    scalar = match.group(1) or match.group(4)
    blanks = match.group(2) or match.group(3)
    return (COMPLEX_DOUBLE if scalar == "double" else COMPLEX_FLOAT) + "\n" * blanks.count("\n")


def _products(words: list[str], opening: list[int], type_names: frozenset[str]) -> Iterator[int]:
    """Parentheses around products similar to types in casts.

    ``(a * (b * c)) * d`` might cast ``*d`` to a function of a pointer `c` to `b`.
    """
    for i in opening:
        if not _is_operand(words[i + 1], type_names):
            continue
        end = _after_brackets(words, i + 2)
        if words[end : end + 2] == ["*", "("] and _starts_operand(words, i):
            yield i


def _sizes_of_types(
    words: list[str], opening: list[int], type_names: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Begin and end of ``sizeof (type)``; not of a ``(type){...}``."""
    for i in opening:
        if i == 0 or words[i - 1] != "sizeof":
            continue
        end = i + 1
        while end < len(words) and words[end] != ")":
            end = _after_brackets(words, end) if words[end] in "[(" else end + 1
        name = words[i + 1]
        is_type = name in _BEGIN_TYPES or name in type_names or words[end - 1] == "*"
        if is_type and end < len(words) and words[end + 1 : end + 2] != ["{"]:
            yield i - 1, end


def _is_operand(name: str, type_names: frozenset[str]) -> bool:
    is_name = name[0].isalpha() or name[0] == "_"
    return is_name and name not in type_names and name not in _TYPE_WORDS


def _superfluous(words: list[str], opening: list[int], type_names: frozenset[str]) -> Iterator[int]:
    """Parentheses around operands similar to types in casts."""
    for start in opening:
        if not _is_operand(words[start + 1], type_names):
            continue
        i, end = start, _after_brackets(words, start + 2)
        # the rest of ((x)) without the inner pair is as ambiguous as (x)
        while 0 <= i < end < len(words) and (words[i], words[end]) == ("(", ")"):
            if not _starts_operand(words, i):
                break
            yield i
            yield end
            i, end = i - 1, end + 1


def _after_brackets(words: list[str], i: int) -> int:
    """Position behind the subscripts and calls at `words[i]`."""
    depth = 0
    while i < len(words) and (depth > 0 or words[i] in "[("):
        depth += (words[i] in "[(") - (words[i] in "])")
        i += 1
    return i


def _starts_operand(words: list[str], i: int) -> bool:
    """True if an operand may start at `words[i]`, so its parentheses mean nothing."""
    previous = words[i - 1] if i > 0 else ";"
    if i > 1 and words[i - 2] == "__attribute__":
        return False
    if previous == ")":
        return _ends_cast(words, i - 1)
    if previous[0].isalnum() or previous[0] == "_":
        return previous in _NOT_OPERANDS
    return previous not in {"]", '"', "'", "}"}


def _ends_cast(words: list[str], i: int) -> bool:
    i -= 1
    n_words = 0
    while i >= 0 and words[i] in _TYPE_WORDS:
        i -= 1
        n_words += 1
    is_call = i > 0 and (words[i - 1][0].isalnum() or words[i - 1][0] == "_")
    return n_words > 0 and i >= 0 and words[i] == "(" and not is_call
