# SPDX-License-Identifier: BSD-3-Clause
"""Frames and their contexts match both ways."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import ConfigurationError, InternalError
from pyop2cxx.runtime import frames, runtime, templates
from pyop2cxx.runtime.frames import render, render_once
from pyop2cxx.runtime.templates import PREPARED, fill, with_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPLATE = "host/translation_unit.j2"
CONTEXT = {
    "version": "1.2",
    "kernel": "k",
    "strategy": "direct",
    "headers": ["<math.h>", '"mine.h"'],
    "kernels": "int f(void);",
    "wrappers": "\nint w(void);",
    "launch": "\nint l(void);",
}
STRUCT = (template_folder() / "host/launch_context.j2").read_text().partition("\n")[2]


def test_a_frame_is_filled() -> None:
    assert render(TEMPLATE, CONTEXT) == (
        "/* pyop2cxx 1.2: k, strategy direct */\n"
        "#include <math.h>\n"
        '#include "mine.h"\n'
        f"\nint f(void);\n\nint w(void);\n\n{STRUCT}\nint l(void);\n"
    )
    assert STRUCT.startswith("struct op2_context_v1 {\n")
    assert render(TEMPLATE, {**CONTEXT, "headers": []}).splitlines()[1:3] == ["", "int f(void);"]


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (
            {k: v for k, v in CONTEXT.items() if k != "launch"},
            "missing keys: launch; unused keys: none",
        ),
        ({**CONTEXT, "colour": 1}, "missing keys: none; unused keys: colour"),
        (
            {},
            "missing keys: headers, kernel, kernels, launch, strategy, version, wrappers; "
            "unused keys: none",
        ),
    ],
)
def test_keys_must_match_both_ways(context: dict[str, object], message: str) -> None:
    with pytest.raises(InternalError, match=f"template {TEMPLATE}: {message}"):
        render(TEMPLATE, context)


# Without Jinja2


@pytest.mark.parametrize("headers", [[], ["<math.h>"], ["<math.h>", '"a@b@.h"', "@kernel@"]])
def test_a_prepared_frame_is_filled_as_jinja_fills_its_template(headers: list[str]) -> None:
    context = {**CONTEXT, "headers": headers, "kernel": "@launch@", "wrappers": "", "version": 3}
    context["kernels"] = "/* {{ launch }} {% @version@ \\1 */\n\nint two(void);\n"
    assert render(TEMPLATE, context) == fill(TEMPLATE, context)


def test_prepared_frames_are_those_of_todays_templates() -> None:
    for template in PREPARED:
        file = (template_folder() / template).with_suffix(".frame")
        assert file.read_text() == with_gaps(template), "run tools/make_frames.py"
        *sources, _ = file.read_text().splitlines()[1].split()
        # `flow.framing` looks into this folder only
        assert {source.partition("/")[0] for source in sources} == {"host"}


@pytest.fixture
def a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the host's templates that takes their place."""
    shutil.copytree(template_folder() / "host", tmp_path / "host")
    for module in ("frames", "templates"):
        monkeypatch.setattr(f"pyop2cxx.runtime.{module}.template_folder", lambda: tmp_path)
    caches = (frames._prepared, templates._environment, templates.keys)
    for known in caches:
        known.cache_clear()
    yield tmp_path
    for known in caches:
        known.cache_clear()


@pytest.mark.parametrize("name", [TEMPLATE, "host/launch_context.j2"])
def test_a_template_that_was_changed_since_is_filled_by_jinja(a_copy: Path, name: str) -> None:
    with (a_copy / name).open("a") as file:
        file.write("/* {{ kernel|upper }} */\n")
    assert "/* K */" in render(TEMPLATE, CONTEXT)


def test_a_template_that_does_more_is_not_prepared(a_copy: Path) -> None:
    with (a_copy / "host/launch_context.j2").open("a") as file:
        file.write("{% if kernel %}\n#define HAS_KERNEL\n{% endif %}\n")
    with pytest.raises(InternalError, match=r"launch_context.j2, line 11: 'kernel' is not simply"):
        with_gaps(TEMPLATE)


