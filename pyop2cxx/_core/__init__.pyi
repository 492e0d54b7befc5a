# SPDX-License-Identifier: BSD-3-Clause
"""
The C++ core of pyop2cxx. Not public: use pyop2cxx.op2.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing
import typing_extensions
from . import mesh
from . import jit
from . import plan
from . import cg
from . import chain
from . import cuda
from . import exchange
from . import graph

__all__: list[str] = [
    "Access",
    "AheadTable",
    "Alias",
    "Binding",
    "Buffer",
    "Candidate",
    "CheckInput",
    "CheckSite",
    "CheckedBody",
    "Coherence",
    "Column",
    "ConstRef",
    "Contraction",
    "CornerCandidate",
    "DEVICE_CLASSES",
    "DType",
    "Device",
    "DeviceBinary",
    "DeviceCompiler",
    "DeviceInfo",
    "DeviceMirror",
    "DeviceService",
    "DeviceVendor",
    "DirectDat",
    "Direction",
    "DispatchEvent",
    "Dispatcher",
    "Executable",
    "Facts",
    "GlobalRead",
    "GlobalReduce",
    "GraphTask",
    "Guard",
    "IncompleteLu",
    "IndirectDat",
    "Iteration",
    "JitTable",
    "Kernel",
    "KernelBody",
    "KernelFacts",
    "KernelParameter",
    "KernelType",
    "KrylovEnd",
    "KrylovMethod",
    "LaneRule",
    "LaneWork",
    "Lanes",
    "LaunchOptions",
    "Loop",
    "LoopSizes",
    "LoweringOptions",
    "MOST_RAGGED",
    "MOST_SET_BYTES",
    "MapRef",
    "MapTable",
    "MatArg",
    "Messages",
    "Module",
    "Move",
    "Operand",
    "OperationCount",
    "OperationDecision",
    "Operations",
    "OutOfBounds",
    "PASSES",
    "ParameterFacts",
    "Phase",
    "Place",
    "PreparedLoop",
    "Program",
    "Provider",
    "Query",
    "RAGGED",
    "RowRef",
    "RuntimeDevice",
    "STRATEGIES",
    "Sections",
    "Semantics",
    "SizedArgument",
    "SizedMap",
    "SparseInverse",
    "TaskRow",
    "Timing",
    "Trace",
    "TraceSpan",
    "Transfer",
    "Trial",
    "Tunable",
    "Tuning",
    "Use",
    "VISITED_ALONE",
    "Vectors",
    "Where",
    "Widths",
    "arguments_of",
    "available_threads",
    "axpy",
    "c_name_of",
    "candidates",
    "cg",
    "chain",
    "checked_kernel",
    "choose_lanes",
    "choose_strategy",
    "chosen_device",
    "column_fill",
    "combine",
    "common_dtype",
    "corner_candidates",
    "cuda",
    "digest",
    "dot",
    "dtype_from_name",
    "elementary_sources",
    "exact_rounded",
    "exact_sums",
    "exchange",
    "force_strategy",
    "forked_after_parallel_region",
    "graph",
    "is_evenly_covered",
    "is_known_function",
    "is_multiplied",
    "jit",
    "kernel_facts",
    "kernel_text",
    "known_libraries",
    "lane_rule",
    "lane_work",
    "launches_of",
    "least_fill",
    "local_names",
    "lower",
    "lowering_key",
    "mesh",
    "multiply",
    "needs",
    "note_parallel_region",
    "open_teams_by",
    "out_of_bounds",
    "overwrites",
    "packed_ragged",
    "part_elsewhere",
    "part_mixed",
    "plain_kernel",
    "plan",
    "print_source",
    "processor_name",
    "prototypes",
    "range_of",
    "read_device_executable",
    "read_executable",
    "solve_krylov",
    "stages_of",
    "sums_targets",
    "trace_clock",
    "tunables",
    "tuning_of_class",
    "useful_bytes",
    "usual_tuning",
    "vendor",
    "visits_pairs_on_lanes",
    "why_not_on_lanes",
    "why_untrusted",
    "widths_of",
    "with_checks",
    "with_suspicion",
    "written_down",
    "written_down_for_device",
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

      float16

      bfloat16
    """

    __members__: typing.ClassVar[dict[str, DType]]
    bfloat16: typing.ClassVar[DType]
    complex128: typing.ClassVar[DType]
    complex64: typing.ClassVar[DType]
    float16: typing.ClassVar[DType]
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

class Tunable:
    @property
    def is_power(self) -> bool: ...
    @property
    def least(self) -> float: ...
    @property
    def meaning(self) -> str: ...
    @property
    def most(self) -> float: ...
    @property
    def name(self) -> str: ...
    @property
    def steers(self) -> str: ...
    @property
    def unit(self) -> str: ...

class Tuning:
    def __eq__(self, arg0: typing.Any) -> bool: ...
    def __getitem__(self, name: str) -> bool | int | float: ...
    def __hash__(self) -> int: ...
    def __init__(self) -> None: ...
    def __str__(self) -> str: ...
    def values(self) -> list[tuple[str, bool | int | float]]: ...
    def with_value(
        self,
        name: str,
        value: bool
        | typing.SupportsInt
        | typing.SupportsIndex
        | typing.SupportsFloat
        | typing.SupportsIndex,
    ) -> Tuning: ...

