# SPDX-License-Identifier: BSD-3-Clause
"""
Libraries for NVIDIA's GPUs.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import pyop2cxx._core
import typing

__all__: list[str] = [
    "Cublas",
    "Cusparse",
    "SmallProduct",
    "SparseProduct",
    "SparseShape",
    "veto_of_cusparse",
]

class SmallProduct:
    def __init__(
        self,
        dtype: pyop2cxx._core.DType,
        count: typing.SupportsInt | typing.SupportsIndex,
        m: typing.SupportsInt | typing.SupportsIndex,
        n: typing.SupportsInt | typing.SupportsIndex,
        k: typing.SupportsInt | typing.SupportsIndex,
        turn_a: bool,
        turn_b: bool,
    ) -> None: ...

class Cublas:
    def __init__(
        self, folders: collections.abc.Sequence[str], device: pyop2cxx._core.RuntimeDevice
    ) -> None: ...
    def axpy(
        self,
        device: pyop2cxx._core.RuntimeDevice,
        dtype: pyop2cxx._core.DType,
        n: typing.SupportsInt | typing.SupportsIndex,
        alpha: pyop2cxx._core.Buffer,
        x: pyop2cxx._core.Buffer,
        y: pyop2cxx._core.Buffer,
    ) -> None: ...
    def dot(
        self,
        device: pyop2cxx._core.RuntimeDevice,
        dtype: pyop2cxx._core.DType,
        n: typing.SupportsInt | typing.SupportsIndex,
        x: pyop2cxx._core.Buffer,
        y: pyop2cxx._core.Buffer,
        conjugate: bool,
        sum: pyop2cxx._core.Buffer,
    ) -> None: ...
    def multiply(
        self,
        device: pyop2cxx._core.RuntimeDevice,
        product: SmallProduct,
        factors: pyop2cxx._core.Buffer,
        a: pyop2cxx._core.Buffer,
        b: pyop2cxx._core.Buffer,
        c: pyop2cxx._core.Buffer,
        is_added: bool,
    ) -> None: ...
    def veto_axpy(
        self, factor: pyop2cxx._core.DType, x: pyop2cxx._core.Column, y: pyop2cxx._core.Column
    ) -> str: ...
    def veto_dot(self, x: pyop2cxx._core.Column, y: pyop2cxx._core.Column) -> str: ...
    @property
    def path(self) -> str: ...

class SparseShape:
    def __init__(
        self,
        dtype: pyop2cxx._core.DType,
        n_rows: typing.SupportsInt | typing.SupportsIndex,
        n_columns: typing.SupportsInt | typing.SupportsIndex,
        n_places: typing.SupportsInt | typing.SupportsIndex,
        values_of_place: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Cusparse:
    def __init__(
        self, folders: collections.abc.Sequence[str], device: pyop2cxx._core.RuntimeDevice
    ) -> None: ...
    @property
    def path(self) -> str: ...

class SparseProduct:
    def __init__(
        self,
        library: Cusparse,
        shape: SparseShape,
        row_offset: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        columns: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
    ) -> None: ...
    def multiply(
        self,
        device: pyop2cxx._core.RuntimeDevice,
        values: pyop2cxx._core.Buffer,
        x: pyop2cxx._core.Buffer,
        y: pyop2cxx._core.Buffer,
        is_added: bool,
    ) -> None: ...

def veto_of_cusparse(
    matrix: SparseShape, x: pyop2cxx._core.DType, y: pyop2cxx._core.DType
) -> str: ...
