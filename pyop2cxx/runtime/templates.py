# SPDX-License-Identifier: BSD-3-Clause
"""Jinja2 templates and their keys; imported by `pyop2cxx.runtime.frames` when needed.

Compiled templates are kept in the cache directory: the first loop of a process would otherwise
spend most of the time here.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import jinja2
import jinja2.meta
from jinja2 import nodes

from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import ConfigurationError, InternalError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import digest_of_sources
from pyop2cxx.runtime.store import installed, remembered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from jinja2.bccache import Bucket

# Needed by every first loop on the host; elsewhere Jinja2's 20 ms do not matter.
PREPARED = ("host/translation_unit.j2",)
_NEEDED = ("headers", "preludes", "kernels", "wrappers", "launch")
_N_LINES, _TELLING = 3, 10
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates in the cache directory; a bucket's checksum is the template's."""

    def load_bytecode(self, bucket: Bucket) -> None:
        if runtime.static:
            return  # static programs need no cache directory
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
def keys(template: str) -> frozenset[str]:
    """Return the keys of a package's template, including extended and included templates.

    Args:
        template: Path below the template folder.
    """
    return _keys(template, _environment())


@dataclass(frozen=True, slots=True)
class _Outline:
    """The outline of a template.

    Attributes:
        names: The keys.
        parents: Extended and included templates.
        extended: The extended template; "": none.
        blocks: All blocks.
        outer: Blocks not nested in others.
    """

    names: frozenset[str]
    parents: tuple[str, ...]
    extended: str
    blocks: frozenset[str]
    outer: frozenset[str]


def _outline(template: str, environment: jinja2.Environment) -> _Outline:
    loader = environment.loader
    assert loader is not None
    text = loader.get_source(environment, template)[0]

    def find() -> bytes:
        tree = environment.parse(text)
        extended = [one.template for one in tree.find_all(nodes.Extends)]
        return "\n".join(
            "\t".join(sorted(words))  # names of files may have blanks
            for words in (
                jinja2.meta.find_undeclared_variables(tree),
                filter(None, jinja2.meta.find_referenced_templates(tree)),
                [one.value for one in extended if isinstance(one, nodes.Const)],
                [one.name for one in tree.find_all(nodes.Block)],
                [one.name for one in tree.body if isinstance(one, nodes.Block)],
            )
        ).encode()

    known = remembered("keys", ("of a template", text, installed("jinja2")), find).decode()
    names, parents, extended, blocks, outer = (
        line.split("\t") if line else [] for line in known.split("\n")
    )
    return _Outline(
        frozenset(names), (*parents,), "".join(extended), frozenset(blocks), frozenset(outer)
    )


def _keys(template: str, environment: jinja2.Environment) -> frozenset[str]:
    found = _outline(template, environment)
    return found.names.union(*(_keys(parent, environment) for parent in found.parents))


def fill(template: str, context: Mapping[str, object]) -> str:
    """Return the text of a package's template with the given values."""
    return _environment().get_template(template).render(context)


def with_gaps(template: str) -> str:
    """Return a package's template with gaps, for `pyop2cxx.runtime.frames` without Jinja2.

    Returns:
        The licence line, the sources with a digest, and the text with gaps.

    Raises:
        InternalError: The template does more than inserting a value into the text, or each entry
            into a line.
    """
    sources, lists = [template], set()
    for source in sources:  # grows
        tree = _tree(source)
        loops = list(tree.find_all(nodes.For))
        plain = [one for out in tree.find_all(nodes.Output) for one in out.nodes]
        known = {id(one) for one in (*plain, *(loop.iter for loop in loops))}
        for name in tree.find_all(nodes.Name):
            if name.ctx == "load" and id(name) not in known:
                where = f"{source}, line {name.lineno}"
                raise InternalError(f"template {where}: '{name.name}' is not simply printed")
        lists |= {loop.iter.name for loop in loops if isinstance(loop.iter, nodes.Name)}
        sources += filter(None, jinja2.meta.find_referenced_templates(tree))
    gaps = {key: [f"@{key}@"] if key in lists else f"@{key}@" for key in keys(template)}
    made_of = " ".join((*sources, digest_of_sources(sources)))
    return f"{LICENCE}\n{made_of}\n{fill(template, gaps)}"


