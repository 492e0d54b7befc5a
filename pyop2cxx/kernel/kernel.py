# SPDX-License-Identifier: BSD-3-Clause
"""The user's C kernel: parsed once into a typed AST that crosses to C++."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ, Access
from pyop2cxx.base.c_names import is_word
from pyop2cxx.base.fixed import Fixed
from pyop2cxx.base.quoting import check_text
from pyop2cxx.exceptions import (
    ContractError,
    DataTypeError,
    IndexValueError,
    NameTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.kernel.loopy import is_loopy, written
from pyop2cxx.kernel.other_languages import refuse_other_languages
from pyop2cxx.kernel.parser import headers as known_headers
from pyop2cxx.kernel.parser import known
from pyop2cxx.kernel.parser.known import Description
from pyop2cxx.kernel.parser.preprocess import preprocess
from pyop2cxx.kernel.parser.tokens import token_stream
from pyop2cxx.kernel.parser.wire import VOID_POINTER
from pyop2cxx.kernel.petsc_calls import HEADER, calls_petsc
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from pyop2cxx.kernel.parser.wire import Parameter, ParsedKernel

_ABIS = ("2026", "2016", "2013")


class LocalKernelArg(NamedTuple):
    """How a kernel uses a parameter, and the dtype behind it."""

    access: Access
    dtype: np.dtype[Any]


@ends_tracebacks("__init__")
class Kernel(Fixed, Shown):
    """A function, in C, that a loop calls once for each element.

    Each argument arrives as one flat pointer to the values of the element.

    Args:
        code: C text that defines the function, with helper functions and constant tables if it
            needs them. The mathematical functions of C are known without any include. Or a program
            of loopy's: see `pyop2cxx.kernel.loopy`.
        name: The function to call.
        opts: Options for the compiler, e.g. ``["-DN=3"]``. A dict, of PyOP2's older optimisations,
            does nothing: loops are optimised by rules of their own.
        include_dirs: Folders with the user's own headers.
        headers: More headers to include, e.g. ``"stdlib.h"`` or ``'#include "mine.h"'``.
        user_code: Not supported; must be empty.
        cpp: The text is C++: it runs on host backends only, and how it uses its arguments is not
            checked.
        flop_count: Floating-point operations of one call, where the count from the text is wrong.
        ldargs: Options for the linker.
        abi: The convention for arguments: ``"2026"``, or one of PyOP2's older ones, ``"2016"`` and
            ``"2013"``; see `pyop2cxx.pyop2.conventions.adapt`. None means the option ``abi``, so
            that a program of old kernels says it once: ``op2.init(abi="2016")``.
        requires_zeroed_output_arguments: MIN and MAX arguments start at zero.
        accesses: How each parameter is used, if that is known before there is a loop.
        dtypes: The dtype behind each parameter, if known.
        events: PyOP2's events of PETSc; kept for its programs, not used.

    Attributes:
        name: As given.
        code: As given.
        shown_name: What messages and reports call it: the name, but of a function that calls the
            user's kernel, the name of that.
        shown_code: In the same way, the text that messages quote.
        is_written_here: Whether pyop2cxx has made the text, for algebra or a form, and the name.
        calls: The user's kernel, of a function that calls it; None of others.
        also_computes: The name of another kernel that it calls first, to make what it reads; else
            None.
        to_watch: Returns what check mode runs instead; it, or what it returns, is None where that
            is the kernel itself.
        accesses: As given.
        dtypes: As given.

    Raises:
        NameTypeError: `name` is not a string, or one that no function of C can have.
        DataTypeError: `code` is not a string.
        UsageError: `code` defines no function `name`, or keeps state between calls; a text has
            a NUL or a lone surrogate.
        ContractError: There are not as many dtypes as accesses.
        UnsupportedError: An option of PyOP2's that has no meaning here.

    Example:
        >>> k = Kernel("void scale(double *x) { x[0] *= 2.0; }", "scale")
        >>> k.parameters
        [double *x]
    """

    _free = frozenset({"accesses", "dtypes"})

    def __new__(cls, code: Any, *args: Any, **options: Any) -> Any:
        """Return a `LoopyLocalKernel` for a program of loopy's, as PyOP2 does."""
        if cls is Kernel and is_loopy(code):
            cls = LoopyLocalKernel
        return object.__new__(cls)

    def __init__(
        self,
        code: str,
        name: str,
        opts: Sequence[str] | Mapping[str, object] | None = None,
        include_dirs: Sequence[str] = (),
        headers: Sequence[str] = (),
        user_code: str = "",
        *,
        cpp: bool = False,
        flop_count: int | None = None,
        ldargs: Sequence[str] | None = (),
        abi: str | None = None,
        requires_zeroed_output_arguments: bool = False,
        accesses: Iterable[Access] | None = None,
        dtypes: Iterable[DTypeLike] | None = None,
        events: Sequence[object] = (),
    ) -> None:
        if not isinstance(name, str):
            raise NameTypeError(f"Kernel: name must be a str, got {name!r}")
        _check_name(name)
        if not isinstance(code, str):
            raise DataTypeError(
                f"Kernel '{name}': code must be a str with C text, got {type(code).__name__}"
            )
        check_text(code, f"Kernel '{name}': the text")
        refuse_other_languages(code, name, cpp=bool(cpp))
        if abi is None:
            abi = str(runtime.configuration["abi"])
        if abi not in _ABIS:
            raise UnsupportedError(
                f"Kernel '{name}': abi={abi!r} is not supported; there are: {', '.join(_ABIS)}. In "
                "'2026' every argument is one flat pointer, e.g. double *A with A[3*i+j]"
            )
        if user_code:
            raise UnsupportedError(
                f"Kernel '{name}': user_code is not supported; put it into the kernel's text"
            )
        self.accesses = None if accesses is None else tuple(Access(a) for a in accesses)
        self.dtypes = None if dtypes is None else tuple(np.dtype(d) for d in dtypes)
        if self.accesses and self.dtypes and len(self.accesses) != len(self.dtypes):
            raise ContractError(
                f"Kernel '{name}': {len(self.accesses)} accesses, but {len(self.dtypes)} dtypes "
                "were given"
            )
        self._what = f"Kernel '{name}'"
        self.events = tuple(events)
        self.name = name
        self.code = code
        self.shown_name, self.shown_code = name, code
        self.is_written_here = False
        self.calls: Kernel | None = None
        self.also_computes: str | None = None
        self.to_watch: Callable[[], Kernel | None] | None = None
        self._is_legacy = abi != "2026"
        folders = _strings(name, "include_dirs", include_dirs)
        extra = tuple(known_headers.spelled(item) for item in _strings(name, "headers", headers))
        extra += () if cpp else known_headers.implied(code)
        libraries = _strings(name, "ldargs", ldargs or ())
        linked = seams.petsc_build() if calls_petsc(code) else None
        if linked is not None:
            extra += (HEADER,)
            folders, libraries = folders + linked.include_dirs, libraries + linked.ldargs
        options = _options(name, opts) + (_older_macros(code) if abi != "2026" else ())
        try:
            source = preprocess(code, tuple(dict.fromkeys(extra)), folders, options, cpp=bool(cpp))
        except UsageError as error:
            raise UsageError(f"Kernel '{name}': {error}") from None
        self._description = Description(
            code=code,
            name=name,
            headers=tuple(dict.fromkeys(extra)),
            include_dirs=folders,
            options=options,
            ldargs=libraries,
            cpp=bool(cpp),
            flop_count=-1 if flop_count is None else int(flop_count),
            abi=abi,
            requires_zeroed_output_arguments=bool(requires_zeroed_output_arguments),
            header_contents=source.contents,
            source=None if source.lines is None else source,
        )
        self.core = _build(self._description)
        self._is_made = True

    @classmethod
    def from_ufcx(
        cls,
        source: str,
        integral: str | None = None,
        *,
        coefficients: Sequence[int] = (),
        constants: Sequence[int] = (),
        gdim: int = 3,
        name: str | None = None,
    ) -> Kernel:
        """Make a kernel of what FFCx writes for an integral: its function ``tabulate_tensor``.

        UFCx packs coefficients and constants into one array each, and gives three coordinates to
        each vertex. Here each is an argument of its own, so that loops read Dats in place. The
        arguments are the element tensor (INC), the coefficients, the constants, the coordinates
        of the cell's vertices, and where the text uses them the numbers of facets in their cells
        (int32) and the permutations of facets (uint8).

        Args:
            source: The C text: of a file that ``python -m ffcx`` writes, or the implementation
                that ``ffcx.codegeneration.jit.compile_forms`` returns beside the forms.
            integral: Its name in there, if there are several.
            coefficients: How many values of each coefficient the function reads, in the form's
                order; on interior facets those of both cells.
            constants: How many values each constant has.
            gdim: How many coordinates a vertex has.
            name: What the kernel is called; None means as the integral.

        Returns:
            The kernel; its `arguments` have the access and the dtype of each parameter.

        Raises:
            UsageError: There is no such integral, or it reads what is not described.
            UnsupportedError: It is of ``complex64``.

        Example:
            >>> text = '''
            ... void tabulate_tensor_integral_load(double* restrict A, const double* restrict w,
            ...     const double* restrict c, const double* restrict coordinate_dofs,
            ...     const int* restrict entity_local_index,
            ...     const uint8_t* restrict quadrature_permutation, void* custom_data)
            ... { A[0] += c[0] * w[0] * (coordinate_dofs[3] - coordinate_dofs[0]); }
            ... '''
            >>> load = Kernel.from_ufcx(text, coefficients=[1], constants=[1], gdim=1, name="load")
            >>> [parameter.name for parameter in load.parameters]
            ['A', 'coefficient0', 'constant0', 'coordinate_dofs']
        """
        found = seams.ufcx().described(source, integral, name, (coefficients, constants), gdim)
        accesses = [INC] + [READ] * (len(found.dtypes) - 1)
        return Kernel(found.code, found.name, accesses=accesses, dtypes=found.dtypes, abi="2026")

    @property
    def text(self) -> str:
        """The text that is compiled: `code`, or what loopy has written for a program of its own."""
        return self._description.code

    @property
    def key(self) -> str:
        """Canonical key: equal for texts that differ in blanks and comments only."""
        return self.core.key

    @property
    def parameters(self) -> list[_core.KernelParameter]:
        """The function's parameters; empty if they are not known."""
        return self.core.parameters

    @property
    def opaque_reason(self) -> str:
        """Why nothing is known of what the kernel does; empty if it has an AST."""
        return self.core.opaque_reason

    @property
    def facts(self) -> _core.KernelFacts | None:
        """What the kernel does with its arguments; None if it is opaque."""
        return _facts(self.core)

    @property
    def cpp(self) -> bool:
        """True if the text is C++."""
        return self._description.cpp

    @property
    def files_for_compiler(self) -> tuple[str, ...]:
        """Name and digest, alternating, of the user's files that the compiler reads with it.

        None where these are a part of its tree.
        """
        given = self._description
        is_whole = self.core.body is not None and not self.core.headers
        forced = given.source is not None and not given.source.can_inline
        return () if is_whole and not forced else given.header_contents

    @property
    def calls_petsc(self) -> bool:
        """True if it calls PETSc, which is not made for several threads at once."""
        return HEADER in self._description.headers

    @property
    def abi(self) -> str:
        """The convention for arguments."""
        return self._description.abi

    def written_here(self) -> Kernel:
        """Return this kernel, marked as one whose text and name are pyop2cxx's own."""
        self.is_written_here = True
        return self

    def with_untyped(self, positions: Iterable[int], function: str = "") -> Kernel:
        """Return this kernel with parameters that it does not use as ``void *``.

        Args:
            positions: Of the parameters, from 0.
            function: Whose they are, of those in the text; empty means the kernel itself.

        Returns:
            Itself where one of them is used, or where that cannot be known.
        """
        core = _build_untyped(self._description, frozenset(positions), function or self.name)
        if core is None:
            return self
        made = copy.copy(self)
        made.core = core
        return made

    def with_code(self, code: str, name: str) -> Kernel:
        """Return a kernel of today's convention, of another text and the same options."""
        return Kernel(code, name, abi="2026", **self._options())

    def _options(self) -> dict[str, Any]:
        """Return what the user gave besides the text and what it says of arguments."""
        given = self._description
        return {
            "headers": given.headers,
            "include_dirs": given.include_dirs,
            "opts": given.options,
            "cpp": given.cpp,
            "flop_count": None if given.flop_count < 0 else given.flop_count,
            "ldargs": given.ldargs,
            "requires_zeroed_output_arguments": given.requires_zeroed_output_arguments,
        }

    @property
    def arguments(self) -> tuple[LocalKernelArg, ...]:
        """Access and dtype of each parameter.

        Raises:
            UsageError: The kernel was made without them.
        """
        if self.accesses is None or self.dtypes is None:
            raise UsageError(
                f"Kernel '{self.name}': its arguments are known only where accesses and dtypes "
                "are given"
            )
        return tuple(map(LocalKernelArg, self.accesses, self.dtypes))

    def __reduce__(self) -> tuple[Any, ...]:
        known = {"abi": self.abi, "accesses": self.accesses, "dtypes": self.dtypes}
        options = self._options() | known
        return (_unpickled, (type(self), self.code, self.name, options))

    @property
    def num_flops(self) -> int:
        """Floating-point operations of one call: as given, else counted; 0 if not known."""
        if self._description.flop_count >= 0:
            return self._description.flop_count
        return 0 if self.facts is None else self.facts.n_operations

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return f"OP2 Kernel: {self.name}"

    def __repr__(self) -> str:
        return f'Kernel("""{self.code}""", {self.name!r})'

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        return f"{type(self).__name__} '{self.name}'", [("code", str(self.code).strip())]


