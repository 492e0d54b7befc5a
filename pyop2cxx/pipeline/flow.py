# SPDX-License-Identifier: BSD-3-Clause
"""The steps from a loop to code: strategy, lower, print, frame, compile, register.

The symbolic half, up to the text, never sees sizes or data; the other half never changes text.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.backends._backend import DeviceToolchain, HostToolchain
from pyop2cxx.base.folders import BACKENDS, template_folder
from pyop2cxx.exceptions import CompilationError, ToolchainError, UnsupportedError, UsageError
from pyop2cxx.kernel.parser.reads import front_end
from pyop2cxx.pipeline import images
from pyop2cxx.pipeline.covering import weaker
from pyop2cxx.pipeline.nearest import nearest
from pyop2cxx.pipeline.rejections import explain_rejection, named_by_users
from pyop2cxx.pipeline.request import LANES, Choice, Corners, GeneratedCode, Request
from pyop2cxx.pipeline.traits import traits_of
from pyop2cxx.pipeline.tuning import tuning_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import folders_of, identified, render
from pyop2cxx.runtime.store import remembered, stamp
from pyop2cxx.runtime.tuned import size_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.backends._backend import Backend
    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.pipeline.request import Lowering
    from pyop2cxx.runtime.tuned import Known


_OF_OTHER_TEXTS = ("ahead", "kernels")
"""Folders of templates never used to frame a loop's text."""

_APART = "columns of elements have them in different places of the targets' rows"
_ELSEWHERE = "elements that targets have lead to others than these"

_MANY_OPERATIONS = 32
"""Kernel operations from which on vectors may pay: choosing lanes takes 0.5 ms then, else 0.02."""

_DUMPS = ("kernel", "lower", *_core.PASSES, "source")


def measured_key(request: Request) -> str:
    """Return the key of a measured choice: a loop on a kind of device, without facts and size."""
    facts, options = request.backend.facts, request.options
    is_deterministic = options.semantics.deterministic
    about = (request.backend.name, facts.device_class, facts.float64, is_deterministic)
    return str(_core.digest(repr((request.loop.signature(), *about))))


def facts_key(request: Request) -> str:
    """Return a digest of the facts that a measured choice was made with."""
    facts, maps = request.backend.facts, list(request.map_facts)
    return str(_core.digest(_core.lowering_key("direct", facts, maps, request.options)))


def known(request: Request) -> Known | None:
    """Return the measurement for a loop; None without any, or if the user has chosen.

    Args:
        request: The request of a loop.
    """
    tuned = runtime.engine.tuned
    if not tuned.has_loops or not is_free(request) or request.options.semantics.by_element:
        return None
    key, size = measured_key(request), size_of(request.n_elements)
    if runtime.engine.expected or runtime.configuration["eti_only"]:
        return tuned.shipped(key, size)  # another way might not be in the table
    traits = partial(traits_of, request)
    return tuned.loop(request.backend.name, key, facts_key(request), size, traits)


def measured(request: Request) -> Request:
    """Return the request for the measured fastest way, if known and possible.

    Args:
        request: The request of a loop. Choices of the user stay.
    """
    found = known(request)
    return request if found is None else in_way(request, found)


def in_way(request: Request, found: Known) -> Request:
    """Return the request for the way of a measurement; the same request if impossible now.

    Args:
        request: The request of a loop, with all choices left to the rules.
        found: The measurement. The way of a similar loop may well be impossible here.
    """
    try:
        way = found.entry.way
        strategy, lanes = str(way["strategy"]), int(way["lanes"])
        tuning = tuple(sorted(way["tuning"].items()))
        why = why_not(strategy, request) if lanes in LANES else f"there are no {lanes} lanes"
        why = why or (why_not_on_lanes(lanes, strategy, request) if lanes else "")
        numbers = tuning_of(request.backend.facts, tuning)
    except (UsageError, LookupError, TypeError, ValueError, AttributeError) as error:
        why = str(error) or type(error).__name__
    if why:
        if found.other is None:
            runtime.engine.tuned.refuse(found.entry, why)
        return request
    options = request.options.tuned(numbers)
    return replace(request, strategy=strategy, lanes=lanes, tuning=tuning, options=options)