class Trial:
    def __init__(
        self,
        *,
        n_arms: typing.SupportsInt | typing.SupportsIndex,
        n_each: typing.SupportsInt | typing.SupportsIndex,
        n_warm: typing.SupportsInt | typing.SupportsIndex = 0,
        preferred: typing.SupportsInt | typing.SupportsIndex = 0,
        gain: typing.SupportsFloat | typing.SupportsIndex = 1.0,
    ) -> None: ...
    def note(
        self,
        arm: typing.SupportsInt | typing.SupportsIndex,
        took: typing.SupportsFloat | typing.SupportsIndex | None,
    ) -> None: ...
    def shortest(self, arm: typing.SupportsInt | typing.SupportsIndex) -> float | None: ...
    @property
    def best(self) -> int: ...
    @property
    def is_decided(self) -> bool: ...
    @property
    def next(self) -> int: ...

class TraceSpan:
    def __init__(
        self,
        what: str,
        kind: str,
        place: str,
        begin: typing.SupportsInt | typing.SupportsIndex,
        nanoseconds: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    @property
    def begin(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def nanoseconds(self) -> int: ...
    @property
    def place(self) -> str: ...
    @property
    def what(self) -> str: ...

class Trace:
    def __init__(self) -> None: ...
    def add(self, span: TraceSpan) -> None: ...
    def spans(self) -> list[TraceSpan]: ...
    def start(self, every: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def stop(self) -> None: ...
    @property
    def is_on(self) -> bool: ...
    @property
    def n_dropped(self) -> int: ...

class Use:
    """
    Members:

      read

      write

      read_write
    """

    __members__: typing.ClassVar[dict[str, Use]]
    read: typing.ClassVar[Use]
    read_write: typing.ClassVar[Use]
    write: typing.ClassVar[Use]
    @typing.overload
    def __eq__(self, other: Use) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Use) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Where:
    """
    Members:

      neither

      host

      device

      both
    """

    __members__: typing.ClassVar[dict[str, Where]]
    both: typing.ClassVar[Where]
    device: typing.ClassVar[Where]
    host: typing.ClassVar[Where]
    neither: typing.ClassVar[Where]
    @typing.overload
    def __eq__(self, other: Where) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Where) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Direction:
    """
    Members:

      to_device

      to_host
    """

    __members__: typing.ClassVar[dict[str, Direction]]
    to_device: typing.ClassVar[Direction]
    to_host: typing.ClassVar[Direction]
    @typing.overload
    def __eq__(self, other: Direction) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Direction) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Transfer:
    @property
    def argument(self) -> int: ...
    @property
    def cause(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def direction(self) -> Direction: ...
    @property
    def is_explicit(self) -> bool: ...
    @property
    def line(self) -> str: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def n_copies(self) -> int: ...
    @property
    def nanoseconds(self) -> int: ...
    @property
    def what(self) -> str: ...

class Device:
    def finish(self) -> None: ...
    @property
    def name(self) -> str: ...

class Coherence:
    is_strict: bool
    def __init__(self) -> None: ...
    def attribute(self, line: str) -> None: ...
    def clear_transfers(self) -> None: ...
    def transfers(self) -> list[Transfer]: ...
    def watch_all(self, is_on: bool) -> None: ...
    def written_in_vain(self) -> list[str]: ...
    @property
    def is_active(self) -> bool: ...
    @property
    def n_looks(self) -> int: ...
    @property
    def n_threads(self) -> int: ...
    @n_threads.setter
    def n_threads(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def trace(self) -> Trace: ...

class Buffer:
    def __init__(
        self: Buffer,
        coherence: Coherence,
        what: str,
        is_soa: bool,
        dim: typing.SupportsInt | typing.SupportsIndex,
        item_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def copy_on_device(self: Buffer, source: Buffer) -> bool: ...
    def increment_version(self: Buffer) -> None: ...
    def on_device(
        self: Buffer, device: Device, use: Use, cause: str, is_explicit: bool
    ) -> bool: ...
    def on_host(self: Buffer, use: Use, cause: str, is_explicit: bool) -> bool: ...
    def release(self: Buffer, is_kept: bool) -> bool: ...
    def reset(
        self: Buffer,
        address: typing.SupportsInt | typing.SupportsIndex,
        n_bytes: typing.SupportsInt | typing.SupportsIndex,
        is_zero: bool,
    ) -> None: ...
    def set_on_device(self: Buffer, device: Device, value: bytes) -> None: ...
    def watch(self: Buffer, is_on: bool) -> None: ...
    def zero_on_device(self: Buffer) -> bool: ...
    @property
    def address(self) -> int: ...
    @property
    def has_copies(self) -> bool: ...
    @property
    def is_soa(self) -> bool: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def where(self) -> Where: ...

class Guard:
    def __init__(self, buffer: Buffer, device: Device) -> None: ...
    def n_changed(self) -> int: ...

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
    def move_to(self, address: typing.SupportsInt | typing.SupportsIndex) -> None: ...
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
    @property
    def scalar_text(self) -> str: ...

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
        self,
        functions: tuple[typing.Any, ...],
        tables: tuple[typing.Any, ...],
        structures: tuple[typing.Any, ...] = (),
        teams: tuple[typing.Any, ...] = (),
    ) -> None: ...
    def equals(self, other: KernelBody) -> bool: ...
    @property
    def parameters(self) -> list[KernelParameter]: ...

class ParameterFacts:
    def commutes(self, access: Access) -> bool: ...
    def foreign_read_line(self, access: Access) -> int: ...
    @property
    def constants(self) -> dict[int, int | float]:
        """
        Components that certainly hold this number after a call.
        """
    @property
    def copies(self) -> dict[int, tuple[int, int]]:
        """
        Components that certainly hold what a call loaded from there, (parameter, component), as it was then: a call may have written there before, and may since.
        """
    @property
    def first_write_line(self) -> int: ...
    @property
    def is_read(self) -> bool: ...
    @property
    def is_written(self) -> bool: ...
    @property
    def n_surely_written(self) -> int: ...
    @property
    def store_line(self) -> int: ...
    @property
    def surely_written(self) -> set[int]:
        """
        Components that a call certainly writes.
        """

class KernelFacts:
    @property
    def float_bytes(self) -> int: ...
    @property
    def free_names(self) -> list[str]: ...
    @property
    def has_open_loops(self) -> bool: ...
    @property
    def is_pure(self) -> bool: ...
    @property
    def n_operations(self) -> int: ...
    @property
    def parameters(self) -> list[ParameterFacts]: ...
    @property
    def unknown_functions(self) -> list[str]: ...

class OutOfBounds:
    @property
    def array(self) -> str: ...
    @property
    def extent(self) -> int: ...
    @property
    def index(self) -> int: ...
    @property
    def is_guarded(self) -> bool: ...
    @property
    def line(self) -> int: ...
    @property
    def parameter(self) -> int: ...

class CheckInput:
    def key(self) -> str: ...
    @property
    def accesses(self) -> list[Access | None]: ...
    @property
    def extents(self) -> list[int]: ...
    @property
    def rows(self) -> dict[int, tuple[list[int], int]]: ...

class CheckSite:
    @property
    def check(self) -> str: ...
    @property
    def extent(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def parameter(self) -> int: ...

class CheckedBody:
    @property
    def body(self) -> KernelBody: ...
    @property
    def entry(self) -> str: ...
    @property
    def has_bits(self) -> bool: ...
    @property
    def line(self) -> int: ...
    @property
    def n_stored(self) -> list[int]: ...
    @property
    def sites(self) -> list[CheckSite]: ...

class Contraction:
    @property
    def after(self) -> int: ...
    @property
    def before(self) -> int: ...
    @property
    def n_sums(self) -> int: ...

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
        contract: bool = False,
    ) -> None: ...
    @property
    def body(self) -> KernelBody | None: ...
    @property
    def contraction(self) -> Contraction: ...
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
    @property
    def data(self) -> int: ...

class DirectDat:
    def __init__(
        self,
        dtype: DType,
        dim: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        alias: Alias,
        stride: typing.SupportsInt | typing.SupportsIndex,
        component: typing.SupportsInt | typing.SupportsIndex,
        stored: DType | None,
    ) -> None: ...

class IndirectDat:
    def __init__(
        self,
        dtype: DType,
        dim: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        map: typing.SupportsInt | typing.SupportsIndex,
        alias: Alias,
        stride: typing.SupportsInt | typing.SupportsIndex,
        component: typing.SupportsInt | typing.SupportsIndex,
        stored: DType | None,
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
        by_columns: bool,
        stored: DType | None,
    ) -> None: ...

class RowRef:
    def __init__(
        self,
        slot: typing.SupportsInt | typing.SupportsIndex,
        offset: typing.SupportsInt | typing.SupportsIndex,
        quotient: typing.SupportsInt | typing.SupportsIndex,
        above: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class MapRef:
    def __init__(
        self,
        arity: typing.SupportsInt | typing.SupportsIndex,
        toset: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        rows: collections.abc.Sequence[RowRef],
        ragged: bool = False,
    ) -> None: ...
    @property
    def arity(self) -> int: ...

class Iteration:
    def __init__(
        self,
        subset: bool,
        extruded: bool,
        constant_layers: bool,
        periodic: bool,
        pass_layer: bool,
        index_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def with_element(self) -> Iteration: ...

class ConstRef:
    def __init__(
        self, name: str, dtype: DType, dim: typing.SupportsInt | typing.SupportsIndex
    ) -> None: ...

class Place:
    def __init__(
        self,
        row: typing.SupportsInt | typing.SupportsIndex,
        column: typing.SupportsInt | typing.SupportsIndex,
        n_columns: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Operand:
    def __init__(
        self,
        arg: DirectDat | IndirectDat | GlobalRead | GlobalReduce | MatArg,
        parameter: typing.SupportsInt | typing.SupportsIndex,
        place: Place | None,
    ) -> None: ...

class Loop:
    def __init__(
        self,
        kernel: Kernel,
        args: collections.abc.Sequence[Operand],
        maps: collections.abc.Sequence[MapRef],
        constants: collections.abc.Sequence[ConstRef],
        iteration: Iteration,
        set: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def check_input(
        self,
        extents: collections.abc.Mapping[
            typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
        ] = {},
        rows: collections.abc.Mapping[
            typing.SupportsInt | typing.SupportsIndex,
            tuple[
                collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
                typing.SupportsInt | typing.SupportsIndex,
            ],
        ] = {},
    ) -> CheckInput: ...
    def dump(self) -> str: ...
    def fields(self) -> list[tuple[str, str]]: ...
    def kernel_stages(self) -> list[tuple[str, str]]:
        """
        Names and texts of what the kernel is, as parsed and after each pass over the tree.
        """
    def n_slots(self) -> int: ...
    def signature(self) -> str: ...
    @property
    def has_matrices(self) -> bool: ...
    @property
    def iteration(self) -> Iteration: ...
    @property
    def maps(self) -> list[MapRef]: ...

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
        *,
        lanes: Lanes,
        atomics: bool,
        warp: typing.SupportsInt | typing.SupportsIndex,
        one_address_space: bool,
        complex_arithmetic: bool,
        float64: bool,
        fences: bool,
        fetches: bool = False,
        any_kernel: bool = False,
        rows_in_place: bool = False,
        const_optional: bool = False,
    ) -> None: ...
    def equals(self, arg0: Facts) -> bool: ...
    def on(
        self,
        *,
        is_processor: bool,
        has_float64: bool,
        device_warp: typing.SupportsInt | typing.SupportsIndex = 0,
        device_shared_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> Facts: ...
    @property
    def complex_arithmetic(self) -> bool: ...
    @property
    def device_class(self) -> str: ...
    @property
    def float64(self) -> bool: ...
    @property
    def lanes(self) -> Lanes: ...
    @property
    def threads(self) -> bool: ...
    @property
    def vectors_in_lane(self) -> bool: ...
    @property
    def warp(self) -> int: ...

class Semantics:
    def __init__(
        self,
        *,
        deterministic: bool,
        debug: bool,
        elementary: str,
        convention: typing.SupportsInt | typing.SupportsIndex,
        by_element: bool = False,
    ) -> None: ...
    @property
    def by_element(self) -> bool: ...
    @property
    def deterministic(self) -> bool: ...
    @property
    def elementary(self) -> str: ...

class Widths:
    @property
    def gathered(self) -> bool: ...
    @property
    def index_bytes(self) -> int: ...
    @property
    def padded(self) -> bool: ...
    @property
    def position_bytes(self) -> int: ...
    @property
    def scattered(self) -> bool: ...
    @property
    def summed(self) -> bool: ...

class LoweringOptions:
    by_pairs: bool
    by_slot: bool
    def __init__(self, *, semantics: Semantics, widths: Widths, tuning: Tuning) -> None: ...
    def for_any_mesh(self) -> LoweringOptions: ...
    def on_lanes(
        self,
        lanes: typing.SupportsInt | typing.SupportsIndex,
        gather_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> LoweringOptions: ...
    def placed(
        self, position_bytes: typing.SupportsInt | typing.SupportsIndex
    ) -> LoweringOptions: ...
    def summing(self, in_blocks: bool) -> LoweringOptions: ...
    def tuned(self, tuning: Tuning) -> LoweringOptions: ...
    def ungathered(self) -> LoweringOptions: ...
    @property
    def corners(self) -> list[tuple[int, int]]: ...
    @corners.setter
    def corners(
        self,
        arg1: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
            ]
        ],
    ) -> None: ...
    @property
    def gather_bytes(self) -> int: ...
    @property
    def lanes(self) -> int: ...
    @property
    def semantics(self) -> Semantics: ...
    @property
    def tuning(self) -> Tuning: ...
    @property
    def widths(self) -> Widths: ...

class LaneRule:
    @property
    def least_operations(self) -> int: ...
    @property
    def least_operations_a_scalar(self) -> int: ...

class LaneWork:
    @property
    def n_calls(self) -> int: ...
    @property
    def n_in_rows(self) -> int: ...
    @property
    def n_operations(self) -> int: ...
    @property
    def n_scalars(self) -> int: ...
    @property
    def n_slow(self) -> int: ...
    @property
    def widest(self) -> int: ...

class SizedMap:
    def __init__(
        self,
        id: typing.SupportsInt | typing.SupportsIndex,
        table: MapTable,
        n_targets: typing.SupportsInt | typing.SupportsIndex,
        arity: typing.SupportsInt | typing.SupportsIndex,
        index_bytes: typing.SupportsInt | typing.SupportsIndex,
        slots: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    ) -> None: ...

class SizedArgument:
    def __init__(
        self,
        *,
        data: typing.SupportsInt | typing.SupportsIndex,
        access: Access,
        map: typing.SupportsInt | typing.SupportsIndex,
        columns: typing.SupportsInt | typing.SupportsIndex,
        target: typing.SupportsInt | typing.SupportsIndex,
        n_scalars: typing.SupportsInt | typing.SupportsIndex,
        n_rows: typing.SupportsInt | typing.SupportsIndex,
        row_scalars: typing.SupportsInt | typing.SupportsIndex,
        row_bytes: typing.SupportsInt | typing.SupportsIndex,
        matrix_bytes: typing.SupportsInt | typing.SupportsIndex,
        matrix_scalars: typing.SupportsInt | typing.SupportsIndex,
        position_bytes: typing.SupportsInt | typing.SupportsIndex,
        is_soa: bool,
    ) -> None: ...

class LoopSizes:
    def __init__(
        self,
        *,
        n_items: typing.SupportsInt | typing.SupportsIndex,
        n_entities: typing.SupportsInt | typing.SupportsIndex,
        n_whole: typing.SupportsInt | typing.SupportsIndex,
        is_whole: bool,
        n_slots: typing.SupportsInt | typing.SupportsIndex,
        maps: collections.abc.Sequence[SizedMap],
        arguments: collections.abc.Sequence[SizedArgument],
    ) -> None: ...
    @property
    def entry_bytes(self) -> int: ...

class Candidate:
    @property
    def bytes(self) -> int: ...
    @property
    def is_possible(self) -> bool: ...
    @property
    def operations(self) -> int: ...
    @property
    def strategy(self) -> str: ...
    @property
    def why(self) -> str: ...

class CornerCandidate:
    @property
    def of_elements(self) -> int: ...
    @property
    def of_targets(self) -> int: ...
    @property
    def why_not(self) -> str: ...

class Module:
    @property
    def launch_name(self) -> str: ...

class Sections:
    @property
    def kernels(self) -> str: ...
    @property
    def launch(self) -> str: ...
    @property
    def wrappers(self) -> str: ...

class Column:
    def __init__(
        self,
        dtype: DType,
        address: typing.SupportsInt | typing.SupportsIndex,
        n: typing.SupportsInt | typing.SupportsIndex,
        stride: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def n(self) -> int: ...
    @property
    def stride(self) -> int: ...

class Move:
    def __init__(
        self,
        to: tuple[
            DType,
            bool,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        from_: tuple[
            DType,
            bool,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        n: typing.SupportsInt | typing.SupportsIndex,
        dim: typing.SupportsInt | typing.SupportsIndex,
        rows: typing.Annotated[numpy.typing.ArrayLike, numpy.int64] | None = None,
    ) -> None: ...
    def assign(
        self,
        casting: str,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
        is_checked: bool = False,
    ) -> int: ...
    def explained(self, casting: str) -> str: ...
    def first_unfit(
        self, casting: str, n_threads: typing.SupportsInt | typing.SupportsIndex
    ) -> int: ...
    def overlaps(self) -> bool: ...

class OperationCount:
    def add(self, nanoseconds: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class OperationDecision:
    @property
    def is_measured(self) -> bool: ...
    @property
    def which(self) -> int: ...

class Operations:
    def counted(self, name: str, dtype: str) -> OperationCount: ...
    def decide(
        self,
        name: str,
        dtype: str,
        size: typing.SupportsInt | typing.SupportsIndex,
        place: str,
        offers: collections.abc.Sequence[tuple[str, str, str]],
        own: str,
    ) -> OperationDecision: ...
    def decided(self) -> list[tuple[str, int, dict[str, float]]]: ...
    def done(
        self, decision: OperationDecision, nanoseconds: typing.SupportsInt | typing.SupportsIndex
    ) -> None: ...
    def learn(
        self,
        kind: str,
        size: typing.SupportsInt | typing.SupportsIndex,
        way: str,
        nanoseconds: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...

class Vectors:
    def __init__(
        self, wanted: str, before: collections.abc.Sequence[str], operations: Operations
    ) -> None: ...
    def axpy(
        self,
        alpha: Column,
        x: Column,
        y: Column,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def dot(
        self,
        x: Column,
        y: Column,
        conjugate: bool,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
    ) -> int | int | float | complex: ...
    @property
    def paths(self) -> list[str]: ...

class Messages:
    def __init__(
        self,
        functions: tuple[
            typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
        ],
        requests: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        handle_bytes: typing.SupportsInt | typing.SupportsIndex,
        status_bytes: typing.SupportsInt | typing.SupportsIndex,
        sent: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
                DType,
            ]
        ],
        received: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
                DType,
            ]
        ],
    ) -> None: ...
    def begin(
        self, arrays: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
    ) -> None: ...
    def combine(
        self,
        arrays: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        access: str,
    ) -> None: ...
    def poll(self, n_tries: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def unpack(
        self, arrays: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
    ) -> None: ...

class KrylovMethod:
    """
    Members:

      cg

      bicgstab

      gmres
    """

    __members__: typing.ClassVar[dict[str, KrylovMethod]]
    bicgstab: typing.ClassVar[KrylovMethod]
    cg: typing.ClassVar[KrylovMethod]
    gmres: typing.ClassVar[KrylovMethod]
    @typing.overload
    def __eq__(self, other: KrylovMethod) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: KrylovMethod) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class KrylovEnd:
    """
    Members:

      converged

      max_it

      diverged

      not_a_number

      breakdown

      indefinite
    """

    __members__: typing.ClassVar[dict[str, KrylovEnd]]
    breakdown: typing.ClassVar[KrylovEnd]
    converged: typing.ClassVar[KrylovEnd]
    diverged: typing.ClassVar[KrylovEnd]
    indefinite: typing.ClassVar[KrylovEnd]
    max_it: typing.ClassVar[KrylovEnd]
    not_a_number: typing.ClassVar[KrylovEnd]
    @typing.overload
    def __eq__(self, other: KrylovEnd) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: KrylovEnd) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class IncompleteLu:
    def __init__(
        self,
        row_offset: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        columns: typing.Annotated[numpy.typing.ArrayLike, numpy.int32]
        | typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        dim: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class SparseInverse:
    def __init__(
        self,
        row_offset: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        columns: typing.Annotated[numpy.typing.ArrayLike, numpy.int32],
        width: typing.SupportsInt | typing.SupportsIndex,
        values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]
        | typing.Annotated[numpy.typing.ArrayLike, numpy.float32],
        n_ghosts: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...

class Program:
    pass

class Executable:
    @property
    def name(self) -> str: ...
    @property
    def position_bytes(self) -> int: ...
    @property
    def strategy(self) -> str: ...

class Query:
    def __init__(
        self, loop: str, signature: str, source: str, strategy: str, text: str
    ) -> None: ...

class DispatchEvent:
    @property
    def building(self) -> int: ...
    @property
    def generating(self) -> int: ...
    @property
    def loop(self) -> str: ...
    @property
    def n_resolved(self) -> int: ...
    @property
    def origin(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def rejected(self) -> str: ...
    @property
    def running(self) -> int: ...
    @property
    def strategy(self) -> str: ...

class Provider:
    @property
    def name(self) -> str: ...

class AheadTable(Provider):
    def __init__(self) -> None: ...
    def add(self, query: Query, executable: Executable) -> None: ...
    def clear(self) -> None: ...
    def find(self, query: Query) -> str: ...
    def knows(self, query: Query) -> bool: ...
    def note(self, query: Query) -> None: ...
    def refuse(self, query: Query, why: str) -> None: ...

class JitTable(Provider):
    def __init__(self, max_entries: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def clear(self) -> None: ...
    def insert(self, query: Query, executable: Executable) -> None: ...

class Dispatcher:
    def __init__(self) -> None: ...
    def add(self, provider: Provider) -> None: ...
    def add_first(self, provider: Provider) -> None: ...
    def asked(self, query: Query) -> list[tuple[str, str]]: ...
    def clear_events(self) -> None: ...
    def events(self) -> list[DispatchEvent]: ...
    def filled(
        self,
        query: Query,
        origin: str,
        generating: typing.SupportsInt | typing.SupportsIndex,
        building: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def resolve(self, query: Query) -> Executable: ...
    @property
    def operations(self) -> Operations: ...

class DeviceInfo:
    @property
    def backend(self) -> str: ...
    @property
    def capability(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def float64(self) -> bool: ...
    @property
    def is_cpu(self) -> bool: ...
    @property
    def largest_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def n_units(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def shared_bytes(self) -> int: ...
    @property
    def warp(self) -> int: ...

class DeviceBinary:
    @property
    def bytes(self) -> bytes: ...
    @property
    def origin(self) -> jit.Origin: ...
    @property
    def path(self) -> str: ...
    @property
    def seconds(self) -> float: ...

class RuntimeDevice(Device):
    def limit_memory(self, n_bytes: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def load(self, binary: DeviceBinary) -> Program: ...
    def load_bytes(self, binary: bytes) -> Program: ...
    def measure_copy_rate(
        self: Device,
        n_bytes: typing.SupportsInt | typing.SupportsIndex,
        n_copies: typing.SupportsInt | typing.SupportsIndex,
    ) -> float: ...
    def start_clock(self) -> None: ...
    def stop_clock(self) -> None: ...
    @property
    def info(self) -> DeviceInfo: ...

class DeviceCompiler:
    @property
    def identity(self) -> str: ...

class DeviceService:
    def __init__(
        self,
        *,
        cache_dir: str,
        use_disk: bool,
        max_disk_bytes: typing.SupportsInt | typing.SupportsIndex,
        max_memory_bytes: typing.SupportsInt | typing.SupportsIndex,
        compile_timeout_seconds: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def compile(
        self,
        compiler: DeviceCompiler,
        source: str,
        compile_options: collections.abc.Sequence[str],
        key_extra: str,
    ) -> DeviceBinary: ...
    def statistics(self) -> jit.Statistics: ...
    def take_notices(self) -> list[str]: ...

class DeviceMirror:
    def __init__(self, device: RuntimeDevice, coherence: Coherence) -> None: ...
    def settle(self) -> None: ...

class DeviceVendor:
    def fitting(self, capability: str, targets: collections.abc.Sequence[str]) -> int | None: ...
    def list_devices(self) -> list[DeviceInfo]: ...
    def loadable(self, options: str, code: bytes) -> bytes: ...
    def make_compiler(
        self, device: str, folders: collections.abc.Sequence[str]
    ) -> DeviceCompiler: ...
    def open_device(self, index: typing.SupportsInt | typing.SupportsIndex) -> RuntimeDevice: ...

class Timing:
    def __init__(self, trace: Trace) -> None: ...
    @property
    def measured_bytes(self) -> int: ...
    @property
    def measured_nanoseconds(self) -> int: ...
    @property
    def n_calls(self) -> int: ...
    @property
    def n_double(self) -> int: ...
    @property
    def n_measured(self) -> int: ...
    @property
    def n_unknown(self) -> int: ...
    @property
    def nanoseconds(self) -> int: ...
    @property
    def operations(self) -> int: ...
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
        paths: collections.abc.Sequence[MapRef],
        iteration: Iteration,
        items: collections.abc.Sequence[MapTable],
        matrices: collections.abc.Sequence[plan.PositionSpec],
        matrix_paths: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
            ]
        ],
        map_users: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        matrix_users: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        n_boundary: typing.SupportsInt | typing.SupportsIndex,
        n_first_targets: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class LaunchOptions:
    def __init__(
        self,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
        block_size: typing.SupportsInt | typing.SupportsIndex,
        useful_bytes: typing.SupportsInt | typing.SupportsIndex,
        tuning: Tuning,
        is_deterministic: bool,
        operations: typing.SupportsInt | typing.SupportsIndex,
        float_bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Phase:
    """
    Members:

      all

      core

      boundary
    """

    __members__: typing.ClassVar[dict[str, Phase]]
    all: typing.ClassVar[Phase]
    boundary: typing.ClassVar[Phase]
    core: typing.ClassVar[Phase]
    @typing.overload
    def __eq__(self, other: Phase) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Phase) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class GraphTask:
    pass

class PreparedLoop(GraphTask):
    def __init__(
        self,
        executable: Executable,
        binding: Binding,
        options: LaunchOptions,
        plans: plan.PlanCache,
        timing: Timing,
        mirror: DeviceMirror | None,
    ) -> None: ...
    def forget_saved(self) -> None: ...
    def prepare(self) -> None: ...
    def rebound(self, arguments: collections.abc.Sequence[Buffer]) -> PreparedLoop: ...
    def restore(self) -> None: ...
    def run(self) -> bool: ...
    def run_phase(self, phase: Phase) -> bool: ...
    def run_saving(
        self, also: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
    ) -> bool: ...
    def run_with(self, arguments: collections.abc.Sequence[Buffer]) -> bool: ...
    @property
    def launch(self) -> collections.abc.Callable[[], bool]: ...
    @property
    def n_colours(self) -> int: ...
    @property
    def n_core_items(self) -> int: ...
    @property
    def n_items(self) -> int: ...
    @property
    def plan_bytes(self) -> int: ...

class TaskRow:
    def __init__(self, tasks: collections.abc.Sequence[GraphTask]) -> None: ...
    def __len__(self) -> int: ...
    def run(self) -> bool: ...

def arguments_of(module: Module) -> list[dict[str, typing.Any]]: ...
def available_threads() -> int: ...
def axpy(
    alpha: Column, x: Column, y: Column, n_threads: typing.SupportsInt | typing.SupportsIndex
) -> None: ...
def c_name_of(dtype: DType) -> str: ...
def candidates(
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> list[Candidate]: ...
def checked_kernel(prelude: KernelBody, checked: CheckedBody, shell: KernelBody) -> KernelBody: ...
def choose_lanes(
    forced: typing.SupportsInt | typing.SupportsIndex | None,
    vector_bytes: typing.SupportsInt | typing.SupportsIndex,
    gather_bytes: typing.SupportsInt | typing.SupportsIndex,
    strategy: str,
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> tuple[LoweringOptions, str]: ...
def choose_strategy(
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> tuple[str, str]: ...
def chosen_device(
    devices: collections.abc.Sequence[tuple[str, str, bool]], platform: str, device: str
) -> int: ...
def column_fill(
    loop: Loop,
    binding: Binding,
    plans: plan.PlanCache,
    lanes: typing.SupportsInt | typing.SupportsIndex,
    tuning: Tuning,
    least: typing.SupportsFloat | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def combine(
    op: str,
    out: Column,
    left: Column,
    right: Column,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> None: ...
def common_dtype(left: DType, right: DType) -> DType: ...
def corner_candidates(
    strategy: str,
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> list[CornerCandidate]: ...
def digest(bytes: str) -> str: ...
def dot(
    x: Column, y: Column, conjugate: bool, n_threads: typing.SupportsInt | typing.SupportsIndex
) -> int | int | float | complex: ...
def dtype_from_name(name: str) -> DType: ...
def elementary_sources(
    kernel: Kernel, options: LoweringOptions
) -> list[tuple[str, str, int, int, bool]]:
    """
    Elementary functions that a kernel calls: name, symbol of glibc, 2.minor, bytes of its vectors, whether there is a text.
    """

def exact_rounded(
    parts: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the nearest doubles to exact sums.
    """

def exact_sums(
    values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.int64]:
    """
    Return the exact sums of columns as integers, which may be added in any order.
    """

def force_strategy(
    strategy: str,
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> tuple[str, str]: ...
def forked_after_parallel_region() -> bool: ...
def is_evenly_covered(
    loop: LoopSizes,
    *,
    most_padding: typing.SupportsFloat | typing.SupportsIndex,
    plans: plan.PlanCache,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> bool: ...
def is_known_function(name: str) -> bool: ...
def is_multiplied(dtype: DType) -> bool: ...
def kernel_facts(kernel: Kernel) -> KernelFacts:
    """
    Facts of a kernel that has a body, found once.
    """

def kernel_text(kernel: Kernel, line_markers: bool) -> str: ...
def known_libraries() -> list[str]: ...
def lane_rule(strategy: str, loop: Loop, facts: Facts, options: LoweringOptions) -> LaneRule: ...
def lane_work(loop: Loop, tuning: Tuning) -> LaneWork: ...
def launches_of(module: Module) -> str: ...
def least_fill(loop: Loop, tuning: Tuning) -> float: ...
def local_names() -> list[str]: ...
def lower(
    loop: Loop,
    strategy: str,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> Module: ...
def lowering_key(
    strategy: str,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> str: ...
def multiply(
    dtype: DType,
    block: tuple[
        typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex
    ],
    row_offset: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    columns: typing.Annotated[numpy.typing.ArrayLike, numpy.int32]
    | typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    values: typing.SupportsInt | typing.SupportsIndex,
    x: typing.SupportsInt | typing.SupportsIndex,
    y: typing.SupportsInt | typing.SupportsIndex,
    is_added: bool,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> None: ...
def needs(module: Module) -> list[str]: ...
def note_parallel_region() -> None: ...
def open_teams_by(library: jit.Library) -> None: ...
def out_of_bounds(body: KernelBody, input: CheckInput) -> list[OutOfBounds]: ...
def overwrites(
    kernel: Kernel,
    parameter: typing.SupportsInt | typing.SupportsIndex,
    n: typing.SupportsInt | typing.SupportsIndex,
    access: Access,
) -> bool: ...
def packed_ragged(
    loop: Loop, maps: collections.abc.Sequence[plan.MapFacts], options: LoweringOptions
) -> list[int]:
    """
    Arguments through ragged Maps with a pack, whose rows are at most MOST_RAGGED.
    """

def part_elsewhere(
    loop: Loop,
    binding: Binding,
    plans: plan.PlanCache,
    of_elements: typing.SupportsInt | typing.SupportsIndex,
    of_targets: typing.SupportsInt | typing.SupportsIndex,
    lanes: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def part_mixed(
    loop: Loop,
    binding: Binding,
    plans: plan.PlanCache,
    lanes: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> float: ...
def plain_kernel(
    kernel: Kernel,
    constants: collections.abc.Sequence[
        tuple[str, DType, typing.SupportsInt | typing.SupportsIndex]
    ],
    observe: collections.abc.Callable[[str, KernelBody], None] | None = None,
) -> Kernel:
    """
    A kernel with the plain form of the body, in which an expression has no effect.

    Args:
        kernel: A kernel with a body.
        constants: Name, type and number of values of each Const.
        observe: Called with each pass' name and the body it leaves.

    Raises:
        UnsupportedError: A new local would have an unknown type.
    """

def print_source(
    module: Module, dialect: cg.Dialect, line_markers: bool, linkage: str
) -> Sections: ...
def processor_name() -> str: ...
def prototypes(module: Module, dialect: cg.Dialect) -> list[str]: ...
def range_of(module: Module) -> dict[str, typing.Any]: ...
def read_device_executable(written: str, program: Program, suffix: str) -> Executable: ...
def read_executable(written: str, library: jit.Library, symbol: str) -> Executable: ...
def solve_krylov(
    row_offset: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    columns: typing.Annotated[numpy.typing.ArrayLike, numpy.int32]
    | typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    dim: typing.SupportsInt | typing.SupportsIndex,
    b: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    x: numpy.typing.NDArray[numpy.float64],
    method: KrylovMethod,
    rtol: typing.SupportsFloat | typing.SupportsIndex,
    atol: typing.SupportsFloat | typing.SupportsIndex,
    divtol: typing.SupportsFloat | typing.SupportsIndex,
    max_it: typing.SupportsInt | typing.SupportsIndex,
    restart: typing.SupportsInt | typing.SupportsIndex,
    is_jacobi: bool,
    ilu: IncompleteLu,
    inverse: SparseInverse,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
    is_fused: bool = False,
    bring: typing.Any = None,
    add_up: typing.Any = None,
    is_inverse_wide: bool = False,
    product: typing.Any = None,
) -> tuple[KrylovEnd, list[float]]: ...
def stages_of(
    loop: Loop,
    strategy: str,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> list[tuple[str, str]]: ...
def sums_targets(
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> bool: ...
def trace_clock() -> int: ...
def tunables() -> list[Tunable]: ...
def tuning_of_class(device_class: str) -> Tuning: ...
def useful_bytes(
    members: collections.abc.Sequence[LoopSizes],
    *,
    zeroed: collections.abc.Set[typing.SupportsInt | typing.SupportsIndex] = set(),
    dropped: collections.abc.Set[typing.SupportsInt | typing.SupportsIndex] = set(),
) -> int: ...
def usual_tuning(facts: Facts) -> Tuning: ...
def vendor(name: str) -> DeviceVendor: ...
def visits_pairs_on_lanes(
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> bool: ...
def why_not_on_lanes(
    lanes: typing.SupportsInt | typing.SupportsIndex,
    strategy: str,
    loop: Loop,
    facts: Facts,
    maps: collections.abc.Sequence[plan.MapFacts],
    options: LoweringOptions,
) -> str: ...
def why_untrusted(path: str, what: str) -> str: ...
def widths_of(
    *,
    whole: LoopSizes,
    members: collections.abc.Sequence[LoopSizes],
    facts: Facts,
    tuning: Tuning,
    plans: plan.PlanCache,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> Widths: ...
def with_checks(body: KernelBody, input: CheckInput) -> CheckedBody: ...
def with_suspicion(body: KernelBody, input: CheckInput) -> CheckedBody | None: ...
def written_down(module: Module, loop: Loop, strategy: str, is_parallel: bool) -> str: ...
def written_down_for_device(module: Module, loop: Loop, strategy: str) -> str: ...

DEVICE_CLASSES: list[str] = ["host", "processor", "gpu"]
MOST_RAGGED: int = 64
MOST_SET_BYTES: int = 256
PASSES: list[str] = [
    "in_order",
    "summed_blocks",
    "elements",
    "teams",
    "staged_blocks",
    "launched_blocks",
    "blocks",
    "colours",
    "slots",
    "incidences",
    "scratch",
    "lanes",
    "reduce",
    "legalise",
    "expand",
    "narrow",
]
RAGGED: int = -1
STRATEGIES: list[str] = ["direct", "owner", "scratch", "atomic", "block", "colour", "team"]
VISITED_ALONE: int = -1
__version__: str
