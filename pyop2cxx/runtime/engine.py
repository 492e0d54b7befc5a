# SPDX-License-Identifier: BSD-3-Clause
"""Services shared by loops: compile service, dispatcher, plans, timings."""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import threading
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from pyop2cxx import _core
from pyop2cxx.backends._backend import DeviceToolchain, HostToolchain
from pyop2cxx.backends._devices import open_chosen
from pyop2cxx.backends._plugged import plugged_backend
from pyop2cxx.base.folders import is_backend, template_folder
from pyop2cxx.base.waiting import Series
from pyop2cxx.exceptions import Op2Error, ToolchainError
from pyop2cxx.runtime.libraries import DeviceLibraries, host_vectors
from pyop2cxx.runtime.operations import Operations
from pyop2cxx.runtime.processes import local_place, shared_threads
from pyop2cxx.runtime.tuned import HOST, Tuned
from pyop2cxx.runtime.tuned_file import Place
from pyop2cxx.runtime.zig import zig_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyop2cxx.backends._backend import Backend
    from pyop2cxx.backends._devices import OpenDevice

_MEGABYTE = 1_000_000
_MOST_EXECUTABLES = 4096
_MOST_TEXTS = 1024
_MOST_LOOPS = 1024
_MOST_DISK_BYTES = 1 << 30
_MOST_BINARY_BYTES = 1 << 28
LoopKind: TypeAlias = tuple[str, str, str]
"""The names of a kernel, a backend and a strategy."""
_COMPILE_TIMEOUT_SECONDS = 600.0
_MOST_SIZES = 32
"""Number of sizes with separate counters, for each kind of loops."""
_MOST_COPY_BYTES = 1 << 28
_N_COPIES = 4
_PROBE = "int op2_probe(void) { return 0; }\n"
_TEAM = "host/team.c"


class Bounded(OrderedDict[Any, Any]):
    """A dictionary that drops the least recently used entries.

    Args:
        most: Number of entries.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def find(self, key: object) -> Any:
        """Return the value and mark the entry as used, or None."""
        value = self.get(key)
        if value is not None:
            # each call of a known loop comes here, and suppress() costs a tenth of the call
            try:  # noqa: SIM105
                self.move_to_end(key)
            except KeyError:
                pass  # another thread has just dropped the key
        return value

    def made(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the value, made and kept if there is none."""
        value = self.find(key)
        if value is None:
            value = make()
            self.keep(key, value)
        return value

    def keep(self, key: object, value: object) -> None:
        """Store a value as the most recently used."""
        self[key] = value
        with contextlib.suppress(KeyError):
            self.move_to_end(key)
            if len(self) > self._most:
                self.popitem(last=False)


