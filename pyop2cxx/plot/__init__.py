# SPDX-License-Identifier: BSD-3-Clause
"""Pictures by matplotlib: values on a mesh, the colours of a plan, numberings, matrices."""

from pyop2cxx.plot.matrices import plot_sparsity
from pyop2cxx.plot.numberings import plot_colours, plot_numbering
from pyop2cxx.plot.on_meshes import plot_mesh, plot_values

__all__ = ["plot_colours", "plot_mesh", "plot_numbering", "plot_sparsity", "plot_values"]