def told(found: Known) -> str:
    """Return the level and the gain of a measurement, for reports."""
    entry, other = found.entry, found.other
    if other is not None:
        gains = f"{entry.gain:.2f} and {other.gain:.2f} times as fast as by the rules"
        return f"measured ({found.level}): for similar loops '{entry.name}', '{other.name}' {gains}"
    text = f"measured ({found.level}, {entry.when}): "
    if entry.us == entry.rule_us:
        return f"{text}the rules' way is the fastest of {entry.n}"
    return f"{text}{entry.us:.1f} us in place of {entry.rule_us:.1f} by the rules"


def is_free(request: Request) -> bool:
    """Whether the user has left all choices to the rules."""
    return request.strategy is None and request.lanes is None and not request.tuning


def choose(request: Request, *, asks_store: bool = True) -> Choice:
    """Pick the strategy and the number of lanes: the user's, the measured, or the rules'.

    Args:
        request: The request of a loop.
        asks_store: Whether a measured choice counts.

    Raises:
        UsageError: The strategy does not exist.
        UnsupportedError: The strategy, or the number of lanes, is not possible for the loop; the
            message gives the reason.
    """
    given, found = request, known(request) if asks_store else None
    if found is not None:
        request = in_way(request, found)
    about = (request.loop, request.backend.facts, list(request.map_facts), request.options)
    with named_by_users(request):
        if request.strategy is None:
            strategy, why = _core.choose_strategy(*about)
        else:
            strategy, why = _core.force_strategy(request.strategy, *about)
    level = "rule"
    if found is not None and request is not given:
        level, why = found.level, told(found)
    vector_bytes = runtime.engine.vector_bytes if _may_use_lanes(request) else 0
    gather_bytes = runtime.engine.gather_bytes if _wants_gathers(request) else 0
    signature = request.loop.signature()

    def lanes(options: _core.LoweringOptions) -> tuple[_core.LoweringOptions, str]:
        """Choose as for an earlier equal loop: a new choice takes as long as lowering the loop."""
        widths = (request.lanes, vector_bytes, gather_bytes)
        lowering = _core.lowering_key(strategy, *about[1:3], options)
        # the reason names lines of the kernel's text, and the rules go by all of the tuning
        key = (signature, lowering, *widths, request.tuning, request.kernel.core.text)

        def by_rules() -> tuple[_core.LoweringOptions, str]:
            with named_by_users(request):
                return _core.choose_lanes(*widths, strategy, *about[:3], options)

        def decided() -> tuple[_core.LoweringOptions, str]:
            # without vectors there is nothing to choose, and a file takes longer to write
            known = _lanes_before(request, key, by_rules) if vector_bytes > 0 else None
            n, why = known or (None, "")
            return by_rules() if n is None else (options.on_lanes(n, gather_bytes), why)

        found, why = runtime.engine.lanes.made(key, decided)
        return found.tuned(found.tuning), why  # a copy: `by_slot` is set below

    # drop the deciding facts: equal texts have equal keys on meshes of any size and order
    options = request.options.summing(strategy == "atomic" and _core.sums_targets(*about))
    by_targets = strategy == "owner"
    options, why_lanes = _with_columns(request, options, lanes) if by_targets else lanes(options)
    if options.lanes > 0 and _wants_gathers(request) and gather_bytes == 0:
        raise UnsupportedError(
            f"par_loop '{request.name}': option 'hardware_gathers' needs AVX2 or AVX-512, but the "
            "C compiler makes no such code for this machine, or its target is not known "
            "(static=True, or -m flags in 'cflags'); turn the option off, or pass lanes=0"
        )
    why_lanes = why_lanes if level == "rule" else "measured"
    corners = _corners(request, strategy, options)
    options.corners = [(one.of_elements, one.of_targets) for one in corners if not one.why_not]
    lowering = _core.lowering_key(strategy, *about[1:3], options)
    # an opaque kernel's text is passed on as written, with comments
    verbatim = request.kernel.text if request.kernel.core.body is None else ""
    frames = [identified(folder) for folder in folders_of(request.backend)]
    key = repr((signature, verbatim, request.backend.name, lowering, *frames))
    return Choice(
        strategy=strategy,
        why=why,
        options=options,
        why_lanes=why_lanes,
        key=key,
        corners=corners,
        signature=signature,
        level=level,
    )


