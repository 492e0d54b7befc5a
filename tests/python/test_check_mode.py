# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes that users make, each found on every backend; and no alarm where there is none."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import CheckError, KernelWarning, UsageError
from pyop2cxx.runtime import runtime

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES, Case

if TYPE_CHECKING:
    from collections.abc import Iterator

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
each_backend = pytest.mark.parametrize("backend", BACKENDS)

pytestmark = pytest.mark.filterwarnings("ignore::pyop2cxx.exceptions.KernelWarning")


@pytest.fixture(autouse=True)
def ends() -> Iterator[None]:
    yield
    op2.exit()


class World:
    """Six edges of a chain of seven nodes, and data on both."""

    def __init__(self) -> None:
        self.nodes, self.edges = op2.Set(7, "nodes"), op2.Set(6, "edges")
        ends = np.array([[i, i + 1] for i in range(6)])
        self.ends = op2.Map(self.edges, self.nodes, 2, ends, "ends")
        self.own = op2.Map(self.edges, self.nodes, 1, ends[:, :1], "own")
        self.x = op2.Dat(self.nodes, [3.0, 4.0, 5.0, 0.0, -2.0, 1.0, 2.0], name="x")
        self.y = op2.Dat(self.edges, np.arange(1.0, 7.0), name="y")
        self.v = op2.Dat(self.edges**2, np.ones((6, 2)), name="v")
        self.z = op2.Dat(self.nodes, np.ones(7), name="z")
        self.i = op2.Dat(self.edges, np.array([0, 1, 0, 1, 5, 2], np.int32), name="i")
        self.s = op2.Dat(self.edges, np.array([7, 8, 9, 10, 11, 12], np.int8), name="s")
        self.t = op2.Global(2, [0, 2147483640], np.int32, name="t")
        self.m = op2.Dat(self.nodes, np.full(7, 100, np.int8), name="m")
        self.big = op2.Global(1, 1.5e308, name="big")
        self.n = op2.Global(1, 4, np.int32, name="n")
        self.least = op2.Global(1, 0.5, name="least")
        self.memory = np.arange(1.0, 8.0)
        self.one = op2.Dat(self.nodes, self.memory, name="one")
        self.other = op2.Dat(self.nodes, self.memory, name="other")

    def values(self) -> list[Any]:
        """Return a copy of all that loops may write."""
        names = ["x", "y", "v", "z", "i", "s", "t", "m", "big", "least", "one", "other"]
        written = [getattr(self, name) for name in names]
        return [np.array(one.data_ro) for one in written]


@dataclass(frozen=True)
class Bug:
    """A mistake: a kernel, `args` in the words of `World`, and what has to be said of it."""

    name: str
    code: str
    args: str
    check: str
    line: int = 1
    argument: int = -1
    element: int = -1
    says: tuple[str, ...] = field(default=())


