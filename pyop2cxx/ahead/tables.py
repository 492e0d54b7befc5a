# SPDX-License-Identifier: BSD-3-Clause
"""Loading of built libraries: their loops need no compiler."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.ahead import processors
from pyop2cxx.ahead.manifest import ABI, FORMAT, MANIFEST, digest_of
from pyop2cxx.ahead.trust import check_trusted, file_within
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.base.files import as_path
from pyop2cxx.exceptions import ToolchainError, UsageError
from pyop2cxx.pipeline.images import AheadLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import read

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from pyop2cxx.runtime.tuned_file import Entry

_SYMBOL = "op2_ahead_v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A loaded library of loops.

    Attributes:
        name: Name of the source program.
        path: Of the library.
        loops: Names of kernel, backend and strategy of each loop.
    """

    name: str
    path: str
    loops: tuple[tuple[str, str, str], ...]


def load(path: str | os.PathLike[str], *, library: str | os.PathLike[str] | None = None) -> Table:
    """Load loops compiled by ``pyop2cxx build``: later uses find them there.

    Args:
        path: The folder, or the manifest.
        library: A library built from the folder's sources by CMake; None means the folder's own.

    Raises:
        UsageError: The folder is missing, others may write to it, the manifest is damaged or of
            another version, a file lies elsewhere, or the library belongs to other sources or to
            other processors. Nothing is loaded then.
        ToolchainError: The library cannot be loaded.
    """
    manifest, folder = read_manifest(as_path(path), "dispatch.load")
    loops = manifest["loops"]
    on_host = [loop for loop in loops if "symbol" in loop]
    on_device = [loop for loop in loops if loop.get("images")]
    tuned = [
        one
        for name in manifest["tuned"]
        for one in _measured(file_within(folder, name, "dispatch.load"))
    ]
    code, file = None, folder
    if library is not None or manifest["library"] is not None:
        code, file = _library(manifest, folder, library)
    elif on_host or not on_device:
        raise UsageError(f"dispatch.load: '{path}' holds sources only; {_what_to_do(loops)}")
    found = {loop["key"]: _device_loop(loop, folder) for loop in on_device}
    engine = runtime.engine
    if code is not None:
        read = [_core.read_executable(one["executable"], code, one["symbol"]) for one in on_host]
        for loop, executable in zip(on_host, read, strict=True):
            engine.ahead.add(_query(loop), executable)
        if any(engine.backend(loop["backend"]).facts.threads for loop in on_host):
            engine.open_teams_by(code)
    for loop in on_device:
        engine.ahead.note(_query(loop))
        engine.ahead_loops.setdefault(loop["key"], found[loop["key"]])
    built = [*on_host, *on_device]
    engine.ahead_fields += [loop["fields"] for loop in built]
    engine.ahead_lanes |= manifest["lanes"]
    engine.tuned.add_shipped(tuned)
    if engine.n_tables == 0:
        engine.dispatcher.add_first(engine.ahead)
    engine.n_tables += 1
    backends = {loop["backend"] for loop in built}
    if backends:
        engine.ahead_backend = "openmp" if "openmp" in backends else min(backends)
    engine.ahead_bytes = (manifest["vector_bytes"], manifest["gather_bytes"])
    runtime.epoch += 1  # makes prepared loops prepare again
    return Table(
        name=manifest["name"],
        path=str(file),
        loops=tuple((loop["kernel"], loop["backend"], loop["strategy"]) for loop in built),
    )


def _measured(file: Path) -> Sequence[Entry]:
    """Return the measurements of a file."""
    found = read(file)
    if found.problem:
        raise UsageError(f"dispatch.load: {found.problem}; build the folder again")
    return found.entries


def _what_to_do(loops: Sequence[Mapping[str, Any]]) -> str:
    """Return the way to compile a folder without a library."""
    if any("symbol" in loop for loop in loops) or not loops:
        return "'pyop2cxx build' makes a library"
    backends = ", ".join(dict.fromkeys(loop["backend"] for loop in loops))
    return (
        f"its loops are for {backends}, which are compiled for kinds of GPUs that are named, as by "
        "arch='native,sm_90' or --arch native,sm_90"
    )


