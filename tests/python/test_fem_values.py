# SPDX-License-Identifier: BSD-3-Clause
"""Values that users give to functions, conditions and constants: what is taken, what is refused."""

from __future__ import annotations

import importlib
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import DataTypeError, DataValueError, UsageError  # noqa: E402
from pyop2cxx.mesh import rectangle_mesh, square_mesh  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

MESH = square_mesh(2)
SHAPES: dict[str, tuple[int, ...]] = {"scalar": (), "vector": (2,), "tensor": (2, 2)}
ELEMENTS: dict[str, Any] = {
    "scalar": ("P", 1),
    "vector": ("P", 1, (2,)),
    "tensor": ("DG", 0, (2, 2)),
    "RT": ("RT", 1),
}


def space(name: str) -> fem.FunctionSpace:
    return fem.FunctionSpace(MESH, ELEMENTS[name])


def by_interpolate(given: Any, V: fem.FunctionSpace) -> np.ndarray:
    return fem.interpolate(given, V).values


def by_method(given: Any, V: fem.FunctionSpace) -> np.ndarray:
    u = fem.Function(V)
    assert u.interpolate(given) is u
    return u.values


def by_condition(given: Any, V: fem.FunctionSpace) -> np.ndarray:
    u = fem.Function(V)
    fem.DirichletBC(V, given, np.ones(V.dof_set.size, bool)).apply(u)
    return u.values


def by_set(given: Any, V: fem.FunctionSpace) -> np.ndarray:
    bc, u = fem.DirichletBC(V, 0.0, np.ones(V.dof_set.size, bool)), fem.Function(V)
    bc.set(given)
    bc.apply(u)
    return u.values


DOORS = [by_interpolate, by_method, by_condition, by_set]
doors = pytest.mark.parametrize("door", DOORS)


@doors
@pytest.mark.parametrize(
    "given",
    [
        1.0,
        1,
        True,
        np.float32(1),
        np.array(1),
        np.array([1]),
        Fraction(1),
        Decimal(1),
        lambda x: 1.0,
        lambda x: 1,
        lambda x: np.int64(1),
        lambda x: Fraction(2, 2),
        lambda x: [1.0],
        lambda x: np.ones(x.shape[1]),
        lambda x: np.ones(x.shape[1], np.int8),
        lambda x: np.ones(x.shape[1], bool),
        lambda x: [1.0] * x.shape[1],
        lambda x: np.ones((1, x.shape[1])),
        lambda x: np.ma.masked_less(x[0] * 0 + 1, 0),
        lambda x: (np.ones(x.shape[1]),),
        lambda x: np.array([Fraction(1)] * x.shape[1]),
        ufl.as_ufl(1),
    ],
)
def test_constants_of_all_kinds_are_one(door: Callable[..., Any], given: Any) -> None:
    np.testing.assert_array_equal(door(given, space("scalar")), 1.0)


@doors
@pytest.mark.parametrize(
    "given",
    [
        [1, 2],
        (1, Fraction(2)),
        np.array([1, 2]),
        lambda x: (1, 2),
        lambda x: [1.0, Decimal(2)],
        lambda x: np.array([1, 2]),
        lambda x: np.array([[1], [2]]),
        lambda x: (np.ones(x.shape[1]), 2),
        lambda x: [1, np.full((x.shape[1]), 2.0)],
        lambda x: (x[0] * 0 + 1, [2] * x.shape[1]),
        lambda x: np.stack([0 * x[0] + 1, 0 * x[0] + 2]),
        ufl.as_vector([1, 2]),
    ],
)
def test_components_are_broadcast(door: Callable[..., Any], given: Any) -> None:
    found = door(given, space("vector")).reshape(-1, 2)
    np.testing.assert_array_equal(found, np.broadcast_to([1.0, 2.0], found.shape))


@doors
@pytest.mark.parametrize(
    "given",
    [
        [[1, 2], [3, 4]],
        [1, 2, 3, 4],
        lambda x: ((1, 2), (3, 4)),
        lambda x: [[x[0] * 0 + 1, 2], [3, 4]],
        lambda x: [[1, 2], [3, x[0] * 0 + 4]],
        lambda x: (1, x[0] * 0 + 2, 3, 4),
        lambda x: np.array([[1, 2], [3, 4]]),
        lambda x: np.array([[1, 2], [3, 4]])[:, :, None] + 0 * x[0],
    ],
)
def test_tensors_are_broadcast(door: Callable[..., Any], given: Any) -> None:
    found = door(given, space("tensor")).reshape(-1, 4)
    np.testing.assert_array_equal(found, np.broadcast_to([1.0, 2.0, 3.0, 4.0], found.shape))


