# SPDX-License-Identifier: BSD-3-Clause
"""How a loop becomes code; never sees data."""
