# SPDX-License-Identifier: BSD-3-Clause
"""The kernel front end: C text of the user becomes a typed AST, passed to C++ as data."""