BUGS = [
    Bug(
        "a literal index beyond arity x dim",
        "void k(double *y, double *x) {\n  y[0] = x[2];\n}",
        "y(WRITE), x(READ, ends)",
        "at par_loop",
        says=("kernel line 2", "index 2", "argument 1", "Dat 'x'", "0 to 1"),
    ),
    Bug(
        "a literal index beyond an array of arrays",
        "void k(double *y, double x[2][1]) {\n  y[0] = x[2][0];\n}",
        "y(WRITE), x(READ, ends)",
        "at par_loop",
        says=("kernel line 2", "index 2", "of 'x' (argument 1, Dat 'x')", "0 to 1"),
    ),
    Bug(
        "a loop that runs one too far",
        "void k(double *y) {\n  double w[3] = {1, 2, 3};\n"
        "  for (int c = 0; c <= 3; ++c)\n    y[0] += w[c];\n}",
        "y(RW)",
        "at par_loop",
        says=("kernel line 4", "index 3", "'w'", "0 to 2"),
    ),
    Bug(
        "an index from data",
        "void k(double *y, double *x, int *i) {\n  y[0] = x[i[0]];\n}",
        "y(WRITE), x(READ, ends), i(READ)",
        "bounds",
        2,
        1,
        4,
        ("index 5", "0 to 1"),
    ),
    Bug(
        "a helper that gets too little",
        "static void fill(double *p, int n) {\n  for (int c = 0; c < n; ++c) p[c] = 1;\n}\n"
        "void k(double *v, int *n) {\n  fill(v, n[0]);\n}",
        "v(WRITE), n(READ)",
        "bounds",
        2,
        0,
        0,
        ("index 2",),
    ),
    Bug(
        "a READ argument that is written",
        "void k(double *y, double *x) {\n  x[0] = 1;\n  y[0] = x[0];\n}",
        "y(WRITE), x(READ, ends)",
        "store",
        2,
        1,
        0,
        ("READ",),
    ),
    Bug(
        "an INC argument that is assigned",
        "void k(double *z) {\n  z[0] = 1;\n  z[1] += 1;\n}",
        "z(INC, ends)",
        "store",
        2,
        0,
        0,
        ("INC", "+="),
    ),
    Bug(
        "an INC argument that is used",
        "void k(double *z, double *y) {\n  z[0] += 1;\n  y[0] = 2 * z[0];\n}",
        "z(INC, ends), y(WRITE)",
        "load",
        3,
        0,
        0,
        ("INC",),
    ),
    Bug(
        "a WRITE argument that is not written on all paths",
        "void k(double *y, double *x) {\n  if (x[0] > 0)\n    y[0] = x[0];\n}",
        "y(WRITE), x(READ, ends)",
        "written",
        1,
        0,
        3,
        ("WRITE", "value 0"),
    ),
    Bug(
        "a WRITE argument of which a component is left out",
        "void k(double *v, double *x) {\n  v[0] = x[0];\n  if (x[1] >= 0) v[1] = 1;\n}",
        "v(WRITE), x(READ, ends)",
        "written",
        1,
        0,
        3,
        ("WRITE", "value 1"),
    ),
    Bug(
        "a WRITE argument of which an array in it is left out",
        "void k(double v[1][2], double *x) {\n  v[0][0] = x[0];\n  if (x[1] >= 0) v[0][1] = 1;\n}",
        "v(WRITE), x(READ, ends)",
        "written",
        1,
        0,
        3,
        ("WRITE", "value 1 of 'v'"),
    ),
    Bug(
        "an INC argument of which an array in it is assigned",
        "void k(double z[2][1]) {\n  z[0][0] += 1;\n  z[1][0] = 1;\n}",
        "z(INC, ends)",
        "store",
        3,
        0,
        0,
        ("INC", "+=", "value 1 of 'z'"),
    ),
    Bug(
        "an infinite value in an array of arrays",
        "void k(double v[1][2], double x[2][1]) {\n  v[0][0] = 1;\n  v[0][1] = 1 / x[1][0];\n}",
        "v(WRITE), x(READ, ends)",
        "made",
        3,
        0,
        2,
        ("infinite", "'v'"),
    ),
    Bug(
        "a WRITE argument that is read first",
        "void k(double *v) {\n  v[1] = v[0];\n  v[0] = 1;\n}",
        "v(WRITE)",
        "load",
        2,
        0,
        0,
        ("WRITE", "value 0"),
    ),
    Bug(
        "a MIN argument that is raised",
        "void k(double *least, double *y) {\n  least[0] = y[0] < 3 ? 0.25 : 9;\n}",
        "least(MIN), y(READ)",
        "extreme",
        1,
        0,
        2,
        ("MIN", "raised"),
    ),
    Bug(
        "RW where two elements meet",
        "void k(double *z) { z[0] *= 2; z[1] += 1; }",
        "z(RW, ends)",
        "races",
        0,
        0,
        1,
        ("elements 0 and 1", "entity 1", "Map 'ends'"),
    ),
    Bug(
        "WRITE where two elements meet",
        "void k(double *z, double *y) { z[0] = y[0]; z[1] = y[0]; }",
        "z(WRITE, ends), y(READ)",
        "races",
        0,
        0,
        1,
        ("elements 0 and 1", "equal_writes=True"),
    ),
    Bug(
        "a Dat that is read through a Map and written through another",
        "void k(double *a, double *b) { a[0] = b[0] + b[1]; }",
        "z(WRITE, own), z(READ, ends)",
        "races",
        0,
        0,
        0,
        ("arg 0", "Dat 'z'", "READ by element 0"),
    ),
    Bug(
        "two Dats over one memory",
        "void k(double *a, double *b) { a[0] = b[0] + b[1]; }",
        "one(WRITE, own), other(READ, ends)",
        "races",
        0,
        0,
        0,
        ("shares memory", "Dat 'other'"),
    ),
    Bug(
        "the root of a negative number",
        "void k(double *y, double *x) {\n  double r = sqrt(x[0]);\n  y[0] = r;\n}",
        "y(WRITE), x(READ, ends)",
        "made",
        2,
        -1,
        4,
        ("NaN",),
    ),
    Bug(
        "a division by zero",
        "void k(double *y, double *x) {\n  y[0] = 1;\n  y[0] /= x[0];\n}",
        "y(WRITE), x(READ, ends)",
        "made",
        3,
        0,
        3,
        ("infinite",),
    ),
    Bug(
        "an integer that is divided by zero",
        "void k(double *y, int *i) {\n  y[0] = 6 % (i[0] - 2);\n}",
        "y(WRITE), i(READ)",
        "divisor",
        2,
        0,
        5,
        ("divided by zero",),
    ),
    Bug(
        "a shift too far",
        "void k(double *y, int *i) {\n  y[0] = 1 << (8 * i[0]);\n}",
        "y(WRITE), i(READ)",
        "shift",
        2,
        0,
        4,
        ("40 bits",),
    ),
    Bug(
        "a sum that does not fit",
        "void k(double *y, int *i) {\n  int big = i[0] * 1000000000;\n  y[0] = big;\n}",
        "y(WRITE), i(READ)",
        "overflow",
        2,
        -1,
        4,
        ("5000000000",),
    ),
    Bug(
        "a counter that does not fit",
        "void k(double *y, int *i) {\n  int n = 2147483641 + i[0];\n  n++;\n  y[0] = ++n;\n}",
        "y(WRITE), i(READ)",
        "overflow",
        4,
        0,
        4,
        ("2147483648",),
    ),
    Bug(
        "a product in place that does not fit",
        "void k(int *i) {\n  i[0] *= 1000000000;\n}",
        "i(RW)",
        "overflow",
        2,
        0,
        4,
        ("5000000000",),
    ),
    Bug(
        "a bit that is shifted out",
        "void k(double *y, int *i) {\n  int bits = (i[0] + 1) << 29;\n  y[0] = bits;\n}",
        "y(WRITE), i(READ)",
        "overflow",
        2,
        -1,
        4,
        ("3221225472",),
    ),
    Bug(
        "a shift in place that does not fit",
        "void k(int *i) {\n  i[0] <<= 29;\n}",
        "i(RW)",
        "overflow",
        2,
        0,
        4,
        ("2684354560",),
    ),
    Bug(
        "a sum that does not fit a narrow integer",
        "void k(signed char *s, int *i) {\n  s[0] = s[0] + 100 * (i[0] == 5) + 20;\n}",
        "s(RW), i(READ)",
        "conversion",
        2,
        0,
        4,
        ("131", "'s'"),
    ),
    Bug(
        "a narrow integer that is updated",
        "void k(signed char *s) {\n  s[0] += 10 * s[0];\n}",
        "s(RW)",
        "conversion",
        2,
        0,
        5,
        ("132", "'s'"),
    ),
    Bug(
        "a narrow integer that is counted up",
        "void k(signed char *s) {\n  s[0] = s[0] + 115;\n  s[0]++;\n}",
        "s(RW)",
        "conversion",
        3,
        0,
        5,
        ("128", "'s' (argument 0, Dat 's')"),
    ),
    Bug(
        "a product that does not fit the widest integer",
        "void k(double *y, int *i) {\n  long n = 3000000000L * i[0];\n  n = n * n;\n  y[0] = n;\n}",
        "y(WRITE), i(READ)",
        "overflow",
        3,
        -1,
        4,
        ("int64", "real number"),
    ),
    Bug(
        "a value that its helper's parameter cannot hold",
        "static int half(short a) { return a / 2; }\n"
        "void k(double *y, int *i) {\n  y[0] = half(i[0] * 7000);\n}",
        "y(WRITE), i(READ)",
        "conversion",
        3,
        -1,
        4,
        ("35000", "'a'"),
    ),
    Bug(
        "a real number that no integer holds",
        "void k(int *i, double *x) {\n  i[0] = 1e9 * x[0];\n}",
        "i(WRITE), x(READ, ends)",
        "truncation",
        2,
        0,
        0,
        ("too large",),
    ),
    Bug(
        "a sum over elements that does not fit",
        "void k(int *t, int *i) {\n  t[0] += 1;\n  t[1] += i[0];\n}",
        "t(INC), i(READ)",
        "sum",
        2,
        0,
        5,
        ("value 1 of 't'", "2147483649", "int32"),
    ),
    Bug(
        "a sum on an entity that does not fit",
        "void k(signed char *m, int *i) {\n  m[0] += i[0];\n  m[1] += 24;\n}",
        "m(INC, ends), i(READ)",
        "sum",
        2,
        0,
        4,
        ("entity 4 of Set 'nodes'", "129", "int8"),
    ),
    Bug(
        "a sum over elements that is infinite",
        "void k(double *big, double *y) {\n  big[0] += 4e306 * y[0];\n}",
        "big(INC), y(READ)",
        "sum",
        2,
        0,
        3,
        ("became infinite", "'big'"),
    ),
    Bug(
        "an infinite first value of an array",
        "void k(double *y, double *x) {\n  double w[2] = {\n    1 / x[0], 1};\n  y[0] = w[0];\n}",
        "y(WRITE), x(READ, ends)",
        "made",
        3,
        -1,
        3,
        ("infinite",),
    ),
    Bug(
        "an INC argument that is cleared",
        "void k(double *z) {\n  memset(z, 0, 2 * sizeof(double));\n  z[0] += 1;\n}",
        "z(INC, ends)",
        "store",
        2,
        0,
        0,
        ("INC",),
    ),
    Bug(
        "a copy into a READ argument",
        "void k(double *y, double *x) {\n  double w[2] = {1, 2};\n  memcpy(x, w, sizeof w);\n"
        "  y[0] = x[0];\n}",
        "y(WRITE), x(READ, ends)",
        "store",
        3,
        1,
        0,
        ("READ",),
    ),
    Bug(
        "a copy of too many values",
        "void k(double *y, double *x, int *i) {\n  double w[2] = {0, 0};\n"
        "  memcpy(w, x, i[0] * sizeof(double));\n  y[0] = w[0];\n}",
        "y(WRITE), x(READ, ends), i(READ)",
        "bounds",
        3,
        -1,
        4,
        ("index 2", "'w'"),
    ),
    Bug(
        "a copy of values that are not there",
        "void k(double *v) {\n  double w[2];\n  w[0] = 1;\n  memcpy(v, w, sizeof w);\n}",
        "v(WRITE)",
        "load",
        4,
        -1,
        0,
        ("value 1", "'w'"),
    ),
    Bug(
        "the absolute value of the least integer",
        "void k(int *i) {\n  i[0] = abs(-2147483643 - i[0]);\n}",
        "i(RW)",
        "overflow",
        2,
        0,
        4,
        ("2147483648",),
    ),
    Bug(
        "a variable without a value",
        "void k(double *y, double *x) {\n  double best;\n  if (x[0] > 0) best = x[0];\n"
        "  y[0] = best;\n}",
        "y(WRITE), x(READ, ends)",
        "unset",
        4,
        -1,
        3,
        ("'best'",),
    ),
    Bug(
        "a helper that reads what it should fill",
        "static void twice(double *p) {\n  *p *= 2;\n}\n"
        "void k(double *y) {\n  double t;\n  twice(&t);\n  y[0] = t;\n}",
        "y(WRITE)",
        "load",
        2,
        -1,
        0,
        ("value 0 of 'p'", "before it has a value"),
    ),
    Bug(
        "a helper that does not always fill",
        "static void fill(double *p, double x) { if (x > 0) *p = x; }\n"
        "void k(double *y, double *x) {\n  double t;\n  fill(&t, x[0]);\n  y[0] = t;\n}",
        "y(WRITE), x(READ, ends)",
        "unset",
        5,
        -1,
        3,
        ("'t'",),
    ),
    Bug(
        "an array without values",
        "void k(double *y, int *i) {\n  double t[3];\n  t[0] = 1;\n  t[1] = 2;\n"
        "  y[0] = t[i[0] % 3];\n}",
        "y(WRITE), i(READ)",
        "load",
        5,
        -1,
        4,
        ("value 2", "'t'"),
    ),
]