def test_components_are_not_taken_for_values_where_there_are_as_many_points() -> None:
    """On two cells a constant row of two components is no row of two values."""
    V = fem.FunctionSpace(rectangle_mesh(1, 1), ("DG", 0, (2, 2)))
    found = fem.interpolate(lambda x: [[x[0] * 0 + 1, 2], [3, 4]], V).values
    np.testing.assert_array_equal(found.reshape(2, 4), [[1, 2, 3, 4]] * 2)
    W = fem.FunctionSpace(rectangle_mesh(1, 1), ("DG", 0, (2,)))
    np.testing.assert_array_equal(fem.interpolate(lambda x: (1, 2), W).values, [1, 2, 1, 2])
    with pytest.raises(DataValueError, match="return a sequence of the 2 components"):
        fem.interpolate(lambda x: x[0], W)


@doors
def test_values_of_dofs_that_are_moments_may_be_constant(door: Callable[..., Any]) -> None:
    V = space("RT")
    given = door(lambda x: (1, 2), V)
    np.testing.assert_allclose(given, by_interpolate(ufl.as_vector([1, 2]), V), atol=1e-14)
    np.testing.assert_allclose(given, door([1, 2], V), atol=1e-14)


def test_functions_of_a_mixed_space_get_each_part() -> None:
    W = fem.FunctionSpace(MESH, [("P", 1, (2,)), ("P", 1)])
    velocity, pressure = fem.interpolate([lambda x: (1, x[1]), lambda x: 3], W).split()
    where = velocity.space.dof_coordinates
    np.testing.assert_array_equal(velocity.values.reshape(-1, 2)[:, 0], 1.0)
    np.testing.assert_array_equal(velocity.values.reshape(-1, 2)[:, 1], where[:, 1])
    np.testing.assert_array_equal(pressure.values, 3.0)
    with pytest.raises(UsageError, match=r"interpolate: expected a sequence for the 2 parts"):
        fem.interpolate(lambda x: 1.0, W)


