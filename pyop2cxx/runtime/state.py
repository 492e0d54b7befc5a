# SPDX-License-Identifier: BSD-3-Clause
"""The state of a running program: options, backend, named constants. There is one Runtime."""

from __future__ import annotations

import atexit
import inspect
import itertools
import logging
import threading
import warnings
from contextlib import contextmanager
from threading import get_ident
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet, WeakValueDictionary

from pyop2cxx import _core
from pyop2cxx.backends._plugged import entry_points
from pyop2cxx.base.arrays import is_under_pyop2
from pyop2cxx.base.folders import BACKENDS, backend_names
from pyop2cxx.exceptions import (
    NonUniqueNameError,
    StaticModeError,
    UnknownBackendError,
    user_stacklevel,
)
from pyop2cxx.runtime import communicators
from pyop2cxx.runtime.engine import Bounded, Engine
from pyop2cxx.runtime.options import OPTIONS, Configuration
from pyop2cxx.runtime.processes import Processes, local_place
from pyop2cxx.runtime.seams import lazy_recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from pyop2cxx.runtime.recorder import Recorder
    from pyop2cxx.runtime.seams import Looks


T = TypeVar("T")


class Here(threading.local):
    """The state of a thread.

    Attributes:
        recorder: Records the thread's loops for a later run; None: they run now.
        resting: The recorder of a program under ``lazy``, while the thread's loops run at once
            because recording takes longer.
        looks: Remembers values read by the thread while recording a graph.
        is_running: Whether the thread is running recorded entries of a chain.
    """

    recorder: Recorder | None = None
    resting: Recorder | None = None
    looks: Looks | None = None
    is_running = False