def run(world: World, bug: Bug, **options: Any) -> None:
    names = {name: getattr(op2, name) for name in ("READ", "WRITE", "RW", "INC", "MIN", "MAX")}
    args = eval(f"({bug.args},)", names | vars(world))
    op2.par_loop(op2.Kernel(bug.code, "k"), world.edges, *args, **options)


@each_backend
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "-"))
def test_every_bug_is_found_and_nothing_is_written(bug: Bug, backend: str) -> None:
    op2.init(backend=backend, check=True)
    world = World()
    before = world.values()
    if bug.check == "at par_loop":
        with pytest.raises(UsageError) as caught:
            run(world, bug)
    else:
        with pytest.raises(CheckError) as caught:
            run(world, bug)
        error = caught.value
        assert isinstance(error, CheckError)
        assert (error.check, error.line) == (bug.check, bug.line)
        assert (error.argument, error.element) == (bug.argument, bug.element)
        assert "nothing was written" in str(error).lower()
    message = str(caught.value)
    assert "par_loop 'k'" in message
    for said in bug.says:
        assert said in message
    if bug.check not in ("at par_loop", "races"):
        assert f"kernel line {bug.line}" in message
        assert f"element {bug.element}" in message
    for old, new in zip(before, world.values(), strict=True):
        np.testing.assert_array_equal(old, new)


