# SPDX-License-Identifier: BSD-3-Clause
"""Frames around generated code. A template and its context must match both ways.

A process without new texts starts without Jinja2, as does a process compiling its first loop for
the host: importing Jinja2 takes as long as all other work on a text. `tools/make_frames.py`
prepares the template for the first loop: a file beside the template, filled by Jinja2, with a gap
``@key@`` for each value. A line with a list as value is repeated for each entry.
"""

from __future__ import annotations

import os
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import ConfigurationError, InternalError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.store import installed, remembered, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from pyop2cxx.backends._backend import Backend


_GAP = re.compile(r"@(\w+)@")


def folders_of(backend: Backend) -> tuple[Path, ...]:
    """Folders searched for templates of a backend before the package's own, the user's first."""
    users = runtime.configuration["templates"]
    folders = (Path(users).resolve() if users else None, backend.templates)
    return tuple(folder for folder in folders if folder is not None)


def identified(folder: Path) -> str:
    """Return a digest of the templates in an external folder, which may change in between.

    The digest covers names below the folder and contents, not the folder's place or times of
    change: tables of loops use the digest on other machines.

    Raises:
        ConfigurationError: The folder is gone, or a file cannot be read.
    """
    below = [path for path in folder.rglob("*") if path.is_dir()]
    try:
        return _digest_of(folder, _files_of([folder, *below]))
    except OSError as error:
        raise ConfigurationError(
            f"the folder of templates '{folder}' cannot be read: {error.strerror}: "
            f"'{error.filename}'; restore it, or set option 'templates' to another one"
        ) from error


def _files_of(folders: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    """Return path, size and time of change of each file in some folders, not below them."""
    found = []
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.is_file():
                about = entry.stat()
                found.append((entry.path, about.st_size, about.st_mtime_ns))
    return tuple(sorted(found))


@lru_cache(maxsize=64)
def _digest_of(folder: Path, found: tuple[tuple[str, int, int], ...]) -> str:
    """Read the files, unless none has changed since they were read."""
    paths = sorted(Path(name).relative_to(folder) for name, *_ in found)
    held = {path.as_posix(): (folder / path).read_bytes() for path in paths}
    return str(_core.digest(repr(held)))


def render(template: str, context: Mapping[str, object], folders: tuple[Path, ...] = ()) -> str:
    """Fill a frame.

    Args:
        template: Path below the template folder.
        context: Values for exactly the keys named in the template.
        folders: External folders, searched first. External templates need not use all keys, and can
            extend the package's own, as "pyop2cxx/host/translation_unit.j2".

    Returns:
        The text of the file.

    Raises:
        ConfigurationError: A template in `folders` is not written well, or names another key.
        InternalError: A key is missing, or is not used by the template.
    """
    if folders:
        return str(_templates().fill_theirs(template, context, folders))
    prepared = _prepared(template)
    if prepared and {gap[1] for gap in _GAP.finditer(prepared)} == context.keys():
        return fill_gaps(prepared, context)
    templates = _templates()
    wanted = templates.keys(template)
    if wanted != context.keys():
        missing = ", ".join(sorted(wanted - context.keys())) or "none"
        unused = ", ".join(sorted(context.keys() - wanted)) or "none"
        raise InternalError(f"template {template}: missing keys: {missing}; unused keys: {unused}")
    text: str = templates.fill(template, context)
    return text


def _templates() -> ModuleType:
    """Return the module of templates; not needed for texts known from earlier runs."""
    from pyop2cxx.runtime import templates

    return templates


@cache
def _prepared(template: str) -> str:
    """Return a package's template with gaps; "" if missing, or made of an older template."""
    file = (template_folder() / template).with_suffix(".frame")
    if not file.is_file():
        return ""
    _, made_of, text = file.read_text().split("\n", 2)
    *sources, digest = made_of.split()
    return text if digest == digest_of_sources(sources) else ""


def digest_of_sources(sources: Sequence[str]) -> str:
    """Return a digest of the contents of some of the package's templates."""
    return str(_core.digest(repr([(template_folder() / name).read_text() for name in sources])))


def fill_gaps(prepared: str, context: Mapping[str, object]) -> str:
    """Return the same text as Jinja2, from the template with gaps.

    Args:
        prepared: Result of `pyop2cxx.runtime.templates.with_gaps`, without the first two lines.
        context: A value for each gap: a string, or a list of strings.
    """
    lines = []
    for line in prepared.splitlines(keepends=True):
        gap = _GAP.search(line)
        value = context[gap[1]] if gap else ""
        if gap and isinstance(value, (list, tuple)):
            lines += [line.replace(gap[0], str(one)) for one in value]
        else:
            lines.append(_GAP.sub(lambda gap: str(context[gap[1]]), line))
    return "".join(lines)


def render_once(template: str, context: Mapping[str, object]) -> str:
    """Fill a frame, or take the text from the cache directory.

    For texts needed by every process before the need for any generation is known.

    Args:
        template: As for `render`; includes only templates of the same folder.
        context: As for `render`; the `repr` must be complete.

    Returns:
        As `render`.

    Raises:
        InternalError: As `render`.
    """
    frame = (template, stamp(((template_folder() / template).parent,)), installed("jinja2"))
    key = (frame, sorted(context.items()))
    return remembered("frame", key, lambda: render(template, context).encode()).decode()
