#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the C++ tests with sanitizers before make lint and make test ask for it. What fails is left to
# them: they build it again, and show why it fails.
. "$(dirname "$0")/lib.sh"

say "building the C++ tests with ASan and UBSan, and with TSan, beside what follows"
build_sanitized >"$logs/sanitize-beside.txt" 2>&1 || true
build_threads >"$logs/threads-beside.txt" 2>&1 || true