OVERFLOWS = [  # `x` holds the largest number, `z` the least
    "x[0]++",
    "++x[0]",
    "(*x)++",
    "y[0] = x[0]++",
    "y[0] = ++x[0]",
    "x[0] += 1",
    "x[c++] += 1",
    "*x++ += 1",
    "(*x++)++",
    "x[0] -= -1",
    "x[0] *= 2",
    "T t = x[0]; t++; y[0] = t",
    "for (T t = x[0]; t != z[0]; t++) y[0] = 1",
    "z[0]--",
    "--*z",
    "z[0] -= 1",
    "z[0] /= -1",
    "z[0] %= -1",
    "z[0] = z[0] / (c - 1)",
    "z[0] = z[0] % (c - 1)",
    "z[0] = -z[0]",
    "y[0] = x[0] << 1",
    "z[0] <<= 1",
    "x[c++] <<= c + 1",
]


@pytest.mark.parametrize(
    ("code", "dtype"),
    [(code, np.int32) for code in OVERFLOWS]
    + [(code, np.int64) for code in ("y[0] = x[0]++", "z[0] -= 1", "z[0] /= -1", "z[0] = -z[0]")],
)
def test_overflows_are_found_in_every_form(code: str, dtype: type) -> None:
    op2.init(backend="sequential", check=True)
    one, limits, name = op2.Set(1), np.iinfo(dtype), c_name(dtype)
    x, z = op2.Dat(one, [limits.max], dtype), op2.Dat(one, [limits.min], dtype)
    text = f"void k(T *x, T *y, T *z) {{\n  int c = 0; {code};\n}}".replace("T ", f"{name} ")
    y = op2.Dat(one, [0], dtype)
    with pytest.raises(CheckError, match=r"kernel line 2.*does not fit") as caught:
        op2.par_loop(op2.Kernel(text, "k"), one, x(op2.RW), y(op2.RW), z(op2.RW))
    assert caught.value.check == "overflow"  # type: ignore[attr-defined]


def c_name(dtype: type) -> str:
    """Return what C calls an integer type."""
    return f"{np.dtype(dtype).name}_t"


WHOLE = [  # what C defines, with what `x[0]` and `x[1]` become from 7 and -3; `c` is 0
    ("x[0]++; ++x[1]", 8, -2),
    ("x[c++] += 2; x[c--] -= 2", 9, -5),
    ("x[0] = x[1]++ * 2; x[1] = --x[0]", -7, -7),
    ("*x++ += 1; (*x)--", 8, -4),
    ("T *p = x; (*p++)++; *p-- *= 2; *p += *(p + 1)", 2, -6),
    ("T *p = x + c++; *p = c", 1, -3),
    ("x[0] += 4000000000u + 294967296u; x[1] += 0.75", 7, -2),
    ("x[0] /= 0.5; x[1] %= 2", 14, -1),
    ("x[c++] <<= 2; x[c] /= c", 28, -3),
    ("unsigned u = 0; u--; --u; x[0] = u >> 31; signed char s = 126; s++; x[1] = s", 1, 127),
    ("signed char s = (signed char)200; x[0] = s; x[1] = (short)70000", -56, 4464),
    ("x[0] <<= 3; x[1] = -1 << 31", 56, -2147483648),
    ("unsigned char b = 300; x[0] = b; x[1] = (int)-2147483648.5", 44, -2147483648),
]


