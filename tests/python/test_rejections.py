# SPDX-License-Identifier: BSD-3-Clause
"""A kernel that does not compile: the message points at the user's line, and all goes on."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from programs import with_program
from small_world import scale, statistics

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    CompilationError,
    ToolchainError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

BAD = """void bad(double *x) {
  double y = 1;
  // a comment, and a blank line

  x[0] = y + zeta;
}"""
QUOTED = """
kernel 'bad', line 5:
  5 |   x[0] = y + zeta;
    |              ^
"""


@pytest.fixture(autouse=True)
def clean(tmp_path: Path) -> Iterator[None]:
    op2.init(cache_dir=tmp_path / "cache")
    yield
    op2.exit()


def rejected(code: str = BAD, **options: object) -> tuple[CompilationError, op2.Dat]:
    cells = op2.Set(2, "cells")
    x = op2.Dat(cells, [1.0, 1.0])
    loop = op2.ParLoop(op2.Kernel(code, "bad", **options), cells, x(op2.RW))
    with pytest.raises(CompilationError) as caught:
        loop.compute()
    return caught.value, x


def test_an_equal_kernel_on_other_lines_is_quoted_by_its_own(backend: str) -> None:
    op2.init(backend=backend)
    assert "line 5:" in str(rejected()[0])
    error, _ = rejected(f"\n\n{BAD}")
    assert "kernel 'bad', line 7:\n  7 |   x[0] = y + zeta;\n    |              ^" in str(error)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("is_cpp", [False, True])
def test_consts_that_a_kernel_does_not_see_are_to_be_passed(is_cpp: bool) -> None:
    const = op2.Const(1, 2.5, "unseen_rate")
    x = op2.Dat(op2.Set(2))
    body = (
        "x[0] = unseen_rate;" if is_cpp else "again: x[0] += unseen_rate; if (x[0] < 1) goto again;"
    )
    kernel = op2.Kernel(f"void k(double *x) {{ {body} }}", "k", cpp=is_cpp)
    try:
        with pytest.raises(CompilationError) as caught:
            op2.par_loop(kernel, x.dataset.set, x(op2.RW))
    finally:
        const.remove_from_namespace()
    assert "compiled as they are written" in str(caught.value)
    assert "pass unseen_rate as arguments" in str(caught.value)
    assert kernel.opaque_reason in str(caught.value)


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
@pytest.mark.parametrize("cc", [with_program("gcc"), with_program("clang")])
def test_the_compilers_message_is_about_the_users_line(backend: str, cc: str) -> None:
    op2.init(backend=backend, cc=cc)
    error, x = rejected()
    message = str(error)
    assert f"par_loop 'bad', made at {__file__}:" in message
    assert f"on backend '{backend}': the compiler rejects the kernel" in message
    assert "<kernel bad>:5:14: error: " in message
    assert QUOTED in message
    assert "no Const has the name zeta" in message
    assert f"generated source: {error.source_path}" in message
    assert error.command in message
    assert (x.dat_version, x.data_ro.tolist()) == (0, [1.0, 1.0])


def test_a_compiler_that_knows_no_line_markers_is_about_the_users_line(tmp_path: Path) -> None:
    """As NVIDIA's OpenCL, which counts all lines that it reads and says `<kernel>`."""
    cc = tmp_path / "cc"
    cc.write_text(f"""#!{sys.executable}
import subprocess, sys
options, texts = [], []
for one in sys.argv[1:]:
    (texts if one.endswith(".c") else options).append(one)
if not texts:
    sys.exit(subprocess.run(["cc", *options]).returncode)
lines = open(texts[0]).read().splitlines()
text = "\\n".join("" if line.startswith("#line") else line for line in lines)
done = subprocess.run(["cc", *options, "-x", "c", "-"], input=text, capture_output=True, text=True)
sys.stderr.write(done.stderr.replace("<stdin>", "<kernel>"))
sys.exit(done.returncode)
""")
    cc.chmod(0o755)
    op2.init(backend="sequential", cc=str(cc))
    error, _ = rejected()
    assert "<kernel bad>:5:14: error: " in str(error)
    assert QUOTED in str(error)


