# SPDX-License-Identifier: BSD-3-Clause
"""A Mat as an argument of a loop, whole or taken apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.data.carrier import Argument
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.derived_maps import ComposedMap

if TYPE_CHECKING:
    from pyop2cxx import _core
    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.carrier import OlderForm
    from pyop2cxx.data.mat_values import MatValues
    from pyop2cxx.sets.maps import Map

    Mask = tuple[Array, _core.MapTable] | None


@dataclass(slots=True)
class MatArg(Argument):
    """A Mat as an argument of a loop.

    Attributes:
        data: The Mat.
        map_: The Maps to rows and columns, and the masks.
        access: The access of the kernel.
        form: As of `Argument`.
    """

    data: MatValues
    map_: MatPath
    access: Access
    form: OlderForm | None = None

    def of(self, data: Any) -> Any:
        """Return another Mat as the same argument."""
        return _again(self, data)

    @property
    def maps(self) -> tuple[Map, Map]:
        """The Maps to rows and columns."""
        return self.map_.rows, self.map_.cols


@dataclass(slots=True)
class DenseBlockArg:
    """Rows or columns of a Global in a matrix, stored like a Dat's values.

    Attributes:
        data: The block.
        map_: The Map to the other side; None if both are of Globals.
        access: The access of the kernel.
        dim: Values of the part on each entity.
        stride: Values between entities, if the part does not have all; else 0.
        component: Where the part begins among them.
    """

    data: MatValues
    map_: Map | None
    access: Access
    dim: int
    stride: int
    component: int


@dataclass(slots=True)
class PlacedBlockArg:
    """Rows or columns of a Global that need places for entries, because masks leave some out.

    A loop converts the argument to a `MatArg`, once the start of the Maps is known.

    Attributes:
        data: The block.
        rows: The Map to the rows; None if they are the Global's.
        cols: The same for columns.
        access: The access of the kernel.
        masks: Masks of rows and of columns, as in a `MatPath`.
        unrolled: Whether the masks are for scalars, not for blocks.
    """

    data: MatValues
    rows: Map | None
    cols: Map | None
    access: Access
    masks: tuple[Any, Any]
    unrolled: bool


@dataclass(slots=True)
class MixedMatArg(Argument):
    """A Mat of several blocks, or with a Global's, as an argument: a single tensor for all blocks.

    Attributes:
        data: The Mat.
        map_: The Maps to rows and columns.
        access: The access of the kernel.
        parts: The blocks as arguments of their own, by rows.
        cells: For each part the row and the column of the block, and the row within the block.
        form: As of `Argument`.
    """

    data: MatValues
    map_: MixedMatPath
    access: Access
    parts: tuple[MatArg | DenseBlockArg | PlacedBlockArg, ...]
    cells: tuple[tuple[int, int, int], ...]
    form: OlderForm | None = None

    def of(self, data: Any) -> Any:
        """Return another Mat as the same argument."""
        return _again(self, data)


def _again(arg: MatArg | MixedMatArg, data: Any) -> Any:
    lgmaps, unroll_map = arg.map_.given
    return data(arg.access, arg.map_.maps, lgmaps=lgmaps, unroll_map=unroll_map)


class MatPath:
    """The way from a loop to a matrix: two Maps, and the masks of entries.

    Attributes:
        rows: The Map to the rows.
        cols: The Map to the columns.
        row_mask: A table with negative numbers for rows to leave out; None leaves none out.
        col_mask: The same for columns.
        unrolled: Whether the masks are for scalar rows and columns, not for blocks.
        given: Arguments for the same path: lgmaps and unroll_map.
        by_columns: Whether there is only a single row, so that elements meet in columns.
        is_shared: Whether the path was made after `op2.distribute` had shared the rows.
        meeting: Result of check mode: elements with a common entry, and the versions of the values.
    """

    meeting: tuple[Any, tuple[int, int, int] | None] | None = None

    def __init__(
        self,
        rows: Map,
        cols: Map,
        masks: tuple[Mask, Mask],
        unrolled: bool,
        given: tuple[Any, bool] = (None, False),
        by_columns: bool = False,
    ) -> None:
        self.uid = runtime.next_uid()
        self.rows = rows
        self.cols = cols
        self._masks = masks  # the arrays behind the tables stay alive
        self.row_mask = None if masks[0] is None else masks[0][1]
        self.col_mask = None if masks[1] is None else masks[1][1]
        self.unrolled = unrolled
        self.given = given
        self.by_columns = by_columns
        self.is_shared = rows.toset.is_distributed

    def __repr__(self) -> str:
        return f"<MatPath by {self.name}>"

    @property
    def masks(self) -> tuple[Mask, Mask]:
        """Masks of rows and of columns: arrays, negative for entries to leave out, with tables."""
        return self._masks

    @property
    def maps(self) -> tuple[Map, Map]:
        """Both Maps."""
        return self.rows, self.cols

    @property
    def is_masked(self) -> bool:
        """Whether some entries may have no place."""
        # entries of a composed Map may lead nowhere
        composed = isinstance(self.rows, ComposedMap) or isinstance(self.cols, ComposedMap)
        return composed or self.row_mask is not None or self.col_mask is not None

    @property
    def name(self) -> str:
        """The names of both Maps, for messages."""
        return f"{self.rows.name} x {self.cols.name}"


class MixedMatPath:
    """The way from a loop to the blocks of a matrix.

    Attributes:
        rows: The Map to the rows of each field; None for a Global's.
        cols: The same for columns.
        given: Arguments for the same path: lgmaps and unroll_map.
    """

    def __init__(
        self, rows: tuple[Map | None, ...], cols: tuple[Map | None, ...], given: tuple[Any, bool]
    ) -> None:
        self.uid = runtime.next_uid()
        self.rows = rows
        self.cols = cols
        self.given = given

    def __repr__(self) -> str:
        return f"<MixedMatPath by {self.name}>"

    @property
    def maps(self) -> tuple[tuple[Map | None, ...], tuple[Map | None, ...]]:
        """The Maps to rows and to columns."""
        return self.rows, self.cols

    @property
    def name(self) -> str:
        """The names of all Maps, for messages."""
        sides = (", ".join("a Global" if m is None else m.name for m in side) for side in self.maps)
        return " x ".join(sides)
