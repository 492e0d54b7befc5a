# SPDX-License-Identifier: BSD-3-Clause
"""The description of a backend: facts, a toolchain, a dialect and a template. No behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyop2cxx import _core


@dataclass(frozen=True, slots=True, kw_only=True)
class HostToolchain:
    """A C compiler of the host.

    Attributes:
        flags: Compiler flags beyond the common flags of host code.
        install: Packages to install if the flags do not work, for Debian.
    """

    flags: tuple[str, ...] = ()
    install: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceToolchain:
    """Devices of a vendor's interface, and the in-process compiler for them.

    Attributes:
        vendor: The adaptor of the core for the devices, by the name in `_core.vendor`.
        make_compiler: Returns the compiler for a device, by index and description.
        compiler_for: Returns the compiler for a kind of devices by name, "sm_90"; no device need be
            present. None: loops compiled ahead of time are texts, compiled by a device's driver.
        kinds: Prefixes of the names of kinds of devices for compilation ahead of time: "sm_".
        libraries: Opens a library for a device, by name; raises ToolchainError if there is none.
        has_processors: Whether some of the devices are processors, with different texts.
        flags: Options of the compiler.
        deterministic_flags: More of them where the same bits are wanted everywhere.
        debug_flags: More of them where faults are looked for.
    """

    vendor: str
    make_compiler: Callable[[int, _core.DeviceInfo], _core.DeviceCompiler]
    compiler_for: Callable[[str], _core.DeviceCompiler] | None = None
    kinds: str = ""
    libraries: Mapping[str, Callable[[_core.RuntimeDevice], Any]] = field(default_factory=dict)
    has_processors: bool = False
    flags: tuple[str, ...] = ()
    deterministic_flags: tuple[str, ...] = ()
    debug_flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A way to run loops, as data.

    Attributes:
        name: Value of `op2.init(backend=...)`.
        summary: A line for `pyop2cxx info`.
        facts: Capabilities of the hardware and the language; the only input of passes.
        dialect: The language of the generated text.
        suffix: Of generated files, by the language they are in: of C, and of C++ if the kernel is.
        template: The frame of a generated file.
        preludes: Preludes of a text, from `_core.needs` and "no_contraction" (no fused a * b + c,
            for deterministic loops); each has a file of the same name beside `template`.
        toolchain: How text becomes code.
        templates: Folder of additional templates, searched before the package's own.
    """

    name: str
    summary: str
    facts: _core.Facts
    dialect: _core.cg.Dialect
    suffix: tuple[str, str]
    template: str
    preludes: tuple[str, ...] = ()
    toolchain: HostToolchain | DeviceToolchain
    templates: Path | None = None
