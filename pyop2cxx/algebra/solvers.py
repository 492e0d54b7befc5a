# SPDX-License-Identifier: BSD-3-Clause
"""Solvers of linear systems, by libraries: SciPy, PyAMG, petsc4py, CuPy; PETSc's option names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra import krylov, libraries, on_ranks, own_krylov, petsc_ksp, plugged
from pyop2cxx.algebra.block_inverses import KINDS, Blocks
from pyop2cxx.algebra.convergence import Convergence, not_converged, not_factorised, of_zero
from pyop2cxx.algebra.preconditioners import Kept, NotFactorised
from pyop2cxx.algebra.systems import (
    as_operator,
    check_finite,
    check_system,
    dat_of,
    flat,
    guess_of,
    has_constants,
    owned,
    put,
    right_side,
)
from pyop2cxx.base import extras
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DataValueError, MatTypeError, SolverOptionError
from pyop2cxx.interop import cupy, dlpack
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.maps import Map

if TYPE_CHECKING:
    from pyop2cxx.algebra.libraries import Library
    from pyop2cxx.algebra.systems import Operator, Vector

DEFAULTS: Mapping[str, Any] = {
    "ksp_type": "cg",
    "pc_type": "jacobi",
    "pc_dtype": "",
    "pc_patches": None,
    "ksp_rtol": 1e-7,
    "ksp_atol": 1e-50,
    "ksp_divtol": 1e4,
    "ksp_max_it": 10000,
    "ksp_gmres_restart": 30,
    "ksp_initial_guess_nonzero": True,
    "fused": False,
    "ksp_monitor": False,
    "plot_convergence": False,
    "plot_prefix": "",
    "error_on_nonconvergence": True,
    "package": "auto",
}
"""The options of a Solver, in PETSc's names, and their defaults."""

OLD_NAMES: Mapping[str, str] = {
    "linear_solver": "ksp_type",
    "preconditioner": "pc_type",
    "relative_tolerance": "ksp_rtol",
    "absolute_tolerance": "ksp_atol",
    "divergence_tolerance": "ksp_divtol",
    "maximum_iterations": "ksp_max_it",
    "gmres_restart": "ksp_gmres_restart",
    "monitor_convergence": "ksp_monitor",
}
"""PyOP2's names of 2013."""

KRYLOV = ("cg", "gmres", "bicgstab", "preonly")
PRECONDITIONERS = ("none", "jacobi", "ilu", "lu", "amg", "bjacobi", "patch")
PACKAGES = ("auto", "own", "scipy", "petsc", "cupy")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "ksp_type": KRYLOV,
    "pc_type": PRECONDITIONERS,
    "pc_dtype": ("", "float32", "float64"),
    "package": PACKAGES,
}
_ONCE = ("lu", "jacobi", "ilu", "bjacobi")
_SAME = {
    "bcgs": "bicgstab",
    "gamg": "amg",
    "hypre": "amg",
    "direct": "preonly",
    "diagonal": "jacobi",
}


