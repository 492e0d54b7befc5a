# SPDX-License-Identifier: BSD-3-Clause
"""The tree keeps the rules of the house, and the checkers can fail."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structure

from pyop2cxx import op2
from pyop2cxx.base.listing import INNER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]

# A unit, and the test that stands in for its own or the reason why it needs none.
EXCEPTIONS = {
    "pyop2cxx/runtime/recorder": "tests/python/test_capture.py",
    "pyop2cxx/loop/over_ghosts": "needs several processes; tests/python/test_ranks.py",
    "cpp/base/abi": "declarations shared with generated code; no code of its own",
    "cpp/base/abi_types": "data without behaviour; tests/cpp/exec/test_portable.cpp",
    "cpp/base/paths": "data without behaviour; tests/cpp/runtime/test_path_table.cpp",
    "cpp/api/states": "declarations; tests/cpp/api/test_op2.cpp",
    "cpp/api/object_states": "data without behaviour; tests/cpp/api/test_op2.cpp",
    "cpp/base/access": "an enum and predicates over it, used by every test of ir and lower",
    "cpp/base/map_facts": "data without behaviour; found in tests/cpp/mesh/test_map_facts.cpp",
    "cpp/base/error": "exception classes without behaviour; their mapping is test_errors.py",
    "cpp/base/overload": "the two lines that std::visit needs",
    "cpp/mesh/device": "an interface; its implementations have the tests",
    "cpp/exec/column": "data without behaviour; tests/cpp/exec/test_dense_ops.cpp",
    "cpp/move/row_trees": "what copies and assignments share; tests/cpp/move/test_assign.cpp",
    "cpp/exec/program": "an interface; its implementations have the tests",
    "cpp/jit/gpu/library": "a table that vendors fill; tests/cpp/jit/gpu/test_compilation.cpp",
    "cpp/runtime/device": "an interface; its implementations have the tests",
    "cpp/runtime/timing": "counters without behaviour; tests/cpp/runtime/test_prepared_loop.cpp",
    "cpp/plan/at": "a cast",
    "cpp/base/backend_facts": "tests/cpp/lower/test_options.cpp",
    "cpp/base/clock": "a subtraction",
    "cpp/kernel/checked_function": "tests/cpp/kernel/test_checks.cpp",
    "cpp/kernel/checked_values": "tests/cpp/kernel/test_checks.cpp",
    "cpp/chain/copies": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/drop": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/grouping": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/known": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/place": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/regroup": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/rules": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/stores": "tests/cpp/chain/test_schedule.cpp",
    "cpp/chain/zeros": "tests/cpp/chain/test_schedule.cpp",
    "cpp/cg/declaration": "tests/cpp/cg/test_declare.cpp",
    "cpp/cg/statement": "tests/cpp/cg/test_schedule.cpp",
    "pyop2cxx/__main__": "tests/python/test_cli.py",
    "pyop2cxx/data/mat_args": "tests/python/test_mat_paths.py",
    "pyop2cxx/data/mat_values": "tests/python/test_mats.py",
    "pyop2cxx/exceptions": "tests/python/test_errors.py",
    "pyop2cxx/pytest_plugin": "tests/python/test_plugged.py",
    "pyop2cxx/loop/checks": "tests/python/test_parloop.py",
    "pyop2cxx/loop/run": "tests/python/test_parloop.py",
    "pyop2cxx/pipeline/request": "tests/python/test_flow.py",
    "pyop2cxx/reports/explain_program": "tests/python/test_explain.py",
}


@pytest.fixture(autouse=True, scope="module")
def forgets_trees() -> Iterator[None]:
    """Leave no trees of modules to the tests of other files, whose collector would visit them."""
    yield
    structure.parsed.cache_clear()


@pytest.mark.parametrize(
    "breaches",
    [
        structure.include_breaches,
        structure.import_breaches,
        structure.import_circles,
        structure.late_breaches,
        structure.seam_breaches,
        structure.text_breaches,
        structure.size_breaches,
        structure.cpp_size_breaches,
        structure.dtype_breaches,
        structure.backend_name_breaches,
        structure.unnamed_breaches,
        structure.template_breaches,
        structure.spdx_breaches,
        structure.print_breaches,
        structure.extras_breaches,
        structure.state_breaches,
        structure.docstring_openings,
        structure.docstring_prose,
        structure.header_prose,
        structure.page_breaches,
        structure.decision_breaches,
    ],
)
def test_the_tree_keeps_the_rule(breaches: Callable[[Path], list[str]]) -> None:
    assert breaches(ROOT) == []


def test_the_page_on_the_architecture_is_true() -> None:
    """It is short, its rooms stand in the order of their ranks, and what it names exists."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert len(text.splitlines()) <= 80
    rows = re.findall(r"^\| `([\w.]+)/?` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE)
    rooms = [name.removesuffix(".py") for name, _ in rows]
    ranked = [room for room in structure.PYTHON_RANKS if not room.startswith("__")]
    assert rooms == ranked
    for room, first in rows:
        for name in re.findall(r"`([\w/]+\.py)`", first):
            assert (ROOT / "pyop2cxx" / room / name).exists(), f"{room}/{name}"
    for name in re.findall(r"`((?:cpp|ir|lower|base|exec|loop|runtime|tests)/[\w./]*)`", text):
        found = [ROOT / name, ROOT / "cpp" / name, ROOT / "pyop2cxx" / name]
        assert any(path.exists() for path in found), name
    folders = {path.name for path in (ROOT / "cpp").iterdir() if path.is_dir()}
    assert [folder for folder in folders if f"`{folder}`" not in text] == []


def test_every_unit_has_its_test() -> None:
    assert structure.twin_breaches(ROOT, EXCEPTIONS) == []


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("base/a.hpp", '#include "mesh/set.hpp"\n', "not downward"),
        ("mesh/a.hpp", '#include "ir/loop.hpp"\n', "not downward"),
        ("plan/a.cpp", '#include "cg/context.hpp"\n', "not downward"),
        ("lower/a.cpp", '  #  include "mesh/set.hpp"\n', "symbolic column"),
        ("cg/a.cpp", '#include "plan/colour.hpp"\n', "symbolic column"),
        ("jit/a.cpp", "#include <pybind11/pybind11.h>\n", "bind/ only"),
        ("ir/a.hpp", "#include <Python.h>\n", "bind/ only"),
        ("runtime/memory.cpp", "#include <cuda.h>\n", "vendor headers"),
        ("ir/a.hpp", '#include "loop.hpp"\n', "starts with its room"),
        ("utils/a.hpp", "", "is not a room"),
    ],
)
def test_a_forbidden_include_is_found(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    write(tmp_path, f"cpp/{name}", text)
    [breach] = structure.include_breaches(tmp_path)
    assert name in breach
    assert complaint in breach


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("sets/a.py", "from pyop2cxx.data.dats import Dat\n", "not downward"),
        ("base/a.py", "if TYPE_CHECKING:\n    from pyop2cxx.sets import b\n", "not downward"),
        ("data/a.py", "def f():\n    import pyop2cxx.loop.run\n", "not downward"),
        ("loop/a.py", "from pyop2cxx.pyop2 import caching\n", "only op2.py"),
        ("pipeline/a.py", "from pyop2cxx.data.dats import Dat\n", "never sees data"),
        ("utils.py", "from pyop2cxx.sets.b import Set\n", "is not a room"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    for module in ("sets/b", "data/dats", "loop/run", "pyop2/caching"):
        write(tmp_path, f"pyop2cxx/{module}.py", "")
    write(tmp_path, f"pyop2cxx/{name}", text)
    [breach] = structure.import_breaches(tmp_path)
    assert complaint in breach


@pytest.mark.parametrize("line", ["from pyop2cxx.sets.b import Set", "import pcpp"])
def test_an_import_in_a_function_is_found(tmp_path: Path, line: str) -> None:
    write(tmp_path, "pyop2cxx/loop/a.py", f"{line}\n")
    assert structure.late_breaches(tmp_path) == []
    write(tmp_path, "pyop2cxx/loop/a.py", f"class A:\n    def f(self):\n        {line}\n")
    [breach] = structure.late_breaches(tmp_path)
    assert breach == "pyop2cxx/loop/a.py:3 imports in a function"


def test_a_seam_that_does_not_lead_up_is_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        "pyop2cxx/runtime/seams.py",
        "class View(Protocol):\n    pass\n\n\n"
        "def up() -> View:\n    return import_module('pyop2cxx.chain.a')\n\n\n"
        "def untyped() -> Any:\n    return import_module('pyop2cxx.chain.a')\n\n\n"
        "def alone() -> View:\n    return import_module('pyop2cxx.chain.a')\n",
    )
    write(tmp_path, "pyop2cxx/chain/a.py", "")
    write(tmp_path, "pyop2cxx/loop/b.py", "from pyop2cxx.runtime.seams import up, untyped\n")
    write(tmp_path, "pyop2cxx/graph/c.py", "from pyop2cxx.runtime import seams\nseams.up()\n")
    assert structure.seam_breaches(tmp_path) == [
        "graph.c calls seam up, which does not lead up",
        "seam untyped returns Any, no Protocol",
        "seam alone has no users",
    ]


def test_seams_are_few() -> None:
    tree = ast.parse((ROOT / "pyop2cxx" / "runtime" / "seams.py").read_text())
    assert sum(isinstance(node, ast.FunctionDef) for node in tree.body) == 13


@pytest.mark.parametrize(
    ("line", "is_c"),
    [
        ('f"y[{i}] += x[{i}];"', True),
        ('f"void {name}({given}) {{ {body} }}"', True),
        ('f"#define {name} {value}"', True),
        ('f"void {name}({given})\\n{{\\n{body}\\n}}\\n"', True),
        ('f"{name}; pass {wanted}"', False),
        ('f"struct {{{name}: {size}}}"', False),
        ('"int one(void) { return 1; }"', False),
    ],
)
def test_c_that_is_put_together_is_found(tmp_path: Path, line: str, is_c: bool) -> None:
    write(tmp_path, "pyop2cxx/loop/a.py", f"def f(**a):\n    return {line}\n")
    assert len(structure.text_breaches(tmp_path)) == is_c


def test_a_package_that_grew_too_large_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structure, "CODE_LINES", 3)
    monkeypatch.setattr(structure, "MODULE_LINES", 9)
    told = '"""Told\n\nin lines."""\n\n# and a remark\nX = """no\ndocstring"""\n'
    write(tmp_path, "pyop2cxx/loop/run.py", told)
    write(tmp_path, "pyop2cxx/loop/checks.py", "y = 1\n")
    assert structure.size_breaches(tmp_path) == []
    write(tmp_path, "pyop2cxx/loop/checks.py", "y = 1\nz = 2\n")
    write(tmp_path, "pyop2cxx/op2.py", "\n" * 10)
    assert structure.size_breaches(tmp_path) == [
        "pyop2cxx/op2.py has 10 lines; at most 9",
        "pyop2cxx has 4 lines of code; at most 3",
    ]


