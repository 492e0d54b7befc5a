# SPDX-License-Identifier: BSD-3-Clause
"""Pass 'recompute' of chains: whoever gathers a value computes it again, so it is stored later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ring import Ring, assert_alike, kernel, record_all_blocks

from pyop2cxx import op2
from pyop2cxx.chain import recompute, schedule
from pyop2cxx.chain.candidate import Candidate
from pyop2cxx.chain.compile import PASSES
from pyop2cxx.op2 import INC, MAX, READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.chain.report import Report

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
N = 40


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are computed again wherever that is possible."""
    monkeypatch.setattr(schedule, "gained_seconds", lambda *_: 1.0)


class Line:
    """Points in a row with sides between them, and a loop that gathers what another one makes."""

    def __init__(self) -> None:
        self.points, self.sides = op2.Set(N, "points"), op2.Set(N - 1, "sides")
        ends = [[i, i + 1] for i in range(N - 1)]
        self.ends = op2.Map(self.sides, self.points, 2, ends, "ends")
        random = np.random.default_rng(7)
        self.a, self.b, self.c, self.out = (
            op2.Dat(self.points**dim, random.random((N, dim)), name=name)
            for name, dim in (("a", 2), ("b", 1), ("c", 2), ("out", 2))
        )
        self.scale = op2.Global(1, 3.0, name="scale")
        self.most = op2.Global(1, 0.0, name="most")

    def values(self) -> list[np.ndarray]:
        return [one.data_ro.copy() for one in (self.a, self.b, self.c, self.out, self.most)]


_MAKE = kernel(
    "void make(double *c, const double *a, const double *b, const double *scale) "
    "{ c[0] = scale[0] * a[0] + b[0]; c[1] = a[1] / b[0]; }"
)
_MAKE_BY_OF = op2.Kernel(f"static double of(double x) {{ return 2 * x; }}\n{_MAKE.code}", "make")
_CHANGE = kernel(
    "void change(double *c, const double *a, const double *scale) "
    "{ c[0] = scale[0] * c[0] + a[0]; c[1] -= a[1]; }"
)
_HALF = kernel("void half(double *c, const double *b) { if (b[0] > 0.5) c[0] = b[0]; }")
_ADD = kernel("void add(double *c, const double *b) { c[0] += b[0]; c[1] += 2 * b[0]; }")
_READ = kernel(
    "void read(double *out, const double *c) "
    "{ for (int i = 0; i < 2; ++i) "
    "{ double f = c[i] - 0.3 * c[2 + i]; out[i] += f; out[2 + i] -= f; } }"
)
_LAST = kernel("void last(double *out, const double *c) { out[0] += c[1]; out[1] -= c[0]; }")
_COMPARE = kernel(
    "void compare(const double *o, const double *c, double *m) { m[0] = fmax(m[0], o[0] + c[1]); }"
)
_SUM = kernel("void sum(const double *c, double *most) { most[0] = fmax(most[0], c[0] + c[1]); }")

Loop = tuple[Any, ...]
MAKERS: dict[str, Callable[[Line], Loop]] = {
    "WRITE": lambda m: (_MAKE, m.points, m.c(WRITE), m.a(READ), m.b(READ), m.scale(READ)),
    "RW": lambda m: (_CHANGE, m.points, m.c(RW), m.a(READ), m.scale(READ)),
    "a part of WRITE": lambda m: (_HALF, m.points, m.c(WRITE), m.b(READ)),
    "INC": lambda m: (_ADD, m.points, m.c(INC), m.b(READ)),
    "of components": lambda m: (
        kernel("void part(double *c, const double *a) { c[1] = 2 * a[0] + c[0]; c[0] = a[0]; }"),
        *(m.points, m.c(RW), op2.DatView(m.a, 1)(READ)),
    ),
}


def read(m: Line) -> Loop:
    return _READ, m.sides, m.out(INC, m.ends), m.c(READ, m.ends)


def last(m: Line) -> Loop:
    return _LAST, m.sides, m.out(INC, m.ends[1]), m.c(READ, m.ends[0])


def compared(m: Line) -> Loop:
    return _COMPARE, m.points, m.out(READ), m.c(READ), m.most(MAX)


def summed(m: Line) -> Loop:
    return _SUM, m.points, m.c(READ), m.most(MAX)


def both(
    *loops: Callable[[Line], Loop], passes: tuple[str, ...] | None = None
) -> tuple[Line, Line, Report]:
    """Run loops one by one and as a chain."""
    record_all_blocks()
    eager, lazy = Line(), Line()
    for loop in loops:
        op2.par_loop(*loop(eager))
    with op2.chain(passes=passes) as chain:
        for loop in loops:
            op2.par_loop(*loop(lazy))
    for one, other in zip(eager.values(), lazy.values(), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-13, atol=1e-13)
    return eager, lazy, chain.explain()


