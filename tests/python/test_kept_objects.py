# SPDX-License-Identifier: BSD-3-Clause
"""Objects kept for a session of tests are those of the same text, and failures are not kept."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import kept_objects
from programs import needs_program

if TYPE_CHECKING:
    from pathlib import Path


@needs_program("c++")
def test_only_the_same_text_with_the_same_flags_is_copied(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    compiler = kept_objects.script(kept)

    def compiled(text: str, *flags: str, place: str = "a") -> int:
        folder = tmp_path / place
        folder.mkdir(exist_ok=True)
        (folder / "value.hpp").write_text(text)
        unit = folder / "unit.cpp"
        unit.write_text('#include "value.hpp"\nint named() { return value; }\n')
        command = [compiler, *flags, f"-I{folder}", "-c", str(unit), "-o", str(folder / "unit.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == ("error" not in done.stderr), done.stderr
        return len([*kept.glob("*.o")])

    assert compiled("const int value = 1;") == 1
    assert compiled("const int value = 1;", place="b") == 1
    assert (tmp_path / "a/unit.o").read_bytes() == (tmp_path / "b/unit.o").read_bytes()
    assert compiled("const int value = 2;") == 2
    assert compiled("const int value = 2;", "-fPIC", "-g") == 3
    assert compiled("const int value = none;") == 3
    assert compiled("#include <nowhere.hpp>") == 3
    assert compiled("const int value = 2;", place="c") == 3
    assert (tmp_path / "c/unit.o").read_bytes() != (tmp_path / "b/unit.o").read_bytes()
