# SPDX-License-Identifier: BSD-3-Clause
"""Every loop of the corpus, and random ones, on every backend by every strategy."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.loop import symbolic
from pyop2cxx.loop.parts import parts_of
from pyop2cxx.op2 import INC, MAX, MIN, READ, RW, WRITE
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.together import compile_together
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import items_of

sys.path.insert(0, str(Path(__file__).parents[1]))

from compiled_groups import fixtures
from corpus import (
    ALL,
    CASES,
    IN_ORDER,
    Case,
    Problem,
    elements,
    injective_map,
    loops_of,
    random_map,
)
from memory import require_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpus import Array

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
THREADED = [name for name in BACKENDS if runtime.engine.backend(name).facts.threads]
GRIDS = [n for n in BACKENDS if runtime.engine.backend(n).facts.lanes == _core.Lanes.grid]
GPUS = [n for n in GRIDS if not runtime.engine.device(runtime.engine.backend(n)).info.is_cpu]
PARALLEL = [*THREADED, *GRIDS]
STRATEGIES = (None, *_core.STRATEGIES)
THREADS = (1, 2, 3)
N_TOGETHER = 8  # cases

pytestmark = [pytest.mark.optimised, pytest.mark.each_backend]


EVERYTHING = os.environ.get("PYOP2CXX_TEST_ALL") == "1"
"""Whether each case runs by each strategy on each backend (``make test-all``)."""


def by_turns(case: Case, backend: str, turn: int = 0) -> bool:
    """Return whether a parallel backend is the one of a case, or all of them are wanted."""
    return EVERYTHING or backend == PARALLEL[(CASES.index(case) + turn) % len(PARALLEL)]


def meets(case: Case, strategy: str | None, backend: str) -> bool:
    """Return whether a case runs by a strategy on a backend.

    Each case meets each strategy on one parallel backend, and each strategy meets each backend in
    some cases. The default strategy and serial backends are never left out.

    Args:
        case: A case of the corpus.
        strategy: The name of a strategy; None means the default.
        backend: The name of a backend.
    """
    if strategy is None or backend not in PARALLEL:
        return True
    return by_turns(case, backend, STRATEGIES.index(strategy))


def pairs(
    strategies: Sequence[str | None], backends: Sequence[str], *, default_by_turns: bool = False
) -> Any:
    """Parametrize a test by the cases, strategies and backends that meet.

    Args:
        strategies: Names of strategies; None means the default.
        backends: Names of backends.
        default_by_turns: The default strategy runs on a single backend, too.
    """
    chosen = [
        pytest.param(case, strategy, backend, id=f"{case.name}-{strategy or 'default'}-{backend}")
        for case in CASES
        for strategy in strategies
        for backend in backends
        if meets(case, strategy, backend)
        and (strategy is not None or not default_by_turns or by_turns(case, backend))
    ]
    return pytest.mark.parametrize(("case", "strategy", "backend"), chosen)


def order(item: pytest.Item) -> int:
    """Tell where a test comes: all those of a group of cases one after the other."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec else None
    return group_of(case) if case else -1


options, forgotten_at_the_end = fixtures(
    lambda item: order(item), lambda: compile_neighbours.cache_clear()
)


def group_of(case: Case) -> int:
    return CASES.index(case) // N_TOGETHER


def values_of(carrier: Any) -> Array:
    if isinstance(carrier, op2.Mat):
        return carrier.array
    return carrier.data_ro_with_halos if isinstance(carrier, op2.Dat) else carrier.data_ro


def only_read(problem: Problem) -> list[Any]:
    """Return the objects whose values the loop must leave alone."""
    carriers = [(one, arg.access) for arg in problem.args for one in arg.data.split]
    written = [values_of(one) for one, access in carriers if access != READ]
    return [
        one
        for one, _ in carriers
        if not any(np.shares_memory(values_of(one), memory) for memory in written)
    ]


