# SPDX-License-Identifier: BSD-3-Clause
"""What is computed: kernels and their parser."""
