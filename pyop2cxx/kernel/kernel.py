# SPDX-License-Identifier: BSD-3-Clause
"""The user's C kernel: parsed once into a typed AST that crosses to C++."""

from __future__ import annotations

import copy
import inspect
import re
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from pyop2cxx.interop.petsc_build import Build
    from pyop2cxx.kernel.parser.wire import Parameter, ParsedKernel

_ABIS = ("2026", "2016", "2013")


class LocalKernelArg(NamedTuple):
    """The use of a kernel's parameter, and the dtype behind the pointer."""

    access: Access
    dtype: np.dtype[Any]


@ends_tracebacks("__init__")
class Kernel(Fixed, Shown):
    """A function in C, called by a loop once for each element.

    Each argument arrives as a flat pointer to the values of the element.

    Args:
        code: C text with a definition of the function, optionally with helper functions and
            constant tables. The mathematical functions of C are known without any include. Or a
            program of loopy's: see `pyop2cxx.kernel.loopy`.
        name: The function to call.
        opts: Options for the compiler, e.g. ``["-DN=3"]``. A dict, of PyOP2's older optimisations,
            does nothing: loops are optimised by rules of their own.
        include_dirs: Folders with the user's own headers.
        headers: More headers to include, e.g. ``"stdlib.h"`` or ``'#include "mine.h"'``.
        user_code: Not supported; must be empty.
        cpp: Whether the text is C++: for host backends only, without checks of the arguments' uses.
        flop_count: Floating-point operations of a call, to correct a wrong count from the text.
        ldargs: Options for the linker.
        abi: The convention for arguments: ``"2026"``, or an older convention of PyOP2, ``"2016"``
            or ``"2013"``; see `pyop2cxx.pyop2.conventions.adapt`. None means the option ``abi``, so
            a program with old kernels sets the convention once: ``op2.init(abi="2016")``.
        requires_zeroed_output_arguments: MIN and MAX arguments start at zero.
        accesses: Access of each parameter, if known before there is a loop.
        dtypes: The dtype behind each parameter, if known.
        events: PyOP2's events of PETSc; accepted for PyOP2's programs, not used.
        contract: Whether sums over products of one-dimensional tables are computed dimension by
            dimension (sum factorization); results change by rounding only.

    Attributes:
        name: As given.
        code: As given.
        shown_name: Name shown to users; for a wrapper, the wrapped kernel's name.
        shown_code: Text quoted in messages; for a wrapper, the wrapped kernel's text.
        is_written_here: Whether pyop2cxx has made the text, for algebra or a form, and the name.
        calls: The wrapped kernel, for a wrapper; None for others.
        also_computes: Name of another kernel called first, to compute values read by the kernel;
            else None.
        to_watch: Callable that returns the kernel to run in check mode; None, also as result, for
            the same kernel.
        accesses: As given.
        dtypes: As given.

    Raises:
        NameTypeError: `name` is not a string, or cannot be the name of a C function.
        DataTypeError: `code` is not a string.
        UsageError: `code` defines no function `name`, or keeps state between calls; a text has
            a NUL or a lone surrogate.
        ContractError: There are not as many dtypes as accesses.
        UnsupportedError: An option of PyOP2's without a meaning here.

    Example:
        >>> k = Kernel("void scale(double *x) { x[0] *= 2.0; }", "scale")
        >>> k.parameters
        [double *x]
    """

    assignable = frozenset({"accesses", "dtypes"})

    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        cls.__signature__ = _signature(cls)

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
        contract: bool = True,
    ) -> None:
        if not isinstance(name, str):
            raise NameTypeError(f"Kernel: name must be a str, got {name!r}")
        _check_name(name)
        if hasattr(code, "gencode"):  # a tree of COFFEE, of which PyOP2 of 2016 made kernels
            code = code.gencode()
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
        self.label = f"Kernel '{name}'"
        self.events = tuple(events)
        self.name = name
        self.code = code
        self.shown_name, self.shown_code = name, code
        self.is_written_here = False
        self.calls: Kernel | None = None
        self.also_computes: str | None = None
        self.to_watch: Callable[[], Kernel | None] | None = None
        self.is_legacy = abi != "2026"
        folders = _strings(name, "include_dirs", include_dirs)
        extra = tuple(known_headers.spelled(item) for item in _strings(name, "headers", headers))
        extra += () if cpp else known_headers.implied(code)
        libraries = _strings(name, "ldargs", ldargs or ())
        linked = _petsc_build() if calls_petsc(code) else None
        if linked is not None:
            extra += (HEADER,)
            folders, libraries = folders + linked.include_dirs, libraries + linked.ldargs
        options = _options(name, opts) + (_older_macros(code) if abi != "2026" else ())
        try:
            source = preprocess(code, tuple(dict.fromkeys(extra)), folders, options, cpp=bool(cpp))
        except UsageError as error:
            raise UsageError(f"Kernel '{name}': {error}") from None
        self.description = Description(
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
            contract=bool(contract),
        )
        self.core = _build(self.description)
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
        """Make a kernel of FFCx output for an integral: the function ``tabulate_tensor``.

        UFCx packs coefficients and constants into an array each, and gives three coordinates to
        each vertex. Here each is a separate argument, so loops read Dats in place. The arguments
        are the element tensor (INC), the coefficients, the constants, the coordinates of the cell's
        vertices, and, if used in the text, the numbers of facets in their cells (int32) and the
        permutations of facets (uint8).

        Args:
            source: The C text: a file written by ``python -m ffcx``, or the implementation returned
                by ``ffcx.codegeneration.jit.compile_forms`` beside the forms.
            integral: Name of the integral, if there are several.
            coefficients: Number of values of each coefficient read by the function, in the form's
                order; on interior facets of both cells.
            constants: How many values each constant has.
            gdim: How many coordinates a vertex has.
            name: Name of the kernel; None means the integral's name.

        Returns:
            The kernel; `arguments` returns the access and the dtype of each parameter.

        Raises:
            UsageError: The integral does not exist, or reads undescribed data.
            UnsupportedError: The integral has dtype ``complex64``.

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
        from pyop2cxx.kernel import ufcx

        found = ufcx.described(source, integral, name, (coefficients, constants), gdim)
        accesses = [INC] + [READ] * (len(found.dtypes) - 1)
        return Kernel(found.code, found.name, accesses=accesses, dtypes=found.dtypes, abi="2026")

    @property
    def text(self) -> str:
        """The compiled text: `code`, or the C text of loopy for a loopy program."""
        return self.description.code

    @property
    def key(self) -> str:
        """Canonical key: equal for texts differing in blanks and comments only."""
        return self.core.key

    @property
    def parameters(self) -> list[_core.KernelParameter]:
        """The function's parameters; list, empty if unknown."""
        return self.core.parameters

    @property
    def opaque_reason(self) -> str:
        """Reason for the missing AST of an opaque kernel; empty if there is an AST."""
        return self.core.opaque_reason

    @property
    def facts(self) -> _core.KernelFacts | None:
        """Facts about the uses of arguments; None if opaque."""
        return _facts(self.core)

    @property
    def cpp(self) -> bool:
        """True if the text is C++."""
        return self.description.cpp

    @property
    def files_for_compiler(self) -> tuple[str, ...]:
        """Name and digest, alternating, of the user's files read by the compiler.

        None if the files are part of the kernel's tree.
        """
        given = self.description
        is_whole = self.core.body is not None and not self.core.headers
        forced = given.source is not None and not given.source.can_inline
        return () if is_whole and not forced else given.header_contents

    @property
    def calls_petsc(self) -> bool:
        """True if the kernel calls PETSc, whose functions need a single thread."""
        return HEADER in self.description.headers

    @property
    def abi(self) -> str:
        """The convention for arguments."""
        return self.description.abi

    def written_here(self) -> Kernel:
        """Return the kernel, marked as a kernel with text and name by pyop2cxx."""
        self.is_written_here = True
        return self

    def with_untyped(self, positions: Iterable[int], function: str = "") -> Kernel:
        """Return the kernel with unused parameters declared as ``void *``.

        Args:
            positions: Of the parameters, from 0.
            function: The function with the parameters; empty means the kernel's own.

        Returns:
            The same kernel if a parameter is used, or if uses are unknown.
        """
        core = _build_untyped(self.description, frozenset(positions), function or self.name)
        if core is None:
            return self
        made = copy.copy(self)
        made.core = core
        return made

    def with_code(self, code: str, name: str) -> Kernel:
        """Return a kernel of today's convention, of another text and the same options."""
        return Kernel(code, name, abi="2026", **self.options())

    def options(self) -> dict[str, Any]:
        """Return the user's options besides text, accesses and dtypes."""
        given = self.description
        return {
            "headers": given.headers,
            "include_dirs": given.include_dirs,
            "opts": given.options,
            "cpp": given.cpp,
            "flop_count": None if given.flop_count < 0 else given.flop_count,
            "ldargs": given.ldargs,
            "requires_zeroed_output_arguments": given.requires_zeroed_output_arguments,
            "contract": given.contract,
        }

    @property
    def arguments(self) -> tuple[LocalKernelArg, ...]:
        """Access and dtype of each parameter; tuple.

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
        options = self.options() | known
        return (_unpickled, (type(self), self.code, self.name, options))

    @property
    def num_flops(self) -> int:
        """Floating-point operations of a call: as given, else counted; 0 if unknown."""
        if self.description.flop_count >= 0:
            return self.description.flop_count
        return 0 if self.facts is None else self.facts.n_operations

    @property
    def work(self) -> tuple[int, int]:
        """Floating-point operations of a call, and bytes of the widest operand.

        The operations are -1 if unknown: the kernel is opaque, calls unknown functions, or has
        loops of unknown length; unless ``flop_count`` was given.
        """
        facts = self.facts
        is_open = facts is None or facts.has_open_loops or bool(facts.unknown_functions)
        given = self.description.flop_count
        n = -1 if is_open and given < 0 else self.num_flops
        return n, 8 if facts is None or (n and not facts.float_bytes) else facts.float_bytes

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Kernel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return f"OP2 Kernel: {self.name}"

    def __repr__(self) -> str:
        return f'Kernel("""{self.code}""", {self.name!r})'

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
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
    """Return options with macros defined by PyOP2 around kernels of older conventions."""
    uses = re.search(r"\bOP2_STRIDE\b", code) and not re.search(r"#\s*define\s+OP2_STRIDE\b", code)
    # the distance between a Dat's components where they lay apart; kernels see them together
    return ("-DOP2_STRIDE(values,i)=((values)[i])",) if uses else ()


def _petsc_build() -> Build | None:
    """Return the compiler settings for kernels that call PETSc; None if not installed."""
    from pyop2cxx.interop import petsc_build

    return petsc_build.build()


def _options(name: str, opts: Sequence[str] | Mapping[str, object] | None) -> tuple[str, ...]:
    if not opts:
        return ()
    if hasattr(opts, "keys"):  # PyOP2's options of 2014 for rewriting the loop
        return ()
    return _strings(name, "opts", opts)


@until_exit(512)
def _build(given: Description) -> _core.Kernel:
    """Parse. The key has all input, including headers' contents, so a hit is always right."""
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
    if source is not None:  # names left when the user's macros are expanded
        left = token_stream(f"{source.text}\n{source.declarations}")
    if body is None:  # the compiler reads the text, and needs the known headers
        text = known_headers.with_one_long(given.code if source is None else source.resolved)
        named = known_headers.included(text)
        # names of the text stand in headers where earlier macros hold
        others = (header for header in headers if header not in named)
        read = (*named, *(f"<{header}>" for header in (source.elsewhere if source else ())))
        more = known_headers.needed(left, read, cpp=given.cpp)
        headers = (*more, *others)
        if more and source is not None and source.stands_alone and not given.cpp:
            # headers before the user's would change conditions inside them
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
        # known headers change meanings of names, too, and compilers' macros change tokens
        tokens=(*tokens, *given.headers, *(() if source is None else left), *_kept(given)),
        header_contents=given.header_contents,
        abi=given.abi,
        contract=given.contract,
    )


