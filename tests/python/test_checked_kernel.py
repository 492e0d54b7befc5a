# SPDX-License-Identifier: BSD-3-Clause
"""The text of kernels that watch themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx import _core, op2
from pyop2cxx.check.checked_kernel import CheckedKernel, Site, checked

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    op2.init(backend="sequential")
    yield
    op2.exit()


def made(code: str, access: Any = op2.WRITE) -> CheckedKernel:
    cells = op2.Set(2)
    loop = op2.ParLoop(
        op2.Kernel(code, "k"), cells, op2.Dat(cells)(access), op2.Dat(cells**2)(op2.READ)
    )
    built = loop.symbolic()
    return checked(loop.kernel, built.loop.check_input(), layer=False)


def test_a_kernel_that_is_right_gets_no_checks() -> None:
    found = made("void k(double *y, double *x) { y[0] = x[1]; }")
    assert found.sites == ()
    names = [parameter.name for parameter in found.kernel.parameters]
    assert names == ["y", "x", "op2_found", "op2_wanted", "op2_element"]
    text = _core.kernel_text(found.kernel.core, False)
    assert "op2_at" not in text


def test_texts_of_equal_kernels_have_one_key() -> None:
    code = "void k(double *y, double *x) { y[0] = x[1]; }"
    one, other = made(code), made(code.replace("=", " = ") + " // the same")
    assert one.kernel.key == other.kernel.key
    assert one.kernel.key != made(code, op2.RW).kernel.key


def test_a_kernel_is_made_once_but_lines_are_each_ones_own() -> None:
    code = "void k(double *y, double *x) { double t; if (x[0] > 0) t = 1; y[0] = t; }"
    one, again, lower = made(code), made(code), made("\n\n" + code)
    assert one is again
    assert [site.line for site in one.sites] == [1]
    assert [site.line for site in lower.sites] == [3]


def test_locals_of_one_name_stay_apart() -> None:
    found = made(
        "void k(double *y, double *x) { double t; { double t = x[0]; y[0] = t; }"
        " if (x[0] > 0) t = 1; y[0] += t; }"
    )
    assert [(site.check, site.name) for site in found.sites if site.check == "unset"] == [
        ("unset", "t")
    ]


def test_a_finding_says_which_parameter_it_is_about() -> None:
    site = Site("bounds", 1, "p", -1, -1)
    assert site.place((3 << 40) + 7) == (3, 7)
    assert site.place((3 << 40) - 7) == (3, -7)
    assert site.place(-(1 << 40) + 2) == (-1, 2)
    assert Site("made", 1, "y", 0, -1).place(1) == (0, 1)