def _lanes_before(
    request: Request, key: object, by_rules: Callable[[], tuple[_core.LoweringOptions, str]]
) -> tuple[int, str] | None:
    """Return how many lanes were chosen in another process, and why.

    Args:
        request: Of a loop.
        key: All input of the rules.
        by_rules: Chooses, for all later processes.

    Returns:
        The choice from tables or the cache directory; None if a new choice is faster.
    """
    tables = runtime.engine.ahead_lanes
    known = tables.get(_core.digest(repr(key))) if tables else None
    facts = request.kernel.facts
    is_long = facts is not None and facts.n_operations >= _MANY_OPERATIONS
    if known is not None or not is_long or runtime.configuration["eti_only"]:
        return known

    def chosen() -> bytes:
        found, why = by_rules()
        return f"{found.lanes} {why}".encode()

    n, _, why = remembered("lanes", (key, _core_file()), chosen).decode().partition(" ")
    return int(n), why


def why_not(strategy: str, request: Request) -> str:
    """Return the reason why a strategy is impossible for a loop; empty: possible."""
    facts = list(request.map_facts)
    try:
        _core.force_strategy(strategy, request.loop, request.backend.facts, facts, request.options)
    except UnsupportedError as error:
        return str(error)
    return ""


def here(request: Request) -> Request:
    """Return the request for the present device of the backend."""
    device = runtime.engine.chosen_device(request.backend)
    return request if device is None else suited_to(request, device)


def why_not_on_lanes(lanes: int, strategy: str, request: Request) -> str:
    """Say why as many elements cannot be computed side by side; empty: they can."""
    return _core.why_not_on_lanes(
        lanes,
        strategy,
        request.loop,
        request.backend.facts,
        list(request.map_facts),
        request.options,
    )


def _with_columns(
    request: Request,
    options: _core.LoweringOptions,
    lanes: Callable[[_core.LoweringOptions], tuple[_core.LoweringOptions, str]],
) -> tuple[_core.LoweringOptions, str]:
    """Choose lanes for targets, and how incidences are visited."""
    options.by_pairs = may_visit_pairs(request)
    options, why = lanes(options)
    if options.by_pairs and options.lanes > 1:
        return options, f"{why}; a target in each, whose elements lead to neighbours in columns"
    if options.by_pairs:
        options.by_pairs = False
        options, why = lanes(options)
    if options.lanes > 1:
        why_walk = _choose_columns(request, options)
        if not options.by_slot:  # lighter kernels gain nothing then
            options, why = lanes(options)
        why += f"; {why_walk}"
    return options, why


def may_visit_pairs(request: Request, *, is_covered: bool | None = None) -> bool:
    """Return whether lanes of a processor may visit targets with columns of neighbours.

    Results of ``deterministic=True`` do not depend on the grouping of loops, so sums keep their
    order then.

    Args:
        request: The request of a group of loops, or of a loop that may be visited from its targets.
        is_covered: Whether targets have about the same number of elements; None: as the request
            says, for groups only.
    """
    options, facts = request.options, request.backend.facts
    covered = options.widths.padded if is_covered is None else is_covered
    if not covered or facts.device_class != "host" or options.semantics.deterministic:
        return False
    about = (request.loop, facts, list(request.map_facts), options)
    return bool(_core.visits_pairs_on_lanes(*about))


def _choose_columns(request: Request, options: _core.LoweringOptions) -> str:
    """Let targets be side by side if their incidences fill the columns, and say so."""
    least = _core.least_fill(request.loop, options.tuning)
    fill = request.column_fill(options.lanes, options.tuning, least)
    options.by_slot = fill >= least
    if options.by_slot:
        return f"a target in each, with columns of one slot that are {fill:.0%} full"
    return (
        "incidences one after the other: columns of one slot would be "
        f"{fill:.0%} full, and pay from {least:.0%} on"
    )


