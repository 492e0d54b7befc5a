# SPDX-License-Identifier: BSD-3-Clause
"""Does something in a child of this process, so that a crash is an answer, too."""

from __future__ import annotations

import mmap
import os
import pickle
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

N_NOTE_BYTES = 1 << 14


def in_child(do: Callable[[Callable[[str], None]], Any]) -> tuple[Any, str, str]:
    """Call a function in a child, with another one that notes what it is about to do.

    Returns:
        What it returned; how the child ended, if not by itself: its signal, or its status; and
        the last note.
    """
    notes = mmap.mmap(-1, N_NOTE_BYTES)
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(do, notes, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(pid, 0)
    last = notes[:].split(b"\0")[0].decode(errors="replace")
    if status == 0:
        return pickle.loads(answer), "", last  # our own child's
    how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {status >> 8}"
    return None, how, last


def _child(do: Callable[[Callable[[str], None]], Any], notes: mmap.mmap, writing: int) -> None:
    def note(text: str) -> None:
        data = text.encode(errors="replace")[: N_NOTE_BYTES - 1]
        notes[: len(data) + 1] = data + b"\0"

    try:
        answer = pickle.dumps(do(note))
        while answer:
            answer = answer[os.write(writing, answer) :]
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(77)
