# SPDX-License-Identifier: BSD-3-Clause
"""Values that are divided by one number are multiplied by its reciprocal, nothing else changes."""

from __future__ import annotations

import pytest

from pyop2cxx.kernel.ufcx_quotients import with_reciprocals


def quotients(*names: str, by: str = "d", type: str = "double") -> str:
    return "\n".join(f"{type} {name}_over = {name} / {by};" for name in names)


def test_three_quotients_are_one_division() -> None:
    assert with_reciprocals(quotients("a", "b", "c")) == (
        "double reciprocal_0 = 1.0 / d;\ndouble a_over = a * reciprocal_0;\n"
        "double b_over = b * reciprocal_0;\ndouble c_over = c * reciprocal_0;"
    )


def test_single_precision_stays_so() -> None:
    assert with_reciprocals(quotients("a", "b", "c", type="float")).startswith(
        "float reciprocal_0 = 1.0f / d;\n"
    )


def test_other_statements_stand_between() -> None:
    text = quotients("a", "b") + "\ndouble e = a_over * 2;\n" + quotients("c")
    assert "double e = a_over * 2;\ndouble c_over = c * reciprocal_0;" in with_reciprocals(text)


def test_each_row_of_statements_has_its_own() -> None:
    three = quotients("a", "b", "c")
    found = with_reciprocals(f"{{\n{three}\n}}\n{{\n{three}\n}}")
    assert found.count("reciprocal_0 = 1.0 / d") == found.count("reciprocal_1 = 1.0 / d") == 1


@pytest.mark.parametrize(
    "text",
    [
        quotients("a", "b"),
        "{\n" + quotients("a", "b") + "\n}\n" + quotients("c"),
        quotients("a", "b") + "\nd = 2;\n" + quotients("c"),
        quotients("a", "b") + "\nd += 2;\n" + quotients("c"),
        quotients("a", "b", "c", type="double _Complex"),
        quotients("a", "b", "c", by="2"),
        quotients("a", "b", "c", by="f[i]"),
        quotients("a", "b") + "\n" + quotients("a", "b", by="e"),
    ],
)
def test_other_text_stays(text: str) -> None:
    assert with_reciprocals(text) == text
