# SPDX-License-Identifier: BSD-3-Clause
"""What a run does beside the kernel: ghosts, assembly states, frozen halos."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.access import INC, READ, Access
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.data.mat_args import MatArg, MixedMatArg
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import HaloFrozenError

if TYPE_CHECKING:
    from pyop2cxx import _core
    from pyop2cxx.data.carrier import Lent
    from pyop2cxx.loop.parts import Part


def check_frozen(args: tuple[Part, ...], what: str) -> None:
    """Raise if a Dat's frozen halo was promised another access."""
    for i, arg in enumerate(args):
        frozen = arg.data._frozen if isinstance(arg, DatArg) else None
        if frozen is not None and frozen != arg.access:
            raise HaloFrozenError(
                f"{what}: arg {i}: the halo of Dat '{arg.data.name}' is frozen with {frozen.name}, "
                f"but the loop uses it with {arg.access.name}; leave frozen_halo() first"
            )


def note_assembly(arg: MatArg | MixedMatArg) -> None:
    """Let a matrix, and its blocks, know whether entries were set or added."""
    state = Mat.ADD_VALUES if arg.access == INC else Mat.INSERT_VALUES
    arg.data.change_assembly_state(state)
    if isinstance(arg, MixedMatArg):
        for block in arg.data:
            block.change_assembly_state(state)


def written_dats(args: tuple[Part, ...]) -> tuple[Dat, ...]:
    """Return the Dats whose ghosts a run leaves behind."""
    found = {
        arg.data._uid: arg.data for arg in args if isinstance(arg, DatArg) and arg.access != READ
    }
    return tuple(found.values())


def ghosts_of(args: tuple[Part, ...]) -> tuple[tuple[Dat, Access], ...]:
    """Return the Dats whose Halo a loop needs: those reached by Maps; each with its access."""
    found = {
        (arg.data._uid, arg.access): (arg.data, arg.access)
        for arg in args
        if isinstance(arg, DatArg)
        and arg.map_ is not None
        and not arg.map_._is_of_columns
        and arg.data.dataset.set.halo is not None
    }
    return tuple(found.values())


def bring_to_ghosts(ghosts: tuple[tuple[Dat, Access], ...]) -> None:
    """Bring to ghosts what the loop reads there."""
    for dat, access in ghosts:
        dat.global_to_local_begin(access)
    for dat, access in ghosts:
        dat.global_to_local_end(access)


def gather_from_ghosts(ghosts: tuple[tuple[Dat, Access], ...]) -> None:
    """Bring to their owners what the loop gathered in ghosts."""
    reduced = [(dat, access) for dat, access in ghosts if access in REDUCED]
    for dat, access in reduced:
        dat.local_to_global_begin(access)
    for dat, access in reduced:
        dat.local_to_global_end(access)


def run_on_device(prepared: _core.PreparedLoop, lent: tuple[Lent, ...]) -> bool:
    """Run a loop, and end the arrays that were handed out of what it uses."""
    has_copied = prepared.run()
    for arrays in lent:
        if arrays:
            arrays.recall()
    return has_copied
