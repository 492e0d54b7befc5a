# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the reference of C++, from the comments of headers.

The headers have few forms of declarations, one statement at a time. So a reader of these forms is
enough, and a build of the manual needs no program besides Sphinx.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

ROOMS = Path(__file__).parents[1] / "cpp"
SCOPE = "op2"
"""Namespace of public names."""

_KIND = re.compile(
    r"(template <.*?> )?(class|struct|enum class|enum) (\w+)(?: final)?(?: : (.*))?$"
)
_LABEL = re.compile(r"\s*(public|private|protected):(?!:)")
_LEFT_OUT = re.compile(
    r"(?:friend|static_assert|using namespace|extern template|template struct)\b"
)
_ALIAS = re.compile(r"(?:template <.*?> )?using ")
_ATTRIBUTE = re.compile(r"\[\[[^]]*\]\]\s*")
_INNER = re.compile(r"\bapi::(?!Held|Number|Allocator|AnyMap)")
"""Types of declarations for generated code."""
_TAG = re.compile(r"^@(brief|param|tparam|throws|return|pre)(?:\[[\w,]+\])? ?")
_OPERATOR = re.compile(r"operator\s*(\(\)|[^\s(]+)\s*\(")


@dataclass
class Declaration:
    """A declaration with its comment, and for classes and enumerations the members.

    Attributes:
        kind: "class", "enum", "enumerator", "function", "member" or "type".
        name: The name.
        text: The declaration in C++, without body.
        comment: Lines of the comment.
        members: Public members.
    """

    kind: str
    name: str
    text: str
    comment: list[str]
    members: list[Declaration] = field(default_factory=list)


def declarations(text: str, scope: str = SCOPE) -> list[Declaration]:
    """Return the public declarations of a namespace in a header.

    Args:
        text: Of the header.
        scope: The namespace.
    """
    return [*_Reader(text).in_namespaces(scope)]


class _Reader:
    """Reads statements of C++ up to their ends."""

    def __init__(self, text: str, at: int = 0) -> None:
        self._text = text
        self._at = at
        self._is_public = True

    def in_namespaces(self, wanted: str) -> Iterator[Declaration]:
        """Yield what a namespace declares."""
        for _, words, end in self._statements():
            name = words.removeprefix("namespace ").strip()
            if end == "{" and words.startswith("namespace"):
                body = self._braces()
                if name == wanted:
                    yield from _Reader(body).members(is_public=True)
                elif wanted.startswith(f"{name}::"):
                    yield from _Reader(body).in_namespaces(wanted.removeprefix(f"{name}::"))
            elif end == "{":
                self._braces()

    def members(self, *, is_public: bool) -> Iterator[Declaration]:
        """Yield public declarations of a class, or of the body of a namespace."""
        self._is_public = is_public
        for comment, words, end in self._statements():
            is_seen = self._is_public
            found = self._declaration(words, end, comment)
            is_inner = found is None or found.name == "state" or _INNER.search(found.text)
            if found is not None and is_seen and not is_inner:
                yield found

    def _declaration(self, words: str, end: str, comment: list[str]) -> Declaration | None:
        words = _ATTRIBUTE.sub("", words)
        if kind := _KIND.match(words):
            return self._class(kind, end, comment)
        if end == "{" and words.startswith("namespace"):
            self._braces()
            return None
        initial = self._initial(words) if end == "{" else ""
        comment += self._behind()
        text = f"{words} {initial}".strip()
        if not text or _LEFT_OUT.match(text) or text.endswith("= delete"):
            return None
        is_defined = end == "{" and not initial
        return _alias(text, comment) if _ALIAS.match(text) else _plain(text, comment, is_defined)

    def _initial(self, words: str) -> str:
        """Skip braces; return them where they are the first value of a variable."""
        body = self._braces()
        if not words.endswith("="):
            return ""
        self._to_semicolon()
        return "{" + body.strip() + "}"

    def _class(self, kind: re.Match[str], end: str, comment: list[str]) -> Declaration | None:
        template, what, name, bases = kind.groups()
        if end == ";":  # declared here, defined elsewhere
            return None
        body = self._braces()
        self._to_semicolon()
        if what.startswith("enum"):
            return Declaration("enum", name, name, comment, [*_enumerators(body)])
        text = f"{template or ''}{name}{f' : {bases}' if bases else ''}"
        members = _Reader(body).members(is_public=what == "struct")
        return Declaration("class", name, text, comment, [*members])

    def _statements(self) -> Iterator[tuple[list[str], str, str]]:
        """Yield comment, words and end of statements; the end is a semicolon or a brace."""
        while True:
            comment = self._before()
            if self._at >= len(self._text) or self._text[self._at] == "}":
                return
            start, depth = self._at, 0
            words: list[str] = []
            while self._at < len(self._text):
                char = self._text[self._at]
                if char == '"':
                    self._at = self._text.index('"', self._at + 1)
                elif self._text.startswith("//", self._at):
                    words.append(self._text[start : self._at])
                    self._at = self._text.index("\n", self._at)
                    start = self._at
                elif char in "()":
                    depth += 1 if char == "(" else -1
                elif char in ";{" and depth == 0:
                    break
                self._at += 1
            words.append(self._text[start : self._at])
            end = self._text[self._at : self._at + 1]
            self._at += 1
            plain = re.sub(r"/\*.*?\*/", "", " ".join(" ".join(words).split()))
            yield comment, plain.strip(), end

    def _before(self) -> list[str]:
        """Skip to the next statement, and return the comment right above."""
        comment: list[str] = []
        while self._at < len(self._text):
            rest = self._text[self._at :]
            blank = re.match(r"\s+|#(?:[^\n\\]|\\\n|\\.)*\n|//(?!/)[^\n]*\n", rest)
            if said := re.match(r"///(?!<) ?([^\n]*)\n", rest):
                comment.append(said[1])
                self._at += said.end()
            elif blank:
                if blank[0].count("\n") > 1 or blank[0][0] == "#":
                    comment = []
                self._at += blank.end()
            elif label := _LABEL.match(rest):
                self._is_public = label[1] == "public"
                self._at += label.end()
            else:
                break
        return comment

    def _behind(self) -> list[str]:
        """Return the comment at the end of a line, and its next lines."""
        lines = []
        while said := re.match(r"[ ,]*///< ?([^\n]*)\n\s*", self._text[self._at :]):
            lines.append(said[1])
            self._at += said.end()
        return lines

    def _braces(self) -> str:
        """Return what is within braces, behind the first, and go on behind the last."""
        start, depth = self._at, 1
        while depth:
            char = self._text[self._at]
            if char == '"':
                self._at = self._text.index('"', self._at + 1)
            elif char == "'" and not self._text[self._at - 1].isalnum():
                self._at = self._text.index("'", self._at + 1)
            elif self._text.startswith("//", self._at):
                self._at = self._text.index("\n", self._at)
            depth += {"{": 1, "}": -1}.get(char, 0)
            self._at += 1
        return self._text[start : self._at - 1]

    def _to_semicolon(self) -> None:
        if end := re.match(r"\s*;", self._text[self._at :]):
            self._at += end.end()


