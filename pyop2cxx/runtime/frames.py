# SPDX-License-Identifier: BSD-3-Clause
"""Jinja2 frames around generated code. A template and its context must match both ways.

What Jinja2 makes of a template is kept in the cache directory: the first loop of a process would
otherwise spend most of its time here.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import jinja2.meta

from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import ConfigurationError, InternalError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.store import files, installed, remembered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2.bccache import Bucket

    from pyop2cxx.backends._backend import Backend


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
def _environment(folders: tuple[Path, ...] = ()) -> jinja2.Environment:
    ours = jinja2.FileSystemLoader(template_folder())
    before = [jinja2.FileSystemLoader(folder) for folder in folders]
    loader = jinja2.ChoiceLoader([*before, ours, jinja2.PrefixLoader({"pyop2cxx": ours})])
    return jinja2.Environment(
        loader=loader if folders else ours,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=_Compiled(),
    )


@cache
def _keys_of_ours(template: str) -> frozenset[str]:
    return _keys(template, _environment())


def _keys(template: str, environment: jinja2.Environment) -> frozenset[str]:
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
    parents = (name[1:] for name in known if name.startswith("/"))
    return names.union(*(_keys(parent, environment) for parent in parents))


def folders_of(backend: Backend) -> tuple[Path, ...]:
    """Where templates of a backend are looked for before this package's own: the user's first."""
    users = runtime.configuration["templates"]
    folders = (Path(users).resolve() if users else None, backend.templates)
    return tuple(folder for folder in folders if folder is not None)


def identified(folder: Path) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """Identify the templates of a folder of others, which may change while a program runs."""
    below = [path for path in folder.rglob("*") if path.is_dir()]
    return str(folder), files([folder, *below])


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
        return _render_theirs(template, context, folders)
    wanted = _keys_of_ours(template)
    if wanted != context.keys():
        missing = ", ".join(sorted(wanted - context.keys())) or "none"
        unused = ", ".join(sorted(context.keys() - wanted)) or "none"
        raise InternalError(f"template {template}: missing keys: {missing}; unused keys: {unused}")
    return _environment().get_template(template).render(context)


def _render_theirs(template: str, context: Mapping[str, object], folders: tuple[Path, ...]) -> str:
    environment = _environment(folders)
    where = f"template '{template}' (from {', '.join(map(str, folders))})"
    try:
        unknown = sorted(_keys(template, environment) - context.keys())
        if unknown:
            raise ConfigurationError(
                f"{where}: there is no {', '.join(map(repr, unknown))}; "
                f"a loop gives it {', '.join(map(repr, sorted(context))) or 'nothing'}"
            )
        return environment.get_template(template).render(context)
    except jinja2.TemplateError as error:
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise ConfigurationError(f"{where}{line}: {error}") from error
