# SPDX-License-Identifier: BSD-3-Clause
"""Frames and their contexts match both ways."""

from __future__ import annotations

import pytest

from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import InternalError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render, render_once

TEMPLATE = "host/translation_unit.j2"
CONTEXT = {
    "version": "1.2",
    "kernel": "k",
    "strategy": "direct",
    "headers": ["<math.h>", '"mine.h"'],
    "body": "int f(void);",
}


def test_a_frame_is_filled() -> None:
    assert render(TEMPLATE, CONTEXT) == (
        "/* pyop2cxx 1.2: k, strategy direct */\n"
        "#include <math.h>\n"
        '#include "mine.h"\n'
        "\n"
        "int f(void);\n"
    )
    assert render(TEMPLATE, {**CONTEXT, "headers": []}).splitlines()[1:] == ["", "int f(void);"]


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {k: v for k, v in CONTEXT.items() if k != "body"},
            "missing keys: body; unused keys: none",
        ),
        ({**CONTEXT, "colour": 1}, "missing keys: none; unused keys: colour"),
        ({}, "missing keys: body, headers, kernel, strategy, version; unused keys: none"),
    ],
)
def test_keys_must_match_both_ways(context: dict[str, object], message: str) -> None:
    with pytest.raises(InternalError, match=f"template {TEMPLATE}: {message}"):
        render(TEMPLATE, context)


def test_a_frame_is_filled_once_and_then_known(monkeypatch: pytest.MonkeyPatch) -> None:
    context = {**CONTEXT, "body": "int once(void);"}
    text = render(TEMPLATE, context)
    assert render_once(TEMPLATE, context) == text
    monkeypatch.setattr("pyop2cxx.runtime.frames.render", lambda *_: "filled again")
    assert render_once(TEMPLATE, context) == text
    assert render_once(TEMPLATE, {**context, "kernel": "another"}) == "filled again"


def test_text_is_not_escaped_as_for_the_web() -> None:
    assert "a < b && c > '\"'" in render(TEMPLATE, {**CONTEXT, "body": "a < b && c > '\"'"})


def test_every_backend_has_its_template() -> None:
    for name in runtime.backend_names():
        assert (template_folder() / runtime.engine.backend(name).template).is_file()


def test_a_frame_that_extends_another_needs_the_keys_of_both() -> None:
    context = {"version": "1.2", "kernel": "k", "strategy": "direct", "body": "int f(void);"}
    text = render("cuda/program.j2", {**context, "preludes": ["typedef int a;"]})
    assert text.startswith("/* pyop2cxx 1.2: k, strategy direct */\ntypedef int a;\n")
    assert text.endswith("}\n\nint f(void);\n")
    with pytest.raises(InternalError, match="missing keys: preludes; unused keys: none"):
        render("cuda/program.j2", context)
