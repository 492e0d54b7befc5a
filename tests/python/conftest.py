# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that tests of several modules use."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import kept_objects
import older_tree
import pytest
from hypothesis import HealthCheck, settings
from programs import said

from pyop2cxx import _core, op2
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.reports.cli import main
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence


QUICK_FLAGS = {"PYOP2CXX_CFLAGS": "-O0", "PYOP2CXX_CXXFLAGS": "-O0"}
"""Half of the time of a C compiler goes to optimising; tests marked `optimised` need that."""
os.environ.setdefault("PYOP2CXX_TUNE", "off")  # what a test measures is nothing for another
if os.environ.get("PYOP2CXX_TEST_ALL") != "1" and not QUICK_FLAGS.keys() & os.environ.keys():
    os.environ.update(QUICK_FLAGS)
op2.configuration.reset()

FIRST = (
    *("test_without_pyop2.py", "test_cpp_files.py", "test_saved_graphs.py", "test_cuda.py"),
    *("test_races.py", "test_wheel.py", "test_fuzz.py", "test_hostile.py", "test_leaf_files.py"),
)
"""Files with tests that take half a minute or more: no worker is to begin one at the end."""


class SaidAtOnce:
    """Says why a test failed when it does, for runs that may be cut before their summary."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\n{report.nodeid}, {report.when}:\n{report.longreprtext}")


class Costs:
    """Seconds that each test takes: a file a worker in the folder `SAY_COSTS`, a row a test.

    Columns: elapsed, processor time of the main thread, of other threads, of ended child processes,
    the test. Machines are shared, so the elapsed time alone does not say what to make faster.
    """

    def __init__(self, folder: str, worker: str) -> None:
        self.file = Path(folder, f"{worker or 'all'}.txt")

    @staticmethod
    def now() -> tuple[float, float, float, float]:
        times, main = os.times(), time.thread_time()
        children = times.children_user + times.children_system
        return times.elapsed, main, time.process_time() - main, children

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = self.now()
        result = yield
        took = [f"{b - a:.2f}" for a, b in zip(before, self.now(), strict=True)]
        with self.file.open("a") as file:
            file.write(" ".join([*took, item.nodeid]) + "\n")
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Give each worker one of so many GPUs, if `SHARED_GPUS` says so: many on one are slow.

    With `SAY_FAILURES` what failed is said at once, with `SAY_COSTS` what each test takes is
    written. Machines are shared: how long a property takes to try, or its inputs to draw, is
    nothing to fail by.
    """
    settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("shared")
    if os.environ.get("SAY_FAILURES"):
        config.pluginmanager.register(SaidAtOnce(config))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if folder := os.environ.get("SAY_COSTS"):
        config.pluginmanager.register(Costs(folder, worker))
    if worker and (n_gpus := int(os.environ.get("SHARED_GPUS", "0"))):
        os.environ["CUDA_VISIBLE_DEVICES"] = str(int(worker.removeprefix("gw")) % n_gpus)


def parallel_backends() -> list[str]:
    """The backends that this machine has, but for those that run elements one after the other."""
    found = [one.name for one in op2.backends() if one.available]
    return [name for name in found if name != "sequential"]


def left_out(items: list[pytest.Item]) -> set[pytest.Item]:
    """Of each case with a parameter `backend` all parallel backends but one, by turns.

    A case meets `sequential` and one more backend, and each backend meets its share of the cases.
    The turn goes on from function to function, so single cases meet all backends, too. Tests marked
    `each_backend` are whole, and with ``make test-all`` nothing is left out.
    """
    backends = parallel_backends()
    cases: dict[tuple[str, str], dict[str, pytest.Item]] = {}
    for item in items:
        callspec = getattr(item, "callspec", None)
        backend = callspec.params.get("backend") if callspec else None
        if backend not in backends or item.get_closest_marker("each_backend") is not None:
            continue
        others = [name for name in callspec.id.split("-") if name != backend]
        cases.setdefault((item.nodeid.split("[")[0], "-".join(others)), {})[backend] = item
    found: set[pytest.Item] = set()
    turns: dict[str, int] = {}
    for (function, _), case in cases.items():
        turn = turns.setdefault(file := function.split("::")[0], 0)
        kept = [name for name in backends if name in case]
        found.update(case.values())
        found.remove(case[kept[turn % len(kept)]])
        turns[file] += len(kept) > 1
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long, or one of several workers ends alone; files may have an order."""
    if os.environ.get("PYOP2CXX_TEST_ALL") != "1" and (superfluous := left_out(items)):
        config.hook.pytest_deselected(items=list(superfluous))
        items[:] = [item for item in items if item not in superfluous]
    place = {item.path: i for i, item in reversed([*enumerate(items)])}

    def key(item: pytest.Item) -> tuple[bool, int, int]:
        order = getattr(getattr(item, "module", None), "order", None)
        return item.path.name not in FIRST, place[item.path], order(item) if order else 0

    items.sort(key=key)


@cache
def is_pocl_3() -> bool:
    """Whether loops run by PoCL of that version, if they run by OpenCL; no device is opened."""
    first = _core.vendor("opencl").list_devices()[0]
    return "Portable" in first.platform and first.driver.startswith("3.")


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that lets PoCL 3 compile without its optimiser from now on, in half of the time.

    PoCL 5 is wrong without it (docs/adr/0073-ranges.md).
    """

    def begin(backend: str) -> None:
        if backend == "opencl" and is_pocl_3():
            monkeypatch.setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable")

    return begin


