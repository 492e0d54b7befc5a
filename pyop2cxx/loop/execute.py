# SPDX-License-Identifier: BSD-3-Clause
"""What a run of a loop does beside the kernel, and in which order.

This is the only place that says so. Loops that are run again, loops that are remembered, and rows
of matrices that change on a device all go through `Run`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx.base.access import INC, READ, Access
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.data.mat_args import MatArg, MixedMatArg
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.mixed_dats import MixedDatArg
from pyop2cxx.exceptions import HaloFrozenError, user_line
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from pyop2cxx import _core
    from pyop2cxx.data.carrier import Lent
    from pyop2cxx.loop.parts import Arg

    class Watch(Protocol):
        """What looks at a loop's arguments before and after a run."""

        def before(self) -> None:
            """Raise if the loop must not run."""

        def after(self) -> None:
            """Raise if what it wrote is not right."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What a loop changes beside values, by numbers of arguments: no data are kept alive.

    Attributes:
        dats: Arguments that are Dats or MixedDats: their halos may be frozen.
        written: Those of them whose ghosts are out of date after a run.
        assembled: Arguments that are matrices.
        ghosts: Fields of arguments whose ghosts a loop uses, those reached by Maps, each once: the
            argument, the field of it, and how it is used.
    """

    dats: tuple[int, ...]
    written: tuple[int, ...]
    assembled: tuple[int, ...]
    ghosts: tuple[tuple[int, int, Access], ...]


def effects_of(args: Sequence[Arg]) -> Effects:
    """Return what a loop with these arguments changes beside values."""
    dats = tuple(i for i, arg in enumerate(args) if any(_dats_of(arg)))
    return Effects(
        dats=dats,
        written=tuple(i for i in dats if args[i].access != READ),
        assembled=tuple(i for i, arg in enumerate(args) if isinstance(arg, MatArg | MixedMatArg)),
        ghosts=_ghosts_of(args),
    )


def _dats_of(arg: Arg) -> list[DatArg | None]:
    """Return the fields of an argument; None in place of what is no Dat."""
    fields = arg.parts if isinstance(arg, MixedDatArg) else (arg,)
    return [field if isinstance(field, DatArg) else None for field in fields]


def _ghosts_of(args: Sequence[Arg]) -> tuple[tuple[int, int, Access], ...]:
    found: dict[tuple[int, Access], tuple[int, int, Access]] = {}
    for i, arg in enumerate(args):
        for k, field in enumerate(_dats_of(arg)):
            if field is None or field.map_ is None or field.map_._is_of_columns:
                continue
            if field.data.dataset.set.halo is not None:
                found[field.data._uid, field.access] = (i, k, field.access)
    return tuple(found.values())


class Run:
    """A loop that is ready to run, without its arguments, which whoever runs it hands over.

    Args:
        what: The loop, for messages.
        effects: What is kept up to date beside the values.
        launch: Runs the kernel, and says whether values were copied between host and device.
        watch: Looks at the arguments; None where nothing does.
    """

    __slots__ = ("_effects", "_ghosts", "_launch", "_watch", "_what", "_written")

    def __init__(
        self, what: str, effects: Effects, launch: Callable[[], bool], watch: Watch | None = None
    ) -> None:
        self._what = what
        self._effects = effects
        self._written = effects.written
        self._ghosts = effects.ghosts
        self._launch = launch
        self._watch = watch

    @property
    def is_watched(self) -> bool:
        """Whether something looks at the arguments, so that they are kept alive."""
        return self._watch is not None

    def unwatched(self) -> Run:
        """Return the same, but nothing looks at the arguments."""
        return Run(self._what, self._effects, self._launch)

    def once(self, args: Sequence[Any]) -> None:
        """Run the loop: checked, brought, computed, noted, gathered, in this order.

        Args:
            args: The loop's arguments, or others for the same data.
        """
        if runtime.n_frozen:
            check_frozen(self._effects, args, self._what)
        if self._watch is not None:
            self._watch.before()
        if self._ghosts:
            _bring_to_ghosts(self._ghosts, args)
        if self._launch():
            runtime.coherence.attribute(user_line())
        for i in self._written:
            args[i].data.halo_valid = False
        for i in self._effects.assembled:
            _note_assembly(args[i])
        if self._ghosts:
            _gather_from_ghosts(self._ghosts, args)
        if self._watch is not None:
            self._watch.after()


def check_frozen(effects: Effects, args: Sequence[Arg], what: str) -> None:
    """Raise if a Dat's frozen halo was promised another access."""
    for i in effects.dats:
        for dat in args[i].data.split:
            frozen = dat._frozen if isinstance(dat, Dat) else None
            if frozen is not None and frozen != args[i].access:
                raise HaloFrozenError(
                    f"{what}: arg {i}: the halo of Dat '{dat.name}' is frozen with {frozen.name}, "
                    f"but the loop uses it with {args[i].access.name}; leave frozen_halo() first"
                )


def _bring_to_ghosts(ghosts: Sequence[tuple[int, int, Access]], args: Sequence[Arg]) -> None:
    """Bring to ghosts what the loop reads there."""
    used = [(_field(args[i], k), access) for i, k, access in ghosts]
    for dat, access in used:
        dat.global_to_local_begin(access)
    for dat, access in used:
        dat.global_to_local_end(access)


def _gather_from_ghosts(ghosts: Sequence[tuple[int, int, Access]], args: Sequence[Arg]) -> None:
    """Bring to their owners what the loop gathered in ghosts."""
    reduced = [(_field(args[i], k), access) for i, k, access in ghosts if access in REDUCED]
    for dat, access in reduced:
        dat.local_to_global_begin(access)
    for dat, access in reduced:
        dat.local_to_global_end(access)


def _field(arg: Any, k: int) -> Dat:
    found: Dat = arg.data.split[k]
    return found


def _note_assembly(arg: Any) -> None:
    """Let a matrix, and its blocks, know whether entries were set or added."""
    state = Mat.ADD_VALUES if arg.access == INC else Mat.INSERT_VALUES
    arg.data.change_assembly_state(state)
    if isinstance(arg, MixedMatArg):
        for block in arg.data:
            block.change_assembly_state(state)


def run_on_device(prepared: _core.PreparedLoop, lent: tuple[Lent, ...]) -> bool:
    """Run a loop, and end the arrays that were handed out of what it uses."""
    has_copied = prepared.run()
    for arrays in lent:
        if arrays:
            arrays.recall()
    return has_copied
