# SPDX-License-Identifier: BSD-3-Clause
"""The state of a running program: options, backend, named constants. There is one Runtime."""

from __future__ import annotations

import atexit
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
from pyop2cxx.base.folders import BACKENDS, backend_names
from pyop2cxx.exceptions import (
    NonUniqueNameError,
    StaticModeError,
    UnknownBackendError,
    user_stacklevel,
)
from pyop2cxx.runtime.communicators import checked_comm
from pyop2cxx.runtime.engine import Bounded, Engine
from pyop2cxx.runtime.options import Configuration
from pyop2cxx.runtime.seams import new_recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyop2cxx.runtime.seams import LazyRecorder, Looks, Recorder


T = TypeVar("T")


class Here(threading.local):
    """What a thread has for itself.

    Attributes:
        recorder: Takes its loops, to run later; None: they run now.
        resting: The recorder of a program whose loops wait outside of blocks, too, while it lets
            those of this thread run at once because this takes less time.
        looks: Remembers the values that the thread reads while it writes a graph down.
        is_running: Whether it runs now what a chain has recorded.
    """

    recorder: Recorder | None = None
    resting: LazyRecorder | None = None
    looks: Looks | None = None
    is_running = False


class Runtime:
    """All state that outlives a call.

    Attributes:
        configuration: The options.
        logger: The logger 'pyop2cxx'.
        epoch: Grows whenever an option, the backend or the named constants change. What was
            derived from them, such as a prepared loop, is stale once it has grown.
        static: Whether text is generated but nothing runs: the option of that name.
        has_renumbered: Whether a Set was renumbered; until then loops need not look.
        n_frozen: Dats whose halos are frozen: while there are none, loops need not look.
        program_options: Names of the program's own options, which `init` is handed with its own.
        coherence: Keeps values the same on the host and on devices.
        ended: Arrays, by their `id`, that values were made of without a copy, and that nobody may
            write to while a device has the values.
        here: What each thread has for itself.
        recorders: For each thread that has one, what takes its loops, to run later; see
            `pyop2cxx.chain`.
        has_several: Whether several threads have had one at a time; stays so until `exit`, so that
            no thread can miss another one.
        said: What was logged and is not logged again.
        lazy_recorder: The one of a program whose loops wait outside of blocks, too.
        states: What `of` has made.
        on_loop: Called with each ParLoop that is generated or prepared to run, if there is one.
        on_graph: Called with each Graph that is instantiated, if there is one.
        backend_folder: Each file in it whose name has no leading underscore is a backend.
    """

    def __init__(self) -> None:
        self.logger = logging.getLogger("pyop2cxx")
        self.epoch = 0
        self.said: set[str] = set()
        self.has_renumbered = False
        self.n_frozen = 0
        self.on_loop: Callable[[Any], None] | None = None
        self.on_graph: Callable[[Any], None] | None = None
        self.here = Here()
        self.recorders: dict[int, Recorder] = {}
        self.has_several = False
        self.lazy_recorder: LazyRecorder | None = None
        self._ended_recorder: Recorder | None = None
        self.states: dict[type[Any], Any] = {}
        self.program_options: set[str] = set()
        self.coherence = _core.Coherence()
        self.ended: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._device: _core.Device | None = None
        self._device_epoch = -1  # it was asked for then
        self.backend_folder = BACKENDS
        self._uids = itertools.count(1)
        self._backends: list[str] = []
        self._usual_backend = ""  # where nothing is chosen; empty: not known yet
        self._constants: dict[str, Any] = {}
        self._tables: WeakSet[Any] = WeakSet()
        self._clears: list[Callable[[], None]] = []
        self._initialised = False
        self._is_registered = False  # with atexit
        self.configuration = Configuration(self.backend_names, self._own_backends)
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
            with self._making:  # of several threads that run the first loops, one makes it
                if self._engine is None:
                    self._engine = Engine(self.configuration, self.coherence)
                    self._exit_at_exit()
        return self._engine

    def of(self, kind: type[T]) -> T:
        """Return the one object of a class until `exit`, made when first asked for.

        So each room can declare the state that it needs.

        Args:
            kind: A class that is made without arguments.
        """
        found: T | None = self.states.get(kind)
        if found is None:
            found = self.states.setdefault(kind, kind())
        return found

    def next_uid(self) -> int:
        """Return a number that no other object of this process has or will have.

        An `id` is used again once its object is gone; loops are remembered by these instead.
        """
        return next(self._uids)

    # Life

    def init(self, *, comm: Any = None, **options: Any) -> None:
        """Set options, or none of them if one is wrong. May be called again, or not at all.

        Args:
            comm: A communicator, as PyOP2 takes it: of one process, so far.
            **options: See the table `pyop2cxx.runtime.options.OPTIONS`. Those that the program
                declared for itself on `pyop2cxx.pyop2.utils.parser` are passed over.

        Raises:
            ConfigurationError: An option is unknown or has a wrong type or an unknown value.

        Example:
            >>> from pyop2cxx import op2
            >>> op2.init(threads=2, deterministic=True)
            >>> op2.exit()
        """
        checked_comm(comm, "init")
        ours = {name: v for name, v in options.items() if name not in self.program_options}
        self.configuration.check_names(ours)
        self.configuration.reconfigure(**ours)
        self._initialised = True
        self._exit_at_exit()

    @property
    def recorder(self) -> Recorder | None:
        """What takes the loops of this thread; None: they run now."""
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
        """Whether this thread writes a graph down: what it reads is read once, and not again."""
        here = self.here
        return here.looks is not None or (here.recorder is not None and here.recorder.is_of_graph)

    def settle(self) -> None:
        """Run all loops that chains have recorded and not yet run."""
        own = self.here.recorder
        if own is not None:
            own.flush()
        for other in self._others():
            other.flush_for_other()

    @property
    def others_record(self) -> bool:
        """Whether chains of other threads may have loops that wait."""
        return len(self.recorders) > (self.here.recorder is not None)

    def settle_others(self, *uses: tuple[Any, bool]) -> None:
        """Run what other threads have recorded of some values, before these are used here.

        Args:
            *uses: What has values, and whether they are written.
        """
        for other in self._others():
            for carrier, write in uses:
                other.settle_for_other(carrier, write=write)

    def _others(self) -> list[Recorder]:
        """Return the chains of other threads, unless this one is running a chain."""
        if self.here.is_running:
            return []
        own = get_ident()
        return [other for ident, other in list(self.recorders.items()) if ident != own]

    def is_first(self, what: str) -> bool:
        """Say whether something is to be logged that is logged once in a process."""
        is_new = what not in self.said
        self.said.add(what)
        return is_new

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Run the loops of a `with` block when they are called, also within a chain.

        What the chain has recorded of their arguments must have run.
        """
        here = self.here
        recorder, resting = here.recorder, here.resting
        self.recorder = here.resting = None
        try:
            yield
        finally:
            self.recorder, here.resting = recorder, resting

    def exit(self) -> None:
        """Forget what `init` and `Const` set, and all that was remembered of loops.

        The environment's options hold again. No table keeps a Set, Dat, Kernel or device alive;
        those that the program still holds may be used as before. Called when the process ends, if
        it used anything that has to be left in order. Loops that wait in a chain run first.
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
        self.program_options.clear()
        self._engine = None
        self._usual_backend = ""
        self._device, self._device_epoch = None, -1
        for clear in (*self._clears, *(table.clear for table in self._tables)):
            clear()
        self.epoch += 1
        self.configuration.reset()
        self.follow_lazy()  # also if the option is what it was before

    @staticmethod
    def warn_of_vain_write(what: str) -> None:
        """Warn of values that nobody asks for any more, and that loops have not seen.

        Args:
            what: Whose they are.
        """
        warnings.warn(
            f"{what}: somebody wrote into its values on the host after a device had taken them, "
            "through an array from before; loops on the device never saw it. Ask for 'data' again "
            "after a loop, and write through that",
            RuntimeWarning,
            stacklevel=user_stacklevel(),
        )

    def forget_at_exit(self, remembered: Bounded | Callable[[], None]) -> None:
        """Let `exit` clear what holds objects of a program; see `pyop2cxx.runtime.memo`.

        Args:
            remembered: A table, which is not kept alive; or what clears a table of a module.
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
        """Set the level of the logger 'pyop2cxx' by its name or number."""
        self.configuration["log_level"] = level

    def _options_changed(self, names: frozenset[str]) -> None:
        self.epoch += 1
        self._usual_backend = ""
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
        """Let all loops wait, or no longer, as the option 'lazy' says; blocks stay as they are."""
        lazy = self.lazy_recorder
        if self.configuration["lazy"]:
            if lazy is None and self.recorder in (None, self._ended_recorder):
                self.lazy_recorder = new_recorder()
                self.recorder = self.lazy_recorder
        elif lazy is not None:
            self.settle()
            lazy.end()  # it may be another thread's, which keeps it
            if self.recorder is lazy:
                self.recorder = None
            self.lazy_recorder = self.here.resting = None
            self._ended_recorder = lazy

    def _apply_log_level(self) -> None:
        self.logger.setLevel(self.configuration["log_level"])
        # Python's handler of last resort drops what is below a warning
        if not self.logger.isEnabledFor(logging.INFO) or self.logger.hasHandlers():
            return
        self.logger.addHandler(logging.StreamHandler())

    # Backend

    def backend_names(self) -> tuple[str, ...]:
        """Return the backends there are, sorted; some may lack their compiler or device.

        Those of other packages are among them, but for what is called as one of this package.
        """
        return tuple(sorted({*self._own_backends(), *entry_points()}))

    def _own_backends(self) -> tuple[str, ...]:
        return backend_names(self.backend_folder)

    @property
    def backend(self) -> str:
        """The name of the backend that loops run on now."""
        if self._backends:
            return self._backends[-1]
        return str(self.configuration["backend"]) or self.usual_backend

    @property
    def usual_backend(self) -> str:
        """The backend of programs that choose none: `openmp`, if the C compiler has OpenMP.

        With `init(static=True)` nothing can be lacking. With `init(eti_only=True)` no compiler may
        be asked: it is what the loaded tables are for.
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

        The choice holds for the whole process, not for one thread.

        Raises:
            UnknownBackendError: There is no such backend.

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
        """The device that loops run on now, opened; None if they run on the host.

        Raises:
            ConfigurationError: There is no such device.
            ToolchainError: There is no library, platform or device at all.
        """
        if self._device_epoch != self.epoch:
            opened = self.engine.chosen_device(self.engine.backend(self.backend))
            self._device = None if opened is None else opened.device
            self._device_epoch = self.epoch
        return self._device

    # Static mode

    def require_running(self, owner: str, member: str) -> None:
        """Refuse what only a program that runs loops can answer.

        Args:
            owner: The object, as it should be called in the message: ``Dat 'q'``.
            member: What was asked of it.

        Raises:
            StaticModeError: Under ``init(static=True)``.
        """
        if self.static:
            raise StaticModeError(
                f"{owner}: '{member}' needs loops that run, but init(static=True) only generates "
                "text; guard this line, or run without static=True"
            )

    # Constants that kernels use by their bare names

    @property
    def constants(self) -> Mapping[str, Any]:
        """The Consts by name, a read-only view."""
        return MappingProxyType(self._constants)

    def register_constant(self, constant: Any) -> None:
        """Make a Const known to kernels.

        Raises:
            NonUniqueNameError: Another Const has its name.
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
        """Make a Const unknown to kernels compiled from now on; harmless if it already is."""
        known = self._constants.get(constant.name)
        if known is not None and known is constant:
            del self._constants[constant.name]
            self.epoch += 1


runtime = Runtime()
