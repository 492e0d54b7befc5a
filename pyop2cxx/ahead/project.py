# SPDX-License-Identifier: BSD-3-Clause
"""A folder with the loops of a program: sources, a manifest, and a library if built."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.ahead import cpp_files, device_files, graph_files, processors
from pyop2cxx.ahead.graph_files import FILE
from pyop2cxx.ahead.manifest import ABI, FORMAT, MANIFEST, TUNED, digest_of
from pyop2cxx.ahead.portable import HERE, portable
from pyop2cxx.backends._backend import HostToolchain
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import CompilationError, ToolchainError, UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.ahead.entries import Entry
    from pyop2cxx.ahead.graph_files import SavedGraph

_NAME = re.compile(r"[A-Za-z_]\w*")
_RELEASE = re.compile(r"\d+(\.\d+){0,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The contents of the folder.

    Attributes:
        name: Of the program: of the library, and of the CMake project.
        entries: The loops.
        release: The user's version of the library: "1.2.0".
        archs: Values of the C compiler's ``-march``, each for a separate library.
        most: So many loops at most; None means any number.
        graph: The graph of the loops; None for no graph.
        tuned: Measurements of the loops for loaders: texts of files by name.
    """

    name: str
    entries: Sequence[Entry]
    release: str = "0.1.0"
    archs: Sequence[str] = ("native",)
    most: int | None = None
    graph: SavedGraph | None = None
    tuned: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: str, *, build: bool) -> Path:
        """Write all files; the folder appears whole or not at all.

        Args:
            folder: The folder: missing, empty, or a project to be replaced.
            build: Whether loops for the host are compiled into a library, too.

        Returns:
            The manifest.

        Raises:
            UsageError: The folder holds something else or cannot be written, there are no loops, or
                too many.
            CompilationError: The compiler rejects a loop.
            ToolchainError: There is no compiler.
        """
        target = Path(folder)
        self._check(target)
        temporary = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
        try:
            try:
                (temporary / "src").mkdir(parents=True)
                self._fill(temporary, build=build)
                _replace(temporary, target)
            except OSError as error:
                raise UsageError(f"ahead: cannot write '{folder}': {error}") from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return target / MANIFEST

    def _check(self, target: Path) -> None:
        check_place(self.name, target, self.release)
        if not self.entries and self.graph is None:
            raise UsageError("ahead: the program has run and generated no loop")
        if self.most is not None and len(self.entries) > self.most:
            raise UsageError(
                f"ahead: {len(self.entries)} loops are more than --max {self.most}: "
                f"{_factors([entry.description for entry in self.entries])}"
            )

    def _fill(self, folder: Path, *, build: bool) -> None:
        on_host = portable(folder, [entry for entry in self.entries if entry.toolchain is None])
        for entry in (*on_host, *(one for one in self.entries if one.toolchain is not None)):
            (folder / entry.description["file"]).write_text(entry.text)
        images = device_files.write(folder, self.entries)
        for name, text in self.tuned.items():
            (folder / TUNED).mkdir(exist_ok=True)
            (folder / TUNED / name).write_text(text)
        loops = [entry.description for entry in self.entries]
        digest = _core.digest(json.dumps(loops, sort_keys=True))
        graph = None
        if self.graph is not None:
            graph = graph_files.write_values(folder, self.graph.written)
        if on_host or images or graph is not None:
            (folder / "table.c").write_text(
                render(
                    "ahead/table.c.j2",
                    {"name": self.name, "digest": digest, "has_teams": bool(_team_flags(on_host))},
                )
            )
            facts = graph and graph.get("file")
            has_check = cpp_files.write(folder, self.name, self.entries, images, self.graph, facts)
            (folder / "CMakeLists.txt").write_text(self._cmake(on_host, has_check=has_check))
        built = []
        if build and (on_host or graph is not None):
            built = [self._built(folder, on_host, arch) for arch in self.archs]
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": _core.__version__,
            "abi": ABI,
            "name": self.name,
            "arch": ",".join(self.archs),
            "vector_bytes": runtime.engine.vector_bytes,
            "gather_bytes": runtime.engine.gather_bytes,
            "digest": digest,
            "library": built[0]["file"] if built else None,
            "libraries": built,
            "tuned": [f"{TUNED}/{name}" for name in self.tuned],
            "lanes": {
                _core.digest(repr(key)): (options.lanes, why)
                for key, (options, why) in runtime.engine.lanes.items()
            },
        }
        texts = {name: json.dumps(value, indent=2) for name, value in manifest.items()}
        texts["graph"] = "" if graph is None else json.dumps(graph, indent=2)
        written = [json.dumps(loop, indent=2) for loop in loops]
        # last: a visible manifest means a complete folder
        (folder / MANIFEST).write_text(
            render("ahead/manifest.json.j2", {**texts, "loops": written})
        )

    def _built(self, folder: Path, on_host: Sequence[Entry], arch: str) -> dict[str, Any]:
        """Compile the host's loops for a kind of processor, and describe the library."""
        file = f"lib{self.name}.so" if len(self.archs) == 1 else f"lib{self.name}.{arch}.so"
        instructions = _compile(folder, file, on_host, arch)
        digest = digest_of(folder / file)
        return {"file": file, "arch": arch, "instructions": instructions, "digest": digest}

    def _cmake(self, on_host: Sequence[Entry], *, has_check: bool) -> str:
        sources = [
            {
                "file": one.description["file"],
                "flags": ";".join(_for_cmake(flag) for flag in one.flags),
                "alone": one.description["symbol"] if one.is_verbatim else "",
            }
            for one in on_host
        ]
        return render(
            "ahead/CMakeLists.txt.j2",
            {
                "name": self.name,
                "version": _core.__version__,
                "release": self.release,
                "data": FILE if self.graph is not None else "",
                "arch": self.archs[0],
                "sources": sources,
                "has_check": has_check,
                "team_flags": ";".join(_team_flags(on_host)),
                "has_cpp": any(one.is_cpp for one in on_host),
                "link_flags": [_for_cmake(flag) for flag in _link_flags(on_host)],
            },
        )


