#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test: C++, C++ again under ASan and UBSan, then Python (last: its summary ends the output).
. "$(dirname "$0")/lib.sh"

sanitized=build/sanitize

build_sanitized() {
  # Warnings are lint's affair: what sanitizers add to the code makes GCC see uninitialised values.
  # -O1: the sanitized programs run several times faster than at -O0 and build as fast.
  cmake -S . -B "$sanitized" -G Ninja -DPYOP2CXX_TESTS=ON -DPYOP2CXX_PYTHON=OFF \
    -DPYOP2CXX_SANITIZE=address,undefined -DPYOP2CXX_WERROR=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1
  cmake --build "$sanitized"
}

step cpp-tests "C++ tests" "$build_dir/op2_tests" --gtest_brief=1
tail -n 1 "$logs/cpp-tests.txt"
step sanitize-build "building the C++ tests with ASan and UBSan" build_sanitized
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
step sanitize-tests "C++ tests under ASan and UBSan" "$sanitized/op2_tests" --gtest_brief=1
tail -n 1 "$logs/sanitize-tests.txt"
unset UBSAN_OPTIONS
say "Python tests"
"$venv_python" -m pytest -q "$@"
