# SPDX-License-Identifier: BSD-3-Clause
"""Elementary functions of kernels on lanes: errors in ulp, special values, bits."""

from __future__ import annotations

import math
import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import with_program

from pyop2cxx import op2
from pyop2cxx.exceptions import ConfigurationError
from pyop2cxx.op2 import READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

# Functions of templates/lanes with the references of NumPy, and the largest error in ulp. Without
# fused operations a few more roundings count.
OWN = {
    "float64": ("exp", "log", "sin", "cos", "tan", "tanh"),
    "float32": ("exp", "log", "sin", "cos", "tan", "tanh", "erf"),
}
ULP_OF_OWN, ULP_UNFUSED, ULP_OF_LIBRARY = 1.2, 1.35, 4.0
TYPES = {"float64": ("double", ""), "float32": ("float", "f")}
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 20.0, -20.0, 1e-10, 1e30, -1e30)
HAS_LONG_DOUBLE = np.finfo(np.longdouble).nmant > 60


@pytest.fixture
def configured() -> Iterator[Callable[..., None]]:
    """A function that starts anew on a host with some options."""

    def begin(**options: Any) -> None:
        op2.exit()
        op2.init(**{"backend": "sequential", **options})

    yield begin
    op2.exit()


def values_for(dtype: str) -> NDArray[Any]:
    """Special values, the least and the largest numbers, random ones of all sizes."""
    random, about = np.random.default_rng(7), np.finfo(dtype)
    edges = [about.max, -about.max, about.tiny, -about.tiny, about.smallest_subnormal]
    near_one = 1 + random.uniform(-1, 1, 500) * 2.0 ** random.integers(-50, 0, 500)
    sizes = random.uniform(-1, 1, 1000) * 2.0 ** random.integers(-40, 12, 1000)
    quarters = np.pi / 2 * np.arange(-200, 200)
    usual = random.uniform(-5, 5, 3000)
    with np.errstate(over="ignore"):
        return np.concatenate([SPECIAL, edges, near_one, sizes, quarters, usual]).astype(dtype)


def computed(names: tuple[str, ...], x: NDArray[Any], lanes: int) -> NDArray[Any]:
    """Each function of each value: one row a function."""
    scalar, suffix = TYPES[x.dtype.name]
    cells = op2.Set(x.size)
    given, found = op2.Dat(cells, x, x.dtype), op2.Dat(cells ** len(names), dtype=x.dtype)
    body = " ".join(f"y[{i}] = {name}{suffix}(*x);" for i, name in enumerate(names))
    kernel = op2.Kernel(f"void f(const {scalar} *x, {scalar} *y) {{ {body} }}", "f")
    op2.par_loop(kernel, cells, given(READ), found(WRITE), lanes=lanes)
    return found.data_ro.reshape(x.size, -1).T.copy()


def exact(name: str, x: NDArray[Any]) -> NDArray[Any]:
    """The function in more digits than the dtype has."""
    wide = x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)
    with np.errstate(all="ignore"):
        if name == "erf":
            return np.vectorize(math.erf)(wide)
        return getattr(np, name)(wide)


def largest_error(got: NDArray[Any], name: str, x: NDArray[Any]) -> float:
    """In ulp, of the finite values; others must be the same, with their signs."""
    want = exact(name, x)
    with np.errstate(all="ignore"):
        rounded = want.astype(x.dtype)
        inside = np.isfinite(rounded)
        np.testing.assert_array_equal(got[~inside], rounded[~inside], name)
        np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]), name)
        apart = np.abs(got[inside].astype(want.dtype) - want[inside])
        return float((apart / np.spacing(np.abs(rounded[inside]))).max())


def errors_of(dtype: str, lanes: int) -> dict[str, float]:
    x = values_for(dtype)
    if dtype == "float64" and not HAS_LONG_DOUBLE:
        pytest.skip("long double has no more digits than double")
    found = computed(OWN[dtype], x, lanes)
    return {name: largest_error(got, name, x) for name, got in zip(OWN[dtype], found, strict=True)}


