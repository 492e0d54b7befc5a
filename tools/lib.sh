# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts of this folder (sourced, never run): one line a step, logs only on failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly venv=${VENV:-.venv}
readonly venv_python=$venv/bin/python
readonly build_dir=build/editable
readonly logs=.setup/log
mkdir -p "$logs"

say() { printf '==> %s\n' "$*"; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The C++ tests under sanitizers, by clang with its warnings as errors: g++ made the ordinary build, so
# that the two builds are both compilers' turn at every unit. -O0, because a minute of slower tests costs
# less than optimising what the sanitizers add.
readonly sanitized=build/sanitize threads=build/threads
# The rooms where threads meet, with those that they call.
readonly concrete_rooms='base;move;mesh;graph;plan;exec;dispatch;libs;runtime;jit'
# Of these the ones whose tests are run with TSan: no other has a thread, an atomic or a mutex.
readonly threaded_rooms='base;move;mesh;plan;exec;dispatch;libs;runtime;jit'
# Units and tests of these rooms that have no threads either, and need the rooms of the compiler.
readonly unthreaded_units='/(exec/(test_)?build|runtime/test_(device_loop|launch_list))[.]cpp$'
sanitized_build() {
  local folder=$1 sanitizers=$2
  cmake -S . -B "$folder" -G Ninja -DPYOP2CXX_TESTS=ON -DPYOP2CXX_PYTHON=OFF \
    -DPYOP2CXX_SANITIZE="$sanitizers" -DPYOP2CXX_WERROR=ON -DPYOP2CXX_UNITY=ON -DPYOP2CXX_BATCH=70 \
    -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 "${@:3}" &&
    cmake --build "$folder" -j "$(nproc)" -- -k 0
}
build_sanitized() { sanitized_build "$sanitized" address,undefined; }
build_threads() {
  sanitized_build "$threads" thread -DPYOP2CXX_ROOMS="$concrete_rooms" \
    -DPYOP2CXX_TESTED_ROOMS="$threaded_rooms" -DPYOP2CXX_LEFT_OUT="$unthreaded_units"
}

# in_shards COMMAND...: a GoogleTest program as one process a core, each with its share of the tests.
in_shards() {
  local n failed=0 index pid
  local -a started=()
  n=$(nproc)
  for ((index = 0; index < n; ++index)); do
    GTEST_TOTAL_SHARDS=$n GTEST_SHARD_INDEX=$index "$@" &
    started+=($!)
  done
  for pid in "${started[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}

# passed NAME: how many tests the log of that step says have passed.
passed() { awk '/\[  PASSED  \]/ {n += $4} END {print n + 0 " tests passed"}' "$logs/$1.txt"; }

# step NAME MESSAGE COMMAND...: run quietly; on failure show the log and stop.
step() {
  local name=$1 message=$2 log=$logs/$1.txt
  shift 2
  say "$message"
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    fail "$message: failed (${name}; this log is $log)"
  fi
}

# step_shown: the same, and how far it is: the counts [n/m] that ninja writes, in place on a terminal,
# else one line in ten.
step_shown() {
  local name=$1 message=$2 log=$logs/$1.txt
  shift 2
  say "$message"
  if ! "$@" 2>&1 | tee "$log" | show_counts "$([[ -t 1 ]] && echo terminal)"; then
    cat "$log" >&2
    fail "$message: failed (${name}; this log is $log)"
  fi
}

show_counts() {
  local terminal=$1 line last=0 tenth
  while IFS= read -r line; do
    [[ $line =~ \[([0-9]+)/([0-9]+)\] ]] || continue
    tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    if [[ -n $terminal ]]; then
      printf '\r    compiling %s' "${BASH_REMATCH[0]}"
    elif ((tenth > last)); then
      printf '    compiling %s\n' "${BASH_REMATCH[0]}"
    fi
    last=$tenth
  done
  if [[ -n $terminal ]]; then printf '\n'; fi
}
