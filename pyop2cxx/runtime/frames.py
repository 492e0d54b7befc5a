# SPDX-License-Identifier: BSD-3-Clause
"""Jinja2 frames around generated code. A template and its context must match both ways.

What Jinja2 makes of a template is kept in the cache directory: the first loop of a process would
otherwise spend most of its time here.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

import jinja2
import jinja2.meta

from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import InternalError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.store import installed, remembered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2.bccache import Bucket


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates in the cache directory; a bucket's checksum is its template's."""

    def load_bytecode(self, bucket: Bucket) -> None:
        if runtime.static:
            return  # whoever only wants text is not asked for a cache directory
        found = runtime.engine.service.recall("template", _bucket_key(bucket))
        if found is not None:
            bucket.bytecode_from_string(found)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if runtime.static:
            return
        code = bucket.bytecode_to_string()
        runtime.engine.service.keep("template", _bucket_key(bucket), code)


def _bucket_key(bucket: Bucket) -> str:
    by = bucket.environment
    options = (by.trim_blocks, by.lstrip_blocks, by.keep_trailing_newline, by.autoescape)
    engine = (sys.version_info[:3], installed("jinja2"))
    return repr((bucket.key, bucket.checksum, options, by.undefined.__name__, engine))


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=_Compiled(),
    )


@cache
def _keys(template: str) -> frozenset[str]:
    environment = _environment()
    loader = environment.loader
    assert loader is not None
    text = loader.get_source(environment, template)[0]

    def find() -> bytes:
        tree = environment.parse(text)
        names = sorted(jinja2.meta.find_undeclared_variables(tree))
        parents = [f"/{name}" for name in jinja2.meta.find_referenced_templates(tree)]
        return "\n".join(names + parents).encode()

    known = remembered("keys", (text, installed("jinja2")), find).decode().splitlines()
    names = frozenset(name for name in known if not name.startswith("/"))
    return names.union(*(_keys(name[1:]) for name in known if name.startswith("/")))


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
