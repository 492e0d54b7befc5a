# SPDX-License-Identifier: BSD-3-Clause
"""Caches for results of a program's own functions: ``pyop2.caching``.

Results are kept for each communicator separately, in memory or in files; a communicator may have
several processes. The loops of the process stand among them under PyOP2's name,
``compile_global_kernel``; for their files see ``python -m pyop2cxx cache``.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping, MutableMapping
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pyop2cxx import _core
from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataTypeError, HashError
from pyop2cxx.pyop2.mpi import safe_noncollective
from pyop2cxx.runtime import communicators, runtime

Function = TypeVar("Function", bound=Callable[..., Any])

_MISS = object()
_OTHERS_MAY_WRITE = 0o022
_LOOPS = 0
"""Number of the cache of loops among a communicator's caches: no number of `next_uid`."""


class DEFAULT_CACHE(dict[Hashable, Any]):
    """A cache in memory."""


class CacheRecord(NamedTuple):
    """Record of a cache.

    Attributes:
        cidx: Key among the communicator's caches, see `get_comm_caches`.
        comm: The communicator.
        func_module: Module of the cached function.
        func_name: Name of the cached function.
    """

    cidx: int
    comm: Any
    func_module: str
    func_name: str


class DictLikeDiskAccess(MutableMapping[Hashable, Any]):
    """A cache in files, a file for each entry, shared with other processes.

    Values are pickled. A file writeable by others is not read.

    Args:
        cachedir: The folder, made on the first write.
        extension: Of the files.
    """

    def __init__(self, cachedir: str | os.PathLike[str], extension: str = ".pickle") -> None:
        self.cachedir = Path(cachedir)
        self.extension = extension

    def _path(self, key: Hashable) -> Path:
        return self.cachedir / (hashlib.sha256(repr(key).encode()).hexdigest() + self.extension)

    def __getitem__(self, key: Hashable) -> Any:
        """Return a kept value; unreadable files count as missing."""
        try:
            with self._path(key).open("rb") as file:
                facts = os.fstat(file.fileno())
                if facts.st_uid != os.getuid() or facts.st_mode & _OTHERS_MAY_WRITE:
                    raise KeyError(key)
                known, value = pickle.load(file)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise KeyError(key) from None
        if known != repr(key):
            raise KeyError(key)
        return value

    def __setitem__(self, key: Hashable, value: Any) -> None:
        self.cachedir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(self._path(key)) as path:
            path.chmod(0o600)
            path.write_bytes(pickle.dumps((repr(key), value)))

    def __delitem__(self, key: Hashable) -> None:
        try:
            self._path(key).unlink()
        except FileNotFoundError:
            raise KeyError(key) from None

    def __iter__(self) -> Iterator[Hashable]:
        raise DataTypeError("a cache in files knows keys only by their digests")

    def __len__(self) -> int:
        return sum(1 for _ in self.cachedir.glob("*" + self.extension))


class CompiledLoops(Mapping[Hashable, Any]):
    """The loops compiled or loaded by the process: the generated text by its key.

    Loops that differ only in their data, Maps or names share a text.
    """

    def __getitem__(self, key: Hashable) -> Any:
        return runtime.engine.texts[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(runtime.engine.texts))

    def __len__(self) -> int:
        return len(runtime.engine.texts)

    def clear(self) -> None:
        """Forget the loops in memory; the next call finds their files."""
        engine = runtime.engine
        for known in (engine.texts, engine.loops, engine.jit_table):
            known.clear()


def default_get_comm(*args: Any, **options: Any) -> Any:
    """Return the communicator among a call's arguments.

    Raises:
        DataTypeError: There is none.
    """
    for found in (*args, *options.values()):
        if _is_comm(found):
            return found
    raise DataTypeError("memory_cache: a cached function takes a communicator, but none was passed")


def default_parallel_hashkey(*args: Any, **options: Any) -> Hashable:
    """Return a call's arguments, without communicators, as a key."""
    plain = tuple(found for found in args if not _is_comm(found))
    return plain, tuple(sorted((k, v) for k, v in options.items() if not _is_comm(v)))


class Caches:
    """The caches of the program's own functions.

    Attributes:
        alone: Where there is no mpi4py, all of them, by number.
        key: Key of the caches among the attributes of mpi4py's communicators.
        records: Of all of them.
    """

    def __init__(self) -> None:
        self.alone: dict[int, Any] = {}
        self.key: int | None = None
        loops = CacheRecord(_LOOPS, None, "pyop2.global_kernel", "compile_global_kernel")
        self.records = [loops]


