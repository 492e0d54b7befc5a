#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Check the device backends on a machine with an NVIDIA GPU that may have no network and no headers.
# Usage: tools/gpu_check.sh PHASE...       phases fit ten minutes each on 16 cores; run any in a row
#   pack          here, with network: what that machine may lack goes into .gpu/ (take it along)
#   build         extension and C++ tests, into build/gpu; kept and used again if the sources match
#   test-cuda     tests in C++, the loops of the corpus by every strategy, the loop suites with CUDA
#   test-rest     all other tests, of which those of devices use CUDA
#   test-opencl   the same with the driver's OpenCL
#   ahead         the airfoil as a program in C++ on the GPU: its test, its bits, its time
#   sanitize      compute-sanitizer memcheck, racecheck and initcheck over the corpus, side by side;
#                 SHARDS=8  the corpus in so many parts, by turns on the GPUs that there are
#   fuzz          random loops on cuda and the host's backends, FUZZ_MINUTES long; records as JSON
#   fuzz-chains   random chains, and random loops called in chains, as long as fuzz
#   fuzz-calls    10^6 hostile calls, 200 kills while loops are compiled for cuda and for openmp, and
#                 the corpus as host code under ASan and UBSan
#   seeded        seeded mistakes, structures and threads with cuda as the default backend
#   bench         benchmarks/bench_device.py on both
#   assembly      of this only the matrices and forms, on cuda: as per cent of a copy
#   table         what the phases so far gave (each run ends with it anyway)
# OUT=dir  the log, the table, the records and the build go there, too.   JOBS=n  instead of all
# cores.   TOOLS="memcheck ..."  and  CASES=expression of pytest's -k: what sanitize runs.
# FUZZ="cuda:10000 sequential+openmp:100000 ..."  backends, or several that run the same loops, and
# how many;   FUZZ_MINUTES=8   KILLS="cuda openmp"  backends whose compilation is killed
# FUZZ_COMMIT=  what records say was tried, where there is no repository; tests/fuzz/table.py shows them.
# FUZZ_SEED=1  the first seed, 0 by default;   FUZZ_WAYS=2  runs of each loop, 1 by default;
# FUZZ_KINDS="sums matrices"  what loops have besides, none by default.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly packed=.gpu built=build/gpu
readonly jobs=${JOBS:-$(nproc)}
# NVIDIA's OpenCL on one GPU had no memory for the contexts of 60 processes, and had it for those of 40.
readonly few=$((jobs < 40 ? jobs : 40))
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
readonly gpus
readonly out=$built/out
readonly summary=$built/summary.tsv
readonly site=$built/site prefix=$built/prefix
failures=0
export PYOP2CXX_TEST_ALL=1 # every case by every strategy

