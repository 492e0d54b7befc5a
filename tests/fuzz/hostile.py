# SPDX-License-Identifier: BSD-3-Clause
"""Calls of the public interface with arguments that make no sense.

Each call works, or raises one of our exceptions, a TypeError or a ValueError, with a message.
Nothing crashes, hangs, or fails somewhere inside. Calls are made by children of this process, so
that their ends are seen: `python tests/fuzz/hostile.py --count 100000 --seed 1 --jobs 4`.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import inspect
import operator
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    # Its threads, one for each core, would take what a child may allocate; where they cannot begin,
    # it interrupts the process.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.children import in_child
from fuzz.jobs import Lost, Task, cache_in, own_caches, results
from fuzz.records import Record, Seeds, add_options, record_of
from pyop2cxx import op2
from pyop2cxx.base.listing import inner_members
from pyop2cxx.exceptions import InternalError, Op2Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALLOWED = (Op2Error, TypeError, ValueError)
PACKAGE = str(Path(op2.__file__).parent)
MOST_BYTES = 3 << 30  # that a child may allocate
MOST_SECONDS = 60.0  # for one call
N_IN_CHILD = 2000
N_IN_WORLD = 400  # calls before all objects are made anew
MOST_OBJECTS = 60

CLASSES = [
    op2.Set,
    op2.Subset,
    op2.ExtrudedSet,
    op2.MixedSet,
    op2.DataSet,
    op2.MixedDataSet,
    op2.Map,
    op2.PermutedMap,
    op2.ComposedMap,
    op2.MixedMap,
    op2.Dat,
    op2.DatView,
    op2.MixedDat,
    op2.Global,
    op2.Constant,
    op2.Const,
    op2.Kernel,
    op2.Sparsity,
    op2.Mat,
    op2.Solver,
    op2.ParLoop,
    op2.Halo,
    op2.GlobalDataSet,
    op2.GlobalKernel,
    op2.Parloop,
    op2.DatKernelArg,
    op2.MapKernelArg,
    op2.GlobalKernelArg,
    op2.MatKernelArg,
]
FUNCTIONS = [
    op2.par_loop,
    op2.par_loop,
    op2.par_loop,
    op2.renumber,
    op2.solve,
    op2.LocalSet,
    op2.timings,
    op2.backends,
    op2.wait,
    op2.dense.multiply,
    op2.dense.solve,
    op2.dense.inverse,
    op2.dense.check,
]
# Values of another process, addresses that are taken at their word, and what only exits.
NEVER = {"handle", "data_ptr", "fromhdf5", "save", "load", "to_cupy", "ctype"}
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b,
    lambda a, b: a**b,
    lambda a, b: a @ b,
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: b in a,
    lambda a, b: a[b],
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
]


def pickled(one: Any) -> Any:
    """Return a copy; what cannot be pickled is Python's to refuse."""
    try:
        return pickle.loads(pickle.dumps(one))
    except (AttributeError, pickle.PicklingError) as error:
        if "pickle" not in str(error):
            raise
    except MemoryError:  # values of some 100 MiB, twice
        pass
    return None


UNARY = [
    repr,
    str,
    hash,
    len,
    bool,
    lambda a: -a,
    lambda a: +a,
    lambda a: list(a)[:3] if len(a) < 1000 else None,
    copy.copy,
    pickled,
]
KERNELS = [
    ("void f(double *x) { x[0] += 1; }", "f"),
    ("void f(double *x, double *y) { x[0] += y[0]; }", "f"),
    ("void f(double *x, const double *y, int *z) { x[0] += y[0]; z[0] += 1; }", "f"),
    ("void f(int *x) { x[0] = 1; }", "f"),
    ("void f(double complex *x) { x[0] += 1; }", "f"),
    ("void f(double *a, double *b) { if (a[0] < b[0]) b[0] = a[0]; }", "f"),
]


