# SPDX-License-Identifier: BSD-3-Clause
"""From a loop to code, without any data."""
