# SPDX-License-Identifier: BSD-3-Clause
"""The public names: ``from pyop2cxx import op2``."""

from pyop2cxx import dispatch
from pyop2cxx.kernel import Kernel
from pyop2cxx.linalg import Solver, solve
from pyop2cxx.parloop import ParLoop, par_loop
from pyop2cxx.renumber import renumber
from pyop2cxx.reports import backends, timings
from pyop2cxx.runtime import runtime
from pyop2cxx.types import (
    INC,
    MAX,
    MIN,
    READ,
    RW,
    WRITE,
    Access,
    Const,
    Constant,
    Dat,
    DataSet,
    Global,
    Map,
    Mat,
    Set,
    Sparsity,
)

configuration = runtime.configuration
init = runtime.init
exit = runtime.exit
initialised = runtime.initialised
backend = runtime.use_backend

debug = runtime.logger.debug
info = runtime.logger.info
warning = runtime.logger.warning
error = runtime.logger.error
critical = runtime.logger.critical
set_log_level = runtime.set_log_level

__all__ = [
    "INC",
    "MAX",
    "MIN",
    "READ",
    "RW",
    "WRITE",
    "Access",
    "Const",
    "Constant",
    "Dat",
    "DataSet",
    "Global",
    "Kernel",
    "Map",
    "Mat",
    "ParLoop",
    "Set",
    "Solver",
    "Sparsity",
    "backend",
    "backends",
    "configuration",
    "critical",
    "debug",
    "dispatch",
    "error",
    "exit",
    "info",
    "init",
    "initialised",
    "par_loop",
    "renumber",
    "set_log_level",
    "solve",
    "timings",
    "warning",
]