def memory_cache(
    hashkey: Callable[..., Hashable] = default_parallel_hashkey,
    get_comm: Callable[..., Any] = default_get_comm,
    make_cache: Callable[[], MutableMapping[Hashable, Any]] = DEFAULT_CACHE,
    bcast: bool = False,
) -> Callable[[Function], Function]:
    """Return a decorator to keep a function's results in memory.

    Args:
        hashkey: Makes a key of a call's arguments.
        get_comm: Finds the communicator among them.
        make_cache: Makes the cache of a communicator.
        bcast: Whether a single process computes, and passes the result to the others.

    Raises (when the function is called):
        HashError: A key cannot be hashed.

    Example:
        >>> from pyop2cxx.runtime.communicators import COMM_SELF
        >>> @memory_cache()
        ... def squares(n, comm):
        ...     return [i * i for i in range(n)]
        >>> squares(3, comm=COMM_SELF) is squares(3, comm=COMM_SELF)
        True
    """
    number = runtime.next_uid()

    def decorator(function: Function) -> Function:
        @wraps(function)
        def cached(*args: Any, **options: Any) -> Any:
            comm = get_comm(*args, **options)
            caches = get_comm_caches(comm)
            if number not in caches:
                caches[number] = make_cache()
                record = CacheRecord(number, comm, function.__module__, function.__qualname__)
                runtime.of(Caches).records.append(record)
            cache, key = caches[number], hashkey(*args, **options)
            try:
                hash(key)
            except TypeError as error:
                raise HashError(
                    f"{function.__qualname__}: its result is not kept: {error}"
                ) from None
            found = known = cache.get(key, _MISS)
            if bcast and comm.size > 1:
                found = _shared(comm, cache, found, lambda: function(*args, **options))
            elif found is _MISS:
                found = function(*args, **options)
            if known is _MISS:
                cache[key] = found
            return found

        return cached  # type: ignore[return-value]  # it is called as the function is

    return decorator


def _shared(comm: Any, cache: Any, found: Any, compute: Callable[[], Any]) -> Any:
    """Agree on a result: from a process with a cached result, else computed by the first."""
    if isinstance(cache, DictLikeDiskAccess):  # others may have written meanwhile
        knowing: int = comm.allreduce(-1 if found is _MISS else comm.rank, op=communicators.MPI.MAX)
        if knowing >= 0:
            return comm.bcast(None if found is _MISS else found, root=knowing)
    return safe_noncollective(comm, compute) if found is _MISS else found


parallel_cache = memory_cache


def disk_only_cache(
    *args: Any, cachedir: str | os.PathLike[str] | None = None, **options: Any
) -> Callable[[Function], Function]:
    """Return a decorator to keep a function's results in files.

    Args:
        *args: As for `memory_cache`.
        cachedir: The folder; None means a folder in the cache directory.
        **options: As for `memory_cache`.
    """

    def files() -> DictLikeDiskAccess:
        if cachedir is not None:
            return DictLikeDiskAccess(cachedir)
        chosen = _core.jit.cache_directory(runtime.configuration["cache_dir"])
        return DictLikeDiskAccess(Path(chosen) / "functions")

    return memory_cache(*args, **options | {"make_cache": files})


def memory_and_disk_cache(
    *args: Any, cachedir: str | os.PathLike[str] | None = None, **options: Any
) -> Callable[[Function], Function]:
    """Return a decorator to keep results in files, and in memory if used by the process."""

    def decorator(function: Function) -> Function:
        in_memory = memory_cache(*args, **options)
        return in_memory(disk_only_cache(*args, cachedir=cachedir, **options)(function))

    return decorator


def serial_cache(
    hashkey: Callable[..., Hashable],
    cache_factory: Callable[[], MutableMapping[Hashable, Any]] = DEFAULT_CACHE,
) -> Callable[[Function], Function]:
    """Return a decorator to keep a function's results in memory, for all communicators.

    Args:
        hashkey: Makes a key of a call's arguments.
        cache_factory: Makes the cache.
    """
    cache = cache_factory()

    def decorator(function: Function) -> Function:
        @wraps(function)
        def cached(*args: Any, **options: Any) -> Any:
            key = hashkey(*args, **options)
            found = cache.get(key, _MISS)
            if found is _MISS:
                found = cache[key] = function(*args, **options)
            return found

        return cached  # type: ignore[return-value]  # it is called as the function is

    return decorator


def get_comm_caches(comm: Any) -> dict[int, Any]:
    """Return a communicator's caches, which are freed with the communicator.

    The loops of the process are among the caches of every communicator.

    Raises:
        PyOP2CommError: Not a communicator.
    """
    communicators.as_comm(comm, "a cached function")
    caches = runtime.of(Caches)
    found: dict[int, Any] | None = caches.alone
    if hasattr(comm, "Set_attr"):
        if caches.key is None:
            caches.key = type(comm).Create_keyval()
        found = comm.Get_attr(caches.key)
        if found is None:
            found = {}
            comm.Set_attr(caches.key, found)
    assert found is not None
    found.setdefault(_LOOPS, CompiledLoops())
    return found


def clear_memory_cache(comm: Any) -> None:
    """Forget all results in memory for a communicator, and loops; files stay."""
    found = get_comm_caches(comm)
    found.pop(_LOOPS).clear()
    found.clear()


def _is_comm(found: object) -> bool:
    return hasattr(found, "Get_rank") and hasattr(found, "allreduce")


def __getattr__(name: str) -> Any:
    """Return the records of all caches, as read by PyOP2's programs."""
    if name == "_KNOWN_CACHES":
        return runtime.of(Caches).records
    raise AttributeError(f"module 'pyop2cxx.pyop2.caching' has no attribute '{name}'")
