# SPDX-License-Identifier: BSD-3-Clause
"""
The C++ core of pyop2cxx. Not public: use pyop2cxx.op2.
"""

from __future__ import annotations
import collections.abc
import typing
import typing_extensions
from . import jit
from . import plan
from . import cg

__all__: list[str] = [
    "Access",
    "Alias",
    "Binding",
    "Buffer",
    "ConstRef",
    "DType",
    "DirectDat",
    "DispatchEvent",
    "Dispatcher",
    "Executable",
    "Facts",
    "GlobalRead",
    "GlobalReduce",
    "IndirectDat",
    "JitTable",
    "Kernel",
    "KernelBody",
    "KernelFacts",
    "KernelParameter",
    "KernelType",
    "Lanes",
    "LaunchOptions",
    "Loop",
    "LoweringMapFacts",
    "LoweringOptions",
    "MapRef",
    "MapTable",
    "MatArg",
    "Module",
    "ParameterFacts",
    "PreparedLoop",
    "Provider",
    "Query",
    "STRATEGIES",
    "Timing",
    "available_threads",
    "c_name_of",
    "cg",
    "choose_strategy",
    "digest",
    "dtype_from_name",
    "force_strategy",
    "forked_after_parallel_region",
    "jit",
    "kernel_facts",
    "kernel_text",
    "lower",
    "lowering_key",
    "make_executable",
    "needs",
    "note_parallel_region",
    "plan",
    "print_source",
    "prototypes",
    "why_not",
]