say() { printf '==> %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# note WHAT RESULT SECONDS: one row of the table
note() {
  mkdir -p "$built"
  printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$summary"
}

readonly pytest_end='^(=+ )?([0-9]+ [a-z]+(, )?)+ in [0-9.]+s'
readonly other_ends='(ERROR|RACECHECK) SUMMARY|loops/s|chains of|faults of|killed|with findings|^\[  (PASSED|FAILED)  \] [0-9]+ tests|^(built|used the build)'

# What a log ends with: the counts of tests, and what a tool around them has to say.
result_in() {
  {
    grep -aE "$pytest_end" "$1" | tail -n 1 | sed -E 's/^=+ //; s/ =+$//'
    grep -avE '^(E|>| |tests/|\[gw)' "$1" | grep -E "$other_ends" | tail -n 1 | sed -E 's/^=+ //'
  } | cut -c 1-100 | tr '\t' ' ' | paste -sd ';' | sed 's/;/; /g'
}

# The tests that failed, also where the run was cut before its summary; else the first errors.
failed_in() {
  local found
  found=$({
    grep -aE '(^| )(FAILED|ERROR)( |$)' "$1" | grep -aoE '[a-z_/]+\.py::[^ ]+' | sed 's|.*/||'
    grep -aoE '^\[  FAILED  \] [A-Za-z_/]+\.[^ ,(]+' "$1" | sed 's/.* //'
  } | awk '!seen[$0]++')
  [[ -n $found ]] || found=$(grep -aiE '(^failed: )|(error: )' "$1" | head -n 3)
  cut -c 1-120 <<<"$found"
}

# measured NAME COMMAND...: run with a log in $out; the row says how it ended
measured() {
  local name=$1 start=$SECONDS rc=0 result
  shift
  mkdir -p "$out"
  "$@" >"$out/$name.log" 2>&1 || rc=$?
  result=$(result_in "$out/$name.log")
  if ((rc)); then
    failures=$((failures + 1))
    ((rc != 124)) || result="cut, its time was over; $result"
    result+=" $(failed_in "$out/$name.log" | head -n 3 | paste -sd ' ' | tr '\t' ' ')"
    note "$name" "FAILED ($rc) $result" $((SECONDS - start))
    tail -n 40 "$out/$name.log"
    failed_in "$out/$name.log" | head -n 40 | sed 's/^/failed: /'
  else
    note "$name" "${result:-ok}" $((SECONDS - start))
  fi
  hand_out "$name"
}

# Few files, each complete after every step: the machine may be taken away at any time.
hand_out() {
  [[ -n ${OUT:-} ]] || return 0
  mkdir -p "$OUT"
  { printf '\n===== %s\n' "$1" && cat "$out/$1.log"; } >>"$OUT/log.txt"
  cp "$summary" "$OUT/summary.tsv"
  find "$out" -maxdepth 1 \( -name '*.json' -o -name '*.tar.gz' \) -exec cp {} "$OUT" \;
}

# --- pack --------------------------------------------------------------------------------------

pack_wheels() {
  local -a platforms=() names=(tree-sitter tree-sitter-c pcpp pybind11 pytest pytest-timeout
    pytest-xdist execnet iniconfig pluggy hypothesis sortedcontainers tqdm
    'fenics-ufl<2026.2' 'fenics-ffcx>=0.11,<0.12' fenics-basix cffi pycparser h5py threadpoolctl
    pymetis meshio)
  local platform
  for platform in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014 manylinux_2_5 \
    manylinux1; do
    platforms+=(--platform "${platform}_x86_64")
  done
  "${PYTHON:-python3}" -m pip --disable-pip-version-check download --quiet --no-deps \
    --only-binary=:all: --python-version 3.12 --implementation cp "${platforms[@]}" \
    --dest "$packed/wheels" "${names[@]}"
}

pack_sources() {
  mkdir -p "$packed/lib"
  mkdir -p "$packed/googletest"
  cp -r /usr/src/googletest/{CMakeLists.txt,googletest} "$packed/googletest" || return 1
  # The loader that finds OpenCL drivers; the driver brings none.
  cp -L /usr/lib/x86_64-linux-gnu/libOpenCL.so.1 "$packed/lib/" 2>/dev/null || true
}

phase_pack() {
  rm -rf "$packed"
  mkdir -p "$packed/wheels"
  pack_wheels || fail "pack: pip could not download the wheels"
  pack_sources ||
    fail "pack: apt-get install googletest, then run this again"
  say "$packed holds $(du -sh "$packed" | cut -f 1); take it along with the sources"
}

# --- build -------------------------------------------------------------------------------------

# What is compiled decides whether an earlier build can be used again.
fingerprint() {
  find CMakeLists.txt cpp tests/cpp -type f -print0 | sort -z | xargs -0 sha256sum |
    sha256sum | cut -c 1-16
  python3 -V
}

install_wheels() {
  [[ -d $packed/wheels && ! -d $site ]] || return 0
  python3 -m pip install --quiet --no-index --no-deps --no-compile --no-cache-dir \
    --disable-pip-version-check --upgrade --target "$site" "$packed"/wheels/*.whl
}

build_googletest() {
  [[ -d $packed/googletest && ! -e $prefix/lib/cmake/GTest ]] || return 0
  cmake -S "$packed/googletest" -B "$built/googletest" -G Ninja -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_INSTALL_PREFIX="$PWD/$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DBUILD_GMOCK=OFF \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.5 &&
    cmake --build "$built/googletest" -j "$jobs" --target install
}

build_all() {
  cmake -S . -B "$built/cmake" -G Ninja -DPYOP2CXX_TESTS=ON -DPYOP2CXX_PYTHON=ON \
    -DPYOP2CXX_WERROR=OFF -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O2 \
    -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF \
    -DCMAKE_PREFIX_PATH="$PWD/$prefix" \
    -DPython_EXECUTABLE="$(command -v python3)" -Dpybind11_DIR="$(python3 -m pybind11 --cmakedir)" &&
    cmake --build "$built/cmake" -j "$jobs"
}

# The extension and the tests, for the next machine of the same kind.
keep_build() {
  fingerprint >"$built/fingerprint"
  strip --strip-debug pyop2cxx/_core*.so "$built/cmake/op2_tests" 2>/dev/null
  tar -czf "$out/gpu_build.tar.gz" pyop2cxx/_core*.so "$built/cmake/op2_tests" "$built/fingerprint"
}

build() {
  mkdir -p "$built" "$out"
  install_wheels || return
  if [[ -e $packed/gpu_build.tar.gz && ! -e $built/fingerprint ]]; then
    tar -xzf "$packed/gpu_build.tar.gz" || return
  fi
  if [[ -e $built/fingerprint && $(<"$built/fingerprint") == "$(fingerprint)" ]] && works; then
    echo "used the build that was there"
    return 0
  fi
  build_googletest && build_all && works && keep_build &&
    echo "built, with $(grep -c ' warning: ' "$out/build.log") warnings of the compiler"
}

works() {
  python3 -c 'from pyop2cxx import op2
print("backends:", *(b.name for b in op2.backends() if b.available))'
}

phase_build() {
  local before=$failures
  measured build build
  ((failures == before)) || fail "the build failed; nothing else can run"
}

# --- tests -------------------------------------------------------------------------------------

prepare() {
  export PYTHONPATH=$PWD/$site:$PWD${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1 LC_ALL=C.UTF-8
  # mpiexec of Open MPI starts more processes than cores, also where everything runs as root
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  export PYOP2CXX_CACHE_DIR=${PYOP2CXX_CACHE_DIR:-$PWD/$built/cache}
  local folder
  # NVIDIA's driver is not always where the loader looks.
  for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
    [[ -d $folder ]] && export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
  if ! ldconfig -p 2>/dev/null | grep -q 'libOpenCL\.so\.1' && [[ -d $packed/lib ]]; then
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$PWD/$packed/lib
  fi
}

use_nvidia_opencl() {
  local found
  found=$(find /usr/local/nvidia /usr/lib /usr/lib64 -name 'libnvidia-opencl.so.1' 2>/dev/null |
    head -n 1)
  mkdir -p "$built/vendors"
  echo "${found:-libnvidia-opencl.so.1}" >"$built/vendors/nvidia.icd"
  # The first is ocl-icd's, the second that of Khronos' loader and of newer ocl-icd.
  export OCL_ICD_VENDORS=$PWD/$built/vendors OCL_ICD_FILENAMES=${found:-libnvidia-opencl.so.1}
}

# Only the plugins that the tests need: whatever else is installed there is not ours to mend, and
# neither is what newer libraries than ours deprecate. Each test is named when it ends, and why it
# failed is said then: a run that is cut has no summary.
tests() {
  SAY_FAILURES=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 timeout "${LIMIT:-540}" python3 -m pytest -v \
    -p pytest_timeout -p _hypothesis_pytestplugin -p no:cacheprovider --timeout 240 \
    -W default::DeprecationWarning "$@"
}

# Suites about loops and their data, which mean the same wherever loops run.
loop_suites() {
  local name
  for name in args carrier constants dats devices exchange globals linalg maps mat_paths mat_rows mats \
    parloop renumber sets transfers; do
    if [[ -e tests/python/test_$name.py ]]; then echo "tests/python/test_$name.py"; fi
  done
}

# test_backend BACKEND PROCESSES: first the corpus by every strategy, then the loop suites with the
# backend as the default one; processes take the GPUs in turn, where other tests see all of them.
test_backend() {
  local backend=$1 n=$2
  local -a suites
  mapfile -t suites < <(loop_suites)
  measured "$backend-devices" python3 -m pyop2cxx info
  export SHARED_GPUS=$gpus
  measured "$backend-corpus" tests -p xdist.plugin -n "$n" -k "$backend" tests/python/test_corpus.py
  export PYOP2CXX_BACKEND=$backend
  measured "$backend-suites" tests -p xdist.plugin -n "$n" "${suites[@]}"
  unset PYOP2CXX_BACKEND SHARED_GPUS
}

phase_test_cuda() {
  measured cpp-tests "$built/cmake/op2_tests" --gtest_brief=1
  test_backend cuda "$jobs"
}

phase_test_rest() {
  measured all-but-corpus tests -p xdist.plugin -n "$few" --ignore tests/python/test_corpus.py \
    tests/python
}

phase_test_opencl() {
  use_nvidia_opencl
  local most=$((few * (gpus > 0 ? gpus : 1)))
  test_backend opencl $((most < jobs ? most : jobs))
}

# --- programs in C++ ---------------------------------------------------------------------------

readonly ahead=$built/ahead

gpu_name() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | sed 's/\.//; s/^/sm_/'
}

# On a mesh so small that its values are recorded, for the project's own test.
ahead_build() {
  rm -rf "$ahead" && mkdir -p "$ahead" &&
    python3 -c 'import sys
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import write_mesh
write_mesh(airfoil_arrays(60, 80), sys.argv[1])' "$ahead/mesh.dat" &&
    python3 -m pyop2cxx generate --backend openmp,cuda --arch "native,$(gpu_name)" -o "$ahead/loops" \
      demos/airfoil.py --backend openmp --mesh "$ahead/mesh.dat" --iterations 1 &&
    cmake -S demos/cpp -B "$ahead/out" -DLOOPS="$PWD/$ahead/loops" -Dairfoil_CHECK=ON &&
    cmake --build "$ahead/out" -j "$jobs"
}

ahead_run() {
  find "$ahead/out" -name airfoil_check -exec {} \; -quit | tee "$ahead/check.txt" &&
    [[ $(grep -c 'on cuda: as in Python' "$ahead/check.txt") == 5 ]] &&
    "$ahead/out/airfoil_demo" "$ahead/mesh.dat" openmp "$jobs" 20 "$ahead/openmp.bin" &&
    "$ahead/out/airfoil_demo" "$ahead/mesh.dat" cuda 1 20 "$ahead/cuda.bin" &&
    python3 -c 'import sys, numpy as np
a, b = (np.fromfile(name) for name in sys.argv[1:])
print("largest difference", abs(a - b).max()); sys.exit(not np.allclose(a, b, rtol=1e-9))' \
      "$ahead/openmp.bin" "$ahead/cuda.bin"
}

phase_ahead() {
  measured ahead-build ahead_build
  measured ahead-run ahead_run
  cat "$out/ahead-run.log"
  measured ahead-tests tests -p xdist.plugin -n "$few" tests/python/test_ahead.py \
    tests/python/test_cpp_files.py
  measured ahead-bench timeout 300 python3 benchmarks/bench_cpp.py --backends cuda openmp --pairs 3 \
    --threads $((jobs < 16 ? jobs : 16)) --arch "native,$(gpu_name)" --cells 800 900 --iterations 200
  cat "$out/ahead-bench.log"
}

# --- sanitizer ---------------------------------------------------------------------------------

# sanitize_with TOOL PART: a tool over every SHARDS-th case of the corpus
sanitize_with() {
  local tool=$1 part=$2
  export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 CUDA_VISIBLE_DEVICES=$((part % gpus))
  local -a options=()
  # drivers' calls that fail and are handled are no faults of ours
  [[ $tool != memcheck ]] || options=(--report-api-errors no)
  split -n "r/$((part + 1))/$shards" "$out/cases.txt" >"$out/cases-$part-$tool.txt"
  timeout 570 compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 --print-limit 20 \
    python3 -m pytest -v --maxfail 10 -p pytest_timeout -p _hypothesis_pytestplugin -p no:cacheprovider \
    --timeout 540 -W default::DeprecationWarning "@$out/cases-$part-$tool.txt"
}

phase_sanitize() {
  command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
  local tool part shards=${SHARDS:-1}
  local -a waiting=()
  mkdir -p "$out"
  tests -qq --collect-only -k "${CASES:-cuda and not random}" tests/python/test_corpus.py |
    grep '::' >"$out/cases.txt" || fail "sanitize: no case of the corpus is selected"
  # Each beside the others: they are bound by the processor, not by the GPU. Subshells cannot count
  # our failures, so these are read off the table.
  for tool in ${TOOLS:-memcheck racecheck initcheck}; do
    for ((part = 0; part < shards; part++)); do
      measured "sanitize-$tool-$part" sanitize_with "$tool" "$part" &
      waiting+=($!)
    done
  done
  wait "${waiting[@]}"
  if grep -q '^sanitize-.*FAILED' "$summary"; then failures=$((failures + 1)); fi
}

# --- random loops ------------------------------------------------------------------------------

# PoCL's own driver alone, so that OpenCL means the processor; fails where it is not installed.
use_pocl() {
  local found
  found=$(find /usr/lib /usr/lib64 /usr/local/lib "$PWD/$packed" -name 'libpocl.so*' 2>/dev/null |
    head -n 1)
  [[ -n $found ]] || return 1
  mkdir -p "$built/pocl"
  echo "$found" >"$built/pocl/pocl.icd"
  export OCL_ICD_VENDORS=$PWD/$built/pocl OCL_ICD_FILENAMES=$found
}

# Every core is taken by one process. Those of the host run the same loops.
fuzz_loops() {
  local -a backends=() counts=() kinds=()
  local one hosts=sequential+openmp
  for one in ${FUZZ_KINDS:-}; do kinds+=(--kind "$one"); done
  if use_pocl; then hosts+=+opencl; fi
  for one in ${FUZZ:-cuda:10000 $hosts:100000}; do
    backends+=("${one%%:*}")
    counts+=("${one##*:}")
  done
  timeout 595 python3 tests/fuzz/run.py --backend "${backends[@]}" --count "${counts[@]}" \
    --jobs "$jobs" --minutes "${FUZZ_MINUTES:-8}" --ways "${FUZZ_WAYS:-1}" --seed "${FUZZ_SEED:-0}" --no-shrink \
    "${kinds[@]}" --json "$out/fuzz.json"
}

phase_fuzz() {
  measured fuzz fuzz_loops
  cat "$out/fuzz.log"
}

# In the time that random loops have: half of it for chains of named loops, half for random loops.
half_the_minutes() { awk -v all="${FUZZ_MINUTES:-8}" 'BEGIN { print all / 2 }'; }
chains_of_loops() {
  timeout 595 python3 tests/fuzz/run.py --backend cuda sequential+openmp --count "${FUZZ_CHAINS:-10000}" \
    --chained 3 --jobs "$jobs" --minutes "$(half_the_minutes)" --ways 1 --seed "${FUZZ_SEED:-0}" \
    --no-shrink --json "$out/fuzz_chained.json"
}

phase_fuzz_chains() {
  measured fuzz-chains timeout 420 python3 tests/fuzz/chains.py --backend cuda sequential openmp \
    --count "${FUZZ_CHAINS:-10000}" --jobs "$jobs" --seed "${FUZZ_SEED:-0}" \
    --minutes "$(half_the_minutes)" --json "$out/fuzz_chains.json"
  measured fuzz-chained chains_of_loops
  cat "$out/fuzz-chains.log" "$out/fuzz-chained.log"
}

phase_fuzz_calls() {
  measured fuzz-calls timeout 420 python3 tests/fuzz/hostile.py --count "${FUZZ_CALLS:-1000000}" \
    --jobs "$jobs" --seed "${FUZZ_SEED:-0}" --minutes 6 --json "$out/fuzz_calls.json"
  local -a kills
  read -ra kills <<<"${KILLS:-cuda openmp}"
  measured fuzz-kills timeout 300 python3 tests/fuzz/kills.py --count 200 --backend "${kills[@]}" \
    --jobs "$jobs" --seed "${FUZZ_SEED:-0}" --minutes 2 --json "$out/fuzz_kills.json"
  measured fuzz-memory timeout 300 python3 tests/fuzz/sanitized.py --jobs "$jobs"
  cat "$out/fuzz-calls.log" "$out/fuzz-kills.log"
  tail -n 1 "$out/fuzz-memory.log"
}

phase_seeded() {
  PYOP2CXX_BACKEND=cuda measured seeded tests -p xdist.plugin -n "$few" \
    tests/python/test_check_mode.py tests/python/test_checked_sums.py \
    tests/python/test_wrong_programs.py tests/python/test_structures.py \
    tests/python/test_devices.py tests/python/test_flow.py
}

# --- benchmarks --------------------------------------------------------------------------------

phase_bench() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm --format=csv || true
  measured bench-cuda timeout 420 python3 benchmarks/bench_device.py --backend cuda \
    --json "$out/bench_cuda.json"
  cat "$out/bench-cuda.log"
  use_nvidia_opencl
  measured bench-opencl timeout 150 python3 benchmarks/bench_device.py --backend opencl \
    --scale 0.25 --only airfoil,direct --json "$out/bench_opencl.json"
  cat "$out/bench-opencl.log"
}

phase_assembly() {
  measured assembly timeout 420 python3 benchmarks/bench_device.py --backend cuda \
    --only assembly,forms --json "$out/assembly.json"
  cat "$out/assembly.log"
}

phase_table() { :; }

print_table() {
  [[ -e $summary ]] || return 0
  printf '\n%-22s %8s  %s\n' phase seconds result
  awk -F '\t' '{printf "%-22s %8s  %s\n", $1, $3, $2}' "$summary"
}

# --- main --------------------------------------------------------------------------------------

(($#)) || fail "usage: tools/gpu_check.sh pack|build|test-cuda|test-rest|test-opencl|ahead|sanitize|fuzz|fuzz-chains|fuzz-calls|seeded|bench|assembly|table..."
for phase in "$@"; do
  case $phase in
    pack | build | test-cuda | test-rest | test-opencl | ahead | sanitize | fuzz | fuzz-chains | fuzz-calls | seeded | bench | assembly | table) ;;
    *) fail "there is no phase '$phase'; see the head of $0" ;;
  esac
done
for phase in "$@"; do
  say "$phase"
  [[ $phase == pack ]] || prepare
  "phase_${phase//-/_}"
done
print_table
exit $((failures > 0))
