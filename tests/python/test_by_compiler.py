# SPDX-License-Identifier: BSD-3-Clause
"""Directives mean what the C compiler says: over many texts, for each compiler that is there."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import preambles
import pytest
from preambles import PREAMBLES, taken_in

from pyop2cxx import _core, op2
from pyop2cxx.kernel.parser.preprocess import preprocess
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from preambles import Preamble

pytestmark = pytest.mark.optimised  # a macro says whether
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


@pytest.fixture(params=COMPILERS)
def compiler(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """One of the C compilers, for a program with a cache of its own."""
    op2.exit()
    op2.init(cc=request.param, cache_dir=str(tmp_path / "cache"))
    yield request.param
    op2.exit()


def by_judge(compiler: str, folder: Path, texts: Sequence[Preamble] = PREAMBLES) -> list[list[int]]:
    """Ask the compiler for all texts, those with the same options and headers at once."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, one in enumerate(texts):
        groups.setdefault((*one.options, None, *one.headers), []).append(i)
    flags = _core.jit.base_flags(runtime.engine.service.compiler(_core.jit.Language.c))
    left: dict[int, list[int]] = {}
    for members in groups.values():
        paths = []
        for i in members:
            paths.append(folder / f"preamble{i}.c")
            before = "".join(f"#include {header}\n" for header in texts[i].headers)
            paths[-1].write_text(f"{before}{texts[i].text}\nEND_OF_TEXT\n")
        flags_here = [flag for flag in flags if not flag.startswith(("-Wl", "-shared"))]
        command = [compiler, *flags_here, f"-I{folder}", *texts[members[0]].options, "-E", "-P"]
        said = subprocess.run([*command, *paths], capture_output=True, text=True, check=True)
        parts = said.stdout.split("END_OF_TEXT")[:-1]
        left |= {i: taken_in(part) for i, part in zip(members, parts, strict=True)}
    return [left[i] for i in range(len(texts))]


def test_branches_are_those_that_the_compiler_takes(compiler: str, tmp_path: Path) -> None:
    assert len(PREAMBLES) > 150
    preambles.write_headers(tmp_path)
    texts = PREAMBLES if compiler == COMPILERS[0] else PREAMBLES[::2]
    expected = by_judge(compiler, tmp_path, texts)
    assert {1, 2, 3} <= {number for numbers in expected for number in numbers}
    wrong = []
    for one, right in zip(texts, expected, strict=True):
        found = preprocess(one.text, one.headers, [str(tmp_path)], one.options)
        if not taken_in(found.text) == taken_in(found.resolved) == right:
            wrong.append((one, found.text, found.resolved, right))
    assert wrong == []