def test_a_sum_of_cpp_code_that_is_too_large_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = {"two rooms": (("ir", "kir"), 4), "all rooms": (None, 5)}
    monkeypatch.setattr(structure, "CPP_LINES", sums)
    write(tmp_path, "cpp/ir/loop.hpp", "// told\n\nint a;  // and why\n  /// of b\nint b;\n")
    write(tmp_path, "cpp/kir/loop.cpp", "int a;\n")
    write(tmp_path, "cpp/ir/README.md", "text\n")
    write(tmp_path, "cpp/ir/deep/er.h", "int c;\n")
    write(tmp_path, "cpp/novel/new.cpp", "int d;\n")
    assert structure.cpp_size_breaches(tmp_path) == []
    write(tmp_path, "cpp/kir/loop.cpp", "int a;\nint b;\n")
    assert structure.cpp_size_breaches(tmp_path) == [
        "cpp/: two rooms have 5 lines of code; at most 4",
        "cpp/: all rooms have 6 lines of code; at most 5",
    ]


def test_another_table_of_dtypes_is_found(tmp_path: Path) -> None:
    table = 'T = {{"float32": {}, "float64": {}}}\n'
    write(tmp_path, "pyop2cxx/fem/a.py", table.format('"float"', '("double", "d")'))
    write(tmp_path, "pyop2cxx/fem/b.py", table.format('"fabsf"', '"fabs"'))
    write(tmp_path, "pyop2cxx/kernel/parser/c.py", table.format('"float"', '"double"'))
    breaches = ["pyop2cxx/fem/a.py:1 has a table of C's names for dtypes"]
    assert structure.dtype_breaches(tmp_path) == breaches