def _unpickled(kind: type[Kernel], code: str, name: str, options: dict[str, Any]) -> Kernel:
    return kind(code, name, **options)


def _strings(name: str, option: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise UsageError(f"Kernel '{name}': {option} must be a sequence of strings, got {values!r}")
    return tuple(check_text(value, f"Kernel '{name}': an entry of {option}") for value in values)


def _check_name(name: str) -> None:
    check_text(name, "Kernel: the name", NameTypeError)
    if is_word(name):
        raise NameTypeError(
            f"Kernel '{name}': no function can have this name, which is a word of C; call the "
            "function something else"
        )


def _older_macros(code: str) -> tuple[str, ...]:
    """Return options that define what PyOP2 defined around kernels of its older conventions."""
    uses = re.search(r"\bOP2_STRIDE\b", code) and not re.search(r"#\s*define\s+OP2_STRIDE\b", code)
    # the distance between a Dat's components where they lay apart; kernels see them together
    return ("-DOP2_STRIDE(values,i)=((values)[i])",) if uses else ()


def _options(name: str, opts: Sequence[str] | Mapping[str, object] | None) -> tuple[str, ...]:
    if not opts:
        return ()
    if hasattr(opts, "keys"):  # how PyOP2 of 2014 was to write the same loop
        return ()
    return _strings(name, "opts", opts)


@until_exit(512)
def _build(given: Description) -> _core.Kernel:
    """Parse. Keyed on all that goes in, headers' contents too, so a hit is always right."""
    return _core_of(given, *known.parsed(given))


@until_exit(64)
def _build_untyped(given: Description, positions: frozenset[int], name: str) -> _core.Kernel | None:
    """Build a kernel where parameters of a function take any pointer; None if they are used."""
    parsed, tokens = known.parsed(given)
    function = next((found for found in parsed.functions if found.name == name), None)
    if function is None:
        return None
    unknown = sorted(positions - set(range(len(function.parameters))))
    if unknown:
        raise IndexValueError(
            f"Kernel '{name}': there is no parameter {unknown[0]!r}; they are numbered from 0 to "
            f"{len(function.parameters) - 1}"
        )
    if any(function.parameters[i][0] in function.names for i in positions):
        return None
    parameters = tuple(
        (parameter, VOID_POINTER if i in positions else type_, line)
        for i, (parameter, type_, line) in enumerate(function.parameters)
    )
    changed = parsed._replace(
        parameters=parameters if name == given.name else parsed.parameters,
        functions=tuple(
            found._replace(parameters=parameters) if found is function else found
            for found in parsed.functions
        ),
    )
    return _core_of(given, changed, (*tokens, name, "void *", *map(str, sorted(positions))))


def _core_of(given: Description, parsed: ParsedKernel, tokens: tuple[str, ...]) -> _core.Kernel:
    body, parsed = _body_of(given, parsed)
    text, headers, options, source = given.code, parsed.headers, given.options, given.source
    left = tokens
    if source is not None:  # names that are left when the user's macros are carried out
        left = token_stream(f"{source.text}\n{source.declarations}")
    if body is None:  # the compiler reads the text itself, and has to know what is known
        text = known_headers.with_one_long(given.code if source is None else source.resolved)
        named = known_headers.included(text)
        # those that the text names stand in it where macros before them hold
        others = (header for header in headers if header not in named)
        read = (*named, *(f"<{header}>" for header in (source.elsewhere if source else ())))
        more = known_headers.needed(left, read, cpp=given.cpp)
        headers = (*more, *others)
        if more and source is not None and source.stands_alone and not given.cpp:
            # headers before the user's would change what conditions in them choose
            text = known_headers.with_one_long(source.in_one_text())
            headers = (*(f"<{header}>" for header in source.elsewhere), *more)
        if not any("petsc" in header for header in (*named, *headers)):
            options += known_headers.petsc_names(left)
    return _core.Kernel(
        name=given.name,
        text=text,
        parameters=parsed.parameters,
        body=body,
        opaque_reason=parsed.opaque_reason,
        cpp=given.cpp,
        headers=headers,
        include_dirs=given.include_dirs,
        options=options,
        ldargs=given.ldargs,
        requires_zeroed_output_arguments=given.requires_zeroed_output_arguments,
        flop_count=given.flop_count,
        # the known headers change what names mean, too, and compilers' macros what tokens become
        tokens=(*tokens, *given.headers, *(() if source is None else left)),
        header_contents=given.header_contents,
        abi=given.abi,
    )


def _body_of(
    given: Description, parsed: ParsedKernel
) -> tuple[_core.KernelBody | None, ParsedKernel]:
    """Return the AST; None, and why, where a struct of the kernel cannot be told by its members."""
    if not parsed.functions:
        return None, parsed
    try:
        return _core.KernelBody(parsed.functions, parsed.tables, parsed.structures), parsed
    except UnsupportedError as reason:
        text = given.code if given.source is None else given.source.resolved
        named = dict.fromkeys((*given.headers, *known_headers.included(text)))
        others = tuple(header for header in named if not known_headers.is_known(header))
        plain = parsed._replace(parameters=_plain(parsed), headers=others)
        return None, plain._replace(opaque_reason=str(reason))


def _plain(parsed: ParsedKernel) -> tuple[Parameter, ...] | None:
    """Return the parameters; None if one of them is a struct, of which nothing can be said."""
    given = parsed.parameters or ()
    is_plain = not any(type_[0].startswith("struct ") for _, type_, _ in given)
    return parsed.parameters if is_plain else None


@until_exit(512)
def _facts(core: _core.Kernel) -> _core.KernelFacts | None:
    """Facts, once for each core: equal descriptions share it."""
    return None if core.body is None else _core.kernel_facts(core)


class LocalKernel(Kernel):
    """A Kernel that knows how its arguments are used.

    Args:
        code: As for `Kernel`.
        name: As for `Kernel`.
        accesses: How each parameter is used.
        dtypes: The dtype behind each parameter, if known.
        **options: As for `Kernel`.

    Raises:
        ContractError: There are not as many dtypes as accesses.

    Example:
        >>> LocalKernel("void f(double *x) { *x = 1; }", "f", [Access.WRITE]).accesses
        (<Access.WRITE: 2>,)
    """

    def __init__(
        self,
        code: str,
        name: str,
        accesses: Iterable[Access] | None = None,
        dtypes: Iterable[Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(code, name, accesses=accesses, dtypes=dtypes, **options)


CStringLocalKernel = LocalKernel


class LoopyLocalKernel(LocalKernel):
    """A Kernel that is a program of loopy's; it needs the extra ``loopy``.

    loopy schedules it and writes C, on all backends the same, whatever the program's target is.
    Arrays must be of known shape and dtype, since arguments arrive as one flat pointer each.

    Args:
        code: A ``loopy.TranslationUnit`` or ``loopy.LoopKernel``.
        name: Of the kernel in it that loops call.
        accesses: How each array is used, if that is known before there is a loop.
        **options: As for `pyop2cxx.kernel.kernel.Kernel`.

    Attributes:
        code: As given.
        dtypes: Of the kernel's arrays, as loopy knows them.

    Raises:
        DataTypeError: `code` is no program of loopy's.
        UsageError: It has no kernel of that name, or loopy cannot write C for it.
        MissingExtraError: loopy is not installed.

    Example:
        >>> import loopy  # doctest: +SKIP
        >>> twice = loopy.make_kernel(
        ...     "{[i]: 0 <= i < 3}", "y[i] = 2 * x[i]", name="twice", lang_version=(2018, 2)
        ... )  # doctest: +SKIP
        >>> typed = loopy.add_dtypes(twice, {"x": "float64", "y": "float64"})  # doctest: +SKIP
        >>> op2.Kernel(typed, "twice").parameters  # doctest: +SKIP
        [double *y, const double *x]
    """

    def __init__(
        self, code: Any, name: str, accesses: Iterable[Access] | None = None, **options: Any
    ) -> None:
        if not is_loopy(code):
            raise DataTypeError(
                f"Kernel '{name}': expected a TranslationUnit or LoopKernel of loopy, got "
                f"{type(code).__name__}"
            )
        text, dtypes = written(code, name)
        super().__init__(text, name, accesses, **{"dtypes": dtypes, "abi": "2026"} | options)
        self.__dict__["code"] = code


def free_names(kernel: Kernel) -> list[str]:
    """Names that the kernel uses but nobody declares: Consts, if there are such; sorted."""
    return [] if kernel.facts is None else kernel.facts.free_names
