# SPDX-License-Identifier: BSD-3-Clause
"""Jinja2 frames around generated code. A template and its context must match both ways."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import jinja2.meta

from pyop2cxx.exceptions import InternalError

if TYPE_CHECKING:
    from collections.abc import Mapping


def template_folder() -> Path:
    """Where the templates are: in the installed package, or beside it in a source tree."""
    package = Path(__file__).parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent / "templates"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def _keys(template: str) -> frozenset[str]:
    environment = _environment()
    loader = environment.loader
    assert loader is not None
    tree = environment.parse(loader.get_source(environment, template)[0])
    parents = (name for name in jinja2.meta.find_referenced_templates(tree) if name is not None)
    return frozenset(jinja2.meta.find_undeclared_variables(tree)).union(*map(_keys, parents))


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
    wanted = _keys(template)
    if wanted != context.keys():
        missing = ", ".join(sorted(wanted - context.keys())) or "none"
        unused = ", ".join(sorted(context.keys() - wanted)) or "none"
        raise InternalError(f"template {template}: missing keys: {missing}; unused keys: {unused}")
    return _environment().get_template(template).render(context)
