# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of UFL's forms to kernels: FFCx writes the C of each integral."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.access import INC, READ, Access
from pyop2cxx.base.arrays import c_name
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import DataTypeError, InternalError, UnsupportedError, UsageError
from pyop2cxx.fem import tensor_products
from pyop2cxx.fem._packages import ufl
from pyop2cxx.kernel import ufcx
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.runtime.store import remembered
from pyop2cxx.runtime.tracebacks import ends_traceback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import DTypeLike

SCALARS = ("float32", "float64", "complex64", "complex128")
"""The dtypes that a form may have."""
KINDS = ("cell", "exterior_facet", "interior_facet")
"""Integrals that can be compiled, as UFL calls them."""
EVERYWHERE = -1
"""What stands for a subdomain where an integral is over all cells or facets."""
_ARITY: type[BaseException] = ufl.algorithms.check_arities.ArityMismatch
_CALLED = ("number", "vector", "matrix")
"""What kernels without a name are called, by the rank of the form."""
_PACKAGES = ("fenics-ufl", "fenics-basix", "fenics-ffcx")
FFCX = "0.11"
"""The version of FFCx whose parts are called here; the extra ``fem`` installs it."""
_WANTED = f"pyop2cxx is written for FFCx {FFCX}: pip install 'pyop2cxx[fem]'"
_LAYOUT = 8
"""Of what is kept on disk; to be raised when it changes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of an integral's kernel.

    Attributes:
        role: ``"tensor"``, ``"coefficient"``, ``"constant"``, ``"coordinates"``, ``"facets"`` (the
            number of the facet in each cell), ``"permutations"`` (orientation of the facet in each
            cell), or ``"signs"`` (of basis functions).
        name: In the C text.
        access: Access mode of the kernel.
        dtype: Of the values.
        size: Number of values per call.
        number: Of the coefficient or constant, in ``form.coefficients()``, ``form.constants()``;
            of signs the argument of the form (0, 1), else -1.
    """

    role: str
    name: str
    access: Access
    dtype: np.dtype[Any]
    size: int
    number: int = -1