@pytest.mark.parametrize("compiler", [with_program("gcc"), with_program("clang")])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("source", ["own", "library"])
def test_errors_are_below_the_stated_bounds(
    source: str, dtype: str, compiler: str, configured: Callable[..., None]
) -> None:
    configured(cc=compiler, lane_functions=source)
    bound = ULP_OF_OWN if source == "own" else ULP_OF_LIBRARY
    for lanes in (2, 8) if source == "own" else (2, 4, 8, 16):
        found = errors_of(dtype, lanes)
        assert max(found.values()) < bound, (lanes, found)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="flags of x86-64")
@pytest.mark.parametrize("dtype", TYPES)
def test_own_functions_need_no_fused_operations(
    dtype: str, configured: Callable[..., None]
) -> None:
    configured(lane_functions="own", cflags="-mno-fma -mno-avx512f")
    found = errors_of(dtype, 4)
    assert max(found.values()) < ULP_UNFUSED, found


@pytest.mark.parametrize("dtype", TYPES)
def test_own_functions_have_the_same_bits_in_vectors_of_every_width(
    dtype: str, configured: Callable[..., None]
) -> None:
    configured(lane_functions="own")
    x = values_for(dtype)
    first, *others = (computed(OWN[dtype], x, lanes) for lanes in (2, 4, 8, 16))
    for other in others:
        np.testing.assert_array_equal(first, other)
    configured(lane_functions="own", deterministic=True)  # forbids contraction
    np.testing.assert_array_equal(first, computed(OWN[dtype], x, 8))


@pytest.mark.parametrize("source", ["own", "library"])
def test_a_value_has_the_same_bits_in_every_lane(
    source: str, configured: Callable[..., None]
) -> None:
    """Neighbours, and the place in a vector or in the last vector, have no influence."""
    configured(lane_functions=source)
    x = values_for("float64")
    names = (*OWN["float64"], "pow(*x, 1.7) + exp2", "erf", "cbrt")
    whole = computed(names, x, 8)
    for first in (1, 3, 6):
        np.testing.assert_array_equal(computed(names, x[first:], 8), whole[:, first:])


def test_scalar_functions_have_the_bits_of_loops_without_lanes(
    configured: Callable[..., None],
) -> None:
    configured(lane_functions="scalar", deterministic=True)
    x = values_for("float64")
    names = (*OWN["float64"], "erf", "cbrt")
    np.testing.assert_array_equal(computed(names, x, 8), computed(names, x, 0))


def powers(x: NDArray[Any], exponents: tuple[str, ...], lanes: int) -> NDArray[Any]:
    scalar, suffix = TYPES[x.dtype.name]
    cells = op2.Set(x.size)
    given, found = op2.Dat(cells, x, x.dtype), op2.Dat(cells ** len(exponents), dtype=x.dtype)
    body = " ".join(f"y[{i}] = pow{suffix}(*x, {by});" for i, by in enumerate(exponents))
    kernel = op2.Kernel(f"void f(const {scalar} *x, {scalar} *y) {{ {body} }}", "f")
    op2.par_loop(kernel, cells, given(READ), found(WRITE), lanes=lanes)
    return found.data_ro.reshape(x.size, -1).T.copy()


@pytest.mark.skipif(not HAS_LONG_DOUBLE, reason="long double has no more digits than double")
@pytest.mark.parametrize("dtype", TYPES)
def test_powers_with_few_factors_are_products(dtype: str, configured: Callable[..., None]) -> None:
    """With a literal 2, 3 or 4; nearer to the power than the functions of vectors promise."""
    configured()
    x = values_for(dtype)
    wide = x.astype(np.float64 if dtype == "float32" else np.longdouble)
    found = powers(x, ("2", "3.0", "4.0"), 4)
    for got, (exponent, bound) in zip(found, ((2, 0.51), (3, 1.51), (4, 2.51)), strict=True):
        with np.errstate(all="ignore"):
            want = wide**exponent
            rounded = want.astype(x.dtype)
        normal = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(dtype).tiny)
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(rounded))
        np.testing.assert_array_equal(np.signbit(got[x == 0]), np.signbit(rounded[x == 0]))
        apart = np.abs(got[normal].astype(wide.dtype) - want[normal])
        assert (apart / np.spacing(np.abs(rounded[normal]))).max() < bound
    configured(lane_functions="scalar", deterministic=True)
    exponents = ("2", "3.0", "4.0", "2.5", "5")
    np.testing.assert_array_equal(powers(np.abs(x), exponents, 4), powers(np.abs(x), exponents, 0))


