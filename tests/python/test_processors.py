# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of compiled loops that a processor may lack."""

from __future__ import annotations

from pyop2cxx.ahead.processors import instructions, missing

MACROS = """
#define __SSE3__ 1
#define __AVX512F__ 1
#define __AVX512VNNI__ 1
#define __BMI__ 1
#define __FMA__ 1
#define __x86_64__ 1
#define __FP_FAST_FMA 1
#define __GNUC__ 12
"""
CPU = "processor\t: 0\nmodel name\t: X avx512f\nflags\t\t: fpu pni fma bmi1 avx\nbugs\t\t: none\n"


def test_macros_are_instructions_by_the_names_of_linux() -> None:
    assert instructions(MACROS) == ["avx512_vnni", "avx512f", "bmi1", "fma", "pni"]
    assert instructions("") == []


def test_what_a_processor_lacks_is_found_in_its_flags() -> None:
    assert missing(instructions(MACROS), CPU) == ["avx512_vnni", "avx512f"]
    assert missing(["fma"], CPU) == []
    assert missing([], CPU) == []


def test_where_nothing_is_said_nothing_is_missing() -> None:
    assert missing(["avx2"], "processor : 0\nFeatures : fp asimd\n") == []
    assert missing(["avx2"], "") == []
    assert missing(["no_such_instruction"]) in ([], ["no_such_instruction"])  # of this machine
