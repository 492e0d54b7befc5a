# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of a program's own C code, with the settings of loops: ``pyop2.compilation``.

PyOP2's classes of compilers are missing: compiler and flags are given by the options ``cc``,
``cxx``, ``cflags``, ``cxxflags`` and ``ldflags``.
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
    """Compile code into a shared library, or find the library in the cache, and load the library.

    Args:
        code: C or C++; exported functions of C++ must be ``extern "C"``.
        extension: ``"c"`` or ``"cpp"``.
        cppargs: Flags for the compiler.
        ldargs: Flags for the link.
        comm: A communicator, as in PyOP2. The cache ensures a single compilation.

    Returns:
        The library; functions are attributes. Set their ``argtypes`` before calling them.

    Raises:
        DataTypeError: The code is not a string.
        UsageError: The language does not exist.
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
        return ()  # the compiler reports the error