TEAM: dict[str, Any] = {"tuning": {"short_microseconds": 0}}
"""Else one thread would do loops that are as short as these."""


def run(problem: Problem, backend: str, *, in_parts: bool = False, **how: Any) -> list[Array]:
    """Run the loop and return what it wrote; what it only reads must be unchanged."""
    kept = [(carrier, values_of(carrier).copy()) for carrier in only_read(problem)]
    try:
        with op2.backend(backend):
            how = (TEAM if backend == "openmp" else {}) | problem.options | how
            loop = op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **how)
            if in_parts:
                loop.compute(part=problem.iterset.core_part)
                loop.compute(part=problem.iterset.owned_part)
            else:
                loop.compute()
    finally:
        for constant in problem.constants:
            constant.remove_from_namespace()
    for carrier, before in kept:
        np.testing.assert_array_equal(values_of(carrier), before, f"{carrier} was changed")
    return [values_of(carrier).copy() for carrier, _ in problem.expected]


def compare(found: list[Array], expected: list[Array], tolerance: float) -> None:
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        assert got.shape == want.shape
        if got.dtype.kind in "iu" or got.size == 0:
            np.testing.assert_array_equal(got, want)
        else:
            # each value is a sum, and rounding errors scale with its largest terms
            bound = max(tolerance, tolerance and np.finfo(got.dtype).eps * 4)
            np.testing.assert_allclose(got, want, rtol=0, atol=bound * np.abs(want).max())


def run_and_check(case: Case, backend: str, **how: Any) -> list[Array]:
    n_loaded = n_programs() if compile_neighbours_on(backend, case) else None
    problem = case.problem()
    found = run(problem, backend, **how)
    assert n_loaded in (None, n_programs()), "the loop is not in the program of its group"
    compare(found, [want for _, want in problem.expected], case.tolerance)
    if problem.check is not None:
        problem.check()
    return found


def compile_neighbours_on(backend: str, case: Case) -> bool:
    """Compile the loops of a group where that takes long; say whether it was done."""
    if backend not in GRIDS:
        return False
    if backend in GPUS:
        return False
    compile_neighbours(group_of(case), backend, is_deterministic())
    return True


def n_programs() -> int:
    """Return how many programs of devices were compiled or loaded so far."""
    counts = runtime.engine.device_service.statistics()
    return counts.n_compiles + counts.n_disk_hits + counts.n_memory_hits


@cache
def compile_neighbours(group: int, backend: str, deterministic: bool) -> None:
    """Compile what some cases of the corpus have on a device as one program.

    PoCL takes twenty times as long for a program as for a loop in it.
    """
    assert deterministic == is_deterministic()  # it is a part of the key only

    near = CASES[group * N_TOGETHER : (group + 1) * N_TOGETHER]
    possible = (case for case in near if not case.needs & lacks(backend))

    def strategies(case: Case) -> list[str | None]:
        return strategies_of(case, backend, deterministic=deterministic)

    with op2.backend(backend):
        compile_together(loops_of(possible, strategies))


def is_deterministic() -> bool:
    return bool(runtime.configuration["deterministic"])


@cache
def reference(case: Case) -> list[Array]:
    """Return what the sequential backend makes of a case."""
    return run(case.problem(), "sequential")


def legal(case: Case, backend: str, *, deterministic: bool = False) -> frozenset[str]:
    found = case.strategies - (set() if has_atomics(backend) else {"atomic"})
    found -= set() if backend in GRIDS else {"team"}
    if backend not in PARALLEL:
        return found | {"direct"}
    found -= case.not_on_gpus if backend in GPUS else set()
    if deterministic and "direct" not in found and found != IN_ORDER:
        found -= {"atomic", "block", "team"}
    return found


def strategies_of(case: Case, backend: str, *, deterministic: bool) -> list[str | None]:
    """Return the default strategy, and the legal ones that the case meets on the backend."""
    found = sorted(legal(case, backend, deterministic=deterministic))
    return [None, *(strategy for strategy in found if meets(case, strategy, backend))]


