# SPDX-License-Identifier: BSD-3-Clause
"""The tests that `promises.py` names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from in_check_mode import FILES, LEFT_OUT, LEFT_OUT_OF_DEBUG, LEFT_OUT_OF_DEVICES, NO_PROGRAMS
from promises import PROMISES

TESTS = Path(__file__).parents[1]
NAMED = [
    (section, sentence, test)
    for section, sentences in PROMISES.items()
    for sentence, tests in sentences.items()
    for test in tests
]


@pytest.mark.parametrize(("section", "sentence", "test"), NAMED)
def test_a_named_test_exists(section: str, sentence: str, test: str) -> None:
    file, _, name = test.partition("::")
    suite, _, member = name.rpartition(".")
    code = rf"TEST\w*\({suite},\s*{member}\)" if suite else rf"^def {name}\("
    assert re.search(code, (TESTS / file).read_text(), re.MULTILINE), f"{section}: {sentence}"


def test_every_sentence_has_a_test() -> None:
    assert all(tests for sentences in PROMISES.values() for tests in sentences.values())


def test_what_is_left_out_in_check_mode_is_there() -> None:
    """And what `make check-mode` runs."""
    here = Path(__file__).parent
    assert all((here / name).exists() for name in (*FILES, *NO_PROGRAMS))
    for test, reason in (LEFT_OUT | LEFT_OUT_OF_DEBUG | LEFT_OUT_OF_DEVICES).items():
        file, _, name = test.partition("::")
        assert reason
        assert file not in NO_PROGRAMS
        assert re.search(rf"^def {name}\(", (here / file).read_text(), re.MULTILINE), test
