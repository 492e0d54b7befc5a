# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of a program's own C code, with the settings of loops: ``pyop2.compilation``.

PyOP2's classes of compilers are missing: compiler and flags are given by the options ``cc``,
``cxx``, ``cflags``, ``cxxflags`` and ``ldflags``.
"""

from __future__ import annotations

import ctypes
import re
import sys
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.exceptions import DataTypeError, UsageError
from pyop2cxx.interop.petsc_build import build
from pyop2cxx.kernel.parser.preprocess import preprocess
from pyop2cxx.reports.cache import cache_clear
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.communicators import as_comm

if TYPE_CHECKING:
    from collections.abc import Iterable

_PETSC = re.compile(r"#\s*include\s*[<\"]petsc\w*\.h[>\"]")
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
        ldargs: Flags for the link. Code that includes a header of PETSc gets the flags of
            petsc4py's PETSc.
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
    if _PETSC.search(code) and (found := build()) is not None:
        cppargs += tuple(f"-I{folder}" for folder in found.include_dirs)
        ldargs = (*ldargs, *found.ldargs)
    flags = [*engine.option_flags(option), *cppargs, *engine.option_flags("ldflags"), *ldargs]
    loaded = engine.compiled(code, flags, language, _files_of(code, cppargs, extension == "cpp"))
    engine.tell_notices()
    return ctypes.CDLL(loaded.path)


def clear_compiler_disk_cache(prompt: bool = False) -> None:
    """Delete all compiled kernels from the cache directory.

    Args:
        prompt: Whether to ask first, on standard input.
    """
    folder = _core.jit.cache_directory(runtime.configuration["cache_dir"])
    if prompt:
        sys.stdout.write(f"Delete the compiled kernels in {folder}? [Y/n]: ")
        sys.stdout.flush()
        if sys.stdin.readline().strip().lower() not in ("", "y"):
            return
    sys.stdout.write(cache_clear(runtime.configuration["cache_dir"]) + "\n")


def _files_of(code: str, cppargs: tuple[str, ...], cpp: bool) -> tuple[str, ...]:
    """Return names and digests of the user's headers; none if the text is wrong."""
    try:
        return preprocess(code, (), (), cppargs, cpp=cpp).contents
    except UsageError:
        return ()  # the compiler reports the error
