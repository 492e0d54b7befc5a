# SPDX-License-Identifier: BSD-3-Clause
"""The command line of programs: PyOP2's ``utils.parser``, whose options `op2.init` takes.

Programs for PyOP2 declare options of their own on this parser and hand all of them to `op2.init`.
What is declared here is known to be the program's, so that `init` passes over it and still refuses
a misspelt option.
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
"""The options of pyop2cxx that programs offer; the short ones are PyOP2's."""


class ProgramParser(argparse.ArgumentParser):
    """A parser that tells the Runtime which options are the program's own."""

    def parse_known_args(  # type: ignore[override] # argparse has overloads for the namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, and note the names that are no options of pyop2cxx."""
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
        description: What ``--help`` says of the program.
        group: Whether ``--help`` shows these options apart from the program's own.

    Returns:
        The parser. What is not on the command line is not in its result either, so that the
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
            is_number = option.type is int or option.name == "debug"  # which PyOP2 had levels of
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
    """Return the options on the command line that `op2.init` takes.

    Args:
        args: The command line; None means the program's.
        description: As for `parser`.
        group: As for `parser`.

    Example:
        >>> parse_args(["--backend", "openmp"])
        {'backend': 'openmp'}
    """
    return vars(parser(description, group).parse_args(args))
