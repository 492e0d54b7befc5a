# SPDX-License-Identifier: BSD-3-Clause
"""The format of the manifest, shared by writers and loaders."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline.request import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMAT = 9
ABI = "op2_abi_v2"
"""What functions of a library are called with: `OP2_ABI_VERSION` of cpp/base/abi.h."""
MANIFEST = "manifest.json"


def digest_of(file: Path) -> str:
    """Return the digest of the contents of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def measured_of(described: Mapping[str, Any]) -> tuple[str, Measured]:
    """Return the key of a loop and the measured way, from a manifest.

    Raises:
        UsageError: The manifest is damaged.
    """
    try:
        made = Measured(
            strategy=str(described["strategy"]),
            lanes=int(described["lanes"]),
            tuning=tuple(sorted(described["tuning"].items())),
            why=str(described["why"]),
        )
        return str(described["key"]), made
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"dispatch.load: the manifest is damaged: {error!r}") from None
