# SPDX-License-Identifier: BSD-3-Clause
"""The backends, with their compilers and devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.backends._devices import choose_device, describe
from pyop2cxx.exceptions import ConfigurationError, ToolchainError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from pyop2cxx.backends._backend import Backend


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendInfo:
    """An entry of `op2.backends`.

    Attributes:
        name: For `op2.init(backend=...)`.
        summary: A short description.
        available: Whether loops can run on the backend now.
        reason: Otherwise: the missing compiler or device, and packages to install.
        details: Compiler and threads, or a line for each device.
    """

    name: str
    summary: str
    available: bool
    reason: str
    details: str


class Backends(Tabled, tuple[BackendInfo, ...]):
    """Backends, printed as a table."""

    __slots__ = ()

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        rows = [
            (one.name, "yes" if one.available else "no", one.summary, one.reason or one.details)
            for one in self
        ]
        return "", [("backend", "available", "summary", "details, or the reason"), *rows], ""


def backends() -> Backends:
    """Return all backends, available or not.

    Example:
        >>> from pyop2cxx import op2
        >>> sorted(b.name for b in op2.backends() if b.available)[-1]
        'sequential'
    """
    return Backends(_probe(name) for name in runtime.backend_names())


def _probe(name: str) -> BackendInfo:
    engine = runtime.engine
    try:
        backend = engine.backend(name)
    except ConfigurationError as error:  # a broken backend of another package
        return BackendInfo(name=name, summary="", available=False, reason=str(error), details="")
    if isinstance(backend.toolchain, DeviceToolchain):
        return _probe_devices(backend, backend.toolchain)
    details = ""
    if not (reason := engine.lacks(backend)):
        compiler = engine.service.compiler(_core.jit.Language.c)
        threads = engine.n_threads if backend.facts.threads else 1
        details = f"{' '.join(compiler.command)} ({compiler.version}), threads: {threads}"
    return BackendInfo(
        name=name,
        summary=backend.summary,
        available=not reason,
        reason=reason,
        details=details,
    )


def _probe_devices(backend: Backend, toolchain: DeviceToolchain) -> BackendInfo:
    """List the devices and mark the chosen device of loops."""
    options = runtime.configuration
    reason, lines = "", []
    try:
        found = _core.vendor(toolchain.vendor).list_devices()
        chosen = choose_device(found, options["platform"], options["device"])
        for number, info in enumerate(found):
            mark = " (chosen)" if number == chosen and len(found) > 1 else ""
            lines.append(f"device {number}{mark}: {describe(info)}")
    except (ToolchainError, ConfigurationError) as error:
        reason = str(error)
    return BackendInfo(
        name=backend.name,
        summary=backend.summary,
        available=not reason,
        reason=reason,
        details="\n".join(lines),
    )
