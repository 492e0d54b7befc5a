# SPDX-License-Identifier: BSD-3-Clause
"""Frames around generated code. A template and its context must match both ways.

A process with nothing new to generate starts without Jinja2, and so does one that compiles its
first loop for the host: importing Jinja2 takes as long as all else that is done for its text. The
template for it lies beside itself as `tools/make_frames.py` prepared it: filled by Jinja2, with a
gap ``@key@`` for each value. A line whose value is a list stands once for each of its entries.
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
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.store import installed, remembered, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.backends._backend import Backend


_GAP = re.compile(r"@(\w+)@")


def folders_of(backend: Backend) -> tuple[Path, ...]:
    """Where templates of a backend are looked for before this package's own: the user's first."""
    users = runtime.configuration["templates"]
    folders = (Path(users).resolve() if users else None, backend.templates)
    return tuple(folder for folder in folders if folder is not None)


def identified(folder: Path) -> str:
    """Return a digest of the templates in a folder of others, which may change in between.

    It is of their names below the folder and of what they hold, not of where the folder is or when
    they were written: tables of loops are found by it on other machines.

    Raises:
        ConfigurationError: It is gone, or a file there cannot be read.
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
        context: Exactly the keys that the template names.
        folders: Of others, where templates are looked for first. Theirs need not use all keys; they
            can extend this package's, as "pyop2cxx/host/translation_unit.j2".

    Returns:
        The text of the file.

    Raises:
        ConfigurationError: A template in `folders` is not written well, or names another key.
        InternalError: A key is missing, or one is given that the template does not use.
    """
    if folders:
        return str(seams.templates().fill_theirs(template, context, folders))
    prepared = _prepared(template)
    if prepared and {gap[1] for gap in _GAP.finditer(prepared)} == context.keys():
        return fill_gaps(prepared, context)
    templates = seams.templates()
    wanted = templates.keys(template)
    if wanted != context.keys():
        missing = ", ".join(sorted(wanted - context.keys())) or "none"
        unused = ", ".join(sorted(context.keys() - wanted)) or "none"
        raise InternalError(f"template {template}: missing keys: {missing}; unused keys: {unused}")
    text: str = templates.fill(template, context)
    return text


@cache
def _prepared(template: str) -> str:
    """Return one of our templates with gaps; "": there is none, or of an older template."""
    file = (template_folder() / template).with_suffix(".frame")
    if not file.is_file():
        return ""
    _, made_of, text = file.read_text().split("\n", 2)
    *sources, digest = made_of.split()
    return text if digest == digest_of_sources(sources) else ""


def digest_of_sources(sources: Sequence[str]) -> str:
    """Return a digest of what some of our templates hold; paths below the template folder."""
    return str(_core.digest(repr([(template_folder() / name).read_text() for name in sources])))


def fill_gaps(prepared: str, context: Mapping[str, object]) -> str:
    """Return what Jinja2 makes of the template, from the template with gaps.

    Args:
        prepared: As `pyop2cxx.runtime.templates.with_gaps` makes it, without the first two lines.
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

    For texts that every process needs before it knows whether there is anything to generate.

    Args:
        template: As of `render`; it includes only templates of its own folder.
        context: As of `render`; its `repr` says all of it.

    Returns:
        As `render`.

    Raises:
        InternalError: As `render`.
    """
    frame = (template, stamp(((template_folder() / template).parent,)), installed("jinja2"))
    key = (frame, sorted(context.items()))
    return remembered("frame", key, lambda: render(template, context).encode()).decode()
