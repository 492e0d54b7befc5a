# SPDX-License-Identifier: BSD-3-Clause
"""The loops of the corpus with Dats and Mats in narrow memory under kernels of doubles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpus import CASES, Case, Problem

from pyop2cxx import op2

if TYPE_CHECKING:
    import numpy as np

ROUNDED = {"float32": 3e-6, "float16": 2.5e-2, "bfloat16": 0.2}
"""Of values that were rounded to 24, 11 or 8 bits before a loop, and after it."""
SHARED = {"two_dats_one_array", "overlapping_slices", "memory_that_c_cannot_use"}
"""Loops over one array in several Dats: other Dats would not share it."""
WIDE = {"ragged_read", "mixed_matrix_with_a_global"}
"""Loops over rows that are longer than a pack may be, or with a matrix's row of a Global."""


def narrowed(problem: Problem, narrow: str = "float32") -> Problem | None:
    """Return a loop with wide Dats in narrow memory, and all else as before; None if it has none.

    Args:
        problem: A loop of the corpus.
        narrow: The dtype of memory; Mats are as they were for those of 16 bits.
    """
    dtypes = {"float64": narrow, **({} if narrow == "float32" else {"float32": narrow})}
    made: dict[int, Any] = {}
    args = []
    for arg in problem.args:
        dat = arg.data
        if isinstance(dat, op2.Mat) and dat.dtype.name in dtypes and narrow == "float32":
            mat = op2.Mat(dat.sparsity, narrow, compute=dat.dtype)
            made |= {id(one): other for one, other in zip(dat.split, mat.split, strict=True)}
            for one, other in zip(dat.split, mat.split, strict=True):
                other.array[...] = one.array
            args.append(arg.of(mat))
            continue
        is_plain = type(dat) is op2.Dat and not arg.form and dat.stored_apart is None
        dtype = dtypes.get(dat.dtype.name) if is_plain else None
        if dtype is None:
            args.append(arg)
            continue
        if id(dat) not in made:
            values = dat.data_ro_with_halos.astype(dtype)
            made[id(dat)] = op2.Dat(dat.dataset, values, dtype, compute=dat.dtype, copy=True)
        args.append(replace(arg, data=made[id(dat)]))
    if not made:
        return None
    expected = tuple((made.get(id(one), one), want) for one, want in problem.expected)
    return replace(problem, args=tuple(args), expected=expected)


def narrowed_case(given: Case, narrow: str = "float32") -> Case | None:
    """Return a case with narrow memory of a dtype; None if it has no Dats for that."""
    if given.name in SHARED | WIDE:
        return None
    problem = given.problem()
    for constant in problem.constants:
        constant.remove_from_namespace()
    if problem.check is not None or narrowed(problem, narrow) is None:
        return None

    def build(rng: np.random.Generator) -> Any:  # kernels are the same, so random numbers are, too
        del rng
        return narrowed(given.problem(), narrow)

    strategies = given.strategies
    if narrow != "float32" and any(arg.access in (op2.MIN, op2.MAX) for arg in problem.args):
        strategies -= {"atomic", "team"}
    return replace(
        given, build=build, strategies=strategies, tolerance=max(given.tolerance, ROUNDED[narrow])
    )


def narrowed_cases(narrow: str = "float32") -> list[Case]:
    """Return the corpus with narrow memory of a dtype."""
    found = [narrowed_case(case, narrow) for case in CASES]
    return [made for made in found if made is not None]


IN_THE_CORPUS = (
    "direct_read_write",
    "inc_two_dats",
    "indirect_rw",
    "min_max_of_every_width",
    "sums_along_dimensions",
    "extruded_constant",
)
"""Loops that meet all that the corpus is run through, once with narrow memory, too."""


HALF = ("direct_read_write", "indirect_rw", "min_max_of_every_width")
"""Those that do with float16, too: none has a sum by a Map."""


def add_to_corpus() -> None:
    """Add some of the loops with narrow memory to the corpus."""
    found = [
        replace(made, name=f"{name}_{one.name}")
        for name, dtype, chosen in (
            ("narrow", "float32", IN_THE_CORPUS),
            ("half", "float16", HALF),
        )
        for one in CASES
        if one.name in chosen and (made := narrowed_case(one, dtype)) is not None
    ]
    CASES.extend(found)
