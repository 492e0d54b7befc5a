# SPDX-License-Identifier: BSD-3-Clause
"""Loops in two steps, as in PyOP2 of 2022: the computation, and the data.

A `GlobalKernel` is a loop without data: a kernel, descriptions of the arguments, and the kind of
Set. A `Parloop` adds data, replaceable by `replace_data`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import (
    KernelTypeError,
    MapTypeError,
    SetTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.execute import (
    begin_to_bring,
    begin_to_gather,
    end_to_bring,
    end_to_gather,
)
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.pyop2 import _global_call as global_call
from pyop2cxx.pyop2._kernel_args import (
    KINDS,
    DatKernelArg,
    DatParloopArg,
    GlobalKernelArg,
    GlobalParloopArg,
    MapKernelArg,
    MatKernelArg,
    MatParloopArg,
    MixedDatKernelArg,
    MixedDatParloopArg,
    MixedMatKernelArg,
    MixedMatParloopArg,
    PassthroughKernelArg,
    called,
)
from pyop2cxx.runtime import communicators
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.items import items_of
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.regions import IterationRegion
    from pyop2cxx.kernel.kernel import LocalKernel
    from pyop2cxx.pipeline.explain import Explanation
    from pyop2cxx.sets.entities import SetPartition
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set


class GlobalKernel:
    """A loop without data.

    Args:
        local_kernel: The kernel, with accesses.
        arguments: Description of each argument.
        extruded: Whether the Set is extruded.
        extruded_periodic: Whether the extrusion is periodic.
        constant_layers: Whether the columns have the same number of layers.
        subset: Whether the Set is a Subset.
        iteration_region: The part of each column.
        pass_layer_arg: Whether the kernel gets the layer.

    Raises:
        UsageError: There are not as many arguments as accesses, or layers without extrusion.
        UnsupportedError: A Global other than READ would be passed twice.
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
        if not isinstance(local_kernel, Kernel):
            raise KernelTypeError(
                f"GlobalKernel: expected a LocalKernel, got {local_kernel!r} of type "
                f"{type(local_kernel).__name__}"
            )
        what = f"GlobalKernel '{local_kernel.name}'"
        if local_kernel.accesses is None or len(local_kernel.accesses) != len(arguments):
            raise UsageError(
                f"{what}: {len(arguments)} arguments, but the kernel has the accesses "
                f"{local_kernel.accesses}"
            )
        if (pass_layer_arg or constant_layers or iteration_region) and not extruded:
            raise UsageError(f"{what}: layers and regions are of extruded Sets; pass extruded=True")
        if not all(type(argument) in KINDS for argument in arguments):
            names = ", ".join(kind.__name__ for kind in KINDS)
            raise UsageError(f"{what}: arguments must be of {names}; got {arguments!r}")
        for i, (argument, access) in enumerate(zip(arguments, local_kernel.accesses, strict=True)):
            if getattr(argument, "double", False) and access != READ:
                raise UnsupportedError(
                    f"{what}: argument {i}: double=True is for a Global that is READ, got "
                    f"{access.name}"
                )
        self.local_kernel = local_kernel
        self.arguments = tuple(arguments)
        self.extruded = extruded
        self.extruded_periodic = extruded_periodic
        self.constant_layers = constant_layers
        self.subset = subset
        self.iteration_region = iteration_region
        self.pass_layer_arg = pass_layer_arg

    def __repr__(self) -> str:
        kinds = ", ".join(type(argument).__name__ for argument in self.arguments)
        return f"<GlobalKernel '{self.name}' of {kinds or 'no arguments'}>"

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.local_kernel.name

    def __call__(self, comm: Any, *args: Any) -> None:
        """Run the loop over memory.

        Args:
            comm: A communicator, of a single process.
            *args: The first element and the last plus 1; then addresses: of the layers, int32, for
                an extruded Set, shape (1, 2), or (elements, 2) for different columns; of the
                entities, int32, for a Subset; of each argument's data, for a MixedDat field by
                field; of the values of each Map, int32, in order of first use. Integers, ctypes
                pointers or arrays. A Mat replaces a matrix's address, because only the Mat knows
                the places of entries; a mixed Mat counts as the blocks do, by rows.

        Raises:
            UsageError: The number of addresses is wrong, an argument is no address, or no Mat where
                required; or entries have no place in a Mat.

        Example:
            >>> from pyop2cxx import op2
            >>> text = "void f(double *x) { x[0] += 1; }"
            >>> local = op2.LocalKernel(text, "f", [op2.INC], ["float64"])
            >>> path = op2.MapKernelArg(1)
            >>> kernel = op2.GlobalKernel(local, [op2.DatKernelArg((1,), path)])
            >>> x, values = np.zeros(2), np.array([0, 1, 1], np.int32)
            >>> kernel(op2.COMM_WORLD, 0, 3, x, values)
            >>> x.tolist()
            [1.0, 2.0]
        """
        communicators.checked_comm(comm, f"GlobalKernel '{self.name}'")
        global_call.call(self, args)

    @property
    def zipped_arguments(self) -> tuple[tuple[Any, Any], ...]:
        """For each argument the access with the dtype, and the description; tuple.

        Raises:
            UsageError: The kernel was made without dtypes.
        """
        return tuple(zip(self.local_kernel.arguments, self.arguments, strict=True))

    @property
    def argtypes(self) -> tuple[type[Any], ...]:
        """The ctypes of a call's arguments behind the communicator: two integers, and addresses."""
        addresses = [ctypes.c_void_p] * global_call.n_addresses(self)
        return (ctypes.c_int, ctypes.c_int, *addresses)

    @property
    def code_to_compile(self) -> str:
        """The text for the current backend, as far as independent of data."""
        return global_call.text(self)

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """Key, equal for equal computations: repeated uses of a Map count, the values do not."""
        numbers: dict[int, int] = {}
        arguments = tuple(_key(argument, numbers) for argument in self.arguments)
        flags = (self.extruded, self.extruded_periodic, self.constant_layers, self.subset)
        kernel = self.local_kernel
        how = (self.iteration_region, self.pass_layer_arg)
        return (kernel.key, kernel.accesses, arguments, flags, how)

    def num_flops(self, iterset: Set) -> int:
        """Return the floating-point operations of a loop over a Set; 0 if unknown."""
        region, layer = self.iteration_region, self.pass_layer_arg
        return self.local_kernel.num_flops * items_of(iterset, region, layer, self.name).n

    def explain(self, iterset: Set, arguments: Sequence[Any]) -> Explanation:
        """Explain how the loop would run over a Set with data.

        Args:
            iterset: As for `Parloop`.
            arguments: As for `Parloop`.

        Raises:
            UsageError: As `Parloop` does.
        """
        return Parloop(self, iterset, arguments).explain()

    def check(self, iterset: Set) -> None:
        """Check the Set of a loop.

        Raises:
            SetTypeError: The Set is extruded, or a Subset, against the description, or the other
                way round.
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
        if not isinstance(global_knl, GlobalKernel):
            raise KernelTypeError(
                f"Parloop: expected a GlobalKernel, got {global_knl!r} of type "
                f"{type(global_knl).__name__}"
            )
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
            *(
                called(given, wanted, access)
                for given, wanted, access in zip(
                    arguments, global_knl.arguments, accesses, strict=True
                )
            ),
            iteration_region=global_knl.iteration_region,
            pass_layer_arg=global_knl.pass_layer_arg,
        )
        self.global_kernel = global_knl

    @property
    def local_kernel(self) -> LocalKernel:
        """The kernel of a single element."""
        return self.global_kernel.local_kernel

    @property
    def comm(self) -> Any:
        """The communicator of the Set."""
        return self.iterset.comm

    @property
    def reduced_globals(self) -> ReducedGlobals:
        """The Globals that the loop writes: setting the argument of one replaces its data."""
        return ReducedGlobals(self)

    def _compute(self, part: SetPartition) -> None:
        """Run a part of the loop, as `ParLoop.compute` does.

        Args:
            part: ``iterset.core_part`` or ``iterset.owned_part``.
        """
        self.compute(part=part)

    def global_to_local_begin(self) -> None:
        """Begin to update the ghosts read by the loop."""
        begin_to_bring(self.effects.ghosts, self.args)

    def global_to_local_end(self) -> None:
        """End `global_to_local_begin`."""
        end_to_bring(self.effects.ghosts, self.args)

    def local_to_global_begin(self) -> None:
        """Begin to send ghost contributions to their owners."""
        begin_to_gather(self.effects.ghosts, self.args)

    def local_to_global_end(self) -> None:
        """End `local_to_global_begin`."""
        end_to_gather(self.effects.ghosts, self.args)

    @property
    def zipped_arguments(self) -> tuple[tuple[Any, Any, Any], ...]:
        """For each argument access with dtype, description, and data; tuple."""
        pairs = self.global_kernel.zipped_arguments
        return tuple((*pair, arg) for pair, arg in zip(pairs, self.args, strict=True))


class ReducedGlobals(Mapping[Any, GlobalParloopArg]):
    """The written Globals of a Parloop with their arguments, as PyOP2 keeps them.

    PyOP2 adds up in a Global of the loop's own, the key, and adds the sum to the argument's data. A
    loop here has no such Global: the key is the data, and setting the argument is `replace_data`.
    """

    def __init__(self, loop: Parloop) -> None:
        self._loop = loop

    def _numbers(self) -> list[int]:
        args = enumerate(self._loop.args)
        return [i for i, arg in args if isinstance(arg.data, Global) and arg.access != READ]

    def _number(self, data: Any) -> int:
        for number in self._numbers():
            if self._loop.args[number].data is data:
                return number
        raise KeyError(data)

    def __getitem__(self, data: Any) -> GlobalParloopArg:
        self._number(data)  # raises for another object
        return GlobalParloopArg(data)

    def __setitem__(self, data: Any, argument: GlobalParloopArg) -> None:
        self._loop.replace_data(self._number(data), argument.data)

    def __iter__(self) -> Iterator[Any]:
        return iter([self._loop.args[number].data for number in self._numbers()])

    def __len__(self) -> int:
        return len(self._numbers())


def _key(argument: Any, numbers: dict[int, int]) -> tuple[Any, ...]:
    """Return the content of an argument, with Maps numbered in order of first use."""

    def of(found: Any) -> Any:
        if isinstance(found, MapKernelArg):
            number = numbers.setdefault(id(found), len(numbers))
            return (number, found.arity, found.offset, found.offset_quotient)
        if isinstance(found, tuple):
            return tuple(map(of, found))
        if is_dataclass(found):
            return (type(found).__name__, *(of(getattr(found, f.name)) for f in fields(found)))
        return found

    return of(argument)  # type: ignore[no-any-return]


def _check(given: Any, wanted: Any, what: str) -> None:
    kinds = KINDS[type(wanted)]
    if not isinstance(given, kinds):
        raise UsageError(f"{what}: expected a {kinds[0].__name__}, got {given!r}")
    if isinstance(wanted, MixedDatKernelArg):
        _check_fields(given, wanted, what)
    elif isinstance(wanted, MixedMatKernelArg):
        _check_blocks(given, wanted, what)
    elif isinstance(wanted, MatKernelArg):
        blocks = wanted.block_dims
        if tuple(given.data.block_dims) != blocks:
            raise UsageError(f"{what}: blocks of {given.data.block_dims}, expected {blocks}")
        for map_, expected in zip(given.maps, wanted.maps, strict=True):
            _check_arity(map_, expected, what)
    elif not isinstance(wanted, PassthroughKernelArg):
        _check_values(given, wanted, what)


def _check_values(given: Any, wanted: Any, what: str) -> None:
    """Check the shape of a Dat's values, or the number of a Global's: a kernel gets them flat."""
    is_component = getattr(wanted, "index", None) is not None
    dim = (1,) if is_component else tuple(np.atleast_1d(wanted.dim)) or (1,)
    fits = tuple(given.data.dim) == dim
    if isinstance(wanted, GlobalKernelArg):
        fits = given.data.cdim == np.prod(dim)
    if not fits:
        raise UsageError(f"{what}: dim {given.data.dim}, expected {wanted.dim}")
    if isinstance(wanted, DatKernelArg):
        _check_arity(given.map_, wanted.map_, what)


def _check_fields(given: MixedDatParloopArg, wanted: MixedDatKernelArg, what: str) -> None:
    dats: tuple[Any, ...] = given.data.split
    maps = [None] * len(dats) if given.map_ is None else given.map_.split
    if len(dats) != len(wanted.arguments):
        raise UsageError(f"{what}: {len(dats)} fields, expected {len(wanted.arguments)}")
    for i, (dat, map_, expected) in enumerate(zip(dats, maps, wanted.arguments, strict=True)):
        is_global = isinstance(expected, GlobalKernelArg)
        part = GlobalParloopArg(dat) if is_global else DatParloopArg(dat, map_)
        _check(part, expected, f"{what}: field {i}")


def _check_blocks(given: MixedMatParloopArg, wanted: MixedMatKernelArg, what: str) -> None:
    shape = given.data.sparsity.shape
    if shape != tuple(wanted.shape):
        raise UsageError(f"{what}: {shape} blocks, expected {tuple(wanted.shape)}")
    sides = [tuple(side) for side in given.maps]
    if tuple(map(len, sides)) != shape:
        raise MapTypeError(f"{what}: a pair of MixedMaps, of {shape} Maps, got {given.maps!r}")
    for number, expected in enumerate(wanted.arguments):
        i, j = divmod(number, shape[1])
        part = MatParloopArg(given.data[i, j], (sides[0][i], sides[1][j]))
        _check(part, expected, f"{what}: block {i, j}")


def _check_arity(given: Map | None, wanted: Any, what: str) -> None:
    arity = None if given is None else given.arity
    expected = None if wanted is None else wanted.arity
    if arity != expected:
        raise MapTypeError(f"{what}: a Map of arity {arity}, expected {expected}")