def _corners(
    request: Request, strategy: str, options: _core.LoweringOptions
) -> tuple[Corners, ...]:
    """Return the Maps with entries taken from the targets' own Maps, and reasons for others."""
    if request.elsewhere is None or strategy != "owner":
        return ()
    found: list[Corners] = []
    done: set[int] = set()
    lanes = options.lanes if options.by_pairs else 0
    most = options.tuning["most_mixed" if lanes else "most_elsewhere"]
    about = (request.loop, request.backend.facts, list(request.map_facts), options)
    for one in _core.corner_candidates(strategy, *about):
        if one.of_elements in done:
            continue
        why_not = one.why_not
        if not why_not:
            part = request.elsewhere(one.of_elements, one.of_targets, lanes)
            if part is None:
                why_not = "the Maps have no values yet"
            elif part > most:
                which = _APART if lanes else _ELSEWHERE
                why_not = f"{part:.2%} of the {which}, and up to {most:.2%} may"
            else:
                done.add(one.of_elements)
        found.append(
            Corners(of_elements=one.of_elements, of_targets=one.of_targets, why_not=why_not)
        )
    return tuple(found)


def _wants_gathers(request: Request) -> bool:
    on_grid = request.backend.facts.lanes == _core.Lanes.grid
    return bool(runtime.configuration["hardware_gathers"]) and not on_grid


def _may_use_lanes(request: Request) -> bool:
    """Whether anybody must know how wide the machine's vectors are: finding out costs a probe."""
    facts = request.backend.facts
    has_vectors = facts.lanes != _core.Lanes.grid or facts.vectors_in_lane
    return request.lanes is None and request.kernel.core.body is not None and has_vectors


def generate(request: Request, choice: Choice) -> GeneratedCode:
    """Return the text of a loop, from memory if generated before."""
    engine = runtime.engine
    known: GeneratedCode | None = engine.texts.find(choice.key)
    if known is not None:
        return known
    lowering = _lowering(request, choice)

    def made() -> bytes:
        module = _core.lower(*lowering)
        text = _frame(request, choice, module, line_markers=False)
        return "\0".join((module.launch_name, _written(request, choice, module), text)).encode()

    threads = request.backend.facts.threads
    key = (choice.key, threads, _printer(framing(request.backend)))
    symbol, written, text = remembered("loop", key, made).decode().split("\0", 2)
    suffix = request.backend.suffix[1 if request.kernel.cpp else 0]
    file = f"{request.name}_{request.backend.name}_{choice.strategy}{suffix}"
    code = GeneratedCode.chosen(
        text,
        choice,
        files={file: text},
        header="",
        symbol=symbol,
        written=written,
        dialect=request.backend.dialect,
        lowering=lowering,
    )
    engine.remember_text(choice.key, code)
    _dump(request, code)
    return code


def _written(request: Request, choice: Choice, module: _core.Module) -> str:
    """Return the input of an Executable besides the compiled text."""
    about = (module, request.loop, choice.strategy)
    if isinstance(request.backend.toolchain, DeviceToolchain):
        return _core.written_down_for_device(*about)
    return _core.written_down(*about, is_parallel=request.backend.facts.threads)


def _lowering(request: Request, choice: Choice) -> Lowering:
    """Return the input of lowering a loop: values, without the loop's data."""
    facts, maps = request.backend.facts, list(request.map_facts)
    return request.loop, choice.strategy, facts, maps, choice.options