@pytest.mark.parametrize(("code", "first", "second"), WHOLE)
def test_checks_of_integers_change_no_value(code: str, first: int, second: int) -> None:
    op2.init(backend="sequential", check=True)
    x = op2.Dat(op2.Set(1) ** 2, [7, -3], np.int32)
    text = f"void k(T *x) {{ int c = 0; {code}; }}".replace("T ", "int ")
    op2.par_loop(op2.Kernel(text, "k"), x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [[first, second]]


def test_a_literal_index_is_an_error_without_check_mode() -> None:
    op2.init(backend="sequential")
    with pytest.raises(UsageError, match="index 2 is outside of 'x'"):
        run(World(), BUGS[0])


def test_a_condition_on_a_const_lets_an_index_stand() -> None:
    op2.init(backend="sequential")
    op2.Const(1, 2, "n_dims", dtype=np.int32)
    code = "void k(double *y) { y[0] = 1; if (n_dims == 3) y[1] = 1; }"
    bug = Bug("", code, "y(WRITE)", "")
    with pytest.warns(KernelWarning, match="index 1 is outside of 'y'"):
        run(World(), bug)
    op2.init(strict=True)
    with pytest.raises(UsageError, match=r"index 1 is outside of 'y'.*strict=True"):
        run(World(), bug)


def test_one_loop_alone_is_checked() -> None:
    op2.init(backend="sequential")
    world = World()
    run(world, BUGS[7])
    with pytest.raises(CheckError):
        run(world, BUGS[7], check=True)
    op2.init(check=True)
    run(world, BUGS[7], check=False)


@pytest.mark.parametrize("options", [{"check": True}, {"debug": True}])
def test_a_kernel_that_nobody_looks_into_is_told(options: dict[str, Any]) -> None:
    """And races are found; without check mode nothing is said."""
    code = "void k(double *z) { goto end; end: z[0] = 3; z[1] = 2; }"
    op2.init(backend="sequential", **options)
    world = World()
    with pytest.warns(
        KernelWarning, match=r"par_loop 'k': .*does not look into .*\(line 1"
    ) as told:
        run(world, Bug("", code, "z(WRITE, ends)", ""), equal_writes=True)
    assert told[0].filename == __file__
    with pytest.raises(CheckError, match="elements 0 and 1 both WRITE"):
        run(world, Bug("", code, "z(WRITE, ends)", ""))
    op2.init(check=False, debug=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(world, Bug("", code, "z(WRITE, ends)", ""))


def test_debug_includes_it() -> None:
    op2.init(backend="sequential", debug=True)
    (from_data,) = (bug for bug in BUGS if bug.name == "an index from data")
    with pytest.raises(CheckError, match="element 4"):
        run(World(), from_data)


MEMBERS = [  # what messages call a member of a structure: as the kernel writes it
    ("struct s v;", "y[0] = v.n;", "'v.n'"),
    ("struct s v; struct s *p = &v;", "y[0] = p->n;", "'p->n'"),
    ("struct s v; v.w[0] = x[0];", "y[0] = v.w[i[0] + 4];", "'v.w'"),
    ("struct s v[2]; v[0].w[0] = x[0];", "y[0] = v [0] . w[i[0] + 4];", "'v [0] . w'"),
    ("struct t { struct s in_x; } a_b;", "y[0] = a_b.in_x.n;", "'a_b.in_x.n'"),
    ("struct s v; double v_n = 1;", "y[0] = v_n + v.n;", "'v.n'"),
    ("struct s v; v.n = 1; v.w[0] = x[0];", "y[0] = v.w[2] + v.n;", "'v.w'"),
]


@pytest.mark.parametrize(("before", "line", "name"), MEMBERS)
def test_members_are_named_as_the_user_wrote_them(before: str, line: str, name: str) -> None:
    op2.init(backend="sequential", check=True)
    code = (
        "struct s { double n, w[2]; };\n"
        f"void k(double *y, double *x, int *i) {{ {before}\n  {line}\n}}"
    )
    with pytest.raises(
        (CheckError, UsageError), match=f"kernel line 3: '{re.escape(line)}'.*{re.escape(name)}"
    ):
        run(World(), Bug("", code, "y(WRITE), x(READ, ends), i(READ)", ""))


@pytest.mark.parametrize("line", ["y[0] = x[2 * i[0]];", "y[0] = x[2];"])
def test_equal_kernels_have_lines_of_their_own(line: str) -> None:
    op2.init(backend="sequential", check=True)
    for n in (1, 3):
        code = f"void k(double *y, double *x, int *i) {{{chr(10) * (n - 1)} {line} }}"
        with pytest.raises((CheckError, UsageError), match=f"kernel line {n}:"):
            run(World(), Bug("", code, "y(WRITE), x(READ, ends), i(READ)", ""))


@each_backend
def test_what_comes_in_is_no_finding(backend: str) -> None:
    op2.init(backend=backend, check=True)
    world = World()
    world.x.data[3] = np.nan
    code = "void k(double *y, double *x) { double t = 2 * x[0]; y[0] = t + sqrt(x[1] * x[1]); }"
    run(world, Bug("", code, "y(WRITE), x(READ, ends)", ""))
    assert np.isnan(world.y.data_ro[[2, 3]]).all()
    code = "void k(double *y) { double least = INFINITY; y[0] = fmin(least, y[0]); }"
    run(world, Bug("", code, "y(RW)", ""))


GIVEN = [  # what is written through pointers has a value
    "double t; fill(&t, i[0] + 1); y[0] = t",
    "double t; double *p = &t; p[0] = 3; y[0] = t",
    "double t; double *p = i[0] > 0 ? &t : x; *p = 3; if (i[0] > 0) y[0] = t; else y[0] = 3",
    "double t; double *p[1]; p[0] = &t; *p[0] = 3; y[0] = t",
    "double t; char *p = (char *)&t; for (int j = 0; j < 8; ++j) p[j] = 0; y[0] = t + 3",
    "double t; int e; y[0] = frexp(x[0], &e); if (i[0] > 0) modf(3.5, &t); else t = 3; y[0] = t",
    "double t[2]; if (i[0] >= 0) memset(t, 0, sizeof(t)); y[0] = t[i[0] % 2] + 3",
    "double t; if (i[0] >= 0) memset((void *)&t, 0, sizeof t); y[0] = t + 3",
]


@pytest.mark.parametrize("code", GIVEN)
def test_addresses_raise_no_false_alarm(code: str) -> None:
    op2.init(backend="sequential", check=True)
    world = World()
    text = (
        "static void fill(double *p, int n) { if (n > 0) *p = 3; }\n"
        f"void k(double *y, double *x, int *i) {{ {code}; }}"
    )
    run(world, Bug("", text, "y(RW), x(RW, own), i(READ)", ""), equal_writes=True)
    assert world.y.data_ro.tolist() == [3.0] * 6


WALKED = {
    "a table": "const double *v = t",
    "a table, or an array": "const double *v = y[0] > 3 ? t : w",
    "a table from its middle": "const double *v = &t[3]; v -= 3",
}


@each_backend
@pytest.mark.parametrize("case", WALKED)
def test_pointers_may_walk_through_what_is_not_watched(case: str, backend: str) -> None:
    """A table has no marks; a pointer to them stays none, however far it goes."""
    code = f"""static const double t[4] = {{1, 2, 3, 4}};
static double sum(const double *p, int n) {{
  double s = 0;
  for (const double *q = p; q < p + n; ++q) s += *q;
  return s + *(p + 1 + 1);
}}
void k(double *y) {{
  double w[4] = {{1, 2, 3, 4}};
  {WALKED[case]};
  double s = 0;
  for (int i = 0; i < 4; ++i) s += *v++;
  y[0] = s + sum(t, 4) + sum(w, 4);
}}"""
    op2.init(backend=backend, check=True)
    world = World()
    op2.par_loop(op2.Kernel(code, "k"), world.edges, world.y(op2.RW))
    np.testing.assert_array_equal(world.y.data_ro, np.full(6, 36.0))


@each_backend
def test_arrays_of_arrays_raise_no_false_alarm(backend: str) -> None:
    """What is written is not read first to be handed over, and the values are those of the Dat."""
    op2.init(backend=backend, check=True)
    world = World()
    code = (
        "static double twice(double a[2]) { return 2 * a[1]; }\n"
        "void k(double v[][2], const double x[2][1]) {\n"
        "  for (int i = 0; i < 2; ++i) v[0][i] = x[i][0];\n  v[0][0] = twice(v[0]);\n}"
    )
    x, before = world.x.data_ro, world.v.data_ro.copy()
    run(world, Bug("", code, "v(WRITE), x(READ, ends)", ""))
    np.testing.assert_array_equal(world.v.data_ro, np.stack([2 * x[1:], x[1:]], axis=1))
    code = "void k(double v[1][2], const double x[2][1]) { v[0][1] += x[1][0]; }"
    world.v.data[...] = before
    run(world, Bug("", code, "v(INC), x(READ, ends)", ""))
    np.testing.assert_array_equal(world.v.data_ro, before + np.stack([0 * x[1:], x[1:]], axis=1))


@each_backend
@pytest.mark.parametrize("access", [op2.WRITE, op2.INC])
@pytest.mark.pyop2
def test_older_conventions_raise_no_false_alarm(backend: str, access: Any) -> None:
    """Values by component first are copied for the kernel, those of the matrix for each pair."""
    op2.init(backend=backend, check=True)
    world, i = World(), op2.i
    v = op2.Dat(world.nodes**2, name="v")
    op = "=" if access == op2.WRITE else "+="
    code = f"void k(double *v) {{ for (int c = 0; c < 4; ++c) v[c] {op} c / 2; }}"
    values = v(access, world.ends[i[0]], flatten=True)
    kernel = op2.Kernel(code, "k", abi="2016")
    op2.par_loop(kernel, world.edges, values, equal_writes=True)
    times = [1, 2, 2, 2, 2, 2, 1] if access == op2.INC else [1] * 7
    assert v.data_ro.tolist() == [[0, n] for n in times]
    nodes = world.nodes**1
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(world.ends, world.ends, None)]))
    kernel = op2.Kernel(
        f"void k(double A[1][1], int i, int j) {{ A[0][0] {op} 1; }}", "k", abi="2013"
    )
    entries = mat(access, (world.ends[i[0]], world.ends[i[1]]))
    op2.par_loop(kernel, world.edges, entries, equal_writes=True)
    inner = 2 if access == op2.INC else 1
    assert mat.values.diagonal().tolist() == [1, *[inner] * 5, 1]