def odd_values(random: Random) -> Any:
    """Return something that hardly any parameter is made for."""
    makers: list[Callable[[], Any]] = [
        lambda: None,
        lambda: random.choice([True, False]),
        lambda: random.choice([-1, 0, 1, 2, 3, 7, 255, 256, -(2**31), 2**31, 2**32, 2**40]),
        lambda: random.choice([2**62, 2**63, 2**64, -(2**63), -(2**63) - 1, 10**30]),
        lambda: random.choice([0.0, -0.0, 1.5, -1e308, 1e-320, float("nan"), float("inf")]),
        lambda: random.choice([1j, complex("nan"), complex(2, -3)]),
        lambda: random.choice(["", "x", "é", "a b", "\0", "x" * 5000, "float64", "int32", "void"]),
        lambda: random.choice([b"", b"abc", bytearray(3), memoryview(b"abcd")]),
        lambda: random.choice([[], (), {}, set(), [1, 2], (1, 2, 3), [[1], [2, 3]], {"a": 1}]),
        lambda: random.choice([object(), object, type, len, lambda: 1, Ellipsis, NotImplemented]),
        lambda: random.choice([range(3), iter([1, 2]), slice(None), slice(1, 9, -1)]),
        lambda: random.choice([np.float64, np.dtype("int8"), np.dtype("M8[s]"), "S3", "O", "f2"]),
        lambda: random.choice([np.float32(1.5), np.int8(-1), np.uint64(2**63), np.bool_(True)]),
        lambda: odd_array(random),
        lambda: odd_array(random),
        lambda: [odd_values(random) for _ in range(random.randint(0, 3))],
        lambda: random.choice([op2.READ, op2.WRITE, op2.RW, op2.INC, op2.MIN, op2.MAX, op2.ALL]),
        lambda: op2.ON_TOP,
        lambda: Odd(),
    ]
    return random.choice(makers)()


class Odd:
    """Fails whatever is asked of it."""

    def __len__(self) -> int:
        raise ValueError("no length")

    def __index__(self) -> int:
        raise TypeError("no index")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array")

    def __iter__(self) -> Any:
        raise TypeError("no iterator")

    def __eq__(self, other: object) -> bool:
        raise ValueError("no comparison")

    def __hash__(self) -> int:
        raise TypeError("no hash")

    def __repr__(self) -> str:
        return "Odd()"


def odd_array(random: Random) -> Any:
    shape = random.choice([(), (0,), (1,), (3,), (4,), (5,), (4, 2), (5, 3), (3, 0), (2, 2, 2)])
    kinds = ["f8", "f4", "f2", "i4", "i8", "u1", "u8", "c16", "c8", "?", "O", "U3", "M8[s]", ">f8"]
    kind = random.choice([*kinds, "i4,f8", "g"])
    values = np.zeros(shape, kind)
    if values.dtype.kind == "f" and random.random() < 0.3:
        values[...] = random.choice([np.nan, np.inf, -1.0])
    elif values.dtype.kind in "iu" and random.random() < 0.5:
        values = values + np.array(random.choice([1, 2, 3, 4, 100]), values.dtype)
    way = random.random()
    if way < 0.1 and values.ndim:
        values = values[::-1]
    elif way < 0.2:
        values = np.asfortranarray(values)
    elif way < 0.3 and values.ndim:
        values.flags.writeable = False
    elif way < 0.35 and values.ndim:
        values = np.lib.stride_tricks.as_strided(values, values.shape, (0,) * values.ndim)
    return values


