# SPDX-License-Identifier: BSD-3-Clause
"""`op2.profile(shadow="float64")`: a second run in double precision tells where digits go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.op2 import INC, MAX, READ, RW, WRITE
from pyop2cxx.reports.shadows import Precision, widened

if TYPE_CHECKING:
    from collections.abc import Iterator

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
EPSILON = 2.0**-24
"""The largest relative rounding to float32."""


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def kernel(name: str, parameters: str, body: str) -> op2.Kernel:
    return op2.Kernel(f"void {name}({parameters}) {{ {body} }}", name)


def found(profile: Any) -> dict[tuple[str, str], Any]:
    assert isinstance(profile.precision, Precision)
    return {(row.loop, row.data): row for row in profile.precision.rows}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_loop_that_loses_digits_is_first(backend: str) -> None:
    """A difference of neighbours loses what their common part has rounded away."""
    with op2.backend(backend):
        cells = op2.Set(200, "cells")
        base = op2.Dat(cells, np.linspace(0, 1, 200), "float32", "base")
        high, low = (op2.Dat(cells, dtype="float32", name=name) for name in ("high", "low"))
        lift = kernel("lift", "float *high, const float *b", "high[0] = 1000.0f + b[0];")
        drop = kernel("drop", "float *low, const float *high", "low[0] = high[0] - 1000.0f;")
        half = kernel("half", "float *low", "low[0] *= 0.5f;")
        with op2.profile(shadow="float64") as p:
            for _ in range(3):
                op2.par_loop(lift, cells, high(WRITE), base(READ))
                op2.par_loop(drop, cells, low(WRITE), high(READ))
                op2.par_loop(half, cells, low(RW))
        lifted = 1000 + base.data_ro.astype(float)
        rounded = (np.float32(1000) + base.data_ro).astype(float)
        rows = found(p)
        assert (p.precision.rows[0].loop, p.precision.rows[0].data) == ("drop", "low")
        lift_growth = np.abs(rounded - lifted).max() / lifted.max()
        assert rows["lift", "high"].growth == pytest.approx(lift_growth)
        assert rows["lift", "high"].growth <= EPSILON
        apart = np.abs((rounded - 1000) - (lifted - 1000))
        wanted = apart.max() / (lifted - 1000).max()
        assert rows["drop", "low"].difference == pytest.approx(wanted)
        assert rows["drop", "low"].growth == pytest.approx(wanted - lift_growth)
        typical = [np.sqrt((a**2).mean() / (b**2).mean()) for a, b in ((apart, lifted - 1000),)]
        typical_before = np.sqrt(((rounded - lifted) ** 2).mean() / (lifted**2).mean())
        assert rows["drop", "low"].typical_growth == pytest.approx(typical[0] - typical_before)
        assert rows["half", "low"].growth == 0  # by a power of two
        assert {row.calls for row in p.precision.rows} == {3}
        assert not p.precision.without
        assert not p.precision.anew
        assert p.loops == ()
        assert str(p).splitlines()[1].startswith("drop  low")
        assert "<table>" in p._repr_html_()


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_shadow_is_a_run_in_double_precision(backend: str, seed: int) -> None:
    """Against NumPy, with sums through a Map, a Global and a Mat; the run itself is unchanged."""
    rng = np.random.default_rng(seed)
    n, m = 40, 25
    values = rng.standard_normal(m).astype(np.float32)
    rows = rng.integers(m, size=(n, 2))

    def run(**options: Any) -> tuple[Any, list[Any]]:
        cells, nodes = op2.Set(n, "cells"), op2.Set(m, "nodes")
        ends = op2.Map(cells, nodes, 2, rows, "ends")
        x = op2.Dat(nodes, values.copy(), name="x")
        y = op2.Dat(nodes, dtype="float32", compute="float64", name="y")
        total = op2.Global(1, 0.0, "float32", "total")
        mat = op2.Mat(op2.Sparsity(nodes, ends), "float32", "A")
        spread = kernel(
            "spread",
            "double *y, const float *x, float *total",
            "y[0] += expf(x[1]) / 3.0f; y[1] -= x[0] / 3.0f; total[0] += x[0] * 0.1f;",
        )
        mass = kernel("mass", "float *A, const float *x", "A[0] += x[0] / 7.0f; A[3] += x[1];")
        with op2.profile(**options) as p:
            op2.par_loop(spread, cells, y(INC, ends), x(READ, ends), total(INC))
            op2.par_loop(mass, cells, mat(INC, (ends, ends)), x(READ, ends))
        mat.assemble()
        return p, [y.data_ro.copy(), total.data_ro.copy(), mat.values]

    with op2.backend(backend):
        op2.init(backend=backend, deterministic=True)
        p, with_shadow = run(shadow="float64")
        _, without = run()
    for one, other in zip(with_shadow, without, strict=True):
        np.testing.assert_array_equal(one, other)
    x = values.astype(float)
    y, dense = np.zeros(m), np.zeros((m, m))
    np.add.at(y, rows[:, 0], np.exp(x[rows[:, 1]]) / 3)
    np.add.at(y, rows[:, 1], -x[rows[:, 0]] / 3)
    np.add.at(dense, (rows[:, 0], rows[:, 0]), x[rows[:, 0]] / 7)
    np.add.at(dense, (rows[:, 1], rows[:, 1]), x[rows[:, 1]])
    total = np.array([(x[rows[:, 0]] * 0.1).sum()])
    table = found(p)
    keys = (("spread", "y"), ("spread", "total"), ("mass", "A"))
    for key, one, wanted in zip(keys, with_shadow, (y, total, dense), strict=True):
        apart = np.abs(one.astype(float) - wanted).max() / np.abs(wanted).max()
        assert table[key].difference == pytest.approx(apart, rel=1e-5, abs=1e-13)
        assert table[key].growth == table[key].difference  # what was read has no difference
    assert not p.precision.without


def test_a_run_in_double_precision_loses_nothing() -> None:
    cells = op2.Set(10)
    x = op2.Dat(cells, 1 / 3, name="x")
    with op2.profile(shadow="float64") as p:
        op2.par_loop(kernel("k", "double *x", "x[0] = sqrt(x[0]);"), cells, x(RW))
    (row,) = p.precision.rows
    assert (row.growth, row.typical_growth, row.difference) == (0, 0, 0)


def test_views_subsets_columns_and_other_types() -> None:
    cells = op2.Set(6, "cells")
    columns = op2.ExtrudedSet(cells, 3)
    q = op2.Dat(cells**2, np.full((6, 2), 0.1), "float32", "q")
    count, most = op2.Dat(cells, dtype="int32", name="count"), op2.Global(1, 0.0, name="most")
    scale = op2.Constant(1, 3.0, "float32", "scale")
    text = "float *q, int *count, double *most, const float *s"
    one = kernel("one", text, "q[0] /= s[0]; count[0] += 2; if (q[0] > most[0]) most[0] = q[0];")
    up = kernel("up", "float *q", "q[1] *= 1.1f;")
    with op2.profile(shadow="float64") as p:
        view = op2.DatView(q, 1)(RW)
        op2.par_loop(one, op2.Subset(cells, [1, 3]), view, count(RW), most(MAX), scale(READ))
        op2.par_loop(up, columns, q(RW))
    assert not p.precision.without
    assert q.data_ro[:, 0].tolist() == [np.float32(0.1)] * 6
    assert count.data_ro.tolist() == [0, 2, 0, 2, 0, 0]
    rows = found(p)
    assert 0 < rows["one", "q"].difference < EPSILON
    assert rows["one", "count"].difference == 0
    assert 0 < rows["one", "most"].difference < EPSILON
    assert 0 < rows["up", "q"].growth < 4 * EPSILON


def test_values_changed_otherwise_are_taken_anew() -> None:
    cells = op2.Set(4, "cells")
    u, old = op2.Dat(cells, 1.0, "float32", "u"), op2.Dat(cells, dtype="float32", name="old")
    third = kernel("third", "float *u", "u[0] /= 3.0f;")
    keep = kernel("keep", "float *old, const float *u", "old[0] = u[0];")
    with op2.profile(shadow="float64") as p:
        op2.par_loop(third, cells, u(RW))
        u.copy(old)
        op2.par_loop(keep, cells, u(WRITE), old(READ))  # the copy has the difference of u
        kept = found_now(p, "keep", "u")
        u.data[:] = 5  # by the program: both have the same values
        op2.par_loop(third, cells, u(RW))
        u.zero()
        op2.par_loop(third, cells, u(RW))
    assert kept.difference > 0
    assert kept.growth == 0
    assert p.precision.anew == {"u": 1}
    assert "u was changed 1 times otherwise" in str(p)
    assert found(p)["third", "u"].difference == 0


def found_now(profile: Any, loop: str, data: str) -> Any:
    rows = profile._shadows.result().rows
    return next(row for row in rows if (row.loop, row.data) == (loop, data))


def test_no_numbers_are_a_difference_without_end() -> None:
    cells = op2.Set(2)
    x = op2.Dat(cells, [1e30, 2.0], "float32", "x")
    with op2.profile(shadow="float64") as p:
        op2.par_loop(kernel("square", "float *x", "x[0] *= x[0];"), cells, x(RW))
    assert p.precision.rows[0].growth == np.inf


def test_loops_without_a_shadow_are_named() -> None:
    cells = op2.Set(3, "cells")
    x, y = (op2.Dat(cells, 1.0, "float32", name=name) for name in "xy")
    memory = np.ones(3, np.float32)
    a, b = op2.Dat(cells, memory, name="a"), op2.Dat(cells, memory, name="b")
    of_cpp = op2.Kernel(
        'extern "C" void cpp(float *x) { auto y = x[0]; x[0] = y + 1; }', "cpp", cpp=True
    )
    mixed = kernel("mixed", "float *x", "x[0] += 1; x[1] += 1;")
    shared = kernel("shared", "float *a, const float *b", "a[0] = b[0];")
    with op2.backend("sequential"), op2.profile(shadow="float64") as p:
        op2.par_loop(of_cpp, cells, x(RW))
        op2.par_loop(mixed, cells, op2.MixedDat([x, y])(RW))
        op2.par_loop(shared, cells, a(WRITE), b(READ))
        op2.par_loop(lambda x: x.__setitem__(0, 4), cells, y(RW))
    assert p.precision.rows == ()
    assert x.data_ro.tolist() == [3, 3, 3]
    assert y.data_ro.tolist() == [4, 4, 4]
    reasons = p.precision.without
    assert reasons["cpp"] == "its kernel computes in float, and is C++ or opaque"
    assert reasons["mixed"] == "'x' is a part of a mixed Dat or Mat"
    assert reasons["shared"] == "'a' and 'b' share memory"
    assert "shared ran without a shadow: 'a' and 'b' share memory" in str(p)


def test_ragged_maps_have_shadows_too() -> None:
    cells, faces = op2.Set(3, "cells"), op2.Set(4, "faces")
    paths = op2.RaggedMap(cells, faces, [[0, 1, 2], [], [3, 0]], name="paths")
    q = op2.Dat(faces, 1.0, "float32", name="q")
    share = kernel("share", "float *q, const int *n", "for (int i = 0; i < *n; i++) q[i] += 0.1f;")
    with op2.profile(shadow="float64") as p:
        op2.par_loop(share, cells, q(INC, paths), paths.counts(READ))
    assert 0 < p.precision.rows[0].growth < EPSILON


@pytest.mark.parametrize(
    "shadow", ["float32", "double", 64, np.float64, ["float64"], True, b"float64"]
)
def test_other_dtypes_are_refused(shadow: Any) -> None:
    with pytest.raises(UsageError, match=r"shadow must be 'float64', .* or None, got"):
        op2.profile(shadow=shadow)


def test_blocks_where_loops_wait_are_refused() -> None:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells, name="x")
    with op2.chain(), pytest.raises(UsageError, match="begins where loops wait"):
        op2.profile(shadow="float64").__enter__()
    one = kernel("one", "double *x", "x[0] += 1;")
    with op2.profile(shadow="float64") as p:
        with pytest.raises(UsageError, match=r"op2.chain\(\) within a profile with a shadow"):
            op2.chain(compare=True).__enter__()
        op2.par_loop(one, cells, x(RW))
    op2.par_loop(one, cells, x(RW))
    assert x.data_ro.tolist() == [2, 2, 2]
    assert p.precision.rows[0].calls == 1


def test_an_error_ends_the_second_run() -> None:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells, name="x")
    with pytest.raises(ZeroDivisionError), op2.profile(shadow="float64"):
        raise ZeroDivisionError
    op2.par_loop(kernel("one", "double *x", "x[0] += 1;"), cells, x(RW))
    with op2.profile() as p:
        op2.par_loop(kernel("one", "double *x", "x[0] += 1;"), cells, x(RW))
    assert p.precision is None
    assert len(p.loops) == 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("float a = 1.5f + .5F;", "double a = 1.5 + .5;"),
        ("sqrtf(2e-3f) * fmaxf(x, 0x1f)", "sqrt(2e-3) * fmax(x, 0x1f)"),
        ("float complex z = csqrtf(w);", "double complex z = csqrt(w);"),
        ("int floaty = x1f + 3.f;", "int floaty = x1f + 3.;"),
        ("const double *x = y;", "const double *x = y;"),
    ],
)
def test_texts_in_double_precision(text: str, wanted: str) -> None:
    assert widened(text) == wanted
