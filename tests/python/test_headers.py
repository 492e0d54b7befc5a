# SPDX-License-Identifier: BSD-3-Clause
"""Known headers are tables; the others are included, and their contents count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import _core
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.parser import headers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("given", ["stdlib.h", "<stdlib.h>", "#include <stdlib.h>"])
def test_a_header_may_be_spelled_in_three_ways(given: str) -> None:
    assert headers.spelled(given) == "<stdlib.h>"
    assert headers.spelled('#include "a/b.h"') == '"a/b.h"'


def test_known_headers_vanish_and_others_are_included() -> None:
    code = (
        "#include <math.h>\n# include <stdlib.h>\n"
        'void k(double *x) { x[0] = sqrt(x[1]) + atof("1"); }'
    )
    kernel = Kernel(code, "k", headers=["<complex.h>", "errno.h"])
    text = _core.kernel_text(kernel.core, line_markers=False)
    assert kernel.core.headers == ["<errno.h>", "<stdlib.h>"]
    assert text.splitlines()[:3] == [
        "#include <errno.h>",
        "#include <stdlib.h>",
        "double sqrt(double);",
    ]


def test_contents_of_headers_are_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.h").write_text('#include "sub/b.h"\n')
    (tmp_path / "sub" / "b.h").write_text('#include "c.h"\n')
    (tmp_path / "sub" / "c.h").write_text("int c;\n")
    found = headers.contents(['"a.h"', "<nowhere.h>"], [str(tmp_path)])
    assert found[::2] == ("a.h", "nowhere.h", "sub/b.h", "c.h")
    assert found[1::2] == ('#include "sub/b.h"\n', "", '#include "c.h"\n', "int c;\n")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("M_PI", "3.14159265358979323846"),
        ("true", "1"),
        ("INT64_MIN", "-9223372036854775807L - 1"),
        ("NULL == x", "(void *)0 == x"),
        ("INFINITY", "__builtin_inff()"),
        ("NAN", '__builtin_nanf("")'),
        ("HUGE_VAL", "__builtin_inf()"),
        ("isfinite(x[1])", "__builtin_isfinite(x[1])"),
        ("creal(_Complex_I)", "creal(__builtin_complex(0.0f, 1.0f))"),
        ("I", "I"),
    ],
)
def test_macros_of_known_headers(name: str, printed: str) -> None:
    kernel = Kernel(f"void k(double *x) {{ x[0] = {name}; }}", "k")
    assert f"x[0] = {printed};" in _core.kernel_text(kernel.core, line_markers=False)


def test_the_imaginary_unit_is_known_where_complex_values_are() -> None:
    for type_ in ("double _Complex", "complex double"):
        facts = Kernel(f"void k({type_} *z) {{ z[0] = 2.0 * I; }}", "k").facts
        assert facts is not None
        assert facts.free_names == []
    real = "void k(double *z) { z[0] = 2.0 * I; }"
    without, included = Kernel(real, "k"), Kernel(real, "k", headers=["complex.h"])
    assert without.facts is not None
    assert included.facts is not None
    assert (without.facts.free_names, included.facts.free_names) == (["I"], [])
    assert without.key != included.key  # or one would get the other's code


def test_a_local_name_hides_a_macro() -> None:
    kernel = Kernel("void k(double *M_PI) { double NAN = 1; M_PI[0] = NAN; }", "k")
    assert "M_PI[0] = NAN;" in _core.kernel_text(kernel.core, line_markers=False)
