# SPDX-License-Identifier: BSD-3-Clause
"""What a loop checks, remembers and leaves behind."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest
from small_world import FLUX, World, run_python, scale, statistics

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    HaloFrozenError,
    KernelTypeError,
    KernelWarning,
    MapTypeError,
    MapValueError,
    ModeValueError,
    NoDataError,
    SetTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.loop import parloop, symbolic
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    runtime.engine.timings.clear()
    yield
    op2.exit()


# Wrong calls: nothing may have changed when they raise


def other_set(w: World) -> tuple[op2.Map, op2.Dat]:
    cells = op2.Set(3, "cells")
    return op2.Map(cells, w.nodes, 2, [[0, 1]] * 3, "c2n"), op2.Dat(cells, name="p")


WRONG: dict[str, tuple[Callable[[World, op2.Kernel], object], type[Exception], str]] = {
    "kernel": (
        lambda w, k: op2.par_loop("flux", w.edges, *w.args()),
        KernelTypeError,
        "first argument must be a Kernel, got 'flux' of type str",
    ),
    "set": (
        lambda w, k: op2.par_loop(k, "edges", *w.args()),
        SetTypeError,
        "par_loop 'flux': the second argument must be the Set to iterate over, got 'edges'",
    ),
    "set before kernel": (
        lambda w, k: op2.par_loop(w.edges, k, *w.args()),
        SetTypeError,
        "par_loop 'flux': the kernel comes first and then the Set to iterate over, got Set and Ker",
    ),
    "pointers to pointers": (
        lambda w, k: op2.par_loop(op2.Kernel("void k(double **x) {}", "k"), w.edges, w.args()[0]),
        UsageError,
        r"expected 'double \*x', got 'double \*\*x'.*Kernel\(..., abi='2016'\)",
    ),
    "map starts elsewhere": (
        lambda w, k: op2.par_loop(
            k, w.edges, w.q(op2.READ, other_set(w)[0]), w.r(op2.INC, w.e2n), w.total(op2.INC)
        ),
        MapValueError,
        "'flux': arg 0: Map 'c2n' starts on Set 'cells', but the loop runs over 'edges'; "
        "pass a Map edges → nodes",
    ),
    "direct on another set": (
        lambda w, k: op2.par_loop(
            k, w.edges, other_set(w)[1](op2.READ), w.r(op2.INC, w.e2n), w.total(op2.INC)
        ),
        MapValueError,
        "'flux': arg 0: Dat 'p' lives on Set 'cells', but the loop runs over 'edges'; "
        "pass a Map edges → cells",
    ),
    "map for a direct Dat": (
        lambda w, k: op2.par_loop(
            k, w.nodes, w.q(op2.READ, w.e2n), w.r(op2.INC), w.total(op2.INC)
        ),
        MapValueError,
        "'flux': arg 0: Map 'e2n' starts on Set 'edges', but the loop runs over 'nodes'; the Dat "
        "lives on 'nodes' itself: pass no Map, or one that starts there",
    ),
    "part of a Set without a Map": (
        lambda w, k: op2.par_loop(
            k, w.edges([0]), w.q(op2.READ), w.r(op2.INC, w.e2n), w.total(op2.INC)
        ),
        MapValueError,
        "but the loop runs over 'part_of_edges'; pass a Map edges → nodes",
    ),
    "map without values": (
        lambda w, k: op2.par_loop(
            k,
            w.edges,
            w.q(op2.READ, op2.Map(w.edges, w.nodes, 2, name="empty")),
            w.r(op2.INC, w.e2n),
            w.total(op2.INC),
        ),
        MapValueError,
        r"arg 0: Map 'empty' has no values yet; give it some by update_values\(\)",
    ),
    "map leads elsewhere": (
        lambda w, k: op2.par_loop(k, w.edges, other_set(w)[1](op2.READ, w.e2n)),
        MapValueError,
        "Map 'e2n' leads from Set 'edges' to Set 'nodes', but the Dat lives on Set 'cells'",
    ),
    "path is no map": (
        lambda w, k: op2.par_loop(k, w.edges, w.q(op2.READ, "e2n")),
        MapTypeError,
        "the path must be a Map, got 'e2n' of type str",
    ),
    "access": (
        lambda w, k: op2.par_loop(k, w.edges, w.total(op2.WRITE)),
        ModeValueError,
        "Global 'total' cannot be accessed with WRITE; it takes: READ, INC, MIN, MAX; to set it",
    ),
    "a Global that is reduced and read": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args()[1:], w.total(op2.READ)),
        UsageError,
        "arguments 1 and 2 are both Global 'total', with INC and READ; its value is known when",
    ),
    "a Global that is reduced in two ways": (
        lambda w, k: op2.par_loop(k, w.edges, w.total(op2.MIN), w.total(op2.MAX)),
        UsageError,
        "arguments 0 and 1 are both Global 'total', with MIN and MAX",
    ),
    "a Dat instead of an argument": (
        lambda w, k: op2.par_loop(k, w.edges, w.q, w.r(op2.INC, w.e2n), w.total(op2.INC)),
        UsageError,
        r"arg 0 must be made by calling .* as dat\(op2.READ, map\), got 'q' of type Dat",
    ),
    "a number instead of an argument": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args()[:2], 1.0),
        UsageError,
        "arg 2 must be made by calling .* got 1.0 of type float",
    ),
    "too few": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args()[:2]),
        UsageError,
        "Kernel 'flux' has 3 parameters .* but the loop passes 2 arguments .*Dat 'q', Dat 'r'",
    ),
    "too many": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args(), w.total(op2.INC)),
        UsageError,
        "Kernel 'flux' has 3 parameters .* but the loop passes 4 arguments",
    ),
    "dtype": (
        lambda w, k: op2.par_loop(
            k, w.edges, op2.Dat(w.nodes**2, dtype="float32", name="q32")(op2.READ, w.e2n),
            *w.args()[1:],
        ),
        UsageError,
        "parameter 'const double \\*q' gets argument 0, Dat 'q32', of dtype float32: expected "
        "'float \\*q'",
    ),
    "strategy": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args(), strategy="fast"),
        UsageError,
        "'flux': there is no strategy 'fast'; there are: direct, owner, scratch, atomic, block",
    ),
    "strategy of a wrong type": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args(), strategy=["direct"]),
        UsageError,
        r"there is no strategy \['direct'\]",
    ),
    "block size": (
        lambda w, k: op2.par_loop(k, w.edges, *w.args(), block_size=0),
        UsageError,
        "block_size must be a positive int, got 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_says_what_and_changes_nothing(name: str) -> None:
    call, error, message = WRONG[name]
    w, kernel = World(), op2.Kernel(FLUX, "flux")
    before = [carrier.dat_version for carrier in (w.q, w.r, w.total)]
    values = w.q.data_ro.copy()
    n_loops, n_texts = len(runtime.engine.loops), runtime.engine.n_generated
    for _ in range(2):  # the second call must not find that the first one was remembered
        with pytest.raises(error, match=message):
            call(w, kernel)
    assert [carrier.dat_version for carrier in (w.q, w.r, w.total)] == before
    assert (w.q.halo_valid, w.r.halo_valid, w.r.is_allocated) == (True, True, False)
    assert (len(runtime.engine.loops), runtime.engine.n_generated) == (n_loops, n_texts)
    np.testing.assert_array_equal(w.q.data_ro, values)


def test_a_strategy_that_cannot_be_says_why_and_which_can() -> None:
    op2.init(backend="sequential")
    w = World()
    loop = w.loop(strategy="direct")
    with (
        op2.backend("openmp"),
        pytest.raises(
            UnsupportedError, match=r"'flux'.*'direct' cannot be used.*possible: .*block"
        ),
    ):
        loop.compute()
    assert w.r.dat_version == 0
    loop.compute()  # one lane has no races
    np.testing.assert_allclose(w.r.data_ro, w.expected())


WRITES_READ = "void k(double *x, double *y) {\n  y[0] = x[0];\n  x[0] = 1;\n}"
READS_INC = "void k(double *x, double *y) {\n  y[0] += x[0];\n  x[0] = y[0];\n}"
MISUSES = [
    (WRITES_READ, op2.READ, op2.WRITE, "Kernel 'k': line 3 writes to parameter 'x' .*only READs"),
    (READS_INC, op2.RW, op2.INC, "Kernel 'k': line 3 uses the value of parameter 'y' .*INCrements"),
]


@pytest.mark.parametrize(("code", "first", "second", "message"), MISUSES)
def test_a_kernel_that_breaks_its_accesses_is_warned_of_at_the_users_line(
    code: str, first: op2.Access, second: op2.Access, message: str
) -> None:
    cells = op2.Set(2, "cells")
    x, y = op2.Dat(cells, name="x"), op2.Dat(cells, name="y")
    kernel = op2.Kernel(code, "k")
    for call in (op2.ParLoop, op2.par_loop):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(kernel, cells, x(first), y(second))
        [warning] = caught
        assert warning.category is KernelWarning
        assert warning.filename == __file__
        with pytest.raises(KernelWarning, match=message):
            raise warning.message


@pytest.mark.parametrize(("code", "first", "second", "message"), MISUSES)
def test_strict_turns_that_into_an_error(
    code: str, first: op2.Access, second: op2.Access, message: str
) -> None:
    cells = op2.Set(2, "cells")
    x, y = op2.Dat(cells, name="x"), op2.Dat(cells, name="y")
    op2.init(strict=True)
    with pytest.raises(UsageError, match=message + ".*strict=True"):
        op2.par_loop(op2.Kernel(code, "k"), cells, x(first), y(second))
    assert (x.dat_version, y.dat_version) == (0, 0)


# What is remembered


def spied(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[str]:
    calls: list[str] = []
    real = getattr(module, name)

    def spy(*args: object, **options: object) -> object:
        calls.append(name)
        return real(*args, **options)

    monkeypatch.setattr(module, name, spy)
    return calls


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_repeating_a_loop_checks_nothing_again(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = spied(monkeypatch, parloop, "passes")
    builds = spied(monkeypatch, symbolic, "build")
    lookups = spied(monkeypatch, flow, "executable")
    op2.init(backend=backend)
    w = World()
    loop, kernel = w.loop(), op2.Kernel(FLUX, "flux")
    assert (len(checks), len(builds), len(lookups)) == (1, 1, 0)
    for _ in range(5):
        loop.compute()
    assert (len(checks), len(builds), len(lookups)) == (1, 1, 1)
    for _ in range(5):
        op2.par_loop(
            kernel, w.edges, *w.args()
        )  # the kernel is checked; the loop is like the first
    assert (len(checks), len(builds), len(lookups)) == (2, 1, 1)
    np.testing.assert_allclose(w.r.data_ro, 10 * w.expected())


def test_a_changed_option_is_seen_by_a_loop_that_ran_before() -> None:
    w = World()
    loop = w.loop()
    loop.compute()
    op2.init(backend="openmp", deterministic=True)
    loop.compute()
    strategy = loop.generate().strategy
    assert strategy in ("owner", "scratch", "colour")
    assert runtime.engine.timing(("flux", "openmp", strategy), w.edges.size).n_calls == 1
    np.testing.assert_allclose(w.r.data_ro, 2 * w.expected())


def test_one_loop_runs_on_both_backends() -> None:
    op2.init(backend="sequential")
    w = World()
    loop = w.loop()
    for n, backend in enumerate(["sequential", "openmp", "sequential", "openmp"], 1):
        with op2.backend(backend):
            loop.compute()
            assert loop.generate().files.keys() == {
                f"flux_{backend}_{'direct' if backend == 'sequential' else 'block'}.c"
            }
        np.testing.assert_allclose(w.r.data_ro, n * w.expected())
    assert loop.generate().files.keys() == {"flux_sequential_direct.c"}


def test_remembered_loops_keep_no_data_alive() -> None:
    cells, kernel = op2.Set(1000, "cells"), scale()
    nodes = op2.Set(1000, "nodes")
    for _ in range(3):
        x = op2.Dat(cells, np.ones(1000))
        y = op2.Dat(nodes, np.ones(1000))
        map_ = op2.Map(cells, nodes, 1, np.arange(1000))
        with op2.backend("openmp"):
            op2.par_loop(kernel, cells, x(op2.RW))
            op2.par_loop(kernel, cells, y(op2.RW, map_))
        dead = [weakref.ref(thing) for thing in (x, x.data_ro.base, y, map_)]
        del x, y, map_
        gc.collect()
        assert [ref() for ref in dead] == [None] * 4


def test_a_dat_that_takes_a_dead_ones_place_is_not_taken_for_it() -> None:
    cells, kernel = op2.Set(3, "cells"), scale()
    addresses = set()
    for i in range(20):
        x = op2.Dat(cells, np.full(3, float(i)))
        addresses.add(id(x))
        op2.par_loop(kernel, cells, x(op2.RW))
        assert x.data_ro.tolist() == [2.0 * i] * 3
        del x
    assert len(addresses) < 20  # else this test shows nothing


def test_a_kernel_that_takes_a_dead_ones_place_is_not_taken_for_it() -> None:
    cells = op2.Set(1, "cells")
    x = op2.Dat(cells, [1.0])
    for factor in (2.0, 3.0, 5.0):
        kernel = scale(factor)
        op2.par_loop(kernel, cells, x(op2.RW))
        del kernel
        gc.collect()
    assert x.data_ro.tolist() == [30.0]


def test_new_map_values_may_need_another_strategy() -> None:
    edges, nodes = op2.Set(4000, "edges"), op2.Set(4000, "nodes")
    x = op2.Dat(nodes, np.zeros(4000))
    to_one = op2.Map(edges, nodes, 1, np.arange(4000))
    add = op2.Kernel("void add(double *x) { x[0] += 1; }", "add")
    op2.init(backend="openmp", threads=4)
    loop = op2.ParLoop(add, edges, x(op2.INC, to_one))
    loop.compute()
    assert loop.generate().strategy == "direct"
    to_one.update_values(np.zeros(4000, dtype=np.int32))
    for _ in range(5):
        loop.compute()
        op2.par_loop(add, edges, x(op2.INC, to_one))
    assert loop.generate().strategy == "block"
    assert x.data_ro[:2].tolist() == [1 + 10 * 4000, 1]


# Consts


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_a_consts_value_changes_without_any_new_text(backend: str) -> None:
    op2.init(backend=backend)
    cells = op2.Set(2, "cells")
    x = op2.Dat(cells, [1.0, 1.0])
    gam = op2.Const(1, 2.0, "gam")
    kernel = op2.Kernel("void power(double *x) { x[0] = gam * x[0]; }", "power")
    loop = op2.ParLoop(kernel, cells, x(op2.RW))
    loop.compute()
    n_texts, before = runtime.engine.n_generated, statistics()
    gam.data = 5.0
    loop.compute()
    gam.data[...] = 7.0
    op2.par_loop(kernel, cells, x(op2.RW))
    assert x.data_ro.tolist() == [70.0, 70.0]
    assert (runtime.engine.n_generated, statistics()) == (n_texts, before)


def test_a_const_without_a_value_is_an_error_not_a_zero() -> None:
    cells = op2.Set(2, "cells")
    x = op2.Dat(cells, [1.0, 1.0])
    gam = op2.Const(1, name="gam")
    loop = op2.ParLoop(
        op2.Kernel("void power(double *x) { x[0] = gam * x[0]; }", "power"), cells, x(op2.RW)
    )
    with pytest.raises(NoDataError, match=r"Const 'gam'.*par_loop 'power'.*no value was given yet"):
        loop.compute()
    gam.data = 3.0
    loop.compute()
    assert x.data_ro.tolist() == [3.0, 3.0]


# Halos and versions


def test_versions_and_halos_after_a_loop() -> None:
    w = World()
    loop, kernel = w.loop(), op2.Kernel(FLUX, "flux")
    for n in range(1, 4):
        w.r.halo_valid = True
        if n < 3:
            loop.compute()
        else:
            op2.par_loop(kernel, w.edges, *w.args())
            op2.par_loop(kernel, w.edges, *w.args())
            n += 1
        assert (w.q.dat_version, w.q.halo_valid) == (0, True)
        assert (w.r.dat_version, w.r.halo_valid) == (n, False)
        assert w.total.dat_version == n


@pytest.mark.parametrize("remembered", [False, True])
def test_a_frozen_halo_takes_one_access_only(remembered: bool) -> None:
    w = World()
    loop, kernel = w.loop(), op2.Kernel(FLUX, "flux")
    if remembered:
        loop.compute()
        op2.par_loop(kernel, w.edges, *w.args())
    version = w.r.dat_version
    message = (
        "'flux': arg 1: the halo of Dat 'r' is frozen with READ, but the loop uses it with INC"
    )
    with w.r.frozen_halo(op2.READ):
        with pytest.raises(HaloFrozenError, match=message):
            loop.compute()
        with pytest.raises(RuntimeError, match=message):
            op2.par_loop(kernel, w.edges, *w.args())
        assert w.r.dat_version == version
    with w.r.frozen_halo(op2.INC):
        loop.compute()
        op2.par_loop(kernel, w.edges, *w.args())
    loop.compute()
    assert w.r.dat_version == version + 3
    assert runtime.n_frozen == 0


# Text


def test_generate_gives_text_with_all_that_belongs_to_it() -> None:
    op2.init(backend="sequential")
    code = World("my_").loop().generate()
    assert isinstance(code, str)
    assert code.files == {"flux_sequential_direct.c": str(code)}
    assert code.signature in code
    assert code.strategy == "direct"
    assert code.why == "nothing can race"
    assert list(code.ir) == ["elements", "legalise", "expand"]
    assert all("flux" in stage for stage in code.ir.values())
    assert "flux" in code.key
    assert code.header == (
        "par_loop 'flux' over Set 'my_edges', strategy direct\n"
        "  arg 0: Dat 'my_q' READ via Map 'my_e2n'\n"
        "  arg 1: Dat 'my_r' INC via Map 'my_e2n'\n"
        "  arg 2: Global 'my_total' INC"
    )
    for stranger in ("my_", "nodes", "edges", "small_world"):
        assert stranger not in code


def test_generate_is_a_hit_the_second_time_and_cannot_be_spoilt() -> None:
    first = World("first_").loop().generate()
    n_texts = runtime.engine.n_generated
    text = str(first)
    first.files.clear()
    first.ir.clear()
    second = World("second_").loop().generate()
    assert runtime.engine.n_generated == n_texts
    assert second == text
    assert list(second.files.values()) == [text]
    assert second.ir
    assert "second_q" in second.header
    assert "first_q" in first.header


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"strategie": "direct", "colour": 1},
            "no option .colour., .strategie.; there are: any_device, convention, debug, ",
        ),
        ({"strategy": "fast"}, "there is no strategy 'fast'; there are: direct, owner"),
        ({"convention": 3}, "convention must be 1 or 2, got 3"),
        ({"deterministic": "no"}, "deterministic must be True or False, got 'no'"),
        ({"debug": 1}, "debug must be True or False, got 1"),
    ],
)
def test_generate_refuses_options_it_does_not_know(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match="par_loop 'flux': .*" + message):
        World().loop().generate(options)


def test_generate_runs_nothing_and_allocates_nothing() -> None:
    op2.init(backend="sequential")  # to choose one needs the compiler once
    w = World()
    before = statistics()
    w.loop().generate()
    assert (w.r.dat_version, w.r.is_allocated, statistics()) == (0, False, before)


def test_useful_bytes_count_each_array_once() -> None:
    w = World()
    # q is read; r read and written; two int32 of each edge
    assert w.loop().useful_bytes == 4 * 2 * 8 + 2 * (4 * 2 * 8) + 3 * 2 * 4


def test_a_global_may_be_summed_by_two_arguments(backend: str) -> None:
    cells = op2.Set(40)
    total = op2.Global(1, 1.0)
    both = op2.Kernel("void both(double *a, double *b) { a[0] += 2; b[0] += 1; }", "both")
    with op2.backend(backend):
        op2.par_loop(both, cells, total(op2.INC), total(op2.INC))
    assert total.data_ro[0] == 121.0


# Threads and processes


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_compute_from_four_threads(backend: str) -> None:
    op2.init(backend=backend)
    w = World()
    loop = w.loop()
    mine = [op2.Dat(w.nodes, np.ones(4)) for _ in range(4)]
    kernel = scale()
    errors: list[Exception] = []

    def work(x: op2.Dat) -> None:
        try:
            for _ in range(50):
                loop.compute()
                op2.par_loop(kernel, w.nodes, x(op2.RW))
        except Exception as error:  # any at all fails the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in mine]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    np.testing.assert_allclose(w.r.data_ro, 200 * w.expected())
    for x in mine:
        assert x.data_ro.tolist() == [2.0**50] * 4


FORK = """
import os, sys, warnings
import numpy as np
from pyop2cxx import op2
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of this very fork
op2.init(backend="openmp", threads=2)
cells = op2.Set(100000)
x = op2.Dat(cells, np.ones(100000))
loop = op2.ParLoop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
loop.compute()
child = os.fork()
if child == 0:
    loop.compute()
    with op2.backend("sequential"):
        loop.compute()
    os._exit(7 if x.data_ro[-1] == 8.0 else 8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
loop.compute()
assert x.data_ro[-1] == 4.0
"""


def test_loops_of_a_child_are_one_threads_not_a_hang(tmp_path: Path) -> None:
    ran = run_python(FORK, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps], ids=["deep copy", "pickle"])
def test_what_cannot_be_copied_says_what_to_do(copied: Callable[[object], object]) -> None:
    """Objects of a program with members such as these are copied, or sent to other processes."""
    w = World()
    loop = w.loop()
    sparsity = op2.Sparsity((w.nodes, w.nodes), [(w.e2n, w.e2n, None)])
    with pytest.raises(
        UsageError, match=r"a loop cannot be pickled.*make it again from its kernel"
    ):
        copied(loop)
    with pytest.raises(
        UsageError, match=rf"'{sparsity.name}': it cannot be pickled.*make it again"
    ):
        copied(sparsity)
    with pytest.raises(UsageError, match="a graph cannot be copied or pickled; bind"):
        copied(op2.record(loop.compute))
    copy.copy(loop).compute()
    np.testing.assert_allclose(w.r.data_ro, w.expected())
    assert copy.copy(sparsity) is sparsity


# The end


def test_loops_go_on_after_exit_and_a_new_start() -> None:
    w = World()
    op2.init(backend="openmp", threads=2)
    loop = w.loop()
    loop.compute()
    op2.exit()
    op2.exit()
    assert not op2.initialised()
    loop.compute()
    op2.init(backend="openmp")
    loop.compute()
    np.testing.assert_allclose(w.r.data_ro, 3 * w.expected())
