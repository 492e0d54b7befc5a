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
