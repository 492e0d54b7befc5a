# SPDX-License-Identifier: BSD-3-Clause
"""Kernels parsed before by any process, used without the parser."""

from __future__ import annotations

import gc
import pickle
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import tokens
from pyop2cxx.kernel.parser.reads import front_end
from pyop2cxx.kernel.parser.wire import flattened, nested
from pyop2cxx.runtime.store import remembered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.kernel.parser.preprocess import Preprocessed
    from pyop2cxx.kernel.parser.wire import ParsedKernel


class Description(NamedTuple):
    """All input of a kernel's C++ object."""

    code: str
    name: str
    headers: tuple[str, ...]
    include_dirs: tuple[str, ...]
    options: tuple[str, ...]
    ldargs: tuple[str, ...]
    cpp: bool
    flop_count: int
    abi: str
    requires_zeroed_output_arguments: bool
    header_contents: tuple[str, ...]
    source: Preprocessed | None = None
    contract: bool = True


def parsed(given: Description) -> tuple[ParsedKernel, tuple[str, ...]]:
    """Return a kernel's tree and tokens, from the cache directory if known there.

    Raises:
        UsageError: The text does not define the function, or keeps state between calls.
    """
    key = (tuple(given), sys.version_info[:3], front_end())
    made: list[tuple[ParsedKernel, tuple[str, ...]]] = []

    def make() -> bytes:
        made.append(_parse(given))
        return _pickled(made[0])

    with without_collections():
        # Files trusted by Store to run as code only: the user's, not writable by others.
        kept = remembered("kernel", key, make)
        found = made[0] if made else pickle.loads(kept)
    kernel: tuple[ParsedKernel, tuple[str, ...]] = nested(found) if type(found) is list else found
    return kernel


@contextmanager
def without_collections() -> Iterator[None]:
    """Make many objects without cycles: the collector would look at all again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _pickled(found: tuple[ParsedKernel, tuple[str, ...]]) -> bytes:
    try:
        return pickle.dumps(found)
    except RecursionError:
        return pickle.dumps(flattened(found))


def _parse(given: Description) -> tuple[ParsedKernel, tuple[str, ...]]:
    from pyop2cxx.kernel.parser import dense_calls, parse

    try:
        if given.cpp:
            kernel = parse.parse_opaque(_resolved(given), given.name, given.headers)
        else:
            kernel = parse.parse_c(
                given.code,
                given.name,
                extra_headers=given.headers,
                include_dirs=given.include_dirs,
                options=given.options,
                source=given.source,
            )
    except UsageError as error:
        raise UsageError(f"Kernel '{given.name}': {error}") from None
    read = tokens.token_stream(_resolved(given))
    if kernel.opaque_reason and (unknown := dense_calls.called(read)):
        raise UsageError(
            f"Kernel '{given.name}': '{unknown}' is known to kernels with an AST, and this kernel"
            f" has none: {kernel.opaque_reason}"
        )
    return kernel, read


def _resolved(given: Description) -> str:
    return given.code if given.source is None else given.source.resolved