def test_what_is_found_by_name_is_there() -> None:
    """Modules that `seams` and `op2` import when they are first asked for, and nobody else."""
    by_name = {
        str(path.relative_to(ROOT / "pyop2cxx"))
        for path in structure.python_modules(ROOT)
        if "import_module(" in path.read_text() and path.parent.name != "pyop2"
    }
    plugs = {"runtime/engine.py", "base/plugs.py", "pytest_plugin.py", "backends/__init__.py"}
    assert (
        ROOT / "pyop2cxx" / "loop" / "on_backend.py"
    ).exists()  # named by the folder of backends
    assert by_name == {"__init__.py", "op2.py", "runtime/seams.py", *plugs, "base/extras.py"}
    for file in ("runtime/seams.py", "op2.py"):
        text = (ROOT / "pyop2cxx" / file).read_text()
        names = set(re.findall(r'import_module\(\s*"pyop2cxx\.([\w.]+)"', text))
        names |= set(re.findall(r'^    "([a-z_]+\.[a-z_]+)": \(', text, re.MULTILINE))
        assert len(names) > 5
        for name in names:
            place = ROOT / "pyop2cxx" / name.replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__init__.py").exists(), name


def test_a_circle_of_imports_is_found(tmp_path: Path) -> None:
    write(tmp_path, "pyop2cxx/sets/a.py", "from pyop2cxx.sets import b\n")
    write(tmp_path, "pyop2cxx/sets/b.py", "def f():\n    from pyop2cxx.sets.c import C\n")
    write(tmp_path, "pyop2cxx/sets/c.py", "from pyop2cxx.sets.d import D\n")
    write(tmp_path, "pyop2cxx/sets/d.py", "")
    assert structure.import_circles(tmp_path) == []
    text = "if TYPE_CHECKING:\n    from pyop2cxx.sets.a import A\nfrom pyop2cxx.sets.d import D\n"
    write(tmp_path, "pyop2cxx/sets/c.py", text)
    assert structure.import_circles(tmp_path) == [["sets.a", "sets.b", "sets.c"]]


