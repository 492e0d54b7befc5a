#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Set up what one make target needs, or several: system packages, the virtual environment, the build.
# Usage: tools/setup.sh [--packages] demo|test|lint|bench|docs...     (quick when there is nothing to do)
#   --packages               only the system's packages
#   PYTHON=/path/to/python   make the virtual environment with this interpreter (>= 3.10)
#   VENV=/path/to/venv       keep it there instead of in .venv
#   ONCE=yes                 for a build that is made once: compile in batches, in a third of the time,
#                            and the C++ tests only with sanitizers (tools/sanitized.sh)
. "$(dirname "$0")/lib.sh"

only_packages=
if [[ ${1:-} == --packages ]]; then
  only_packages=yes
  shift
fi
readonly target=$*
tools=(build python) extras=() tests=OFF
for name in "${@:-}"; do
  case $name in
    demo) extras+=(demo) ;;
    bench) extras+=(demo fem solve) ;;
    test) tools+=(gtest sanitizers opencl scotch browser) extras+=(test) tests=ON ;;
    lint) tools+=(gtest sanitizers format) extras+=(docs lint) tests=ON ;;
    docs) extras+=(docs) ;;
    *) fail "usage: tools/setup.sh [--packages] demo|test|lint|bench|docs... (got '$target')" ;;
  esac
done

# --- system packages ---------------------------------------------------------------------------

missing=()
wanted=() # by tests that say so where it is missing
need_command() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need_header() {
  echo "#include <$1>" | c++ -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1 || missing+=("$2")
}
need_sanitizers() {
  local library
  library=$(clang++-14 --print-file-name="libclang_rt.asan-$(uname -m).a" 2>/dev/null || true)
  [[ -e $library ]] || missing+=("$1")
}

# The first interpreter that starts (a pyenv shim may not) and is new enough.
find_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.{14,13,12,11,10} /usr/bin/python3}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      python=$candidate
      return
    fi
  done
  python=
}

need_python() {
  find_python
  if [[ -n $python ]]; then
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    [[ -e $("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h ]] ||
      missing+=(python3-dev)
  elif [[ -n ${PYTHON:-} ]]; then
    fail "PYTHON=$PYTHON is not a working Python >= 3.10; got: $("$PYTHON" -VV 2>&1 || true)"
  elif command -v python3 >/dev/null 2>&1; then
    fail "pyop2cxx needs Python >= 3.10 but python3 is $(python3 -V 2>&1);" \
      "install a newer one and run: make $target PYTHON=/path/to/python3"
  else
    missing+=(python3 python3-venv python3-dev)
  fi
}

find_missing() {
  local tool
  missing=() wanted=()
  for tool in $(printf '%s\n' "${tools[@]}" | sort -u); do
    case $tool in
      build)
        need_command c++ g++
        need_command cc gcc
        need_command cmake cmake
        need_command ninja ninja-build
        ;;
      python) need_python ;;
      gtest) need_header gtest/gtest.h libgtest-dev ;;
      opencl)
        grep -q 'libOpenCL\.so\.1' <(/sbin/ldconfig -p) || missing+=(ocl-icd-libopencl1)
        compgen -G '/etc/OpenCL/vendors/*pocl*.icd' >/dev/null || missing+=(pocl-opencl-icd)
        need_command oclgrind oclgrind
        ;;
      scotch) grep -q 'libscotch-7' <(/sbin/ldconfig -p) || wanted+=(libscotch-7.0) ;;
      sanitizers)
        need_command clang++-14 clang-14
        need_command clang clang # tests compile texts with it, too
        need_sanitizers libclang-rt-14-dev
        compgen -G '/usr/lib/llvm-*/lib/libarcher.so' >/dev/null || missing+=(libomp-14-dev)
        ;;
      browser) [[ -n $(type -P chromium google-chrome) ]] || wanted+=(chromium) ;;
      format) need_command clang-format-14 clang-format-14 ;;
    esac
  done
}

apt_install() {
  local -a as_root=()
  [[ $(id -u) == 0 ]] || as_root=(sudo -n)
  # An old package list is better than none: the installation says what is wrong, if anything is.
  "${as_root[@]}" apt-get update || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "$@"
}

