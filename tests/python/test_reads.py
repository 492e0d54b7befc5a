# SPDX-License-Identifier: BSD-3-Clause
"""An edited header is noticed, however it is included, by this process and by later ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.kernel.parser import by_compiler, reads
from pyop2cxx.kernel.parser.preprocess import preprocess

if TYPE_CHECKING:
    from pathlib import Path

WAYS = {
    "include_dirs": ('#include "n.h"', {"include_dirs": ["{}/a"]}),
    "headers": ("", {"include_dirs": ["{}/a"], "headers": ["n.h"]}),
    "-I": ('#include "n.h"', {"opts": ["-I{}/a"]}),
    "-I in two words": ("#include <n.h>", {"opts": ["-I", "{}/a"]}),
    "absolute": ('#include "{}/a/n.h"', {}),
    "-include": ("", {"opts": ["-include", "{}/a/n.h"]}),
    "-include by a folder": ("", {"opts": ["-include", "n.h", "-I{}/a"]}),
    "-imacros": ("", {"opts": ["-imacros", "{}/a/n.h"]}),
    "-isystem": ("#include <n.h>", {"opts": ["-isystem", "{}/a"]}),
    "-isystem in one word": ("#include <n.h>", {"opts": ["-isystem{}/a"]}),
    "-iquote": ('#include "n.h"', {"opts": ["-iquote", "{}/a"]}),
    "-idirafter": ("#include <n.h>", {"opts": ["-idirafter", "{}/a"]}),
    "@file": ("#include <n.h>", {"opts": ["@{}/options"]}),
    "a value in @file": ("", {"opts": ["@{}/values"]}),
    "CPATH": ("#include <n_cpath.h>", {}),
    "C_INCLUDE_PATH": ("#include <n_c.h>", {}),
    "a header in a header": ('#include "deep/outer.h"', {"include_dirs": ["{}/a"]}),
    "a macro": ("#include NAME", {"opts": ["-I{}/a", '-DNAME="n.h"']}),
    "a macro of the text": ('#define NAME "n.h"\n#include NAME', {"include_dirs": ["{}/a"]}),
    "__has_include": (
        '#if __has_include("later.h")\n#define N 2\n#else\n#define N 1\n#endif',
        {"include_dirs": ["{}/a"]},
    ),
    "a header that comes before": ("#include <m.h>", {"opts": ["-I{}/first", "-I{}/a"]}),
    "a condition in a header": ('#include "condition.h"', {"include_dirs": ["{}/a"]}),
}
KINDS = {"parsed": {}, "opaque": {}, "C++": {"cpp": True}}
PROGRAM = """
import json, sys
from pyop2cxx import op2
from pyop2cxx.kernel.parser import by_compiler
from pyop2cxx.runtime import runtime

op2.init(backend="sequential", cache_dir=sys.argv[2])
if sys.argv[3] == "known":
    by_compiler._run = None
found = {}
x = op2.Dat(op2.Set(1))
for name, text, options in json.load(open(sys.argv[1])):
    op2.par_loop(op2.Kernel(text, "k", **options), x.dataset.set, x(op2.WRITE))
    found[name] = x.data_ro[0]
