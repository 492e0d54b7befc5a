# SPDX-License-Identifier: BSD-3-Clause
"""The options of pyop2cxx: a table of type, default and meaning.

Every option is also an environment variable, ``PYOP2CXX_`` and the option's name in capitals. The
program wins over the environment, and the environment over the default.
"""

from __future__ import annotations

import ast
import logging
import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, cast

from pyop2cxx import _core
from pyop2cxx.base.folders import backend_names
from pyop2cxx.base.quoting import check_text
from pyop2cxx.exceptions import (
    ConfigurationError,
    UnknownBackendError,
    UsageError,
    user_stacklevel,
)
from pyop2cxx.runtime import seams

_PREFIX = "PYOP2CXX_"
_TRUE_WORDS = ("1", "true", "yes", "on")
_FALSE_WORDS = ("0", "false", "no", "off", "")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_FLAGS = ("cflags", "cxxflags", "ldflags")
_OTHER_LEVELS = {"WARN": "WARNING", "FATAL": "CRITICAL"}  # also known to `logging`


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A row of the table.

    Attributes:
        name: The key of `op2.configuration` and the keyword of `op2.init`.
        type: Type of the value: `bool`, `int` (never negative) or `str`.
        default: The value where neither the program nor the environment says otherwise.
        choices: The values there are; empty where any value of the type will do.
        help: A sentence for the documentation and for messages.
        warning: Warning for programs that set another value than the default.
    """

    name: str
    type: type[bool] | type[int] | type[str]
    default: bool | int | str
    help: str
    choices: tuple[str, ...] = ()
    warning: str = ""

    @property
    def variable(self) -> str:
        """The environment variable of the option."""
        return _PREFIX + self.name.upper()


OPTIONS: tuple[Option, ...] = (
    Option(
        name="backend",
        type=str,
        default="",
        help="Where loops run; empty means `openmp`, or `sequential` if the C compiler has no "
        "OpenMP.",
    ),
    Option(
        name="platform",
        type=str,
        default="",
        help="Part of the name of the OpenCL platform to use; empty means any.",
    ),
    Option(
        name="device",
        type=str,
        default="",
        help="The device to use: its number as `pyop2cxx info` lists them, or part of its name; "
        "empty means the first that is not a CPU, else the first.",
    ),
    Option(
        name="device_memory",
        type=int,
        default=0,
        help="Megabytes of a device's memory that this process may take, such as if others share "
        "the device; 0 means all.",
    ),
    Option(
        name="abi",
        type=str,
        default="2026",
        choices=("2026", "2016", "2013"),
        help="The convention for arguments of kernels that do not name theirs: today's, or PyOP2's "
        "of 2016 or 2013.",
    ),
    Option(
        name="static",
        type=bool,
        default=False,
        help="Only generate text: no sizes, data, compiler or device are needed.",
    ),
    Option(
        name="eti_only",
        type=bool,
        default=False,
        help="Run only loops that `op2.dispatch.load` has loaded; no compiler is started.",
    ),
    Option(
        name="debug",
        type=bool,
        default=False,
        help="Check mode, NaNs that loops get or make, chains compared with their loops; compiled "
        "with -O0 -g.",
    ),
    Option(
        name="check",
        type=bool,
        default=False,
        help="Check mode: bounds, access contracts, races and values of every kernel, naming loop, "
        "kernel line, argument and element; a loop that fails writes nothing.",
    ),
    Option(
        name="log_level",
        type=str,
        default="WARNING",
        choices=_LEVELS,
        help="The level of the logger 'pyop2cxx'; the numbers of `logging` are accepted too.",
    ),
    Option(
        name="cache_dir",
        type=str,
        default="",
        help="Where compiled loops are kept; empty means the user's cache directory.",
    ),
    Option(
        name="threads",
        type=int,
        default=0,
        help="Threads of one loop; 0 means all that this process may use.",
    ),
    Option(
        name="patience",
        type=int,
        default=300,
        help="Seconds that a process waits for others, before the program ends with a list of who "
        "waits where.",
    ),
    Option(
        name="transport",
        type=str,
        default="auto",
        choices=("auto", "staged", "stores", "nccl"),
        help="How ghosts travel between the devices of several processes: `staged` through the "
        "host and MPI, `nccl` from GPU to GPU, `stores` written by a kernel into the memory of "
        "another GPU of the node; `auto` measures at the first exchange.",
    ),
    Option(
        name="deterministic",
        type=bool,
        default=False,
        choices=("ranks",),
        help="The same bits whatever the number of threads: only strategies that keep an order. "
        "'ranks': also whatever the number of processes (docs/processes.md).",
    ),
    Option(
        name="lazy",
        type=bool,
        default=False,
        help="Loops of the whole program wait and are compiled together, as in op2.chain().",
    ),
    Option(
        name="hardware_gathers",
        type=bool,
        default=False,
        help="Loops on lanes load by gather instructions (AVX2, AVX-512) instead of whole rows: "
        "slower on most processors.",
    ),
    Option(
        name="lane_functions",
        type=str,
        default="library",
        choices=("library", "own", "scalar"),
        help="Source of exp, tanh and other functions in kernels on lanes: 'library' for the C "
        "library's functions of vectors (errors below 4 ulp), 'own' for functions of this package "
        "(the same bits with any C library), 'scalar' for a call of the C library in each lane.",
    ),
    Option(
        name="blas",
        type=str,
        default="",
        help="Libraries that sums and multiples of Dats and products of matrices are left to where "
        "they take less time: 'auto' for NumPy's BLAS or the system's, SciPy, cuBLAS and cuSPARSE, "
        "or the name of a library or the path of a BLAS, for the host; their sums have bits of "
        "their own. Empty, or `deterministic`, means none.",
    ),
    Option(
        name="strict",
        type=bool,
        default=False,
        help="A kernel that does what its access descriptors do not allow is an error.",
    ),
    Option(
        name="strict_residency",
        type=bool,
        default=False,
        help="A copy between host and device that the program did not ask for is an error.",
    ),
    Option(
        name="full_tracebacks",
        type=bool,
        default=False,
        help="Errors show all frames of pyop2cxx above the user's line; so does debug.",
    ),
    Option(
        name="templates",
        type=str,
        default="",
        help="A folder of templates that stand for this package's of the same name, such as "
        "'host/translation_unit.j2'; they can extend 'pyop2cxx/host/translation_unit.j2'.",
    ),
    Option(
        name="tuning",
        type=str,
        default="",
        help="Numbers of this machine that steer choices, texts and launches of all loops, such as "
        "'memory_rate=200,block_elements=8192'; a dict is accepted, too.",
    ),
    Option(
        name="tune",
        type=str,
        default="use",
        choices=("use", "online", "off"),
        help="Measured choices in the cache directory: 'use' what is there, and keep results of "
        "trials; 'online' also measures each loop before its first call; 'off' reads and keeps "
        "nothing.",
    ),
    Option(name="cc", type=str, default="cc", help="The C compiler."),
    Option(name="cxx", type=str, default="c++", help="The C++ compiler, for cpp=True kernels."),
    Option(name="cflags", type=str, default="", help="More flags for the C compiler."),
    Option(name="cxxflags", type=str, default="", help="More flags for the C++ compiler."),
    Option(name="ldflags", type=str, default="", help="More flags for the link."),
    Option(
        name="dump",
        type=str,
        default="",
        help="Stages of a loop's way to machine code to print, with commas: 'lower' for the code "
        "after each pass, a pass alone ('expand'), 'source'. With a folder ('dumps/') to files.",
    ),
)


class Configuration(MutableMapping[str, Any]):
    """The options and their values: a dictionary with checked assignment.

    Nothing is changed unless every value given is right, so a caught error leaves the old state.

    Args:
        backends: Returns the backends, when a backend is chosen; None means the package's own.
        near: Returns some of them faster, to be searched first.

    Attributes:
        before_change: Called before values change.
        on_change: Called with the names of the changed options.

    Example:
        >>> options = Configuration(lambda: ("sequential",))
        >>> options["threads"] = 2
        >>> options["threads"]
        2
    """

    def __init__(
        self,
        backends: Callable[[], tuple[str, ...]] | None = None,
        near: Callable[[], tuple[str, ...]] | None = None,
    ) -> None:
        self.before_change: Callable[[], None] | None = None
        self.on_change: Callable[[frozenset[str]], None] | None = None
        self._backends = backend_names if backends is None else backends
        self._near = near or self._backends
        self._options = {option.name: option for option in OPTIONS}
        self._foreign: dict[str, Any] = {}
        self._values: dict[str, bool | int | str] = {o.name: o.default for o in OPTIONS}
        self.reset()

    def __getitem__(self, name: str) -> Any:
        if name in self._foreign:
            return self._foreign[name]
        return self._values[name] if name in self._values else self._option(name).default

    def __setitem__(self, name: str, value: Any) -> None:
        self.reconfigure(**{name: value})

    def __delitem__(self, name: str) -> None:
        raise ConfigurationError(
            f"option '{name}' cannot be deleted; set it to its default "
            f"{self._option(name).default!r}, or call reset() for all of them"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Configuration({self._values!r})"

    def update(self, *others: Any, **options: Any) -> None:
        """Set several options, or none if a value is wrong."""
        self.reconfigure(**dict(*others, **options))

    def unsafe_reconfigure(self, **options: Any) -> None:
        """Set several options, as `reconfigure`: PyOP2's name for doing so without its checks."""
        self.reconfigure(**options)

    def reconfigure(self, **options: Any) -> None:
        """Set several options, or none if a value is wrong.

        An unknown option is kept for the program, as PyOP2 does; no code here reads the value.

        Raises:
            ConfigurationError: A value is of a wrong type or unknown.

        Warns:
            UserWarning: An option is unknown, or belongs to PyOP2 and has no effect here although a
                program would rely on an effect.
        """
        known = {name: value for name, value in options.items() if self._is_known(name)}
        checked: dict[str, Any] = {name: self._checked(name, known[name]) for name in known}
        told = [f"option '{name}': {self._options[name].warning}" for name in self._told(checked)]
        for name in options.keys() - known.keys():
            told.append(f"{self._unknown(name)}; it is kept, but nothing here reads it")
            checked[name] = options[name]
        for warning in told:
            warnings.warn(warning, stacklevel=user_stacklevel() - 1)
        self._replace(checked)

    def _told(self, checked: Mapping[str, Any]) -> list[str]:
        """Return the options with a warning about their effect."""
        asked = (self._options[name] for name in checked)
        return [o.name for o in asked if o.warning and checked[o.name] != o.default]

    def check_names(self, names: Iterable[str]) -> None:
        """Check the names of options.

        Raises:
            ConfigurationError: An option is unknown.
        """
        for name in names:
            self._option(name)

    def reset(self, environment: Mapping[str, str] | None = None) -> None:
        """Reset every option to the environment's value, else to the default.

        Args:
            environment: Read instead of `os.environ`.

        Raises:
            ConfigurationError: A variable has a wrong value for the option.
        """
        found = os.environ if environment is None else environment
        self._foreign = {}
        self._replace({o.name: self._from_text(o, found.get(o.variable)) for o in OPTIONS})

    def _replace(self, values: dict[str, Any]) -> None:
        ours = {name: value for name, value in values.items() if name in self._values}
        self._foreign.update({name: v for name, v in values.items() if name not in ours})
        names = frozenset(name for name, value in ours.items() if self._values[name] != value)
        if names and self.before_change is not None:
            self.before_change()
        self._values.update(ours)
        if names and self.on_change is not None:
            self.on_change(names)

    def _option(self, name: str) -> Option:
        if not self._is_known(name):
            raise ConfigurationError(self._unknown(name))
        return self._options[name]

    def _is_known(self, name: str) -> bool:
        """Return whether an option exists; PyOP2's are looked up on first use."""
        if name not in self._options:
            older = seams.older_options()
            found = () if older is None else older.PYOP2_OPTIONS
            self._options |= {option.name: option for option in found if option.name == name}
        return name in self._options

    def _unknown(self, name: str) -> str:
        return f"unknown option {name!r}; there are: {', '.join(self._values)}"

    def _from_text(self, option: Option, text: str | None) -> bool | int | str:
        if text is None:
            return option.default
        try:
            return self._checked(option.name, _parsed(option, text))
        except ConfigurationError as error:
            raise ConfigurationError(f"environment variable {option.variable}: {error}") from None

    def _checked(self, name: str, value: object) -> bool | int | str:
        option = self._option(name)
        found = _typed(option, value)
        if isinstance(found, str):
            check_text(found, f"option '{name}'", ConfigurationError)
        if isinstance(found, int) and found < 0:
            raise ConfigurationError(f"option '{name}' must not be negative, got {found}")
        if name == "templates" and found and not os.path.isdir(str(found)):
            raise ConfigurationError(f"option 'templates': there is no folder {found!r}")
        if name == "tuning" and found:
            _check_tuning(str(found))
        if name in _FLAGS and found:
            _check_words(name, str(found))
        is_backend = name == "backend"
        if found == option.default or (is_backend and found in self._near()):
            return found
        choices = self._backends() if is_backend else option.choices
        if isinstance(found, str) and (choices or is_backend) and found not in choices:
            kind = UnknownBackendError if is_backend else ConfigurationError
            raise kind(f"option '{name}' has no value {value!r}; there are: {_listed(choices)}")
        return found


