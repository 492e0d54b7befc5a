# SPDX-License-Identifier: BSD-3-Clause
"""Writes a random loop as a Python program. What the tests run is this text, too."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fuzz.loops import MATRIX
from fuzz.text import source

if TYPE_CHECKING:
    from fuzz.loops import Arg, Data, Loop, Path


TEXTS_OF_GPUS = (
    "from pyop2cxx.pipeline import flow\nflow.suited_to = lambda request, device: request"
)
"""With these lines a processor runs the texts of GPUs, too."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a loop is run.

    Attributes:
        backend: The backend.
        options: Of pyop2cxx.
        how: Keywords of the ParLoop.
        compiler: Of the host; empty for the usual one.
        chained: How often the loop is called in one chain; 0: it is no part of one.
        texts_of_gpus: Whether processors run the texts of GPUs, too.
        plain: Whether the kernel's plain form runs instead of the kernel.
    """

    backend: str = "sequential"
    options: dict[str, Any] = field(default_factory=dict)
    how: dict[str, Any] = field(default_factory=dict)
    compiler: str = ""
    chained: int = 0
    texts_of_gpus: bool = False
    plain: bool = False

    @property
    def times(self) -> int:
        """How often the loop runs."""
        return max(self.chained, 1)

    def __str__(self) -> str:
        words = {"backend": self.backend, **self.options, **self.how}
        words |= {"compiler": self.compiler} if self.compiler else {}
        words |= {"chained": self.chained} if self.chained else {}
        words |= {"texts_of_gpus": True} if self.texts_of_gpus else {}
        words |= {"plain": True} if self.plain else {}
        return ", ".join(f"{name}={value!r}" for name, value in words.items())


def setup(loop: Loop) -> str:
    """Return a text that defines `make(**how)`, which returns the ParLoop and its data by name."""
    lines = ["import numpy as np", "from pyop2cxx import op2", ""]
    lines += [f'kernel = op2.Kernel("""\n{source(loop.kernel)}""", "{loop.kernel.main.name}")']
    lines += [f'{name} = op2.Set({_size(size)}, "{name}")' for name, size in loop.sets.items()]
    lines += _iteration(loop)
    for path in loop.paths_used():
        lines += _path(path, "cells" if not loop.extruded else "columns")
    lines += [_constant(*constant) for constant in loop.constants]
    lines += ["", "", "def make(**how):"]
    seen = set()
    for arg in loop.leaves():
        if arg.data.name not in seen:
            lines.append(textwrap.indent(_data(arg), "    "))
            seen.add(arg.data.name)
    lines += [f"    how = {{{_fixed(loop)}, **how}}"] if _fixed(loop) else []
    args = ", ".join(map(_arg, loop.args))
    lines.append(f"    loop = op2.ParLoop(kernel, {_iterset(loop)}, {args}, **how)")
    lines.append(f"    return loop, {{{', '.join(f'{n!r}: {n}' for n in sorted(seen))}}}")
    return "\n".join(lines) + "\n"


def made_plain(loop: Loop) -> str:
    """Return a text after which the kernel of `setup` is the plain form of what it was."""
    constants = [(name, t.name, len(values)) for name, t, values in loop.constants]
    return (
        "from pyop2cxx import _core\n"
        f"constants = [(name, getattr(_core.DType, t), n) for name, t, n in {constants!r}]\n"
        "kernel.core = _core.plain_kernel(kernel.core, constants)"
    )


def program(loop: Loop, way: Way, expected: dict[str, list[Any]]) -> str:
    """Return a whole program that runs the loop in one way and compares."""
    options = "".join(f", {name}={value!r}" for name, value in way.options.items())
    how = ", ".join(f"{name}={value!r}" for name, value in way.how.items())
    options += f', cc="{way.compiler}"' if way.compiler else ""
    lines = [setup(loop), "", *[made_plain(loop)] * way.plain]
    lines += [TEXTS_OF_GPUS] * way.texts_of_gpus
    lines.append(f'op2.init(backend="{way.backend}"{options})')
    lines.append(f"loop, data = make({how})")
    lines += ["with op2.chain():"] * bool(way.chained)
    lines += [f"{'    ' * bool(way.chained)}loop.compute()"] * way.times
    for arg in loop.leaves():
        name = arg.data.name
        lines += [
            f"got = data[{name!r}].{reading(arg.data)}",
            f"want = np.array({expected[name]!r}, got.dtype).reshape(got.shape)",
            "np.testing.assert_allclose("
            f"got, want, rtol=0, atol={arg.tolerance * way.times!r}, err_msg={name!r})",
        ]
    return "\n".join(lines) + "\n"


def _size(size: tuple[int, int]) -> str:
    n, total = size
    return str(n) if n == total else f"({n}, {n}, {total})"


def _iteration(loop: Loop) -> list[str]:
    lines = []
    whole = "cells"
    if loop.extruded:
        uneven = f"np.array({loop.layers}, int).reshape(-1, 2)"
        layers = str(loop.layers[0][1]) if loop.even else uneven
        periodic = ", extruded_periodic=True" if loop.periodic else ""
        lines.append(f"columns = op2.ExtrudedSet(cells, {layers}{periodic})")
        whole = "columns"
    if loop.part is not None:
        lines.append(f"part = op2.Subset({whole}, {loop.part})")
    return lines


def _iterset(loop: Loop) -> str:
    return "part" if loop.part is not None else "columns" if loop.extruded else "cells"


def _path(path: Path, source_set: str) -> list[str]:
    rows = path.rows
    lines: list[str] = []
    name = f"{path.name}_as_stored" if path.order else path.name
    offsets, quotients = path.offsets, path.quotients
    if path.order:  # entry i is what is stored as entry order[i]
        inverse = [path.order.index(i) for i in range(len(path.order))]
        rows = [[row[i] for i in inverse] for row in rows]
        offsets = [offsets[i] for i in inverse] if offsets else []
        quotients = [quotients[i] for i in inverse] if quotients else []
    if path.through:
        inner: dict[int, list[int]] = dict(zip(path.through, rows, strict=True))
        lines.append(f'{path.name}_on = op2.Set(3, "between")')
        width = path.arity
        values = [inner.get(i, [0] * width) for i in range(3)]
        lines.append(
            f"{path.name}_a = op2.Map({source_set}, {path.name}_on, 1, {_array(path.through, 1)})"
        )
        lines.append(
            f"{path.name}_b = op2.Map({path.name}_on, {path.target}, {width}, "
            f"{_array(values, width)})"
        )
        return [*lines, f"{path.name} = op2.ComposedMap({path.name}_b, {path.name}_a)"]
    if path.more:
        all_rows = [row + rest for row, rest in zip(rows, path.more, strict=True)]
        return [f"{name} = op2.RaggedMap({source_set}, {path.target}, {all_rows})"]
    more = f", offset={offsets}" if offsets else ""
    more += f", offset_quotient={quotients}" if quotients else ""
    lines.append(
        f"{name} = op2.Map({source_set}, {path.target}, {path.arity}, "
        f"{_array(rows, path.arity)}{more})"
    )
    if path.order:
        lines.append(f"{path.name} = op2.PermutedMap({name}, {path.order})")
    return lines


def _array(rows: list[Any], width: int) -> str:
    return f"np.array({rows}, np.int32).reshape(-1, {width})"


def _constant(name: str, t: Any, values: list[Any]) -> str:
    return f'{name} = op2.Const({len(values)}, {values}, "{name}", dtype="{t.name}")'


def reading(data: Data) -> str:
    """Return the member of a Dat, Global or Mat that has all values."""
    return "values" if data.on == MATRIX else f"data_ro{'_with_halos' if data.on else ''}"


def _data(arg: Arg) -> str:
    data = arg.data
    if arg.columns is not None and arg.path is not None:
        places = f"[({arg.path.name}, {arg.columns.name}, None)]"
        spaces = f"({arg.path.target} ** {arg.block[0]}, {arg.columns.target} ** {arg.block[1]})"
        return f'{data.name} = op2.Mat(op2.Sparsity({spaces}, {places}), "{data.type.name}")'
    values = f'np.array({data.values}, "{data.type.name}")'
    dim = data.dim[0] if len(data.dim) == 1 else data.dim
    if not data.on:
        return f'{data.name} = op2.Global({dim}, {values}, "{data.type.name}")'
    extents = ", ".join(str(n) for n in data.dim)
    shape = f"({extents},)" if len(data.dim) == 1 else f"({extents})"
    apart = ', "float32", compute="float64"' if data.is_narrow else ""
    return (
        f"{data.name} = op2.Dat({data.on} ** {shape}, "
        f"{values}.reshape(({data.on}.total_size, *{shape})){apart})"
    )


def _arg(arg: Arg) -> str:
    if arg.fields:
        names = ", ".join(leaf.data.name for leaf in arg.fields)
        maps = ", ".join(leaf.path.name for leaf in arg.fields if leaf.path is not None)
        path = f", op2.MixedMap([{maps}])" if maps else ""
        return f"op2.MixedDat([{names}])(op2.{arg.access}{path})"
    name = arg.data.name
    if arg.component is not None:
        name = f"op2.DatView({name}, {arg.component})"
    path = f", {arg.path.name}" if arg.path is not None else ""
    if arg.columns is not None and arg.path is not None:
        path = f", ({arg.path.name}, {arg.columns.name})"
    return f"{name}(op2.{arg.access}{path})"


def _fixed(loop: Loop) -> str:
    words = []
    if loop.region:
        words.append(f'"iteration_region": op2.{loop.region}')
    if loop.layer:
        words.append('"pass_layer_arg": True')
    return ", ".join(words)