def check_place(name: str, target: Path, release: str = "0") -> None:
    """Check the name and the place of a project, before loops are collected.

    Args:
        name: Of the project.
        target: The folder.
        release: The version of the library.

    Raises:
        UsageError: The name is no C identifier, the version is none, or the folder is a file or
            holds something else.
    """
    if not _RELEASE.fullmatch(release):
        raise UsageError(
            f"ahead: the version of the library must be one to three numbers, such as 1.2.0, got "
            f"{release!r}"
        )
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"ahead: the name must be a C identifier, got {name!r}; pass another one as --name, "
            "name="
        )
    if target.exists() and not target.is_dir():
        raise UsageError(f"ahead: '{target}' is a file; pass a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / MANIFEST).is_file():
        raise UsageError(
            f"ahead: '{target}' holds other files; pass an empty folder, or one that does not exist"
        )


def architectures(named: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split processors for the C compiler's ``-march`` from kinds of GPUs.

    Args:
        named: Comma-separated: "x86-64-v3,x86-64-v4,sm_80,sm_90". The default processor is the
            present machine's.

    Raises:
        ToolchainError: There is no compiler for a GPU, or no code for the GPU can be made.
        UsageError: The C compiler, if present, does not know a processor.
    """
    names = tuple(dict.fromkeys(name.strip() for name in named.split(",") if name.strip()))
    gpus = tuple(name for name in names if device_files.is_gpu(name))
    archs = tuple(name for name in names if name not in gpus) or ("native",)
    for arch in archs:
        if arch != "native":
            _check_processor(arch)
    return archs, gpus


def _check_processor(arch: str) -> None:
    """Ask the compiler for a processor; without a compiler any processor is accepted."""
    try:
        compiler = runtime.engine.service.compiler(_core.jit.Language.c)
    except ToolchainError:
        return
    try:
        _asked([f"-march={arch}", "-E", "-x", "c", os.devnull])
    except CompilationError as error:
        said = next((line for line in error.stderr.splitlines() if arch in line), "")
        raise UsageError(
            f"--arch {arch}: the compiler '{compiler.command[0]}' makes code for no such "
            f"processor: {said.strip()}; pass what its -march= takes, such as x86-64-v3, or "
            "kinds of GPUs, such as sm_90"
        ) from None


def _replace(temporary: Path, target: Path) -> None:
    """Replace a folder by another."""
    if target.is_dir():
        old = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
        target.rename(old)
        try:
            temporary.rename(target)
        except OSError:
            old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    else:
        temporary.rename(target)


def _factors(loops: Sequence[Mapping[str, Any]]) -> str:
    """Return the factors of a large number of loops."""
    counts = {
        axis: len({loop[field] for loop in loops})
        for axis, field in (
            ("kernels", "kernel"),
            ("backends", "backend"),
            ("strategies", "strategy"),
            ("numbers of lanes", "lanes"),
        )
    }
    return ", ".join(f"{n} {axis}" for axis, n in counts.items())


def _compile(folder: Path, library: str, entries: Sequence[Entry], arch: str) -> list[str]:
    """Compile the host's loops with the flags of the run time, into a single library.

    Returns:
        The instructions of the library.
    """
    service = runtime.engine.service
    objects = []
    with waiting("compiling") as say:
        for n, entry in enumerate(entries, 1):
            source = folder / entry.description["file"]
            say(f"compiling {n} of {len(entries)}: {source.name}")
            language = _LANGUAGES[entry.is_cpp]
            flags = _flags(service.compiler(language), arch)
            made = str(folder / source.with_suffix(".o").name)
            own = (flag.replace(HERE, str(folder)) for flag in entry.flags)
            command = [*flags, *own, "-c", str(source), "-o", made]
            service.run(language=language, arguments=command, compiles=True)
            if entry.is_verbatim:
                _hide(made, entry.description["symbol"], language)
            objects.append(made)
    flags = _flags(service.compiler(_core.jit.Language.c), arch)
    table = str(folder / "table.o")  # C, even if a C++ compiler links the object
    command = [*flags, *_team_flags(entries), "-c", str(folder / "table.c"), "-o", table]
    service.run(language=_core.jit.Language.c, arguments=command, compiles=True)
    objects.append(table)
    shared = ["-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", str(folder / library)]
    service.run(
        language=_LANGUAGES[any(entry.is_cpp for entry in entries)],
        arguments=[*shared, *objects, *_link_flags(entries), "-lm"],
        compiles=True,
    )
    for name in objects:
        Path(name).unlink()
    return processors.instructions(_asked([*flags, "-dM", "-E", "-x", "c", os.devnull]))


def _team_flags(on_host: Sequence[Entry]) -> tuple[str, ...]:
    """Return the options for opening teams of threads; empty if no loop runs on a team."""
    for entry in on_host:
        backend = runtime.engine.backend(entry.description["backend"])
        if backend.facts.threads and isinstance(backend.toolchain, HostToolchain):
            return backend.toolchain.flags
    return ()


def _hide(made: str, symbol: str, language: _core.jit.Language) -> None:
    """Hide all symbols of a kernel's object from linkers, except the loop's function.

    Other loops contain the same functions, or others of the same names; a linker would merge inline
    functions and templates. CMakeLists.txt.j2 does the same.

    Args:
        made: The object, to be replaced.
        symbol: The loop's function.
        language: Of the object.

    Raises:
        ToolchainError: There is no objcopy.
    """
    alone = f"{made}.alone"
    command = ["-r", "-nostdlib", "-Wl,--force-group-allocation", made, "-o", alone]
    runtime.engine.service.run(language=language, arguments=command, compiles=True)
    objcopy = _asked(["-print-prog-name=objcopy"]).strip()
    try:
        command = [objcopy, f"--keep-global-symbol={symbol}", alone, made]
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise ToolchainError(
            f"ahead: objcopy, of binutils, is needed for kernels that are compiled as they are "
            f"written: {said.strip()}"
        ) from None
    Path(alone).unlink()


def _asked(arguments: Sequence[str]) -> str:
    """Return the output of the C compiler."""
    said: str = runtime.engine.service.run(
        language=_core.jit.Language.c, arguments=list(arguments), compiles=False
    )
    return said


def _flags(compiler: _core.jit.HostCompiler, arch: str) -> list[str]:
    flags = [flag for flag in _core.jit.base_flags(compiler) if flag not in _OF_LINKING]
    if arch == "native":
        return flags
    return [*(flag for flag in flags if flag not in compiler.native_flags), f"-march={arch}"]


_LANGUAGES = (_core.jit.Language.c, _core.jit.Language.cxx)
_OF_LINKING = ("-shared", "-Wl,-Bsymbolic")


def _link_flags(entries: Sequence[Entry]) -> list[str]:
    """Return the linker flags, in the order of each kernel, since the order matters."""
    groups = dict.fromkeys(entry.link_flags for entry in entries)
    return [flag for group in groups for flag in group]


def _for_cmake(flag: str) -> str:
    """Return a flag quoted as an element of a CMake list."""
    rest = flag.partition(HERE)[2] or flag
    start = flag[: len(flag) - len(rest)]
    return start + re.sub(r'([\\"$;])', r"\\\1", rest)
