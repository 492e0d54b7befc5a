# SPDX-License-Identifier: BSD-3-Clause
"""Solvers of linear systems, by libraries: SciPy, PyAMG, petsc4py, CuPy; PETSc's option names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra import krylov, own_cg
from pyop2cxx.algebra.krylov import Convergence
from pyop2cxx.base import extras
from pyop2cxx.base.arrays import spread
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat, is_same_space
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.exceptions import (
    ConvergenceError,
    DataValueError,
    DatTypeError,
    MatTypeError,
    SolverOptionError,
)
from pyop2cxx.interop import cupy, dlpack
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Vector = Dat | MixedDat | Global
    Operator = Callable[[Any, Any], None]

DEFAULTS: Mapping[str, Any] = {
    "ksp_type": "cg",
    "pc_type": "jacobi",
    "ksp_rtol": 1e-7,
    "ksp_atol": 1e-50,
    "ksp_divtol": 1e4,
    "ksp_max_it": 10000,
    "ksp_gmres_restart": 30,
    "ksp_initial_guess_nonzero": True,
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
PRECONDITIONERS = ("none", "jacobi", "ilu", "lu", "amg")
PACKAGES = ("auto", "own", "scipy", "petsc", "cupy")
_SAME = {
    "bcgs": "bicgstab",
    "gamg": "amg",
    "hypre": "amg",
    "direct": "preonly",
    "diagonal": "jacobi",
}


@ends_tracebacks("__init__", "solve")
class Solver:
    """Solves ``A x = b`` by a library, controlled by PETSc's option names.

    Args:
        parameters: Options by name, see `DEFAULTS`; PyOP2's names of 2013 are known, too.
        **options: The same, by keyword. Either parameters or keywords, not both.

    Options:
        ``ksp_type`` is cg, gmres, bicgstab (bcgs) or preonly; ``pc_type`` is none, jacobi, ilu, lu
        (direct) or amg (gamg; by PyAMG). ``ksp_rtol`` is relative to the norm of b, ``ksp_atol``
        absolute; the solve diverges where the residual grows beyond ``ksp_divtol`` times that of
        the start. ``package`` is own (cg with none or jacobi of a matrix of doubles, on all threads
        of the host), scipy, petsc (petsc4py), cupy (on the backend cuda, where the values are), or
        auto: cupy where it is installed, loops run on CUDA and CuPy has the method and the
        preconditioner; else own where that is possible; otherwise scipy.

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
        self.update_parameters(options if parameters is None else parameters)

    def __repr__(self) -> str:
        changed = [f"{k}={v!r}" for k, v in self._parameters.items() if v != DEFAULTS[k]]
        return f"Solver({', '.join(changed)})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The options, in PETSc's names. Change them by `update_parameters`."""
        return dict(self._parameters)

    def update_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Set options, or none of them if one is wrong.

        Raises:
            SolverOptionError: An option is unknown or has an unknown value.
        """
        if not isinstance(parameters, Mapping):
            got = parameters._what if isinstance(parameters, Mat) else repr(parameters)
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
        if wanted["ksp_type"] == "preonly" and wanted["pc_type"] not in ("lu", "jacobi", "ilu"):
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
        """Norms of the residual in the last solve, that of the initial guess first."""
        return () if self._last is None else self._last.history

    def solve(self, A: Mat | Operator, x: Vector, b: Vector) -> None:
        """Solve ``A x = b``; x holds the initial guess before, and the solution after.

        Args:
            A: A Mat; or a function ``A(x, y)`` that computes ``y = A x`` by loops over Dats, for
                methods that need no more (pc_type 'none').
            x: On the DataSet of the columns; a MixedDat for a mixed matrix.
            b: On the DataSet of the rows.

        Raises:
            MatTypeError: A is neither.
            DatTypeError: x or b is not a Dat.
            DataValueError: They do not fit A; A or b has a value that is not finite.
            SolverOptionError: A function has no matrix to precondition with.
            ConvergenceError: It did not converge, and ``error_on_nonconvergence`` is set; x is
                unchanged.
            MissingExtraError: The library is not installed.
        """
        _check_system(A, x, b)
        options = self._parameters
        if not isinstance(A, Mat) and options["pc_type"] != "none":
            raise SolverOptionError(
                f"Solver: pc_type {options['pc_type']!r} needs a matrix; pass pc_type='none' with "
                "a function"
            )
        package = _package(options, A, x, b)
        solved = {
            "own": _solve_own,
            "petsc": _solve_petsc,
            "cupy": _solve_cupy,
            "scipy": _solve_scipy,
        }[package]
        found, went = solved(A, x, b, options)
        self._last = went
        self._tell(went)
        if not went.converged and options["error_on_nonconvergence"]:
            error = ConvergenceError(
                f"solve: {options['ksp_type']} with {options['pc_type']} did not converge: "
                f"{went.reason} after {went.n_iterations} iterations, residual "
                f"{went.history[-1] if went.history else float('nan'):.3e}; x is unchanged. Allow "
                "more iterations (ksp_max_it), take another ksp_type or pc_type, or pass "
                "error_on_nonconvergence=False to keep what was found"
            )
            error.reason, error.history = went.reason, went.history
            raise error
        _put(x, found, on_device=package == "cupy")

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
                stacklevel=3,
            )


def solve(A: Mat | Operator, x: Vector, b: Vector, **options: Any) -> Convergence:
    """Solve ``A x = b`` with a Solver of these options.

    Args:
        A: As for `Solver.solve`.
        x: As for `Solver.solve`.
        b: As for `Solver.solve`.
        **options: As for `Solver`.

    Returns:
        How it went.

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
    solver.solve(A, x, b)
    assert solver.convergence is not None  # set by solve
    return solver.convergence