def _marked(request: Request, choice: Choice) -> str:
    """Return the text with line markers of the given kernel: equal kernels may differ in lines."""
    module = _core.lower(*_lowering(request, choice))
    return _frame(request, choice, module, line_markers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A loop on the way to an Executable.

    Attributes:
        request: The input of the text, restricted to the device's abilities.
        device: Device of the run; None for the host.
        choice: Strategy and lanes.
        flags: Of the compiler.
        query: The query for the dispatcher.
    """

    request: Request
    device: OpenDevice | None
    choice: Choice
    flags: tuple[str, ...]
    query: _core.Query


def wanted(request: Request) -> Wanted:
    """Return the Executable needed by a loop: a loop's own, or a usable one from a table.

    Raises:
        ToolchainError: There is no device.
        UnsupportedError: The device does not support a need of the loop.
    """
    engine = runtime.engine
    device = engine.chosen_device(request.backend)
    if device is not None:
        request = suited_to(request, device)
    own = _asked(request, device)
    if engine.n_tables and engine.ahead.knows(own.query) and engine.ahead.find(own.query):
        for other in weaker(request):
            with suppress(UnsupportedError):  # a forced strategy needs known facts
                covering = _asked(other, device)
                if not engine.ahead.find(covering.query):
                    return covering
    return own


def _asked(request: Request, device: OpenDevice | None) -> Wanted:
    options = runtime.configuration
    choice = choose(request)
    flags = flags_of(request)
    tools = (options["cc"], options["cxx"]) if device is None else device.key
    key = _core.digest(choice.key)  # as in manifests: no folder of the user is named
    query = _core.Query(
        loop=request.name,
        strategy=choice.strategy,
        signature=_core.digest(choice.signature),
        source=repr((choice.key, flags, tools)),
        text=key if device is None else repr((key, device.key)),
    )
    if device is not None:
        images.bring(key, query, device)
    return Wanted(request=request, device=device, choice=choice, flags=flags, query=query)


def as_it_runs(request: Request) -> tuple[Request, Choice]:
    """Return a loop as run on the present device, if there is one, and the choice.

    All reports about a loop's run use this function, and agree.

    Raises:
        UnsupportedError: As `choose`.
    """
    if isinstance(request.backend.toolchain, DeviceToolchain) and not runtime.static:
        with suppress(ToolchainError):  # no device: a text for any
            asked = wanted(request)
            return asked.request, asked.choice
    return request, choose(request)


def executable(request: Request, asked: Wanted | None = None) -> _core.Executable:
    """Return an Executable of the loop: known, from the disk cache, or compiled now.

    Args:
        request: The loop.
        asked: Result of `wanted`, if known.

    Raises:
        CompilationError: The compiler rejects the kernel; the message shows the user's line.
        ToolchainError: A compiler or a device is missing or broken.
        UnsupportedError: The device does not support a need of the loop.
    """
    engine, asked = runtime.engine, wanted(request) if asked is None else asked
    found = engine.dispatcher.resolve(asked.query)
    if found is not None:
        return found
    request, device = asked.request, asked.device
    check_may_compile(asked)
    start = _core.trace_clock()
    code = generate(request, asked.choice)
    generating = _core.trace_clock() - start
    with engine.compiling.one(f"par_loop '{request.name}'"):
        compiled, origin = _compiled(asked, code)
    if device is None:
        made = _core.read_executable(code.written, compiled, code.symbol)
    else:
        made = _core.read_device_executable(code.written, compiled, suffix="")
    compiling = _core.trace_clock() - start - generating
    enter(asked, made, origin, (start, generating, compiling))
    return made


def depends_on(request: Request) -> str:
    """Return the dependences of compiled code besides text and flags."""
    return " ".join((_core.__version__, *request.kernel.files_for_compiler))


def load(asked: Wanted, text: str, extra: str) -> _core.jit.Loaded:
    """Return the host library of a text.

    Args:
        asked: The loop.
        text: Text of the loop.
        extra: Other dependences of the library.

    Raises:
        ToolchainError: The compiler is missing, or rejects the text.
    """
    language = _core.jit.Language.cxx if asked.request.kernel.cpp else _core.jit.Language.c
    return runtime.engine.service.load(text, language, list(asked.flags), extra)


def enter(
    asked: Wanted, made: _core.Executable, origin: _core.jit.Origin, spent: tuple[int, int, int]
) -> None:
    """Make an Executable known to the dispatcher, and note the times.

    Args:
        asked: The loop.
        made: The Executable.
        origin: Where the library or the program came from.
        spent: Begin of the work on the text, and nanoseconds for the text and for the compilation.
    """
    engine, (start, generating, compiling) = runtime.engine, spent
    engine.jit_table.insert(asked.query, made)
    engine.dispatcher.filled(asked.query, origin.name, generating, compiling)
    if engine.coherence.trace.is_on:
        kind = "compile" if origin == _core.jit.Origin.compiled else "load"
        about = (asked.request.name, kind, "host", start, generating + compiling)
        engine.coherence.trace.add(_core.TraceSpan(*about))


def check_may_compile(asked: Wanted) -> None:
    """Raise UnsupportedError for a loop missing in tables, if compiling is forbidden."""
    engine, request = runtime.engine, asked.request
    if not (runtime.configuration["eti_only"] or engine.expected):
        return
    why = engine.ahead.find(asked.query) if engine.n_tables else "no table is loaded"
    why += nearest(request, asked.choice)
    allowed = "init(eti_only=True)" if runtime.configuration["eti_only"] else "dispatch.expect()"
    raise UnsupportedError(
        f"par_loop '{request.name}' ({request.line}): {allowed} lets nothing be compiled, and the "
        f"loaded tables do not have the loop for backend '{request.backend.name}', strategy "
        f"'{asked.choice.strategy}': {why}; 'pyop2cxx build PROGRAM --backend "
        f"{request.backend.name} -o DIR' with a program that runs it makes a table"
    )


def suited_to(request: Request, device: OpenDevice) -> Request:
    """Return the request restricted to the abilities, lanes and memory of a device."""
    info = device.info
    facts = request.backend.facts.on(
        is_processor=info.is_cpu,
        has_float64=info.float64,
        device_warp=info.warp,
        device_shared_bytes=info.shared_bytes,
    )
    return suited(request, facts)


def suited(request: Request, facts: _core.Facts) -> Request:
    """Return the request for devices with some facts, in place of the backend's."""
    if facts.equals(request.backend.facts):
        return request
    return replace(
        request,
        backend=replace(request.backend, facts=facts),
        options=request.options.tuned(tuning_of(facts, request.tuning)),
    )


def launch_tuning(request: Request, device: OpenDevice | None) -> _core.Tuning:
    """Return the launch parameters of a loop, for the device of the run."""
    suited_request = request if device is None else suited_to(request, device)
    return measured(suited_request).options.tuning


def framing(backend: Backend) -> tuple[str, ...]:
    """Return the folders of the package's templates used to frame a backend's texts.

    Templates of kernels are excluded, since a kernel's text is in the key. Templates of files
    beside compiled loops are excluded, too.
    """
    if isinstance(backend.toolchain, HostToolchain) and not folders_of(backend):
        return (backend.template.partition("/")[0],)  # included templates lie beside them
    return _framing_folders(template_folder())


@cache
def _framing_folders(templates: Path) -> tuple[str, ...]:
    return tuple(sorted({*os.listdir(templates)}.difference(_OF_OTHER_TEXTS)))


@cache
def _printer(folders: tuple[str, ...]) -> tuple[object, ...]:
    """Dependences of a text besides the key: the core, the parser, dialects and templates."""
    templates = str(template_folder())
    printed = stamp([BACKENDS, *(os.path.join(templates, name) for name in folders)])
    return (_core_file(), printed, front_end())


@cache
def _core_file() -> tuple[str, int, int]:
    """Identify the build of the core: passes and rules decide cached results."""
    about = os.stat(_core.__file__)
    return (_core.__version__, about.st_size, about.st_mtime_ns)


def _frame(request: Request, choice: Choice, module: _core.Module, *, line_markers: bool) -> str:
    text = _core.print_source(
        module,
        request.backend.dialect,
        line_markers=line_markers,
        linkage='extern "C" ' if request.kernel.cpp else "",
    )
    context: dict[str, Any] = {
        "version": _core.__version__,
        "kernel": request.kernel.name,
        "strategy": choice.strategy,
        "kernels": text.kernels.removesuffix("\n"),
        "wrappers": text.wrappers.removesuffix("\n"),
    }
    if isinstance(request.backend.toolchain, DeviceToolchain):
        context["preludes"] = _preludes(request, module)
    else:
        context["headers"] = request.kernel.core.headers
        context["launch"] = text.launch.removesuffix("\n")
    return render(request.backend.template, context, folders_of(request.backend))


def _preludes(request: Request, module: _core.Module) -> list[str]:
    """Texts needed by the language before the loop's own."""
    needs = _core.needs(module)
    needs += ["no_contraction"] * request.options.semantics.deterministic
    folder = PurePosixPath(request.backend.template).parent
    known = request.backend.preludes
    first = folders_of(request.backend)
    return [
        render(f"{folder}/{need}.j2", {}, first).rstrip("\n") for need in needs if need in known
    ]


def flags_of(request: Request) -> tuple[str, ...]:
    """Flags beyond the common flags, most specific last, followed by linker flags."""
    return (*compile_flags_of(request), *link_flags_of(request))


def compile_flags_of(request: Request) -> tuple[str, ...]:
    """Compiler flags beyond the common flags, most specific last."""
    engine, options, kernel = runtime.engine, runtime.configuration, request.kernel
    toolchain = request.backend.toolchain
    if isinstance(toolchain, DeviceToolchain):
        chosen = [*toolchain.flags]
        chosen += toolchain.deterministic_flags if options["deterministic"] else ()
        chosen += toolchain.debug_flags if options["debug"] else ()
        return tuple(chosen)
    flags = [*toolchain.flags]
    if options["deterministic"]:
        flags.append("-ffp-contract=off")
    if options["debug"]:
        flags += ["-O0", "-g"]
    flags += engine.option_flags("cxxflags" if kernel.cpp else "cflags")
    flags += [f"-I{folder}" for folder in kernel.core.include_dirs]
    return (*flags, *kernel.core.options)


def link_flags_of(request: Request) -> tuple[str, ...]:
    """Flags of a host's linker, in the user's order; none for devices."""
    if isinstance(request.backend.toolchain, DeviceToolchain):
        return ()
    return (*runtime.engine.option_flags("ldflags"), *request.kernel.core.ldargs)


def _compiled(asked: Wanted, code: GeneratedCode) -> tuple[Any, _core.jit.Origin]:
    """Return the library or device program of a text, with the origin."""
    engine, request, device = runtime.engine, asked.request, asked.device

    def compiled(text: str, extra: str) -> tuple[Any, _core.jit.Origin]:
        if device is None:
            loaded = load(asked, text, extra)
            return loaded.library, loaded.origin
        made = engine.device_service.compile(device.compiler, text, list(asked.flags), extra)
        return device.device.load(made), made.origin

    try:
        found = compiled(str(code), depends_on(request))
    except CompilationError as error:
        marked = _marked(request, asked.choice)
        compile_text = partial(compiled, extra="diagnostic")
        raise explain_rejection(request, error, marked, compile_text) from None
    except ToolchainError as error:
        error.args = (f"par_loop '{request.name}' on backend '{request.backend.name}': {error}",)
        raise
    engine.tell_notices()
    return found


def _dump(request: Request, code: GeneratedCode) -> None:
    """Write the stages requested by `PYOP2CXX_DUMP` to standard error, or into the given folder."""
    asked = runtime.configuration["dump"]
    if not asked:
        return
    wanted = {word.strip() for word in asked.split(",")} - {""}
    folders = sorted(word for word in wanted if "/" in word)
    stages = wanted.difference(folders)
    if stages - {*_DUMPS}:
        raise UsageError(
            f"option 'dump': there is no stage {', '.join(sorted(stages - {*_DUMPS}))}; there are: "
            f"{', '.join(_DUMPS)}; a word with a '/' is the folder to write to"
        )
    texts = {"loop": request.loop.dump(), **code.ir} if stages & {*_DUMPS[1:-1]} else {}
    if "lower" not in stages:
        texts = {stage: text for stage, text in texts.items() if stage in stages}
    shown = request.loop.kernel_stages() if "kernel" in stages else []
    shown += texts.items()
    if "source" in stages:
        shown.append(("source", str(code)))
    for number, (stage, text) in enumerate(shown):
        if folders:
            _write_dump(Path(folders[0]), f"{request.name}_{code.strategy}", number, stage, text)
        else:
            sys.stderr.write(f"--- {request.name}: {stage}\n{text}")


def _write_dump(folder: Path, name: str, number: int, stage: str, text: str) -> None:
    """Write a stage to a numbered file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.{number}_{stage}.txt").write_text(text)
