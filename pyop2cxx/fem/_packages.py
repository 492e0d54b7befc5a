# SPDX-License-Identifier: BSD-3-Clause
"""UFL and Basix, which all of this room is written for; FFCx is imported when it has to work."""

from pyop2cxx.base import extras

_NEEDED_FOR = "pyop2cxx.fem"

ufl = extras.load("ufl", _NEEDED_FOR)
basix = extras.load("basix", _NEEDED_FOR)
elements = extras.load("basix.ufl", _NEEDED_FOR)
