# SPDX-License-Identifier: BSD-3-Clause
"""Files: results for ParaView (VTU, XDMF, time series), and values to be continued from (HDF5)."""

from pyop2cxx.io.npz import write_npz
from pyop2cxx.io.series import TimeSeries
from pyop2cxx.io.stored import load, restore, save
from pyop2cxx.io.vtu import write_vtu
from pyop2cxx.io.xdmf import write_xdmf

__all__ = ["TimeSeries", "load", "restore", "save", "write_npz", "write_vtu", "write_xdmf"]
