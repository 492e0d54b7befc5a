# SPDX-License-Identifier: BSD-3-Clause
"""C code of a program's own, compiled as loops are: what programs import ``pyop2.compilation`` for.

PyOP2's classes of compilers are not here: which compiler and flags there are is said by the options
``cc``, ``cxx``, ``cflags``, ``cxxflags`` and ``ldflags``.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.exceptions import DataTypeError, UsageError
from pyop2cxx.kernel.parser.preprocess import preprocess
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.communicators import as_comm

if TYPE_CHECKING:
    from collections.abc import Iterable

_LANGUAGES = {
    "c": (_core.jit.Language.c, "cflags"),
    "cpp": (_core.jit.Language.cxx, "cxxflags"),
}


def load(
    code: str,
    extension: str,
    cppargs: Iterable[str] = (),
    ldargs: Iterable[str] = (),
    comm: Any = None,
) -> ctypes.CDLL:
    """Compile code into a shared library, or find it in the cache, and load it.

    Args:
        code: C or C++; functions of C++ that are to be found are ``extern "C"``.
        extension: ``"c"`` or ``"cpp"``.
        cppargs: Flags for the compiler.
        ldargs: Flags for the link.
        comm: A communicator, as PyOP2 takes it. The cache sees to it that one process compiles.

    Returns:
        The library; its functions are attributes. Say their ``argtypes`` before calling them.

    Raises:
        DataTypeError: The code is not a string.
        UsageError: There is no such language.
        CompilationError: The compiler rejects the code.
        StaticModeError: Under ``init(static=True)``.

    Example:
        >>> library = load("double half(double x) { return x / 2; }", "c")
        >>> library.half.restype, library.half.argtypes = ctypes.c_double, [ctypes.c_double]
        >>> library.half(3.0)
        1.5
    """
    if not isinstance(code, str):
        raise DataTypeError(f"compilation.load: code must be a str, got {type(code).__name__}")
    if extension not in _LANGUAGES:
        raise UsageError(f"compilation.load: extension must be 'c' or 'cpp', got {extension!r}")
    as_comm(comm, "compilation.load")
    runtime.require_running("compilation", "load")
    language, option = _LANGUAGES[extension]
    engine = runtime.engine
    cppargs = tuple(cppargs)
    flags = [*engine.option_flags(option), *cppargs, *engine.option_flags("ldflags"), *ldargs]
    loaded = engine.compiled(code, flags, language, _files_of(code, cppargs, extension == "cpp"))
    engine.tell_notices()
    return ctypes.CDLL(loaded.path)


def _files_of(code: str, cppargs: tuple[str, ...], cpp: bool) -> tuple[str, ...]:
    """Return names and digests of the user's headers; none if the text is wrong."""
    try:
        return preprocess(code, (), (), cppargs, cpp=cpp).contents
    except UsageError:
        return ()  # the compiler says so