def _tree(template: str) -> nodes.Template:
    environment = _environment()
    assert environment.loader is not None
    return environment.parse(environment.loader.get_source(environment, template)[0])


def fill_theirs(template: str, context: Mapping[str, object], folders: tuple[Path, ...]) -> str:
    """Return the text of a possibly external template.

    Args:
        template: Path below the folders.
        context: Values available to the template.
        folders: Folders searched before the package's own.

    Raises:
        ConfigurationError: The template has a syntax error, fails, names an unknown key or a block
            missing in the extended template, or leaves out parts needed by loops.
    """
    environment = _environment(folders)
    where = f"template '{template}' (from {', '.join(map(str, folders))})"
    try:
        _check_parents(template, environment, ())
        unknown = sorted(_keys(template, environment) - context.keys())
        if unknown:
            raise ConfigurationError(
                f"there is no {_listed(unknown)}; "
                f"a loop gives it {_listed(sorted(context)) or 'nothing'}"
            )
        text = environment.get_template(template).render(context)
        _check_all_is_there(template, text, context)
        return text
    except jinja2.TemplateNotFound as error:
        raise ConfigurationError(f"{where}: there is no template '{error.name}'") from error
    except jinja2.TemplateSyntaxError as error:
        raise ConfigurationError(f"{where}, line {error.lineno}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{where} is not UTF-8: {error}") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    except Exception as error:  # of the template's code
        lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.lineno]
        kind = type(error).__name__
        raise ConfigurationError(f"{where}, line {lines[-1]}: {kind}: {error}") from error


def _check_parents(template: str, environment: jinja2.Environment, above: tuple[str, ...]) -> None:
    """Raise a ConfigurationError if a template needs itself, or replaces an unknown block."""
    if template in above:
        ours = template.removeprefix("pyop2cxx/")
        raise ConfigurationError(
            f"'{template}' needs itself; this package's own is 'pyop2cxx/{ours}'"
        )
    found = _outline(template, environment)
    for parent in found.parents:
        _check_parents(parent, environment, (*above, template))
    if not found.extended:
        return
    there, parent = frozenset[str](), found.extended
    while parent:
        outline = _outline(parent, environment)
        there, parent = there | outline.blocks, outline.extended
    unknown = sorted(found.outer - there)
    if unknown:
        raise ConfigurationError(
            f"'{template}' has a block {_listed(unknown)}, which '{found.extended}' has not; "
            f"there are: {_listed(sorted(there)) or 'none'}"
        )


def _check_all_is_there(template: str, text: str, context: Mapping[str, object]) -> None:
    """Raise a ConfigurationError if a text lacks parts needed by compilers and the run-time.

    Templates may change lines: a part counts as present if a long line of the part is present.
    """
    left_out = []
    for key in _NEEDED:
        given = context.get(key, "")
        for part in given if isinstance(given, list) else [str(given)]:
            lines = sorted((line.strip() for line in part.splitlines()), key=len)[-_N_LINES:]
            telling = [line for line in lines if len(line) >= _TELLING] or lines[-1:]
            if any(telling) and not any(line in text for line in telling):
                left_out.append(key)
                break
    if left_out:
        needed = [key for key in _NEEDED if key in context]
        raise ConfigurationError(
            f"its text lacks {_listed(left_out)}; a template needs {_listed(needed)}, as in "
            f"'{{{{ {left_out[0]} }}}}', or extends 'pyop2cxx/{template}', whose blocks have them; "
            "a block that replaces another one has what is there by '{{ super() }}'"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
