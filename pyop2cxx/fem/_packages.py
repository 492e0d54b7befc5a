# SPDX-License-Identifier: BSD-3-Clause
"""Imports of UFL and Basix. FFCx is imported only when a form is compiled."""

from pyop2cxx.base import extras

_NEEDED_FOR = "pyop2cxx.fem"

ufl = extras.load("ufl", _NEEDED_FOR)
basix = extras.load("basix", _NEEDED_FOR)
elements = extras.load("basix.ufl", _NEEDED_FOR)