@each_backend
def test_elements_that_write_equal_values(backend: str) -> None:
    op2.init(backend=backend, check=True)
    world = World()
    bug = Bug("", "void k(double *z) { z[0] = 2; z[1] = 2; }", "z(WRITE, ends)", "")
    run(world, bug, equal_writes=True)
    assert world.z.data_ro.tolist() == [2.0] * 7


@each_backend
def test_a_loop_goes_on_after_a_finding(backend: str) -> None:
    op2.init(backend=backend)
    world = World()
    kernel = op2.Kernel("void k(double *y, int *i) { y[0] = 6 / i[0]; }", "k")
    loop = op2.ParLoop(kernel, world.edges, world.y(op2.WRITE), world.i(op2.READ), check=True)
    with pytest.raises(CheckError, match=r"element 0 of Set 'edges'.*divided by zero"):
        loop.compute()
    world.i.data[...] = 3
    loop.compute()
    assert world.y.data_ro.tolist() == [2.0] * 6


@each_backend
def test_cells_of_columns_are_named(backend: str) -> None:
    op2.init(backend=backend, check=True)
    cells = op2.ExtrudedSet(op2.Set(3, "base"), 5)
    nodes = op2.Set(15, "nodes")
    up = op2.Map(cells, nodes, 2, [[0, 1], [5, 6], [10, 11]], "up", offset=[1, 1])
    x = op2.Dat(nodes, np.arange(15.0) - 7, name="x")
    s = op2.Global(1, 0.0, name="s")
    kernel = op2.Kernel("void k(double *s, double *x) { s[0] += 1 / x[1]; }", "k")
    with pytest.raises(CheckError, match="column 1, cell 1 of Set"):
        op2.par_loop(kernel, cells, s(op2.INC), x(op2.READ, up))
    assert s.data_ro[0] == 0


# What cases of the corpus do on purpose
ON_PURPOSE = {
    "indirect_write": "written",
    "indirect_write_shared": "races",
    "indirect_rw_shared": "races",
    "inc_of_what_is_read": "races",
    "overlapping_slices": "races",
    "one_dat_directly_and_through_map": "races",
    "matrix_that_is_set_by_many": "races",
    "ragged_write": "races",
    "dense_with_pivots": "made",  # singular matrices
    "ragged_read": "outside of check mode",  # rows of more than 64 entries
}


