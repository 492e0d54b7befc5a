# SPDX-License-Identifier: BSD-3-Clause
"""Forms assembled cell by cell with the functions that FFCx compiles itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pyop2cxx import fem

KINDS = ("cell", "exterior_facet", "interior_facet")


def assembled(forms: list[fem.Form]) -> list[np.ndarray]:
    """Assemble forms of one dtype into dense arrays, by UFCx's functions and NumPy."""
    from ffcx.codegeneration import jit

    dtype = forms[0].dtype
    compiled, module, _ = jit.compile_forms(
        [form.form for form in forms],
        options={"scalar_type": dtype.name},
        cffi_extra_compile_args=["-O0", "-ffp-contract=off"],
    )
    return [_dense(form, one, module.ffi) for form, one in zip(forms, compiled, strict=True)]


def _dense(form: fem.Form, compiled: Any, ffi: Any) -> np.ndarray:
    found = np.zeros([space.size for space in form.spaces], form.dtype)
    for k, kind in enumerate(KINDS):
        for i in range(compiled.form_integral_offsets[k], compiled.form_integral_offsets[k + 1]):
            tabulate = getattr(compiled.form_integrals[i], f"tabulate_tensor_{form.dtype.name}")
            number = compiled.form_integral_ids[i]
            for cells, facets, turns in _entities(form, kind, number):
                _add(found, form, compiled, ffi, tabulate, (cells, facets, turns))
    return found


def _entities(form: fem.Form, kind: str, number: int) -> Any:
    domain = form.domain
    if kind == "cell":
        for cell in range(domain.mesh.cells.size):
            yield [cell], [0], [0]
        return
    facets = domain.facets(kind)
    chosen = range(facets.set.size) if number < 0 else domain.part(kind, number).indices
    for facet in chosen:
        yield (
            facets.cells.values[facet].tolist(),
            np.atleast_1d(facets.local_numbers.data_ro[facet]).tolist(),
            np.atleast_1d(facets.permutations.data_ro[facet]).tolist(),
        )


def _add(
    found: np.ndarray, form: fem.Form, compiled: Any, ffi: Any, tabulate: Any, where: Any
) -> None:
    cells, facets, turns = where
    w = [
        _values(form.coefficients[compiled.original_coefficient_positions[i]], cell)
        for i in range(compiled.num_coefficients)
        for cell in cells
    ]
    c = [np.asarray(constant.data.data_ro, form.dtype) for constant in form.constants]
    x = np.zeros((len(cells), form.domain.corners.shape[1], 3))
    x[:, :, : form.domain.gdim] = form.domain.mesh.coordinates.data_ro.reshape(
        -1, form.domain.gdim
    )[form.domain.corners[cells]]
    rows = [np.concatenate([_dofs(space, cell) for cell in cells]) for space in form.spaces]
    signs = [np.concatenate([_signs(space, cell) for cell in cells]) for space in form.spaces]
    tensor = np.zeros([len(r) for r in rows], form.dtype)
    scalar, real = _ctype(form.dtype), _ctype(np.empty(0, form.dtype).real.dtype)
    arrays = (
        (scalar, tensor),
        (scalar, np.concatenate([*w, np.zeros(1)]).astype(form.dtype)),
        (scalar, np.concatenate([*c, np.zeros(1)]).astype(form.dtype)),
        (real, x.astype(np.empty(0, form.dtype).real.dtype)),
        ("int", np.array(facets, np.int32)),
        ("uint8_t", np.array(turns, np.uint8)),
    )
    tabulate(*(ffi.cast(f"{t} *", ffi.from_buffer(a)) for t, a in arrays), ffi.NULL)
    for axis, sign in enumerate(signs):
        tensor *= np.expand_dims(sign, tuple(a for a in range(tensor.ndim) if a != axis))
    if rows:
        np.add.at(found, np.ix_(*rows), tensor)
    else:
        found += tensor


def _dofs(space: fem.FunctionSpace, cell: int) -> np.ndarray:
    blocks = space.cell_dofs.values[cell][:, None] * space.dim + np.arange(space.dim)
    return blocks.reshape(-1)


def _signs(space: fem.FunctionSpace, cell: int) -> np.ndarray:
    if space.signs is None:
        return np.ones(space.cell_dofs.arity * space.dim)
    return space.signs.data_ro[cell]


def _values(function: fem.Function, cell: int) -> np.ndarray:
    return function.values[_dofs(function.space, cell)] * _signs(function.space, cell)


def _ctype(dtype: Any) -> str:
    return {
        "float32": "float",
        "float64": "double",
        "complex64": "float _Complex",
        "complex128": "double _Complex",
    }[np.dtype(dtype).name]
