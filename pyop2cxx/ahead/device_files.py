# SPDX-License-Identifier: BSD-3-Clause
"""Device code of a project: machine code for GPUs, or texts for drivers."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import ConfigurationError, ToolchainError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.ahead.entries import Entry

FOLDER = "images"


@dataclass(frozen=True, slots=True)
class Image:
    """The device code of a loop.

    Attributes:
        symbol: Name in C.
        content: The bytes.
    """

    symbol: str
    content: bytes


def is_gpu(target: str) -> bool:
    """Return whether a name is of a kind of GPUs; the backend's compiler must then know the kind.

    Args:
        target: "sm_90".

    Raises:
        ToolchainError: There is no compiler, or no code for the GPU can be made.
    """
    engine, found = runtime.engine, False
    for name in runtime.backend_names():
        toolchain = None
        with suppress(ConfigurationError):  # a broken plug-in makes no code for GPUs
            toolchain = engine.backend(name).toolchain
        if not isinstance(toolchain, DeviceToolchain) or toolchain.compiler_for is None:
            continue
        if target.startswith(toolchain.kinds):
            found = True
            try:
                toolchain.compiler_for(target)
            except ToolchainError as error:
                raise ToolchainError(f"ahead: --arch {target}: {error}") from None
    return found


def write(folder: Path, entries: Sequence[Entry]) -> list[Image]:
    """Compile loops for devices, write the images, and note the files in the manifest.

    Args:
        folder: Of the project, with the texts.
        entries: All loops of the project.

    Raises:
        CompilationError: A compiler rejects a loop.
    """
    found = []
    compiled = [one for one in entries if one.toolchain is not None]
    with waiting("compiling for devices") as say:
        for n, entry in enumerate(compiled, 1):
            say(f"compiling for devices {n} of {len(compiled)}: {entry.description['kernel']}")
            found += _images(folder, entry)
    return found


def _images(folder: Path, entry: Entry) -> list[Image]:
    stem = Path(entry.description["file"]).stem
    found, described = [], {}
    for n, target in enumerate(entry.targets):
        file, content = entry.description["file"], entry.text.encode()
        if target:
            file, content = f"{FOLDER}/{stem}.{target}.bin", _compiled(entry, target)
            (folder / FOLDER).mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        described[target] = {"file": file, "digest": digest}
        found.append(Image(f"{stem}_{n}", content))
    entry.description["images"] = described
    return found


def _compiled(entry: Entry, target: str) -> bytes:
    toolchain = entry.toolchain
    assert toolchain is not None
    assert toolchain.compiler_for is not None  # otherwise there is no target
    made = runtime.engine.device_service.compile(
        toolchain.compiler_for(target), entry.text, list(entry.flags), _core.__version__
    )
    return made.bytes
