# SPDX-License-Identifier: BSD-3-Clause
"""What a backend is: facts, a toolchain, a dialect and a template. No behaviour of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyop2cxx import _core


@dataclass(frozen=True, slots=True, kw_only=True)
class HostToolchain:
    """A C compiler of this machine.

    Attributes:
        flags: Compiler flags beyond the ones all host code gets.
        install: What to install if the flags do not work, for Debian.
    """

    flags: tuple[str, ...] = ()
    install: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceToolchain:
    """Devices of one vendor's interface, and the compiler in this process that serves them.

    Attributes:
        list_devices: What each device says of itself; raises ToolchainError if there is none.
        open_device: Opens a device by its number in that list.
        make_compiler: Returns the compiler for a device, by that number and what it says of itself.
        compiler_for: Returns the compiler for a kind of devices by its name, "sm_90"; none need be
            there. None: loops compiled ahead of time are texts, which a device's driver compiles.
        program_of: Makes of a compiler's options and a text what a device loads; None: it does not
            load texts.
        has_processors: Whether some of the devices are processors, which run other texts.
        flags: Options of the compiler.
        deterministic_flags: More of them where the same bits are wanted everywhere.
        debug_flags: More of them where faults are looked for.
    """

    list_devices: Callable[[], list[_core.DeviceInfo]]
    open_device: Callable[[int], _core.RuntimeDevice]
    make_compiler: Callable[[int, _core.DeviceInfo], _core.DeviceCompiler]
    compiler_for: Callable[[str], _core.DeviceCompiler] | None = None
    program_of: Callable[[str, str], bytes] | None = None
    has_processors: bool = False
    flags: tuple[str, ...] = ()
    deterministic_flags: tuple[str, ...] = ()
    debug_flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A way to run loops, as data.

    Attributes:
        name: What `op2.init(backend=...)` calls it.
        summary: One line for `pyop2cxx info`.
        facts: What the hardware and its language can do; passes read nothing else.
        dialect: The language of the generated text.
        suffix: Of generated files, by the language they are in: of C, and of C++ if the kernel is.
        template: The frame of a generated file.
        preludes: What a text may need before it, of `_core.needs` and "no_contraction" (no fused
            a * b + c, for deterministic loops); each has a file of its name beside `template`.
        toolchain: How text becomes code.
        templates: Folder of its templates, where those of this package are not enough: it is looked
            into first.
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
