# SPDX-License-Identifier: BSD-3-Clause
"""A C++ compiler that keeps objects for a session of tests, and optimises nothing.

Several tests build the run-time of programs in C++, with a file more or less. A unit whose text,
after preprocessing, was compiled before with the same flags is copied. The folder is one of the
session, so nothing of an earlier run is used.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

_OF_PATHS = ("-I", "-isystem", "-o", "-MF", "-MT", "-MQ")
"""Options whose words are paths: the preprocessed text has what is found there."""


def script(folder: Path) -> str:
    """Write the compiler into a folder, where objects are kept, and return its path."""
    # Clang takes half of the time of GCC.
    command = f"{sys.executable} -SE {__file__} {folder} {shutil.which('clang++') or 'c++'}"
    made, new = folder / "cxx", folder / f"cxx.{os.getpid()}"
    new.write_text(f'#!/bin/sh\nexec {command} "$@" -O0\n')
    new.chmod(0o755)
    new.rename(made)  # another worker may be running it
    return str(made)


def flags_of(command: list[str]) -> list[str]:
    """Return the words of a command that are no paths."""
    kept, after = [], ""
    for word in command:
        if after not in _OF_PATHS and not word.startswith(("-I", *_OF_PATHS)):
            kept.append(word)
        after = word
    return [word for word in kept if not Path(word).is_file() or word == command[0]]


def compiled(folder: Path, command: list[str]) -> int:
    """Compile a unit, or copy its object, and return the exit status."""
    at = command.index("-o") + 1
    reads = [*command[: at - 1], *command[at + 1 :]]
    reads[reads.index("-c")] = "-E"
    text = subprocess.run([*reads, "-P"], stdout=subprocess.PIPE, check=False)
    if text.returncode:
        return text.returncode
    digest = hashlib.sha256("\0".join(flags_of(command)).encode() + text.stdout).hexdigest()
    kept = folder / f"{digest}.o"
    with (folder / f"{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be compiling the same
        if not kept.exists():
            done = subprocess.run(command, check=False)
            if done.returncode:
                return done.returncode
            new = kept.with_suffix(".new")
            shutil.copyfile(command[at], new)
            new.rename(kept)
    shutil.copyfile(kept, command[at])
    return 0


def main() -> None:
    """Be the compiler."""
    folder, *command = sys.argv[1:]
    if "-c" in command and "-o" in command:
        sys.exit(compiled(Path(folder), command))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
