# SPDX-License-Identifier: BSD-3-Clause
"""Chains in which nodes of edges are found among those of the cells they are seen from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import has_nvrtc
from ring import record_all_blocks
from sided import Sided

from pyop2cxx import _core, op2
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.chain import compare
from pyop2cxx.chain.compile import PASSES
from pyop2cxx.chain.group_loop import GroupFacts
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.chain.report import Report
    from pyop2cxx.pipeline.request import Choice, GeneratedCode, Request

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
GRIDS = [name for name in BACKENDS if runtime.engine.backend(name).facts.lanes == _core.Lanes.grid]
on_grids = pytest.mark.parametrize("backend", GRIDS)
APPLIED = "entries of e2n taken from c2n"
NOT_HERE = "geometry: entries of e2n are not taken from c2n: elements are not in columns"
WITHOUT = tuple(name for name in PASSES if name != "geometry")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    op2.exit()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor runs the texts of GPUs, too."""
    monkeypatch.setattr(flow, "suited_to", lambda request, device: request)


def wanted(mesh: Sided) -> tuple[Array, Array]:
    """What the loops of such a mesh make one after the other."""
    with op2.backend("sequential"):
        return replace(mesh).run()


def chained(
    mesh: Sided,
    backend: str,
    passes: Any = None,
    expected: tuple[Array, Array] | None = None,
    **more: Any,
) -> Report:
    """Run the loops in a chain, compare what they make, and return the report."""
    expected = expected or wanted(mesh)
    record_all_blocks()
    with op2.backend(backend):
        with op2.chain(passes=passes) as chain:
            for loop in mesh.loops(**more):
                loop.compute()
        for made, want in zip((mesh.p, mesh.q), expected, strict=True):
            np.testing.assert_allclose(made.data_ro, want, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(mesh.r.data_ro, 0)
    return chain.explain()


@pytest.mark.parametrize("n_corners", [3, 4])
@on_grids
def test_edges_have_nodes_of_their_cells(backend: str, n_corners: int, gpu: None) -> None:
    report = chained(Sided(6, n_corners), backend)
    assert [step.corners for step in report.steps] == [(("e2n", "c2n"),)] * 2
    assert str(report).count(APPLIED) == 2
    assert "geometry:" not in str(report)


@pytest.mark.parametrize("n_corners", [3, 4])
@on_grids
def test_few_that_have_others_are_looked_up(backend: str, n_corners: int, gpu: None) -> None:
    mesh = Sided(12, n_corners, n_apart=2)
    assert 0 < mesh.n_apart / mesh.n_edges < 0.01
    assert APPLIED in str(chained(mesh, backend))


@pytest.mark.parametrize("n_apart", [10, 264])
@on_grids
def test_many_that_have_others_are_a_reason(backend: str, n_apart: int, gpu: None) -> None:
    mesh = Sided(12, n_apart=n_apart)
    assert mesh.n_edges == 264
    text = str(chained(mesh, backend))
    assert APPLIED not in text
    assert (
        f"geometry: entries of e2n are not taken from c2n: {n_apart / 264:.2%} of the elements "
        "that targets have lead to others than these, and up to 1.00% may"
    ) in text


@pytest.mark.parametrize("n_corners", [3, 4])
@on_grids
def test_all_may_be_looked_up(
    backend: str, n_corners: int, gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is slow, and right."""
    monkeypatch.setattr(GroupFacts, "part_elsewhere", lambda *_: 0.0)
    mesh = Sided(4, n_corners)
    mesh = Sided(4, n_corners, n_apart=mesh.n_edges)
    assert APPLIED in str(chained(mesh, backend))


@given(
    n=st.integers(3, 9),
    n_corners=st.sampled_from([3, 4]),
    n_apart=st.integers(0, 20),
    seed=st.integers(0, 2**31),
    passes=st.sets(st.sampled_from(PASSES)),
)
@settings(max_examples=30, suppress_health_check=[*HealthCheck])
@on_grids
def test_any_mesh_and_passes(
    backend: str,
    n: int,
    n_corners: int,
    n_apart: int,
    seed: int,
    passes: set[str],
    gpu: None,
) -> None:
    """Every second mesh has edges of which most nodes lie elsewhere, whatever that costs."""
    with pytest.MonkeyPatch.context() as patched:
        if seed % 2:
            patched.setattr(GroupFacts, "part_elsewhere", lambda *_: 0.0)
        report = chained(Sided(n, n_corners, n_apart, seed), backend, passes)
        if seed % 2 and passes >= {"fuse", "invert", "geometry"}:
            assert APPLIED in str(report)
        if "geometry" not in passes:
            assert "geometry" not in str(report)
            assert APPLIED not in str(report)


@on_grids
def test_it_can_be_switched_off_and_changes_no_bit(backend: str, gpu: None) -> None:
    meshes = [Sided(12, n_apart=2) for _ in range(2)]
    reports = [
        chained(mesh, backend, passes) for mesh, passes in zip(meshes, (None, WITHOUT), strict=True)
    ]
    assert [APPLIED in str(one) for one in reports] == [True, False]
    assert "geometry" not in str(reports[1])
    for name in ("p", "q"):
        with_it, without = (getattr(mesh, name).data_ro for mesh in meshes)
        np.testing.assert_array_equal(with_it, without)
    # of each edge a byte for both of its cells instead of its nodes, in both functions
    saved = 2 * meshes[0].n_edges * (2 * 4 - 2)
    assert reports[1].n_bytes - reports[0].n_bytes == saved


@on_grids
def test_processors_that_are_devices_say_why_not(backend: str) -> None:
    """Texts of processors have no columns of neighbours."""
    device = runtime.engine.chosen_device(runtime.engine.backend(backend))
    assert device is not None
    text = str(chained(Sided(6), backend, strategy="owner"))
    assert (NOT_HERE in text) == device.info.is_cpu
    assert (APPLIED in text) != device.info.is_cpu


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name not in GRIDS])
def test_hosts_take_nodes_where_lanes_agree(backend: str) -> None:
    text = str(chained(Sided(6), backend, strategy="owner"))
    assert "flux seen from its targets" in text
    assert "of the columns of elements have them in different places of the targets' rows" in text
    text = str(chained(Sided(16, is_regular=True), backend, strategy="owner"))
    assert text.count(APPLIED) == 2
    assert "geometry:" not in text


@on_grids
def test_a_table_has_the_functions(
    backend: str, gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled for one mesh, they run on others, whose nodes are compared then."""
    meshes = [Sided(6), Sided(12, n_apart=2), Sided(12, n_apart=100)]
    expected = [wanted(mesh) for mesh in meshes]
    device = runtime.engine.chosen_device(runtime.engine.backend(backend))
    assert device is not None
    kind = device.info.capability if backend == "cuda" else ""  # GPUs get code of their kind
    arch = f"native,{kind}"
    with op2.dispatch.record(tmp_path / "lib", backends=[backend], arch=arch):
        assert APPLIED in str(chained(meshes[0], backend, expected=expected[0]))
    op2.exit()
    op2.init(eti_only=True, backend=backend)
    op2.dispatch.load(tmp_path / "lib")
    choose, asked = flow.choose, list[str]()

    def watched(request: Request) -> Choice:
        choice = choose(request)
        asked.append(choice.key)
        return choice

    monkeypatch.setattr(flow, "choose", watched)
    for mesh, want, is_applied in zip(meshes, expected, (True, True, False), strict=True):
        asked.clear()
        again = Sided(mesh.n, n_apart=mesh.n_apart)
        text = str(chained(again, backend, expected=want))
        found = "\n".join([text, "asked for:", *asked, "there are:", *runtime.engine.ahead_loops])
        assert (APPLIED in text) == is_applied, found


@on_grids
def test_who_compares_counts_it_among_the_passes(backend: str, gpu: None) -> None:
    mesh = Sided(6)
    with op2.backend(backend), op2.chain(compare=True) as chain:
        for loop in mesh.loops():
            loop.compute()
    (compiled,) = chain.explain().chains
    assert "geometry" in compare._applied(compiled, compiled.reports)


@on_grids
def test_chains_within_graphs_have_it(backend: str, gpu: None) -> None:
    mesh, expected = Sided(12, n_apart=2), wanted(Sided(12, n_apart=2))
    seen = []
    generate = flow.generate

    def watched(request: Request, choice: Choice) -> GeneratedCode:
        seen.extend(choice.options.corners)
        return generate(request, choice)

    def step() -> None:
        with op2.chain():
            for loop in mesh.loops():
                loop.compute()

    with op2.backend(backend), pytest.MonkeyPatch.context() as patched:
        patched.setattr(flow, "generate", watched)
        op2.record(step).submit()
        for made, want in zip((mesh.p, mesh.q), expected, strict=True):
            np.testing.assert_allclose(made.data_ro, want, rtol=1e-12, atol=1e-12)
    assert seen == [(0, 2)] * 2


def test_a_name_that_is_no_pass_is_told_of_it() -> None:
    with pytest.raises(UsageError, match=r"there are: .*geometry"):
        op2.chain(passes=["geometri"])


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
@pytest.mark.parametrize("n_corners", [3, 4])
@on_grids
def test_it_is_cuda(
    backend: str, n_corners: int, gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled without a GPU."""
    asked: list[Request] = []
    generate = flow.generate

    def watched(request: Request, choice: Choice) -> GeneratedCode:
        asked.append(request)
        return generate(request, choice)

    monkeypatch.setattr(flow, "generate", watched)
    assert APPLIED in str(chained(Sided(6, n_corners), backend))
    service = _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 24,
        compile_timeout_seconds=60.0,
    )
    cuda = runtime.engine.backend("cuda")
    groups = [replace(one, backend=cuda) for one in asked if one.elsewhere is not None]
    assert groups
    for request in groups:
        choice = flow.choose(request)
        assert choice.options.corners == [(0, 2)]
        text = generate(request, choice)
        assert "if (x_map_code % 2 == 1)" in text
        service.compile(nvrtc.compiler("sm_90"), str(text), cuda.toolchain.flags, "")