def test_downward_includes_are_fine(tmp_path: Path) -> None:
    write(tmp_path, "cpp/bind/a.cpp", "#include <pybind11/pybind11.h>\n")
    write(tmp_path, "cpp/exec/a.cpp", '#include "exec/a.hpp"\n#include "plan/block.hpp"\n')
    write(tmp_path, "cpp/lower/a.cpp", '#include "ir/loop.hpp"\n#include <vector>\n')
    write(tmp_path, "cpp/runtime/cuda/a.cpp", '#include <cuda.h>\n#include "runtime/gpu/a.hpp"\n')
    assert structure.include_breaches(tmp_path) == []


def test_what_vendors_share_includes_none_of_them(tmp_path: Path) -> None:
    write(tmp_path, "cpp/runtime/gpu/a.cpp", '#include "runtime/cuda/adaptor.hpp"\n')
    write(tmp_path, "cpp/jit/gpu/a.cpp", '#include "jit/gpu/a.hpp"\n#include "jit/nvrtc/a.hpp"\n')
    breaches = structure.include_breaches(tmp_path)
    assert len(breaches) == 2
    assert all("serves all vendors" in breach for breach in breaches)


@pytest.mark.parametrize("line", ['if (name == "cuda")', "bool is_openmp;", "OpenCL target;"])
def test_a_backend_name_in_a_pass_is_found(tmp_path: Path, line: str) -> None:
    write(tmp_path, "cpp/lower/pack.cpp", f"int a;  // fine\n{line}\n")
    assert len(structure.backend_name_breaches(tmp_path)) == 1