class Runtime:
    """All state outliving a call.

    Attributes:
        configuration: The options.
        logger: The logger 'pyop2cxx'.
        epoch: Grows with each change of an option, the backend or the named constants. Derived
            objects, for example prepared loops, are then stale.
        static: Whether text is generated without running: the option of the same name.
        has_renumbered: Whether a Set was renumbered; until then loops need not look.
        n_frozen: Number of Dats with frozen halos: zero saves loops a check.
        processes: The processes that run the program, under MPI.
        n_distributions: How often a mesh was shared among processes: loops from before follow.
        program_options: Names of the program's own options, passed to `init` with the package's.
        coherence: Keeps values the same on the host and on devices.
        ended: Arrays, by `id`, whose memory values took over without a copy, and which must not be
            written while a device has the values.
        here: The state of each thread.
        recorders: Recorders by thread; see `pyop2cxx.chain`.
        has_several: Whether several threads have had a recorder at the same time; true until
            `exit`, so that no thread can miss another.
        said: Log messages not to be repeated.
        lazy_recorder: The recorder of a program under ``lazy``.
        states: Objects made by `of`.
        on_loop: Called with each ParLoop generated or prepared to run, if set.
        on_graph: Called with each instantiated Graph, if set.
        on_chain: Called with each chain about to run, the entries, and the passes, if set.
        backend_folder: Each file without a leading underscore is a backend.
    """

    def __init__(self) -> None:
        self.logger = logging.getLogger("pyop2cxx")
        self.epoch = 0
        self.said: set[str] = set()
        self.has_renumbered = False
        self.n_frozen = 0
        self.n_distributions = 0
        self.on_loop: Callable[[Any], None] | None = None
        self.on_graph: Callable[[Any], None] | None = None
        self.on_chain: Callable[[Any, Any, frozenset[str]], None] | None = None
        self.here = Here()
        self.recorders: dict[int, Recorder] = {}
        self.has_several = False
        self.lazy_recorder: Recorder | None = None
        self._ended_recorder: Recorder | None = None
        self.states: dict[type[Any], Any] = {}
        self.program_options: set[str] = set()
        self.coherence = _core.Coherence()
        self.ended: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._device: _core.Device | None = None
        self._device_epoch = -1  # epoch of the last request
        self.backend_folder = BACKENDS
        self._uids = itertools.count(1)
        self._backends: list[str] = []
        self._usual_backend = ""  # default backend; empty: not known yet
        self._constants: dict[str, Any] = {}
        self._tables: WeakSet[Any] = WeakSet()
        self._clears: list[Callable[[], None]] = []
        self._initialised = False
        self._is_registered = False  # with atexit
        self.configuration = Configuration(self.backend_names, self._own_backends)
        self.processes = Processes(lambda name: self.configuration[name])
        self.configuration.before_change = self.settle
        self.configuration.on_change = self._options_changed
        self.static: bool = self.configuration["static"]
        self._set_up_coherence()
        self._apply_log_level()
        self._engine: Engine | None = None
        self._making = threading.Lock()

    @property
    def engine(self) -> Engine:
        """The services behind loops, made when the first loop needs them."""
        if self._engine is None:
            with self._making:  # several threads may run the first loops
                if self._engine is None:
                    self._engine = Engine(self.configuration, self.coherence)
                    self._exit_at_exit()
        return self._engine

    def of(self, kind: type[T]) -> T:
        """Return the only object of a class until `exit`, made on first use.

        Rooms can thus declare state of their own.

        Args:
            kind: A class with a constructor without arguments.
        """
        found: T | None = self.states.get(kind)
        if found is None:
            found = self.states.setdefault(kind, kind())
        return found

    def next_uid(self) -> int:
        """Return a number unique in the process.

        An `id` is reused once an object is gone, so loops are remembered by uid.
        """
        return next(self._uids)

    # Life

    def init(self, *, comm: Any = None, **options: Any) -> None:
        """Set options, or none if a value is wrong. May be called again, or not at all.

        Args:
            comm: The communicator of the processes that share the program's mesh, or ``"world"``,
                as the environment's PYOP2CXX_COMM says it, too. An error that nobody catches then
                ends all processes.
            **options: See the table `pyop2cxx.runtime.options.OPTIONS`. Options declared by the
                program on `pyop2cxx.pyop2.utils.parser` are ignored.

        Raises:
            ConfigurationError: An option is unknown or has a wrong type or an unknown value.

        Example:
            >>> from pyop2cxx import op2
            >>> op2.init(threads=2, deterministic=True)
            >>> op2.exit()
        """
        communicators.as_comm(None if isinstance(comm, str) else comm, "init")
        ours = {name: v for name, v in options.items() if name not in self.program_options}
        self.configuration.check_names(ours)
        self.configuration.reconfigure(**ours)
        self.processes.declare(comm)
        self._initialised = True
        self._exit_at_exit()

    @property
    def recorder(self) -> Recorder | None:
        """The recorder of the thread's loops; None: they run now."""
        return self.here.recorder

    @recorder.setter
    def recorder(self, new: Recorder | None) -> None:
        self.here.recorder = new
        if new is None:
            self.recorders.pop(get_ident(), None)
        else:
            self.recorders[get_ident()] = new
            if len(self.recorders) > 1:
                self.has_several = True

    @property
    def writes_graph(self) -> bool:
        """Whether the thread records a graph: reads happen once only."""
        here = self.here
        return here.looks is not None or (here.recorder is not None and here.recorder.is_of_graph)

    def settle(self) -> None:
        """Run all loops recorded by chains and not yet run."""
        own = self.here.recorder
        if own is not None:
            own.flush()
        for other in self._others():
            other.flush_for_other()

    @property
    def others_record(self) -> bool:
        """Whether chains of other threads may have waiting loops."""
        return len(self.recorders) > (self.here.recorder is not None)

    def settle_others(self, *uses: tuple[Any, bool]) -> None:
        """Run entries recorded by other threads that use the given values.

        Args:
            *uses: Objects with values, each with whether written.
        """
        for other in self._others():
            for carrier, write in uses:
                other.settle_for_other(carrier, write=write)

    def _others(self) -> list[Recorder]:
        """Return the chains of other threads, unless the thread is running a chain."""
        if self.here.is_running:
            return []
        own = get_ident()
        return [other for ident, other in list(self.recorders.items()) if ident != own]

    def is_first(self, what: str) -> bool:
        """Return whether a message is logged for the first time in the process."""
        is_new = what not in self.said
        self.said.add(what)
        return is_new

    @property
    def same_on_ranks(self) -> bool:
        """Whether results have the same bits on any number of processes."""
        return bool(self.configuration["deterministic"] == "ranks")

    def at_once(self) -> AbstractContextManager[None]:
        """Run the loops of a `with` block when they are called, also within a chain.

        Recorded entries using their arguments must have run.
        """
        return self.recorded_by(None)

    @contextmanager
    def recorded_by(self, new: Recorder | None) -> Iterator[None]:
        """Let a recorder take the loops of a `with` block; None: they run when called."""
        here = self.here
        recorder, resting = here.recorder, here.resting
        self.recorder, here.resting = new, None
        try:
            yield
        finally:
            self.recorder, here.resting = recorder, resting

    def exit(self) -> None:
        """Forget the options of `init`, all `Const` objects, and all caches of loops.

        The environment's options hold again. No table keeps a Set, Dat, Kernel or device alive;
        objects still held by the program stay usable. Called at the end of the process, if
        resources must be released in order. Waiting loops of chains run first.
        """
        self.settle()
        for what in self.coherence.written_in_vain():
            self.warn_of_vain_write(what)
        self.here = Here()  # of all threads
        self.recorders.clear()
        self.has_several = False
        self.lazy_recorder = None
        self._initialised = False
        self._backends.clear()
        self._constants.clear()
        self.states.clear()
        self._keep_tuned()
        self.processes.forget()
        self.program_options.clear()
        self._engine = None
        self._usual_backend = ""
        self._device, self._device_epoch = None, -1
        for clear in (*self._clears, *(table.clear for table in self._tables)):
            clear()
        self.epoch += 1
        self.configuration.reset()
        self.follow_lazy()  # also if the option has the same value as before

    def _keep_tuned(self) -> None:
        """Write new measurements; of several processes with one program, the first does."""
        if self._engine is not None and local_place()[0] == 0:
            self._engine.operations.keep_measurements()
            self._engine.tuned.keep()

    @staticmethod
    def warn_of_vain_write(what: str) -> None:
        """Warn of written values never seen by loops.

        Args:
            what: The object with the values.
        """
        warnings.warn(
            f"{what}: somebody wrote into its values on the host after a device had taken them, "
            "through an array from before; loops on the device never saw it. Ask for 'data' again "
            "after a loop, and write through that",
            RuntimeWarning,
            stacklevel=user_stacklevel(),
        )

    def forget_at_exit(self, remembered: Bounded | Callable[[], None]) -> None:
        """Let `exit` clear a cache of a program's objects; see `pyop2cxx.runtime.memo`.

        Args:
            remembered: A table, not kept alive; or a function clearing a table of a module.
        """
        if isinstance(remembered, Bounded):
            self._tables.add(remembered)
        else:
            self._clears.append(remembered)

    def _exit_at_exit(self) -> None:
        if not self._is_registered:
            atexit.register(self.exit)
            self._is_registered = True

    def initialised(self) -> bool:
        """Say whether `init` was called, and `exit` not since."""
        return self._initialised

    def set_log_level(self, level: str | int) -> None:
        """Set the level of the logger 'pyop2cxx' by name or number."""
        self.configuration["log_level"] = level

    def _options_changed(self, names: frozenset[str]) -> None:
        self.epoch += 1
        self._usual_backend = ""
        if self._engine is not None:
            self._engine.tuned.follow_options()
            self._engine.limit_memory()
        self.static = self.configuration["static"]
        self._set_up_coherence()
        if "log_level" in names:
            self._apply_log_level()
        if "lazy" in names:
            self.follow_lazy()

    def _set_up_coherence(self) -> None:
        options = self.configuration
        self.coherence.is_strict = options["strict_residency"]
        self.coherence.watch_all(options["check"] or options["debug"])

    def follow_lazy(self) -> None:
        """Start or stop recording all loops, following the option 'lazy'; blocks stay."""
        lazy = self.lazy_recorder
        if self.configuration["lazy"]:
            if lazy is None and self.recorder in (None, self._ended_recorder):
                self.lazy_recorder = lazy_recorder().of_program()
                self.recorder = self.lazy_recorder
        elif lazy is not None:
            self.settle()
            lazy.end()  # may be another thread's recorder, kept there
            if self.recorder is lazy:
                self.recorder = None
            self.lazy_recorder = self.here.resting = None
            self._ended_recorder = lazy

    def _apply_log_level(self) -> None:
        self.logger.setLevel(self.configuration["log_level"])
        if is_under_pyop2():
            logging.getLogger("pyop2").setLevel(self.configuration["log_level"])
        # Python's handler of last resort drops messages below a warning
        if not self.logger.isEnabledFor(logging.INFO) or self.logger.hasHandlers():
            return
        self.logger.addHandler(logging.StreamHandler())

    # Backend

    def backend_names(self) -> tuple[str, ...]:
        """Return the backends there are, sorted; some may lack their compiler or device.

        Backends of other packages are included; the package's own win over equal names.
        """
        return tuple(sorted({*self._own_backends(), *entry_points()}))

    def _own_backends(self) -> tuple[str, ...]:
        return backend_names(self.backend_folder)

    @property
    def backend(self) -> str:
        """The name of the present backend of loops."""
        if self._backends:
            return self._backends[-1]
        return str(self.configuration["backend"]) or self.usual_backend

    @property
    def usual_backend(self) -> str:
        """The default backend: `openmp`, if the C compiler supports OpenMP.

        With `init(static=True)` nothing can be missing. With `init(eti_only=True)` no compiler may
        be asked: the backend of the loaded tables is used.
        """
        if self.configuration["eti_only"]:
            return self.engine.ahead_backend
        if not self._usual_backend:
            engine = self.engine
            has_threads = "openmp" in self.backend_names() and (
                self.static or not engine.lacks(engine.backend("openmp"))
            )
            self._usual_backend = "openmp" if has_threads else "sequential"
        return self._usual_backend

    @contextmanager
    def use_backend(self, name: str) -> Iterator[None]:
        """Run the loops of a `with` block on another backend. Blocks may be nested.

        The choice holds for the whole process, not for a single thread.

        Raises:
            UnknownBackendError: The backend does not exist.

        Example:
            >>> from pyop2cxx import op2
            >>> with op2.backend("sequential"):
            ...     pass
        """
        if name not in self._own_backends() and name not in (known := self.backend_names()):
            raise UnknownBackendError(
                f"there is no backend {name!r}; there are: {', '.join(known) or 'none'}"
            )
        self.settle()
        self._backends.append(name)
        self.epoch += 1
        try:
            yield
        finally:
            self.settle()
            # exit() inside the block has emptied the stack
            if self._backends:
                self._backends.pop()
            self.epoch += 1

    @property
    def device(self) -> _core.Device | None:
        """The present device of loops, opened; None for the host.

        Raises:
            ConfigurationError: The device does not exist.
            ToolchainError: There is no library, platform or device at all.
        """
        if self._device_epoch != self.epoch:
            opened = self.engine.chosen_device(self.engine.backend(self.backend))
            self._device = None if opened is None else opened.device
            self._device_epoch = self.epoch
        return self._device

    # Static mode

    def require_running(self, owner: str, member: str) -> None:
        """Refuse a request that needs running loops.

        Args:
            owner: The object in messages: ``Dat 'q'``.
            member: The requested member.

        Raises:
            StaticModeError: Under ``init(static=True)``.
        """
        if self.static:
            raise StaticModeError(
                f"{owner}: '{member}' needs loops that run, but init(static=True) only generates "
                "text; guard this line, or run without static=True"
            )

    # Constants used by kernels by bare name

    @property
    def constants(self) -> Mapping[str, Any]:
        """The Consts by name, a read-only view."""
        return MappingProxyType(self._constants)

    def register_constant(self, constant: Any) -> None:
        """Make a Const known to kernels.

        Raises:
            NonUniqueNameError: Another Const has the same name.
        """
        if constant.name in self._constants:
            other = self._constants[constant.name]
            raise NonUniqueNameError(
                f"Const '{constant.name}' was already declared"
                f"{' at ' + other.declared_at if other.declared_at else ''}; choose another name, "
                "set the value of that one, or call its remove_from_namespace()"
            )
        self._constants[constant.name] = constant
        self.epoch += 1

    def remove_constant(self, constant: Any) -> None:
        """Make a Const unknown to kernels compiled from now on; harmless if already unknown."""
        known = self._constants.get(constant.name)
        if known is not None and known is constant:
            del self._constants[constant.name]
            self.epoch += 1


def _signature_of_init() -> inspect.Signature:
    """Return the options as keywords with types and defaults, for help() and completion."""
    kind = inspect.Parameter.KEYWORD_ONLY
    found = inspect.signature(Runtime.init)
    given = [one for one in found.parameters.values() if one.kind is not one.VAR_KEYWORD]
    ours = [
        inspect.Parameter(one.name, kind, default=one.default, annotation=one.type)
        for one in OPTIONS
    ]
    return found.replace(parameters=[*given, *ours])


Runtime.init.__signature__ = _signature_of_init()  # type: ignore[attr-defined]


runtime = Runtime()