def _checked(name: str, value: Any) -> Any:
    default = DEFAULTS[name]
    value = _SAME.get(value, value) if isinstance(value, str) else value
    choices = {"ksp_type": KRYLOV, "pc_type": PRECONDITIONERS, "package": PACKAGES}.get(name)
    if choices is not None:
        good = value in choices
        expected = f"one of: {', '.join(choices)}"
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


def _check_system(A: object, x: object, b: object) -> None:
    if not isinstance(A, Mat) and not callable(A):
        raise MatTypeError(
            f"solve: A must be a Mat or a function A(x, y), got {A!r} of type {type(A).__name__}"
        )
    for name, dat in (("x", x), ("b", b)):
        if not isinstance(dat, Dat | MixedDat | Global):
            raise DatTypeError(
                f"solve: {name} must be a Dat, a MixedDat or a Global, got {dat!r} of type "
                f"{type(dat).__name__}"
            )
        for part in dat:
            part._check_summed("solve")
    assert isinstance(x, Dat | MixedDat | Global)
    assert isinstance(b, Dat | MixedDat | Global)
    if isinstance(A, Mat):
        A._check_vector(x, 1, "columns")
        A._check_vector(b, 0, "rows")
        if A._n_stored(0) != A._n_stored(1):
            raise DataValueError(
                f"solve: {A._what} has {A._n_stored(0)} rows and {A._n_stored(1)} columns; only "
                "square systems can be solved"
            )
    elif not is_same_space(x.dataset, b.dataset):
        raise DataValueError(f"solve: x and b, {x.name} and {b.name}, are on different DataSets")


def _package(options: Mapping[str, Any], A: Mat | Operator, x: Vector, b: Vector) -> str:
    """Return the library of this solve."""
    wanted = str(options["package"])
    if wanted == "own" and not own_cg.is_possible(A, x, b, options):
        raise SolverOptionError(
            "Solver: package 'own' solves by ksp_type 'cg' with pc_type 'none' or 'jacobi', with a "
            "Mat of float64 that is one block of square entries; choose these, or package='scipy'"
        )
    if wanted == "cupy" and dlpack.place_of(runtime.device) == dlpack.HOST:
        raise SolverOptionError(
            f"Solver: package 'cupy' solves where loops run on a CUDA device, but they run on "
            f"'{runtime.backend}'; choose the backend 'cuda', or package='scipy'"
        )
    if wanted != "auto":
        return wanted
    on_device = options["ksp_type"] != "bicgstab" and options["pc_type"] in ("none", "jacobi")
    if on_device and cupy.is_possible():
        return "cupy"
    return "own" if own_cg.is_possible(A, x, b, options) else "scipy"


def _check_finite(xp: Any, found: Mapping[str, Any]) -> None:
    for what, values in found.items():
        # a sum is finite only if its terms are, and needs no array of truth values
        if values.size and not xp.isfinite(values.sum()) and not xp.isfinite(values).all():
            raise DataValueError(f"solve: {what} has values that are not finite")


def _solve_own(
    A: Any, x: Vector, b: Vector, options: Mapping[str, Any]
) -> tuple[Array, Convergence]:
    rhs = np.ascontiguousarray(b.data_ro).reshape(-1)
    guess = np.array(x.data_ro).reshape(-1)
    values = A._stored("solve", write=False)
    _check_finite(np, {"b": rhs, "x": guess, A._what: values})
    return own_cg.solve(A, rhs, guess, options)


def _solve_scipy(
    A: Mat | Operator, x: Vector, b: Vector, options: Mapping[str, Any]
) -> tuple[Array, Convergence]:
    library = krylov.scipy("op2.solve()")
    rhs = np.concatenate([part.data_ro.reshape(-1) for part in b.split])
    guess = np.concatenate([part.data_ro.reshape(-1) for part in x.split])
    operator = _owned(A, library) if isinstance(A, Mat) else _as_operator(A, x, b, library)
    return _solve_by(library, A, operator, rhs, guess.astype(rhs.dtype, copy=False), options)


def _solve_cupy(
    A: Mat | Operator, x: Vector, b: Vector, options: Mapping[str, Any]
) -> tuple[Any, Convergence]:
    """Solve where the values are: nothing is copied to the host but norms."""
    library = krylov.cupy("package 'cupy'")
    rhs = cupy.vector(b)
    guess = cupy.vector(x).astype(rhs.dtype, copy=False)
    operator = _owned(A, library) if isinstance(A, Mat) else _as_operator(A, x, b, library)
    return _solve_by(library, A, operator, rhs, guess, options)