@dataclass(frozen=True, slots=True)
class Integral:
    """Integral of a form, compiled.

    Attributes:
        kind: ``"cell"``, ``"exterior_facet"`` or ``"interior_facet"``.
        subdomains: Numbers of the subdomains; -1 stands for everywhere.
        kernel: The kernel for loops; ``accesses`` and ``dtypes`` are given.
        parameters: The kernel's arguments, in order.
        shape: Of the element tensor: ``()``, ``(rows,)`` or ``(rows, columns)``; of interior
            facets the rows of both cells, the first cell before the second.
        body: The C text within the function.
    """

    kind: str
    subdomains: tuple[int, ...]
    kernel: Kernel
    parameters: tuple[Parameter, ...]
    shape: tuple[int, ...]
    body: str = field(repr=False)

    def __repr__(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        return f"<Integral {self.kind}: {self.kernel.name}({names}), shape {self.shape}>"


@ends_traceback
def compile_form(
    form: Any,
    dtype: DTypeLike = np.float64,
    name: str = "",
    options: Mapping[str, Any] | None = None,
) -> list[Integral]:
    """Compile a form of UFL's by FFCx, and make a kernel of each integral.

    The output of FFCx is kept in the cache directory, by the form's signature, the options and the
    versions of FFCx, UFL and Basix.

    Args:
        form: A ``ufl.Form`` of rank 0, 1 or 2 on one mesh of P1 or Q1 geometry.
        dtype: Of scalars: float32, float64, complex64 or complex128. Coordinates are real, of
            the same precision.
        name: Name of the kernels, followed by the kind of integral; empty means a name made of
            the signature.
        options: Of FFCx, such as ``{"sum_factorization": True}``, besides ``scalar_type``.

    Returns:
        The integrals: over cells, then over exterior, then over interior facets.

    Raises:
        UsageError: Not a form, refused by FFCx, or with a number that is NaN or infinite; or the
            name is no identifier of C.
        DataTypeError: There is no such dtype of forms.
        UnsupportedError: An integral is over points or ridges.
        MissingExtraError: FFCx is not installed.

    Example:
        >>> import basix.ufl, ufl
        >>> linear = basix.ufl.element("P", "triangle", 1)
        >>> space = ufl.FunctionSpace(ufl.Mesh(basix.ufl.element("P", "triangle", 1, shape=(2,))),
        ...                           linear)
        >>> u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
        >>> mass, = compile_form(u * v * ufl.dx, name="mass")
        >>> mass.kernel.name, mass.shape, [p.role for p in mass.parameters]
        ('mass_cell', (3, 3), ['tensor', 'coordinates'])
    """
    scalar = scalar_type(dtype, "compile_form")
    if not isinstance(form, ufl.Form):
        raise UsageError(
            f"compile_form: expected a ufl.Form, got {type(form).__name__}; integrate an "
            "expression by '* ufl.dx'"
        )
    if name and not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise UsageError(f"compile_form: the name {name!r} is no name in C")
    try:
        signature = form.signature()
    except Exception as error:  # UFL's parts raise errors of any type
        raise _refused(error) from None
    given = tuple(sorted((options or {}).items()))
    key = ("ffcx", _LAYOUT, signature, scalar.name, given, _versions())

    def write() -> bytes:
        _check_numbers(form)
        with waiting(f"FFCx: compiling form {name or 'of rank ' + str(len(form.arguments()))}"):
            return json.dumps(_written(form, scalar, given)).encode()

    made = remembered("form", key, write)
    called = (
        name or f"{_CALLED[len(form.arguments())]}_{blake2b(signature.encode()).hexdigest()[:8]}"
    )
    described = json.loads(made)
    return [_integral(d, scalar, _named(called, i, described)) for i, d in enumerate(described)]


def _check_numbers(form: Any) -> None:
    """Refuse literal numbers without a text in C, such as the result of a division by zero.

    Raises:
        UsageError: A number of the form is NaN or infinite.
    """
    for integral in form.integrals():
        for part in ufl.corealg.traversal.unique_pre_traversal(integral.integrand()):
            if isinstance(part, ufl.constantvalue.ScalarValue) and not np.isfinite(part.value()):
                raise UsageError(
                    f"compile_form: the {integral.integral_type()} integral over subdomain "
                    f"{integral.subdomain_id()} has the number {part.value()}; numbers of a form "
                    "are finite. Mend where it is computed; a number that changes later is a "
                    "fem.Constant"
                )


@cache
def _versions() -> tuple[str, ...]:
    return tuple(map(version, _PACKAGES))


def _named(called: str, i: int, described: list[dict[str, Any]]) -> str:
    """Return the name of a kernel; alike for the same form in every process."""
    kind = described[i]["kind"]
    alike = [j for j, d in enumerate(described) if d["kind"] == kind]
    return f"{called}_{kind}" + (f"_{alike.index(i)}" if len(alike) > 1 else "")


def scalar_type(dtype: DTypeLike, what: str) -> np.dtype[Any]:
    """Return a dtype that forms and their functions may have.

    Args:
        dtype: As given.
        what: Begins the message.

    Raises:
        DataTypeError: There are no forms of this dtype.
    """
    try:
        scalar = np.dtype(dtype)
    except TypeError:
        scalar = np.dtype(object)
    if scalar.name not in SCALARS:
        raise DataTypeError(f"{what}: dtype must be one of {', '.join(SCALARS)}, got {dtype!r}")
    return scalar


def real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of coordinates in a form."""
    return np.empty(0, dtype).real.dtype


def _written(
    form: Any, scalar: np.dtype[Any], options: tuple[tuple[str, Any], ...]
) -> list[dict[str, Any]]:
    """Return a description of each integral.

    Integrals over cells of quadrilaterals and hexahedra are written by sums along dimensions, if
    all elements are made of tensor factors.
    """
    cells = ufl.Form([one for one in form.integrals() if one.integral_type() == "cell"])
    is_asked = "sum_factorization" in dict(options)
    factored = None if is_asked or cells.empty() else tensor_products.factored(cells)
    if factored is None:
        return _by_ffcx(form, scalar, options)
    by_sums = (*options, ("sum_factorization", True))
    found = _by_ffcx(factored, scalar, by_sums, tensor_products.orders(cells))
    found = _renumbered(found, cells, form)
    others = ufl.Form([one for one in form.integrals() if one.integral_type() != "cell"])
    if not others.empty():
        found += _renumbered(_by_ffcx(others, scalar, options), others, form)
    return found


def _renumbered(found: list[dict[str, Any]], part: Any, form: Any) -> list[dict[str, Any]]:
    """Number coefficients and constants of integrals as in the whole form."""
    numbers = {
        "coefficient": [form.coefficients().index(one) for one in part.coefficients()],
        "constant": [form.constants().index(one) for one in part.constants()],
    }
    for described in found:
        for argument in described["arguments"]:
            if argument[0] in numbers:
                argument[3] = numbers[argument[0]][argument[3]]
    return found


def _by_ffcx(
    form: Any,
    scalar: np.dtype[Any],
    options: tuple[tuple[str, Any], ...],
    orders: tensor_products.Orders | None = None,
) -> list[dict[str, Any]]:
    """Let FFCx write the integrals; return a description of each.

    Args:
        form: The form.
        scalar: The dtype.
        options: Of FFCx.
        orders: Numbers of dofs, if FFCx counts otherwise.
    """
    load = extras.load
    needed_for = "compile_form"
    settings = load("ffcx.options", needed_for).get_options(
        {"scalar_type": scalar.name, "verbosity": logging.WARNING, **dict(options)}
    )
    try:
        analysis = load("ffcx.analysis", needed_for).analyze_ufl_objects([form], scalar.name)
        compute = load("ffcx.ir.representation", needed_for).compute_ir
        found = compute(analysis, {}, "pyop2cxx", settings, False)
        generate = _generator(settings)
        (described,) = found.forms
        for kind in described.integral_names:
            if described.integral_names[kind] and kind not in KINDS:
                raise UnsupportedError(
                    f"compile_form: integrals of kind '{kind}' are not supported; there are: "
                    f"{', '.join(KINDS)}"
                )
        integrals = {integral.expression.name: integral for integral in found.integrals}
        data = (form, described, orders)
        return [
            _description(integrals[one], kind, _ids(described, kind, one), generate, *data)
            for kind in KINDS
            for one in dict.fromkeys(described.integral_names[kind])
        ]
    except UnsupportedError:
        raise
    except InternalError as error:
        raise UnsupportedError(
            f"compile_form: {error}; what FFCx {version('fenics-ffcx')} writes is not understood. "
            f"{_WANTED}"
        ) from None
    except (Exception, _ARITY) as error:  # FFCx's parts raise errors of any type
        raise _refused(error) from None


def _generator(settings: Mapping[str, Any]) -> Callable[[Any, Any], str]:
    """Return a generator of the statements of an integral on cells of a type, as in FFCx's C.

    The surrounding function that FFCx adds is not needed.
    """
    needed_for = "compile_form"
    backend = extras.load("ffcx.codegeneration.backend", needed_for).FFCXBackend
    integral = extras.load("ffcx.codegeneration.integral_generator", needed_for).IntegralGenerator
    written = extras.load("ffcx.codegeneration.C.formatter", needed_for).Formatter(
        settings["scalar_type"]
    )

    def generate(one: Any, domain: Any) -> str:
        return str(written(integral(one, backend(one, settings)).generate(domain)))

    return generate


def _refused(error: BaseException) -> UsageError:
    kind, installed = type(error).__name__, version("fenics-ffcx")
    hint = "" if installed.startswith(f"{FFCX}.") else f". This is FFCx {installed}. {_WANTED}"
    if isinstance(error, _ARITY):
        hint = (
            "; a form is linear in its trial and test functions, each of which is in every term; "
            "an equation that is nonlinear has a fem.Function in the trial function's place: "
            f"fem.solve(F == 0, u){hint}"
        )
    said = f"{kind}: {str(error).rstrip('.')}"
    return UsageError(f"compile_form: UFL and FFCx do not compile this form: {said}{hint}")


def _ids(described: Any, kind: str, name: str) -> list[int]:
    pairs = zip(described.integral_names[kind], described.subdomain_ids[kind], strict=True)
    return [int(number) for one, number in pairs if one == name]


def _description(
    integral: Any,
    kind: str,
    subdomains: list[int],
    generate: Callable[[Any, Any], str],
    form: Any,
    described: Any,
    orders: tensor_products.Orders | None,
) -> dict[str, Any]:
    """Return the description of an integral, as kept in the cache."""
    expression = integral.expression
    domains = list(dict.fromkeys(key[0] for key in expression.integrand))
    if len(domains) != 1:
        raise UnsupportedError("compile_form: an integral is over cells of several types")
    body = ufcx.simplified(generate(integral, domains[0]))
    n_cells = 2 if kind == "interior_facet" else 1
    positions = described.original_coefficient_positions
    coefficients = [
        [positions[number], offset, n_cells * int(coefficient.ufl_element().dim)]
        for (coefficient, offset), number in zip(
            expression.coefficient_offsets.items(),
            expression.coefficient_numbering.values(),
            strict=True,
        )
    ]
    constants = [
        [number, int(offset), int(np.prod(constant.ufl_shape, dtype=int))]
        for number, (constant, offset) in enumerate(expression.original_constant_offsets.items())
    ]
    domain = form.integrals()[0].ufl_domain()
    dim = domain.geometric_dimension
    pieces = [ufcx.Part(f"coefficient{n}", a, size) for n, a, size in coefficients]
    body = ufcx.split(body, "w", pieces)
    body = ufcx.split(body, "c", [ufcx.Part(f"constant{n}", a, k) for n, a, k in constants])
    body = ufcx.narrowed(body, "coordinate_dofs", dim)
    if orders is not None:
        body = orders.applied(body, [(f"coefficient{a[0]}", a[0]) for a in coefficients])
    n_vertices = domain.ufl_coordinate_element().dim // domain.ufl_coordinate_element().block_size
    arguments = [
        *(["coefficient", f"coefficient{n}", size, n] for n, _, size in coefficients),
        *(["constant", f"constant{n}", size, n] for n, _, size in constants),
        ["coordinates", "coordinate_dofs", n_cells * n_vertices * dim, -1],
        ["facets", "entity_local_index", n_cells, -1],
        ["permutations", "quadrature_permutation", n_cells, -1],
    ]
    return {
        "kind": kind,
        "subdomains": sorted(subdomains),
        "shape": [int(n) for n in expression.tensor_shape],
        "arguments": [a for a in arguments if ufcx.uses(body, a[1])],
        "body": body,
    }


def _integral(described: dict[str, Any], scalar: np.dtype[Any], name: str) -> Integral:
    """Make an integral from a description."""
    dtypes = {
        "coordinates": real(scalar),
        "facets": np.dtype(np.int32),
        "permutations": np.dtype(np.uint8),
    }
    shape = tuple(described["shape"])
    parameters = [Parameter("tensor", "A", INC, scalar, int(np.prod(shape, dtype=int)))]
    parameters += [
        Parameter(role, called, READ, dtypes.get(role, scalar), size, number)
        for role, called, size, number in described["arguments"]
    ]
    return build(
        name,
        described["kind"],
        tuple(described["subdomains"]),
        parameters,
        shape,
        described["body"],
    )


def build(
    name: str,
    kind: str,
    subdomains: tuple[int, ...],
    parameters: list[Parameter],
    shape: tuple[int, ...],
    body: str,
    before: str = "",
) -> Integral:
    """Make an integral of the text of a function.

    Args:
        name: Of the kernel.
        kind: As of `Integral`.
        subdomains: As of `Integral`.
        parameters: As of `Integral`.
        shape: As of `Integral`.
        body: Statements of the function.
        before: Other functions, called by the body.
    """
    headers = ["math.h", "stdint.h"] + ["complex.h"] * (parameters[0].dtype.kind == "c")
    kernel = Kernel(
        function(name, parameters, body, headers, before),
        name,
        accesses=[parameter.access for parameter in parameters],
        dtypes=[parameter.dtype for parameter in parameters],
    ).written_here()
    return Integral(kind, subdomains, kernel, tuple(parameters), shape, body)


def function(
    name: str,
    parameters: Sequence[Parameter],
    body: str,
    headers: Sequence[str] = (),
    before: str = "",
) -> str:
    """Return the text of a function, after headers and other functions.

    Args:
        name: Of the function.
        parameters: Parameters of the function.
        body: Statements.
        headers: Included files.
        before: Other functions.
    """
    written = [(p.name, _ctype(p.dtype), p.access != INC) for p in parameters]
    return ufcx.function(name, written, body, headers, before)


def _ctype(dtype: np.dtype[Any]) -> str:
    return {"int32": "int32_t", "uint8": "uint8_t"}.get(dtype.name) or c_name(dtype)
