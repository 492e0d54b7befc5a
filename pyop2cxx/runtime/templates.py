# SPDX-License-Identifier: BSD-3-Clause
"""Templates of Jinja2, and which keys they take; imported by `pyop2cxx.runtime.frames` when needed.

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
def keys(template: str) -> frozenset[str]:
    """Return what a template takes, with those that it extends or includes.

    Args:
        template: Path below the template folder.
    """
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
    return names.union(*(keys(name[1:]) for name in known if name.startswith("/")))


def fill(template: str, context: Mapping[str, object]) -> str:
    """Return the text of a template with these values."""
    return _environment().get_template(template).render(context)
