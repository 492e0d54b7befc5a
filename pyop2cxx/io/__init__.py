# SPDX-License-Identifier: BSD-3-Clause
"""Files: results (VTU, XDMF, time series; UGRID), and values to be continued from (HDF5)."""

from pyop2cxx.io.npz import write_npz
from pyop2cxx.io.series import TimeSeries
from pyop2cxx.io.stored import load, restore, save
from pyop2cxx.io.ugrid import read_ugrid, to_ugrid, write_ugrid
from pyop2cxx.io.vtu import write_vtu
from pyop2cxx.io.xdmf import write_xdmf

__all__ = [
    "TimeSeries",
    "load",
    "read_ugrid",
    "restore",
    "save",
    "to_ugrid",
    "write_npz",
    "write_ugrid",
    "write_vtu",
    "write_xdmf",
]