def _kept(given: Description) -> tuple[str, ...]:
    """Return a mark for the key of a kernel whose sums stay as written."""
    return () if given.contract else ("sums as written",)


def _body_of(
    given: Description, parsed: ParsedKernel
) -> tuple[_core.KernelBody | None, ParsedKernel]:
    """Return the AST; None and a reason for a struct not described by its members."""
    if not parsed.functions:
        return None, parsed
    try:
        body = _core.KernelBody(parsed.functions, parsed.tables, parsed.structures, parsed.teams)
        return body, parsed
    except UnsupportedError as reason:
        text = given.code if given.source is None else given.source.resolved
        named = dict.fromkeys((*given.headers, *known_headers.included(text)))
        others = tuple(header for header in named if not known_headers.is_known(header))
        plain = parsed._replace(parameters=_plain(parsed), headers=others)
        return None, plain._replace(opaque_reason=str(reason))


def _plain(parsed: ParsedKernel) -> tuple[Parameter, ...] | None:
    """Return the parameters; None if a parameter is a struct, about which nothing is known."""
    given = parsed.parameters or ()
    is_plain = not any(type_[0].startswith("struct ") for _, type_, _ in given)
    return parsed.parameters if is_plain else None


@until_exit(512)
def _facts(core: _core.Kernel) -> _core.KernelFacts | None:
    """Facts, once for each core: equal descriptions share a core."""
    return None if core.body is None else _core.kernel_facts(core)