@dataclass(slots=True)
class World:
    """Objects that calls are made with; what calls return joins them."""

    random: Random
    objects: list[Any] = field(default_factory=list)

    def fill(self) -> None:
        nodes, cells = op2.Set(4, "nodes"), op2.Set((3, 4, 5), "cells")
        none = op2.Set(0, "none")
        c2n = op2.Map(cells, nodes, 2, np.arange(10) % 4, "c2n")
        n2n = op2.Map(nodes, nodes, 1, [1, 2, 3, 0], "n2n")
        columns = op2.ExtrudedSet(cells, 3)
        tall = op2.Set(40, "tall")
        up = op2.Map(columns, tall, 2, np.arange(10), "up", offset=[1, 1])
        x, y = op2.Dat(nodes, np.arange(4.0)), op2.Dat(nodes**2)
        z, k = op2.Dat(cells, dtype=np.int32), op2.Dat(cells**3, dtype=np.complex128)
        mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(c2n, c2n, None)]))
        self.objects += [nodes, cells, none, c2n, n2n, columns, tall, up, x, y, z, k, mat]
        self.objects += [nodes**2, cells ** (2, 2), op2.Global(1, 1.0), op2.Global(2, [1, 2], "i4")]
        self.objects += [op2.Subset(cells, [0, 2]), op2.Subset(columns, []), op2.Dat(tall)]
        self.objects += [op2.MixedSet((nodes, cells)), op2.MixedDat((x, y)), op2.DatView(y, 1)]
        self.objects += [op2.PermutedMap(c2n, [1, 0]), op2.ComposedMap(n2n, n2n), mat.sparsity]
        self.objects += [op2.Kernel(*self.random.choice(KERNELS)) for _ in range(3)]
        self.objects += [x(op2.READ), y(op2.INC, c2n), z(op2.WRITE), op2.MixedMap((c2n, c2n))]
        self.objects += [op2.Dat(none), op2.Solver(), mat(op2.INC, (c2n, c2n))]

    def of(self, kind: type) -> Any:
        """Return an object of a class, or if there is none something else."""
        found = [one for one in self.objects if isinstance(one, kind)]
        return self.random.choice(found or self.objects)

    def keep(self, found: Any) -> None:
        if isinstance(found, (*CLASSES, op2.DatArg, op2.GlobalArg, op2.MatArg, op2.MixedDatArg)):
            self.objects.append(found)
            if len(self.objects) > MOST_OBJECTS:
                del self.objects[self.random.randrange(30, len(self.objects))]

    # Arguments

    def argument(self, name: str) -> Any:
        """Return something for a parameter: mostly what it is made for."""
        if self.random.random() < 0.35:
            return odd_values(self.random)
        if self.random.random() < 0.15:
            return self.random.choice(self.objects)
        maker = _FITTING.get(name.rstrip("_"))
        return odd_values(self.random) if maker is None else maker(self)

    def arguments(self, function: Any) -> tuple[list[Any], dict[str, Any]]:
        """Return arguments for a function, by its signature."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        args, named = [], {}
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                args += [self.argument(p.name) for _ in range(self.random.randint(0, 3))]
            elif p.kind is p.VAR_KEYWORD:
                continue
            elif p.default is p.empty and p.kind is not p.KEYWORD_ONLY:
                args.append(self.argument(p.name))
            elif self.random.random() < 0.25:
                named[p.name] = self.argument(p.name)
        if self.random.random() < 0.03:
            args.append(odd_values(self.random))
        if self.random.random() < 0.02:
            named["nonsense"] = 1
        return args, named

    # Calls: a text, and what does it

    def call(self) -> tuple[str, Callable[[], Any]]:
        kind = self.random.random()
        if kind < 0.35:
            return self._called(self.random.choice(CLASSES))
        if kind < 0.45:
            return self._called(self.random.choice(FUNCTIONS))
        if kind < 0.85:
            return self._member()
        if kind < 0.9:
            one, way = self.random.choice(self.objects), self.random.choice(UNARY)
            return f"unary {UNARY.index(way)} {_brief(one)}", lambda: way(one)
        if kind < 0.97:
            one, other = self.random.choice(self.objects), self.argument("other")
            number = self.random.randrange(len(BINARY))
            what = f"binary {number} {_brief(one)} {_brief(other)}"
            return what, lambda: BINARY[number](one, other)
        return self._option()

    def _called(self, function: Any) -> tuple[str, Callable[[], Any]]:
        args, named = self.arguments(function)
        if function in (op2.par_loop, op2.ParLoop):
            args = [self.of(op2.Kernel), self.argument("iterset")]
            args += [self.argument("arg") for _ in range(self.random.randint(0, 3))]
        return _text(function.__name__, args, named), lambda: function(*args, **named)

    def _member(self) -> tuple[str, Callable[[], Any]]:
        one = self.random.choice(self.objects)
        hidden = NEVER | inner_members(type(one))
        names = [n for n in dir(type(one)) if not n.startswith("_") and n not in hidden]
        if not names:
            return f"repr {_brief(one)}", lambda: repr(one)
        name = self.random.choice([*names, "__call__"] if callable(one) else names)
        what = f"{_brief(one)}.{name}"
        if not callable(getattr(type(one), name, None)):
            # what arguments are made of is theirs, and constants of classes are no properties
            if self.random.random() < 0.2 and not is_dataclass(one) and not name.isupper():
                value = self.argument(name)
                return f"{what} = {_brief(value)}", lambda: _set(one, name, value)
            return what, lambda: _get(one, name)
        args, named = self.arguments(getattr(one, name))
        if isinstance(one, op2.Dat) and name == "__call__":
            args[:1] = [self.argument("access")]
        return _text(what, args, named), lambda: getattr(one, name)(*args, **named)

    def _option(self) -> tuple[str, Callable[[], Any]]:
        name = self.random.choice(list(op2.configuration))
        value = odd_values(self.random)
        if name in ("cache_dir", "dump", "log_level", "comm") or self.random.random() < 0.3:
            name = self.random.choice(["threads", "backend", "nonsense", "deterministic"])

        def change() -> None:
            try:
                op2.init(**{name: value})
            finally:
                plain()

        return f"init({name}={_brief(value)})", change


def plain() -> None:
    """Set the options that all calls start from."""
    cache = op2.configuration["cache_dir"]
    op2.configuration.reset()
    op2.init(cflags="-O0", threads=2, backend="sequential", cache_dir=cache)


def _set(one: Any, name: str, value: Any) -> None:
    try:
        setattr(one, name, value)
    except AttributeError as error:
        # Python's and NumPy's own words for what cannot be set
        words = ("no setter", "can't set", "cannot assign to field", "is not writable")
        if not any(word in str(error) for word in words):
            raise


def _get(one: Any, name: str) -> Any:
    try:
        return getattr(one, name)
    except AttributeError as error:
        if f"no attribute '{name}'" not in str(error):  # which some objects of a class have
            raise
    return None


def _brief(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) < 200 else text[:200] + "..."


def _text(name: str, args: list[Any], named: dict[str, Any]) -> str:
    words = [*map(_brief, args), *(f"{key}={_brief(value)}" for key, value in named.items())]
    return f"{name}({', '.join(words)})"


def _dat_arg(world: World) -> Any:
    dat = world.of((op2.Dat, op2.Global))  # type: ignore[arg-type]
    access = world.random.choice([op2.READ, op2.INC, op2.RW, op2.WRITE, op2.MIN])
    try:
        return dat(access, world.of(op2.Map)) if world.random.random() < 0.5 else dat(access)
    except ALLOWED:
        return dat


def _numbers(world: World) -> Any:
    n = world.random.choice([1, 4, 5, 8, 10])
    return np.arange(n) % world.random.choice([1, 3, 4, 5])


def _one_of(*values: Any) -> Callable[[World], Any]:
    return lambda world: world.random.choice(values)


def _object(kind: Any) -> Callable[[World], Any]:
    return lambda world: world.of(kind)


_FITTING: dict[str, Callable[[World], Any]] = {
    "size": _one_of(0, 1, 4, 5, (2, 3, 4), 2**33),
    "name": _one_of("a", "b", None),
    "iterset": _object(op2.Set),
    "toset": _object(op2.Set),
    "parent": _object(op2.Set),
    "superset": _object(op2.Set),
    "set": _object(op2.Set),
    "sets": lambda w: [w.of(op2.Set), w.of(op2.Set)],
    "dataset": _object((op2.Set, op2.DataSet)),
    "dsets": lambda w: (w.of(op2.DataSet), w.of(op2.DataSet)),
    "arity": _one_of(0, 1, 2, 3),
    "values": _numbers,
    "data": _numbers,
    "indices": _numbers,
    "rows": _numbers,
    "cols": _numbers,
    "offset": _one_of([1, 1], [0], [1]),
    "layers": _one_of(2, 3, [[0, 2]] * 5),
    "map": _object(op2.Map),
    "maps": lambda w: [w.of(op2.Map), w.of(op2.Map)],
    "maps_and_regions": lambda w: [(w.of(op2.Map), w.of(op2.Map), None)],
    "permutation": _one_of([0], [1, 0], [0, 1, 2]),
    "dat": _object(op2.Dat),
    "dats": lambda w: [w.of(op2.Dat)],
    "other": _object((op2.Dat, op2.Global, op2.Set)),
    "A": _object(op2.Mat),
    "x": _object(op2.Dat),
    "b": _object(op2.Dat),
    "index": _one_of(0, 1, (0,)),
    "dim": _one_of(1, 2, (2, 2)),
    "dtype": _one_of("float64", np.int32, None, "complex64"),
    "sparsity": _object(op2.Sparsity),
    "kernel": _object(op2.Kernel),
    "code": lambda w: mutated(w.random, w.random.choice(KERNELS)[0]),
    "access": _one_of(op2.READ, op2.INC, op2.RW, op2.WRITE, op2.MIN, op2.MAX),
    "path": _object(op2.Map),
    "arg": _dat_arg,
    "args": _dat_arg,
    "strategy": _one_of(None, "owner", "block", "colour", "atomic", "scratch", "direct", "team"),
    "lanes": _one_of(None, 0, 2, 4, 3),
    "block_size": _one_of(None, 1, 7),
    "iteration_region": _one_of(None, op2.ALL, op2.ON_TOP),
}


def mutated(random: Random, text: str) -> str:
    """Return a text with some letters changed, left out, or twice."""
    letters = list(text)
    for _ in range(random.choice([0, 0, 1, 2, 5])):
        at = random.randrange(len(letters))
        way = random.random()
        if way < 0.4:
            del letters[at]
        elif way < 0.7:
            letters.insert(at, random.choice("(){}[];*&+-<>,.xy01\"'#\\\n \0é"))
        else:
            letters[at:at] = letters[random.randrange(len(letters)) :][:10]
    return "".join(letters)


# In a child


@dataclass(slots=True)
class Outcome:
    """What became of some calls.

    Attributes:
        n_calls: How many there were.
        raised: Exceptions that are allowed, by name.
        faults: What is not: its kind and place, and the first call that showed it.
    """

    n_calls: int = 0
    raised: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)
    n_faults: Counter[str] = field(default_factory=Counter)


def make_calls(seed: int, n: int, note: Callable[[str], None]) -> Outcome:
    """Make calls, of which each is noted before it is made."""
    random, outcome = Random(seed), Outcome()
    plain()
    world = World(random)
    for number in range(n):
        if number % N_IN_WORLD == 0:
            world = World(random)
            world.fill()
        what, do = world.call()
        note(f"seed {seed} call {number}: {what}")
        try:
            world.keep(do())
        except BaseException as error:
            judge(error, what, outcome)
        outcome.n_calls += 1
    return outcome


def judge(error: BaseException, what: str, outcome: Outcome) -> None:
    """Say whether a call may end like this."""
    kind = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    inner = [f for f in frames if f.filename.startswith(PACKAGE)]
    is_allowed = isinstance(error, ALLOWED) and not isinstance(error, InternalError)
    # an array of Python's integers divides by zero as these do
    is_numpys = isinstance(error, ArithmeticError) and not inner
    if (is_allowed or is_numpys) and str(error).strip():
        outcome.raised[kind] += 1
        return
    inner = inner or list(frames)
    place = f"{Path(inner[-1].filename).name}:{inner[-1].lineno}" if inner else "?"
    key = f"{kind} at {place}"
    outcome.n_faults[key] += 1
    outcome.faults.setdefault(key, f"{what}\n    {kind}: {str(error)[:300]}")


# In the parent


def calls_in_child(seed: int, n: int) -> Outcome:
    """Make calls in a child; its end, if it is not its own, is a fault."""

    def make_them(note: Callable[[str], None]) -> Outcome:
        cache_in(folder)
        return _confined(seed, n, note)

    with own_caches() as folder:
        answer, how, last = in_child(make_them)
    if answer is not None:
        return answer  # type: ignore[no-any-return]
    outcome = Outcome(n_calls=int(last.split("call ")[1].split(":")[0]) + 1)
    outcome.faults[f"{how} in {last.split(': ', 1)[1][:40]}"] = last
    outcome.n_faults[how] += 1
    return outcome


def _confined(seed: int, n: int, note: Callable[[str], None]) -> Outcome:
    """Make calls where memory and time have bounds, in a folder of their own."""
    resource.setrlimit(resource.RLIMIT_AS, (_used_bytes() + MOST_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    faulthandler.disable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)

    def noted(text: str) -> None:
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        note(text)

    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        os.chdir(folder)
        outcome = make_calls(seed, n, noted)
        os.chdir("/")
    return outcome


def _used_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@dataclass(slots=True)
class Many:
    """Calls on their way.

    Attributes:
        first: The first seed; each child has the next.
        count: How many calls there shall be.
        total: What became of those that were made.
        seeds: Of the children that have ended.
        n_coming: How many are on their way.
    """

    first: int
    count: int
    total: Outcome = field(default_factory=Outcome)
    seeds: Seeds = field(default_factory=Seeds)
    n_coming: int = 0

    def tasks(self) -> Iterator[Task]:
        """Yield tasks until there are enough: a child that crashes made fewer calls."""
        seed = self.first
        while (left := self.count - self.total.n_calls - self.n_coming) > 0:
            n = min(N_IN_CHILD, left)
            self.n_coming += n
            yield Task("calls", calls_in_child, (seed, n))
            seed += 1

    def add(self, task: Task, found: Outcome | Lost) -> None:
        """Note what became of a task."""
        seed, n = task.args
        self.seeds.add(range(seed, seed + 1))
        if isinstance(found, Lost):
            found = Outcome(1, faults={"lost": f"seed {seed}: {found.why}"})
            found.n_faults["lost"] += 1
        self.n_coming -= n
        self.total.n_calls += found.n_calls
        self.total.raised += found.raised
        self.total.n_faults += found.n_faults
        self.total.faults = {**found.faults, **self.total.faults}

    def record(self) -> dict[str, Any]:
        """Return what was called, for a file."""
        total = self.total
        found = {"first_seed": self.first, "seeds": [*self.seeds], "calls": total.n_calls}
        return {**found, "faults": total.faults, "refused": dict(total.raised.most_common())}


def make_many(first: int, count: int, jobs: int, seconds: float, record: Record) -> Outcome:
    """Make calls in children, as many at once as there are jobs, and keep a record of them.

    Args:
        first: The first seed, if no earlier session had it.
        count: How many calls there shall be, with those of earlier sessions.
        jobs: How many processes.
        seconds: Begin nothing that ends later.
        record: What is gone on from.
    """
    before = [one for one in record.earlier if "calls" in one]
    last = max((last for one in before for _, last in one.get("seeds", [])), default=first - 1)
    many = Many(max(first, last + 1), count - sum(one["calls"] for one in before))
    for task, found in results(many.tasks(), jobs, seconds):
        many.add(task, found)
        record.keep({"jobs": jobs, **many.record()})
    record.keep({"jobs": jobs, **many.record()}, is_over=True)
    return many.total


def main() -> int:
    parser = argparse.ArgumentParser(description="hostile calls of the public interface")
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--minutes", type=float, default=1e7, help="begin nothing that ends later")
    add_options(parser)
    given = parser.parse_args()
    first, record = int(time.time()) if given.seed is None else given.seed, record_of(given)
    found = make_many(first, given.count, given.jobs, 60 * given.minutes, record)
    print(
        f"from seed {first}: {found.n_calls} calls, {sum(found.raised.values())} refused, "
        f"{sum(found.n_faults.values())} faults of {len(found.faults)} kinds, "
        f"{record.seconds():.0f} s"
    )
    for key, what in sorted(found.faults.items()):
        print(f"\n{key} ({found.n_faults[key]})\n    {what}")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
