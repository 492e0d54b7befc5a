# SPDX-License-Identifier: BSD-3-Clause
"""Structures in kernels: read, printed, computed with on every backend and on lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from programs import is_gpu

from pyop2cxx import _core, op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.exceptions import ToolchainError
from pyop2cxx.kernel.parser.parse import parse_c
from pyop2cxx.op2 import READ, RW
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.kernel.parser.wire import Expr

BACKENDS = [backend.name for backend in op2.backends() if backend.available]


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


# --- reading ---


def shown(value: Expr) -> object:
    """Lists as lists, literals and names as spelled."""
    kind, _, text, _, operands = value
    return [shown(item) for item in operands] if kind == "list" else text


def initialiser(declared: str, given: str) -> object:
    head = "struct V { double x, y; };\nstruct L { struct V a, b[2]; int n; };\n"
    code = f"{head}void k(double *x) {{ struct V v; {declared} = {given}; }}"
    parsed = parse_c(code, "k")
    assert parsed.opaque_reason == ""
    return shown(parsed.functions[0].body[1][3][0][2])


@pytest.mark.parametrize(
    ("declared", "given", "expected"),
    [
        ("struct V w", "{1, 2}", ["1", "2"]),
        ("struct V w", "{.y = 2}", ["0", "2"]),
        ("struct V w", "{.y = 2, .x = 1}", ["1", "2"]),
        ("struct V w", "{0}", ["0"]),
        ("struct V w", "v", "v"),
        ("struct V w[2]", "{1, 2, 3}", [["1", "2"], ["3"]]),
        ("struct V w[]", "{v, {3}, 4, 5}", ["v", ["3"], ["4", "5"]]),
        ("struct V w[3]", "{[2] = v, [0].y = 1}", [["0", "1"], ["0"], "v"]),
        ("struct L w", "{v, {v, 1, 2}, 3}", ["v", ["v", ["1", "2"]], "3"]),
        ("struct L w", "{1, 2, 3, 4, 5, 6, 7}", [["1", "2"], [["3", "4"], ["5", "6"]], "7"]),
        ("struct L w", "{.n = 2}", [["0"], [["0"]], "2"]),
        ("struct L w", "{.b[1].x = 2}", [["0"], [["0"], ["2"]]]),
        ("int t[4]", "{1, [2] = 3}", ["1", "0", "3"]),
        ("int t[]", "{[1] = 1}", ["0", "1"]),
        ("double t[2][2]", "{1, 2, 3}", ["1", "2", "3"]),
    ],
)
def test_initialisers_have_a_list_for_each_part(
    declared: str, given: str, expected: object
) -> None:
    assert initialiser(declared, given) == expected


@pytest.mark.parametrize(
    ("code", "name", "members"),
    [
        ("struct V { double x; };", "V", ["x"]),
        ("typedef struct { double x, *p; } V;", "V", ["x", "p"]),
        ("typedef struct W { double x[3]; } V;", "W", ["x"]),
        ("struct A { struct V { int n; } v; };\ntypedef struct V V;", "V", ["n"]),
    ],
)
def test_definitions(code: str, name: str, members: list[str]) -> None:
    variable = "V v;" if "typedef" in code else "struct V v;"
    parsed = parse_c(f"{code}\nvoid k(double *x) {{ {variable} }}", "k")
    assert parsed.opaque_reason == ""
    assert [(found[0], [m[0] for m in found[1]]) for found in parsed.structures] == [
        (name, members)
    ]


def test_names_are_told_apart_by_their_blocks() -> None:
    code = """void k(double *x) {
      struct S { int i; } s = {1};
      { struct S { double d; } s = {2}; x[0] = s.d; }
      x[0] += s.i;
    }"""
    parsed = parse_c(code, "k")
    assert [(name, members[0][0]) for name, members, _ in parsed.structures] == [
        ("S", "i"),
        ("S_2", "d"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("union { int a; float b; } u;", "line 2: a union"),
        ("struct { int a : 2; } s;", "line 2: a bit-field"),
        ("struct { int n; double d[]; } s;", "line 2: the extent of 'd' is not given"),
        ("struct { void (*f)(void); } s;", "line 2: a function pointer"),
        ("struct { struct { int n; }; } s;", "line 2: a member without a name"),
        ("struct T t;", "line 2: 'struct T' is not defined before it is used"),
        ("struct T { struct T t; } t;", "line 2: 'struct T' contains itself"),
        ("struct T { int n; } t; struct T { int m; } u;", "line 2: 'struct T' is defined twice"),
        ("struct T { int n; } t; t.m = 1;", "line 2: 't.m': there is no member 'm'"),
        ("x.n = 1;", "line 2: 'x.n' is not a member of a known struct"),
        ("struct T { int n; } t = {1, 2};", "line 2: an initialiser has more than 1 items"),
        ("struct T { int n; } t = {.m = 2};", "line 2: 'm' designates no part of it"),
        ("for (;; x = (double[]){1, 2});", "line 2: '(double[]){1, 2}' is made in place where"),
        ("struct __attribute__((packed)) T { int n; } t;", "line 2: a struct with attributes"),
    ],
)
def test_what_is_outside_is_told_with_its_line(text: str, reason: str) -> None:
    parsed = parse_c(f"void k(double *x) {{\n  {text}\n}}", "k")
    assert parsed.opaque_reason.startswith(reason)


# --- facts ---


def test_a_copy_of_values_is_no_argument() -> None:
    code = """struct V { double x; };
    void k(double *a, const double *b) {
      struct V v = {b[0]}, w = v;
      w.x += 1;
      a[0] += w.x;
    }"""
    facts = op2.Kernel(code, "k").facts
    assert facts is not None
    assert not facts.parameters[1].is_written


def test_a_pointer_inside_of_a_struct_is_followed() -> None:
    code = """struct View { double *p; int n; };
    static void fill(struct View v) { for (int i = 0; i < v.n; ++i) v.p[i] = 1; }
    void k(double *a, double *b) { struct View v = {.n = 2}; v.p = b; fill(v); a[0] = v.p[1]; }"""
    facts = op2.Kernel(code, "k").facts
    assert facts is not None
    assert facts.parameters[1].is_written
    assert facts.parameters[1].is_read


# --- computing ---

HEAD = """
#include <complex.h>
typedef struct { double x, y; } V;
struct Box { V low, high; int n; };
typedef struct Many { double a[3]; V v[2]; float f; double complex z; } Many;
struct View { const double *p; int n; };
static const V corners[2] = {{0.5, 1.5}, {.y = 2.5}};
static V add(V a, V b) { V c = {a.x + b.x, a.y + b.y}; return c; }
static V scaled(const V *v, double s) { return (V){s * v->x, s * v->y}; }
static double dot(V a, V b) { return a.x * b.x + a.y * b.y; }
static void shift(V *v, double by) { v->x += by; (*v).y -= by; }
static double sum(const V *vs, int n) {
  double s = 0;
  for (const V *v = vs; v < vs + n; ++v) s += v->x + 2 * v->y;
  return s;
}
static struct Box box(V a, V b) {
  struct Box r;
  r.low = a; r.high = b; r.n = a.x < b.x ? 1 : 2;
  return r;
}
static double over(struct View w) {
  double s = 0;
  for (int i = 0; i < w.n; ++i) s += w.p[i];
  return s;
}
static Many many(double x) {
  Many m = {{x, 2, [2] = 3}, {1, 2, {3, x}}, .f = x, .z = x + I};
  return m;
}
static double changed(Many m) {
  m.a[0] += 1; m.v[1].x = 7;
  return m.a[0] + m.v[1].x + m.v[0].y + m.f + creal(m.z) - cimag(m.z);
}
"""


def add(v: tuple[float, float], w: tuple[float, float]) -> tuple[float, float]:
    return v[0] + w[0], v[1] + w[1]


def of_choice(b: float, c: float) -> float:
    x = b if b > c - 0.5 else 1
    return (10 * (0.5 + c) + 1.5) if b > 3 else 10 * x + 9


def of_data(b: float, c: float) -> float:
    v = [[1, 2], [3, 4], [5, 6], [7, b]]
    i = int(b) & 3
    v[i][0] += 1
    v[i] = list(add((v[i][0], v[i][1]), (v[3 - i][0], v[3 - i][1])))
    return v[0][0] + 2 * v[1][1] + 3 * v[2][0] + 4 * v[3][1] + (1.5, 2.5)[i & 1]


def of_loop(b: float, c: float) -> float:
    return 6 + 4 * b + sum(i <= c for i in range(4)) + 32


CASES = {
    "members": (
        "V v = {b[0], b[1]}; v.x += 1; V *p = &v; p->y *= 2; a[0] += v.x + v.y;",
        lambda b, c: b + 1 + 2 * c,
    ),
    "helpers": (
        "V v = {b[0], b[1]}, w; w = add(v, scaled(&v, 2)); a[0] += dot(w, v) + add(w, v).x;"
        "shift(&w, b[0]); a[0] += w.x - w.y;",
        lambda b, c: 3 * b * b + 3 * c * c + 4 * b + (4 * b) - (3 * c - b),
    ),
    "arrays": (
        "V v[3] = {{1, b[0]}, {b[1]}}; v[2] = v[0]; v[1].x -= v[2].y;"
        "a[0] += sum(v, 3) + sum(corners, 2) + corners[1].y;",
        lambda b, c: 2 + 4 * b + (c - b) + (0.5 + 3 + 5) + 2.5,
    ),
    "nested": (
        "struct Box r = box((V){b[0], 1}, corners[0]); r.low.x += 1; V *q = &r.high;"
        "q->x += r.n; a[0] += r.low.x * r.high.x + r.n + (*q).y;",
        lambda b, c: (b + 1) * (0.5 + (n := 1 if b < 0.5 else 2)) + n + 1.5,
    ),
    "choices": (
        "V v = {b[0], b[1]}, w = {1, 2}; V m = b[0] > b[1] - 0.5 ? v : w;"
        "if (b[0] > 3) { m = corners[0]; m.x += b[1]; } else m.y = 9; a[0] += m.x * 10 + m.y;",
        of_choice,
    ),
    "choices of what has no name": (
        "V v = b[0] > 3 ? (V){7, b[1]} : (V){.y = 2}, w = {1, 1}; w = v.x > 0 ? v : (V){5, 6};"
        "int n = 0; V u = (n++, (V){n, 2}); a[0] += (b[0] > 3 ? w : (V){6, 6}).x + w.y + u.x;"
        "V *p = &u; const V *q = &corners[1];"
        "w = b[0] > 3 ? b[1] > 3 ? v : *p : *q; a[0] += w.x;",
        lambda b, c: (7 + c + 1 + (7 if c > 3 else 1)) if b > 3 else 6 + 6 + 1 + 0,
    ),
    "large": (
        "Many m = many(b[0]), n = m; n.a[1] += m.v[1].y;"
        "a[0] += changed(n) + n.a[0] + n.a[1] + creal(n.z * n.z) + m.v[1].x;",
        lambda b, c: (b + 1 + 7 + 2 + np.float32(b) + b - 1) + b + 2 + b + (b * b - 1) + 3,
    ),
    "pointers": (
        "struct View w = {b, 2}; w.n -= 1; a[0] += over(w) + w.p[1]; w.p = a; a[0] += w.p[0];",
        lambda b, c: 2 * (b + c),
    ),
    "in place": (
        "V v = {b[0], b[1]}; v = (V){v.y, v.x}; V t[2] = {v, add(v, v)}; t[1] = t[0];"
        "a[0] += 10 * v.x + v.y + t[1].y;",
        lambda b, c: 10 * c + 2 * b,
    ),
    "loops": (
        "V s = {0}; for (int i = 0; i < 4; ++i) { V d = {i, b[0]}; s = add(s, d);"
        "if (d.x <= b[1]) s.y += 1; } a[0] += s.x + s.y + sizeof(V) + sizeof s;",
        of_loop,
    ),
    "arrays in lists": (
        "struct Held { Many of; int n; }; Many m = many(b[0]), t[2] = {m, {.f = 2}};"
        "struct Held h = {m, 3}; t[0].a[1] += 1; m.a[0] = m.v[1].y = 9;"
        "a[0] += t[0].a[1] + t[1].a[2] + h.of.a[0] + h.of.v[1].y + h.n;",
        lambda b, c: 2 * b + 6,
    ),
    "subscripts": (
        "V v[4] = {{1, 2}, {3, 4}, {5, 6}, {7, b[0]}}; int i = (int)b[0] & 3; v[i].x += 1;"
        "v[i] = add(v[i], v[3 - i]);"
        "a[0] += v[0].x + 2 * v[1].y + 3 * v[2].x + 4 * v[3].y + corners[i & 1].y;",
        of_data,
    ),
    "zeros": (
        "V v = {b[0], 1}, *p = &v; memset(p, 0, sizeof *p);"
        "Many m = many(3); memset(&m, 0, sizeof m); V t[3] = {{1, 2}, {3, 4}, {5, 6}};"
        "memset(&t[1], 0, sizeof(V)); memset((void *)t, 0, sizeof t[0]);"
        "struct Box r = box(t[2], t[2]); memset(&r.low, 0, sizeof r.low);"
        "a[0] += v.x + m.a[2] + creal(m.z) + sum(t, 3) + r.low.x + r.high.y + r.n;",
        lambda b, c: 5 + 12 + 6 + 2,
    ),
    "many zeros": (
        "struct Large { double x[50]; int n; } v[2] = {{{1, b[0]}, 3}, {{2}}}; int n = 1;"
        "a[0] += v[1].x[0] + v[0].n; memset(v + 1, 0, n * sizeof(struct Large)); a[0] += v[1].x[0];"
        "memset(v, 0, sizeof v); a[0] += v[0].x[1] + v[0].n;",
        lambda b, c: 2 + 3,
    ),
    "bytes": (
        "struct Box r = box(corners[0], corners[1]); memset(&r, 255, sizeof r); a[0] += r.n;",
        lambda b, c: -1,
    ),
    "copies": (
        "V v[3] = {{b[0], b[1]}, {1, 2}, {3, 4}}, w[3]; memcpy(w, v, sizeof v);"
        "memmove(&v[1], v, 2 * sizeof *v); memcpy(v, &w[2], sizeof(V));"
        "a[0] += sum(w, 3) + 10 * v[0].x + v[1].y + 2 * v[2].x;",
        lambda b, c: b + 2 * c + 5 + 11 + 30 + c + 2,
    ),
    "places that depend on what is stored there": (
        "struct At { int i; double x; } w[2] = {{1, b[0]}, {1, b[1]}}, v = {0, 7}, u = {0, 8};"
        "w[w[1].i] = v; a[0] += w[0].x + 10 * w[1].x; w[0] = w[0].i ? v : u; a[0] += w[0].x;"
        "struct At t[2] = {{1, 3}, {0, 4}}, s[2] = {{0, 5}, {0, 6}}, o = {1, 9};"
        "t[0] = t[t[0].i]; s[1] = s[s[0].i] = o; a[0] += 100 * t[0].x + 1000 * s[1].x;"
        "const int *q = &w[1].i; w[1].i = 1; w[*q] = v; a[0] += w[1].x;",
        lambda b, c: b + 70 + 7 + 400 + 9000 + 7,
    ),
    "pointers that say where they lead": (
        "struct At { int i; double x; } w[3] = {{2, b[0]}, {0, 4}, {1, b[1]}}, *p = w;"
        "p = &w[p->i]; a[0] += p->x; p = p->i ? &w[1] : p; a[0] += p->x;"
        "p = w; p += p->i; a[0] += p->x; int n = 1; p = w; p += n++; a[0] += 100 * p->x + n;"
        "int is_far = n > 5 && (p = w); a[0] += p->x + is_far;"
        "(p = w)->x += 1; (++p)->x = 3; double *q = &(p = w)->x; a[0] += *q + w[1].x;",
        lambda b, c: c + 4 + c + 402 + 4 + b + 1 + 3,
    ),
    "bytes that say where they go": (
        "struct At { int i; double x; } w[2] = {{1, 2}, {0, 6}}, v = {1, 9};"
        "memcpy(&v, &w[v.i], sizeof v); w[1].i = 1; memset(&w[w[1].i], 0, sizeof v);"
        "a[0] += v.x + 10 * w[0].x + w[1].x;",
        lambda b, c: 26,
    ),
    "choices of what is const and what is not": (
        "struct T { double t[2][2]; }; const struct T v = {{{1, b[0]}, {2}}};"
        "struct T w = {{{3, b[1]}}}; a[0] += (b[0] > 3 ? v : w).t[0][1];"
        "w = b[0] > 3 ? v : b[1] > 3 ? w : v; a[0] += w.t[0][0];"
        "const struct T c = v, d[1] = {v}; a[0] += (b[0] > 3 ? c : d[0]).t[1][0];",
        lambda b, c: 2 + (b + 1 if b > 3 else c + (3 if c > 3 else 1)),
    ),
    "choices of what depends on data and what does not": (
        "struct T { double t[2]; } v = {{b[0], 2}}, w = {{1, 5}};"
        "const struct T u = b[0] > 3 ? v : w; a[0] += (b[0] > 3 ? v : w).t[0] + u.t[1];",
        lambda b, c: b + 2 if b > 3 else 6,
    ),
    "subscripts with effects": (
        "struct P { double x, y; } w[2] = {{1, 2}, {3, 4}}; int i = 0, n = 0;"
        "struct P v = w[i++], t[1] = {w[n++]}, *p = w; a[0] += v.y + i + t[0].y + n;"
        "a[0] += 10 * p++->x + 100 * p->x;"
        "a[0] += 1000 * (b[0] > 3 ? (struct P){i++, 2} : b[1] > 3 ? w[i++] : w[0]).x;",
        lambda b, c: 6 + 10 + 300 + (1000 if b > 3 else 3000 if c > 3 else 1000),
    ),
    "words": (
        "struct float4 { double kernel, x; } new = {b[0], 2}; a[0] += new.kernel * new.x;",
        lambda b, c: 2 * b,
    ),
}


CALLING = (
    "many zeros",
    "bytes",
    "copies",
    "bytes that say where they go",
)  # functions of the library, which know no lanes


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lanes", [0, 4])
def test_on_every_backend(backend: str, lanes: int, case: str) -> None:
    text, expected = CASES[case]
    if lanes and is_gpu(backend):
        pytest.skip("a GPU spreads elements over lanes itself")
    if lanes and case in CALLING:
        pytest.skip("the kernel calls a function of the C library that knows no lanes")
    values = np.arange(18.0).reshape(9, 2) * 0.7 % 5
    with op2.backend(backend):
        cells = op2.Set(9)
        a, b = op2.Dat(cells), op2.Dat(cells**2, values)
        code = f"{HEAD}void k(double *a, const double *b) {{ {text} }}"
        op2.par_loop(op2.Kernel(code, "k"), cells, a(RW), b(READ), lanes=lanes)
        np.testing.assert_allclose(a.data_ro, [expected(*row) for row in values], rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_no_false_alarms(backend: str, case: str) -> None:
    text, expected = CASES[case]
    values = np.arange(18.0).reshape(9, 2) * 0.7 % 5
    with op2.backend(backend):
        cells = op2.Set(9)
        a, b = op2.Dat(cells), op2.Dat(cells**2, values)
        code = f"{HEAD}void k(double *a, const double *b) {{ {text} }}"
        op2.par_loop(op2.Kernel(code, "k"), cells, a(RW), b(READ), check=True)
        np.testing.assert_allclose(a.data_ro, [expected(*row) for row in values], rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_every_kernel_is_cuda(case: str) -> None:
    """Compiled without a GPU."""
    try:
        compiler = nvrtc.compiler("sm_90")
    except ToolchainError:
        pytest.skip("NVRTC is not installed")
    service = _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 24,
        compile_timeout_seconds=60.0,
    )
    cells = op2.Set(9)
    a, b = op2.Dat(cells), op2.Dat(cells**2)
    kernel = op2.Kernel(f"{HEAD}void k(double *a, const double *b) {{ {CASES[case][0]} }}", "k")
    with op2.backend("cuda"):
        text = op2.ParLoop(kernel, cells, a(RW), b(READ)).generate()
        flags = runtime.engine.backend("cuda").toolchain.flags
    service.compile(compiler, str(text), flags, "")


@pytest.mark.parametrize("strategy", ["owner", "scratch", "atomic", "block", "colour"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_with_every_strategy(backend: str, strategy: str) -> None:
    edges, nodes = op2.Set(30), op2.Set(12)
    values = np.random.default_rng(5).integers(0, 12, (30, 2))
    text = """
    struct End { double value, weight; };
    static struct End end(const double *x, int i) { return (struct End){x[i], i + 1}; }
    static void add(double *y, const struct End *ends) {
      for (int i = 0; i < 2; ++i) y[i] += ends[i].weight * ends[1 - i].value;
    }
    void k(double *y, const double *x) {
      struct End ends[2];
      for (int i = 0; i < 2; ++i) ends[i] = end(x, i);
      add(y, ends);
    }"""
    x, y = op2.Dat(nodes, np.arange(12.0)), op2.Dat(nodes)
    path = op2.Map(edges, nodes, 2, values)
    with op2.backend(backend):
        op2.par_loop(
            op2.Kernel(text, "k"), edges, y(op2.INC, path), x(READ, path), strategy=strategy
        )
    wanted = np.zeros(12)
    np.add.at(wanted, values[:, 0], values[:, 1])
    np.add.at(wanted, values[:, 1], 2 * values[:, 0])
    np.testing.assert_allclose(y.data_ro, wanted, rtol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
def test_choices_of_a_const_or_a_helper(backend: str) -> None:
    """The Const has no type when structs are split."""
    code = """struct V { double x, y; };