@cache
def has_atomics(backend: str) -> bool:
    edges, nodes = op2.Set(2), op2.Set(2)
    ends = op2.Map(edges, nodes, 1, [[0], [0]])
    kernel = op2.Kernel("void f(double *x) { x[0] += 1; }", "f")
    # whichever test asks first: where the same bits are wanted, no backend has any
    deterministic = op2.configuration["deterministic"]
    op2.init(deterministic=False)
    with op2.backend(backend):
        found = op2.ParLoop(kernel, edges, op2.Dat(nodes)(INC, ends)).explain()
    op2.init(deterministic=deterministic)
    return "atomic" in found.possible


def lacks(backend: str) -> frozenset[str]:
    """Return what a case may need that the backend says it has not."""
    facts = runtime.engine.backend(backend).facts
    found = {"complex"} if not facts.complex_arithmetic else set()
    return frozenset(found | ({"cpp", "headers", "overlap"} if backend in GRIDS else set()))


def is_refused_whole(case: Case, backend: str, **how: Any) -> bool:
    """Check that a loop that needs what the backend lacks is refused; say whether it is one."""
    if not case.needs & lacks(backend):
        return False
    with pytest.raises(UnsupportedError):
        run(case.problem(), backend, **how)
    return True


def refused(strategy: str) -> Any:
    return pytest.raises(UnsupportedError, match=f"strategy '{strategy}' cannot be used: ")


def test_there_is_something_to_compare() -> None:
    assert "sequential" in BACKENDS
    assert THREADED
    assert frozenset(_core.STRATEGIES) == ALL | {"team"}
    assert len({case.name for case in CASES}) == len(CASES)


@pairs(STRATEGIES, BACKENDS)
def test_equals_numpy_and_sequential(case: Case, strategy: str | None, backend: str) -> None:
    if is_refused_whole(case, backend, strategy=strategy):
        return
    if strategy is not None and strategy not in legal(case, backend):
        with refused(strategy):
            run(case.problem(), backend, strategy=strategy)
        return
    for threads in THREADS if backend in THREADED else (1,):
        op2.init(threads=threads)
        found = run_and_check(case, backend, strategy=strategy)
        compare(found, reference(case), case.tolerance)


# Of each kind of loop one, for what is written for GPUs alone.
OF_GPUS = (
    "inc_and_globals",
    "sums_along_dimensions",
    "min_max_through_map",
    "arities_1_to_8",
    "indirect_rw_shared",
    "matrix_of_blocks_and_vector",
    *(case.name for case in CASES if case.name.startswith("matrix_")),
    "extruded_facets",
    "subset_inc_with_ghosts",
)