WRONG: dict[str, tuple[str, Any, str]] = {
    "two for one": ("scalar", [0.0, 1.0], r"expected a number, got \[0.0, 1.0\] of type list"),
    "three for two": ("vector", [1, 2, 3], r"expected 2 numbers, of shape \(2,\), got"),
    "four in a row": ("tensor", [[1, 2, 3, 4]], r"expected 4 numbers, of shape \(2, 2\), got"),
    "values of dofs": ("scalar", np.zeros(9), r"expected a number, got ndarray of shape \(9,\)"),
    "text": ("scalar", "1", "expected numbers, got '1' of type str"),
    "masked": (
        *("vector", np.ma.masked_array([1.0, 2.0], [False, True])),
        r"1 of 2 values are masked, the first at \[1\]; a mask is not kept, pass data\.filled",
    ),
    "masked points": ("scalar", lambda x: np.ma.masked_less(x[0], 0.3), "values are masked"),
    "a masked component": (
        *("vector", lambda x: (1, np.ma.masked_less(x[0], 0.3))),
        "values are masked, the first at",
    ),
    "None": ("scalar", None, "there is no number in the place of None"),
    "a row and a number": ("vector", [[1, 2], 3], r"expected numbers, got \[\[1, 2\], 3\]"),
    "a dict": ("scalar", {"a": 1}, "the data do not convert"),
    "functions in a list": ("vector", [lambda x: x[0], 1], "one that returns all components"),
    "UFL in a list": ("vector", [ufl.as_ufl(1), 2], r"write ufl\.as_vector"),
    "UFL of another shape": ("vector", ufl.SpatialCoordinate(MESH)[0], r"shape \(2,\), got \(\)"),
    "UFL in an array": (
        *("vector", np.array([fem.Constant(MESH, 1.0), 2.0], object)),
        r"expected numbers, got array\(\[",
    ),
    "UFL for a component": (
        *("vector", lambda x: (x[0], fem.Constant(MESH, 1.0))),
        "function of coordinates returns: expected numbers",
    ),
    "a test function": (
        *("scalar", ufl.TestFunction(fem.FunctionSpace(MESH, ("P", 1)))),
        "the expression has test or trial functions, which have no values",
    ),
    "nothing is returned": ("scalar", lambda x: None, "returns None; is 'return' there"),
    "scalar for a vector": ("vector", lambda x: x[0], "return a sequence of the 2 components"),
    "vector for a scalar": ("scalar", lambda x: x, r"shape \(9,\), or a number.* got shape \(2, 9"),
    "transposed": ("vector", lambda x: x.T, "components come first: return the transpose"),
    "too few": ("scalar", lambda x: x[0][:3], r"got shape \(3,\)"),
    "parts differ": ("vector", lambda x: (x[0], x[1][:3]), r"components of shapes \(9,\), \(3,\)"),
    "too many parts": ("vector", lambda x: (1, 2, 3), r"got shape \(3,\)"),
    "text is returned": ("scalar", lambda x: "a", "expected numbers, got 'a'"),
    "texts are returned": ("vector", lambda x: ("a", x[0]), "expected numbers, got"),
    "UFL is returned": (
        *("scalar", lambda x: ufl.SpatialCoordinate(MESH)[0]),
        "returns an expression of UFL's; pass the expression itself",
    ),
    "a branch": (
        *("scalar", lambda x: 1.0 if x[0] > 0.5 else 0.0),
        r"raised ValueError: The truth value.*x\[0\] is an array: choose by numpy\.where",
    ),
    "sine of one": ("scalar", lambda x: math.sin(x[0]), "raised TypeError.*numpy's sin, exp"),
    "two arguments": ("scalar", lambda x, y: x, r"raised TypeError.*shape \(2, 9\)"),
    "no such axis": ("scalar", lambda x: x[2], r"raised IndexError.*shape \(2, 9\)"),
}


@doors
@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_refused_and_nothing_is_changed(
    door: Callable[..., Any], name: str
) -> None:
    kind, given, message = WRONG[name]
    who = "interpolate" if door in (by_interpolate, by_method) else "DirichletBC"
    with pytest.raises(UsageError, match=message) as caught:
        door(given, space(kind))
    assert str(caught.value).startswith(f"{who}: ")
    assert len(str(caught.value)) < 400
    u = fem.interpolate(7.0, space(kind))
    with pytest.raises(UsageError):
        fem.interpolate(given, u)
    np.testing.assert_array_equal(u.values, 7.0)


def test_the_error_of_a_function_is_the_cause_and_others_pass() -> None:
    with pytest.raises(UsageError) as caught:
        fem.interpolate(lambda x: math.sin(x[0]), space("scalar"))
    assert isinstance(caught.value.__cause__, TypeError)

    class OwnError(Exception):
        pass

    def stops(x: np.ndarray) -> None:
        raise OwnError

    for door in DOORS:
        with pytest.raises(OwnError):
            door(stops, space("scalar"))
        with pytest.raises(ZeroDivisionError):
            door(lambda x: 1 / 0, space("scalar"))


@pytest.mark.parametrize(
    "given", [1j, np.array(1 + 0j), lambda x: 1j, lambda x: 1j * x[0], lambda x: [1j] * x.shape[1]]
)
def test_complex_values_are_for_complex_functions(given: Any) -> None:
    V = space("scalar")
    with pytest.raises(DataValueError, match=r"interpolate: .*complex; pass their real part"):
        fem.interpolate(given, fem.Function(V))
    u = fem.interpolate(given, fem.Function(V, complex))
    assert u.values.dtype == complex
    bc = fem.DirichletBC(V, given)
    if np.iscomplexobj(bc.values):
        with pytest.raises(DataValueError, match=r"Function 'u': its values are float64, got comp"):
            bc.apply(fem.Function(V))
    bc.apply(u)
    np.testing.assert_array_equal(u.values[bc.dofs], bc.values)