def _signature(cls: type[Kernel]) -> inspect.Signature:
    """Return the parameters of `__init__` for help() and completion, which would show `__new__`."""
    found = inspect.signature(cls.__init__)
    parameters = list(found.parameters.values())[1:]
    return found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)


Kernel.__signature__ = _signature(Kernel)


class LocalKernel(Kernel):
    """A Kernel with known uses of arguments.

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
    """A Kernel from a loopy program; needs the extra ``loopy``.

    loopy schedules the program and writes the same C for all backends, whatever the program's
    target. Arrays must have known shape and dtype, since arguments arrive as flat pointers.

    Args:
        code: A ``loopy.TranslationUnit`` or ``loopy.LoopKernel``.
        name: Name of the entry kernel of the program.
        accesses: Access of each array, if known before there is a loop.
        **options: As for `pyop2cxx.kernel.kernel.Kernel`.

    Attributes:
        code: As given.
        dtypes: Of the kernel's arrays, as loopy knows them.

    Raises:
        DataTypeError: `code` is no program of loopy's.
        UsageError: The program has no kernel of the name, or loopy cannot write C.
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

    def __reduce__(self) -> tuple[Any, ...]:
        _, (_, _, name, options) = super().__reduce__()
        return (_as_written, (self.code, self.text, name, options))


def _as_written(code: Any, text: str, name: str, options: dict[str, Any]) -> LoopyLocalKernel:
    """Return an unpickled kernel with the text that loopy wrote before it was pickled."""
    made: LoopyLocalKernel = LoopyLocalKernel.__new__(LoopyLocalKernel, code)
    LocalKernel.__init__(made, text, name, **options)
    made.__dict__["code"] = code
    return made


def free_names(kernel: Kernel) -> list[str]:
    """Names used by the kernel without a declaration: Consts, if they exist; sorted."""
    return [] if kernel.facts is None else kernel.facts.free_names