def _alias(text: str, comment: list[str]) -> Declaration | None:
    found = re.search(r"using (\w+) =", text)
    return Declaration("type", found[1], text.replace("using ", "", 1), comment) if found else None


def _plain(text: str, comment: list[str], is_defined: bool) -> Declaration | None:
    """Return a function or a variable."""
    name, is_function = _name_of(text)
    if name.startswith("~") or text.startswith("concept ") or (is_defined and not is_function):
        return None
    if is_function:
        return Declaration("function", name, _without_initializers(text), comment)
    return Declaration("member", name, text, comment)


def _enumerators(body: str) -> Iterator[Declaration]:
    one = r"(\w+)(?:\s*=\s*\w+)?\s*(?:,|$)((?:\s*///<[^\n]*)*)"
    for name, comment in re.findall(one, f"{body.strip()}\n,"):
        lines = [line.strip().removeprefix("///<").strip() for line in comment.splitlines()]
        yield Declaration("enumerator", name, name, [line for line in lines if line])


def _name_of(text: str) -> tuple[str, bool]:
    """Return the declared name, and whether it is a function's."""
    if found := _OPERATOR.search(text):
        return f"operator{found[1]}", True
    if pointer := re.search(r"\(\*(\w+)\)", text):
        return pointer[1], False
    bare = re.sub(r"^template <[^>]*(?:<[^>]*>[^>]*)*> ", "", text)
    function = re.search(r"(~?\w+)\(", bare)
    value = bare.find(" = ")
    if function and (value < 0 or function.start() < value):
        return function[1], True
    names = re.findall(r"\w+", bare[:value] if value >= 0 else bare)
    return (names[-1] if names else ""), False


def _without_initializers(text: str) -> str:
    """Return a constructor without the values of its members."""
    depth = 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0 and text.startswith(") : ", at):
            return text[: at + 1]
    return text


