# SPDX-License-Identifier: BSD-3-Clause
"""A loop's body for one element, as C text that programs compile into libraries of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core, pipeline, symbolic
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.kernel import Kernel
from pyop2cxx.parloop import ParLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.types.args import DatArg, DenseBlockArg, MatArg
from pyop2cxx.types.extruded import ExtrudedSet
from pyop2cxx.types.passthrough import OpaqueType, PassthroughArg
from pyop2cxx.types.subsets import Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.types.sets import Set

_SOMEWHERE = 1


def generate_single_cell_wrapper(
    iterset: Set,
    args: Sequence[Any],
    forward_args: Sequence[str] = (),
    kernel_name: str | None = None,
    wrapper_name: str | None = None,
) -> str:
    """Return C text of a function that packs the data of one element and calls a kernel.

    The function takes, in this order: the forwarded arguments; ``int start``, the element, and
    ``int end``, one more; where the Set is extruded, ``const int *layers``, of which the second is
    the cell's level and two; a pointer for each argument's data, of a mixed one for each field; and
    one for the values of each Map, in order of first use.

    Args:
        iterset: The Set; an extruded one has the same layers everywhere.
        args: The arguments, as for `par_loop`.
        forward_args: C types of what the kernel gets first, as it is.
        kernel_name: The kernel, which stands before this text.
        wrapper_name: The function; None means ``wrap_<kernel>``.

    Raises:
        UsageError: There is no kernel's name; arguments do not belong to the Set.
        UnsupportedError: An argument is a matrix, or columns have layers of their own.

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
    what = f"generate_single_cell_wrapper '{wrapper}'"
    alias = f"{wrapper}_kernel"
    handles = [PassthroughArg(OpaqueType("char"), _SOMEWHERE) for _ in forward_args]
    calling = _calling(alias, kernel_name, forward_args, has_args=bool(args))
    loop = _loop(alias, calling, iterset, (*handles, *args), what)
    parts = loop._parts[len(handles) :]
    return "\n".join(
        [
            f"#define op2_context_v1 {wrapper}_context",
            _body(loop).rstrip("\n"),
            "#undef op2_context_v1",
            f"#undef {alias}",
            "",
            *_function(wrapper, alias, forward_args, parts, iterset),
            "",
        ]
    )


def _loop(alias: str, calling: str, iterset: Set, args: tuple[Any, ...], what: str) -> ParLoop:
    whole = iterset.superset if isinstance(iterset, Subset) else iterset
    if isinstance(whole, ExtrudedSet) and not whole.constant_layers:
        raise UnsupportedError(f"{what}: columns of Set '{whole.name}' have layers of their own")
    # of a kernel that stands elsewhere nothing is known, as of one in C++
    kernel = Kernel(f"void {alias}();\n{calling}", alias, cpp=True)
    loop = ParLoop(kernel, whole, *args)
    if any(isinstance(part, MatArg | DenseBlockArg) for part in loop._parts):
        raise UnsupportedError(f"{what}: entries of matrices are found for all elements only")
    return loop


def _body(loop: ParLoop) -> str:
    """Return the text of the loop over a range, as C."""
    with runtime.use_backend("sequential"):
        built = symbolic.build(loop.kernel, loop.args, loop._items)
        request = loop._request(built, {"lanes": 0})
        module = pipeline.generate(request, pipeline.choose(request)).module
    return _core.print_source(
        module, request.loop, request.backend.dialect, line_markers=False, linkage="static "
    )


def _calling(alias: str, kernel: str, types: Sequence[str], *, has_args: bool) -> str:
    """Return the macro that hands on what is forwarded: addresses of the wrapper's parameters."""
    names = [f"f{i}" for i in range(len(types))]
    values = [f"*({type_} *)(void *)({name})" for name, type_ in zip(names, types, strict=True)]
    rest = (["..."], ["__VA_ARGS__"]) if has_args else ([], [])
    parameters, given = ", ".join(names + rest[0]), ", ".join(values + rest[1])
    return f"#define {alias}({parameters}) {kernel}({given})"


def _function(
    wrapper: str, alias: str, types: Sequence[str], parts: Sequence[Any], iterset: Set
) -> list[str]:
    maps = tuple({p.map_._uid: p.map_ for p in parts if p.map_ is not None}.values())
    names = {map_._uid: f"map{i}" for i, map_ in enumerate(maps)}
    parameters = [
        f"{type_}{'' if type_.endswith('*') else ' '}farg{i}" for i, type_ in enumerate(types)
    ]
    given = [f"(unsigned char *)&farg{i}" for i in range(len(types))]
    parameters += ["int start", "int end"]
    whole = iterset.superset if isinstance(iterset, Subset) else iterset
    body = []
    if isinstance(whole, ExtrudedSet):
        parameters.append("const int *layers")
        level = "layers[1] - layers[0] - 2"
        body.append(f"  const long cell[4] = {{1, {level}, layers[0], {whole.layers - 1}}};")
    for i, part in enumerate(parts):
        constness = "const " if part.access.name == "READ" else ""
        parameters.append(f"{constness}{part.data.ctype} *arg{i}")
        given.append(f"arg{i}")
        if isinstance(part, DatArg) and part.map_ is not None:
            given.append(names[part.map_._uid])
    parameters += [
        f"const {'int' if map_._current_table().index_bytes == 4 else 'long'} *{names[map_._uid]}"
        for map_ in maps
    ]
    given += ["cell"] if body else []
    return [
        f"void {wrapper}({', '.join(parameters)}) {{",
        *body,
        f"  wrap_{alias}(start, end, {', '.join(given)});",
        "}",
    ]
