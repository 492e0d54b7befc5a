# SPDX-License-Identifier: BSD-3-Clause
"""PyOP2's own module tree, and what only its programs need."""
