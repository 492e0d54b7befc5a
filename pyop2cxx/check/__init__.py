# SPDX-License-Identifier: BSD-3-Clause
"""Check mode: watched runs of loops, with races, wrong subscripts and wrong values found."""
