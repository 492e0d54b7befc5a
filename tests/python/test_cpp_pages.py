# SPDX-License-Identifier: BSD-3-Clause
"""The reference of C++ has every public name, and every name has a comment."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx.ahead.cpp_files import runtime_files

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("sphinx", reason="the manual is not built here")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from cpp_pages import ROOMS, SCOPE, Declaration, as_rst, declarations, is_overload  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "cpp.rst"
DIRECTIVE = re.compile(r"^\.\. cpp-names:: (\S+)\n((?:   :\w+: .*\n)*)", re.MULTILINE)


def shown() -> Iterator[tuple[str, list[Declaration]]]:
    """Each directive's header, and the declarations on the page."""
    for header, options in DIRECTIVE.findall(PAGE.read_text()):
        said: dict[str, Any] = dict(re.findall(r":(\w+): (.*)", options))
        found = declarations((ROOMS / header).read_text(), said.get("within", SCOPE))
        only = said.get("only", "").split()
        assert {one.name for one in found} >= set(only), header
        yield header, [one for one in found if not only or one.name in only]


def uncommented(found: list[Declaration], where: str) -> Iterator[str]:
    for i, one in enumerate(found):
        before = next((f for f in reversed(found[:i]) if f.comment), None)
        if not one.comment and not (before and is_overload(one, before)):
            yield f"{where}::{one.name}"
        yield from uncommented(one.members, f"{where}::{one.name}")


def test_every_name_of_the_page_has_a_comment() -> None:
    missing = [name for header, found in shown() for name in uncommented(found, header)]
    assert missing == []


def test_the_page_has_every_public_name_that_programs_reach() -> None:
    """Headers of the room `api` have no other names in the namespace of users."""
    on_page = {one.name for _, found in shown() for one in found}
    reached = {
        f"{header}: {one.name}"
        for header in runtime_files(units=False)
        if header.startswith("api/")
        for one in declarations((ROOMS / header).read_text())
        if one.name not in on_page
    }
    assert reached == set()
    assert on_page >= {"Options", "Set", "Map", "Dat", "Loop", "GraphBuilder", "Library", "Array"}


def test_declarations_become_directives() -> None:
    text = """
#include <vector>
namespace other { struct Hidden { int x; }; }
namespace op2 {
class Late;
/// @brief A thing, with `code`, a * and a name_.
///
///     Thing thing;
/// @throws UsageError if not.
template <class T = int>
class Thing : public Base<T> {
 public:
  /// @param[in] n Of it.
  explicit Thing(int n, std::vector<int> more = {1, 2}) : n_(n), more_{more} { run({}); }
  Thing(double n);
  ~Thing();
  Thing(const Thing&) = delete;
  [[nodiscard]] int n() const { return n_ > 0 ? n_ : '}'; }  ///< the number
  int (*function)(int x) = nullptr;  ///< a function,
                                     ///< or null
  const api::Inner& inner() const;

 private:
  int n_;
};
/// Kinds.
enum class Kind { one = 1, two };
namespace api {
int hidden();
}
}  // namespace op2
"""
    found = declarations(text)
    assert [one.name for one in found] == ["Thing", "Kind"]
    thing, kind = found
    assert [(one.kind, one.name) for one in thing.members] == [
        *(("function", "Thing"), ("function", "Thing"), ("function", "n"), ("member", "function")),
    ]
    assert [one.name for one in kind.members] == ["one", "two"]
    rst = "\n".join(as_rst(found))
    assert rst.startswith(".. cpp:class:: template <class T = int> op2::Thing : public Base<T>\n")
    assert "   A thing, with ``code``, a \\* and a name\\_.\n" in rst
    assert "   .. code-block:: cpp\n\n      Thing thing;\n" in rst
    assert "   :throws UsageError: if not.\n" in rst
    signature = "   .. cpp:function:: explicit Thing(int n, std::vector<int> more = {1, 2})\n"
    assert signature + "                     Thing(double n)\n" in rst
    assert "      :param n: Of it.\n" in rst
    assert "   .. cpp:function:: int n() const\n\n      the number\n" in rst
    assert "   .. cpp:member:: int (*function)(int x) = nullptr\n\n      a function, or null" in rst
    assert ".. cpp:enum:: op2::Kind\n\n   Kinds.\n" in rst
    assert [one.name for one in declarations(text, "op2::api")] == ["hidden"]
