# SPDX-License-Identifier: BSD-3-Clause
"""Arrays shared with other packages: DLPack, CuPy, PETSc."""
