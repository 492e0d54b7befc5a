# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.logger`` by programs for PyOP2."""

from pyop2cxx.runtime import runtime

logger = runtime.logger
debug = logger.debug
info = logger.info
warning = logger.warning
error = logger.error
critical = logger.critical
log = logger.log
set_log_level = runtime.set_log_level

__all__ = ["critical", "debug", "error", "info", "log", "logger", "set_log_level", "warning"]
