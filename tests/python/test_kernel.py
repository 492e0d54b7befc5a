# SPDX-License-Identifier: BSD-3-Clause
"""The public class Kernel: exceptions, equality, facts, and text that survives a round trip."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kernel_corpus import ADT, AERO, BRES, KERNELS, LAPLACE, RES, SAVE, UPDATE

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import (
    NameTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.kernel.kernel import Kernel

if TYPE_CHECKING:
    from pathlib import Path


def printed(kernel: Kernel) -> str:
    return _core.kernel_text(kernel.core, line_markers=False)


# --- construction ---


def test_name_and_code_are_kept() -> None:
    kernel = Kernel("int foo() { return 0; }", "foo")
    assert kernel.name == "foo"
    assert kernel.code == "int foo() { return 0; }"
    assert str(kernel) == "OP2 Kernel: foo"
    assert eval(repr(kernel)) == kernel


def test_wrong_types_are_rejected() -> None:
    with pytest.raises(NameTypeError, match="name must be a str, got 2"):
        Kernel("", name=2)  # type: ignore[arg-type] # the point of the test
    with pytest.raises(TypeError, match="code must be a str"):
        Kernel(3, "k")  # type: ignore[arg-type] # the point of the test
    with pytest.raises(UsageError, match=r"headers must be a sequence of strings, got 'math\.h'"):
        Kernel("void k() {}", "k", headers="math.h")


def test_a_function_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(
        UsageError, match="Kernel 'c': the text defines no function 'c'; it defines 'a', 'b'"
    ):
        Kernel("static int b(void) { return 1; } void a(double *x) { x[0] = b(); }", "c")


def test_an_empty_text_is_a_placeholder() -> None:
    kernel = Kernel("", "foo")
    assert kernel.name == "foo"
    assert kernel.opaque_reason == "the text is empty"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"abi": "2001"}, "abi='2001' is not supported.*one flat pointer"),
        ({"user_code": "srandom(1);"}, "user_code is not supported"),
    ],
)
def test_options_without_meaning_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        Kernel("void k(double *x) { x[0] = 1; }", "k", **options)  # type: ignore[arg-type] # ditto


def test_older_optimisations_change_nothing() -> None:
    text = "void k(double *x) { x[0] = 1; }"
    plain, tuned = Kernel(text, "k"), Kernel(text, "k", opts={"O3": True, "vect": ("padding", 2)})
    assert tuned.key == plain.key


def test_importing_the_module_does_not_import_the_parser(tmp_path: Path) -> None:
    code = (
        "import sys, pyop2cxx.kernel.kernel\n"
        "assert not {'tree_sitter', 'pcpp'} & set(sys.modules)\n"
        "pyop2cxx.kernel.kernel.Kernel('void k(double *x) { x[0] = 1; }', 'k')\n"
        "assert 'pcpp' not in sys.modules\n"
        "print('tree_sitter' in sys.modules)\n"
    )
    environment = {**os.environ, "PYOP2CXX_CACHE_DIR": str(tmp_path / "cache")}
    for expected in ("True\n", "False\n"):  # the second process finds what the first one parsed
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.stdout == expected


# --- keys ---


def test_blanks_and_comments_do_not_count() -> None:
    first = Kernel("void k(double *x) { x[0] = 1.0; }", "k")
    second = Kernel("/* k */ void k(double*x)\n{\n  x[0]=1.0; // one\n}\n", "k")
    assert first == second
    assert hash(first) == hash(second)
    assert first != "k"


def test_everything_else_counts(tmp_path: Path) -> None:
    code = "#ifndef N\n#define N 1\n#endif\nvoid k(double *x) { x[0] = N; }"
    (tmp_path / "mine.h").write_text("#define M 1\n")
    variants = [
        Kernel(code, "k"),
        Kernel(code.replace("N 1", "N 2"), "k"),
        Kernel(code + "void l(double *x) { x[0] = N; }", "k"),
        Kernel(code, "k", opts=["-DN=3"]),
        Kernel(code, "k", include_dirs=[str(tmp_path)]),
        Kernel(code, "k", include_dirs=[str(tmp_path)], headers=["mine.h"]),
        Kernel(code, "k", ldargs=["-lm"]),
        Kernel(code, "k", cpp=True),
        Kernel(code, "k", requires_zeroed_output_arguments=True),
    ]
    (tmp_path / "mine.h").write_text("#define M 2\n")
    variants.append(Kernel(code, "k", include_dirs=[str(tmp_path)], headers=["mine.h"]))
    assert len({kernel.key for kernel in variants}) == len(variants)


# --- text ---


@pytest.mark.parametrize("name", KERNELS)
def test_printed_text_parses_to_an_equal_tree(name: str) -> None:
    kernel = Kernel(KERNELS[name], name)
    assert kernel.opaque_reason == ""
    again = Kernel(printed(kernel), name)
    assert kernel.core.body is not None
    assert again.core.body is not None
    assert again.core.body.equals(kernel.core.body)
    assert printed(again) == printed(kernel)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("name", ["save_soln", "update", "laplace", "res_calc_fe", "everything"])
def test_printed_text_compiles_without_headers(name: str, tmp_path: Path) -> None:
    text = printed(Kernel(KERNELS[name], name)).replace("gam *", "1.4 *")
    assert "#include" not in text
    source = tmp_path / "k.c"
    source.write_text(text)
    command = ["cc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-value"]
    result = subprocess.run([*command, "-Werror", source], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_line_markers_point_at_the_users_lines() -> None:
    kernel = Kernel("void k(double *x) {\n\n  x[0] = 1.0;\n  x[1] = nope;\n}", "k")
    text = _core.kernel_text(kernel.core, line_markers=True)
    lines = [line.strip() for line in text.splitlines()]
    marker = lines.index('#line 4 "<kernel k>"')
    assert lines[marker + 1] == "x[1] = nope;"


NAMES = st.sampled_from(["x", "y", "n", "a[0]", "a[n]", "p[1][n]", "f(x)", "2", "1.5f"])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """C text of an expression in which parentheses spell out the tree."""
    if depth == 0 or draw(st.booleans()):
        name = draw(NAMES)
        return draw(st.sampled_from([name, f"({name})"]))
    inner = expressions(depth - 1)
    kind = draw(st.sampled_from(["binary", "unary", "ternary", "cast", "call", "assign"]))
    if kind == "binary":
        operators = "+ - * / % < > <= >= == != & | ^ && || << >> ,"
        return f"({draw(inner)}) {draw(st.sampled_from(operators.split()))} ({draw(inner)})"
    if kind == "unary":
        return f"{draw(st.sampled_from('+-!~'))}({draw(inner)})"
    if kind == "ternary":
        return f"({draw(inner)}) ? ({draw(inner)}) : ({draw(inner)})"
    if kind == "cast":
        return f"({draw(st.sampled_from(['double', 'int', 'unsigned long']))})({draw(inner)})"
    if kind == "call":
        return f"f(({draw(inner)}))"
    target = draw(st.sampled_from(["x", "a[n]", "*a", "y"]))
    return f"{target} {draw(st.sampled_from(['=', '+=', '-=', '<<=']))} ({draw(inner)})"


@settings(max_examples=150)
@given(expressions())
@example("(((x) * ((x))) + (x)) ? (x) : (y)")
@example("f((+((f((x))) * ((double)(x)))))")
@example("-((x) * ((y) * (y)))")
def test_any_expression_keeps_its_tree(expression: str) -> None:
    code = (
        "static double f(double x) { return x; }\n"
        "void k(double *a, double x, double y, int n, double (*p)[4]) {\n"
        f"  if ({expression}) {{ y = {expression}; }}\n"
        f"  a[({expression})] = 1;\n}}"
    )
    kernel = Kernel(code, "k")
    assert kernel.opaque_reason == ""
    again = Kernel(printed(kernel), "k")
    assert kernel.core.body is not None
    assert again.core.body is not None
    assert again.core.body.equals(kernel.core.body), printed(kernel)


def test_helper_functions_and_tables_that_are_not_used_are_dropped() -> None:
    code = (
        "static const int used = 2, unused = 3; static const int through = used + 1;\n"
        "static double b(double x) { return x * through; }\n"
        "static double c(double x) { return x * unused; }\n"
        "void k(double *x) { x[0] = b(x[0]); }"
    )
    text = printed(Kernel(code, "k"))
    assert "used = 2" in text
    assert "unused" not in text
    assert "double c" not in text


def test_a_library_function_is_declared_only_if_it_is_not_the_users() -> None:
    own = "static double hypot(double a, double b) { return a + b; }\n"
    use = "void k(double *x) { x[0] = hypot(x[1], x[2]); }"
    assert "double hypot(double, double);" in printed(Kernel(use, "k"))
    assert "double hypot(double, double);" not in printed(Kernel(own + use, "k"))


# --- facts ---


def facts_of(code: str, name: str = "k") -> _core.KernelFacts:
    facts = Kernel(code, name).facts
    assert facts is not None
    return facts


INC, MIN, MAX, READ = (_core.Access(n) for n in (4, 5, 6, 1))


def test_facts_of_airfoil() -> None:
    save = facts_of(SAVE, "save_soln").parameters
    assert [fact.is_read for fact in save] == [True, False]
    assert [fact.n_surely_written for fact in save] == [0, 4]

    adt = facts_of(ADT, "adt_calc")
    assert adt.free_names == ["cfl", "gam", "gm1"]
    assert adt.parameters[2].n_surely_written == 1
    assert adt.is_pure

    res = facts_of(RES, "res_calc").parameters
    assert [fact.commutes(INC) for fact in res] == [True] * 4
    assert [fact.is_written for fact in res] == [False, False, False, True]
    assert res[3].n_surely_written == 8

    bres = facts_of(BRES, "bres_calc").parameters
    assert bres[3].commutes(INC)
    assert bres[3].n_surely_written == 0  # a wall gets components 1 and 2, the far field all

    update = facts_of(UPDATE, "update").parameters
    assert [fact.n_surely_written for fact in update] == [0, 4, 4, 0, 1]
    assert update[4].commutes(INC)
    assert not update[2].commutes(INC)


def test_facts_of_finite_elements() -> None:
    laplace = facts_of(LAPLACE, "laplace")
    assert laplace.parameters[0].commutes(INC)
    assert laplace.parameters[0].n_surely_written == 9
    assert [fact.is_written for fact in laplace.parameters[1:]] == [False, False]

    aero = facts_of(AERO, "res_calc_fe").parameters
    assert aero[0].is_read
    assert not aero[0].is_written
    assert aero[2].commutes(INC)
    assert aero[3].n_surely_written == 4
    assert not aero[3].commutes(INC)


def test_facts_of_what_is_left_behind() -> None:
    code = """
    static const int two = 2;
    void k(double *x, float *y, int *n, const double *z) {
      const double one = 1.0;
      x[0] = one; x[1] = -0.0; x[2] = z[2]; x[4] = z[0];
      y[0] = 0.5; y[1] = 0.1; y[2] = two + 1;
      n[0] = 2.0; n[1] = z[0] < 0 ? 3 : 4; if (z[1] < 0) n[2] = 1; else n[2] = 1;
    }
    """
    x, y, n, z = facts_of(code).parameters
    assert str(x.constants) == "{0: 1.0, 1: -0.0}"
    assert x.surely_written == {0, 1, 2, 4}
    assert x.n_surely_written == 3
    assert x.copies == {2: (3, 2), 4: (3, 0)}
    assert y.constants == {0: 0.5, 2: 3.0}
    assert n.constants == {0: 2, 2: 1}
    assert (z.constants, z.copies, z.surely_written) == ({}, {}, set())


@pytest.mark.parametrize(("n", "surely"), [(50, 1), (1000, 0)])
def test_what_takes_long_to_find_out_is_taken_for_unknown(n: int, surely: int) -> None:
    """Kernels of check mode have thousands of variables and conditions; this was quadratic."""
    lines = [f"double t{i} = x[0] > {i} ? 1 : 2;" for i in range(n)]
    facts = facts_of(f"void k(double *y, double *x) {{ y[0] = 1; {' '.join(lines)} }}", "k")
    assert [one.n_surely_written for one in facts.parameters] == [surely, 0]
    assert [one.is_written for one in facts.parameters] == [True, False]


def test_operations_are_counted_with_their_loops() -> None:
    code = (
        "static double sq(double x) { return x * x; }\n"
        "void k(double *x) {\n  const int n = 3;\n"
        "  for (int i = 0; i < n; ++i) for (int j = 4; j > 0; j -= 2) x[i] += sq(x[i]) + 2;\n"
        "  if (x[0]) x[0] = x[1] / x[2] + 1; else x[0] = sqrt(x[1]);\n}"
    )
    assert facts_of(code).n_operations == 3 * 2 * 3 + 2
    assert Kernel(code, "k", flop_count=7).num_flops == 7
    assert Kernel(code, "k").num_flops == 20


def test_a_known_vendor_function_is_not_taken_for_granted() -> None:
    facts = facts_of("void k(double *x, double *y) { x[0] = rsqrt(x[0]); mystery(y); }")
    assert facts.unknown_functions == ["mystery", "rsqrt"]
    assert not facts.is_pure
    assert facts.parameters[1].is_written


# --- opaque kernels ---


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("void k(double *x) {\n  x[0] = ;\n}", "line 2, column 8: syntax error"),
        ("void k(double *x) {\n  goto end;\n end: ;\n}", "line 2: 'goto statement'"),
        ("void k(double *x) {\n  x[0] = ({ 1; });\n}", "line 2: '{ 1; }'"),
        ("union s { int a; };\nvoid k(double *x) { union s t; }", "line 1: a union"),
        ("struct s { int a : 3; };\nvoid k(double *x) { struct s t; }", "line 1: a bit-field"),
        ('void k(double *x) {\n  asm("nop");\n}', "line 2:"),
        ("void k(double *x, int n) {\n  double y[n];\n}", "line 2: the extent of 'y[n]'"),
        ("void k(double *x) {\n  nope_t y = 1;\n}", "line 2: the type 'nope_t' is not known"),
        ("void k(double *x) {\n  long double y = 1;\n}", "line 2: the type 'long double'"),
        ("void k(double *x) {\n  int t[2] = {[2] = 1};\n}", "line 2: an initialiser has more"),
        ("void k(double *x, double (*f)(double)) { }", "line 1: a function pointer"),
        ("static void a(int n) { a(n); }\nvoid k(double *x) { a(1); }", "line 1: 'a' is recursive"),
        ("#pragma STDC FP_CONTRACT OFF\nvoid k(double *x) { x[0] = 1; }", "line 1: '#pragma STDC"),
    ],
)
def test_text_that_has_no_tree_is_kept_verbatim(code: str, reason: str) -> None:
    kernel = Kernel(code, "k")
    assert kernel.opaque_reason.startswith(reason), kernel.opaque_reason
    assert kernel.core.body is None
    assert kernel.facts is None
    assert kernel.num_flops == 0
    assert code in printed(kernel)


def test_an_opaque_kernel_still_has_parameters() -> None:
    kernel = Kernel("void k(double *x, const int *n) { goto e; e: ; }", "k")
    assert repr(kernel.parameters) == "[double *x, const int *n]"


def test_cpp_has_no_tree_but_parameters_where_they_are_plain() -> None:
    kernel = Kernel("static void k(double *x) { std::swap(x[0], x[1]); }", "k", cpp=True)
    assert kernel.cpp
    assert "C++" in kernel.opaque_reason
    assert repr(kernel.parameters) == "[double *x]"
    with pytest.raises(UsageError, match="defines no function 'l'"):
        Kernel("static void k(double *x) { }", "l", cpp=True)
    unclear = Kernel("void k(std::span<double> x) { }", "k", cpp=True)
    assert not unclear.core.has_signature


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "double last;\nvoid k(double *x) { last = x[0]; }",
            "line 1: 'last' is a variable outside",
        ),
        ("static int n = 0;\nvoid k(double *x) { n++; }", "line 1: 'n = 0' is a variable outside"),
        ("void k(double *x) {\n  static int n = 0;\n}", "line 2: 'static n = 0' keeps a value"),
        ("static const char *p;\nvoid k(double *x) { p = 0; }", "line 1: '.p' is a variable"),
    ],
)
def test_state_between_calls_is_refused(code: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Kernel(code, "k")


def test_a_kernel_can_be_pickled() -> None:
    for made in (
        Kernel("void f(double **x) {}", "f", abi="2016", opts=["-DN=3"], flop_count=7),
        op2.LocalKernel("void f(int *x) {}", "f", [op2.READ], ["int32"], cpp=True),
    ):
        again = pickle.loads(pickle.dumps(made))
        assert (type(again), again, again.abi) == (type(made), made, made.abi)
        assert (again.accesses, again.dtypes, again.num_flops) == (
            made.accesses,
            made.dtypes,
            made.num_flops,
        )


def test_what_is_known_of_arguments() -> None:
    made = Kernel("void f(double *x) {}", "f", accesses=[op2.READ], dtypes=[float], events=("e",))
    assert made.arguments == ((op2.READ, np.dtype(float)),)
    assert made.arguments[0].access == op2.READ
    with pytest.raises(UsageError, match="accesses and dtypes"):
        _ = Kernel("void f(double *x) {}", "f").arguments
    with pytest.raises(AssertionError, match="1 accesses, but 2 dtypes"):
        Kernel("", "f", accesses=[op2.READ], dtypes=[float, int])


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("name", ["n", "k", "begin", "next"])
def test_kernels_in_cpp_may_have_any_name(name: str) -> None:
    text = f"""
    #include <algorithm>
    #include <iterator>
    static void {name}(double *x) {{ x[0] = std::max(x[0], 2.0); }}
    """
    cells = op2.Set(2)
    x = op2.Dat(cells, [1.0, 3.0])
    op2.par_loop(Kernel(text, name, cpp=True), cells, x(op2.RW))
    assert x.data_ro.tolist() == [2, 3]


def test_options_in_the_order_of_2016(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("#define TWO 2\n")
    code = "void k(double *x) { x[0] = TWO * N; }"
    kernel = Kernel(code, "k", ["-DN=3"], [str(tmp_path)], ['#include "two.h"'], "")
    assert kernel == Kernel(
        code, "k", opts=["-DN=3"], include_dirs=[str(tmp_path)], headers=['#include "two.h"']
    )
    assert Kernel("void k(double *x) {}", "k", {}, [], []).abi == "2026"
