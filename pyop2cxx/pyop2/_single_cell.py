# SPDX-License-Identifier: BSD-3-Clause
"""A loop's body for a single element, as C text for programs' own libraries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.data.handles import OpaqueType, PassthroughArg
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.facts import LoopFacts
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.pipeline import flow
from pyop2cxx.pyop2._single_cell_text import POSITION_BYTES, Wrapping, parameters_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.items import one_cell
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.sets.sets import Set

_SOMEWHERE = 1


def generate_single_cell_wrapper(
    iterset: Set,
    args: Sequence[Any],
    forward_args: Sequence[str] = (),
    kernel_name: str | None = None,
    wrapper_name: str | None = None,
) -> str:
    """Return C text of a function that packs the data of an element and calls a kernel.

    The function takes, in order: the forwarded arguments; ``int start``, the element, and
    ``int end``, the element plus 1; for an extruded Set ``const int *layers``, the bottom layer and
    the cell's layer plus two, or for columns with different layers such a pair for each column, and
    if the columns are periodic, too, the Set's own pairs, ``const int *bounds``; a pointer for each
    argument's data, for mixed arguments for each field; and a pointer for the values of each Map,
    in order of first use.

    A matrix, or a block of a matrix, has three pointers: the values, ``const long *rowptr`` and
    ``colidx`` of the Sparsity; and with masks, the arrays of the lgmaps, int64, or null. The
    function then finds the element's places, and returns an int: 0, or 1 for an entry without a
    place, with nothing of the element added. A block for increments at the intersection of two
    Globals, without masks, has a single pointer to the values.

    Args:
        iterset: The Set.
        args: The arguments, as for `par_loop`.
        forward_args: C types of arguments forwarded to the kernel first.
        kernel_name: The kernel, defined before the text.
        wrapper_name: The function; None means ``wrap_<kernel>``.

    Raises:
        UsageError: There is no kernel's name; arguments do not belong to the Set.

    Example:
        >>> from pyop2cxx import op2
        >>> cells, nodes = op2.Set(1), op2.Set(2)
        >>> x = op2.Dat(nodes)
        >>> ends = op2.Map(cells, nodes, 2, [0, 1])
        >>> text = generate_single_cell_wrapper(cells, [x(op2.READ, ends)], ["double *"], "f", "g")
        >>> text.splitlines()[-3]
        'void g(double *farg0, int start, int end, const double *arg0, const int *map0) {'
    """
    if not kernel_name:
        raise UsageError("generate_single_cell_wrapper: the kernel's name is missing")
    wrapper = wrapper_name or f"wrap_{kernel_name}"
    alias = f"{wrapper}_kernel"
    handles = [PassthroughArg(OpaqueType("char"), _SOMEWHERE) for _ in forward_args]
    forward = {"alias": alias, "kernel": kernel_name, "types": forward_args, "has_args": bool(args)}
    kernel = Kernel(render("kernels/forward.c.j2", forward), alias, cpp=True)
    # a kernel defined elsewhere is opaque, like a C++ kernel
    whole = iterset.superset if isinstance(iterset, Subset) else iterset
    loop = _OneElement(kernel, whole, *handles, *args)
    body = _body(loop)
    wrapping = Wrapping(wrapper, alias, forward_args, loop.parts[len(handles) :], whole)
    function = wrapping.text(parameters_of(body, f"wrap_{alias}"))
    context = {"wrapper": wrapper, "body": body, "function": function}
    return render("kernels/one_element.c.j2", context)


class _OneElementFacts(LoopFacts):
    def position_bytes(self) -> int:
        return POSITION_BYTES


class _OneElement(ParLoop):
    """A loop with a text for any matrix, and any number of layers."""

    _facts_kind = _OneElementFacts

    def _adapt_kernel(self) -> None:
        super()._adapt_kernel()
        whole = self.items.whole
        if isinstance(whole, ExtrudedSet):  # the level is given, not looked up
            self.items = replace(self.items, iteration=one_cell(whole))


def _body(loop: ParLoop) -> str:
    """Return the function of a range of elements and the kernel, as C; nobody launches them."""
    with runtime.use_backend("sequential"):
        request = loop.request(loop.symbolic(), {"lanes": 0})
        module = flow.generate(request, flow.choose(request)).module
    text = _core.print_source(module, request.backend.dialect, line_markers=False, linkage="")
    return (text.kernels + text.wrappers).rstrip("\n")
