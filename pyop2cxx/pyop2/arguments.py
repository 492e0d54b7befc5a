# SPDX-License-Identifier: BSD-3-Clause
"""The command line of programs: PyOP2's ``utils.parser``, with options for `op2.init`.

Programs for PyOP2 declare options of their own on the parser and pass all of them to `op2.init`.
Options declared here are known to be the program's, so `init` ignores them and still refuses a
misspelt option.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLAGS = {
    "backend": ("-b", "--backend"),
    "debug": ("-d", "--debug"),
    "log_level": ("-l", "--log-level"),
    "abi": ("--abi",),
    "threads": ("--threads",),
}
"""The options of pyop2cxx for programs; the short names are PyOP2's."""


class ProgramParser(argparse.ArgumentParser):
    """A parser that registers the program's own options in the Runtime."""

    def parse_known_args(  # type: ignore[override] # argparse has overloads for the namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and note the names other than options of pyop2cxx."""
        found, rest = super().parse_known_args(args, namespace)
        ours = {option.name for option in OPTIONS}
        runtime.program_options.update(vars(found).keys() - ours)
        return found, rest


def _level(text: str) -> str:
    name = text.upper()
    return "WARNING" if name == "WARN" else name


def parser(description: str | None = None, group: bool = False) -> argparse.ArgumentParser:
    """Return a parser with the options ``--backend``, ``--debug``, ``--log-level`` and others.

    Args:
        description: Description of the program for ``--help``.
        group: Whether ``--help`` separates the options from the program's own.

    Returns:
        The parser. Options missing on the command line are missing in the result, so the
        environment and the defaults hold. The program may add options.

    Example:
        >>> from pyop2cxx import op2
        >>> options = parser(description="A demo", group=True)
        >>> _ = options.add_argument("--mesh", default="small")
        >>> given = vars(options.parse_args(["-b", "openmp"]))
        >>> op2.init(**given)
        >>> op2.configuration["backend"], given["mesh"]
        ('openmp', 'small')
        >>> op2.exit()
    """
    made = ProgramParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    place: Any = made
    if group:
        place = made.add_argument_group("pyop2cxx", "backend and configuration")
    for option in OPTIONS:
        if option.name in _FLAGS:
            is_number = option.type is int or option.name == "debug"  # PyOP2 had debug levels
            place.add_argument(
                *_FLAGS[option.name],
                default=argparse.SUPPRESS,
                type=int if is_number else _level if option.name == "log_level" else str,
                choices=runtime.backend_names()
                if option.name == "backend"
                else option.choices or None,
                help=option.help,
            )
    return made


def parse_args(
    args: Sequence[str] | None = None, description: str | None = None, group: bool = False
) -> dict[str, Any]:
    """Return the options of `op2.init` on the command line.

    Args:
        args: The command line; None means the program's.
        description: As for `parser`.
        group: As for `parser`.

    Example:
        >>> parse_args(["--backend", "openmp"])
        {'backend': 'openmp'}
    """
    return vars(parser(description, group).parse_args(args))