def names_of(report: Report) -> list[str]:
    (chain,) = report.chains
    return list(chain.names)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("maker", MAKERS)
def test_readers_compute_what_they_gather(backend: str, maker: str) -> None:
    with op2.backend(backend):
        *_, report = both(MAKERS[maker], read, last, summed)
    name = MAKERS[maker](Line())[0].name
    assert names_of(report) == [f"read with {name}", f"last with {name}", name, "sum"]
    assert report.chains[0].order == (1, 2, 0, 3)
    assert [len(step.loops) for step in report.steps][-1] == 2
    assert f"recompute: read and last compute c as {name} does" in str(report)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_comes_before_whoever_else_needs_it(backend: str) -> None:
    """Of two readers only the one before the sum computes again."""
    with op2.backend(backend):
        *_, report = both(MAKERS["RW"], read, summed, last, summed)
    assert names_of(report) == ["read with change", "change", "sum", "last", "sum"]


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_made_twice_is_computed_twice(backend: str) -> None:
    """By whoever reads the second: it computes what that is made of, too."""
    with op2.backend(backend):
        *_, report = both(MAKERS["WRITE"], read, MAKERS["RW"], last)
    assert names_of(report) == ["read with make", "last with change and make", "make", "change"]


_MORE = kernel("void more(double *x) { x[0] += 1; }")
OTHERS: dict[str, Callable[[Line], Loop]] = {
    "operands change": lambda m: (_MORE, m.points, m.b(RW)),
    "a Global changes": lambda m: (
        kernel("void top(const double *b, double *s) { s[0] = fmax(s[0], 4 + b[0]); }"),
        *(m.points, m.b(READ), m.scale(MAX)),
    ),
    "the reader changes operands": lambda m: (
        kernel("void push(double *b, const double *c) { b[0] += c[0]; b[1] -= c[2]; }"),
        *(m.sides, m.b(INC, m.ends), m.c(READ, m.ends)),
    ),
    "its names mean other things": lambda m: (
        op2.Kernel(
            "static double of(double x) { return x; }\n"
            "void read(double *out, const double *c) { out[0] += of(c[0]); out[2] -= c[2]; }",
            "read",
        ),
        *(m.sides, m.out(INC, m.ends), m.c(READ, m.ends)),
    ),
    "macros": lambda m: (
        op2.Kernel(
            "#define TWO 2\n"
            "void read(double *out, const double *c) { out[0] += c[TWO]; out[2] -= c[0]; }",
            "read",
        ),
        *(m.sides, m.out(INC, m.ends), m.c(READ, m.ends)),
    ),
}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("name", OTHERS)
def test_where_it_cannot_be_values_are_stored_first(name: str) -> None:
    def maker(m: Line) -> Loop:
        return _MAKE_BY_OF, *MAKERS["WRITE"](m)[1:]

    *_, report = both(maker, OTHERS[name], read, summed)
    assert report.chains[0].order == (0, 1, 2, 3)
    assert not any("with" in one for one in names_of(report))


def test_it_can_be_switched_off() -> None:
    passes = tuple(one for one in PASSES if one != "recompute")
    *_, report = both(MAKERS["WRITE"], read, summed, passes=passes)
    assert report.chains[0].order == (0, 1, 2)


