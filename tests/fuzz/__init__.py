# SPDX-License-Identifier: BSD-3-Clause
"""Random loops against an interpreter, hostile calls, and processes that are killed."""