def test_a_first_loop_on_the_host_is_compiled_without_jinja(tmp_path: Path) -> None:
    program = f"""
import sys
from pyop2cxx import op2
op2.init(backend="openmp", cache_dir={str(tmp_path)!r})
x = op2.Dat(op2.Set(3, "cells"), name="x")
op2.par_loop(op2.Kernel("void one(double *x) {{ *x = 1; }}", "one"), x.dataset.set, x(op2.WRITE))
print(x.data_ro.sum(), "jinja2" in sys.modules)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "3.0 False\n"


def test_a_frame_is_filled_once_and_then_known(monkeypatch: pytest.MonkeyPatch) -> None:
    context = {**CONTEXT, "kernels": "int once(void);"}
    text = render(TEMPLATE, context)
    assert render_once(TEMPLATE, context) == text
    monkeypatch.setattr("pyop2cxx.runtime.frames.render", lambda *_: "filled again")
    assert render_once(TEMPLATE, context) == text
    assert render_once(TEMPLATE, {**context, "kernel": "another"}) == "filled again"


def test_text_is_not_escaped_as_for_the_web() -> None:
    assert "a < b && c > '\"'" in render(TEMPLATE, {**CONTEXT, "kernels": "a < b && c > '\"'"})


def test_every_backend_has_its_template() -> None:
    for name in runtime.backend_names():
        assert (template_folder() / runtime.engine.backend(name).template).is_file()


def test_a_frame_that_extends_another_needs_the_keys_of_both() -> None:
    context = {
        key: CONTEXT[key] for key in ("version", "kernel", "strategy", "kernels", "wrappers")
    }
    text = render("cuda/program.j2", {**context, "preludes": ["typedef int a;"]})
    assert text.startswith("/* pyop2cxx 1.2: k, strategy direct */\ntypedef int a;\n")
    assert text.endswith("}\n\nint f(void);\n\nint w(void);\n")
    with pytest.raises(InternalError, match="missing keys: preludes; unused keys: none"):
        render("cuda/program.j2", context)


# Templates of others


MINE = """{% extends "pyop2cxx/host/translation_unit.j2" %}
{% block loop %}
/* of {{ kernel }} */
{{ super() }}
{%- endblock %}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    """A template that stands for that of the host's backends."""
    file = tmp_path / TEMPLATE
    file.parent.mkdir()
    file.write_text(MINE)
    yield file
    op2.exit()


def small_loop() -> op2.ParLoop:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells, [1.0, 2.0, 3.0], name="x")
    return op2.ParLoop(op2.Kernel("void add(double *x) { *x += 1; }", "add"), cells, x(op2.RW))


def test_a_users_template_extends_ours_and_its_loops_run(mine: Path) -> None:
    op2.init(backend="sequential")
    loop = small_loop()
    plain = str(loop.generate())
    op2.configuration["templates"] = str(mine.parents[1])
    text = str(loop.generate())
    first = plain.index("\n\n") + 2
    assert text == f"{plain[:first]}/* of add */\n{plain[first:]}"
    loop.compute()
    np.testing.assert_array_equal(loop.args[0].data.data_ro, [2.0, 3.0, 4.0])
    op2.configuration["templates"] = ""
    assert str(loop.generate()) == plain


def test_each_part_of_a_text_is_a_block(mine: Path) -> None:
    parts = ("kernels", "wrappers", "launch")
    blocks = "".join(
        f"{{% block {one} %}}\n/* {one} */\n{{{{ super() }}}}\n{{%- endblock %}}\n" for one in parts
    )
    mine.write_text(f'{{% extends "pyop2cxx/{TEMPLATE}" %}}\n{blocks}')
    op2.init(backend="sequential")
    loop = small_loop()
    plain = str(loop.generate())
    op2.configuration["templates"] = str(mine.parents[1])
    text = str(loop.generate())
    assert text.splitlines() != plain.splitlines()
    without = [line for line in text.splitlines() if line not in {f"/* {one} */" for one in parts}]
    assert without == plain.splitlines()
    places = [text.index(what) for what in ("/* kernels */", "void add(", "/* wrappers */")]
    places += [text.index(what) for what in ("wrap_add(", STRUCT, "/* launch */", "int op2_launch")]
    assert places == sorted(places)
    loop.compute()
    np.testing.assert_array_equal(loop.args[0].data.data_ro, [2.0, 3.0, 4.0])


