# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import exceptions
from pyop2cxx.base import folders

if TYPE_CHECKING:
    from pathlib import Path


def test_the_package_is_found() -> None:
    assert (folders.PACKAGE / "op2.py").is_file()
    assert str(folders.PACKAGE / "exceptions.py") == exceptions.__file__
    assert (folders.template_folder() / "host").is_dir()


def test_backends_are_files_without_underscore(tmp_path: Path) -> None:
    assert {"cuda", "hip", "opencl", "openmp", "sequential"} <= {*folders.backend_names()}
    for name in ("b.py", "a.py", "_c.py", "d.txt"):
        (tmp_path / name).touch()
    assert folders.backend_names(tmp_path) == ("a", "b")
    assert all(map(folders.is_backend, folders.backend_names()))
    for name in ("", "_backend", "__init__", "../backends/cuda", "abacus"):
        assert not folders.is_backend(name)