def lacks(backend: str) -> set[str]:
    """What this backend does not have, of what cases need."""
    facts = runtime.engine.backend(backend).facts
    on_grid = facts.lanes == _core.Lanes.grid
    found = set() if facts.complex_arithmetic else {"complex"}
    return found | ({"cpp", "headers", "overlap"} if on_grid else set())


@each_backend
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_false_alarms(case: Case, backend: str) -> None:
    op2.init(backend=backend, check=True)
    if missing := case.needs & lacks(backend):
        pytest.skip(f"{backend} has no {', '.join(sorted(missing))}")
    problem = case.problem()
    found = ""
    try:
        op2.ParLoop(problem.kernel, problem.iterset, *problem.args, **problem.options).compute()
    except CheckError as error:
        found = error.check
    except UsageError as error:
        found = str(error).rpartition(", ")[2]
    finally:
        for constant in problem.constants:
            constant.remove_from_namespace()
    assert found == ON_PURPOSE.get(case.name, "")
    if not found and problem.check is None:
        for carrier, want in problem.expected:
            got = (
                carrier.data_ro_with_halos
                if isinstance(carrier, op2.Dat)
                else (carrier.array if isinstance(carrier, op2.Mat) else carrier.data_ro)
            )
            scale = max(case.tolerance, 1e-6) * (np.abs(want).max() if want.size else 1)
            np.testing.assert_allclose(got, want, rtol=0, atol=scale)


# The first run, which only adds up whether values are finite


def checked_loop(code: str, world: World, *arguments: Any) -> op2.ParLoop:
    loop = op2.ParLoop(op2.Kernel(code, "k"), world.edges, *arguments)
    loop.compute()
    return loop