def test_a_backend_name_outside_code_or_passes_is_fine(tmp_path: Path) -> None:
    write(tmp_path, "cpp/ir/a.cpp", "// as on cuda\n/* openmp\n opencl */ int a;\n")
    write(tmp_path, "cpp/jit/a.cpp", 'auto name = "cuda";\n')
    assert structure.backend_name_breaches(tmp_path) == []


UNNAMED = """namespace op2::lower {{
namespace {{

{}

}}  // namespace
}}  // namespace op2::lower
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int half(int i) {", "double half(double x) {"),
        ("struct Row {", "using Row = int;"),
        ("constexpr int most = 3;", "template <class T>\nT most(T x) {"),
        ("const int table[] = {1};", "class table {"),
    ],
)
def test_a_name_that_two_units_define_is_found(tmp_path: Path, one: str, other: str) -> None:
    write(tmp_path, "cpp/lower/one.cpp", UNNAMED.format(one))
    write(tmp_path, "cpp/lower/other.cpp", UNNAMED.format(other))
    assert len(structure.unnamed_breaches(tmp_path)) == 1


def test_names_of_other_namespaces_locals_and_equal_aliases_are_fine(tmp_path: Path) -> None:
    inside = "using Rows = int;\nvoid f() {{\n  const int half = 3;\n}}".replace("{{", "{")
    write(tmp_path, "cpp/lower/one.cpp", UNNAMED.format(inside.replace("}}", "}")))
    plan = UNNAMED.replace("op2::lower", "op2::plan")
    write(tmp_path, "cpp/plan/two.cpp", plan.format("int half(int i) {"))
    write(tmp_path, "cpp/lower/three.cpp", UNNAMED.format("using Rows = int;\nint half(int i) {"))
    assert structure.unnamed_breaches(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x\n" * 81, "81 lines"),
        ("{% if arg.access == 1 %}a{% endif %}", "'access'"),
        ("{% if a %}{% elif mode == INC %}a{% endif %}", "'INC'"),
        ("{{ 'a' if name == 'cuda' else 'b' }}", "'cuda'"),
    ],
)
def test_a_template_that_decides_is_found(tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, "templates/host/loop.c.j2", text)
    [breach] = structure.template_breaches(tmp_path)
    assert complaint in breach


def test_a_template_that_frames_is_fine(tmp_path: Path) -> None:
    text = (
        "{% if has_reduction %}\n{{ write_back }}\n{% endif %}\n{% for a in incs %}\n{% endfor %}"
    )
    write(tmp_path, "templates/host/loop.c.j2", text)
    assert structure.template_breaches(tmp_path) == []


def test_a_missing_twin_is_found(tmp_path: Path) -> None:
    write(tmp_path, "cpp/plan/blocks.cpp", "")
    write(tmp_path, "cpp/bind/bind_plan.cpp", "")
    write(tmp_path, "pyop2cxx/types/sets.py", "")
    assert structure.twin_breaches(tmp_path, {}) == [
        "cpp/plan/blocks has no tests/cpp/plan/test_blocks.cpp",
        "pyop2cxx/types/sets has no tests/python/test_sets.py",
    ]
    write(tmp_path, "tests/cpp/plan/test_blocks.cpp", "")
    assert structure.twin_breaches(tmp_path, {"pyop2cxx/types/sets": "none needed"}) == []
    write(tmp_path, "tests/python/test_types.py", "")
    assert structure.twin_breaches(tmp_path, {}) == []


def test_an_exception_must_be_needed(tmp_path: Path) -> None:
    write(tmp_path, "cpp/plan/blocks.cpp", "")
    write(tmp_path, "tests/cpp/plan/test_blocks.cpp", "")
    write(tmp_path, "pyop2cxx/kernel.py", "")
    exceptions = {
        "cpp/plan/blocks": "why",
        "cpp/plan/gone": "why",
        "pyop2cxx/kernel": "tests/python/test_gone.py",
    }
    assert structure.twin_breaches(tmp_path, exceptions) == [
        "exception for cpp/plan/gone, which is no unit",
        "exception for cpp/plan/blocks, which has its tests/cpp/plan/test_blocks.cpp",
        "pyop2cxx/kernel: tests/python/test_gone.py does not exist",
    ]


def test_a_missing_licence_line_is_found(tmp_path: Path) -> None:
    write(tmp_path, "tools/run.sh", f"#!/bin/bash\n# {structure.SPDX}\n")
    write(tmp_path, "tools/late.sh", f"#!/bin/bash\n#\n# {structure.SPDX}\n")
    write(tmp_path, "cpp/base/a.hpp", "#pragma once\n")
    breaches = structure.spdx_breaches(tmp_path)
    assert [breach.split()[0] for breach in breaches] == ["cpp/base/a.hpp", "tools/late.sh"]


def test_a_print_is_found(tmp_path: Path) -> None:
    write(tmp_path, "pyop2cxx/cli.py", "print('fine')\n")
    write(tmp_path, "pyop2cxx/kernel.py", "def f():\n    print('x')\n    pprint('y')\n")
    assert structure.print_breaches(tmp_path) == ["pyop2cxx/kernel.py:2 prints"]


def test_an_extra_imported_elsewhere_is_found(tmp_path: Path) -> None:
    write(tmp_path, "pyop2cxx/extras.py", "def h5py():\n    import h5py\n    return h5py\n")
    write(tmp_path, "pyop2cxx/io.py", "def f():\n    from scipy.sparse import csgraph\n")
    write(tmp_path, "pyop2cxx/plot.py", "if TYPE_CHECKING:\n    import matplotlib\n")
    assert structure.extras_breaches(tmp_path) == ["pyop2cxx/io.py:2 imports scipy.sparse"]


@pytest.mark.parametrize(
    "text",
    [
        "_cache = {}",
        "_seen: set[int] = set()",
        "_ids = itertools.count()",
        "_lock = threading.Lock()",
        "class A:\n    registry: ClassVar[dict[str, int]] = {}",
        "n = 0\ndef f():\n    global n\n    n += 1",
        "TABLE = {1: 2}\ndef f():\n    TABLE[3] = 4",
        "TABLE = [1]\ndef f():\n    TABLE.append(2)",
    ],
)
def test_module_state_is_found(tmp_path: Path, text: str) -> None:
    write(tmp_path, "pyop2cxx/kernel.py", text + "\n")
    write(tmp_path, "pyop2cxx/runtime/state.py", text + "\n")
    [breach] = structure.state_breaches(tmp_path)
    assert breach.startswith("pyop2cxx/kernel.py:")


def test_constants_and_locals_are_no_state(tmp_path: Path) -> None:
    text = (
        "TABLE = {1: 2}\n_log = logging.getLogger('a')\nNAMES = tuple(sorted(TABLE))\n"
        "TABLE[2] = 3\nclass A:\n    x: int = 0\n"
        "def f():\n    seen = {}\n    seen[1] = 2\n    return TABLE[1]\n"
    )
    write(tmp_path, "pyop2cxx/kernel.py", text)
    assert structure.state_breaches(tmp_path) == []


PROSE = """The share of it.

