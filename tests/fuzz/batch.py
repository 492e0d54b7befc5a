# SPDX-License-Identifier: BSD-3-Clause
"""Many loops in one object of the host: a compiler's start is most of what one loop costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.together import compile_together
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx import op2

# What generated texts define besides the kernel's own names, which differ from loop to loop.
_OURS = re.compile(r"\bop2_(?!launch_)(\w+)")


def compile_batch(loops: Sequence[op2.ParLoop]) -> None:
    """Compile loops for the backend that is chosen now, so that each runs without a compiler.

    On the host no two of one call may have kernels of one name.
    """
    backend = runtime.engine.backend(runtime.backend)
    if runtime.engine.chosen_device(backend) is not None:
        compile_together(loops)
        return
    asked = [flow.wanted(loop.current_request()) for loop in loops]
    new = [one for one in asked if runtime.engine.dispatcher.resolve(one.query) is None]
    if not new:
        return
    codes = [flow.generate(one.request, one.choice) for one in new]
    texts = [_OURS.sub(rf"op2_\1_{i}", str(code)) for i, code in enumerate(codes)]
    loaded = runtime.engine.service.load(
        "\n".join(texts), _core.jit.Language.c, list(new[0].flags), _core.__version__
    )
    for one, code in zip(new, codes, strict=True):
        made = _core.read_executable(code.written, loaded.library, code.symbol)
        runtime.engine.jit_table.insert(one.query, made)
