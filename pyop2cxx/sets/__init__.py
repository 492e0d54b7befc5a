# SPDX-License-Identifier: BSD-3-Clause
"""What is connected: Sets, Maps, Sparsities."""