static double twice(double a) { return 2 * a; }
static double put(double *a, double b) { a[0] += b; return b; }
void k(double *a, const double *b) {
  struct V v = {b[0] > 1 ? limit : twice(b[0]), put(a, 3) + (b[0] > 1 ? twice(b[0]) : limit)};
  struct V w = limit > 2 ? v : (struct V){limit, 1};
  a[0] += v.x + 10 * v.y + 100 * (b[0] > 1 ? limit * w.y : w.x);
}"""
    limit = op2.Const(1, 5.0, "limit")
    with op2.backend(backend):
        cells = op2.Set(3)
        a, b = op2.Dat(cells), op2.Dat(cells, [0.5, 1.5, 4.0])
        kernel = op2.Kernel(code, "k")
        assert kernel.opaque_reason == ""
        op2.par_loop(kernel, cells, a(RW), b(READ))
    limit.remove_from_namespace()
    x, y = np.array([1.0, 5.0, 5.0]), np.array([8.0, 6.0, 11.0])
    last = 100 * np.array([x[0], 5 * y[1], 5 * y[2]])
    np.testing.assert_allclose(a.data_ro, 3 + x + 10 * y + last, rtol=1e-12)


# --- what stays opaque ---

WHOLE = {
    "it calls 'memcmp' on a struct": "V v = {1}, w = v; a[0] = 1 + memcmp(&w, &v, sizeof v);",
    "it calls 'memcpy' on a struct and something else": (
        "V v; a[0] = 1; memcpy(&v, a, sizeof v); a[0] = v.x;"
    ),
    "it calls 'memset' on a part of a struct": "V v = {2}; a[0] = 1; memset(&v, 0, 4);",
    "a pointer is cast to another type": "V *v = (V *)a; v->x = 1;",
    "a 'struct List' points to its own kind": (
        "struct List { double x; struct List *next; } end = {1, 0}; a[0] = end.x;"
    ),
    "a struct of more than 64 values is copied": (
        "struct Large { double x[65]; } v = {{1}}, w = v; a[0] = w.x[0];"
    ),
    "the size that 'memcpy' gets depends on a struct": (
        "struct At { int i; double x; } w[2] = {{2, 1}, {1, 0}}, t[2] = {{0, 0}, {0, 1}};"
        "memcpy(w, t, w[0].i * sizeof(struct At)); a[0] = w[1].x;"
    ),
    "a choice decides where a struct is stored that it depends on": (
        "struct At { int i; double x; } w[3] = {{1, 2}, {1, 4}, {0, 1}}, *p = w; int n = 1;"
        "*(n > 0 ? &w[w[1].i] : p) = w[2]; a[0] = w[1].x;"
    ),
}


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("why", WHOLE)
def test_what_is_used_as_a_whole_is_left_to_the_compiler(why: str) -> None:
    cells = op2.Set(3)
    a = op2.Dat(cells)
    code = f"typedef struct {{ double x; }} V;\nvoid k(double *a) {{\n  {WHOLE[why]}\n}}"
    kernel = op2.Kernel(code, "k")
    assert kernel.opaque_reason == f"line 3: {why}"
    op2.par_loop(kernel, cells, a(RW))
    assert a.data_ro.tolist() == [1.0] * 3


def test_a_kernel_that_takes_a_struct_is_left_to_the_compiler() -> None:
    kernel = op2.Kernel("struct V { double x; };\nvoid k(struct V *v) { v->x = 1; }", "k")
    assert kernel.opaque_reason == "line 2: the kernel takes a struct"
    assert kernel.parameters == []


# --- what is said of them ---


@pytest.mark.parametrize("backend", BACKENDS)
def test_subscripts_of_members_are_watched(backend: str) -> None:
    cells = op2.Set(3)
    a, b = op2.Dat(cells), op2.Dat(cells, [0.0, 1.0, 2.0])
    code = """struct V { double x, y[2]; };
