# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import atexit
import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx.exceptions import ConfigurationError, StaticModeError
from pyop2cxx.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    monkeypatch.delenv("PYOP2CXX_BACKEND", raising=False)  # it would be none of those in the folder
    for name in ("abacus.py", "sequential.py", "__init__.py", "_shared.py", "notes.txt"):
        (tmp_path / name).touch()
    logger = logging.getLogger("pyop2cxx")
    level, handlers = logger.level, logger.handlers[:]
    made = Runtime()
    made.backend_folder = tmp_path
    yield made
    atexit.unregister(made.exit)
    logger.setLevel(level)
    logger.handlers[:] = handlers


def test_init_is_not_needed_and_may_be_repeated(runtime: Runtime) -> None:
    assert not runtime.initialised()
    runtime.init()
    runtime.init(threads=2)
    assert runtime.initialised()
    runtime.init(debug=True)
    assert runtime.configuration["threads"] == 2
    runtime.exit()
    assert not runtime.initialised()
    assert runtime.configuration["threads"] == 0
    runtime.init()
    assert runtime.initialised()


def test_a_wrong_init_changes_nothing(runtime: Runtime) -> None:
    for wrong in ({"thread": 2}, {"threads": "2"}, {"backend": "cloud"}):
        epoch = runtime.epoch
        with pytest.raises(ConfigurationError):
            runtime.init(debug=True, **wrong)
        assert not runtime.initialised()
        assert (runtime.epoch, runtime.configuration["debug"]) == (epoch, False)


def test_backends_are_the_files_of_the_folder(runtime: Runtime) -> None:
    assert runtime.backend_names() == ("abacus", "sequential")
    (runtime.backend_folder / "cloud.py").touch()
    runtime.init(backend="cloud")
    assert runtime.backend == "cloud"


def test_a_backend_for_a_while(runtime: Runtime) -> None:
    runtime.init(backend="sequential")
    with runtime.use_backend("abacus"):
        assert runtime.backend == "abacus"
        with runtime.use_backend("sequential"):
            assert runtime.backend == "sequential"
        assert runtime.backend == "abacus"
    assert runtime.backend == "sequential"
    with pytest.raises(KeyError), runtime.use_backend("abacus"):
        raise KeyError
    assert runtime.backend == "sequential"
    with runtime.use_backend("abacus"):
        runtime.exit()
    assert runtime.backend == "sequential"


def test_an_unknown_backend_lists_those_there_are(runtime: Runtime) -> None:
    with (
        pytest.raises(ConfigurationError, match="'cloud'; there are: abacus, sequential"),
        runtime.use_backend("cloud"),
    ):
        pass
    assert runtime.backend == "sequential"


def test_the_epoch_grows_with_every_change(runtime: Runtime) -> None:
    epochs = [runtime.epoch]
    for change in (
        lambda: runtime.init(threads=2),
        lambda: runtime.configuration.reconfigure(debug=True),
        runtime.exit,
    ):
        change()
        epochs.append(runtime.epoch)
    with runtime.use_backend("abacus"):
        epochs.append(runtime.epoch)
    epochs.append(runtime.epoch)
    assert epochs == sorted(set(epochs))
    runtime.init(threads=0)  # what it is already
    assert runtime.epoch == epochs[-1]


def test_static_mode_follows_the_option(runtime: Runtime) -> None:
    runtime.require_running("Dat 'q'", "data")
    runtime.init(static=True)
    with pytest.raises(StaticModeError, match=r"Dat 'q': 'data' needs loops that run.*static=True"):
        runtime.require_running("Dat 'q'", "data")
    runtime.exit()
    assert not runtime.static


def test_the_log_level(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    assert runtime.logger is logging.getLogger("pyop2cxx")
    runtime.set_log_level("WARNING")
    runtime.logger.info("unseen")
    runtime.set_log_level(logging.INFO)
    runtime.logger.info("seen")
    assert caplog.messages == ["seen"]
    assert runtime.configuration["log_level"] == "INFO"


def test_messages_below_warnings_are_shown(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runtime.logger, "propagate", False)
    runtime.logger.handlers.clear()
    runtime.set_log_level("DEBUG")
    runtime.logger.debug("shown")
    assert capsys.readouterr().err == "shown\n"


def test_uids_differ_between_all_things(runtime: Runtime) -> None:
    uids = [runtime.next_uid() for _ in range(1000)]
    assert uids == sorted(set(uids))


@pytest.mark.parametrize(
    ("use", "said"),
    [("", ""), ("runtime.init()", "left\n"), ("runtime.init(); runtime.engine", "left\n")],
)
def test_a_process_that_ends_leaves_in_order(use: str, said: str) -> None:
    code = (
        "from pyop2cxx.runtime import Runtime\n"
        "class Loud(Runtime):\n"
        "    def exit(self):\n"
        "        super().exit()\n"
        "        print('left')\n"
        f"runtime = Loud()\n{use}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (said, "")
