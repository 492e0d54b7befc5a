# SPDX-License-Identifier: BSD-3-Clause
"""Every exception pyop2cxx raises, in five families, and PyOP2's own classes below them.

Each class also derives from the built-in exception already caught by PyOP2's users, so
``except ValueError`` and ``except MapValueError`` both work.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class Op2Error(Exception):
    """Root of all errors raised by pyop2cxx."""


class UsageError(Op2Error, ValueError):
    """The caller is wrong: a bad value, or unrelated objects used together."""


class UnsupportedError(Op2Error, NotImplementedError):
    """The backend or the strategy does not support a request."""


class ToolchainError(Op2Error, RuntimeError):
    """A compiler or another outside tool is missing or failed.

    Attributes:
        command: The command line, empty if none could be run.
        stderr: Output of the command.
        source_path: The generated source, kept for inspection; empty if there is none.
    """

    command: str = ""
    stderr: str = ""
    source_path: str = ""


class CompilationError(ToolchainError):
    """A compiler rejected a kernel; the message points at the user's own line."""


class ExecutionError(Op2Error, RuntimeError):
    """A loop failed during a run."""


class CheckError(ExecutionError):
    """A check of check mode failed; nothing was written by the loop.

    Attributes:
        loop: The kernel's name.
        line: Line of the kernel; 0 if unrelated to a line.
        argument: Number of the argument; -1 if unrelated to an argument.
        element: The first element, in the order of the Set; -1 if unrelated to an element.
        check: The watched property: ``"bounds"``, ``"made"``, ``"races"``, ...
        value: The wrong index or value.
    """

    loop: str = ""
    line: int = 0
    argument: int = -1
    element: int = -1
    check: str = ""
    value: int = 0


class ChainError(ExecutionError):
    """A chain gives other results than the loops in sequence; see `op2.chain`.

    Attributes:
        loops: Names of the chain's loops.
        data: The name of the Dat or Global.
        element: The first differing element; -1 for a Global.
        component: Of the element, or of the Global.
        value: The chain's.
        expected: The value of the loops in sequence.
        passes: Passes applied to the writing functions.
    """

    loops: tuple[str, ...] = ()
    data: str = ""
    element: int = -1
    component: int = 0
    value: object = None
    expected: object = None
    passes: tuple[str, ...] = ()


class OutOfMemoryError(ExecutionError, MemoryError):
    """The host or a device has not as much memory as values need."""


class InternalError(Op2Error, RuntimeError):
    """A bug in pyop2cxx. Please report the message."""


class StaticModeError(UsageError):
    """A request under ``init(static=True)`` needs data or a device."""


class GraphRaceError(UsageError):
    """Two unordered loops of a graph touch the same data in conflicting ways."""


class GraphClosedError(UsageError, RuntimeError):
    """A graph under construction was used after its end, or a built graph was extended."""


class TransferError(UsageError):
    """A host-device copy was needed where implicit copies are forbidden."""


class ConfigurationError(UsageError, RuntimeError):
    """An option is unknown, has the wrong type, or may not be changed now."""


class UnknownBackendError(ConfigurationError, ImportError):
    """The backend does not exist."""


class NoDataError(UsageError, RuntimeError):
    """Data were requested, but never given."""


class RanksError(UsageError, RuntimeError):
    """Processes of a program disagree, or a partition does not fit."""


class HaloFrozenError(UsageError, RuntimeError):
    """A frozen halo is frozen again or used with another access, or another halo is unfrozen."""


class MissingExtraError(UsageError, ImportError):
    """A needed optional package is not installed; the message names the extra."""


class ContractError(UsageError, AssertionError):
    """An argument breaks a contract asserted by PyOP2: Set sizes that do not grow."""


class SparsityShapeError(UsageError, RuntimeError):
    """DataSets and Maps of a Sparsity do not belong together, as rows and columns of a matrix."""


class AssemblyStateError(UsageError, RuntimeError):
    """A matrix is not yet assembled, or is mixed, and cannot answer."""