may_install() {
  command -v apt-get >/dev/null 2>&1 && { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }
}

find_missing
if ((${#missing[@]})); then
  if ! may_install; then
    echo "make $target needs system packages. Install them with this line, then run it again:" >&2
    echo "  sudo apt-get update && sudo apt-get install --yes ${missing[*]}" >&2
    exit 1
  fi
  step apt "installing system packages: ${missing[*]}" apt_install "${missing[@]}"
  find_missing
  ((${#missing[@]} == 0)) ||
    fail "still missing after the installation: ${missing[*]} (see $logs/apt.txt)"
fi

# Tried once: not every distribution has such a package.
install_wanted() { apt_install "${wanted[@]}" || true; }
if ((${#wanted[@]})) && [[ ! -e $logs/apt-wanted.txt ]] && may_install; then
  step apt-wanted "installing, if there is such a package: ${wanted[*]}" install_wanted
fi
[[ -z $only_packages ]] || exit 0

# --- virtual environment -----------------------------------------------------------------------

base_of() { "$1" -c 'import sys; print(sys.base_prefix, sys.version_info[:2])' 2>/dev/null; }

venv_is_good() {
  "$venv_python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || return 1
  [[ -z ${PYTHON:-} || $(base_of "$venv_python") == "$(base_of "$python")" ]]
}

if ! venv_is_good; then
  step venv "virtual environment $venv with $("$python" -V)" "$python" -m venv --clear "$venv"
fi

# --- build -------------------------------------------------------------------------------------

readonly stamp=$venv/pyop2cxx.stamp
readonly had_extras=$venv/pyop2cxx.extras
readonly pip=("$venv_python" -m pip --disable-pip-version-check)
export PIP_PROGRESS_BAR=off

# Extras and tests only ever grow, so that `make lint` and `make test` do not undo each other.
all_extras=$({ cat "$had_extras" 2>/dev/null || true; printf '%s\n' "${extras[@]}"; } | sort -u)
if grep -qs 'PYOP2CXX_TESTS:BOOL=ON' "$build_dir/CMakeCache.txt"; then tests=ON; fi
# Who runs the tests changes something: then units are compiled by themselves, and warnings are errors.
unity=$([[ $tests == ON && -z ${ONCE:-} ]] && echo OFF || echo ON)
plain_tests=$([[ -z ${ONCE:-} ]] && echo "$tests" || echo OFF)
batch=$([[ -z ${ONCE:-} ]] && echo 10 || echo 70) # 70: a whole room

# Contents of what is compiled, names of what is only listed (an editable build maps modules).
fingerprint() {
  echo "$PWD $tests $plain_tests $all_extras"
  find CMakeLists.txt pyproject.toml cpp $([[ $plain_tests == OFF ]] || echo tests/cpp) templates \
    -type f -print0 | sort -z | xargs -0 sha256sum
  find pyop2cxx -name '*.py*' -not -name '*.pyc' | sort
}

build_requirements() { sed -n '/^\[build-system\]/,/^$/s/^requires = \[\(.*\)\]/\1/p' pyproject.toml; }

install_editable() {
  build_requirements | tr -d ' "' | tr ',' '\n' >"$logs/build-requirements.txt"
  "${pip[@]}" install --requirement "$logs/build-requirements.txt"
  "${pip[@]}" install --verbose --no-build-isolation --config-settings=build-dir="$build_dir" \
    --config-settings=cmake.define.PYOP2CXX_TESTS="$plain_tests" \
    --config-settings=cmake.define.PYOP2CXX_WERROR="$tests" \
    --config-settings=cmake.define.PYOP2CXX_UNITY="$unity" \
    --config-settings=cmake.define.PYOP2CXX_BATCH="$batch" \
    --editable ".[${all_extras//$'\n'/,}]"
}

wanted=$(fingerprint | sha256sum)
if [[ ! -e $stamp || $(<"$stamp") != "$wanted" ]]; then
  rm -f "$stamp"
  step_shown build "building pyop2cxx with [${all_extras//$'\n'/,}] into $venv" install_editable
  echo "$all_extras" >"$had_extras"
  echo "$wanted" >"$stamp"
fi
