# SPDX-License-Identifier: BSD-3-Clause
"""
Loops with their order; see cpp/graph.
"""

from __future__ import annotations
import collections.abc
import pyop2cxx._core
import typing

__all__: list[str] = [
    "Conflict",
    "LoopGraph",
    "Node",
    "ReplayTrial",
    "Step",
    "dependences",
    "levels",
    "races",
]

class Node:
    def __init__(
        self,
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        uses: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
            ]
        ],
    ) -> None: ...

class Conflict:
    @property
    def earlier(self) -> int: ...
    @property
    def later(self) -> int: ...
    @property
    def memory(self) -> int: ...

class Step:
    @typing.overload
    def __init__(
        self,
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        loop: pyop2cxx._core.PreparedLoop,
    ) -> None: ...
    @typing.overload
    def __init__(
        self,
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        inner: collections.abc.Sequence[Step],
    ) -> None: ...

class ReplayTrial:
    @property
    def alone(self) -> int: ...
    @property
    def as_one(self) -> int: ...
    @property
    def is_decided(self) -> bool: ...
    @property
    def pays(self) -> bool: ...

class LoopGraph:
    def __init__(self, steps: collections.abc.Sequence[Step]) -> None: ...
    def submit(self, n: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @property
    def native(self) -> int: ...
    @property
    def trial(self) -> ReplayTrial: ...

def dependences(nodes: collections.abc.Sequence[Node]) -> list[list[int]]: ...
def levels(nodes: collections.abc.Sequence[Node]) -> list[int]: ...
def races(nodes: collections.abc.Sequence[Node]) -> list[Conflict]: ...
