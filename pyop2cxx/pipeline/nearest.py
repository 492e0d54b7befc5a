# SPDX-License-Identifier: BSD-3-Clause
"""The loop of a table nearest to a loop without an entry, and the fields that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.pipeline.request import Choice, Request

_MOST_FIELDS = 3
_DIGESTS = ("signature", "other input of the text")


def fields_of(request: Request, choice: Choice) -> dict[str, str]:
    """Return the fields that decide about the text of a loop, by their names in words.

    Args:
        request: The loop.
        choice: Strategy and lanes.
    """
    options, facts = choice.options, request.backend.facts
    found = {"kernel": request.name, "backend": request.backend.name, **dict(request.loop.fields())}
    found |= {"strategy": choice.strategy, "lanes": str(options.lanes)}
    found["option 'deterministic'"] = str(options.semantics.deterministic).lower()
    for i, known in enumerate(request.map_facts):
        found[f"Map {i}: bytes of an index"] = str(known.index_bytes)
        found[f"Map {i}: leads nowhere twice"] = str(known.injective).lower()
        found[f"Map {i}: has entries that lead nowhere"] = str(known.has_negative).lower()
    about = (choice.strategy, facts, list(request.map_facts), options)
    return found | {_DIGESTS[1]: _core.digest(_core.lowering_key(*about))}


def nearest(request: Request, choice: Choice) -> str:
    """Name the fields of the nearest loop in the loaded tables that differ, as a part of a message.

    Nearest is the loop of the same kernel with the fewest other fields. Without a loop of the
    kernel's name the text is empty.

    Args:
        request: A loop without an entry.
        choice: Strategy and lanes.
    """
    own = fields_of(request, choice)
    known = [_differences(own, one) for one in runtime.engine.ahead_fields]
    same = [found for found in known if not any(name == "kernel" for name, *_ in found)]
    if not same:
        return ""
    found = min(same, key=len)
    found = [one for one in found if one[0] not in _DIGESTS] or found
    told = [_in_words(*one) for one in found[:_MOST_FIELDS]]
    if len(found) > _MOST_FIELDS:
        told.append(f"{len(found) - _MOST_FIELDS} more fields differ")
    return f"; the nearest loop in them differs: {', '.join(told)}"


def _differences(own: Mapping[str, str], other: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return name, the loop's value and the table's of each field that differs."""
    names = dict.fromkeys((*own, *other))
    pairs = ((name, own.get(name, ""), other.get(name, "")) for name in names)
    return [one for one in pairs if one[1] != one[2]]


def _in_words(name: str, own: str, other: str) -> str:
    if name in _DIGESTS or (name.startswith("text of kernel") and own and other):
        return f"{name} is another"
    return f"{name} is {own or 'missing'} here and {other or 'missing'} in the table"
