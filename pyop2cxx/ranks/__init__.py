# SPDX-License-Identifier: BSD-3-Clause
"""A mesh shared by the processes of a program: partitions, ghosts, messages."""
