# SPDX-License-Identifier: BSD-3-Clause
"""Capabilities of the machine: the report behind ``pyop2cxx info``."""

from __future__ import annotations

import contextlib
import ctypes
import platform
import sys
from importlib import metadata
from typing import TYPE_CHECKING, TypeAlias

from pyop2cxx import __version__, _core
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.backends._devices import describe
from pyop2cxx.base import extras
from pyop2cxx.base.folders import PACKAGE
from pyop2cxx.exceptions import ConfigurationError, ToolchainError
from pyop2cxx.pipeline.tuning import configured
from pyop2cxx.reports.backends import backends
from pyop2cxx.reports.bandwidth import CLibrary
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

Entry: TypeAlias = "dict[str, str | int | float | bool | None]"
Report: TypeAlias = "dict[str, dict[str, Entry]]"

_SPEED = ("nanoseconds", "GB/s", "GFLOP/s")
_OPENMP_SOURCE = "int openmp_date(void) { return _OPENMP; }\n"
_OPENMP_VERSIONS = {201307: "4.0", 201511: "4.5", 201811: "5.0", 202011: "5.1", 202111: "5.2"}


def collect() -> Report:
    """Look at the backends, compilers, threads, cache and extras.

    Returns:
        Section, then entry, then properties. A missing or broken part has a non-empty property
        ``problem``; the rest of the report is independent.

    Example:
        >>> collect()["versions"]["pyop2cxx"]["version"] == __version__
        True
    """
    service = runtime.engine.service
    return {
        "versions": _versions(),
        "backends": _backends(),
        "devices": _devices(),
        "compilers": {
            "C": _compiler(service, _core.jit.Language.c),
            "C++": _compiler(service, _core.jit.Language.cxx),
            "OpenMP": _openmp(),
        },
        "threads": {
            "available": {"count": _core.available_threads()},
            "of a loop": {"count": runtime.engine.n_threads},
        },
        "cache": {"on disk": _cache(service)},
        "tuning": {name: _tuning(name) for name in _core.DEVICE_CLASSES},
        "extras": _extras(),
    }


def _versions() -> dict[str, Entry]:
    return {
        "pyop2cxx": {"version": __version__, "path": str(PACKAGE)},
        "Python": {"version": platform.python_version(), "path": sys.executable},
        "NumPy": {"version": metadata.version("numpy")},
    }


def _backends() -> dict[str, Entry]:
    return {
        found.name: {
            "available": found.available,
            "default": found.name == runtime.backend,
            "summary": found.summary,
            "details": found.details,
            "problem": "" if found.available else found.reason,
        }
        for found in backends()
    }


def _devices() -> dict[str, Entry]:
    """Each device of each backend with devices; reasons for others are in the backend's entry."""
    engine, found = runtime.engine, {}
    for name in runtime.backend_names():
        with contextlib.suppress(ToolchainError, ConfigurationError):
            toolchain = engine.backend(name).toolchain
            if not isinstance(toolchain, DeviceToolchain):
                continue
            for number, device in enumerate(_core.vendor(toolchain.vendor).list_devices()):
                found[f"{name} {number}"] = _device(device)
    return found


def _device(device: _core.DeviceInfo) -> Entry:
    return {
        "summary": describe(device),
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "capability": device.capability,
        "memory_bytes": device.memory_bytes,
        "units": device.n_units,
        "float64": device.float64,
        "problem": "",
    }


def _compiler(service: _core.jit.Service, language: _core.jit.Language) -> Entry:
    try:
        compiler = service.compiler(language=language)
    except ToolchainError as error:
        return {"problem": str(error)}
    target = " ".join(flag for flag in compiler.resolved_arch if flag.startswith("-march="))
    return {
        "version": compiler.version.strip(),
        "path": compiler.path,
        "target": target,
        "old": _core.jit.why_old(compiler),
        "problem": "",
    }


def _openmp() -> Entry:
    """Ask the C compiler, which reveals at once whether the OpenMP library is found."""
    try:
        library = CLibrary(_OPENMP_SOURCE, ["-fopenmp"])
    except ToolchainError as error:
        return {"problem": str(error)}
    date = library.function("openmp_date", ctypes.c_int)()
    return {"version": _OPENMP_VERSIONS.get(date, str(date)), "problem": ""}


def _cache(service: _core.jit.Service) -> Entry:
    found = service.info()
    return {
        "path": found.path,
        "entries": found.n_entries,
        "bytes": found.n_bytes,
        "problem": found.problem,
    }


def _tuning(device_class: str) -> Entry:
    """Return all numbers of a class of devices as they are set, in words those of its speed."""
    values = dict(configured(_core.tuning_of_class(device_class)).values())
    speed = (one for one in _core.tunables() if one.unit in _SPEED)
    words = [f"{one.name} {values[one.name]:g} {one.unit}" for one in speed]
    return {"summary": ", ".join(words), **values}


def _extras() -> dict[str, Entry]:
    """Return the distribution's version of each optional module: `ufl` is in `fenics-ufl`."""
    distributions = metadata.packages_distributions()
    found: dict[str, Entry] = {}
    for name, extra in extras.EXTRAS.items():
        if brought_by := distributions.get(name):
            found[name] = {"version": metadata.version(brought_by[0]), "problem": ""}
        else:
            found[name] = {"problem": f"not installed: pip install 'pyop2cxx[{extra}]'"}
    return found


def as_text(report: Report) -> str:
    """Lay out a report for reading: a line for each entry, in columns.

    Args:
        report: Result of `collect`.

    Returns:
        The lines, without a newline at the end.
    """
    width = max(len(name) for entries in report.values() for name in entries)
    lines = []
    for section, entries in report.items():
        lines.append(section)
        for name, entry in entries.items():
            first, *more = ", ".join(_phrases(entry)).splitlines() or [""]
            lines.append(f"  {name:<{width}}  {first}".rstrip())
            # A compiler's error may have several lines.
            lines += [f"  {'':<{width}}  {line}".rstrip() for line in more]
    return "\n".join(lines)


def _phrases(entry: Entry) -> Iterator[str]:
    """Yield each property in a form without a label."""
    if entry.get("problem") and "available" in entry:
        yield from filter(None, [entry.get("summary"), f"unavailable: {entry['problem']}"])
        return
    if entry.get("problem"):
        yield str(entry["problem"])
    if entry.get("available"):
        yield "available"
    if entry.get("default"):
        yield "the default"
    for name in ("count", "version", "path", "target", "summary"):
        if entry.get(name):
            yield str(entry[name])
    if "entries" in entry:
        yield f"{entry['entries']} loops"
        yield f"{int(entry['bytes'] or 0) / 2**20:.1f} MiB"
