# SPDX-License-Identifier: BSD-3-Clause
"""The command line: ``info``, ``doctor``, ``explain``, ``generate``, ``build`` and others."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import __version__
from pyop2cxx.ahead.entries import Collected
from pyop2cxx.ahead.installed import cmake_dir
from pyop2cxx.ahead.programs import run_to_the_end
from pyop2cxx.ahead.project import Project, architectures, check_place
from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.reports import doctor, machine
from pyop2cxx.reports.cache import cache_clear, cache_info, cache_path
from pyop2cxx.reports.compare import chosen_backends, compare
from pyop2cxx.reports.demos import demo_list, run_demo
from pyop2cxx.reports.explain_program import watched
from pyop2cxx.reports.profile import Profile
from pyop2cxx.reports.roofline import check_picture
from pyop2cxx.reports.tune_program import tune_program
from pyop2cxx.reports.tune_store import export, forget, import_, probe, show
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_END = "PYOP2CXX_END_FD"
"""Environment variable with the descriptor for a command's end of program."""
_STATUS = "The exit status is that of the program, or 1 if the command fails."
_ABOUT_AHEAD = {
    "generate": """\
Run a Python program once, with its data, and write each loop that it runs as C,
for other programs: a folder with a CMake project, in which the loops are also
functions of C++, with a manifest, an example and a test. Nothing is compiled.""",
    "build": """\
Run a Python program once, with its data, and write each loop that it runs as C,
compiled into a library: programs in Python load the folder and need no compiler.
It is also a CMake project, in which the loops are functions of C++.""",
}
_ABOUT_COMPARE = """\
Run a Python program once on each backend, each in a process of its own. Compare the last values of
all Dats, Globals and Mats written by loops with those of the first backend, sequential if asked
for. {backend} in the program's arguments becomes the name of the backend."""
_ABOUT_ROOFLINE = """\
Run a Python program, then measure a copy, the caches and the peak of this machine on each backend
that the program has used: each loop's operations a byte and rates, as a table and a picture."""
_ABOUT_TUNE = """\
Run a Python program, measure each loop in the possible ways on the program's data, compare the
results, and keep the fastest way in the cache directory. Later runs begin with it. Chains, graphs
and libraries are measured in a second run."""
_ACTIONS_OF_TUNE = """\
actions in place of a program:
  show            all measurements
  export FILE     write them to a file
  import FILE     add those of a file
  forget [LOOP]   delete those of a loop, or all
  probe           rates of this device: copies, peaks, a launch, atomic sums

"""
_EXAMPLE = """\
example:
  pyop2cxx {} --backend sequential,openmp -o loops program.py mesh.msh

"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

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
    end = os.environ.pop(_END, "")
    if arguments is None and hasattr(options, "command") and not end:
        return _watched_run(options.command)
    try:
        shown = options.run(options)
    except Op2Error as error:
        print(f"pyop2cxx: {error}", file=sys.stderr)
        shown = 1
    finally:
        if end:
            os.write(int(end), b".")
    if isinstance(shown, int):
        return shown
    print(shown)
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
        "doctor",
        help="examine compilers, drivers, the cache, threads and MPI; say what to do",
        epilog="The exit status is 1 if something prevents loops from running.",
    )
    command.add_argument("--json", action="store_true", help="print it for programs")
    command.set_defaults(run=_doctor)

    command = commands.add_parser(
        "explain",
        help="run a program, then say of each of its loops how it ran, and why",
        epilog=_STATUS,
    )
    command.add_argument("--backend", help="where loops run unless the program says otherwise")
    command.add_argument("--loop", help="only loops of the kernel with this name")
    command.add_argument("--json", action="store_true", help="print it for programs")
    command.add_argument("--graph", metavar="FILE", help="draw the program's graphs, as SVG")
    command.add_argument("program", help="a Python file")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program takes")
    command.set_defaults(run=_explain, command="explain")

    command = commands.add_parser(
        "roofline",
        help="run a program, then compare each of its loops with the ceilings of this machine",
        description=_ABOUT_ROOFLINE,
        epilog=_STATUS,
    )
    command.add_argument("--backend", help="where loops run unless the program says otherwise")
    command.add_argument("--json", action="store_true", help="print it for programs")
    command.add_argument("-o", "--output", metavar="FILE", help="the picture, an SVG file")
    command.add_argument("program", help="a Python file")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program takes")
    command.set_defaults(run=_roofline, command="roofline")

    command = commands.add_parser(
        "compare",
        help="run a program on several backends; compare values and times",
        description=_ABOUT_COMPARE,
        epilog="The exit status is 1 if a run failed or values differ by more than allowed.",
    )
    command.add_argument("--backend", default="all", help="separated by commas; default: all")
    command.add_argument(
        "--tolerance",
        type=float,
        help="allowed difference of floats, relative to the largest value; default: the root of "
        "the precision, 1.5e-8 in double",
    )
    command.add_argument("--json", action="store_true", help="print it for programs")
    command.add_argument("program", help="a Python file")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program takes")
    command.set_defaults(run=_compare)

    _add_tune(commands)

    for name, meaning in (
        ("generate", "run a program and write the source of each of its loops, with a manifest"),
        ("build", "the same, and compile the loops for the host into a library"),
    ):
        command = commands.add_parser(
            name,
            help=meaning,
            description=_ABOUT_AHEAD[name],
            epilog=_EXAMPLE.format(name) + _STATUS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument(
            "--backend",
            default="",
            help="separated by commas; otherwise the one that a loop runs on",
        )
        command.add_argument(
            "--arch",
            default="native",
            help="for what processors, as -march= of the compiler has it, and for what GPUs: "
            "x86-64-v3,x86-64-v4,sm_80,sm_90",
        )
        command.add_argument(
            "--tuned",
            action="store_true",
            help="run each loop in all ways that are possible, and take the fastest one",
        )
        command.add_argument("--max", type=int, default=None, help="so many loops at most")
        command.add_argument("--name", help="of the library; the program's name otherwise")
        command.add_argument(
            "--library-version", default="0.1.0", metavar="X.Y.Z", help="of the library"
        )
        command.add_argument("-o", "--output", help="the folder; has to be given")
        command.add_argument("program", help="a Python file")
        command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program takes")
        command.set_defaults(run=partial(_ahead, build=name == "build"), command=name)

    command = commands.add_parser(
        "cmake-dir",
        help="compile the run-time of programs in C++ once, and print its folder",
        epilog="Projects link it: cmake -S lib -B out -Dpyop2cxx_DIR=$(pyop2cxx cmake-dir)",
    )
    command.set_defaults(run=lambda _: cmake_dir())

    command = commands.add_parser("demo", help="run a demo, or list them")
    command.add_argument("name", nargs="?", default="list", help="its name; without one, a list")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="such as --backend openmp")
    command.set_defaults(run=_demo)

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


def _add_tune(commands: Any) -> None:
    command = commands.add_parser(
        "tune",
        help="measure the loops of a program in all ways, for later runs; or show what is known",
        description=_ABOUT_TUNE,
        epilog=_ACTIONS_OF_TUNE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--backend", default="", help="where loops run, unless the program says")
    command.add_argument(
        "--minutes", type=float, default=10.0, help="no way is tried later; default: 10"
    )
    command.add_argument("program", help="a Python file, or an action")
    command.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program takes")
    command.set_defaults(run=_tune)


def _tune(options: argparse.Namespace) -> str:
    action, given = options.program, options.arguments
    actions: dict[str, tuple[int, int, Callable[..., str]]] = {
        "show": (0, 0, show),
        "export": (1, 1, export),
        "import": (1, 1, import_),
        "forget": (0, 1, forget),
        "probe": (0, 0, partial(probe, options.backend)),
    }
    least, most, run = actions.get(action, (0, 0, None))
    if run is None:
        tell = partial(print, file=sys.stderr, flush=True)
        return str(tune_program(action, given, options.backend, options.minutes, tell))
    if not least <= len(given) <= most:
        raise UsageError(f"tune {action}: got {len(given)} arguments; see 'pyop2cxx tune --help'")
    return str(run(*given))


def _info(options: argparse.Namespace) -> str:
    report = machine.collect()
    return json.dumps(report, indent=2) if options.json else machine.as_text(report)


def _doctor(options: argparse.Namespace) -> int:
    findings = doctor.examine()
    if options.json:
        print(json.dumps([one.as_dict() for one in findings], indent=2))
    else:
        print(doctor.as_text(findings))
    return int(doctor.prevents_work(findings))


def _demo(options: argparse.Namespace) -> str | int:
    if options.name == "list":
        return demo_list()
    return run_demo(options.name, options.arguments)


def _watched_run(command: str) -> int:
    """Run the command in another process, and report if the program ends that process."""
    read, write = os.pipe()
    with subprocess.Popen(
        [sys.executable, *sys.orig_argv[1:]], env={**os.environ, _END: str(write)}, pass_fds=[write]
    ) as child:
        os.close(write)
        before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        while child.returncode is None:
            try:
                child.wait()
            except KeyboardInterrupt:  # the child gets the interrupt, too
                continue
        signal.signal(signal.SIGTERM, before)
    with os.fdopen(read, "rb") as end:
        has_ended = bool(end.read(1))
    if child.returncode >= 0:
        if not has_ended:
            _tell(
                f"{command}: the program has ended the process, with status {child.returncode}, as "
                "os._exit does: nothing is written or said of its loops; let it return, or call "
                "sys.exit"
            )
        return child.returncode or int(not has_ended)
    name = signal.Signals(-child.returncode).name
    _tell(f"{command}: signal {name} has ended the program: nothing is written of its loops")
    return 128 - child.returncode


def _tell(text: str) -> None:
    print(f"pyop2cxx: {text}", file=sys.stderr)


def _explain(options: argparse.Namespace) -> int:
    if options.backend is not None:
        runtime.init(backend=options.backend)
    pictures: list[str] = []
    with watched(pictures) as found:
        end = run_to_the_end(options.program, options.arguments, "explain")
    if options.graph is not None:
        _write_pictures(Path(options.graph), pictures)
    shown = [one for one in found if options.loop in (None, one.loop)]
    if options.json:
        print(json.dumps([one.as_dict() for one in shown], indent=2))
    else:
        print("\n\n".join(map(str, shown)) or "no loop was generated or run")
    if end.status:
        print(end.shown, end="", file=sys.stderr)
        _tell(f"the program ended with {end.how}; what it did before is explained all the same")
    return end.status


def _roofline(options: argparse.Namespace) -> int:
    if options.output is not None:
        check_picture(options.output)  # before the program, which may take long
    if options.backend is not None:
        runtime.init(backend=options.backend)
    with Profile().giving_way() as p:
        end = run_to_the_end(options.program, options.arguments, "roofline")
    print(end.shown, end="", file=sys.stderr)
    if end.status and not p.loops:
        _tell(f"roofline: the program ended with {end.how}; no loop ran before")
        return end.status
    found = p.roofline(options.output)
    print(json.dumps(found.as_dict(), indent=2) if options.json else found)
    if end.status:
        _tell(f"the program ended with {end.how}; the loops that ran before are shown all the same")
    return end.status


def _compare(options: argparse.Namespace) -> int:
    if options.tolerance is not None and not options.tolerance >= 0.0:
        raise UsageError(f"compare: tolerance {options.tolerance}: expected a number from 0 on")
    names, left_out = chosen_backends(options.backend)
    for line in left_out:
        print(line, file=sys.stderr)
    tell = partial(print, file=sys.stderr, flush=True)
    found = compare(options.program, options.arguments, names, options.tolerance, tell)
    print(json.dumps(found.as_dict(), indent=2) if options.json else found)
    return int(not found.fits)


def _write_pictures(path: Path, pictures: Sequence[str]) -> None:
    """Write each picture to a file: the path for the first, numbered names for others."""
    if not pictures:
        raise UsageError(
            "explain --graph: the program has made no graph; op2.graph() and op2.record() make them"
        )
    for i, picture in enumerate(pictures):
        file = path if i == 0 else path.with_name(f"{path.stem}-{i + 1}{path.suffix}")
        try:
            with replacing(file) as temporary:
                temporary.write_text(picture)
        except OSError as error:
            raise UsageError(f"explain --graph: cannot write '{file}': {error}") from None


def _ahead(options: argparse.Namespace, *, build: bool) -> int:
    command = "build" if build else "generate"
    if options.output is None:
        raise UsageError(
            f"{command}: no folder is given; say 'pyop2cxx {command} -o FOLDER "
            f"{options.program}'; what follows the program is the program's"
        )
    name = options.name or Path(options.program).stem
    check_place(
        name, Path(options.output), options.library_version
    )  # before the program, which may take long
    archs, gpus = architectures(options.arch)
    backends = [one for one in options.backend.split(",") if one]
    collected = Collected(backends, gpus, tuned=options.tuned)
    with collected.recording():
        end = run_to_the_end(options.program, options.arguments, command)
    print(end.shown, end="", file=sys.stderr)
    if end.status and not collected.entries:
        raise UsageError(
            f"{command}: the program ended with {end.how}; no loop was generated before, so "
            "nothing is written"
        )
    project = Project(
        name=name,
        entries=list(collected.entries.values()),
        release=options.library_version,
        archs=archs,
        most=options.max,
        tuned=collected.tuned(),
    )
    manifest = project.write(options.output, build=build)
    lines = [f"{manifest}: {len(project.entries)} loops"]
    lines += collected.measurements()
    lines += [f"left out: {why}" for why in dict.fromkeys(collected.refused)]
    lines += collected.not_in_cpp()
    print("\n".join(lines))
    if end.status:
        _tell(
            f"the program ended with {end.how}; its {len(project.entries)} loops are written all "
            "the same; loops that it would have run later are not among them"
        )
    return end.status
