# SPDX-License-Identifier: BSD-3-Clause
"""Frames around generated code. A template and its context must match both ways.

A process with nothing new to generate starts without Jinja2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import InternalError
from pyop2cxx.runtime import seams
from pyop2cxx.runtime.store import files, installed, remembered

if TYPE_CHECKING:
    from collections.abc import Mapping


def render(template: str, context: Mapping[str, object]) -> str:
    """Fill a frame.

    Args:
        template: Path below the template folder.
        context: Exactly the keys that the template names.

    Returns:
        The text of the file.

    Raises:
        InternalError: A key is missing, or one is given that the template does not use.
    """
    templates = seams.templates()
    wanted = templates.keys(template)
    if wanted != context.keys():
        missing = ", ".join(sorted(wanted - context.keys())) or "none"
        unused = ", ".join(sorted(context.keys() - wanted)) or "none"
        raise InternalError(f"template {template}: missing keys: {missing}; unused keys: {unused}")
    text: str = templates.fill(template, context)
    return text


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
    frame = (template, files(((template_folder() / template).parent,)), installed("jinja2"))
    key = (frame, sorted(context.items()))
    return remembered("frame", key, lambda: render(template, context).encode()).decode()