def as_rst(found: list[Declaration], scope: str = SCOPE) -> list[str]:
    """Return declarations as directives of Sphinx's C++ domain.

    Args:
        found: The declarations. One without a comment behind another of the same name is an
            overload with the same comment.
        scope: Namespace or class of the declarations.
    """
    lines: list[str] = []
    for group in _overloads(found):
        first = group[0]
        texts = [_qualified(one, scope) for one in group]
        lines += [f".. cpp:{first.kind}:: {texts[0]}"]
        lines += [f"{' ' * (len(first.kind) + 10)}{text}" for text in texts[1:]]
        lines += ["", *(f"   {line}".rstrip() for line in _told(first.comment)), ""]
        inner = as_rst(first.members, scope="")
        lines += [f"   {line}".rstrip() for line in inner]
    return lines


def _overloads(found: list[Declaration]) -> list[list[Declaration]]:
    groups: list[list[Declaration]] = []
    for one in found:
        last = groups[-1][0] if groups else None
        if last and is_overload(one, last):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def is_overload(one: Declaration, before: Declaration) -> bool:
    """Whether a declaration has the comment of another one before."""
    are_operators = one.name.startswith("operator") and before.name.startswith("operator")
    is_same = one.kind == before.kind == "function" and (one.name == before.name or are_operators)
    return is_same and not one.comment


def _qualified(one: Declaration, scope: str) -> str:
    """Return a declaration with the namespace in its name."""
    if not scope:
        return one.text
    place = re.compile(rf"(?<![\w:]){re.escape(one.name)}(?!\w)")
    matches = list(place.finditer(one.text))
    if one.kind == "function":
        matches = [m for m in matches if re.match(r"\s*\(", one.text[m.end() :])] or matches
    at = matches[0].start()
    return f"{one.text[:at]}{scope}::{one.text[at:]}"


def _told(comment: list[str]) -> list[str]:
    """Return a comment as reStructuredText."""
    paragraphs: list[list[str]] = [[]]
    lines: list[str] = []
    for line in comment:
        if line.startswith("    "):  # code
            if not paragraphs[-1] or not paragraphs[-1][0].startswith("    "):
                paragraphs.append([])
            paragraphs[-1].append(line)
        elif not line.strip():
            paragraphs.append([])
        elif paragraphs[-1] and (_TAG.match(line) or paragraphs[-1][0].startswith("    ")):
            paragraphs.append([line])
        else:
            paragraphs[-1].append(line)
    for paragraph in filter(None, paragraphs):
        if paragraph[0].startswith("    "):
            code = textwrap.dedent("\n".join(paragraph)).splitlines()
            lines += [".. code-block:: cpp", "", *(f"   {one}" for one in code), ""]
            continue
        text = " ".join(line.strip() for line in paragraph)
        # further tags of the same paragraph have lines of their own
        for part in re.split(r"(?<=\S) (?=@(?:throws|param|pre|return)\b)", text):
            lines += [*_paragraph(part), ""]
    return lines


def _paragraph(text: str) -> list[str]:
    tag = _TAG.match(text)
    rest = text[tag.end() :] if tag else text
    rest = re.sub(r"@p (\w+)", r"`\1`", rest)
    kind = tag[1] if tag else ""
    if kind in ("param", "tparam", "throws"):
        name, _, said = rest.partition(" ")
        return [f":{kind} {name.strip('`')}: {_escaped(said) or 'when it fails'}"]
    if kind == "return":
        return [f":returns: {_escaped(rest)}"]
    return [("Precondition: " if kind == "pre" else "") + _escaped(rest)]


def _escaped(text: str) -> str:
    """Let stars and names be characters, and code be code."""
    parts = text.split("`")
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = f"``{part}``"
        else:
            parts[i] = re.sub(r"([*|]|_(?!\w))", r"\\\1", part)
    return "".join(parts)


class CppNames(SphinxDirective):
    """The public names of a header, with their comments."""

    required_arguments = 1
    option_spec = {"only": directives.unchanged, "within": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Read the header, and let Sphinx's domain of C++ set the declarations."""
        path = ROOMS / self.arguments[0]
        self.env.note_dependency(str(path))
        found = declarations(path.read_text(encoding="utf-8"), self.options.get("within", SCOPE))
        only = self.options.get("only", "").split()
        found = [one for one in found if not only or one.name in only]
        target = nodes.section()
        target.document = self.state.document
        lines = as_rst(found, self.options.get("within", SCOPE))
        self.state.nested_parse(StringList(lines, str(path)), 0, target)
        return list(target.children)


def setup(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("cpp-names", CppNames)