def test_a_changed_template_makes_another_text(mine: Path) -> None:
    op2.init(backend="sequential", templates=mine.parents[1])
    loop = small_loop()
    assert "/* of add */" in str(loop.generate())
    mine.write_text(MINE.replace("of {{", "the very same {{"))
    assert "/* the very same add */" in str(loop.generate())


@pytest.fixture
def elsewhere(mine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder, written at another time."""
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(mine.parent, folder / mine.parent.name)
    os.utime(folder / TEMPLATE, (1, 1))
    return folder


def test_templates_are_known_wherever_they_lie(mine: Path, elsewhere: Path) -> None:
    folder = mine.parents[1]
    op2.init(backend="sequential", templates=folder)
    key = small_loop().generate().key
    op2.configuration["templates"] = str(elsewhere)
    assert small_loop().generate().key == key
    assert str(folder) not in key
    (elsewhere / TEMPLATE).write_text(MINE.replace("of {{", "to {{"))
    assert small_loop().generate().key != key
    (elsewhere / TEMPLATE).rename(elsewhere / "host" / "renamed.j2")
    assert small_loop().generate().key != key


def test_a_table_serves_a_copy_of_the_templates(
    mine: Path, elsewhere: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    library = tmp_path_factory.mktemp("library")
    op2.init(backend="sequential", templates=mine.parents[1])
    with op2.dispatch.record(library, backends=["sequential"]):
        small_loop().compute()
    op2.exit()
    op2.init(backend="sequential", templates=elsewhere, eti_only=True)
    op2.dispatch.load(library)
    loop = small_loop()
    assert op2.dispatch.lookup(loop).tier == "ahead"
    loop.compute()


def test_other_templates_stay_ours(mine: Path) -> None:
    op2.init(backend="opencl", static=True, templates=mine.parents[1])
    assert "/* of add */" not in str(small_loop().generate())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ colour }}", "there is no 'colour'; a loop gives it 'headers', 'kernel', 'kernels', "),
        ("a\n{% if %}", "line 2: "),
        ('{% extends "nowhere.j2" %}', "there is no template 'nowhere.j2'"),
        ('{% extends "pyop2cxx/host/unit.j2" %}', "there is no template 'pyop2cxx/host/unit.j2'"),
        (
            f'{{% extends "{TEMPLATE}" %}}',
            f"'{TEMPLATE}' needs itself; this package's own is 'pyop2cxx/{TEMPLATE}'",
        ),
        (
            f'{{% extends "pyop2cxx/{TEMPLATE}" %}}\n{{% block lop %}}a{{% endblock %}}',
            f"'{TEMPLATE}' has a block 'lop', which 'pyop2cxx/{TEMPLATE}' has not; "
            "there are: 'head', 'kernels', 'launch', 'loop', 'wrappers'",
        ),
        ("a\n{{ 1 / 0 }}", "line 2: ZeroDivisionError: division by zero"),
        ("{{ kernel.colour }}", "has no attribute 'colour'"),
        ("caf\xe9", "is not UTF-8: "),
        (
            "{{ kernels }}\n{{ wrappers }}\n",
            "its text lacks 'launch'; a template needs 'headers', 'kernels', 'wrappers', 'launch', "
            f"as in '{{{{ launch }}}}', or extends 'pyop2cxx/{TEMPLATE}', whose blocks have them; "
            "a block that replaces another one has what is there by '{{ super() }}'",
        ),
        (
            f'{{% extends "pyop2cxx/{TEMPLATE}" %}}\n{{% block loop %}}a{{% endblock %}}',
            "its text lacks 'kernels', 'wrappers', 'launch'; ",
        ),
        ("", "its text lacks 'kernels', 'wrappers', 'launch'; "),
    ],
)
def test_wrong_templates_of_users_are_refused(mine: Path, text: str, message: str) -> None:
    mine.write_bytes(text.encode("latin-1"))
    op2.init(backend="sequential", templates=mine.parents[1])
    with pytest.raises(ConfigurationError) as refused:
        small_loop().generate()
    assert message in str(refused.value)
    assert f"template '{TEMPLATE}' (from {mine.parents[1]})" in str(refused.value)


def test_a_device_needs_its_parts_too(mine: Path) -> None:
    folder = mine.parents[1]
    (folder / "opencl").mkdir()
    (folder / "opencl" / "program.j2").write_text("{{ wrappers }}")
    op2.init(backend="opencl", static=True, templates=folder)
    with pytest.raises(ConfigurationError, match="its text lacks 'preludes', 'kernels'; "):
        small_loop().generate()


def test_a_template_may_change_lines(mine: Path) -> None:
    mine.write_text(
        f'{{% extends "pyop2cxx/{TEMPLATE}" %}}\n'
        "{% block launch %}{{ launch | replace('return 0;', 'return 0; /* done */') | indent }}"
        "{% endblock %}"
    )
    op2.init(backend="sequential", templates=mine.parents[1])
    loop = small_loop()
    assert "return 0; /* done */" in str(loop.generate())
    loop.compute()
    np.testing.assert_array_equal(loop.args[0].data.data_ro, [2.0, 3.0, 4.0])


def test_a_block_of_a_template_in_between_may_be_replaced(mine: Path) -> None:
    (mine.parent / "between.j2").write_text(
        f'{{% extends "pyop2cxx/{TEMPLATE}" %}}\n'
        "{% block head %}\n{{ super() }}\n{% block timer %}\n/* none */\n{% endblock %}\n"
        "{% endblock %}"
    )
    mine.write_text(
        '{% extends "host/between.j2" %}\n{% block timer %}\n/* timed */\n{% endblock %}'
    )
    op2.init(backend="sequential", templates=mine.parents[1])
    assert "\n/* timed */\n" in str(small_loop().generate())


def test_the_name_of_a_template_may_have_blanks(mine: Path) -> None:
    (mine.parent / "our licence.txt").write_text("// all rights reserved\n\n")
    mine.write_text(f"{{% include 'host/our licence.txt' %}}{{% include 'pyop2cxx/{TEMPLATE}' %}}")
    op2.init(backend="sequential", templates=mine.parents[1])
    assert str(small_loop().generate()).startswith("// all rights reserved\n")


def test_a_folder_that_is_gone_is_named(mine: Path, tmp_path: Path) -> None:
    op2.init(backend="sequential", templates=tmp_path)
    shutil.rmtree(tmp_path)
    with pytest.raises(
        ConfigurationError, match=r"folder of templates .*cannot be read: .*No such"
    ):
        small_loop().generate()


def test_there_must_be_such_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="option 'templates': there is no folder"):
        op2.init(templates=tmp_path / "none")


# What texts are given because they need it

MOVES = """void move(int *x, int *found) {
  int a[4], b[4];
  memset(a, 1, sizeof a);
  memcpy(b, x, sizeof b);
  memmove(b + 1, b, 3 * sizeof b[0]);
  memmove(a, a + 1, 2 * sizeof a[0]);
  found[0] = memcmp(a, b, sizeof a) > 0 ? 1 : -1;
  found[1] = memcmp(b, x, sizeof b[0]);
  for (int i = 0; i < 4; ++i) x[i] = a[i] + b[i];
}"""


@pytest.mark.parametrize("backend", [one.name for one in op2.backends() if one.available])
def test_functions_that_move_memory_are_there_on_all_backends(backend: str) -> None:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells**4, np.arange(12), dtype=np.int32)
    found = op2.Dat(cells**2, dtype=np.int32)
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(MOVES, "move"), cells, x(op2.RW), found(op2.WRITE))
    before = np.arange(12).reshape(3, 4)
    moved = before[:, [0, 0, 1, 2]] + 0x01010101
    np.testing.assert_array_equal(x.data_ro, moved)
    np.testing.assert_array_equal(found.data_ro, [[1, 0], [-1, 0], [-1, 0]])


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize("backend", ["cuda", "hip", "opencl"])
def test_functions_that_move_memory_stand_once_in_texts_that_call_them(backend: str) -> None:
    cells = op2.Set(3, "cells")
    x, found = op2.Dat(cells**4, dtype=np.int32), op2.Dat(cells**2, dtype=np.int32)
    op2.init(static=True, backend=backend)
    moving = op2.ParLoop(op2.Kernel(MOVES, "move"), cells, x(op2.RW), found(op2.WRITE))
    assert str(moving.generate()).count("int op2_memcmp(") == 1
    assert "op2_memcmp" not in str(small_loop().generate())
