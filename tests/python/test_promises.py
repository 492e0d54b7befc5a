# SPDX-License-Identifier: BSD-3-Clause
"""The tests that `promises.py` names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
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
