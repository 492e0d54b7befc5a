# SPDX-License-Identifier: BSD-3-Clause
"""Code comes from folders of one's own: tables, saved graphs, the cache."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.ahead.manifest import MANIFEST
from pyop2cxx.ahead.trust import check_trusted, file_within
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a graph with a compiled loop: the folder is a table, too."""
    folder = tmp_path_factory.mktemp("trust") / "twice"
    cells = op2.Set(3, "cells")
    u = op2.Dat(cells, [1.0, 2.0, 3.0], name="u")
    twice = op2.Kernel("void twice(double *u) { *u *= 2; }", "twice")
    graph = op2.create_graph(lambda root: root.then(twice, cells, u(op2.RW)), name="twice")
    graph.save(str(folder), backends=("sequential",))
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Iterator[Path]:
    """Return a copy that a test may change; tables are forgotten afterwards."""
    yield shutil.copytree(saved, tmp_path / "twice")
    op2.exit()


LOADERS = [op2.load_graph, op2.dispatch.load]


@pytest.mark.parametrize("load", LOADERS)
def test_a_folder_of_ones_own_is_loaded(folder: Path, load: Callable[[Path], object]) -> None:
    assert load(folder)


@pytest.mark.parametrize("load", LOADERS)
def test_a_folder_that_others_may_write_to_is_refused(
    folder: Path, load: Callable[[Path], object]
) -> None:
    folder.chmod(0o777)
    with pytest.raises(UsageError, match=r"others may write to .*\(mode 777\).*chmod go-w"):
        load(folder)


@pytest.mark.parametrize("load", LOADERS)
def test_a_folder_of_another_user_is_refused(folder: Path, load: Callable[[Path], object]) -> None:
    if os.geteuid():
        pytest.skip("only the administrator gives folders away")
    os.chown(folder, 12345, -1)
    with pytest.raises(UsageError, match="belongs to user 12345, and this is user 0"):
        load(folder)


@pytest.mark.parametrize("load", LOADERS)
def test_a_folder_that_everyone_may_replace_is_refused(
    folder: Path, load: Callable[[Path], object]
) -> None:
    folder.parent.chmod(0o777)
    with pytest.raises(UsageError, match="everyone may replace the folder"):
        load(folder)


@pytest.mark.parametrize("load", LOADERS)
def test_a_library_that_others_may_write_to_is_refused(
    folder: Path, load: Callable[[Path], object]
) -> None:
    (folder / "libtwice.so").chmod(0o777)
    with pytest.raises(UsageError, match="others may write to the file"):
        load(folder)


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize("name", ["libtwice.so", MANIFEST])
def test_a_link_out_of_the_folder_is_refused(
    folder: Path, tmp_path: Path, name: str, load: Callable[[Path], object]
) -> None:
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(UsageError, match="leads out of the folder"):
        load(folder)


def test_values_behind_a_link_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "graph.bin").rename(tmp_path / "graph.bin")
    (folder / "graph.bin").symlink_to(tmp_path / "graph.bin")
    with pytest.raises(UsageError, match="leads out of the folder"):
        op2.load_graph(folder)


@pytest.mark.parametrize("load", LOADERS)
def test_a_path_out_of_the_folder_is_refused(
    folder: Path, tmp_path: Path, load: Callable[[Path], object]
) -> None:
    shutil.copy(folder / "libtwice.so", tmp_path)
    manifest = json.loads((folder / MANIFEST).read_text())
    for one in manifest["libraries"]:
        one["file"] = "../libtwice.so"
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="leads out of the folder"):
        load(folder)


def test_a_library_named_by_the_program_is_judged_too(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir()
    library = shutil.copy(folder / "libtwice.so", place)
    assert op2.dispatch.load(folder, library=library)
    place.chmod(0o777)
    with pytest.raises(UsageError, match="others may write to the folder"):
        op2.dispatch.load(folder, library=library)


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    assert file_within(tmp_path, "link", "load") == tmp_path / "link"
    check_trusted(tmp_path / "link", "load")
