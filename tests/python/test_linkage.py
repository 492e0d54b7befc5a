# SPDX-License-Identifier: BSD-3-Clause
"""Names in a text that a linker sees."""

from __future__ import annotations

from pyop2cxx.kernel.parser.linkage import linked_names

TEXT = """
const double table[2] = {1.0, 2.0};
double *last, plain;
static const int hidden = 2;
static double own(int n) { return n; }
int count(int n) { again: if (--n > 0) goto again; return n; }
const double *pointed(const double *p) { return p; }
void one(double *y, const double *x) { y[0] = x[0] + *pointed(table) + own(count(3)); }
"""


def test_linked_names_are_what_a_linker_sees() -> None:
    linked = linked_names(TEXT)
    assert linked.defined == {"table", "last", "plain", "count", "pointed", "one"}
    assert not linked.defined_as_c
    assert not linked.declared
    linked = linked_names("double f(double); extern int n; extern double *p(void);\nint f2, *f3;")
    assert linked == ({"f2", "f3"}, set(), {"f", "n", "p"})
    linked = linked_names(
        'extern "C" void k(void) {}\nextern "C" { int m; int g(void); }\n'
        "#if 1\nvoid h(void) {}\n#endif"
    )
    assert linked == ({"h"}, {"k", "m"}, set())
    linked = linked_names("typedef int number; number f(number); number f(number n) { return n; }")
    assert linked == ({"f"}, set(), set())
    linked = linked_names("extern const int t[1] = {2}; extern const int other[1];")
    assert linked == ({"t"}, set(), {"other"})
    linked = linked_names('extern "C" { void k(void); void m(void); }\nvoid k(void) {}')
    assert linked == (set(), {"k"}, set())
