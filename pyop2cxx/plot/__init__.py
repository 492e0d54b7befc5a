# SPDX-License-Identifier: BSD-3-Clause
"""Pictures by matplotlib: values on a mesh, colours, partitions and numberings, matrices."""

from pyop2cxx.plot.matrices import plot_sparsity
from pyop2cxx.plot.numberings import plot_colours, plot_numbering, plot_partition
from pyop2cxx.plot.on_meshes import plot_mesh, plot_values

__all__ = [
    "plot_colours",
    "plot_mesh",
    "plot_numbering",
    "plot_partition",
    "plot_sparsity",
    "plot_values",
]
