# SPDX-License-Identifier: BSD-3-Clause
"""Kernels parsed before: the tree from the cache directory is the tree that was parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kernel_corpus import KERNELS

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import known
from pyop2cxx.kernel.parser.known import Description

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """An empty cache directory, until the test ends."""
    op2.init(cache_dir=str(tmp_path / "cache"))
    yield tmp_path / "cache"
    op2.exit()


def describe(code: str, name: str, **others: object) -> Description:
    empty = Description(code, name, (), (), (), (), False, -1, "2026", False, ())
    return empty._replace(**others)


def test_every_kernel_comes_back_equal(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [describe(code, name) for name, code in KERNELS.items()]
    first = [known.parsed(description) for description in given]
    assert any(kernel.functions for kernel, _ in first)
    monkeypatch.setattr(known, "_parse", None)
    assert [known.parsed(description) for description in given] == first
    assert len(list(cache.glob("*.kernel"))) == len(given)


@pytest.mark.parametrize(
    "change",
    [
        {"options": ("-DN=3",)},
        {"header_contents": ("other",)},
        {"cpp": True},
        {"code": "void k(double *x) { x[0] = N + 1; }"},
    ],
)
def test_all_that_goes_in_counts(cache: Path, change: dict[str, object]) -> None:
    given = describe("void k(double *x) { x[0] = N; }", "k", options=("-DN=2",))
    first = known.parsed(given)
    known.parsed(given._replace(**change))
    assert len(list(cache.glob("*.kernel"))) == 2
    assert known.parsed(given) == first


def test_another_front_end_parses_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = describe("void k(double *x) { x[0] = 1; }", "k")
    first = known.parsed(given)
    monkeypatch.setattr(known, "front_end", lambda: ("another",))
    assert known.parsed(given) == first
    assert len(list(cache.glob("*.kernel"))) == 2


def test_an_error_is_not_remembered(cache: Path) -> None:
    for _ in range(2):
        with pytest.raises(UsageError, match="Kernel 'f': the text defines no function 'f'"):
            known.parsed(describe("void k(double *x) { x[0] = 1; }", "f"))
    assert not list(cache.glob("*.kernel"))
