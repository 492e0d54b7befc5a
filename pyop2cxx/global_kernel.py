# SPDX-License-Identifier: BSD-3-Clause
"""Loops in two steps, as PyOP2 of 2022 splits them: what is computed, and with which data.

A `GlobalKernel` is a loop without data: a kernel, what its arguments look like, and what is
iterated over. A `Parloop` gives it data, and can be given other data by `replace_data`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.exceptions import ContractError, MapTypeError, SetTypeError, UsageError
from pyop2cxx.kernel import Kernel
from pyop2cxx.parloop import ParLoop
from pyop2cxx.types.access import Access
from pyop2cxx.types.extruded import ExtrudedSet
from pyop2cxx.types.subsets import Subset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.types.constants import Constant
    from pyop2cxx.types.dats import Dat
    from pyop2cxx.types.globals import Global
    from pyop2cxx.types.maps import Map
    from pyop2cxx.types.mixed import MixedDat, MixedMap
    from pyop2cxx.types.regions import IterationRegion
    from pyop2cxx.types.sets import Set


class LocalKernel(Kernel):
    """A Kernel that knows how its arguments are used.

    Args:
        code: As for `Kernel`.
        name: As for `Kernel`.
        accesses: How each parameter is used.
        dtypes: The dtype behind each parameter, if known.
        **options: As for `Kernel`.

    Raises:
        ContractError: There are not as many dtypes as accesses.

    Example:
        >>> LocalKernel("void f(double *x) { *x = 1; }", "f", [Access.WRITE]).accesses
        (<Access.WRITE: 2>,)
    """

    def __init__(
        self,
        code: str,
        name: str,
        accesses: Iterable[Access] | None = None,
        dtypes: Iterable[Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(code, name, **options)
        self.accesses = None if accesses is None else tuple(Access(a) for a in accesses)
        self.dtypes = None if dtypes is None else tuple(np.dtype(d) for d in dtypes)
        counts = [None if x is None else len(x) for x in (self.accesses, self.dtypes)]
        if None not in counts and counts[0] != counts[1]:
            raise ContractError(
                f"Kernel '{name}': {counts[0]} accesses, but {counts[1]} dtypes were given"
            )


CStringLocalKernel = LocalKernel


@dataclass(frozen=True, eq=False)
class MapKernelArg:
    """A Map without values. Compared by identity: one Map used twice is one object.

    Attributes:
        arity: How many entities each one leads to.
        offset: How far entries move from a layer to the next.
        offset_quotient: The same where the extrusion is periodic.
    """

    arity: int
    offset: tuple[int, ...] | None = None
    offset_quotient: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class PermutedMapKernelArg:
    """A PermutedMap without values.

    Attributes:
        base_map: The Map.
        permutation: Which entry comes where.
    """

    base_map: MapKernelArg
    permutation: tuple[int, ...]

    @property
    def arity(self) -> int:
        """How many entities each one leads to."""
        return self.base_map.arity


@dataclass(frozen=True, eq=False)
class ComposedMapKernelArg:
    """A ComposedMap without values.

    Attributes:
        base_maps: The Maps, the last one applied first.
    """

    base_maps: tuple[MapKernelArg, ...]

    def __init__(self, *maps: MapKernelArg) -> None:
        object.__setattr__(self, "base_maps", maps)

    @property
    def arity(self) -> int:
        """How many entities each one leads to."""
        return self.base_maps[0].arity


@dataclass(frozen=True)
class GlobalKernelArg:
    """A Global without values.

    Attributes:
        dim: Its shape.
    """

    dim: tuple[int, ...]


@dataclass(frozen=True)
class DatKernelArg:
    """A Dat without values.

    Attributes:
        dim: The shape of its values on each entity.
        map_: The Map; None if direct.
        index: The component, where the Dat is a DatView.
    """

    dim: tuple[int, ...]
    map_: Any = None
    index: tuple[int, ...] | None = None


@dataclass(frozen=True)
class MixedDatKernelArg:
    """A MixedDat without values.

    Attributes:
        arguments: Its fields.
    """

    arguments: tuple[DatKernelArg, ...]


@dataclass(frozen=True)
class GlobalParloopArg:
    """The data of a `GlobalKernelArg`."""

    data: Global | Constant
    map_: None = field(default=None, init=False)


@dataclass(frozen=True)
class DatParloopArg:
    """The data of a `DatKernelArg`."""

    data: Dat
    map_: Map | None = None


@dataclass(frozen=True)
class MixedDatParloopArg:
    """The data of a `MixedDatKernelArg`."""

    data: MixedDat
    map_: MixedMap | None = None


_KINDS: dict[type[Any], type[Any]] = {
    GlobalKernelArg: GlobalParloopArg,
    DatKernelArg: DatParloopArg,
    MixedDatKernelArg: MixedDatParloopArg,
}


class GlobalKernel:
    """A loop without data.

    Args:
        local_kernel: The kernel, with accesses.
        arguments: What each argument looks like.
        extruded: Whether the Set is extruded.
        extruded_periodic: Whether it is periodic.
        constant_layers: Whether its columns have the same number of layers.
        subset: Whether it is a Subset.
        iteration_region: The part of each column.
        pass_layer_arg: Whether the kernel gets the layer.

    Raises:
        UsageError: There are not as many arguments as accesses, or layers without extrusion.
    """

    def __init__(
        self,
        local_kernel: LocalKernel,
        arguments: Sequence[Any],
        *,
        extruded: bool = False,
        extruded_periodic: bool = False,
        constant_layers: bool = False,
        subset: bool = False,
        iteration_region: IterationRegion | None = None,
        pass_layer_arg: bool = False,
    ) -> None:
        what = f"GlobalKernel '{local_kernel.name}'"
        if local_kernel.accesses is None or len(local_kernel.accesses) != len(arguments):
            raise UsageError(
                f"{what}: {len(arguments)} arguments, but the kernel has the accesses "
                f"{local_kernel.accesses}"
            )
        if (pass_layer_arg or constant_layers or iteration_region) and not extruded:
            raise UsageError(f"{what}: layers and regions are of extruded Sets; pass extruded=True")
        if not all(type(argument) in _KINDS for argument in arguments):
            raise UsageError(f"{what}: arguments must be Global-, Dat- or MixedDatKernelArgs")
        self.local_kernel = local_kernel
        self.arguments = tuple(arguments)
        self.extruded = extruded
        self.extruded_periodic = extruded_periodic
        self.constant_layers = constant_layers
        self.subset = subset
        self.iteration_region = iteration_region
        self.pass_layer_arg = pass_layer_arg

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.local_kernel.name

    def check(self, iterset: Set) -> None:
        """Check that this was made for a Set.

        Raises:
            SetTypeError: The Set is extruded, or a Subset, and this is not for such, or not so.
        """
        whole = iterset.superset if isinstance(iterset, Subset) else iterset
        columns = whole if isinstance(whole, ExtrudedSet) else None
        found = {
            "subset": isinstance(iterset, Subset),
            "extruded": columns is not None,
            "constant_layers": columns is not None and columns.constant_layers,
            "extruded_periodic": columns is not None and columns.extruded_periodic,
        }
        wrong = [name for name, value in found.items() if getattr(self, name) != value]
        if wrong:
            raise SetTypeError(
                f"GlobalKernel '{self.name}' was made for another kind of Set than "
                f"'{iterset.name}': {', '.join(f'{name}={found[name]}' for name in wrong)}"
            )


class Parloop(ParLoop):
    """A `GlobalKernel` with data, ready to be called.

    Args:
        global_knl: The loop without data.
        iterset: The Set.
        arguments: The data of each argument.

    Raises:
        UsageError: There are not as many as the kernel has, or of another kind or shape.
        SetTypeError: The Set is of another kind.
        MapTypeError: A Map is missing, or has another arity.
        MapValueError: As for `ParLoop`.
    """

    def __init__(self, global_knl: GlobalKernel, iterset: Set, arguments: Sequence[Any]) -> None:
        what = f"Parloop '{global_knl.name}'"
        if len(arguments) != len(global_knl.arguments):
            raise UsageError(
                f"{what}: {len(arguments)} arguments, expected {len(global_knl.arguments)}"
            )
        global_knl.check(iterset)
        for i, (given, wanted) in enumerate(zip(arguments, global_knl.arguments, strict=True)):
            _check(given, wanted, f"{what}: argument {i}")
        accesses = global_knl.local_kernel.accesses or ()
        super().__init__(
            global_knl.local_kernel,
            iterset,
            *(_called(a, access) for a, access in zip(arguments, accesses, strict=True)),
            iteration_region=global_knl.iteration_region,
            pass_layer_arg=global_knl.pass_layer_arg,
        )
        self.global_kernel = global_knl


def _called(argument: Any, access: Access) -> Any:
    if isinstance(argument, GlobalParloopArg):
        return argument.data(access)
    return argument.data(access, argument.map_)


def _check(given: Any, wanted: Any, what: str) -> None:
    kind = _KINDS[type(wanted)]
    if not isinstance(given, kind):
        raise UsageError(f"{what}: expected a {kind.__name__}, got {given!r}")
    if isinstance(wanted, MixedDatKernelArg):
        maps = [None] * len(given.data) if given.map_ is None else given.map_.split
        fields = [
            DatParloopArg(dat, map_) for dat, map_ in zip(given.data.split, maps, strict=True)
        ]
        if len(fields) != len(wanted.arguments):
            raise UsageError(f"{what}: {len(fields)} fields, expected {len(wanted.arguments)}")
        for i, pair in enumerate(zip(fields, wanted.arguments, strict=True)):
            _check(*pair, f"{what}: field {i}")
        return
    dim = (1,) if getattr(wanted, "index", None) is not None else wanted.dim
    if tuple(given.data.dim) != tuple(np.atleast_1d(dim)):
        raise UsageError(f"{what}: dim {given.data.dim}, expected {wanted.dim}")
    if isinstance(wanted, DatKernelArg):
        arity = None if given.map_ is None else given.map_.arity
        expected = None if wanted.map_ is None else wanted.map_.arity
        if arity != expected:
            raise MapTypeError(f"{what}: a Map of arity {arity}, expected {expected}")