>>> which = that
>>> print(which)
that

Take ``this``, `such` and :func:`what one`::

    it = its

Args:
    that: The one-based number, in one
        row.
    one (int): Its name.

Returns:
    whole: Nothing.
"""


@pytest.mark.parametrize(
    ("text", "words", "pronouns"),
    [
        ("Who holds it, and what becomes of that.", 8, 4),
        ("", 0, 0),
        ("A 1-based index; it's low-level: It.", 6, 1),
        (PROSE, 15, 3),
    ],
)
def test_words_and_pronouns_are_counted(text: str, words: int, pronouns: int) -> None:
    assert structure.prose_words(text) == (words, pronouns)


def test_a_docstring_that_opens_with_a_question_is_found(tmp_path: Path) -> None:
    text = '"""{}"""\nclass A:\n    """\n    {}\n    """\n    def f(self):\n        """{}"""\n'
    write(tmp_path, "pyop2cxx/sets/a.py", text.format("Whatever.", "A.", "What may be asked."))
    assert structure.docstring_openings(tmp_path) == []
    write(tmp_path, "pyop2cxx/sets/a.py", text.format("What is asked.", "Whether.", "A."))
    assert structure.docstring_openings(tmp_path) == [
        "pyop2cxx/sets/a.py:1 opens with 'What'",
        "pyop2cxx/sets/a.py:3 opens with 'Whether.'",
    ]


def test_a_room_with_too_many_pronouns_is_found(tmp_path: Path) -> None:
    text = 'x = 1\n"""{}"""\ndef f():\n    """{}"""\n    return """it"""\n'
    nouns = "noun " * 49
    write(tmp_path, "pyop2cxx/sets/a.py", text.format("it", nouns))
    write(tmp_path, "pyop2cxx/loop/a.py", text.format("it", "noun noun noun"))
    assert structure.docstring_prose(tmp_path) == [
        "loop: 25.0 % of the words are pronouns; at most 3.0 %"
    ]
    write(tmp_path, "pyop2cxx/sets/b.py", text.format("it", "noun"))
    write(tmp_path, "pyop2cxx/loop/a.py", text.format("it", nouns))
    assert structure.docstring_prose(tmp_path) == [
        "sets: 3.8 % of the words are pronouns; at most 3.0 %",
    ]


def test_a_header_with_too_many_pronouns_is_found(tmp_path: Path) -> None:
    text = "// SPDX it\n/// @brief {} `it`\n/// @param[in] it Not null.\nint it;  ///< A count.\n"
    write(tmp_path, "cpp/mesh/a.hpp", text.format("A noun."))
    write(tmp_path, "cpp/mesh/a.cpp", "// it\n")
    write(tmp_path, "cpp/bind/a.hpp", "// it\n")
    assert structure.header_prose(tmp_path) == []
    write(tmp_path, "cpp/mesh/b.h", text.format("What it is."))
    assert structure.header_prose(tmp_path) == [
        "cpp/mesh: 15.4 % of the words are pronouns; at most 3.0 %"
    ]


def test_rooms_whose_tests_run_without_tsan_have_no_threads() -> None:
    text = (ROOT / "tools" / "lib.sh").read_text()
    built, run = (
        set(re.search(rf"{name}_rooms='(.+)'", text)[1].split(";"))
        for name in ("concrete", "threaded")
    )
    threads = re.compile(
        r"std::\w*(thread|mutex|atomic|async|call_once|once_flag|condition_variable|lock)\w*"
        r"|\bthread_local\b|\bpthread|<execution>"
    )
    with_threads = [
        source
        for room in built
        for folder in (ROOT / "cpp" / room, ROOT / "tests" / "cpp" / room)
        for source in folder.rglob("*.[ch]pp")
        if threads.search(source.read_text())
    ]
    assert run <= built
    rooms = {source.relative_to(ROOT).parts for source in with_threads}
    assert {parts[2] if parts[0] == "tests" else parts[1] for parts in rooms} <= run
    left_out = re.compile(re.search(r"unthreaded_units='(.+)'", text)[1])
    assert len([one for one in (ROOT / "cpp").rglob("*.cpp") if left_out.search(str(one))]) == 1
    assert not [one for one in with_threads if left_out.search(str(one))]


def test_sentences_of_a_page_are_told_from_code_and_headings() -> None:
    page = """---