def _typed(option: Option, value: object) -> bool | int | str:
    found = _normalised(option, value)
    # bool is an int, so the exact type must be asked for
    is_word = option.type is bool and found in option.choices
    if type(found) is option.type or is_word:
        return cast("bool | int | str", found)
    more = option.choices if option.type is bool else ()
    words = " or ".join([_name_of(option.type), *map(repr, more)])
    raise ConfigurationError(
        f"option '{option.name}' must be {words}, got {value!r} "
        f"of type {type(value).__name__} ({option.help})"
    )


def _normalised(option: Option, value: object) -> object:
    """Return the canonical spelling: numbers of devices, paths and log levels have several."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if option.name == "device":
            return str(number)
        if option.name == "debug":  # PyOP2 once had levels of debugging
            return number > 0
        return logging.getLevelName(number) if option.name == "log_level" else number
    if option.name == "tuning" and isinstance(value, Mapping):
        return ",".join(f"{key}={number}" for key, number in value.items())
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if option.name == "cache_dir" and isinstance(value, str):
        return os.path.expanduser(value)
    if option.name == "log_level" and isinstance(value, str):
        if value.strip().isdigit():  # in an environment variable
            return logging.getLevelName(int(value))
        return _OTHER_LEVELS.get(value.upper(), value.upper())
    return value


def numbers_in(text: str) -> Iterator[tuple[str, Any]]:
    """Return names and values that the option `tuning` sets.

    Args:
        text: The option: ``name=value``, with commas between them.
    """
    for one in filter(None, text.split(",")):
        name, _, value = one.partition("=")
        yield name.strip(), ast.literal_eval(value.strip())


def _check_tuning(text: str) -> None:
    tuning = _core.Tuning()
    try:
        for name, value in numbers_in(text):
            tuning = tuning.with_value(name, value)
    except UsageError as error:
        message = str(error).removeprefix("tuning: ")
        raise ConfigurationError(f"option 'tuning': {message}") from None
    except (ValueError, SyntaxError, TypeError):
        raise ConfigurationError(
            f"option 'tuning' must be name=value, with commas between them, got {text!r}"
        ) from None


def _check_words(name: str, text: str) -> None:
    try:
        shlex.split(text)
    except ValueError as error:
        raise ConfigurationError(
            f"option '{name}' must be split into words as a shell does, got {text!r}: {error}"
        ) from None


def _parsed(option: Option, text: str) -> bool | int | str:
    if option.type is bool:
        word = text.strip().lower()
        if word in option.choices:
            return word
        if word not in _TRUE_WORDS + _FALSE_WORDS:
            raise ConfigurationError(
                f"expected one of {_listed(_TRUE_WORDS + _FALSE_WORDS)}, got {text!r}"
            )
        return word in _TRUE_WORDS
    if option.type is int:
        try:
            return int(text)
        except ValueError:
            raise ConfigurationError(f"expected an integer, got {text!r}") from None
    return text


def _name_of(kind: type) -> str:
    return {bool: "True or False", int: "an integer", str: "a string"}[kind]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
