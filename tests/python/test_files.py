# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os

import pytest

from pyop2cxx.base.files import replacing


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert os.listdir(tmp_path) == ["result.txt"]
    assert path.read_text() == "old"


def test_new_files_have_the_mode_of_any_other(tmp_path):
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "replaced") as temporary:
        temporary.write_text("")
    assert (tmp_path / "replaced").stat().st_mode == (tmp_path / "plain").stat().st_mode