orphan: true
---

# It is a title

One sentence, with `code.of_it()`. A second
one has [a link](it.md): The third.

- An item. Another one.

```text
It is code that nobody reads. It is.
```

| short cell | a cell of a table with more than eight words in it |
|---|---|
"""
    assert structure.page_sentences(page) == [
        "One sentence, with `code.of_it()`.",
        "A second one has a link:",
        "The third.",
        "An item.",
        "Another one.",
        "a cell of a table with more than eight words in it",
    ]
    assert len(structure.page_sentences(page, with_tables=False)) == 5


def test_prose_of_a_page_is_measured() -> None:
    found = structure.page_prose("Nodes have `values`. " + "Word " * 31 + "it. Such ones.")
    assert found["mean"] == pytest.approx((3 + 32 + 2) / 3)
    assert found["long"] == pytest.approx(100 / 3)
    assert found["pronouns"] == pytest.approx(100 * 3 / 36)


def test_pages_in_bad_prose_are_found(tmp_path: Path) -> None:
    write(tmp_path, "docs/good.md", "# Title\n\nA Map leads to nodes.\n")
    write(tmp_path, "docs/bad.md", "# Title\n\nIt is what it is.\n")
    write(tmp_path, "docs/tuning.md", "Short.\n\n| " + "it " * 9 + "|\n")
    assert structure.page_breaches(tmp_path) == ["docs/bad.md: pronouns 60.0, at most 3"]
    write(tmp_path, "docs/bad.md", "word " * 31)
    assert structure.page_breaches(tmp_path) == [
        "docs/bad.md: mean 31.0, at most 15",
        "docs/bad.md: long 100.0, at most 8",
    ]


def test_decisions_without_a_status_are_found(tmp_path: Path) -> None:
    write(
        tmp_path, "docs/adr/0001-a.md", "# 0001 A\n\nStatus: accepted, 2026-11-20\n\n## Context\n"
    )
    write(tmp_path, "docs/adr/0002-b.md", "# 0002 B\n\n## Context\n")
    write(tmp_path, "docs/adr/0003-c.md", "# 0003 C\n\nStatus: superseded by [0001](0001-a.md)\n")
    assert structure.decision_breaches(tmp_path) == [
        "0002-b.md: no line 'Status: accepted' or 'superseded by' below the title",
        "0003-c.md: 0001-a.md does not name 0003",
    ]
    newer = "# 0001 A\n\nStatus: accepted; supersedes 0003\n"
    write(tmp_path, "docs/adr/0001-a.md", newer)
    assert len(structure.decision_breaches(tmp_path)) == 1


def test_decisions_with_too_many_pronouns_are_found(tmp_path: Path) -> None:
    status = "# 0001 A\n\nStatus: accepted\n\n"
    write(tmp_path, "docs/adr/0001-a.md", status + "A Map leads to nodes.\n")
    assert structure.decision_breaches(tmp_path) == []
    write(tmp_path, "docs/adr/0001-a.md", status + "It leads to what it has.\n")
    assert structure.decision_breaches(tmp_path) == ["0001-a.md: pronouns 37.5, at most 3"]


def test_hidden_members_are_few_and_real() -> None:
    """Each is a member of its class, so that no name stays hidden for nothing."""
    listed = {(kind, name) for kind, names in INNER.items() for name in names}
    assert len({name for _, name in listed}) <= 129
    defined = {
        (kind.name, name)
        for path in structure.python_modules(ROOT)
        for kind in ast.walk(structure.parsed(path.read_text()))
        if isinstance(kind, ast.ClassDef)
        for name in structure.member_names(kind)
    }
    derived = {("Fixed", "label"), ("Map", "whole_map"), ("Algebra", "flat"), ("Kernel", "key")}
    assert listed - defined - derived == set()


def test_completion_leaves_out_hidden_members() -> None:
    dat = op2.Dat(op2.Set(3), name="q")
    shown = set(dir(dat))
    assert {"data", "zero", "name", "dataset"} <= shown
    assert shown.isdisjoint(INNER["Dat"] | INNER["DataCarrier"] | INNER["Algebra"])
    assert "set" in dir(dat.dataset)
    assert "uid" not in dir(dat.dataset)
    assert dat.uid != op2.Dat(op2.Set(3)).uid