@pytest.fixture(autouse=True)
def compiles_quickly(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile a test's loops without optimisation, unless the test is marked `optimised`.

    The loops of the corpus are marked so: they are compiled as users' are. For the C compiler the
    environment says so to all processes; for PoCL it is said to tests with a parameter `backend`.
    """
    if request.node.get_closest_marker("optimised") is not None:
        with as_for_users():
            yield
        return
    callspec = getattr(request.node, "callspec", None)
    if callspec is not None and callspec.params.get("backend") == "opencl":
        request.getfixturevalue("quickly")("opencl")
    yield


@contextmanager
def as_for_users() -> Iterator[None]:
    """Inside, the C compiler optimises, in this process and in those it starts."""
    quick = {name: os.environ[name] for name in QUICK_FLAGS if name in os.environ}
    if quick != QUICK_FLAGS:  # with make test-all, or somebody's own flags
        yield
        return
    options = [name.removeprefix("PYOP2CXX_").lower() for name in quick]
    for name, option in zip(quick, options, strict=True):
        del os.environ[name]
        op2.configuration[option] = ""
    yield
    os.environ.update(quick)
    for name, option in zip(quick, options, strict=True):
        op2.configuration[option] = quick[name]


@pytest.fixture(autouse=True)
def without_the_older_tree(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hide the folder `pyop2cxx/pyop2` from the core's tests, except from those marked `pyop2`."""
    is_marked = request.node.get_closest_marker("pyop2") is not None
    if is_marked or request.path not in older_tree.core_suite():
        yield
    else:
        with older_tree.hidden():
            yield


@pytest.fixture(autouse=True)
def leaves_no_options() -> Iterator[None]:
    """Fail a test that leaves options to those after it, which would depend on their order."""
    before = dict(op2.configuration)
    yield
    if getattr(sys.modules.get("pyop2"), "takes_c_order", False):
        pytest.fail("the test left pyop2cxx.pyop2 installed as pyop2, for the tests after it")
    after = dict(op2.configuration)
    if after != before:
        left = ", ".join(f"{name}={after[name]!r}" for name in after if after[name] != before[name])
        op2.exit()
        pytest.fail(f"the test left {left} behind; end it with the fixture 'exits' or op2.exit()")


@pytest.fixture(scope="session")
def of_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers share."""
    shared = tmp_path_factory.getbasetemp()
    return shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared


@pytest.fixture(scope="session")
def quick_compiler(of_session: Path) -> str:
    """A compiler for C++ of ours that optimises nothing, and keeps objects for other tests."""
    folder = of_session / "objects"
    folder.mkdir(exist_ok=True)
    return kept_objects.script(folder)


@pytest.fixture(scope="session")
def installed_runtime(of_session: Path, quick_compiler: str) -> Callable[[Path], Path]:
    """A function that builds and installs the run-time of programs in C++, once for all workers.

    It takes the folder `runtime` of a generated project, which is the same in all of them, and
    returns where `CMAKE_PREFIX_PATH` is to lead.
    """
    out, prefix, ready = (of_session / name for name in ("runtime", "installed", "runtime.ready"))

    def install(sources: Path) -> Path:
        with (of_session / "runtime.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not ready.exists():
                shutil.rmtree(out, ignore_errors=True)  # of another worker's, which failed
                for command in (
                    ["cmake", "-S", sources, "-B", out, f"-DCMAKE_CXX_COMPILER={quick_compiler}"],
                    ["cmake", "--build", out],
                    ["cmake", "--install", out, "--prefix", prefix],
                ):
                    made = subprocess.run(command, capture_output=True, text=True, check=False)
                    assert made.returncode == 0, made.stdout + made.stderr
                ready.touch()
        return prefix

    return install


@pytest.fixture(scope="session")
def built_in_cpp(
    tmp_path_factory: pytest.TempPathFactory, installed_runtime: Callable[[Path], Path]
) -> Callable[..., Path]:
    """A function that generates the loops of a program in Python and builds one in C++ with them.

    It takes the name, both texts and the backends, and returns a folder: the loops are in 'loops',
    and 'out' has 'program', the test '<name>_check' and the example '<name>_example'.
    """

    def built(name: str, python: str, cpp: str, backends: Sequence[str]) -> Path:
        folder = tmp_path_factory.mktemp(name)
        (folder / f"{name}.py").write_text(python)
        options = ["--backend", ",".join(backends), "-o", str(folder / "loops")]
        assert main(["generate", *options, str(folder / f"{name}.py")]) == 0
        op2.exit()
        (folder / "program.cpp").write_text(cpp)
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(both LANGUAGES C CXX)\n"
            "add_subdirectory(loops)\nadd_executable(program program.cpp)\n"
            f"target_link_libraries(program PRIVATE {name}_cpp)\n"
        )
        prefix = f"-DCMAKE_PREFIX_PATH={installed_runtime(folder / 'loops' / 'runtime')}"
        chosen = ("-DCMAKE_CXX_FLAGS_RELEASE=-O0", f"-D{name}_CHECK=ON", f"-D{name}_EXAMPLE=ON")
        for command in (
            ("cmake", "-S", folder, "-B", folder / "out", *chosen, prefix),
            ("cmake", "--build", folder / "out"),
        ):
            done = said(*command)
            assert done.returncode == 0, done.stdout + done.stderr
        return folder

    return built


@pytest.fixture
def nothing_renumbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has renumbered no Set; chains leave zeros alone in one that has."""
    monkeypatch.setattr(runtime, "has_renumbered", False)


@pytest.fixture
def exits() -> Iterator[None]:
    """What a test has set up ends with it; for `pytestmark`, so that it ends last."""
    yield
    op2.exit()


@pytest.fixture
def static() -> Iterator[None]:
    """Static mode, until the test ends."""
    op2.init(static=True)
    yield
    op2.exit()


@pytest.fixture
def checked() -> Iterator[None]:
    """Check mode on `sequential`, until the test ends."""
    op2.init(backend="sequential", check=True)
    yield
    op2.exit()


@pytest.fixture
def host() -> Iterator[None]:
    """A backend of the host until the test ends, also where the usual one is a device's."""
    name = runtime.backend
    if isinstance(runtime.engine.backend(name).toolchain, DeviceToolchain):
        name = _usual_host()
    with op2.backend(name):
        yield


def _usual_host() -> str:
    available = {one.name for one in op2.backends() if one.available}
    return "openmp" if "openmp" in available else "sequential"


@pytest.fixture(scope="module")
def host_by_default() -> Iterator[None]:
    """A backend of the host where programs name none, also those that other processes run."""
    with pytest.MonkeyPatch.context() as patch:
        usual = runtime.engine.backend(runtime.backend)
        if isinstance(usual.toolchain, DeviceToolchain):
            patch.setenv("PYOP2CXX_BACKEND", _usual_host())
            op2.exit()
        yield
    op2.exit()


@pytest.fixture
def device() -> Iterator[_core.Device]:
    """A device on which loops run until the test ends: the first that this machine has."""
    for found in op2.backends():
        toolchain = runtime.engine.backend(found.name).toolchain
        if found.available and isinstance(toolchain, DeviceToolchain):
            with op2.backend(found.name):
                assert runtime.device is not None
                yield runtime.device
            return
    pytest.skip("there is no device")


@pytest.fixture
def strictly() -> Iterator[None]:
    """Implicit copies between host and devices are refused, until the test ends."""
    op2.configuration["strict_residency"] = True
    yield
    op2.configuration["strict_residency"] = False


@pytest.fixture(params=("sequential", "openmp", "opencl", "cuda"))
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each backend that this machine has."""
    found = {one.name: one for one in op2.backends()}[request.param]
    if not found.available:
        pytest.skip(f"{request.param}: {found.reason}")
    with op2.backend(request.param):
        yield request.param
