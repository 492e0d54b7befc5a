#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test: C++, C++ again under ASan, UBSan and TSan, then Python (last: its summary ends the output).
#   ONCE=yes   C++ only under the sanitizers, as tools/setup.sh has built it
. "$(dirname "$0")/lib.sh"

if [[ -z ${ONCE:-} ]]; then
  step cpp-tests "C++ tests" in_shards "$build_dir/op2_tests" --gtest_brief=1
  passed cpp-tests
fi
step sanitize-build "building the C++ tests with ASan and UBSan" build_sanitized
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
# Vendors' compilers keep memory until the process ends, which is no leak of ours.
vendors='Nvrtc*:Opencl*:MemoryPoolTest*:CudaProgram*'
step sanitize-tests "C++ tests under ASan and UBSan" \
  in_shards "$sanitized/op2_tests" --gtest_brief=1 --gtest_filter="-$vendors"
passed sanitize-tests
step sanitize-vendors "the same for what calls vendors' compilers" \
  in_shards env ASAN_OPTIONS=detect_leaks=0 "$sanitized/op2_tests" --gtest_brief=1 \
  --gtest_filter="$vendors"
passed sanitize-vendors
unset UBSAN_OPTIONS
step threads-build "building those of the rooms with threads with TSan" build_threads
step threads-tests "C++ tests under TSan" in_shards "$threads/op2_tests" --gtest_brief=1
passed threads-tests
say "Python tests"
# One worker a core: most of the time goes to the C compiler. They share the session's compile cache.
"$venv_python" -m pytest -q -n "$(nproc)" --dist worksteal "$@"