def _solve_by(
    library: krylov.Library,
    A: Mat | Operator,
    operator: Any,
    rhs: Any,
    guess: Any,
    options: Mapping[str, Any],
) -> tuple[Any, Convergence]:
    _check_finite(library.arrays, {"b": rhs, "x": guess})
    if isinstance(A, Mat):
        _check_finite(library.arrays, {A._what: operator.data})
    return krylov.solve(library, operator, rhs, guess, options)


def _put(x: Vector, found: Any, *, on_device: bool) -> None:
    """Write a solution to a Dat, or to the fields of a MixedDat."""
    if on_device:
        cupy.put(x, found)
    else:
        spread(found, (part.data_wo for part in x.split))


def _owned(A: Mat, library: krylov.Library) -> Any:
    """Return the rows and columns of owned entities as the library's matrix."""
    on_host = library.arrays is np
    if (A._n_stored(0), A._n_stored(1)) == (A.nrows, A.ncols):
        return A.to_scipy() if on_host else cupy.matrix(A, write=False)
    if A.is_mixed:
        blocks = [[_owned(block, library) for block in row] for row in A.blocks]
        name = "scipy.sparse" if on_host else "cupyx.scipy.sparse"
        return extras.load(name, "op2.solve()").bmat(blocks, format="csr")
    found = A.to_scipy() if on_host else cupy.matrix(A, write=False)
    return found.tocsr()[: A.nrows, : A.ncols]


def _as_operator(A: Operator, x: Vector, b: Vector, library: krylov.Library) -> Any:
    """Wrap a function over Dats for a library; it works on Dats of its own."""
    source, target = _like(x), _like(b)
    sizes = [[part.dataset.set.size * part.cdim for part in dat.split] for dat in (b, x)]
    on_device = library.arrays is not np

    def apply(vector: Any) -> Any:
        _put(source, vector.reshape(-1), on_device=on_device)
        A(source, target)
        if on_device:
            return cupy.vector(target)
        return np.concatenate([part.data_ro.reshape(-1) for part in target.split])

    shape = (sum(sizes[0]), sum(sizes[1]))
    return library.methods.LinearOperator(shape, matvec=apply, dtype=b.dtype)


def _like(dat: Vector) -> Vector:
    if isinstance(dat, MixedDat):
        return MixedDat(dat.dataset, dtype=dat.dtype)
    if isinstance(dat, Global):
        return Global(dat.dim, dtype=dat.dtype)
    return Dat(dat.dataset, dtype=dat.dtype)


def _solve_petsc(
    A: Mat | Operator, x: Vector, b: Vector, options: Mapping[str, Any]
) -> tuple[Array, Convergence]:
    if not isinstance(A, Mat):
        raise SolverOptionError("Solver: package 'petsc' needs a Mat; take 'scipy' for a function")
    petsc = extras.load("petsc4py.PETSc", "package 'petsc'")
    values, right = (
        np.concatenate([part.data_ro.reshape(-1) for part in dat.split]) for dat in (x, b)
    )
    _check_finite(np, {A._what: A.to_scipy().data, "b": right, "x": values})
    ksp = petsc.KSP().create(comm=petsc.COMM_SELF)
    ksp.setOperators(A.handle)
    ksp.setType({"bicgstab": "bcgs"}.get(options["ksp_type"], options["ksp_type"]))
    ksp.getPC().setType({"amg": "gamg"}.get(options["pc_type"], options["pc_type"]))
    ksp.setTolerances(
        options["ksp_rtol"], options["ksp_atol"], options["ksp_divtol"], options["ksp_max_it"]
    )
    if options["ksp_type"] == "gmres":
        ksp.setGMRESRestart(options["ksp_gmres_restart"])
    ksp.setInitialGuessNonzero(
        options["ksp_initial_guess_nonzero"] and options["ksp_type"] != "preonly"
    )
    ksp.setConvergenceHistory()
    rhs = petsc.Vec().createWithArray(right, comm=petsc.COMM_SELF)
    ksp.solve(rhs, petsc.Vec().createWithArray(values, comm=petsc.COMM_SELF))
    code = ksp.getConvergedReason()
    reasons = vars(petsc.KSP.ConvergedReason)
    names = [n for n, v in reasons.items() if v == code and n.startswith(("CONV", "DIV"))]
    went = Convergence(
        reason=names[0] if names else ("CONVERGED" if code > 0 else "DIVERGED"),
        n_iterations=ksp.getIterationNumber(),
        history=tuple(float(norm) for norm in ksp.getConvergenceHistory()),
    )
    return values, went


def _plot(went: Convergence, prefix: str) -> None:
    pyplot = extras.load("matplotlib.pyplot", "plot_convergence")
    figure, axes = pyplot.subplots()
    axes.semilogy(went.history)
    axes.set_xlabel("iteration")
    axes.set_ylabel("norm of the residual")
    figure.savefig(f"{prefix}convergence.png")
    pyplot.close(figure)
