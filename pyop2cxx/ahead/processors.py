# SPDX-License-Identifier: BSD-3-Clause
"""Instructions used by compiled loops, compared with the processor's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CPUINFO = Path("/proc/cpuinfo")
_NAMES = {
    "SSE3": "pni",
    "LZCNT": "abm",
    "BMI": "bmi1",
    "AVXVNNI": "avx_vnni",
    "AVX512VBMI2": "avx512_vbmi2",
    "AVX512VNNI": "avx512_vnni",
    "AVX512BITALG": "avx512_bitalg",
    "AVX512VPOPCNTDQ": "avx512_vpopcntdq",
    "AVX512BF16": "avx512_bf16",
    "AVX512FP16": "avx512_fp16",
}
"""Names in Linux for some macros of compilers; others have equal names."""
_SAME_NAMES = (
    *("SSSE3", "SSE4_1", "SSE4_2", "POPCNT", "AVX", "AVX2", "FMA", "F16C", "BMI2", "MOVBE"),
    *("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX512VBMI", "AVX512IFMA"),
)


def instructions(macros: str) -> list[str]:
    """Return the instructions used by a compiler, beyond the base of the architecture.

    Args:
        macros: The defined macros, as printed by ``-dM -E``.

    Example:
        >>> instructions("#define __AVX2__ 1")
        ['avx2']
    """
    defined = set(re.findall(r"^#define __(\w+?)__ 1$", macros, re.MULTILINE))
    known = _NAMES | {name: name.lower() for name in _SAME_NAMES}
    return sorted(known[name] for name in defined & known.keys())


def missing(needed: Sequence[str], cpuinfo: str | None = None) -> list[str]:
    """Return the needed instructions missing in the processor.

    Args:
        needed: As `instructions` returns them.
        cpuinfo: The system's description of the processor; None means ``/proc/cpuinfo``. Nothing is
            missing if no x86 instructions are listed.
    """
    if cpuinfo is None:
        cpuinfo = _CPUINFO.read_text() if _CPUINFO.is_file() else ""
    found = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    return [] if found is None else sorted({*needed} - {*found[1].split()})