class Engine:
    """The services behind loops. Each Runtime has an Engine.

    Attributes:
        coherence: The Runtime's.
        dispatcher: Finds Executables, and chooses libraries for operations of algebra.
        operations: Carries out operations of algebra.
        jit_table: The dispatcher's provider of loops compiled in this process.
        ahead: The provider of loops compiled before; asked once a table is loaded.
        ahead_loops: Loops of tables for devices, by the key of their text: each is loaded on its
            first run on a device.
        ahead_lanes: Of tables, how many lanes were chosen, and why, by digests of keys of `lanes`.
        tuned: Measured choices, from files and of this process.
        ahead_fields: Of loops of tables, what decides about their text, in words.
        ahead_bytes: Widths of vectors and of gathers assumed by the loaded loops, in bytes.
        ahead_backend: Backend of the loaded loops: 'openmp' if some are for it.
        n_tables: How many of them were loaded.
        expected: Whether loops must be known, within `op2.dispatch.expect`.
        plans: Plans by the maps they were derived from.
        texts: Generated texts by their key.
        lanes: Lowering options with the number of lanes and a reason, by the input of the rules.
        compiling: Shows on a terminal the loop being compiled.
        loops: Prepared loops by the identities of their arguments; hold no data.
        timings: Costs of loops, by name, backend and strategy.
        sparsities: Sparsities by the arguments of their construction, while in use.
        numbers: Globals for numbers of algebra on devices, by dtype and use.
        scalars: Sets of as many entities as Globals have values.
        ceilings: Measured rates of the machine, by backend, device and threads.
        n_generated: Texts generated so far, as opposed to found in `texts`.
    """

    def __init__(self, configuration: Mapping[str, Any], coherence: _core.Coherence) -> None:
        self._configuration = configuration
        self.coherence = coherence
        self._service: tuple[tuple[str, str, str], _core.jit.Service] | None = None
        self._available: tuple[set[int], int] | None = None  # CPUs, and number of threads at once
        self._device_service: tuple[str, _core.DeviceService] | None = None
        self._devices: dict[tuple[str, str, str], OpenDevice] = {}
        self._opening = threading.Lock()
        self._copy_rates: dict[tuple[str, int], float] = {}
        self.ceilings: dict[tuple[str, ...], Any] = {}
        self._backends: dict[str, Backend] = {}
        self.dispatcher = _core.Dispatcher()
        self.jit_table = _core.JitTable(max_entries=_MOST_EXECUTABLES)
        self.dispatcher.add(self.jit_table)
        self.ahead = _core.AheadTable()
        self.ahead_loops: dict[str, Any] = {}
        self.ahead_lanes: dict[str, tuple[int, str]] = {}
        self.ahead_fields: list[Mapping[str, str]] = []
        self.tuned = Tuned(configuration, self.place)
        self.ahead_bytes = (0, 0)
        self.ahead_backend = "openmp"
        self.n_tables = 0
        self.expected = False
        self._vectors: dict[str, _core.Vectors | None] = {}
        self.operations = Operations(self.dispatcher.operations, configuration, self.tuned)
        self._device_libraries: dict[tuple[str, int], DeviceLibraries] = {}
        self._has_teams = False
        self.plans = _core.plan.PlanCache()
        self.texts = Bounded(_MOST_TEXTS)
        self.lanes = Bounded(_MOST_TEXTS)
        self.compiling = Series("compiling")
        self.loops = Bounded(_MOST_LOOPS)
        self.timings: dict[tuple[LoopKind, int], _core.Timing] = {}
        self.sparsities: WeakValueDictionary[Any, Any] = WeakValueDictionary()
        self.numbers: dict[tuple[str, str, int], Any] = {}
        self.scalars: dict[int, Any] = {}
        self.n_generated = 0

    @property
    def service(self) -> _core.jit.Service:
        """The compile service for the compilers and cache directory chosen now."""
        options = self._configuration
        wanted = (options["cache_dir"], options["cc"], options["cxx"])
        if self._service is None or self._service[0] != wanted:
            service = _core.jit.Service(
                cache_dir=wanted[0],
                use_disk=True,
                max_disk_bytes=_MOST_DISK_BYTES,
                max_memory_entries=_MOST_EXECUTABLES,
                compile_timeout_seconds=_COMPILE_TIMEOUT_SECONDS,
                cc=zig_command(wanted[1], "cc"),
                cxx=zig_command(wanted[2], "c++"),
            )
            self._service = (wanted, service)
        return self._service[1]

    @property
    def device_service(self) -> _core.DeviceService:
        """The compile service of all devices, for the cache directory chosen now."""
        wanted = str(self._configuration["cache_dir"])
        if self._device_service is None or self._device_service[0] != wanted:
            service = _core.DeviceService(
                cache_dir=wanted,
                use_disk=True,
                max_disk_bytes=_MOST_DISK_BYTES,
                max_memory_bytes=_MOST_BINARY_BYTES,
                compile_timeout_seconds=_COMPILE_TIMEOUT_SECONDS,
            )
            self._device_service = (wanted, service)
        return self._device_service[1]

    def device(self, backend: Backend) -> OpenDevice:
        """Return the device chosen by the options, opened on first use.

        Raises:
            ConfigurationError: The device does not exist.
            ToolchainError: There is no library, platform or device at all.
        """
        toolchain = backend.toolchain
        assert isinstance(toolchain, DeviceToolchain)
        options = self._configuration
        key = (backend.name, str(options["platform"]), str(options["device"]))
        found = self._devices.get(key)
        if found is None:
            with self._opening:  # two of the same would not know each other's memory
                found = self._devices.get(key)
                if found is None:
                    found = open_chosen(toolchain, key[1], key[2], self.coherence, local_place())
                    if self.coherence.trace.is_on:
                        found.device.start_clock()
                    self._devices[key] = found
                    self.limit_memory()
        return found

    @property
    def devices(self) -> tuple[OpenDevice, ...]:
        """The open devices."""
        with self._opening:
            return tuple(self._devices.values())

    def limit_memory(self) -> None:
        """Let the open devices give as much memory as the option says."""
        for opened in self._devices.values():
            opened.device.limit_memory(self._configuration["device_memory"] * _MEGABYTE)

    def copy_rate(self, opened: OpenDevice) -> float:
        """Return the bytes read and written per second by a copy within a device, measured once."""
        found = self._copy_rates.get(opened.key)
        if found is None:
            n_bytes = min(_MOST_COPY_BYTES, opened.info.memory_bytes // 16)
            found = opened.device.measure_copy_rate(n_bytes, _N_COPIES)
            self._copy_rates[opened.key] = found
        return found

    def chosen_device(self, backend: Backend) -> OpenDevice | None:
        """Return the device for loops of a backend, opened; None for the host."""
        return self.device(backend) if isinstance(backend.toolchain, DeviceToolchain) else None

    def backend(self, name: str) -> Backend:
        """Return the backend of a name; the backend's file is read on first use."""
        if name not in self._backends:
            if is_backend(name):
                found = importlib.import_module(f"pyop2cxx.backends.{name}").BACKEND
            else:
                found = plugged_backend(name)
            self._backends[name] = found
        return self._backends[name]

    def lacks(self, backend: Backend) -> str:
        """Return the feature missing in the C compiler for a backend of the host; empty: none.

        The unit that opens teams of threads, or an empty function, is compiled, linked and loaded
        once; later the cache answers.
        """
        assert isinstance(backend.toolchain, HostToolchain)
        has_teams = backend.facts.threads
        text = (template_folder() / _TEAM).read_text() if has_teams else _PROBE
        try:
            loaded = self.compiled(text, list(backend.toolchain.flags))
        except ToolchainError as error:
            return f"{error}; to install what it needs: {backend.toolchain.install}"
        if has_teams:
            self.open_teams_by(loaded.library)
        return ""

    def open_teams_by(self, library: _core.jit.Library) -> None:
        """Let loops of graphs share teams that a library opens, unless one does already."""
        if not self._has_teams:
            _core.open_teams_by(library)
        self._has_teams = True

    def ready_teams(self, backend: Backend) -> None:
        """See to it that loops of graphs can share teams, where a compiler is asked for loops."""
        is_possible = isinstance(backend.toolchain, HostToolchain) and backend.facts.threads
        is_left_out = self._configuration["eti_only"] or self._configuration["static"]
        if is_possible and not is_left_out and not self._has_teams:
            self.lacks(backend)

    def compiled(
        self,
        text: str,
        flags: Sequence[str],
        language: _core.jit.Language = _core.jit.Language.c,
        files: Sequence[str] = (),
    ) -> _core.jit.Loaded:
        """Compile a text and load the library, or find the library in the cache.

        Args:
            text: C or C++.
            flags: Options beyond the common options of all texts.
            language: Language of the text.
            files: Names and digests of additional files read by the compiler.

        Raises:
            CompilationError: The compiler rejects the text.
            ToolchainError: There is no compiler.
        """
        return self.service.load(text, language, list(flags), " ".join((_core.__version__, *files)))

    @property
    def vectors(self) -> Any:
        """Vector operations on the host: the core, or an object that may ask a library.

        Raises:
            ToolchainError: The option `blas` names a file other than a BLAS library.
        """
        wanted = self._configuration["blas"]
        if not self.asks_libraries:
            return _core
        if wanted not in self._vectors:
            self.operations.learn()
            self._vectors[wanted] = host_vectors(wanted, self.dispatcher.operations)
        return self._vectors[wanted] or _core

    @property
    def asks_libraries(self) -> bool:
        """Whether algebra may use the libraries of the option `blas`."""
        return bool(self._configuration["blas"]) and self.operations.asks_libraries

    def device_libraries(self, backend: Backend) -> DeviceLibraries | None:
        """Return the libraries for the device of loops; None if none may be asked.

        Only 'auto' includes them: a path is a library for the host.
        """
        if self._configuration["blas"] != "auto" or not self.asks_libraries:
            return None
        opened = self.chosen_device(backend)
        toolchain = backend.toolchain
        if opened is None or not isinstance(toolchain, DeviceToolchain) or not toolchain.libraries:
            return None
        if opened.key not in self._device_libraries:
            self._device_libraries[opened.key] = DeviceLibraries(
                opened.device, toolchain.libraries, opened.key
            )
        return self._device_libraries[opened.key]

    @property
    def vector_bytes(self) -> int:
        """Bytes of the widest vectors of the C compiler for this machine; 0: unknown.

        Without a compiler, the value of the loaded table.
        """
        if self._configuration["eti_only"]:
            return self.ahead_bytes[0]
        compiler = self._compiler_for_this_machine()
        return self.ahead_bytes[0] if compiler is None else _core.jit.vector_bytes(compiler)

    @property
    def gather_bytes(self) -> int:
        """Bytes of the widest gather instructions of this machine; 0: none, or unknown."""
        if self._configuration["eti_only"]:
            return self.ahead_bytes[1]
        compiler = self._compiler_for_this_machine()
        return self.ahead_bytes[1] if compiler is None else _core.jit.gather_bytes(compiler)

    def _compiler_for_this_machine(self) -> _core.jit.HostCompiler | None:
        """Return the C compiler, unless text is for another machine or there is none."""
        flags = self.option_flags("cflags")
        if self._configuration["static"] or any(flag.startswith("-m") for flag in flags):
            return None
        try:
            return self.service.compiler(_core.jit.Language.c)
        except ToolchainError:
            return None  # later uses of the compiler raise

    def place(self, name: str) -> Place | None:
        """Return where measurements of a backend's loops hold; None without the device.

        Args:
            name: Name of the backend, or `HOST` for algebra on the host.
        """
        if name == HOST:
            return Place(name, _core.processor_name(), "", "", self.n_threads)
        backend = self.backend(name)
        if isinstance(backend.toolchain, DeviceToolchain):
            try:
                info = self.device(backend).info
            except Op2Error:
                return None
            driver = f"{info.platform} {info.driver}".strip()
            return Place(name, info.name, driver, "", info.n_units)
        compiler = None if self._configuration["eti_only"] else self._compiler_for_this_machine()
        flags = " ".join(self.option_flags("cflags"))
        version = compiler.version if compiler is not None else "none"
        threads = self.n_threads if backend.facts.threads else 1
        return Place(name, _core.processor_name(), "", f"{version} {flags}".strip(), threads)

    @property
    def n_threads(self) -> int:
        """Threads of a loop: as configured, or all threads available to the process."""
        return int(self._configuration["threads"]) or shared_threads(self._available_threads())

    def _available_threads(self) -> int:
        """Read the control groups' files only if the process's CPUs have changed."""
        cpus = os.sched_getaffinity(0)
        if self._available is None or self._available[0] != cpus:
            self._available = (cpus, _core.available_threads())
        return self._available[1]

    def option_flags(self, option: str) -> tuple[str, ...]:
        """Split a configured string of compiler flags as a shell would."""
        text = self._configuration[option]
        return tuple(shlex.split(text)) if text else ()

    def timing(self, kind: LoopKind, n_elements: int) -> _core.Timing:
        """Return the counters shared by loops of a kind and size."""
        key = self.timing_key(kind, n_elements)
        if key not in self.timings:
            self.timings[key] = _core.Timing(self.coherence.trace)
        return self.timings[key]

    def timing_key(self, kind: LoopKind, n_elements: int) -> tuple[LoopKind, int]:
        """Return the key in `timings` of loops over as many elements.

        Each size has separate counters, up to a limit, since a part of a Set may change at each
        step. Further sizes share counters within a factor of two, under a negative number.
        """
        key = (kind, n_elements)
        n_known = sum(other == kind for other, _ in list(self.timings))
        if key in self.timings or n_known < _MOST_SIZES:
            return key
        return (kind, -n_elements.bit_length())

    def remember_text(self, key: str, text: Any) -> None:
        """Keep a generated text for later loops."""
        self.n_generated += 1
        self.texts.keep(key, text)

    def tell_notices(self) -> None:
        """Turn notices of the compile service into warnings."""
        notices = self.service.take_notices() if self._service else []
        if self._device_service is not None:
            notices += self._device_service[1].take_notices()
        for notice in notices:
            warnings.warn(notice, RuntimeWarning, stacklevel=2)
