#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Write pyop2cxx/_core.pyi from the built extension; with --check only compare.
. "$(dirname "$0")/lib.sh"

readonly stub=pyop2cxx/_core.pyi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$venv_python" -m pybind11_stubgen pyop2cxx._core --output-dir "$scratch" \
  --enum-class-locations '.*:pyop2cxx._core' --exit-code >"$scratch/log" 2>&1 || {
  cat "$scratch/log" >&2
  fail "pybind11-stubgen could not describe the extension; is a type bound after its first use?"
}

# Volatile: the version, and addresses inside default values.
{
  echo '# SPDX-License-Identifier: BSD-3-Clause'
  sed -E -e "s/^(__version__: str) = .*/\1/" -e 's/ at 0x[0-9a-f]+//g' -e 's/[ \t]+$//' \
    "$scratch/pyop2cxx/_core.pyi"
} >"$scratch/_core.pyi"
"$venv_python" -m ruff format --quiet "$scratch/_core.pyi"

if [[ ${1:-} == --check ]]; then
  diff -u "$stub" "$scratch/_core.pyi" ||
    fail "$stub is not what the extension offers now; run tools/make_stubs.sh and commit the result"
else
  cp "$scratch/_core.pyi" "$stub"
fi