def test_conditions_are_complex_where_their_values_are() -> None:
    V = space("scalar")
    assert fem.DirichletBC(V, 1 + 2j).values.dtype == complex
    assert fem.DirichletBC(V, lambda x: x[0] + 0j).values.dtype == float
    f = fem.interpolate(1 + 2j, fem.Function(V, complex))
    np.testing.assert_array_equal(fem.DirichletBC(V, 2 * f).values, 2 + 4j)
    g = fem.interpolate(2.0, fem.Function(V, np.float32))
    np.testing.assert_array_equal(fem.DirichletBC(V, 2 * g).values, 4.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("given", [3, lambda x: 3, lambda x: np.full(x.shape[1], 3)])
def test_integers_become_what_the_function_is_of(dtype: str, given: Any) -> None:
    u = fem.interpolate(given, fem.Function(space("scalar"), dtype))
    assert u.values.dtype == dtype
    np.testing.assert_array_equal(u.values, 3)


def test_what_a_dtype_does_not_hold_is_refused() -> None:
    u = fem.Function(space("scalar"), np.float32)
    for given in (1e300, lambda x: 1e300, lambda x: x[0] + 1e300):
        with pytest.raises(DataValueError, match=r"interpolate: .*float32"):
            fem.interpolate(given, u)
    with pytest.raises(DataValueError, match=r"Constant: .*float32"):
        fem.Constant(MESH, 1e300, np.float32)


@pytest.mark.parametrize(
    "given",
    [
        *(2.0, lambda x: 2.0, lambda x: x[0] * 0 + 2, lambda x: (0.0, 2), [5.0, 2.0]),
        *(ufl.as_ufl(2), ufl.as_vector([7, 2])),
    ],
)
def test_the_value_of_one_component_is_of_that_one(given: Any) -> None:
    V = space("vector")
    u = fem.interpolate(9.0, V)
    fem.DirichletBC(V, given, np.ones(9, bool), component=1).apply(u)
    np.testing.assert_array_equal(u.values.reshape(-1, 2), [[9.0, 2.0]] * 9)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (lambda x: 1 if x[0] > 0 else 0, "DirichletBC: where: the function of coordinates raised"),
        (lambda x: None, "DirichletBC: where: the function of coordinates returns None"),
        (lambda x: x[0], "expected a mask of 9 booleans, one for each dof, got float64"),
        (7, "DirichletBC: there is no tag 7"),
    ],
)
def test_a_place_that_is_none_is_refused(where: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        fem.DirichletBC(space("scalar"), 0.0, where)


def test_a_place_may_be_everywhere() -> None:
    assert fem.DirichletBC(space("scalar"), 0.0, lambda x: True).dofs.size == 9
    assert fem.DirichletBC(space("scalar"), 0.0, lambda x: np.bool_(False)).dofs.size == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((2, 2.0), (Fraction(1, 2), 0.5), (Decimal("0.5"), 0.5), (True, 1.0)),
        *(([1, 2], [1.0, 2.0]), (np.eye(2, dtype=int), [[1.0, 0.0], [0.0, 1.0]])),
    ],
)
def test_constants_take_numbers_of_all_kinds(value: Any, expected: Any) -> None:
    k = fem.Constant(MESH, value)
    np.testing.assert_array_equal(k.value, expected)
    k.value = np.zeros_like(expected)
    k.value = value
    np.testing.assert_array_equal(k.value, expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "no number in the place of None"),
        ("a", "expected numbers, got 'a'"),
        ([[1, 2], 3], "expected numbers"),
        (1j, "they are complex; pass their real part"),
        ([1, 1j], "they are complex"),
        (np.ma.masked_array([1.0], [True]), "1 of 1 values are masked"),
        (lambda x: x[0], "the data do not convert"),
        (fem.Constant(MESH, 1.0), "expected numbers, got <Constant c_"),
        ([fem.Constant(MESH, 1.0)], "expected numbers, got [<Constant c_"),
    ],
)
def test_constants_refuse_what_is_no_number(value: Any, message: str) -> None:
    k = fem.Constant(MESH, 5.0)
    for act in (lambda: fem.Constant(MESH, value), lambda: setattr(k, "value", value)):
        with pytest.raises(DataValueError, match=f"Constant: .*{re.escape(message)}"):
            act()
    assert k.value == 5.0


