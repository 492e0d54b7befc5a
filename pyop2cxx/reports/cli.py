# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``pyop2cxx info``, ``pyop2cxx explain`` and ``pyop2cxx cache``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from pyop2cxx import __version__
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.reports import machine
from pyop2cxx.reports.cache import cache_clear, cache_info, cache_path
from pyop2cxx.reports.explain_program import explain_program
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The command line without the program; `sys.argv`'s by default.

    Returns:
        The exit status: 0, or 1 if the command failed.

    Raises:
        SystemExit: The command line is wrong, or asks for help or the version.

    Example:
        >>> main(["cache", "path"])  # doctest: +SKIP
        /home/me/.cache/pyop2cxx
        0
    """
    options = _parser().parse_args(arguments)
    try:
        print(options.run(options))
    except Op2Error as error:
        print(f"pyop2cxx: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pyop2cxx", description="Parallel loops over unstructured meshes."
    )
    parser.add_argument("--version", action="version", version=f"pyop2cxx {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("info", help="what this machine offers")
    command.add_argument("--json", action="store_true", help="print it for programs")
    command.set_defaults(run=_info)

    command = commands.add_parser(
        "explain", help="run a program, then say of each of its loops how it ran, and why"
    )
    command.add_argument("--backend", help="where loops run unless the program says otherwise")
    command.add_argument("--loop", help="only loops of the kernel with this name")
    command.add_argument("--json", action="store_true", help="print it for programs")
    command.add_argument("program", help="a Python file")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program takes")
    command.set_defaults(run=_explain)

    command = commands.add_parser("cache", help="the compiled loops kept on disk")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    for name, action, meaning in (
        ("info", cache_info, "where it is, how many loops, how large"),
        ("clear", cache_clear, "remove every compiled loop"),
        ("path", cache_path, "where it is"),
    ):
        actions.add_parser(name, help=meaning).set_defaults(
            run=lambda _, action=action: action(runtime.configuration["cache_dir"])
        )
    return parser


def _info(options: argparse.Namespace) -> str:
    report = machine.collect()
    return json.dumps(report, indent=2) if options.json else machine.as_text(report)


def _explain(options: argparse.Namespace) -> str:
    if options.backend is not None:
        runtime.init(backend=options.backend)
    found = explain_program(options.program, options.arguments)
    shown = [one for one in found if options.loop in (None, one.loop)]
    if options.json:
        return json.dumps([one.as_dict() for one in shown], indent=2)
    return "\n\n".join(map(str, shown)) or "no loop was generated or run"