void k(double *a, const double *b) {
  struct V v[2] = {{1}, {2}};
  a[0] = v[(int)b[0]].x;
}"""
    with op2.backend(backend), pytest.raises(op2.CheckError, match="kernel line 4") as caught:
        op2.par_loop(op2.Kernel(code, "k"), cells, a(op2.WRITE), b(READ), check=True)
    assert (caught.value.element, caught.value.check) == (2, "bounds")


def test_a_loop_in_a_loop_of_structs() -> None:
    cells = op2.Set(1)
    a = op2.Dat(cells)
    code = """struct At { int i, j; };
void k(double *a) {
  for (struct At p = {0, 1}; p.i < 3; ++p.i) a[0] += p.j;
  for (struct At p = {1, 5}; p.i < 3; ++p.i) {
    for (struct At q = {p.i, 0}; q.j < 2; ++q.j) { if (q.i == 2) continue; a[0] += 10 * p.j; }
  }
}"""
    kernel = op2.Kernel(code, "k")
    assert kernel.opaque_reason == ""
    op2.par_loop(kernel, cells, a(RW))
    assert a.data_ro.tolist() == [103.0]


def test_structs_that_would_become_too_long_stay_whole() -> None:
    """A choice inside the condition of a choice is written once for each member."""
    condition = "x[0] > 0"
    for _ in range(9):
        condition = f"(({condition}) ? v : w).m[0] > (({condition}) ? w : v).m[1]"
    text = f"""
struct V {{ double m[4]; int n, k; }};
void k(double *x) {{
  struct V v = {{{{1, 2}}}}, w = {{{{3, 4}}}};
  struct V u = ({condition}) ? v : w;
  x[0] = u.m[0] - 2;
}}"""
    kernel = op2.Kernel(text, "k")
    assert "part by part its structs are more than 30000 expressions" in kernel.opaque_reason
    x = op2.Dat(op2.Set(1), [1.0])
    with op2.backend("sequential"):
        op2.par_loop(kernel, x.dataset.set, x(op2.RW))
    assert x.data_ro[0] == 1.0
