# SPDX-License-Identifier: BSD-3-Clause
"""Directives of a kernel's text, carried out by pcpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.macros import expanded

if TYPE_CHECKING:
    from pathlib import Path


def test_macros_are_replaced_and_lines_are_the_users() -> None:
    text = "#define N 2\n#if N > SIZE\nint a = N;\n#endif\nint b;\n"
    found = expanded("#include <stdlib.h>\n", text, ["<stdlib.h>"], [], ["SIZE 1"])
    rows = dict(zip(found.lines, found.text.split("\n"), strict=True))
    assert (rows[3].strip(), rows[5].strip()) == ("int a = 2;", "int b;")
    assert found.seen == {"stdlib.h"} == found.elsewhere


def test_a_header_of_the_users_is_read(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("static int two(void) { return 2; }\n")
    found = expanded("", '#include "two.h"\nint a;\n', ['"two.h"'], [str(tmp_path)], [])
    assert "return 2" in found.declarations
    assert "return 2" not in found.text
    assert found.seen == {"two.h"}
    assert found.elsewhere == set()


def test_a_mistake_has_the_users_line() -> None:
    with pytest.raises(UsageError, match=r"<kernel>, line 2: the preprocessor says: #error no"):
        expanded("#include <a.h>\n", "int a;\n#error no\n", ["<a.h>"], [], [])
