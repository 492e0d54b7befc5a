# SPDX-License-Identifier: BSD-3-Clause
"""Finite elements: forms written in UFL, kernels by FFCx, assembly by parallel loops.

The extra ``fem`` is needed: ``pip install 'pyop2cxx[fem]'``.
"""

from pyop2cxx.base.collector import paused

with paused():
    from pyop2cxx.fem.assembly import (
        assemble,
        assemble_system,
        compile_together,
        compiled,
        lift,
    )
    from pyop2cxx.fem.compiler import Integral, Parameter, compile_form
    from pyop2cxx.fem.condensing import Condensed, condense
    from pyop2cxx.fem.conditions import DirichletBC
    from pyop2cxx.fem.domain import Facets, MeshLike
    from pyop2cxx.fem.functions import Constant, Function
    from pyop2cxx.fem.interpolation import interpolate, on_mesh
    from pyop2cxx.fem.loops import Form
    from pyop2cxx.fem.operators import action
    from pyop2cxx.fem.projecting import project, vertex_stars
    from pyop2cxx.fem.solving import NewtonHistory, error_norm, norm, solve
    from pyop2cxx.fem.spaces import FunctionSpace
    from pyop2cxx.fem.symbols import FacetNormal, SpatialCoordinate, dS, ds, dx

__all__ = [
    "Condensed",
    "Constant",
    "DirichletBC",
    "FacetNormal",
    "Facets",
    "Form",
    "Function",
    "FunctionSpace",
    "Integral",
    "MeshLike",
    "NewtonHistory",
    "Parameter",
    "SpatialCoordinate",
    "action",
    "assemble",
    "assemble_system",
    "compile_form",
    "compile_together",
    "compiled",
    "condense",
    "dS",
    "ds",
    "dx",
    "error_norm",
    "interpolate",
    "lift",
    "norm",
    "on_mesh",
    "project",
    "solve",
    "vertex_stars",
]