def test_other_exponents_are_the_library_s(configured: Callable[..., None]) -> None:
    """No product for a variable, another number, or a function of the kernel called pow."""
    configured()
    cells = op2.Set(9)
    x = op2.Dat(cells, np.arange(9.0))
    for text in (
        "void f(double *x) { *x = pow(*x, 30.0); }",
        "void f(double *x) { *x = pow(*x, 2.5); }",
        "void f(double *x) { *x = pow(3.0, *x); }",
        "static double pow(double a, double b) { return a + b; } "
        "void f(double *x) { *x = pow(*x, 3.0); }",
    ):
        loop = op2.ParLoop(op2.Kernel(text, "f"), cells, x(RW), lanes=4)
        assert "op2_power" not in str(loop.generate()), text


def test_an_option_names_the_functions(configured: Callable[..., None]) -> None:
    with pytest.raises(ConfigurationError, match="no value 'fast'; there are: 'library', 'own'"):
        configured(lane_functions="fast")


def test_explain_names_the_source_of_each_function(configured: Callable[..., None]) -> None:
    text = "void f(double *x) { *x = tanh(*x) + erf(*x) + sqrt(*x) + exp(*x); }"

    def sources(lanes: int, **options: Any) -> dict[str, str]:
        configured(**options)
        cells = op2.Set(5)
        loop = op2.ParLoop(op2.Kernel(text, "f"), cells, op2.Dat(cells)(RW), lanes=lanes)
        found = loop.explain()
        assert all(name in str(found) for name in found.functions)
        return found.functions

    own, scalar = "vectors, by a text of this package", "scalar calls"
    assert sources(4, lane_functions="own") == {"erf": scalar, "exp": own, "tanh": own}
    assert set(sources(4, lane_functions="scalar").values()) == {scalar}
    assert set(sources(0).values()) == {scalar}
    if platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc":
        assert sources(2)["exp"] == "vectors, by libmvec (_ZGVbN2v_exp)"
    assert sources(16)["exp"] == own  # no library has vectors of so many bytes


@pytest.mark.parametrize("source", ["own", "library"])
def test_functions_on_every_backend(source: str, backend: str) -> None:
    before = op2.configuration["lane_functions"]
    lanes = 0 if backend == "cuda" else 4
    try:
        op2.configuration["lane_functions"] = source
        x = np.random.default_rng(2).uniform(-3, 3, 333)
        (got,) = computed(("tanh(*x) + pow(2.0, *x) + sin",), x, lanes)
    finally:
        op2.configuration["lane_functions"] = before
    np.testing.assert_allclose(got, np.tanh(x) + 2.0**x + np.sin(x), rtol=1e-14, atol=1e-15)


@pytest.mark.usefixtures("host")
def test_values_side_by_side_are_moved_as_vectors() -> None:
    """Of direct Dats with one value an element; the last vector is not full."""
    for n in (1, 7, 8, 9, 31):
        cells = op2.Set(n)
        given = np.arange(1.0, n + 1)
        x, y, z = op2.Dat(cells, given), op2.Dat(cells), op2.Dat(cells, given.copy())
        text = "void f(const double *x, double *y, double *z) { *y = log(*x); *z += *x; }"
        arguments = (x(READ), y(WRITE), z(RW))
        loop = op2.ParLoop(op2.Kernel(text, "f"), cells, *arguments, lanes=8)
        code = str(loop.generate())
        assert code.count(" = op2_read_float64x8(") == 2
        assert code.count("\n    op2_write_float64x8(") == 2
        loop.compute()
        np.testing.assert_allclose(y.data_ro, np.log(given), rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(z.data_ro, 2 * given)
