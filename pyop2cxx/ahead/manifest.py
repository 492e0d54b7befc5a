# SPDX-License-Identifier: BSD-3-Clause
"""The format of the manifest, shared by writers and loaders."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 11
ABI = "op2_abi_v2"
"""What functions of a library are called with: `OP2_ABI_VERSION` of cpp/base/abi.h."""
MANIFEST = "manifest.json"
TUNED = "tuned"
"""Folder of measured choices, with the files of the cache directory."""


def digest_of(file: Path) -> str:
    """Return the digest of the contents of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