def test_constants_and_functions_are_of_dtypes_that_forms_have() -> None:
    with pytest.raises(DataValueError, match="expected numbers, got none"):
        fem.Constant(MESH, [])
    with pytest.raises(DataValueError, match=r"expected shape \(2,\), got \(\)"):
        fem.Constant(MESH, [1.0, 2.0]).value = 3.0
    for dtype in (int, "int32", bool, "nonsense", np.float16):
        with pytest.raises(DataTypeError, match="Constant: dtype must be one of float32, float64"):
            fem.Constant(MESH, 1, dtype)
        with pytest.raises(DataTypeError, match="Function 'u': dtype must be one of float32"):
            fem.Function(space("scalar"), dtype)


def test_a_constant_has_memory_of_its_own() -> None:
    values = np.array([1.0, 2.0])
    k = fem.Constant(MESH, values)
    values[:] = 0
    np.testing.assert_array_equal(k.value, [1.0, 2.0])


def test_functions_of_coordinates_may_change_what_they_get() -> None:
    def doubled(x: np.ndarray) -> np.ndarray:
        x[0] *= 2
        return x[0]

    V = space("scalar")
    for _ in range(2):
        np.testing.assert_array_equal(
            fem.interpolate(doubled, V).values, 2 * V.dof_coordinates[:, 0]
        )
    assert V.dof_coordinates.max() == 1.0


@pytest.mark.parametrize("wrong", [None, "P", 3, np.zeros(2), np.zeros(0), MESH])
def test_functions_are_of_spaces(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"Function: expected a fem\.FunctionSpace, got"):
        fem.Function(wrong)
    assert fem.Function(space=space("scalar")).values.size == 9


@pytest.mark.parametrize("wrong", [[], (), ("P",), ("P", 1, (2,), 3), "P", 1, None, [("P",)]])
def test_elements_are_named_by_family_and_degree(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"FunctionSpace: expected an element of basix\.ufl, or"):
        fem.FunctionSpace(MESH, wrong)


@pytest.mark.parametrize("wrong", [2, -1, 0.5, "0", [0], np.zeros(2), MESH])
def test_components_are_numbers(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"there is no component .*; dofs have 2 of them, from 0"):
        fem.DirichletBC(space("vector"), 0.0, component=wrong)
    assert fem.DirichletBC(space("vector"), 0.0, component=np.int64(1)).dofs[0] % 2 == 1


@pytest.mark.parametrize("scale", [None, "2", [1.0, 2.0], fem.Constant(MESH, 2.0), np.ones(3)])
def test_a_scale_is_a_number(scale: Any) -> None:
    V = space("scalar")
    u, bc = fem.Function(V), fem.DirichletBC(V, 1.0)
    with pytest.raises(DataValueError, match=r"DirichletBC\.apply: scale: "):
        bc.apply(u, None, scale)
    a = ufl.TrialFunction(V) * ufl.TestFunction(V) * ufl.dx
    with pytest.raises(DataValueError, match="lift: scale: "):
        fem.lift(u, a, [bc], None, scale)
    assert not u.values.any()


@pytest.mark.parametrize("layout", ["aos", "soa"])
def test_values_reach_a_dat_of_either_layout(layout: str) -> None:
    V = space("vector")
    dat = op2.Dat(V.dof_set**2, np.full((9, 2), 9.0), layout=layout, name="x")
    u = fem.Function(V, dat=dat)
    fem.interpolate(lambda x: (x[0], 5.0), u)
    np.testing.assert_array_equal(u.values.reshape(-1, 2)[:, 0], V.dof_coordinates[:, 0])
    fem.interpolate(ufl.SpatialCoordinate(MESH), u)
    np.testing.assert_allclose(u.values.reshape(-1, 2), V.dof_coordinates)
    bc = fem.DirichletBC(V, (7.0, 8.0), "left")
    bc.apply(u)
    np.testing.assert_array_equal(u.values[bc.dofs].reshape(-1, 2), [[7.0, 8.0]] * 3)
    b = fem.assemble(
        ufl.inner(fem.Constant(MESH, [0.0, 0.0]), ufl.TestFunction(V)) * ufl.dx, [bc], u
    )
    np.testing.assert_array_equal(b.values[bc.dofs].reshape(-1, 2), [[7.0, 8.0]] * 3)
    assert np.abs(b.values).sum() == 45
    op2.exit()
