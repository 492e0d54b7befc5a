# SPDX-License-Identifier: BSD-3-Clause
"""One file a backend, holding data only; found by listing this folder."""