print(json.dumps([found, runtime.engine.service.statistics().n_compiles]))
"""


def kernels(folder: Path) -> list[tuple[str, str, dict[str, object]]]:
    """Return name, text and options of a kernel for each way and kind."""
    made = []
    for kind, more in KINDS.items():
        for way, (include, options) in WAYS.items():
            given = {
                key: [word.replace("{}", str(folder)) for word in words]
                for key, words in options.items()
            }
            body = "x[0] = N;" + (" goto end; end: ;" if kind == "opaque" else "")
            text = f"{include.replace('{}', str(folder))}\nvoid k(double *x) {{ {body} }}\n"
            made.append((f"{kind}, {way}", text, given | more))
    return made


def write(folder: Path, n: int) -> None:
    """Write all headers, so that each kernel's value is `n`."""
    for name in ("a/deep", "cpath", "c", "first"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("a/n.h", "a/deep/inner.h", "cpath/n_cpath.h", "c/n_c.h"):
        (folder / name).write_text(f"#define N {n}\n")
    (folder / "a/deep/outer.h").write_text('#include "inner.h"\n')
    (folder / "a/m.h").write_text("#define N 1\n")
    (folder / "a/condition.h").write_text(
        f"#if {n} == 1\n#define N 1\n#else\n#define N 2\n#endif\n"
    )
    (folder / "options").write_text(f"-I{folder}/a\n")
    (folder / "values").write_text(f"-DN={n}\n")
    if n == 2:
        (folder / "a/later.h").write_text("")
        (folder / "first/m.h").write_text("#define N 2\n")


def run(folder: Path, how: str = "") -> tuple[dict[str, float], int]:
    """Run all kernels in a process of their own."""
    (folder / "kernels").write_text(json.dumps(kernels(folder)))
    environment = os.environ | {"CPATH": f"{folder}/cpath", "C_INCLUDE_PATH": f"{folder}/c"}
    environment["CPLUS_INCLUDE_PATH"] = f"{folder}/c"
    command = [sys.executable, "-c", PROGRAM, f"{folder}/kernels", f"{folder}/cache", how or "new"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    return tuple(json.loads(said.stdout))


def test_edited_headers_are_noticed_by_other_processes(tmp_path: Path) -> None:
    """And what is known is run without asking a compiler for anything."""
    write(tmp_path, 1)
    found, n_compiles = run(tmp_path)
    assert found == dict.fromkeys(found, 1.0)
    assert len(found) > 3 * 20
    assert n_compiles > 0
    assert run(tmp_path, "known") == (found, 0)
    write(tmp_path, 2)
    assert run(tmp_path)[0] == dict.fromkeys(found, 2.0)
    assert run(tmp_path, "known") == (dict.fromkeys(found, 2.0), 0)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("how", ["", "goto end; end: ;"])
def test_a_new_kernel_of_one_process_has_the_new_header(how: str, tmp_path: Path) -> None:
    x = op2.Dat(op2.Set(1))
    for n in (1, 2, 1, 3):
        (tmp_path / "n.h").write_text(f"#define N {n}\n")
        text = f'#include "n.h"\nvoid k(double *x) {{ x[0] = N; {how} }}'
        kernel = op2.Kernel(text, "k", opts=[f"-I{tmp_path}"])
        op2.par_loop(kernel, x.dataset.set, x(op2.WRITE))
        assert x.data_ro.tolist() == [n]


def test_a_file_is_as_it_was_until_its_content_changes(tmp_path: Path) -> None:
    path = tmp_path / "n.h"
    path.write_text("1")
    before = os.stat(path)
    fresh = reads.file_read(str(path))
    assert fresh.stamp == ()  # it may change again within a tick of the clock
    settled = reads.FileRead(fresh.path, reads._stamp(before), fresh.digest)
    assert fresh.is_as_it_was()
    assert settled.is_as_it_was()
    path.write_text("2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not fresh.is_as_it_was()
    path.write_text("1")
    os.utime(path, ns=(time.time_ns(), 0))
    assert settled.is_as_it_was()  # by its content
    path.unlink()
    assert not fresh.is_as_it_was()
    absent = reads.file_read(str(path))
    assert absent.is_as_it_was()
    path.write_text("1")
    assert not absent.is_as_it_was()


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "n.h"
    path.write_text("1")
    changed = os.stat(path).st_ctime_ns
    assert reads.file_read(str(path), changed).is_as_it_was()
    assert not reads.file_read(str(path), changed - 1).is_as_it_was()


def test_what_is_known_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "n.h").write_text("#define N 1\n")
    given = ('#include "n.h"\nint n = N;', (), [str(tmp_path)], ())
    first = preprocess(*given)
    monkeypatch.setattr(by_compiler, "_run", None)
    assert preprocess(*given) == first
    (tmp_path / "n.h").write_text("#define N 2\n")
    with pytest.raises(TypeError):
        preprocess(*given)


def test_a_text_without_directives_asks_for_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "kept", None)
    for text in (
        "void k(double *x) { x[0] = M_PI; }",
        "#include <math.h>\n#pragma omp simd\nint n;",
    ):
        assert preprocess(text, (), ["/nowhere"], ["-O2"]).lines is None


def test_names_that_are_asked_for_and_not_there(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "n.h").write_text("")
    text = textwrap.dedent("""
        #include "n.h"
        #if __has_include(<no.h>)
        #endif
    """)
    folders = [f"{tmp_path}/a", f"{tmp_path}/b"]
    places = [os.path.relpath(one, tmp_path) for one in reads.not_there([text], folders, [])]
    assert places == ["a/n.h", "a/no.h", "b/no.h"]
    assert reads.not_there([], folders, [f"{tmp_path}/b/n.h"]) == [f"{tmp_path}/a/n.h"]
