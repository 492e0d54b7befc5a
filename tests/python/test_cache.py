# SPDX-License-Identifier: BSD-3-Clause
"""What ``pyop2cxx cache`` prints and deletes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import _core
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports import cache as cache_cli

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = "int value(void) { return 1; }\n"


def compile_one(cache: Path) -> None:
    service = cache_cli.make_service(cache_dir=str(cache))
    service.load(SOURCE, _core.jit.Language.c, [], "test")


def test_path_names_the_directory_without_creating_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYOP2CXX_CACHE_DIR", str(tmp_path / "cache"))
    assert cache_cli.cache_path() == str(tmp_path / "cache")
    assert cache_cli.cache_path(str(tmp_path / "other")) == str(tmp_path / "other")
    assert list(tmp_path.iterdir()) == []


def test_info_counts_kernels(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert "kernels  0\n" in cache_cli.cache_info(str(cache))
    compile_one(cache)
    path, kernels, size = cache_cli.cache_info(str(cache)).splitlines()
    assert path == f"path     {cache}"
    assert kernels == "kernels  1"
    assert size.startswith("size     1")
    assert size.endswith(" KiB of at most 1.0 GiB")


def test_info_says_why_a_directory_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert "unused   others may write to the cache directory" in cache_cli.cache_info(str(tmp_path))


def test_clear_deletes_and_reports(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    compile_one(cache)
    assert cache_cli.cache_clear(str(cache)).startswith("deleted 1 kernels (")
    assert list(cache.glob("*.so")) == []
    assert cache_cli.cache_clear(str(cache)) == f"deleted 0 kernels (0 B) from {cache}"


def test_clear_refuses_what_is_not_ours(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="nothing was deleted: others may write"):
        cache_cli.cache_clear(str(tmp_path))
