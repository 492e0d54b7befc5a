# SPDX-License-Identifier: BSD-3-Clause
"""Dense algebra on all elements, ``op2.dense``, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from on_ranks import outputs

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DatTypeError,
    MapValueError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N = 13
DTYPES = ("float64", "float32", "complex128", "complex64")
sizes = st.integers(1, 6)
flags = st.booleans()
seeds = st.integers(0, 2**32 - 1)
per_backend = settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    values = rng.standard_normal((N, *shape))
    if dtype.startswith("complex"):
        values = values + 1j * rng.standard_normal((N, *shape))
    return values.astype(dtype)


def regular(rng: np.random.Generator, n: int, dtype: str) -> NDArray[Any]:
    """Matrices with small conditions that need pivots."""
    orthogonal = np.linalg.qr(numbers(rng, (n, n), dtype))[0]
    return (orthogonal * rng.uniform(0.5, 2, (N, 1, n))).astype(dtype)


def dat(cells: op2.Set, values: NDArray[Any], name: str | None = None) -> op2.Dat:
    return op2.Dat(cells ** values.shape[1:], values.copy(), values.dtype, name)


def close(got: op2.Dat, expected: NDArray[Any]) -> None:
    bound = 1e-10 if got.dtype.itemsize > 4 and got.dtype != "complex64" else 1e-3
    found = got.data_ro.reshape(expected.shape)
    assert np.abs(found - expected).max() <= bound * max(1.0, np.abs(expected).max())


def singular() -> tuple[op2.Dat, op2.Dat, NDArray[Any]]:
    """Matrices of which element 7 has two equal rows, loads, and the right solutions."""
    rng = np.random.default_rng(3)
    cells = op2.Set(N, "cells")
    a, b = regular(rng, 4, "float64"), numbers(rng, (4,), "float64")
    a[7, 2] = a[7, 1]
    right = np.delete(np.arange(N), 7)
    expected = np.full((N, 4), np.nan)
    expected[right] = np.linalg.solve(a[right], b[right][..., None])[..., 0]
    return dat(cells, a, "A"), dat(cells, b, "b"), expected


@per_backend
@given(sizes, sizes, sizes, flags, flags, st.sampled_from([(1, 0), (2, 0), (-1, 0.5)]), seeds)
def test_products(
    backend: str,
    m: int,
    n: int,
    k: int,
    turn_a: bool,
    turn_b: bool,
    factors: tuple[float, float],
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(DTYPES))
    cells = op2.Set(N)
    a, b = numbers(rng, (m, k), dtype), numbers(rng, (k, n), dtype)
    c = numbers(rng, (m, n), dtype)
    A = dat(cells, a.swapaxes(1, 2) if turn_a else a)
    B = dat(cells, b.swapaxes(1, 2) if turn_b else b)
    C = dat(cells, c)
    if factors[1] == 0:
        C.data[:] = np.nan  # not read
    alpha, beta = factors
    found = op2.dense.multiply(A, B, C, alpha, beta, transpose_a=turn_a, transpose_b=turn_b)
    assert found is C
    close(C, alpha * (a @ b) + (beta * c if beta else 0))
    x = dat(cells, b[:, :, 0])
    close(op2.dense.multiply(A, x, transpose_a=turn_a), (a @ b)[:, :, 0])


@per_backend
@given(sizes, sizes, seeds)
def test_systems(backend: str, n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(DTYPES))
    cells = op2.Set(N)
    a, b = regular(rng, n, dtype), numbers(rng, (n, m), dtype)
    A, B, y = dat(cells, a), dat(cells, b), dat(cells, b[:, :, 0])
    solution, inverse = np.linalg.solve(a, b), np.linalg.inv(a)
    close(op2.dense.solve(A, B), solution)
    close(op2.dense.solve(A, y), solution[:, :, 0])
    assert np.array_equal(B.data_ro.reshape(b.shape), b)
    X = op2.dense.inverse(A)
    close(X, inverse)
    assert np.array_equal(A.data_ro.reshape(a.shape), a)
    assert op2.dense.solve(A, B, B) is B
    close(B, solution)
    assert op2.dense.inverse(A, A) is A
    close(A, inverse)
    if not dtype.startswith("complex"):
        spd = a @ a.swapaxes(1, 2) + np.eye(n, dtype=dtype)
        close(op2.dense.solve(dat(cells, spd), dat(cells, b), spd=True), np.linalg.solve(spd, b))


@pytest.mark.parametrize("n", [17, 64])
def test_large(n: int) -> None:
    rng, cells = np.random.default_rng(n), op2.Set(N)
    a, b = regular(rng, n, "float64"), numbers(rng, (n,), "float64")
    close(op2.dense.solve(dat(cells, a), dat(cells, b)), np.linalg.solve(a, b[..., None])[..., 0])
    close(op2.dense.multiply(dat(cells, a), dat(cells, a), transpose_b=True), a @ a.swapaxes(1, 2))


class TestSingular:
    def test_the_element_and_its_column_are_named(self, backend: str) -> None:
        A, b, expected = singular()
        x = op2.Dat(b.dataset, name="x")
        with pytest.raises(DataValueError, match=r"element 7 of Dat 'A'.* column 4 has no pivot"):
            op2.dense.solve(A, b, x)
        assert np.allclose(x.data_ro, expected, equal_nan=True)
        with pytest.raises(DataValueError, match="element 7 of Dat 'A'"):
            op2.dense.inverse(A)

    def test_numbers_instead_of_an_error(self, backend: str) -> None:
        A, b, expected = singular()
        info = op2.Dat(A.set, np.full(N, 5), "int32", "info")
        x = op2.dense.solve(A, b, info=info)
        assert info.data_ro.tolist() == [4 if i == 7 else 0 for i in range(N)]
        assert np.allclose(x.data_ro, expected, equal_nan=True)
        with pytest.raises(DataValueError, match="my matrices: the matrix of element 7 is singu"):
            op2.dense.check(info, "my matrices")
        A.data[7] = np.eye(4)
        op2.dense.solve(A, b, info=info)
        op2.dense.check(info)

    @pytest.mark.parametrize("n", [1, 2, 3, 9])
    def test_inverses_of_other_sizes(self, n: int) -> None:
        A = op2.Dat(op2.Set(2) ** (n, n), np.stack([np.eye(n), np.zeros((n, n))]), name="A")
        info = op2.Dat(A.set, dtype="int32")
        X = op2.dense.inverse(A, info=info)
        assert info.data_ro.tolist() == [0, n if n <= 3 else 1]
        assert np.isnan(X.data_ro[1]).all()
        assert np.array_equal(X.data_ro[0].reshape(n, n), np.eye(n))

    def test_not_positive_definite(self) -> None:
        A = op2.Dat(op2.Set(2) ** (2, 2), [np.eye(2), [[1, 0], [0, -1]]])
        b = op2.Dat(A.set**2, np.ones((2, 2)))
        with pytest.raises(DataValueError, match=r"element 1 .*is not positive definite: column 2"):
            op2.dense.solve(A, b, spd=True)
        assert op2.dense.solve(A, b).data_ro.tolist() == [[1, 1], [1, -1]]

    def test_values_that_are_not_finite(self) -> None:
        A = op2.Dat(op2.Set(3) ** (2, 2), np.stack([np.eye(2)] * 3))
        A.data[1:, 0, 1] = np.nan
        b = op2.Dat(A.set**2)
        with pytest.raises(DataValueError, match=r"element 1 .*not finite; 2 elements in all"):
            op2.dense.solve(A, b)

    def test_other_elements_of_a_subset_are_left(self) -> None:
        A, b, expected = singular()
        some = op2.Subset(A.set, [2, 3])
        x = op2.Dat(b.dataset, np.full((N, 4), 9.0))
        op2.dense.solve(A, b, x, subset=some)
        assert np.allclose(x.data_ro[2:4], expected[2:4])
        assert (np.delete(x.data_ro, [2, 3], 0) == 9).all()


def test_chains(backend: str) -> None:
    A, b, expected = singular()
    info = op2.Dat(A.set, dtype="int32")
    with op2.chain() as chain:
        x = op2.dense.solve(A, b, info=info)
        y = op2.dense.multiply(A, x)
        assert len(chain.waiting) == 2
    assert np.allclose(x.data_ro, expected, equal_nan=True)
    assert np.allclose(np.delete(y.data_ro, 7, 0), np.delete(b.data_ro, 7, 0))
    with op2.chain(), pytest.raises(DataValueError, match="element 7"):
        op2.dense.solve(A, b)


def test_graphs(backend: str) -> None:
    A, b, _ = singular()
    x, info = op2.Dat(b.dataset, name="x"), op2.Dat(A.set, dtype="int32")
    with pytest.raises(UsageError, match="a graph cannot wait for singular elements of Dat 'A'"):
        op2.record(lambda: op2.dense.solve(A, b, x))

    def step() -> None:
        op2.dense.solve(A, b, x, info=info)
        op2.dense.multiply(A, x, b, 2.0)

    graph = op2.record(step)
    A.data[7] = np.eye(4)
    before = b.data_ro.copy()
    graph.submit(2)
    op2.dense.check(info)
    assert np.allclose(b.data_ro, 4 * before)


def test_two_processes() -> None:
    pytest.importorskip("mpi4py")
    text = """
    from mpi4py import MPI
    op2.init(comm=MPI.COMM_WORLD, backend="sequential")
    cells, nodes = op2.Set(8, "cells"), op2.Set(9)
    op2.Map(cells, nodes, 2, np.stack([np.arange(8), np.arange(1, 9)], 1))
    a = np.stack([np.eye(2) * (i + 1) for i in range(8)])
    a[6] = 1
    A, b = op2.Dat(cells ** (2, 2), a, name="A"), op2.Dat(cells**2, np.ones((8, 2)), name="b")
    op2.distribute(cells)
    try:
        op2.dense.solve(A, b)
    except ValueError as error:
        print(str(error)[:47])
    A.data[:] = np.eye(2)
    print(cells.size < 8, op2.dense.solve(A, b, b).sum().tolist())
    """
    assert outputs(text, 2) == [
        "True [8.0, 8.0]",
        "True [8.0, 8.0]",
        "dense.solve: the matrix of element 6 of Dat 'A'",
        "dense.solve: the matrix of element 6 of Dat 'A'",
    ]


class TestProviders:
    """NumPy on the host, asked by turns or by name."""

    def test_turns(self, exits: None) -> None:
        op2.init(backend="sequential", blas="auto")
        op2.dispatch.clear()
        A, b, expected = singular()
        A.data[7] = np.eye(4)
        expected[7] = b.data_ro[7]
        for _ in range(12):
            assert np.allclose(op2.dense.solve(A, b).data_ro, expected)
        rows = [row for row in op2.dispatch.report() if row.loop.startswith("dense.solve 4x4, 1 ")]
        by_turns = [(r.provider, r.strategy, r.count) for r in rows if r.rejected != "numpy: cost"]
        assert ("library", "numpy", 5) in by_turns or ("library", "numpy", 7) in by_turns
        assert ("loop", "", 5) in by_turns
        assert sum(row.count for row in rows) == 12

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_numpy(self, host: None, dtype: str) -> None:
        rng, cells = np.random.default_rng(1), op2.Set(N)
        a, b = regular(rng, 5, dtype), numbers(rng, (5, 2), dtype)
        A, B = dat(cells, a), dat(cells, b)
        info = op2.Dat(cells, np.ones(N), "int32")
        close(op2.dense.solve(A, B, info=info, provider="numpy"), np.linalg.solve(a, b))
        assert not info.data_ro.any()
        close(op2.dense.inverse(A, provider="numpy"), np.linalg.inv(a))
        found = op2.dense.multiply(A, B, dat(cells, b), 2, 3, transpose_a=True, provider="numpy")
        close(found, 2 * a.swapaxes(1, 2) @ b + 3 * b)
        assert found.dtype == dtype

    def test_singular_elements_are_those_of_the_loop(self, host: None) -> None:
        A, b, expected = singular()
        info = op2.Dat(A.set, dtype="int32")
        x = op2.dense.solve(A, b, info=info, provider="numpy")
        assert info.data_ro[7] == 4
        assert np.allclose(x.data_ro, expected, equal_nan=True)

    @pytest.mark.parametrize(
        ("why", "act"),
        [
            (
                "recorded",
                lambda A, b: op2.record(lambda: op2.dense.multiply(A, b, provider="numpy")),
            ),
            (
                "subset",
                lambda A, b: op2.dense.multiply(
                    A, b, subset=op2.Subset(A.set, [0]), provider="numpy"
                ),
            ),
            ("no such function", lambda A, b: op2.dense.solve(A, b, spd=True, provider="numpy")),
            ("no such function", lambda A, b: op2.dense.solve(A, b, provider="cublas")),
            ("blas='auto'", lambda A, b: op2.dense.multiply(A, b, provider="cublas")),
            ("there is no provider 'mkl'", lambda A, b: op2.dense.multiply(A, b, provider="mkl")),
        ],
    )
    def test_who_cannot_serve(self, host: None, why: str, act: Callable[..., Any]) -> None:
        A, b, _ = singular()
        with pytest.raises(UsageError, match=why):
            act(A, b)

    def test_bits_are_those_of_the_loop(self, exits: None) -> None:
        op2.init(backend="sequential", blas="auto", deterministic=True)
        op2.dispatch.clear()
        A, b, _ = singular()
        for _ in range(12):
            op2.dense.multiply(A, b)
        assert not [r for r in op2.dispatch.report() if r.loop.startswith("dense.multiply ")]
        with pytest.raises(UsageError, match="deterministic"):
            op2.dense.multiply(A, b, provider="numpy")

    def test_a_device_is_no_place_for_numpy(self, device: Any) -> None:
        A, b, _ = singular()
        with pytest.raises(UsageError, match="NumPy on the host"):
            op2.dense.multiply(A, b, provider="numpy")

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_cublas(self, exits: None, dtype: str) -> None:
        (found,) = [one for one in op2.backends() if one.name == "cuda"]
        if not found.available:
            pytest.skip(found.reason)
        op2.init(backend="cuda", blas="auto")
        rng, cells = np.random.default_rng(1), op2.Set(N)
        a, b, c = (numbers(rng, shape, dtype) for shape in ((3, 5), (4, 3), (5, 4)))
        for alpha, beta in ((1, 0), (2, -3)):
            C = dat(cells, c)
            given = C, alpha, beta
            turned = {"transpose_a": True, "transpose_b": True, "provider": "cublas"}
            op2.dense.multiply(dat(cells, a), dat(cells, b), *given, **turned)
            close(C, alpha * a.swapaxes(1, 2) @ b.swapaxes(1, 2) + beta * c)
        x = op2.dense.multiply(
            dat(cells, a), dat(cells, b[:, 0]), transpose_a=True, provider="cublas"
        )
        close(x, (a.swapaxes(1, 2) @ b[:, 0, :, None])[..., 0])


CELLS = op2.Set(3, "cells")
OTHERS = op2.Set(3)


def make(*dim: int, dtype: str = "float64", on: op2.Set = CELLS) -> op2.Dat:
    return op2.Dat(on**dim, dtype=dtype)


def refuse(error: type[Exception], message: str, function: Any, *args: Any, **more: Any) -> None:
    with pytest.raises(error, match=message):
        function(*args, **more)


def test_operands_that_do_not_match() -> None:
    multiply, solve, inverse = op2.dense.multiply, op2.dense.solve, op2.dense.inverse
    A, b = make(2, 2), make(2)
    refuse(DatTypeError, "A is a Dat", solve, np.eye(2), b)
    refuse(DatTypeError, "C is a Dat", multiply, A, b, 1.0)
    refuse(DataValueError, r"has dim \(2, 3\); expected \(n, n\)", inverse, make(2, 3))
    refuse(DataValueError, r"has dim \(4,\); expected \(n, n\)", solve, make(4), b)
    refuse(DataValueError, r"b needs dim \(2,\), or", solve, A, make(3))
    refuse(DataValueError, r"b needs dim \(2,\), or", solve, A, make(2, 65))
    refuse(DataValueError, r"x, .*, has dim \(3,\)", solve, A, b, make(3))
    refuse(DataValueError, "have 2 columns, so B, .* needs 2 rows", multiply, A, make(3, 2))
    refuse(DataValueError, "needs matrices", multiply, A, b, transpose_b=True)
    refuse(DataValueError, r"expected \(2, 2\)", multiply, A, A, make(2, 3))
    refuse(UnsupportedError, "sizes are from 1 to 64", inverse, make(65, 65))
    refuse(UnsupportedError, "sizes are from 1 to 64", multiply, A, make(2, 65))
    refuse(MapValueError, "on Set 'cells', b, ", solve, A, make(2, on=OTHERS))
    refuse(MapValueError, "a Subset of Set 'cells'", inverse, A, subset=CELLS)
    refuse(MapValueError, "a Subset of Set 'cells'", inverse, A, subset=op2.Subset(OTHERS, [0]))


def test_dtypes_and_numbers_that_do_not_match() -> None:
    multiply, solve, inverse = op2.dense.multiply, op2.dense.solve, op2.dense.inverse
    A, b = make(2, 2), make(2)
    turned = make(2, 2, dtype="complex128"), make(2, dtype="complex128")
    refuse(DataTypeError, "has dtype int32; expected float32", inverse, make(2, 2, dtype="int32"))
    refuse(DataTypeError, "make them of one dtype", solve, A, make(2, dtype="float32"))
    refuse(DataTypeError, "spd=True is for real", solve, *turned, spd=True)
    refuse(DatTypeError, "info is a Dat", inverse, A, info=1)
    refuse(DataTypeError, "expected int32", inverse, A, info=make(1))
    refuse(DataTypeError, "expected int32", inverse, A, info=make(2, dtype="int32"))
    refuse(MapValueError, "expected 'cells'", inverse, A, info=make(1, dtype="int32", on=OTHERS))
    refuse(DatTypeError, "expected the Dat given as info", op2.dense.check, None)
    refuse(DataTypeError, "alpha is a number", multiply, A, b, None, "2")
    refuse(DataValueError, "beta is a finite number", multiply, A, b, make(2), 1, np.nan)
    refuse(DataValueError, "alpha is a finite number for float64", multiply, A, b, None, 1j)
    refuse(DataValueError, "beta=2 needs a C", multiply, A, b, None, 1, 2)
    multiply(*turned, None, 1j)


def test_results_over_operands() -> None:
    A, b = make(2, 2), make(2)
    values = np.ones((3, 2, 2))
    one, other = op2.Dat(CELLS ** (2, 2), values), op2.Dat(CELLS ** (2, 2), values)
    for act in (
        lambda: op2.dense.multiply(A, A, A),
        lambda: op2.dense.multiply(A, b, b),
        lambda: op2.dense.inverse(one, other),
        lambda: op2.dense.solve(A, one, other),
        lambda: op2.dense.solve(A, A, A),
    ):
        with pytest.raises(DataValueError, match="shares memory with"):
            act()
    assert (values == 1).all()
