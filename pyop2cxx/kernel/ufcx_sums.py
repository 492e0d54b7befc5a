# SPDX-License-Identifier: BSD-3-Clause
"""Fewer operations in FFCx output for element matrices.

FFCx adds a product to the element matrix for each pair of derivatives in a form: nine for the
stiffness in three dimensions, ``A[i][j] += D[i] * temp_0[j]; A[i][j] += D[i] * temp_1[j]; ...``
Products with the same row table are joined to a product with a sum of vectors, formed once for a
point: three products here, and less than half of the kernel's operations.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_SECTION = re.compile(r"// Section: Tensor Computation\n.*?// -{8,}", re.DOTALL)
_VECTOR = re.compile(
    r"[ \t]*(?P<type>\w+(?: _Complex)?) (?P<name>temp_\d+)\[(?P<size>\d+)\] = \{0\};\n"
    r"[ \t]*for \(int (?P<over>\w+) = 0; (?P=over) < (?P<end>\d+); \+\+(?P=over)\)\n"
    r"[ \t]*\{\n[ \t]*(?P=name)\[(?P=over)\] = (?P<value>[^;{}]*);\n[ \t]*\}\n"
)
_TERM = re.compile(
    r"(?P<indent>[ \t]*)A\[(?P<place>[^;=]*)\] \+= (?P<row>[^;=]*?) \* "
    r"(?P<name>temp_\d+)\[(?P<index>\w+)\];\n"
)
_TERMS = re.compile(rf"(?:{re.sub(r'[?]P<[a-z]+>', '?:', _TERM.pattern)})+")


class _Vector(NamedTuple):
    """The values of a vector at each point, and the loop computing them."""

    type: str
    name: str
    size: str
    over: str
    end: str
    value: str

    @property
    def kind(self) -> tuple[str, ...]:
        """Properties shared by summable vectors."""
        return (self.type, self.size, self.over, self.end)


def with_joined_sums(body: str) -> str:
    """Sum the vectors of products with the same place and the same row factor.

    Args:
        body: C text of FFCx's; other text is returned unchanged.
    """
    return _SECTION.sub(lambda found: _joined(found[0]), body)


def _joined(section: str) -> str:
    vectors = {one["name"]: _Vector(**one.groupdict()) for one in _VECTOR.finditer(section)}
    uses = Counter(re.findall(r"\btemp_\d+\b", section))
    # declared, computed and read in a single place each, without later dependences
    alone = {
        name
        for name, one in vectors.items()
        if uses[name] == 3 and not re.search(r"\btemp_", one.value)
    }
    joined: dict[str, str] = {}

    def added(terms: re.Match[str]) -> str:
        groups: dict[tuple[str, ...], str] = {}
        kept = []
        for term in _TERM.finditer(terms[0]):
            name = term["name"]
            key = (term["place"], term["row"], term["index"])
            if name in alone:
                first = groups.setdefault((*key, *vectors[name].kind), name)
                if first != name:
                    joined[name] = first
                    continue
            kept.append(term[0])
        return "".join(kept)

    section = _TERMS.sub(added, section)
    sums: dict[str, list[str]] = {}
    for name, first in joined.items():
        sums.setdefault(first, [vectors[first].value]).append(vectors[name].value)

    def computed(vector: re.Match[str]) -> str:
        name = vector["name"]
        if name in joined:
            return ""
        whole = vector[0]
        if name not in sums:
            return whole
        start, end = (at - vector.start() for at in vector.span("value"))
        return whole[:start] + " + ".join(sums[name]) + whole[end:]

    return _VECTOR.sub(computed, section)