@pytest.mark.parametrize("backend", [b for b in BACKENDS if b in ("sequential", "openmp")])
def test_a_loop_whose_values_are_finite_runs_once(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    op2.init(backend=backend, check=True)
    world = World()
    monkeypatch.setattr("pyop2cxx.check.check_mode._FullRun", None)  # which nobody may need
    code = (
        "void k(double *y, double *z, double *x) { double a = x[0] * x[1]; y[0] = a; z[0] += a; }"
    )
    y, z, x = world.y(op2.WRITE), world.z(op2.INC, world.own), world.x(op2.READ, world.ends)
    checked_loop(code, world, y, z, x)
    expected = world.x.data_ro[:-1] * world.x.data_ro[1:]
    assert np.array_equal(world.y.data_ro, expected)
    assert np.array_equal(world.z.data_ro[:-1], 1 + expected)


HIDDEN = {
    "in a local that the result does not show": (
        "void k(double *y, double *z, double *x) { double a = 1 / x[0]; y[0] = 1 / a; z[0] += 1; }"
    ),
    "in a helper": (
        "double inverse(double x) { double a = 1 / x; return 1 / a; }\n"
        "void k(double *y, double *z, double *x) { y[0] = inverse(x[0]); z[0] += 1; }"
    ),
    "in a sum": "void k(double *y, double *z, double *x) { y[0] = 1; z[0] += 1 / x[0]; }",
    "in what a helper adds": (
        "void add(double *z, double a) { z[0] += 1 / a; }\n"
        "void k(double *y, double *z, double *x) { y[0] = 1; add(z, x[0]); }"
    ),
    "in a branch": (
        "void k(double *y, double *z, double *x) {\n"
        "  if (x[0] > 0) { y[0] = 2; } else { double a = 1 / x[0]; y[0] = a < 0 ? 1 : 2; }\n"
        "  z[0] += 1;\n}"
    ),
}


@each_backend
@pytest.mark.parametrize("where", HIDDEN)
def test_what_is_not_finite_is_found_wherever_it_goes(backend: str, where: str) -> None:
    op2.init(backend=backend, check=True)
    world = World()
    y, z, x = world.y(op2.WRITE), world.z(op2.INC, world.own), world.x(op2.READ, world.own)
    before = world.y.data_ro.copy(), world.z.data_ro.copy()
    with pytest.raises(CheckError, match="became infinite here") as caught:
        checked_loop(HIDDEN[where], world, y, z, x)
    assert (caught.value.check, caught.value.element) == ("made", 3)
    assert np.array_equal(world.y.data_ro, before[0])
    assert np.array_equal(world.z.data_ro, before[1])


@each_backend
def test_what_came_in_is_no_mistake_and_the_loop_runs_again(backend: str) -> None:
    op2.init(backend=backend, check=True)
    world = World()
    world.x.data[1] = np.nan
    y, z, x = world.y(op2.RW), world.z(op2.INC, world.own), world.x(op2.READ, world.own)
    expected = world.y.data_ro + 2 * world.x.data_ro[:-1]
    sums = world.z.data_ro[:-1] + world.x.data_ro[:-1]
    loop = checked_loop(
        "void k(double *y, double *z, double *x) { y[0] += 2 * x[0]; z[0] += x[0]; }",
        world,
        y,
        z,
        x,
    )
    assert np.array_equal(world.y.data_ro, expected, equal_nan=True)
    assert np.array_equal(world.z.data_ro[:-1], sums, equal_nan=True)
    world.x.data[1] = 4.0
    world.z.zero()
    world.y.zero()
    loop.compute()
    assert np.array_equal(world.y.data_ro, 2 * world.x.data_ro[:-1])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_sum_of_both_infinities_is_found_without_a_warning_of_numpy() -> None:
    op2.init(backend="sequential", check=True)
    edges = op2.Set(2, "edges")
    x = op2.Dat(edges, [1e308, -1e308], name="x")
    y = op2.Dat(edges, name="y")
    kernel = op2.Kernel("void k(double *y, double *x) { y[0] += 10 * x[0]; }", "k")
    with pytest.raises(CheckError) as caught:
        op2.par_loop(kernel, edges, y(op2.INC), x(op2.READ))
    assert (caught.value.check, caught.value.element) == ("made", 0)


@each_backend
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_an_infinite_imaginary_part_is_found(backend: str, dtype: Any) -> None:
    op2.init(backend=backend, check=True)
    edges = op2.Set(2, "edges")
    x = op2.Dat(edges, np.array([1, 1e300 if dtype == np.complex128 else 1e30], dtype), name="x")
    y = op2.Dat(edges, dtype=dtype, name="y")
    scalar = "double complex" if dtype == np.complex128 else "float complex"
    kernel = op2.Kernel(f"void k({scalar} *y, {scalar} *x) {{ y[0] = x[0] * x[0] * I; }}", "k")
    with pytest.raises(CheckError) as caught:
        op2.par_loop(kernel, edges, y(op2.WRITE), x(op2.READ))
    assert (caught.value.check, caught.value.element) == ("made", 1)


def test_what_is_kept_for_a_loop_is_kept_anew_each_time() -> None:
    op2.init(backend="sequential", check=True)
    world = World()
    world.x.data[3] = 1.0
    y, x = world.y(op2.RW), world.x(op2.READ, world.own)
    loop = op2.ParLoop(
        op2.Kernel("void k(double *y, double *x) { y[0] /= x[0]; }", "k"), world.edges, y, x
    )
    loop.compute()
    world.y.data[...] = 7.0
    loop.compute()
    before = world.y.data_ro.copy()
    world.x.data[3] = 0.0
    with pytest.raises(CheckError):
        loop.compute()
    assert np.array_equal(world.y.data_ro, before)


# Loops that wait


class Steps:
    """Three loops, of which the second divides by zero in element 3, into two kinds of sums."""

    def __init__(self) -> None:
        self.world = World()
        w = self.world
        w.x.data[3], w.y.data[...] = 0.0, 1.0
        nodes = w.nodes**1
        self.mat = op2.Mat(op2.Sparsity((nodes, nodes), [(w.ends, w.ends, None)]), name="mat")
        self.total = op2.Global(1, 7.0, name="total")
        self.last = op2.Dat(w.edges, np.zeros(6), name="last")
        code = (
            "void half(double A[2][2], double *x, double *total) {\n"
            "  total[0] += 1;\n  A[0][0] += 1 / x[0];\n}"
        )
        self.kernels = (
            op2.Kernel("void more(double *y) { y[0] += 1; }", "more"),
            op2.Kernel(code, "half"),
            op2.Kernel("void keep(double *last, double *y) { last[0] = y[0]; }", "keep"),
        )

    def loops(self) -> list[tuple[Any, ...]]:
        w, (more, half, keep) = self.world, self.kernels
        entries, x = self.mat(op2.INC, (w.ends, w.ends)), w.x(op2.READ, w.own)
        return [
            (more, w.edges, w.y(op2.RW)),
            (half, w.edges, entries, x, self.total(op2.INC)),
            (keep, w.edges, self.last(op2.WRITE), w.y(op2.READ)),
        ]

    def assert_stopped(self, caught: Any) -> None:
        error = caught.value
        assert (error.loop, error.check, error.line) == ("half", "made", 3)
        assert (error.argument, error.element) == (0, 3)
        assert self.world.y.data_ro.tolist() == [2.0] * 6
        assert (self.mat.values == 0).all()
        assert self.total.data_ro.tolist() == [7.0]
        assert self.last.data_ro.tolist() == [0.0] * 6


@each_backend
@pytest.mark.parametrize("compares", [False, True])
def test_a_chain_ends_at_the_loop_that_failed(backend: str, compares: bool) -> None:
    op2.init(backend=backend, check=True)
    steps = Steps()

    def run() -> None:
        with op2.chain(compare=compares):
            for loop in steps.loops():
                op2.par_loop(*loop)

    with pytest.raises(CheckError) as caught:
        run()
    steps.assert_stopped(caught)


@each_backend
def test_a_graph_ends_at_the_loop_that_failed(backend: str) -> None:
    op2.init(backend=backend, check=True)
    steps = Steps()
    with op2.graph() as g:
        node = None
        for loop in steps.loops():
            node = g.par_loop(*loop) if node is None else node.then(*loop)
    graph = g.instantiate()
    with pytest.raises(CheckError) as caught:
        graph.submit()
    steps.assert_stopped(caught)
    steps.world.x.data[3] = 1.0
    graph.submit()
    assert steps.world.y.data_ro.tolist() == [3.0] * 6
    assert steps.total.data_ro.tolist() == [13.0]


def test_tables_of_functions_may_be_read_where_nothing_is_proven(backend: str) -> None:
    """There are more steps than the analysis follows."""
    code = """void k(double *y, const int *n) {
  static const double t[1][14][10] = {{{1, 2}}};
  static const double w[14] = {3, 4};
  double a = 0;
  for (int q = 0; q < 14; ++q) {
    double u[10] = {0};
    for (int r = 0; r < 10; ++r) u[r] += t[0][q][r];
    for (int p = 0; p < 10; ++p)
      for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 10; ++j) a += u[i] * w[q] * t[0][q][j];
  }
  y[0] = a + w[n[0]];
}"""
    cells = op2.Set(3, "cells")
    n = op2.Dat(cells, [1, 0, 1], dtype="int32", name="n")
    y = op2.Dat(cells, name="y")
    kernel = op2.Kernel(code, "k")
    with op2.backend(backend):
        op2.par_loop(kernel, cells, y(op2.WRITE), n(op2.READ), check=True)
        assert y.data_ro.tolist() == [274.0, 273.0, 274.0]
        n.data[2] = 14
        with pytest.raises(op2.CheckError, match=r"element 2 .*line 12") as found:
            op2.par_loop(kernel, cells, y(op2.WRITE), n(op2.READ), check=True)
    assert found.value.check == "bounds"
