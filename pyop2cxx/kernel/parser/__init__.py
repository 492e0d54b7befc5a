# SPDX-License-Identifier: BSD-3-Clause
"""The kernel front end: a user's C text becomes a typed AST that crosses into C++ as data."""