def _library(
    manifest: Mapping[str, Any], folder: Path, library: str | os.PathLike[str] | None
) -> tuple[_core.jit.Library, Path]:
    file = Path(library) if library is not None else _fitting(manifest["libraries"], folder)
    if not file.is_file():
        raise UsageError(f"dispatch.load: the library '{file}' is gone; build it again")
    if library is not None:
        check_trusted(file.resolve().parent, "dispatch.load")
        check_trusted(file, "dispatch.load")
    digests = [one["digest"] for one in manifest.get("libraries", ())]
    if library is None and digest_of(file) not in digests:
        # loading a truncated library would end the process
        raise UsageError(
            f"dispatch.load: '{file}' was changed or cut short after it was built; build it again"
        )
    code = _core.jit.Library(str(file))
    _check_belongs(code, manifest, file)
    return code, file


def _fitting(libraries: Sequence[Mapping[str, Any]], folder: Path) -> Path:
    """Return the library with the most instructions, all supported by the processor."""
    lacking = [processors.missing(one["instructions"]) for one in libraries]
    fitting = [one for one, lack in zip(libraries, lacking, strict=True) if not lack]
    if fitting:
        best = max(fitting, key=lambda one: len(one["instructions"]))
        return file_within(folder, str(best["file"]), "dispatch.load")
    least = min(range(len(libraries)), key=lambda i: len(lacking[i]))
    raise UsageError(
        f"dispatch.load: '{folder / libraries[least]['file']}' was compiled for processors with "
        f"{', '.join(lacking[least])}, which this one lacks; build it for all that are to run it, "
        "such as by --arch x86-64-v3"
    )


def _query(loop: Mapping[str, Any]) -> _core.Query:
    return _core.Query(
        loop=loop["kernel"],
        signature=loop["signature"],
        source="",
        strategy=loop["strategy"],
        text=loop["key"],
    )


def _device_loop(loop: Mapping[str, Any], folder: Path) -> AheadLoop:
    """Read the images of a loop."""
    toolchain = runtime.engine.backend(loop["backend"]).toolchain
    assert isinstance(toolchain, DeviceToolchain)
    vendor = _core.vendor(toolchain.vendor)
    programs = {}
    for target, image in loop["images"].items():
        file = file_within(folder, str(image["file"]), "dispatch.load")
        if not file.is_file() or digest_of(file) != image["digest"]:
            raise UsageError(
                f"dispatch.load: '{file}' is gone, or was changed after it was built; build it "
                "again"
            )
        programs[target] = vendor.loadable(loop["options"], file.read_bytes())
    return AheadLoop(executable=loop["executable"], programs=programs)


def read_manifest(path: Path, what: str) -> tuple[dict[str, Any], Path]:
    """Return the contents of a manifest, and the folder.

    Args:
        path: The folder, or the manifest.
        what: The asking function, for messages.

    Raises:
        UsageError: The manifest is missing, damaged, not a manifest, or of another version; or
            others may write to the folder.
    """
    file = path / MANIFEST if path.is_dir() else path
    if not file.is_file():
        raise UsageError(f"{what}: there is no manifest '{file}'; pass what was built")
    check_trusted(file.parent, what)
    file_within(file.parent, file.name, what)
    try:
        manifest = json.loads(file.read_text())
        is_ours = isinstance(manifest, Mapping) and "format" in manifest
    except (ValueError, OSError) as error:
        raise UsageError(f"{what}: '{file}' is damaged: {error}") from None
    if not is_ours:
        raise UsageError(f"{what}: '{file}' is no manifest of pyop2cxx")
    wanted = {"format": FORMAT, "pyop2cxx": _core.__version__, "abi": ABI}
    for field, value in wanted.items():
        if manifest.get(field) != value:
            raise UsageError(
                f"{what}: '{file}' is of {field} {manifest.get(field)!r}, this is pyop2cxx "
                f"of {field} {value!r}; build it again"
            )
    digest = _core.digest(json.dumps(manifest.get("loops"), sort_keys=True))
    if digest != manifest.get("digest"):
        raise UsageError(f"{what}: '{file}' was changed after it was written")
    return dict(manifest), file.parent


def _check_belongs(library: _core.jit.Library, manifest: Mapping[str, Any], file: Path) -> None:
    try:
        found = _core.jit.text_at(library, _SYMBOL)
    except ToolchainError:
        found = ""
    if found != manifest["digest"]:
        raise UsageError(
            f"dispatch.load: '{file}' is not the library that its manifest belongs to; build both "
            "again"
        )