@pytest.mark.parametrize(
    ("maker", "why"),
    [
        (lambda m: (_SUM, m.points, m.c(READ), m.most(MAX)), "it reduces into a Global"),
        (
            lambda m: (MAKERS["INC"](m)[0], op2.Subset(m.points, [1, 2]), m.c(INC), m.b(READ)),
            "it visits a part of its Set",
        ),
        (lambda m: (_READ, m.sides, m.out(INC, m.ends), m.c(READ, m.ends)), "it uses a Map"),
        (
            lambda m: (
                kernel("void two(double *a, double *b) { a[0] = 1; a[1] = 2; b[0] = 3; }"),
                *(m.points, m.a(WRITE), m.b(WRITE)),
            ),
            "it makes other than one Dat",
        ),
        (
            lambda m: (
                kernel("void turn(double *c, const double *d) { c[0] = d[1]; c[1] = -d[0]; }"),
                *(m.points, m.c(RW), m.c(READ)),
            ),
            "two of its arguments are one Dat",
        ),
    ],
)
def test_what_nobody_can_compute_again_is_told(maker: Callable[[Line], Loop], why: str) -> None:
    assert why in recompute.why_stored(Candidate(op2.ParLoop(*maker(Line()))))


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize(
    ("last_loop", "call", "said"),
    [
        (compared, 10_000, "comes later so: the chain has 1 function of 10.0 us less, for 1.2 us"),
        (summed, 10_000, "to compute it again would take 1.2 us and save 0 functions of 10.0 us"),
        (compared, 1_000, "to compute it again would take 1.2 us, and a function takes 1.0 us"),
    ],
)
def test_the_rule_weighs_calls_against_functions(
    last_loop: Callable[[Line], Loop], call: int, said: str
) -> None:
    """Two numbers of a point are read again at both ends of each of the 39 sides."""
    numbers = {"call_nanoseconds": call, "gather_rate": 1.0, "operation_rate": 1e9}
    op2.init(backend="sequential", tuning=numbers)
    *_, report = both(MAKERS["RW"], read, last_loop)
    assert said in str(report)
    assert (report.chains[0].order == (1, 0, 2)) == ("less" in said)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.usefixtures("always")
def test_texts_of_two_kernels_stand_side_by_side(backend: str) -> None:
    """Functions and tables of both, with names that differ, and a Const that one of them reads."""
    make = op2.Kernel(
        "static const double w[2] = {0.5, 2.0};\n"
        "static double of(double x) { return w[1] * x; }\n"
        "void make(double *c, const double *b) { c[0] = of(b[0]); c[1] = w[0]; }",
        "make",
    )
    take = op2.Kernel(
        "static double twice(double x) { return 2 * x; }\n"
        "void take(double *out, const double *c) "
        "{ out[0] += twice(c[2]); out[3] -= again_k * c[1]; }",
        "take",
    )
    const = op2.Const(1, 1.5, "again_k")
    try:
        with op2.backend(backend):
            *_, report = both(
                lambda m: (make, m.points, m.c(WRITE), m.b(READ)),
                lambda m: (take, m.sides, m.out(INC, m.ends), m.c(READ, m.ends)),
                summed,
            )
    finally:
        const.remove_from_namespace()
    assert names_of(report) == ["take with make", "make", "sum"]


def test_a_name_that_is_a_const_of_the_other_is_not_shadowed() -> None:
    reader = kernel("void read(double *out, const double *c) { out[0] += w * c[0]; }")
    maker = op2.Kernel("static const double w = 0.5;\nvoid make(double *c) { c[0] = w; }", "make")
    assert recompute._text(reader, maker) is None


@pytest.mark.usefixtures("always")
def test_graphs_find_actions_by_the_numbers_they_were_recorded_with() -> None:
    """An action stands behind a loop that comes later."""

    def run(m: Line) -> None:
        op2.par_loop(*MAKERS["RW"](m))
        m.most.zero()
        op2.par_loop(*read(m))
        op2.par_loop(*summed(m))

    record_all_blocks()
    eager, lazy, replayed = Line(), Line(), Line()
    for _ in range(3):
        run(eager)
    for _ in range(3):
        with op2.chain() as chain:
            run(lazy)
    assert 1 in chain.explain().chains[0].order

    def step() -> None:
        with op2.chain():
            run(replayed)

    graph = op2.record(step)
    graph.submit(3)
    graph.wait()
    for one, other_, third in zip(eager.values(), lazy.values(), replayed.values(), strict=True):
        np.testing.assert_allclose(other_, one, rtol=1e-12)
        np.testing.assert_allclose(third, one, rtol=1e-12)


_NAMES = st.lists(
    st.sampled_from(["twice p q", "fresh p q", "lifted p q", "keep p q", "more q", "zero r"])
    | st.sampled_from(["spread s", "spread", "gather", "wall", "least", "scaled", "axpy", "step"]),
    min_size=3,
    max_size=10,
)


@given(names=_NAMES, strategy=st.sampled_from([None, "owner"]), compare=st.booleans())
@settings(max_examples=40, suppress_health_check=[*HealthCheck])
def test_random_chains_compute_again_what_their_loops_make(
    names: list[str], strategy: str | None, compare: bool
) -> None:
    eager, lazy = Ring(strategy), Ring(strategy)
    record_all_blocks()
    with pytest.MonkeyPatch.context() as patch, op2.backend("sequential"):
        patch.setattr(schedule, "gained_seconds", lambda *_: 1.0)
        for _ in range(2):
            for name in names:
                eager.actions()[name]()
            with op2.chain(compare=compare):
                for name in names:
                    lazy.actions()[name]()
            assert_alike(eager, lazy)