class SolverOptionError(UsageError, RuntimeError):
    """Options of a Solver contradict each other, or no library here knows them."""


class ConvergenceError(ExecutionError):
    """A solver stopped before reaching the tolerance.

    Attributes:
        reason: Why, in PETSc's words.
        history: Norms of the residual; the first before the first step.
    """

    reason: str = ""
    history: tuple[float, ...] = ()


class NonUniqueNameError(UsageError):
    """Two Consts have the same name, so kernels could not tell them apart.

    Also spelled `Const.NonUniqueNameError`, as in PyOP2.
    """


# PyOP2's classes. The built-in base is PyOP2's; the messages are ours.


class DataTypeError(UsageError, TypeError):
    """The dtype of the data is not supported by Dats."""


class DimTypeError(UsageError, TypeError):
    """A dimension is not an integer or a tuple of integers."""


class ArityTypeError(UsageError, TypeError):
    """The arity of a Map is not a positive integer."""


class IndexTypeError(UsageError, TypeError):
    """An index has the wrong type."""


class NameTypeError(UsageError, TypeError):
    """A name is not a string."""


class SetTypeError(UsageError, TypeError):
    """Something other than a Set was given where a Set is needed."""


class SizeTypeError(UsageError, TypeError):
    """The size of a Set is not an integer or a tuple of integers."""


class SubsetIndexOutOfBounds(UsageError, TypeError):
    """An index of a Subset lies outside the superset."""


class SparsityTypeError(UsageError, TypeError):
    """Something other than a Sparsity was given where a Sparsity is needed."""


class MapTypeError(UsageError, TypeError):
    """Something other than a Map was given where a Map is needed."""


class DataSetTypeError(UsageError, TypeError):
    """Something other than a DataSet or Set was given where either is needed."""


class MatTypeError(UsageError, TypeError):
    """Something other than a Mat was given where a Mat is needed."""


class DatTypeError(UsageError, TypeError):
    """Something other than a Dat was given where a Dat is needed."""


class KernelTypeError(UsageError, TypeError):
    """Something other than a Kernel was given where a Kernel is needed."""


class DataValueError(UsageError):
    """The data do not fit: wrong length, shape or content."""


class IndexValueError(UsageError):
    """An index is out of range."""


class ModeValueError(UsageError):
    """The access mode is not allowed for the kind of argument."""


class IterateValueError(UsageError):
    """The iteration region is not allowed here."""


class SetValueError(UsageError):
    """The Set is not the expected Set."""


class MapValueError(UsageError):
    """The Map does not lead to the expected Set, or has no values."""


class CachingError(UsageError):
    """A result cannot be kept."""


class HashError(CachingError):
    """A result cannot be kept under the given key."""


class UnknownTagError(UsageError, KeyError):
    """A part of a mesh was requested by a name that no part has."""

    def __str__(self) -> str:
        return ValueError.__str__(self)  # a KeyError shows a quoted message


class MeshFileError(UsageError):
    """A file contains no readable mesh; the message gives the fault."""


class StoredFileError(UsageError):
    """A file of saved objects is damaged, or contains other objects than requested."""


class SparsityFormatError(UsageError):
    """The Sparsity has a format unsupported by the operation."""


class KernelWarning(UserWarning):
    """A kernel breaks its access descriptors."""


def user_stacklevel() -> int:
    """Return the `stacklevel` for a warning at the user's line.

    Returns:
        For ``warnings.warn`` in a function called directly by the caller of `user_stacklevel`.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        if not _is_ours(frame.f_code.co_filename):
            break
        level, frame = level + 1, frame.f_back
    return level


def user_line() -> str:
    """Return ``file:line`` of the innermost frame outside pyop2cxx, for messages.

    Returns:
        The innermost line of the user's program; empty if there is none, as in a callback from C++.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not _is_ours(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


@lru_cache(maxsize=4096)
def _is_ours(filename: str) -> bool:
    package = os.path.dirname(os.path.abspath(__file__)) + os.sep
    return os.path.abspath(filename).startswith(package)
