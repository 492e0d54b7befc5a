# SPDX-License-Identifier: BSD-3-Clause
"""
Loops with their order; see cpp/graph.
"""

from __future__ import annotations
import collections.abc
import pyop2cxx._core
import typing

__all__: list[str] = [
    "ConditionSide",
    "Conflict",
    "CopyTask",
    "DeviceWhile",
    "ExchangeTask",
    "FillTask",
    "LoopGraph",
    "Node",
    "PhaseTask",
    "QueueTask",
    "ReplayTrial",
    "Step",
    "TeamReport",
    "Way",
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

class FillTask(pyop2cxx._core.GraphTask):
    def __init__(
        self,
        mirror: pyop2cxx._core.DeviceMirror | None,
        target: pyop2cxx._core.Buffer,
        value: bytes,
    ) -> None: ...

class CopyTask(pyop2cxx._core.GraphTask):
    def __init__(
        self,
        mirror: pyop2cxx._core.DeviceMirror | None,
        target: pyop2cxx._core.Buffer,
        source: pyop2cxx._core.Buffer,
    ) -> None: ...

class ExchangeTask(pyop2cxx._core.GraphTask):
    def __init__(
        self,
        mirror: pyop2cxx._core.DeviceMirror,
        target: pyop2cxx._core.Buffer,
        source: pyop2cxx._core.Buffer,
    ) -> None: ...

class PhaseTask(pyop2cxx._core.GraphTask):
    def __init__(self, loop: pyop2cxx._core.PreparedLoop, phase: pyop2cxx._core.Phase) -> None: ...

class QueueTask(pyop2cxx._core.GraphTask):
    @staticmethod
    def is_possible(mirror: pyop2cxx._core.DeviceMirror) -> bool: ...
    def __init__(
        self,
        mirror: pyop2cxx._core.DeviceMirror | None,
        what: str,
        values: collections.abc.Sequence[tuple[pyop2cxx._core.Buffer, bool]],
        function: collections.abc.Callable[[int | None, list[int]], None],
    ) -> None: ...

class Step:
    @typing.overload
    def __init__(
        self,
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        task: pyop2cxx._core.GraphTask,
    ) -> None: ...
    @typing.overload
    def __init__(
        self,
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        inner: collections.abc.Sequence[Step],
    ) -> None: ...

class Way:
    """
    Members:

      undecided

      alone

      as_one

      side_by_side

      several
    """

    __members__: typing.ClassVar[dict[str, Way]]
    alone: typing.ClassVar[Way]
    as_one: typing.ClassVar[Way]
    several: typing.ClassVar[Way]
    side_by_side: typing.ClassVar[Way]
    undecided: typing.ClassVar[Way]
    @typing.overload
    def __eq__(self, other: Way) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Way) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class ReplayTrial:
    def shortest(self, way: Way) -> float | None: ...
    @property
    def kept(self) -> Way: ...

class TeamReport:
    @property
    def n_alone(self) -> int: ...
    @property
    def n_regions(self) -> int: ...
    @property
    def n_shared(self) -> int: ...
    @property
    def why(self) -> str: ...

class ConditionSide:
    @typing.overload
    def __init__(self, value: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @typing.overload
    def __init__(self, buffer: pyop2cxx._core.Buffer, dtype: str) -> None: ...

class DeviceWhile:
    by_device: typing.ClassVar[int] = 0
    by_host: typing.ClassVar[int] = 1
    def __init__(
        self,
        steps: collections.abc.Sequence[Step],
        left: ConditionSide,
        right: ConditionSide,
        or_equal: bool,
    ) -> None: ...
    def learn(
        self,
        arm: typing.SupportsInt | typing.SupportsIndex,
        nanoseconds: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def note_host(
        self,
        nanoseconds: typing.SupportsInt | typing.SupportsIndex,
        n_passes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def run(
        self,
        n_done: typing.SupportsInt | typing.SupportsIndex,
        most: typing.SupportsInt | typing.SupportsIndex,
    ) -> bool | None: ...
    @property
    def is_next(self) -> bool: ...
    @property
    def native(self) -> int: ...
    @property
    def trial(self) -> pyop2cxx._core.Trial: ...
    @property
    def why_not(self) -> str: ...

class LoopGraph:
    def __init__(self, steps: collections.abc.Sequence[Step]) -> None: ...
    def learn(
        self,
        measured: collections.abc.Sequence[tuple[Way, typing.SupportsFloat | typing.SupportsIndex]],
    ) -> None: ...
    def submit(self, n: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @property
    def native(self) -> int: ...
    @property
    def report(self) -> TeamReport: ...
    @property
    def trial(self) -> ReplayTrial: ...
    @property
    def why_not(self) -> str: ...

def dependences(nodes: collections.abc.Sequence[Node]) -> list[list[int]]: ...
def levels(nodes: collections.abc.Sequence[Node]) -> list[int]: ...
def races(nodes: collections.abc.Sequence[Node]) -> list[Conflict]: ...
