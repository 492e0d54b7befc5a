# SPDX-License-Identifier: BSD-3-Clause
"""Firedrake's programs over pyop2cxx, or over its own PyOP2: each prints a few numbers.

``python programs.py NAME ours | own``: Firedrake finds pyop2cxx, or its PyOP2, as ``pyop2``.
``python programs.py [NAME...]`` runs all of them both ways, each in a process, and compares the
numbers.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = 1e-10
PACKAGES = ("thetis", "gusto")
"""Programs of the same names need them."""
PROGRAMS: dict[str, Callable[[Any], list[float]]] = {}


def program(function: Callable[[Any], list[float]]) -> Callable[[Any], list[float]]:
    """Note a program: a function of the module firedrake, with numbers as result."""
    PROGRAMS[function.__name__] = function
    return function


@program
def poisson(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(12, 12)
    space = fd.FunctionSpace(mesh, "CG", 2)
    u, v = fd.TrialFunction(space), fd.TestFunction(space)
    x, y = fd.SpatialCoordinate(mesh)
    exact = fd.sin(fd.pi * x) * fd.sin(fd.pi * y)
    found = fd.Function(space)
    a = fd.inner(fd.grad(u), fd.grad(v)) * fd.dx
    rhs = 2 * fd.pi**2 * exact * v * fd.dx
    fd.solve(a == rhs, found, bcs=fd.DirichletBC(space, 0, "on_boundary"))
    return [fd.errornorm(exact, found), fd.norm(found), fd.assemble(a).petscmat.norm()]


@program
def vector_poisson(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(8, 8)
    space = fd.VectorFunctionSpace(mesh, "CG", 1)
    u, v = fd.TrialFunction(space), fd.TestFunction(space)
    found = fd.Function(space)
    a = fd.inner(fd.grad(u), fd.grad(v)) * fd.dx
    rhs = fd.inner(fd.Constant((1, 2)), v) * fd.dx
    bcs = [fd.DirichletBC(space.sub(0), 0, 1), fd.DirichletBC(space.sub(1), 1, (2, 3))]
    fd.solve(a == rhs, found, bcs=bcs)
    kinds = [fd.assemble(a, bcs=bcs, mat_type=kind).petscmat.norm() for kind in ("aij", "baij")]
    return [fd.norm(found), *kinds]


@program
def mixed_poisson(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(8, 8)
    space = fd.FunctionSpace(mesh, "BDM", 1) * fd.FunctionSpace(mesh, "DG", 0)
    (sigma, u), (tau, v) = fd.TrialFunctions(space), fd.TestFunctions(space)
    x, y = fd.SpatialCoordinate(mesh)
    a = (fd.dot(sigma, tau) + fd.div(tau) * u + fd.div(sigma) * v) * fd.dx
    rhs = -10 * fd.exp(-((x - 0.5) ** 2 + (y - 0.5) ** 2) / 0.02) * v * fd.dx
    found = fd.Function(space)
    options = {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": "mumps"}
    fd.solve(a == rhs, found, solver_parameters={"mat_type": "aij", **options})
    return [fd.norm(part) for part in found.subfunctions]


@program
def dg_advection(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(10, 10, quadrilateral=True)
    space = fd.FunctionSpace(mesh, "DQ", 1)
    x, y = fd.SpatialCoordinate(mesh)
    wind = fd.as_vector((0.5 - y, x - 0.5))
    q = fd.Function(space).interpolate(fd.exp(-((x - 0.5) ** 2 + (y - 0.75) ** 2) / 0.02))
    phi, trial = fd.TestFunction(space), fd.TrialFunction(space)
    n = fd.FacetNormal(mesh)
    un = 0.5 * (fd.dot(wind, n) + abs(fd.dot(wind, n)))
    jump = (phi("+") - phi("-")) * (un("+") * q("+") - un("-") * q("-"))
    step = fd.Constant(0.01)
    rhs = step * (q * fd.div(phi * wind) * fd.dx - jump * fd.dS - phi * un * q * fd.ds)
    change = fd.Function(space)
    solver = fd.LinearVariationalSolver(
        fd.LinearVariationalProblem(phi * trial * fd.dx, rhs, change),
        solver_parameters={"ksp_type": "preonly", "pc_type": "bjacobi", "sub_pc_type": "ilu"},
    )
    for _ in range(10):
        solver.solve()
        q.assign(q + change)
    return [fd.norm(q), fd.assemble(q * fd.dx)]


@program
def extruded_helmholtz(fd: Any) -> list[float]:
    mesh = fd.ExtrudedMesh(fd.UnitSquareMesh(4, 4), 5, 0.2)
    space = fd.FunctionSpace(mesh, "CG", 2)
    u, v = fd.TrialFunction(space), fd.TestFunction(space)
    x, y, z = fd.SpatialCoordinate(mesh)
    found = fd.Function(space)
    a = (fd.inner(fd.grad(u), fd.grad(v)) + u * v) * fd.dx
    rhs = fd.cos(x) * y * z * v * fd.dx + v * fd.ds_t + 2 * v * fd.ds_b + x * v * fd.ds_v
    fd.solve(a == rhs, found, bcs=fd.DirichletBC(space, 1, 1))
    return [fd.norm(found), fd.assemble(found * fd.ds_t)]


@program
def hyperelasticity(fd: Any) -> list[float]:
    mesh = fd.UnitCubeMesh(3, 3, 3)
    space = fd.VectorFunctionSpace(mesh, "CG", 1)
    u, v = fd.Function(space), fd.TestFunction(space)
    f = fd.Identity(3) + fd.grad(u)
    j = fd.det(f)
    energy = (0.5 * (fd.tr(f.T * f) - 3) - fd.ln(j) + 2 * fd.ln(j) ** 2) * fd.dx
    residual = fd.derivative(energy, u, v) - fd.inner(fd.Constant((0, -0.1, 0)), v) * fd.dx
    bcs = [fd.DirichletBC(space, 0, 1), fd.DirichletBC(space, fd.Constant((0.1, 0, 0)), 2)]
    fd.solve(residual == 0, u, bcs=bcs)
    return [fd.norm(u), fd.assemble(energy)]


def _stokes(fd: Any, parameters: dict[str, Any]) -> list[float]:
    mesh = fd.UnitSquareMesh(8, 8)
    velocities, pressures = fd.VectorFunctionSpace(mesh, "CG", 2), fd.FunctionSpace(mesh, "CG", 1)
    space = velocities * pressures
    (u, p), (v, q) = fd.TrialFunctions(space), fd.TestFunctions(space)
    a = (fd.inner(fd.grad(u), fd.grad(v)) - p * fd.div(v) - fd.div(u) * q) * fd.dx
    rhs = fd.inner(fd.Constant((0, 0)), v) * fd.dx
    bcs = [
        fd.DirichletBC(space.sub(0), fd.Constant((1, 0)), 4),
        fd.DirichletBC(space.sub(0), fd.Constant((0, 0)), (1, 2, 3)),
    ]
    basis = fd.VectorSpaceBasis(constant=True, comm=mesh.comm)
    nullspace = fd.MixedVectorSpaceBasis(space, [space.sub(0), basis])
    found = fd.Function(space)
    fd.solve(a == rhs, found, bcs=bcs, nullspace=nullspace, solver_parameters=parameters)
    return [fd.norm(found.subfunctions[0])]


@program
def stokes_nest(fd: Any) -> list[float]:
    return _stokes(
        fd,
        {
            "mat_type": "nest",
            "ksp_type": "fgmres",
            "ksp_rtol": 1e-12,
            "pc_type": "fieldsplit",
            "pc_fieldsplit_type": "schur",
            "pc_fieldsplit_schur_fact_type": "full",
            "fieldsplit_0_ksp_type": "preonly",
            "fieldsplit_0_pc_type": "lu",
            "fieldsplit_1_ksp_type": "gmres",
            "fieldsplit_1_ksp_rtol": 1e-12,
            "fieldsplit_1_pc_type": "none",
        },
    )


@program
def stokes_matfree(fd: Any) -> list[float]:
    return _stokes(
        fd,
        {
            "mat_type": "matfree",
            "ksp_type": "minres",
            "ksp_rtol": 1e-12,
            "pc_type": "none",
        },
    )


@program
def real_space(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(6, 6)
    space = fd.FunctionSpace(mesh, "CG", 1) * fd.FunctionSpace(mesh, "R", 0)
    (u, r), (v, s) = fd.TrialFunctions(space), fd.TestFunctions(space)
    x, _ = fd.SpatialCoordinate(mesh)
    a = (fd.inner(fd.grad(u), fd.grad(v)) + v * r + u * s) * fd.dx
    rhs = (x - 0.5) * v * fd.dx
    found = fd.Function(space)
    options = {"mat_type": "nest", "ksp_type": "minres", "ksp_rtol": 1e-13, "pc_type": "none"}
    fd.solve(a == rhs, found, solver_parameters=options)
    return [fd.norm(found.subfunctions[0]), float(found.subfunctions[1].dat.data_ro[0])]


@program
def own_loops(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(6, 6)
    linear, constant = fd.FunctionSpace(mesh, "CG", 1), fd.FunctionSpace(mesh, "DG", 0)
    x, y = fd.SpatialCoordinate(mesh)
    f = fd.Function(linear).interpolate(x + 2 * y)
    largest, count = fd.Function(constant), fd.Function(linear)
    domain = "{[i]: 0 <= i < f.dofs}"
    fd.par_loop(
        (domain, "for i\n m[0, 0] = fmax(m[0, 0], f[i, 0])\nend"),
        fd.dx,
        {"m": (largest, fd.RW), "f": (f, fd.READ)},
    )
    fd.par_loop(("{[i]: 0 <= i < c.dofs}", "c[i, 0] = c[i, 0] + 1"), fd.dx, {"c": (count, fd.INC)})
    return [largest.dat.data_ro.sum(), count.dat.data_ro.sum(), fd.norm(largest)]


@program
def slate(fd: Any) -> list[float]:
    mesh = fd.UnitSquareMesh(6, 6)
    space = fd.FunctionSpace(mesh, "RT", 1) * fd.FunctionSpace(mesh, "DG", 0)
    (sigma, u), (tau, v) = fd.TrialFunctions(space), fd.TestFunctions(space)
    a = (fd.dot(sigma, tau) + fd.div(tau) * u + fd.div(sigma) * v) * fd.dx
    found = fd.Function(space)
    parameters = {
        "mat_type": "matfree",
        "ksp_type": "preonly",
        "pc_type": "python",
        "pc_python_type": "firedrake.HybridizationPC",
        "hybridization": {"ksp_type": "preonly", "pc_type": "lu"},
    }
    fd.solve(a == -v * fd.dx, found, solver_parameters=parameters)
    return [fd.norm(part) for part in found.subfunctions]


@program
def thetis(fd: Any) -> list[float]:
    """Shallow water in a closed channel, by Thetis."""
    from thetis import solver2d

    length = 40e3
    mesh = fd.RectangleMesh(20, 3, length, 3e3)
    space = fd.FunctionSpace(mesh, "CG", 1)
    x, _ = fd.SpatialCoordinate(mesh)
    solver = solver2d.FlowSolver2d(mesh, fd.Function(space).interpolate(20 - 10 * x / length))
    options = solver.options
    options.simulation_export_time, options.simulation_end_time = 100.0, 300.0
    options.no_exports = True
    options.horizontal_velocity_scale = fd.Constant(6.0)
    options.swe_timestepper_type = "SSPRK33"
    solver.assign_initial_conditions(elev=fd.Function(space).interpolate(2 * (1 - x / length)))
    solver.iterate()
    return [fd.norm(part) for part in solver.fields.solution_2d.subfunctions]


@program
def gusto(fd: Any) -> list[float]:
    """Linear shallow water on a sphere, by Gusto."""
    import gusto as library

    radius, speed = 6371220.0, 38.6
    mesh = library.GeneralIcosahedralSphereMesh(radius, 3, degree=2)
    x, y, z = fd.SpatialCoordinate(mesh)
    domain = library.Domain(mesh, 900.0, "BDM", 1)
    parameters = library.ShallowWaterParameters(mesh, H=2000.0)
    equations = library.LinearShallowWaterEquations(domain, parameters)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        output = library.OutputParameters(dirname="gusto", dump_nc=False, dump_vtus=False)
        made = library.IO(domain, output)
        stepper = library.Timestepper(equations, library.TrapeziumRule(domain), made)
        wind, depth = stepper.fields("u"), stepper.fields("D")
        wind.project(fd.as_vector([-speed * y / radius, speed * x / radius, 0.0]))
        factor = radius * parameters.Omega * speed / parameters.g
        depth.interpolate(-factor * (z / radius) ** 2)
        mean = fd.Function(depth.function_space()).assign(2000.0)
        stepper.set_reference_profiles([("D", mean)])
        stepper.run(t=0, tmax=4 * 900.0)
    return [fd.norm(wind), fd.norm(depth)]


def known() -> list[str]:
    """Return the programs with installed packages."""
    missing = {name for name in PACKAGES if importlib.util.find_spec(name) is None}
    return [name for name in PROGRAMS if name not in missing]


def run(name: str, own: bool) -> None:
    """Run a program in this process, and print numbers and seconds as JSON."""
    if not own:
        import pyop2cxx.pyop2

        pyop2cxx.pyop2.install(replace=True)
    import firedrake

    start = time.perf_counter()
    numbers = [float(number) for number in PROGRAMS[name](firedrake)]
    print(json.dumps({"numbers": numbers, "seconds": time.perf_counter() - start}))


def outcome(name: str, whose: str) -> dict[str, Any]:
    """Return what a program printed, run in a process, or the last line of its error."""
    command = [sys.executable, __file__, name, whose]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return dict(json.loads(lines[-1]))
    told = [line for line in done.stderr.splitlines() if line.strip()]
    return {"error": told[-1] if told else f"exit status {done.returncode}"}


def main(names: list[str]) -> int:
    """Compare programs; return how many differ or fail over pyop2cxx but not over PyOP2."""
    failures = 0
    backend = os.environ.get("PYOP2CXX_BACKEND", "the default backend")
    names = names or known()
    for name in names:
        ours, theirs = outcome(name, "ours"), outcome(name, "own")
        if "error" in ours or "error" in theirs:
            said = f"ours: {ours.get('error', 'runs')}; PyOP2: {theirs.get('error', 'runs')}"
            is_right = "error" not in ours
        else:
            pairs = zip(ours["numbers"], theirs["numbers"], strict=True)
            worst = max(abs(a - b) / max(abs(b), 1) for a, b in pairs)
            is_right = worst <= DIGITS
            said = (
                f"differ by {worst:.1e}; {ours['seconds']:.1f} s, PyOP2 {theirs['seconds']:.1f} s"
            )
        failures += not is_right
        print(f"{'ok  ' if is_right else 'FAIL'} {name}: {said}", flush=True)
    print(f"{failures} of {len(names)} failed on {backend}")
    return failures


if __name__ == "__main__":
    if sys.argv[-1] in ("ours", "own"):
        run(sys.argv[1], own=sys.argv[-1] == "own")
    else:
        sys.exit(main(sys.argv[1:]))
