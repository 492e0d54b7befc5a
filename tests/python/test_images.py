# SPDX-License-Identifier: BSD-3-Clause
"""Code that was compiled ahead of time for devices, and which of it one of them gets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pyop2cxx import _core, op2
from pyop2cxx.pipeline.images import AheadLoop, bring
from pyop2cxx.runtime import runtime


class Device:
    """Stands in for a GPU: keeps what it is to load, and loads none of it."""

    def __init__(self, capability: str, backend: str = "cuda") -> None:
        self.info = SimpleNamespace(backend=backend, capability=capability, name="T4")
        self.device = self
        self.loaded: list[bytes] = []

    def load_bytes(self, binary: bytes) -> Any:
        self.loaded.append(binary)
        raise NotImplementedError


def asked() -> _core.Query:
    return _core.Query(loop="k", signature="s", source="", strategy="direct", text="t@gpu")


def test_code_for_another_gpu_is_refused_with_what_there_is() -> None:
    engine, query, gpu = runtime.engine, asked(), Device("sm_75")
    engine.ahead_loops["t"] = AheadLoop(executable="", programs={"sm_80": b"", "sm_90": b""})
    bring("t", query, gpu)  # type: ignore[arg-type]
    assert engine.ahead.find(query) == (
        "it has this loop for sm_80, sm_90, but 'T4' is sm_75: build it with --arch sm_75, too"
    )
    op2.exit()


@pytest.mark.parametrize(
    ("backend", "programs", "loaded"),
    [("cuda", {"sm_80": b"8", "sm_90": b"9"}, b"8"), ("opencl", {"": b"text"}, b"text")],
)
def test_a_gpu_gets_code_of_its_generation_or_the_text(
    backend: str, programs: dict[str, bytes], loaded: bytes
) -> None:
    gpu = Device("sm_86", backend)
    runtime.engine.ahead_loops["t"] = AheadLoop(executable="", programs=programs)
    with pytest.raises(NotImplementedError):
        bring("t", asked(), gpu)  # type: ignore[arg-type]
    bring("another", asked(), gpu)  # type: ignore[arg-type]
    assert gpu.loaded == [loaded]
    op2.exit()
