#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Write the stub of the built extension, pyop2cxx/_core.pyi, or a folder pyop2cxx/_core/ of stubs once
# it has submodules; with --check only compare.
. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/now" "$scratch/committed"

"$venv_python" -m pybind11_stubgen pyop2cxx._core --output-dir "$scratch" \
  --enum-class-locations '.*:pyop2cxx._core' --exit-code >"$scratch/log" 2>&1 || {
  cat "$scratch/log" >&2
  fail "pybind11-stubgen could not describe the extension; is a type bound after its first use?"
}

mv "$scratch"/pyop2cxx/_core* "$scratch/now"
# Volatile: the version, and addresses inside default values. Wrong: stubgen takes our class Buffer
# for the abstract class of that name in every signature. Vague: a list of names is a plain list.
find "$scratch/now" -name '*.pyi' -exec sed -i -E -e '1i # SPDX-License-Identifier: BSD-3-Clause' \
  -e 's/^(__version__: str) = .*/\1/' -e 's/ at 0x[0-9a-f]+//g' \
  -e 's/typing_extensions\.Buffer/Buffer/g' -e 's/^(\w+: list) = (\[.[a-z_])/\1[str] = \2/' \
  -e 's/[ \t]+$//' {} +
"$venv_python" -m ruff format --quiet --isolated --line-length 100 "$scratch/now"

shopt -s nullglob
committed=(pyop2cxx/_core.pyi pyop2cxx/_core/)
if [[ ${1:-} == --check ]]; then
  for stub in "${committed[@]}"; do
    if [[ -e $stub ]]; then cp -r "$stub" "$scratch/committed"; fi
  done
  diff -ru --new-file "$scratch/committed" "$scratch/now" ||
    fail "the stub of pyop2cxx._core is not what the extension offers now;" \
      "run make stubs and commit the result"
else
  rm -rf "${committed[@]}"
  cp -r "$scratch"/now/* pyop2cxx
fi
