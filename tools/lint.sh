#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every static check. All of them run, so that one call shows everything there is to mend.
. "$(dirname "$0")/lib.sh"

python_sources=(pyop2cxx)
for folder in tests demos benchmarks tools docs; do
  [[ -d $folder ]] && python_sources+=("$folder")
done

failed=()
check() {
  local name=$1
  shift
  say "$name"
  "$@" || failed+=("$name")
}

# What takes one core runs beside the compiler: check_beside NAME COMMAND..., then check_finished.
besides=() beside_names=()
check_beside() {
  local log=$logs/beside-${#besides[@]}.txt
  beside_names+=("$1")
  shift
  "$@" >"$log" 2>&1 &
  besides+=($!)
}
check_finished() {
  local i
  for i in "${!besides[@]}"; do
    say "${beside_names[i]}"
    wait "${besides[i]}" || failed+=("${beside_names[i]}")
    cat "$logs/beside-$i.txt"
  done
}

# shellcheck disable=SC2046  # the names of our own sources hold no blanks
clang_format() {
  clang-format-14 --dry-run -Werror $(find cpp tests/cpp -name '*.[ch]pp' -o -name '*.h')
}

# The ordinary build is the turn of g++, with optimisation, unless CXX says otherwise; the sanitized one,
# which make test needs anyway, is clang's. That one compiles batches, so its units are looked at once more,
# each alone, in a third of the time that it takes to compile them alone.
clang_compiles() {
  build_sanitized >"$logs/sanitize-build.txt" 2>&1 || {
    cat "$logs/sanitize-build.txt" >&2
    return 1
  }
  "$venv_python" tools/compile_check.py clang++-14 --built "$sanitized"
}
gnu_compiles() { "$venv_python" tools/compile_check.py g++; }

manual() { "$venv_python" -m sphinx -W --keep-going -q -b html docs build/docs; }

check_beside "ruff check" "$venv_python" -m ruff check --quiet "${python_sources[@]}"
check_beside "ruff format" "$venv_python" -m ruff format --check --quiet "${python_sources[@]}"
check_beside "clang-format" clang_format
check_beside "stub of the extension" tools/make_stubs.sh --check
check_beside "mypy --strict" "$venv_python" -m mypy --no-error-summary
check_beside "the manual" manual
check "-Wall -Wextra -Werror, clang++-14" clang_compiles
grep -qs 'COMPILER_ID "GNU"' "$build_dir"/CMakeFiles/*/CMakeCXXCompiler.cmake ||
  check "-Wall -Wextra -Werror, g++" gnu_compiles
check_finished

if ((${#failed[@]})); then
  IFS=';'
  fail "lint failed: ${failed[*]}"
fi
echo "lint passed"