@pytest.mark.parametrize("backend", GRIDS)
def test_blocks_may_sum_first(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `atomic`, where a loop is so short that the rule would not."""
    monkeypatch.setattr(flow, "suited_to", lambda request, device: request)
    always = {"least_summed_scalars": 0, "most_distinct": 1, "most_scatter": 0}
    how: dict[str, Any] = {"strategy": "atomic", "tuning": always}
    cases = []
    with op2.backend(backend):
        for case in CASES:
            if case.needs & lacks(backend) or "atomic" not in legal(case, backend):
                continue
            problem = case.problem()
            options = problem.options | how
            loop = op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **options)
            if re.search(r"_own\[\d+\];", loop.generate()):
                cases.append(case)
            for constant in problem.constants:
                constant.remove_from_namespace()
    assert len(cases) > 20
    for case in cases:
        problem = case.problem()
        compare(run(problem, backend, **how), reference(case), case.tolerance)
        n = problem.iterset.size
        for n_core in (n - n // 3, n - 1):
            check_parts(case, backend, n_core, **how)


@pytest.mark.parametrize("backend", GRIDS)
@pytest.mark.parametrize("strategy", ["atomic", "block", "owner", "team"])
def test_texts_for_gpus(strategy: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are right on a processor, too, which has others: staged blocks, padded incidences."""
    monkeypatch.setattr(flow, "suited_to", lambda request, device: request)
    cases = [case for case in CASES if case.name in OF_GPUS and strategy in case.strategies]
    with op2.backend(backend):
        compile_together(loops_of(cases, lambda _: (strategy,)))
    for case in cases:
        problem = case.problem()
        found = run(problem, backend, strategy=strategy)
        compare(found, [want for _, want in problem.expected], case.tolerance)
        n = problem.iterset.size
        for n_core in (n - n // 3, n - 1):
            check_parts(case, backend, n_core, strategy=strategy)


@pytest.mark.parametrize("backend", GRIDS)
def test_gpus_refuse_blocks_that_split_columns(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "suited_to", lambda request, device: request)
    (case,) = (case for case in CASES if case.not_on_gpus)
    for strategy in sorted(case.not_on_gpus):
        with refused(strategy):
            run(case.problem(), backend, strategy=strategy)
    for strategy in (None, *sorted(case.strategies - case.not_on_gpus)):
        problem = case.problem()
        found = run(problem, backend, strategy=strategy)
        compare(found, [want for _, want in problem.expected], case.tolerance)


@pairs(["block"], PARALLEL)
def test_any_block_size(case: Case, strategy: str | None, backend: str) -> None:
    if is_refused_whole(case, backend):
        return
    op2.init(threads=3)
    strategy = strategy if strategy in legal(case, backend) else None
    for block_size in (1, 7, 64):
        run_and_check(case, backend, strategy=strategy, block_size=block_size)


@pairs([None, "owner", "scratch", "colour"], PARALLEL, default_by_turns=True)
def test_deterministic_bits(
    case: Case, strategy: str | None, backend: str, quickly: Callable[[str], None]
) -> None:
    op2.init(deterministic=True)
    quickly(backend)
    if is_refused_whole(case, backend, strategy=strategy):
        return
    if strategy is not None and strategy not in legal(case, backend, deterministic=True):
        with refused(strategy):
            run(case.problem(), backend, strategy=strategy)
        return
    first = run_and_check(case, backend, strategy=strategy)
    for threads, block_size in ((1, None), (2, None), (3, None), (3, 7), (3, None)):
        op2.init(threads=threads)
        again = run_and_check(case, backend, strategy=strategy, block_size=block_size)
        assert [a.tobytes() for a in again] == [a.tobytes() for a in first]


@pytest.mark.parametrize("backend", PARALLEL)
def test_deterministic_refuses(backend: str) -> None:
    op2.init(deterministic=True)
    n_refused = 0
    for case, strategy in product(CASES, ("atomic", "block")):
        is_legal = strategy in legal(case, backend, deterministic=True)
        if is_legal or not meets(case, strategy, backend):
            continue
        n_refused += 1
        if not is_refused_whole(case, backend, strategy=strategy):
            with refused(strategy):
                run(case.problem(), backend, strategy=strategy)
    assert n_refused > 50


# Core and boundary


def with_core(case: Case, n_core: int) -> Problem:
    """Return the problem over a Set of which so many entities are core."""
    problem = case.problem()
    iterset: Any = problem.iterset
    iterset._sizes = (n_core, *iterset.sizes[1:])
    return problem


def check_parts(case: Case, backend: str, n_core: int, **how: Any) -> None:
    """Check that core and boundary leave what the whole loop leaves."""
    problem = with_core(case, n_core)
    found = run(problem, backend, in_parts=True, **how)
    compare(found, [want for _, want in problem.expected], case.tolerance)
    if problem.check is not None:
        problem.check()
    if is_deterministic() and problem.check is None:
        whole = run(with_core(case, n_core), backend, **how)
        assert [one.tobytes() for one in found] == [one.tobytes() for one in whole]


@pytest.mark.parametrize(
    ("case", "backend", "deterministic"),
    [
        pytest.param(case, backend, deterministic, id=f"{case.name}-{backend}-{deterministic}")
        for case in CASES
        for deterministic in (False, True)
        for backend in BACKENDS
        if not deterministic or (backend in PARALLEL and by_turns(case, backend))
    ],
)
def test_core_and_boundary_are_the_whole(
    case: Case, backend: str, deterministic: bool, quickly: Callable[[str], None]
) -> None:
    if is_refused_whole(case, backend):
        return
    op2.init(threads=3, deterministic=deterministic)
    if deterministic:
        quickly(backend)
    compile_neighbours_on(backend, case)
    n = case.problem().iterset.size
    edges = [0, 1, n - 1, n]  # of what is core
    strategies = strategies_of(case, backend, deterministic=deterministic)
    turn = CASES.index(case)
    for i, strategy in enumerate(strategies, turn):
        some = n - n // 3, min(max(edges[i // 2 % len(edges)], 0), n)
        for n_core in set(some if EVERYTHING else some[i % 2 :][:1]):
            check_parts(case, backend, n_core, strategy=strategy)
    if "block" in strategies:
        check_parts(case, backend, n - n // 3, strategy="block", block_size=7)


# Several calls


@pytest.mark.parametrize("backend", BACKENDS)
def test_consts_change_between_calls_without_another_text(backend: str) -> None:
    cells = elements()
    scale = op2.Const(1, 2.0, "corpus_scale")
    shift = op2.Const(2, [1.0, 10.0], "corpus_shift")
    x = op2.Dat(cells, np.ones(cells.size))
    kernel = op2.Kernel("void f(double *x) { *x = corpus_scale * *x + corpus_shift[1]; }", "f")
    with op2.backend(backend):
        loop = op2.ParLoop(kernel, cells, x(RW))
        loop.compute()
        n_generated = runtime.engine.n_generated
        scale.data = 3.0
        shift.data[1] = -20.0
        loop.compute()
        op2.par_loop(kernel, cells, x(RW))
    np.testing.assert_array_equal(x.data_ro, 3.0 * (3.0 * 12.0 - 20.0) - 20.0)
    assert runtime.engine.n_generated == n_generated


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", [None, *sorted(ALL)])
def test_calls_add_up(backend: str, strategy: str | None) -> None:
    """Each call sees what the one before has left, in Dats, Globals and changed Maps."""
    if strategy == "atomic" and not has_atomics(backend):
        pytest.skip(f"backend {backend!r} has no atomics")
    rng = np.random.default_rng(5)
    edges, nodes = elements(), op2.Set(2 * 2000)
    e2n, values = injective_map(rng, edges, nodes, 2)
    degree, total = op2.Dat(nodes, dtype=np.int64), op2.Global(1, 0, dtype=np.int64)
    kernel = op2.Kernel("void f(int64_t *a, int64_t *g) { a[0] += 1; a[1] += 1; *g += 1; }", "f")
    expected = np.zeros(nodes.size, np.int64)
    with op2.backend(backend):
        for call in range(1, 4):
            op2.par_loop(kernel, edges, degree(INC, e2n), total(INC), strategy=strategy)
            expected[values] += 1
            np.testing.assert_array_equal(degree.data_ro, expected)
            assert total.data_ro[0] == call * edges.size
            values = np.random.default_rng(call).permutation(values)
            e2n.update_values(values)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("strategy", [None, *sorted(ALL - {"direct"})])
def test_a_map_that_stops_being_injective(backend: str, strategy: str | None) -> None:
    """What a loop was compiled for no longer holds once the Map has other values."""
    if strategy == "atomic" and not has_atomics(backend):
        pytest.skip(f"backend {backend!r} has no atomics")
    rng = np.random.default_rng(6)
    edges, nodes = elements(), op2.Set(4000)
    e2n, values = injective_map(rng, edges, nodes, 2)
    total = op2.Dat(nodes, dtype=np.int64)
    kernel = op2.Kernel("void f(int64_t *a) { a[0] += 1; a[1] += 1; }", "f")
    loop = op2.ParLoop(kernel, edges, total(INC, e2n), strategy=strategy)
    with op2.backend(backend):
        loop.compute()
        before = total.data_ro.copy()
        e2n.update_values(values % 3)
        assert loop.generate().strategy != "direct" or backend not in PARALLEL
        loop.compute()
    expected = before + np.bincount(values.ravel() % 3, minlength=4000)
    np.testing.assert_array_equal(total.data_ro, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_maps_with_more_targets_than_int32_counts(backend: str) -> None:
    with op2.backend(backend):
        require_memory(2**31 + 8)
    many = op2.Set(2**31 + 8)
    few = elements(4)
    values = np.array([[0], [2**31], [2**31 + 7], [5]])
    far = op2.Map(few, many, 1, values)
    mark = op2.Dat(many, dtype=np.uint8)  # pages that nobody touches take no memory
    mark.data[values[:, 0]] = [1, 2, 3, 4]
    found = op2.Dat(few, dtype=np.uint8)
    kernel = op2.Kernel("void f(const uint8_t *a, uint8_t *b) { *b = *a; }", "f")
    with op2.backend(backend):
        op2.par_loop(kernel, few, mark(READ, far), found(WRITE))
    assert far.values.dtype == np.int64
    assert found.data_ro.tolist() == [1, 2, 3, 4]


# Which Maps lead to the same memory. A race is seen once in many runs, what rules it out always is.


def spaces_of(kernel: str, *args: Any) -> tuple[int, ...]:
    items = items_of(args[0].map_.iterset, None, False, "f")
    return symbolic.build(op2.Kernel(kernel, "f"), parts_of(args, items), items).spaces


def test_maps_to_one_of_two_dats_conflict() -> None:
    rng = np.random.default_rng(7)
    edges, nodes = elements(10), op2.Set(20)
    left, right = (random_map(rng, edges, nodes, 1)[0] for _ in range(2))
    a, b = op2.Dat(nodes, np.zeros(20)), op2.Dat(nodes, np.zeros(20))
    kernel = "void f(double *a, double *b, double *c) { *a += 1; *b += 1; *c += 1; }"
    for at_left in ((a, b), (b, a)):
        first, second = spaces_of(kernel, *(dat(INC, left) for dat in at_left), a(INC, right))
        assert first == second
    first, second = spaces_of(kernel, a(INC, left), a(INC, left), b(INC, right))
    assert first != second


def test_maps_conflict_when_one_of_them_only_reads() -> None:
    rng = np.random.default_rng(8)
    edges, nodes = elements(10), op2.Set(20)
    left, right = (random_map(rng, edges, nodes, 1)[0] for _ in range(2))
    a, b = op2.Dat(nodes, np.zeros(20)), op2.Dat(nodes, np.zeros(20))
    kernel = "void f(double *a, const double *b) { *a = *b; }"
    first, second = spaces_of(kernel, a(RW, left), a(READ, right))
    assert first == second
    first, second = spaces_of(kernel, a(RW, left), b(READ, right))
    assert first != second


# Random loops against the rules of packing


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One argument of a random loop: of a Dat, or of a Global where there is no Set.

    Attributes:
        data: The number of the Dat or Global; arguments of equal numbers share it.
        access: How the kernel uses it.
        dim: The number of values on each entity.
        on: 0 for the iteration Set, 1 and 2 for targets, None for a Global.
        path: The number of the Map; None if direct.
    """

    data: int
    access: op2.Access
    dim: int
    on: int | None
    path: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A random loop. Whole numbers stay so small that float64 adds them exactly in any order.

    Attributes:
        dtype: Of all values.
        seed: Of all values and Maps.
        sizes: Of the iteration Set and the two targets.
        maps: Target, arity, and whether the Map must be injective.
        uses: The arguments.
    """

    dtype: str
    seed: int
    sizes: tuple[int, int, int]
    maps: tuple[tuple[int, int, bool], ...]
    uses: tuple[Use, ...]


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    n = draw(st.sampled_from([1600, 1600, 1600, 30, 1, 0]))
    sizes = (n, draw(st.sampled_from([3, 400])), 4 * n + 5)
    # Into the large Set a Map may be injective, into the small one it cannot be without luck
    maps = [(1, draw(st.integers(1, 8)), False), (2, draw(st.integers(1, 4)), True)]
    maps += [(draw(st.sampled_from([1, 2])), draw(st.integers(1, 4)), False)]
    uses: list[Use] = []
    for data in range(draw(st.integers(2, 5))):
        on = draw(st.sampled_from([0, 1, 1, 2, 2, None]))
        dim = draw(st.integers(0 if on is not None else 1, 3))
        paths = [i for i, (target, _, _) in enumerate(maps) if target == on]
        path = draw(st.sampled_from(paths)) if on else None
        ways = [READ, INC, INC, MIN, MAX]
        if on == 0 or (path is not None and maps[path][2]):
            ways += [WRITE, RW]
        access = draw(st.sampled_from(ways))
        uses.append(Use(data=data, access=access, dim=dim, on=on, path=path))
        if on and access in (READ, INC) and draw(st.booleans()):
            other = draw(st.sampled_from(paths))
            uses.append(Use(data=data, access=access, dim=dim, on=on, path=other))
    return Spec(
        dtype=draw(st.sampled_from(["float64", "int64"])),
        seed=draw(st.integers(0, 2**20)),
        sizes=sizes,
        maps=tuple(maps),
        uses=tuple(uses),
    )


def extent(spec: Spec, use: Use) -> int:
    return use.dim if use.path is None else use.dim * spec.maps[use.path][1]


def coefficient(i: int, j: int) -> int:
    return (3 * i + j) % 5 - 2


def kernel_text(spec: Spec) -> str:
    """Read everything into one number, then write every component from it."""
    scalar = {"float64": "double", "int64": "int64_t"}[spec.dtype]
    reads, writes = [], []
    for i, use in enumerate(spec.uses):
        for j in range(extent(spec, use)):
            p = f"p{i}[{j}]"
            if use.access in (READ, RW):
                reads.append(f"s += {coefficient(i, j)} * {p};")
            if use.access == INC:
                writes.append(f"{p} += s + {j};")
            elif use.access == RW:
                writes.append(f"{p} = {p} + s;")
            elif use.access == WRITE and (use.path is None or j % 2 == 0):
                writes.append(f"{p} = s - {j};")
            elif use.access in (MIN, MAX):
                way = "<" if use.access == MIN else ">"
                writes.append(f"if (s + {j} {way} {p}) {p} = s + {j};")
    parameters = ", ".join(f"{scalar} *p{i}" for i in range(len(spec.uses)))
    body = "\n  ".join([f"{scalar} s = 1;", *reads, *writes])
    return f"void f({parameters}) {{\n  {body}\n}}\n"


def initial(spec: Spec, rng: np.random.Generator) -> tuple[list[Array], dict[int, Array]]:
    """Return the values of all Maps, and of all Dats and Globals, with one row an entity."""
    n = spec.sizes[0]
    tables = []
    for target, arity, injective in spec.maps:
        size = spec.sizes[target]
        flat = (
            rng.permutation(size)[: n * arity] if injective else rng.integers(size, size=n * arity)
        )
        tables.append(flat.reshape(n, arity))
    data = {}
    for use in spec.uses:
        rows = 1 if use.on is None else spec.sizes[use.on]
        fresh = rng.integers(-4, 5, size=(rows, use.dim)).astype(spec.dtype)
        data.setdefault(use.data, fresh)
    return tables, data


def interpreted(spec: Spec, tables: list[Array], data: dict[int, Array]) -> dict[int, Array]:
    """Run the loop for all elements at once, by the rules that decide what a kernel sees."""
    n = spec.sizes[0]
    rows = [
        np.zeros((n, 1), int)
        if use.on is None
        else np.arange(n)[:, None]
        if use.path is None
        else tables[use.path]
        for use in spec.uses
    ]
    s = np.ones(n, spec.dtype)
    for i, use in enumerate(spec.uses):
        if use.access in (READ, RW):
            pack = data[use.data][rows[i]].reshape(n, extent(spec, use))
            s = s + pack @ np.array([coefficient(i, j) for j in range(pack.shape[1])], spec.dtype)
    result = {number: values.copy() for number, values in data.items()}
    for i, use in enumerate(spec.uses):
        share = s[:, None] + np.arange(extent(spec, use)).astype(spec.dtype)
        share = share.reshape(*rows[i].shape, use.dim)
        target = result[use.data]
        if use.access == WRITE:
            index = np.arange(extent(spec, use)).reshape(rows[i].shape[1], use.dim)
            kept = (use.path is None) | (index % 2 == 0)
            written = (2 * s[:, None, None] - share) * kept
            target[rows[i]] = written
        elif use.access == RW:
            target[rows[i]] += s[:, None, None]
        elif use.access != READ:
            ufunc = {INC: np.add, MIN: np.minimum, MAX: np.maximum}[use.access]
            ufunc.at(target, rows[i], share)
    return result


def random_problem(spec: Spec) -> Problem:
    rng = np.random.default_rng(spec.seed)
    tables, data = initial(spec, rng)
    sets = [op2.Set(size) for size in spec.sizes]
    maps = [
        op2.Map(sets[0], sets[target], arity, table)
        for (target, arity, _), table in zip(spec.maps, tables, strict=True)
    ]
    carriers: dict[int, Any] = {}
    for use in spec.uses:
        if use.data not in carriers:
            values = data[use.data].copy()
            carriers[use.data] = (
                op2.Global(use.dim, values[0])
                if use.on is None
                else op2.Dat(sets[use.on] ** use.dim, values)
            )
    args = [
        carriers[use.data](use.access)
        if use.path is None
        else carriers[use.data](use.access, maps[use.path])
        for use in spec.uses
    ]
    expected = interpreted(spec, tables, data)
    written = {use.data for use in spec.uses if use.access != READ}
    return Problem(
        kernel=op2.Kernel(kernel_text(spec), "f"),
        iterset=sets[0],
        args=tuple(args),
        expected=tuple(
            (carriers[i], expected[i].reshape(values_of(carriers[i]).shape)) for i in written
        ),
    )


def random_legal(spec: Spec, backend: str) -> set[str]:
    """Return the strategies that the table in docs/strategies.md allows for a random loop."""
    tables, _ = initial(spec, np.random.default_rng(spec.seed))
    found = {"atomic", "block", "colour"}
    written = [use for use in spec.uses if use.path is not None and use.access != READ]
    paths = {use.data: {u.path for u in written if u.data == use.data} for use in written}
    private = all(
        len(maps) == 1 and all(np.unique(tables[m]).size == tables[m].size for m in maps)
        for maps in paths.values()
    )
    if private or backend not in PARALLEL:
        found.add("direct")
    is_sum = written and all(use.access in (INC, MIN, MAX) for use in written)
    if is_sum and len({use.on for use in written}) == 1:
        found.add("scratch")
        if not any(use.on == 0 and use.access != READ for use in spec.uses):
            found.add("owner")
    return found


@pytest.mark.slow
@settings(
    max_examples=8,
    derandomize=True,  # the same loops each time, so that the disk cache has them
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(spec=specs())
def test_random_loops(spec: Spec) -> None:
    op2.init(threads=3)
    for backend in BACKENDS:
        allowed = random_legal(spec, backend)
        for strategy in STRATEGIES:
            problem = random_problem(spec)
            if strategy is not None and strategy not in allowed:
                with refused(strategy):
                    run(problem, backend, strategy=strategy)
                continue
            found = run(problem, backend, strategy=strategy)
            compare(found, [want for _, want in problem.expected], 0.0)