@pytest.mark.usefixtures("host")
def test_everything_is_kept_for_reading() -> None:
    error, x = rejected()
    source = Path(error.source_path)
    assert "y + zeta" in source.read_text()
    assert os.access(source, os.R_OK)
    assert "#line" not in source.read_text()
    assert "<kernel bad>:5" in error.stderr
    assert "cc" in error.command
    assert "-shared" in error.command
    # it can be run again, and says the same
    again = subprocess.run(shlex.split(error.command), capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert "zeta" in again.stderr
    assert error.source_path in again.stderr
    x.data[...] = 1
    loop = op2.ParLoop(op2.Kernel(BAD, "bad"), x.dataset.set, x(op2.RW))
    assert loop.generate() == source.read_text()


def test_the_same_kernel_is_right_once_the_const_is_there() -> None:
    _, x = rejected()
    op2.Const(1, 4.0, "zeta")
    op2.par_loop(op2.Kernel(BAD, "bad"), x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [5.0, 5.0]


@pytest.mark.usefixtures("host")
def test_the_next_good_loop_runs() -> None:
    before = len(runtime.engine.loops)
    _, x = rejected()
    assert len(runtime.engine.loops) == before
    op2.par_loop(scale(), x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [2.0, 2.0]
    again, _ = rejected()  # a failure is not remembered as anything else
    assert "<kernel bad>:5:14: error: " in str(again)


@pytest.mark.usefixtures("host")
def test_a_kernel_in_cpp_is_shown_at_its_line_too() -> None:
    error, _ = rejected(BAD, cpp=True)
    assert "<kernel bad>:5:" in str(error)
    assert QUOTED in str(error)


def test_long_messages_are_cut_and_kept_whole_beside() -> None:
    lines = "\n".join(f"  x[0] += stranger_{i};" for i in range(60))
    error, _ = rejected(f"void bad(double *x) {{\n{lines}\n}}")
    assert "more lines in the exception's .stderr" in str(error)
    assert "stranger_59" in error.stderr
    assert str(error).count("\n") < 60


@pytest.mark.usefixtures("host")
def test_flags_that_the_compiler_does_not_know_are_shown() -> None:
    op2.init(cflags="-fno-such-flag")
    cells = op2.Set(2)
    with pytest.raises(CompilationError, match="no-such-flag"):
        op2.par_loop(scale(), cells, op2.Dat(cells)(op2.RW))


def test_a_missing_compiler_is_not_the_kernels_fault() -> None:
    op2.init(cc="no-such-cc", backend="sequential")
    cells = op2.Set(2)
    x = op2.Dat(cells, [1.0, 1.0])
    with pytest.raises(
        ToolchainError,
        match=r"par_loop 'scale' on backend 'sequential': no C compiler: looked for 'no-such-cc'"
        r".*apt-get install gcc.*PYOP2CXX_CC",
    ) as caught:
        op2.par_loop(scale(6.5), cells, x(op2.RW))
    assert not isinstance(caught.value, CompilationError)
    assert caught.value.command == "no-such-cc"
    assert x.dat_version == 0
    op2.init(cc="cc")
    before = statistics()
    op2.par_loop(scale(6.5), cells, x(op2.RW))
    assert x.data_ro.tolist() == [6.5, 6.5]
    assert statistics()[0] == before[0] + 1


MISSING = [
    ("void bad(double *x) {\n  x[0] = 1\n  x[0] += 1;\n}", 2, 11),
    ("void bad(double *x) {\n  x[0] = 1\n}", 2, 11),
    ("void bad(double x[1]) {\n  x[0] = 1;\n}\nstatic const int n = 3\n\n", 4, 23),
]


@pytest.mark.parametrize(("code", "line", "column"), MISSING)
@pytest.mark.parametrize("abi", ["2026", pytest.param("2016", marks=pytest.mark.pyop2)])
@pytest.mark.usefixtures("host")
def test_a_missing_semicolon_is_shown_where_it_is_missing(
    code: str, line: int, column: int, abi: str
) -> None:
    error, _ = rejected(code, abi=abi)
    message = str(error).split("generated source")[0]
    shown = code.splitlines()[line - 1]
    assert message.endswith(
        f"kernel 'bad', line {line}:\n  {line} | {shown}\n    | {' ' * (column - 1)}^\n"
    )
    assert "expected" in message
    assert "bad_" not in message
    assert "packed" not in message


def test_functions_that_only_the_generated_text_has_are_not_shown() -> None:
    code = "void bad(double x[1][1]) {\n  x[0][0] = zeta;\n}"
    error, x = rejected(code)
    assert "In function" not in str(error).split("generated source")[0]
    assert "kernel 'bad', line 2:\n  2 |   x[0][0] = zeta;\n    |             ^\n" in str(error)
    op2.Const(1, 4.0, "zeta")
    op2.par_loop(op2.Kernel(code, "bad"), x.dataset.set, x(op2.RW))
    assert "bad" in str(op2.timings())
    assert "packed" not in str(op2.timings())


@pytest.mark.usefixtures("device")
def test_a_syntax_error_is_shown_where_the_kernel_would_be_translated() -> None:
    x = op2.Dat(op2.Set(2))
    kernel = op2.Kernel("void bad(double *x) {\n  int i = 0\n  x[0] = i;\n}", "bad")
    with op2.backend("opencl"), pytest.raises(UnsupportedError) as caught:
        op2.par_loop(kernel, x.dataset.set, x(op2.RW))
    message = str(caught.value)
    assert "par_loop 'bad'" in message
    assert "line 2, column 11: syntax error: cannot parse '0'" in message
    assert "correct it or, if C compilers take it, run this loop on a backend of" in message
    assert message.endswith("\n  2 |   int i = 0\n    |           ^")


def test_a_function_that_is_not_understood_is_not_just_missing() -> None:
    with pytest.raises(
        UsageError, match=r"no function 'bad' that can be read; line 1: syntax"
    ) as e:
        op2.Kernel("voidbad(double *x) { }", "bad")
    assert str(e.value).endswith("  1 | voidbad(double *x) { }\n    |                   ^")
