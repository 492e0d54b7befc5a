# SPDX-License-Identifier: BSD-3-Clause
"""
Chains of loops; see cpp/chain.
"""

from __future__ import annotations
import collections.abc
import pyop2cxx._core
import typing

__all__: list[str] = [
    "AtOnce",
    "Block",
    "Decision",
    "Entry",
    "Passes",
    "Redirected",
    "Renamed",
    "Schedule",
    "Step",
    "action",
    "group_of",
    "leaves_zero",
    "schedule",
    "use",
]

class AtOnce:
    def __init__(self) -> None: ...
    def clear(self) -> None: ...
    def left(
        self,
        code: typing.SupportsInt | typing.SupportsIndex,
        at: typing.SupportsInt | typing.SupportsIndex,
        passes: typing.SupportsInt | typing.SupportsIndex,
    ) -> int: ...
    def set(
        self,
        code: typing.SupportsInt | typing.SupportsIndex,
        at: typing.SupportsInt | typing.SupportsIndex,
        passes: typing.SupportsInt | typing.SupportsIndex,
        n_blocks: typing.SupportsInt | typing.SupportsIndex,
        epoch: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Block:
    """
    A block of a chain, without what is recorded.
    """
    def __enter__(self) -> typing.Any:
        """
        Begin, at once or by what `_begin_block` does.
        """
    def __exit__(self, *args: typing.Any) -> None:
        """
        End, or do what `_end_block` does.
        """

class Entry:
    def __init__(
        self,
        loop: pyop2cxx._core.Loop,
        why_alone: str,
        why_no_invert: str,
        n_bytes: typing.SupportsFloat | typing.SupportsIndex,
        why_no_join: str,
        entry_bytes: typing.SupportsInt | typing.SupportsIndex,
        is_empty: bool,
        part: typing.SupportsInt | typing.SupportsIndex,
        lanes: typing.SupportsInt | typing.SupportsIndex,
        why_no_lanes: str,
        why_no_columns: str,
        zeroes: bool,
        repetition: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Passes:
    def __init__(
        self,
        fuse: bool,
        invert: bool,
        rename: bool,
        drop: bool,
        copy: bool,
        zero: bool,
        total: bool,
        rotate: bool,
    ) -> None: ...

class Renamed:
    @property
    def arg(self) -> int: ...
    @property
    def changes(self) -> bool: ...
    @property
    def loop(self) -> int: ...
    @property
    def writes(self) -> bool: ...

class Redirected:
    @property
    def arg(self) -> int: ...
    @property
    def from_second(self) -> bool: ...
    @property
    def loop(self) -> int: ...
    @property
    def source_arg(self) -> int: ...
    @property
    def source_loop(self) -> int: ...

class Step:
    @property
    def dropped(self) -> list[int]: ...
    @property
    def inverted(self) -> list[int]: ...
    @property
    def loops(self) -> list[int]: ...
    @property
    def redirected(self) -> list[Redirected]: ...
    @property
    def renamed(self) -> list[Renamed]: ...
    @property
    def zeroed(self) -> list[int]: ...

class Decision:
    @property
    def applied(self) -> bool: ...
    @property
    def loops(self) -> list[int]: ...
    @property
    def passed(self) -> str: ...
    @property
    def why(self) -> str: ...

class Schedule:
    @property
    def decisions(self) -> list[Decision]: ...
    @property
    def steps(self) -> list[Step]: ...

def action(
    uses: collections.abc.Sequence[tuple[pyop2cxx._core.Alias, bool]],
    zeroes: bool,
    repetition: typing.SupportsInt | typing.SupportsIndex,
) -> Entry: ...
def group_of(
    loops: collections.abc.Sequence[pyop2cxx._core.Loop],
    inverted: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    dropped: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    zeroed: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    apart: collections.abc.Sequence[
        tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex]
    ],
) -> pyop2cxx._core.Loop: ...
def leaves_zero(
    loop: pyop2cxx._core.Loop, arg: typing.SupportsInt | typing.SupportsIndex
) -> bool: ...
def schedule(
    chain: collections.abc.Sequence[Entry],
    passes: Passes,
    pinned: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
) -> Schedule: ...
def use(lines: AtOnce, runtime: typing.Any) -> None: ...