class DType:
    """
    Members:

      int8

      int16

      int32

      int64

      uint8

      uint16

      uint32

      uint64

      float32

      float64

      complex64

      complex128
    """

    __members__: typing.ClassVar[dict[str, DType]]
    complex128: typing.ClassVar[DType]
    complex64: typing.ClassVar[DType]
    float32: typing.ClassVar[DType]
    float64: typing.ClassVar[DType]
    int16: typing.ClassVar[DType]
    int32: typing.ClassVar[DType]
    int64: typing.ClassVar[DType]
    int8: typing.ClassVar[DType]
    uint16: typing.ClassVar[DType]
    uint32: typing.ClassVar[DType]
    uint64: typing.ClassVar[DType]
    uint8: typing.ClassVar[DType]
    @typing.overload
    def __eq__(self, other: DType) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: DType) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Access:
    """
    Members:

      read

      write

      rw

      inc

      min

      max
    """

    __members__: typing.ClassVar[dict[str, Access]]
    inc: typing.ClassVar[Access]
    max: typing.ClassVar[Access]
    min: typing.ClassVar[Access]
    read: typing.ClassVar[Access]
    rw: typing.ClassVar[Access]
    write: typing.ClassVar[Access]
    @typing.overload
    def __eq__(self, other: Access) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Access) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Buffer:
    def __init__(
        self: Buffer,
        address: typing.SupportsInt | typing.SupportsIndex,
        n_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def increment_version(self: Buffer) -> None: ...
    def reset(
        self: Buffer,
        address: typing.SupportsInt | typing.SupportsIndex,
        n_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def version(self) -> int: ...

class MapTable:
    def __init__(
        self,
        address: typing.SupportsInt | typing.SupportsIndex,
        index_bytes: typing.SupportsInt | typing.SupportsIndex,
        n_rows: typing.SupportsInt | typing.SupportsIndex,
        arity: typing.SupportsInt | typing.SupportsIndex,
        n_targets: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def increment_version(self) -> None: ...
    @property
    def arity(self) -> int: ...
    @property
    def index_bytes(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_targets(self) -> int: ...
    @property
    def version(self) -> int: ...

class KernelType:
    def c_text(self, name: str) -> str: ...
    @property
    def base(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def dtype(self) -> DType | None: ...
    @property
    def is_const(self) -> bool: ...

class KernelParameter:
    def __repr__(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> KernelType: ...

class KernelBody:
    def __init__(
        self, functions: tuple[typing.Any, ...], tables: tuple[typing.Any, ...]
    ) -> None: ...
    def equals(self, other: KernelBody) -> bool: ...
    @property
    def parameters(self) -> list[KernelParameter]: ...

class ParameterFacts:
    def commutes(self, access: Access) -> bool: ...
    def foreign_read_line(self, access: Access) -> int: ...
    @property
    def first_write_line(self) -> int: ...
    @property
    def is_read(self) -> bool: ...
    @property
    def is_written(self) -> bool: ...
    @property
    def n_surely_written(self) -> int: ...

class KernelFacts:
    @property
    def free_names(self) -> list[str]: ...
    @property
    def is_pure(self) -> bool: ...
    @property
    def n_operations(self) -> int: ...
    @property
    def parameters(self) -> list[ParameterFacts]: ...
    @property
    def unknown_functions(self) -> list[str]: ...

class Kernel:
    def __init__(
        self,
        *,
        name: str,
        text: str,
        parameters: typing.Any,
        body: KernelBody | None,
        opaque_reason: str,
        cpp: bool,
        headers: collections.abc.Sequence[str],
        include_dirs: collections.abc.Sequence[str],
        options: collections.abc.Sequence[str],
        ldargs: collections.abc.Sequence[str],
        requires_zeroed_output_arguments: bool,
        flop_count: typing.SupportsInt | typing.SupportsIndex,
        tokens: collections.abc.Sequence[str],
        header_contents: collections.abc.Sequence[str],
        abi: str,
    ) -> None: ...
    @property
    def body(self) -> KernelBody | None: ...
    @property
    def cpp(self) -> bool: ...
    @property
    def flop_count(self) -> int: ...
    @property
    def has_signature(self) -> bool: ...
    @property
    def headers(self) -> list[str]: ...
    @property
    def include_dirs(self) -> list[str]: ...
    @property
    def key(self) -> str: ...
    @property
    def ldargs(self) -> list[str]: ...
    @property
    def name(self) -> str: ...
    @property
    def opaque_reason(self) -> str: ...
    @property
    def options(self) -> list[str]: ...
    @property
    def parameters(self) -> list[KernelParameter]: ...
    @property
    def requires_zeroed_output_arguments(self) -> bool: ...
    @property
    def text(self) -> str: ...

class Alias:
    def __init__(
        self,
        data: typing.SupportsInt | typing.SupportsIndex,
        memory: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class DirectDat:
    def __init__(
        self,
        dtype: DType,
        dim: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        alias: Alias,
    ) -> None: ...

class IndirectDat:
    def __init__(
        self,
        dtype: DType,
        dim: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        map: typing.SupportsInt | typing.SupportsIndex,
        alias: Alias,
    ) -> None: ...

class GlobalRead:
    def __init__(
        self, dtype: DType, dim: typing.SupportsInt | typing.SupportsIndex, alias: Alias
    ) -> None: ...

class GlobalReduce:
    def __init__(
        self,
        dtype: DType,
        dim: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        alias: Alias,
    ) -> None: ...

class MatArg:
    def __init__(
        self,
        dtype: DType,
        row_dim: typing.SupportsInt | typing.SupportsIndex,
        col_dim: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        row_map: typing.SupportsInt | typing.SupportsIndex,
        col_map: typing.SupportsInt | typing.SupportsIndex,
        masked: bool,
        unrolled: bool,
        alias: Alias,
    ) -> None: ...

class MapRef:
    def __init__(
        self,
        arity: typing.SupportsInt | typing.SupportsIndex,
        toset: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class ConstRef:
    def __init__(
        self, name: str, dtype: DType, dim: typing.SupportsInt | typing.SupportsIndex
    ) -> None: ...

class Loop:
    def __init__(
        self,
        kernel: Kernel,
        args: collections.abc.Sequence[
            DirectDat | IndirectDat | GlobalRead | GlobalReduce | MatArg
        ],
        maps: collections.abc.Sequence[MapRef],
        constants: collections.abc.Sequence[ConstRef],
    ) -> None: ...
    def dump(self) -> str: ...
    def n_slots(self) -> int: ...
    def signature(self) -> str: ...

class Lanes:
    """
    Members:

      one

      threads

      grid
    """

    __members__: typing.ClassVar[dict[str, Lanes]]
    grid: typing.ClassVar[Lanes]
    one: typing.ClassVar[Lanes]
    threads: typing.ClassVar[Lanes]
    @typing.overload
    def __eq__(self, other: Lanes) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Lanes) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Facts:
    def __init__(
        self,
        lanes: Lanes,
        atomics: bool,
        float_atomics: bool,
        warp: typing.SupportsInt | typing.SupportsIndex,
        one_address_space: bool,
        complex_arithmetic: bool,
        float64: bool,
    ) -> None: ...
    @property
    def atomics(self) -> bool: ...
    @property
    def complex_arithmetic(self) -> bool: ...
    @property
    def float64(self) -> bool: ...
    @property
    def float_atomics(self) -> bool: ...
    @property
    def lanes(self) -> Lanes: ...
    @property
    def one_address_space(self) -> bool: ...
    @property
    def threads(self) -> bool: ...
    @property
    def warp(self) -> int: ...

class LoweringMapFacts:
    def __init__(
        self, index_bytes: typing.SupportsInt | typing.SupportsIndex, injective: bool
    ) -> None: ...

class LoweringOptions:
    def __init__(
        self,
        deterministic: bool,
        debug: bool,
        element_bytes: typing.SupportsInt | typing.SupportsIndex,
        entry_bytes: typing.SupportsInt | typing.SupportsIndex,
        target_bytes: typing.SupportsInt | typing.SupportsIndex,
        position_bytes: typing.SupportsInt | typing.SupportsIndex,
        convention: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    @property
    def deterministic(self) -> bool: ...

class Module:
    @property
    def launch_name(self) -> str: ...

class Executable:
    @property
    def name(self) -> str: ...
    @property
    def strategy(self) -> str: ...

class Query:
    def __init__(self, loop: str, signature: str, source: str) -> None: ...

class DispatchEvent:
    @property
    def loop(self) -> str: ...
    @property
    def n_resolved(self) -> int: ...
    @property
    def provider(self) -> str: ...
    @property
    def rejected(self) -> str: ...
    @property
    def strategy(self) -> str: ...

class Provider:
    @property
    def name(self) -> str: ...

class JitTable(Provider):
    def __init__(self, max_entries: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def clear(self) -> None: ...
    def insert(self, query: Query, executable: Executable) -> None: ...

class Dispatcher:
    def __init__(self) -> None: ...
    def add(self, provider: Provider) -> None: ...
    def clear_events(self) -> None: ...
    def events(self) -> list[DispatchEvent]: ...
    def resolve(self, query: Query) -> Executable: ...

class Timing:
    def __init__(self) -> None: ...
    @property
    def n_calls(self) -> int: ...
    @property
    def nanoseconds(self) -> int: ...
    @property
    def plan_nanoseconds(self) -> int: ...
    @property
    def useful_bytes(self) -> int: ...

class Binding:
    def __init__(
        self,
        arguments: collections.abc.Sequence[Buffer],
        constants: collections.abc.Sequence[Buffer],
        maps: collections.abc.Sequence[MapTable],
        spaces: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        n_elements: typing.SupportsInt | typing.SupportsIndex,
        matrices: collections.abc.Sequence[plan.PositionSpec],
    ) -> None: ...

class LaunchOptions:
    def __init__(
        self,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
        block_size: typing.SupportsInt | typing.SupportsIndex,
        useful_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class PreparedLoop:
    def __init__(
        self,
        executable: Executable,
        binding: Binding,
        options: LaunchOptions,
        plans: plan.PlanCache,
        timing: Timing,
    ) -> None: ...
    def prepare(self) -> None: ...
    def run(self) -> None: ...
    @property
    def n_colours(self) -> int: ...
    @property
    def plan_bytes(self) -> int: ...

def available_threads() -> int: ...
def c_name_of(dtype: DType) -> str: ...
def choose_strategy(
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[LoweringMapFacts],
    options: LoweringOptions,
) -> tuple[str, str]: ...
def digest(bytes: str) -> str: ...
def dtype_from_name(name: str) -> DType: ...
def force_strategy(
    strategy: str,
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[LoweringMapFacts],
    options: LoweringOptions,
) -> tuple[str, str]: ...
def forked_after_parallel_region() -> bool: ...
def kernel_facts(body: KernelBody) -> KernelFacts: ...
def kernel_text(kernel: Kernel, line_markers: bool) -> str: ...
def lower(
    loop: Loop,
    strategy: str,
    facts: Facts,
    maps: collections.abc.Sequence[LoweringMapFacts],
    options: LoweringOptions,
) -> tuple[Module, dict[str, str]]: ...
def lowering_key(
    strategy: str,
    facts: Facts,
    maps: collections.abc.Sequence[LoweringMapFacts],
    options: LoweringOptions,
) -> str: ...
def make_executable(
    module: Module, library: jit.Library, strategy: str, is_parallel: bool
) -> Executable: ...
def needs(module: Module, loop: Loop) -> list[str]: ...
def note_parallel_region() -> None: ...
def print_source(
    module: Module, loop: Loop, dialect: cg.Dialect, line_markers: bool, linkage: str
) -> str: ...
def prototypes(module: Module, dialect: cg.Dialect) -> list[str]: ...
def why_not(
    strategy: str,
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[LoweringMapFacts],
    options: LoweringOptions,
) -> str: ...

STRATEGIES: list[str] = ["direct", "owner", "scratch", "atomic", "block", "colour"]
__version__: str