@ends_tracebacks("__init__", "solve")
class Solver(Shown):
    """Solves ``A x = b`` by a library, controlled by PETSc's option names.

    Args:
        parameters: Options by name, see `DEFAULTS`; PyOP2's names of 2013 are known, too.
        **options: The same, by keyword. Either parameters or keywords, not both.

    Options:
        ``ksp_type`` is cg, gmres, bicgstab (bcgs) or preonly; ``pc_type`` is none, jacobi, ilu, lu
        (direct), amg (gamg; by PyAMG; hypre becomes amg, with a line in the log), bjacobi or patch.
        bjacobi inverts dense blocks on the diagonal: of the dofs of each cell, where a Map of the
        Sparsity gives each dof to one entity, as of DG; otherwise of the components of each dof.
        patch adds the solutions on overlapping patches, such as the cells around each vertex:
        ``pc_patches`` is a Map to the dofs of each, ragged or not, see
        `pyop2cxx.fem.vertex_stars`; dofs of no patch are blocks of their own. ``pc_dtype`` is the
        dtype of these inverses in memory, ``"float32"`` for half of it; own adds doubles.
        ``ksp_rtol`` is relative to the norm of b, ``ksp_atol`` absolute; the solve diverges if the
        residual grows beyond ``ksp_divtol`` times the initial residual. x is read as the initial
        guess, unless ``ksp_initial_guess_nonzero`` is False or ksp_type is preonly.

        ``package`` is own (cg, gmres or bicgstab with none, jacobi, ilu, bjacobi or patch, of a
        matrix of doubles, on all threads of the host), scipy, petsc (petsc4py), cupy (on the
        backend cuda, where the values are), or auto. That is cupy where it is installed, loops run
        on CUDA and CuPy has the method and the preconditioner (not bjacobi and patch); else own
        where that is possible; otherwise scipy. The ilu of
        own is ILU(0), symmetric for a symmetric matrix; auto leaves ilu of mixed matrices to SciPy,
        which exchanges rows, unless ksp_type is cg. Other packages add names, see
        `pyop2cxx.algebra.plugged`.

        ``fused`` is for cg of own: a step has a single reduction over threads and processes, of
        all sums at once; results differ by rounding.

        With a matrix shared by processes (`op2.distribute`), own runs on all of them; ilu is then
        of the rows of each. For other methods, such as lu, the first process gathers the system
        and solves it: for small systems.

    The residual ``b - A x`` is computed at the end of each solve. After a direct solve the residual
    must be at most 1e-6 of b's norm (1e-3 in single precision); or of the size of rounding errors,
    unless the matrix is singular to the precision of the dtype.

    A Solver keeps factors and preconditioners of the last matrix, and renews them if the matrix or
    ``pc_type`` changes. Values are compared, so no change goes unnoticed.

    Raises:
        SolverOptionError: Both ways are used; an option is unknown or has an unknown value.

    Example:
        >>> solver = Solver(ksp_type="cg", pc_type="ilu", ksp_rtol=1e-10)
        >>> solver.parameters["pc_type"]
        'ilu'
    """

    def __init__(self, parameters: Mapping[str, Any] | None = None, **options: Any) -> None:
        if parameters is not None and options and isinstance(parameters, Mapping):
            raise SolverOptionError("Solver: pass the options as a dict or as keywords, not both")
        self._parameters = dict(DEFAULTS)
        self._last: Convergence | None = None
        self._kept = Kept()
        self.update_parameters(options if parameters is None else parameters)

    def __repr__(self) -> str:
        changed = [f"{k}={v!r}" for k, v in self._parameters.items() if v != DEFAULTS[k]]
        return f"Solver({', '.join(changed)})"

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows, for notebooks, which draw the history as a curve."""
        shown = ("ksp_type", "pc_type", "package", "ksp_rtol")
        rows = [(name, str(self._parameters[name])) for name in shown]
        if self._last is None:
            return "Solver, not used yet", rows
        title, found = self._last.as_table()
        return f"Solver, {title}", rows + found

    @property
    def parameters(self) -> dict[str, Any]:
        """The options, in PETSc's names. Change them by `update_parameters`."""
        return dict(self._parameters)

    def update_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Set options, or none if a value is wrong.

        Raises:
            SolverOptionError: An option is unknown or has an unknown value.
        """
        if not isinstance(parameters, Mapping):
            got = parameters.label if isinstance(parameters, Mat) else repr(parameters)
            raise SolverOptionError(
                f"Solver: the options must be a dict, got {got} of type "
                f"{type(parameters).__name__}; the matrix is passed to solve(A, x, b)"
            )
        wanted = dict(self._parameters)
        for name, value in parameters.items():
            known = OLD_NAMES.get(name, name)
            if known not in DEFAULTS:
                raise SolverOptionError(
                    f"Solver: there is no option {name!r}; there are: {', '.join(DEFAULTS)}"
                )
            wanted[known] = _checked(known, value)
        if wanted["ksp_type"] == "preonly" and wanted["pc_type"] not in _ONCE:
            raise SolverOptionError(
                "Solver: ksp_type 'preonly' applies the preconditioner once: pass pc_type='lu' for "
                "a direct solver"
            )
        self._parameters = wanted

    @property
    def convergence(self) -> Convergence | None:
        """How the last solve went; None before the first."""
        return self._last

    @property
    def history(self) -> tuple[float, ...]:
        """Norms of the residual in the last solve, from the initial guess on; tuple of float."""
        return () if self._last is None else self._last.history

    def solve(self, A: Mat | Operator, x: Vector, b: Vector, *, P: Mat | None = None) -> None:
        """Solve ``A x = b``; x holds the initial guess before, and the solution afterwards.

        Args:
            A: A Mat; or a function ``A(x, y)`` computing ``y = A x`` by loops over Dats, for
                methods without a matrix (pc_type 'none').
            x: On the DataSet of the columns; a MixedDat for a mixed matrix; or a `fem.Function`.
            b: On the DataSet of the rows.
            P: A Mat of the size of A, for the preconditioner alone, by SciPy: another matrix, or
                A in narrow memory, ``op2.Mat(sparsity, "float32", compute="float64")``. None means
                A. The method computes in the dtype of A, the preconditioner in the dtype of P.

        Raises:
            MatTypeError: A is neither, or P is not a Mat.
            DatTypeError: x or b is not a Dat.
            DataTypeError: The dtype of x does not hold the solution.
            DataValueError: The vectors do not fit A; A or b has a value that is not finite, or x as
                the initial guess.
            SolverOptionError: A function has no matrix to precondition with.
            ConvergenceError: The solve did not converge, or the residual of a direct solve is too
                large, and ``error_on_nonconvergence`` is set; x is unchanged.
            MissingExtraError: The library is not installed.
        """
        x, b = dat_of(x), dat_of(b)
        check_system(A, x, b)
        options = self._parameters
        if P is not None:
            options = _with_matrix(options, A, P, b)
        elif not isinstance(A, Mat) and options["pc_type"] != "none":
            raise SolverOptionError(
                f"Solver: pc_type {options['pc_type']!r} needs a matrix; pass pc_type='none' with "
                "a function"
            )
        if options["pc_type"] in KINDS:
            options = {**options, "blocks": Blocks(A if P is None else P, options)}
        package = _package(options, A, x, b)
        solve = _SOLVERS.get(package, _solve_plugged)
        is_shared = on_ranks.are_shared(x)
        if is_shared:
            solve = on_ranks.chosen(package, A, x, b, options)
        try:
            found, went = solve(A, x, b, options, self._kept)
        except NotFactorised as failed:
            is_singular = not is_shared and has_constants(A, x)
            raise not_factorised(*failed.args, has_constants=is_singular) from None
        self._last = went
        self._tell(went)
        if not went.converged and options["error_on_nonconvergence"]:
            raise not_converged(went, options, has_constants=has_constants(A, x))
        put(x, found, on_device=package == "cupy")

    def _tell(self, went: Convergence) -> None:
        if self._parameters["ksp_monitor"]:
            for step, norm in enumerate(went.history):
                runtime.logger.warning("%4d KSP Residual norm %.12e", step, norm)
        if self._parameters["plot_convergence"]:
            _plot(went, self._parameters["plot_prefix"])
        if not went.converged and not self._parameters["error_on_nonconvergence"]:
            warnings.warn(
                f"solve: did not converge: {went.reason} after {went.n_iterations} iterations",
                RuntimeWarning,
                stacklevel=4,
            )
        elif went.converged and went.is_singular:
            warnings.warn(
                "solve: the matrix is singular, as far as its dtype can tell, so x is one of many "
                "solutions; is a boundary condition missing, or one value of a pressure?",
                RuntimeWarning,
                stacklevel=4,
            )


def solve(
    A: Mat | Operator, x: Vector, b: Vector, *, P: Mat | None = None, **options: Any
) -> Convergence:
    """Solve ``A x = b`` with a Solver of the given options.

    Args:
        A: As for `Solver.solve`.
        x: As for `Solver.solve`.
        b: As for `Solver.solve`.
        P: As for `Solver.solve`.
        **options: As for `Solver`.

    Returns:
        The outcome.

    Raises:
        UsageError: As for `Solver.solve`.
        ConvergenceError: As for `Solver.solve`.

    Example:
        >>> from pyop2cxx import op2
        >>> cells, nodes = op2.Set(2), op2.Set(3)
        >>> c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
        >>> mat = op2.Mat(op2.Sparsity((nodes ** 1, nodes ** 1), [(c2n, c2n, None)]))
        >>> mat.set_local_diagonal_entries(range(3), 2.0)
        >>> x, b = op2.Dat(nodes), op2.Dat(nodes, [2.0, 4.0, 6.0])
        >>> op2.solve(mat, x, b, ksp_rtol=1e-12).reason
        'CONVERGED_RTOL'
        >>> x.data_ro.round(9).tolist()
        [1.0, 2.0, 3.0]
    """
    solver = Solver(**options)
    solver.solve(A, x, b, P=P)
    assert solver.convergence is not None  # set by solve
    return solver.convergence


def _checked(name: str, value: Any) -> Any:
    default = DEFAULTS[name]
    if value == "hypre":
        runtime.logger.warning("Solver: pc_type 'hypre' is not offered; 'amg' is taken instead")
    value = _SAME.get(value, value) if isinstance(value, str) else value
    choices = _CHOICES.get(name)
    if choices is PACKAGES and value not in PACKAGES:
        choices = (*PACKAGES, *plugged.names())
    if choices is not None:
        good = value in choices
        expected = f"one of: {', '.join(choices)}"
    elif default is None:
        good, expected = value is None or isinstance(value, Map), "a Map to the dofs of patches"
    elif isinstance(default, bool):
        good, expected = isinstance(value, bool), "True or False"
    elif isinstance(default, str):
        good, expected = isinstance(value, str), "a string"
    elif isinstance(default, int):
        good = isinstance(value, int) and not isinstance(value, bool) and value > 0
        expected = "a positive integer"
    else:
        good = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        expected = "a number, not negative"
    if not good:
        raise SolverOptionError(f"Solver: option {name!r} must be {expected}, got {value!r}")
    return value


def _with_matrix(
    options: Mapping[str, Any], A: Mat | Operator, P: Mat, b: Vector
) -> dict[str, Any]:
    """Return options of a solve preconditioned by another matrix.

    Raises:
        MatTypeError: P is not a Mat.
        DataValueError: P has another size.
        SolverOptionError: The package does not take P, or the method uses nothing else.
    """
    if not isinstance(P, Mat):
        raise MatTypeError(f"Solver: P must be a Mat, got {P!r} of type {type(P).__name__}")
    n = flat(b).size
    if (P.nrows, P.ncols) != (n, n):
        raise DataValueError(
            f"Solver: P, {P.label}, has {P.nrows} x {P.ncols} entries, the system {n} x {n}"
        )
    if options["package"] not in ("auto", "scipy") or options["fused"]:
        raise SolverOptionError(
            f"Solver: a preconditioner of another matrix, P, is for package 'scipy'; got package "
            f"{options['package']!r}"
        )
    if options["ksp_type"] == "preonly" or options["pc_type"] == "none":
        raise SolverOptionError(
            "Solver: P is for a method with a preconditioner; got ksp_type "
            f"{options['ksp_type']!r} and pc_type {options['pc_type']!r}"
        )
    if P.is_distributed:
        raise SolverOptionError("Solver: P is for matrices of one process")
    return {**options, "package": "scipy", "P": owned(P, on_host=True)}


def _package(options: Mapping[str, Any], A: Mat | Operator, x: Vector, b: Vector) -> str:
    """Return the library of the solve."""
    wanted = str(options["package"])
    if options["fused"] and (options["ksp_type"] != "cg" or wanted not in ("auto", "own")):
        raise SolverOptionError(
            "Solver: 'fused' is for ksp_type 'cg' of package 'own'; got ksp_type "
            f"{options['ksp_type']!r} and package {wanted!r}"
        )
    if wanted == "own" and not own_krylov.is_possible(A, x, b, options):
        raise SolverOptionError(
            "Solver: package 'own' solves by ksp_type 'cg', 'gmres' or 'bicgstab' with pc_type "
            f"{', '.join(map(repr, own_krylov.PRECONDITIONERS))}, with a Mat of float64; choose "
            "these, or package='scipy'"
        )
    if options["pc_type"] in KINDS and wanted not in ("auto", "own", "scipy"):
        raise SolverOptionError(
            f"Solver: pc_type {options['pc_type']!r} is for packages 'own' and 'scipy', got "
            f"{wanted!r}"
        )
    if wanted == "cupy" and dlpack.place_of(runtime.device) == dlpack.HOST:
        raise SolverOptionError(
            f"Solver: package 'cupy' solves where loops run on a CUDA device, but they run on "
            f"'{runtime.backend}'; choose the backend 'cuda', or package='scipy'"
        )
    if wanted != "auto":
        return wanted
    on_device = options["ksp_type"] != "bicgstab" and options["pc_type"] in ("none", "jacobi")
    if on_device and not options["fused"] and cupy.is_possible():
        return "cupy"
    if not own_krylov.is_possible(A, x, b, options):
        return "scipy"
    # one of several fields may have no diagonal entries; cg needs a symmetric preconditioner
    has_fields = isinstance(A, Mat) and A.is_mixed
    is_pivoted = options["pc_type"] == "ilu" and options["ksp_type"] != "cg" and has_fields
    return "scipy" if is_pivoted else "own"


def _solve_own(
    A: Any, x: Vector, b: Vector, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    rhs = right_side(A, x, b, flat)
    rows = own_krylov.rows_of(A)
    if rows is None:
        matrix = owned(A, on_host=True).tocsr()
        matrix.sort_indices()
        rows = (matrix.indptr.astype(np.int64), matrix.indices, matrix.data, 1)
    check_finite(np, {"b": rhs, A.label: rows[2]})
    guess = guess_of(x, rhs, options, np, flat)
    if not rhs.any():
        return rhs, of_zero()
    return own_krylov.solve(rows, rhs, guess, options, kept)


def _solve_scipy(
    A: Any, x: Vector, b: Vector, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    library = libraries.scipy("op2.solve()")
    rhs = right_side(A, x, b, flat)
    with libraries.one_blas_thread():
        guess = guess_of(x, rhs, options, np, flat)
        return _solve_by(library, A, x, b, (rhs, guess), options, kept)


def _solve_cupy(
    A: Any, x: Vector, b: Vector, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    """Solve where the values are: nothing is copied to the host but norms."""
    library = libraries.cupy("package 'cupy'")
    rhs = right_side(A, x, b, cupy.vector)
    guess = guess_of(x, rhs, options, library.arrays, cupy.vector)
    return _solve_by(library, A, x, b, (rhs, guess), options, kept)


def _solve_by(
    library: Library,
    A: Any,
    x: Vector,
    b: Vector,
    vectors: tuple[Any, Any],
    options: Mapping[str, Any],
    kept: Kept,
) -> tuple[Any, Convergence]:
    rhs, guess = vectors
    check_finite(library.arrays, {"b": rhs})
    if isinstance(A, Mat):
        operator = owned(A, on_host=library.on_host)
        check_finite(library.arrays, {A.label: operator.data})
    else:
        operator = as_operator(A, x, b, library)
    if not rhs.any():
        return rhs, of_zero()
    return krylov.solve(library, operator, rhs, guess, options, kept)


def _solve_petsc(
    A: Any, x: Vector, b: Vector, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    operator, rhs, guess = _for_library(A, x, b, options)
    if not rhs.any():
        return rhs, of_zero()
    with libraries.one_blas_thread():
        return petsc_ksp.solve(A, operator, rhs, guess, options, kept)


def _solve_plugged(
    A: Any, x: Vector, b: Vector, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    operator, rhs, guess = _for_library(A, x, b, options)
    if not rhs.any():
        return rhs, of_zero()
    return plugged.solve(options["package"], operator, rhs, guess, options)


def _for_library(A: Any, x: Vector, b: Vector, options: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return matrix, right-hand side and initial guess of a Mat's system on the host."""
    if not isinstance(A, Mat):
        raise SolverOptionError(
            f"Solver: package '{options['package']}' needs a Mat; take 'scipy' for a function"
        )
    operator, rhs = A.to_scipy(), right_side(A, x, b, flat)
    check_finite(np, {A.label: operator.data, "b": rhs})
    return operator, rhs, guess_of(x, rhs, options, np, flat)


_SOLVERS = {
    "own": _solve_own,
    "petsc": _solve_petsc,
    "cupy": _solve_cupy,
    "scipy": _solve_scipy,
}


def _plot(went: Convergence, prefix: str) -> None:
    pyplot = extras.load("matplotlib.pyplot", "plot_convergence")
    figure, axes = pyplot.subplots()
    axes.semilogy(went.history)
    axes.set_xlabel("iteration")
    axes.set_ylabel("norm of the residual")
    figure.savefig(f"{prefix}convergence.png")
    pyplot.close(figure)
