# SPDX-License-Identifier: BSD-3-Clause
"""Members for the rooms of the package, hidden from completion and from the manual."""

from __future__ import annotations

from typing import Any

INNER: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "Algebra": (
            "check_fits check_same check_summed combine computed_on_device family flat has_ghosts "
            "label operand outcome values_of"
        ),
        "DataCarrier": (
            "buffer component host_array host_values kind label lent_out put_on set_by_command "
            "settle shared_on_device stride uid use_on_host zero_values"
        ),
        "Dat": (
            "allocated become_shared bring_if_any check_target is_allocated is_shared "
            "lent numbering refuse_left_out set shape_for trade view zero_version"
        ),
        "DataSet": "uid",
        "Entities": (
            "column_map datasets flat_sets ground number_of numbering origin reordering uid"
        ),
        "ExtrudedSet": "lists",
        "Fields": "kind uid",
        "Fixed": "assignable label",
        "Function": "as_table",
        "FunctionSpace": "as_table held",
        "Form": "fixed ready",
        "Global": "check_readable lent put_now refuse_frozen",
        "Graph": "backend nodes on_race slots",
        "GraphBuilder": "add_loop add_operation check_open looks loops nodes slots",
        "HaloExchange": "frozen is_exchanging refuse_frozen",
        "Kernel": "description is_legacy options",
        "Map": (
            "become_shared check_unchanged current_table followed_by host_values is_of_columns "
            "is_partial is_slot meetings numbered numberings replace_values slots table "
            "take_own_memory uid view whole_map width"
        ),
        "Mat": "check_vector",
        "MatAlgebra": "become",
        "MatValues": (
            "allocated find_entry forget_state n_stored owner parts paths row_loops stored whole"
        ),
        "MixedDat": "each_field frozen gathered scatter",
        "Node": "is_of numbers",
        "ParLoop": (
            "bound_run built call_data current_request effects epoch "
            "facts items known_facts lent line map_facts note_effects parts prepare "
            "prepared recorded request seen symbolic take wants_checks "
            "written_kernel"
        ),
        "PassthroughArg": "buffer uid",
        "SetFreeCarrier": "check_readable read_values",
        "Shown": "as_table",
        "Sparsity": "diagonal_block follows given known_products mats on_cuda parts table uid",
        "Subset": "lists table",
        "Successors": "add_node",
    }.items()
}
"""Names of the hidden members of each class; classes derived from it hide them, too."""


class Listed:
    """Objects whose hidden members `dir`, and so completion, leaves out."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """Return the names of the members for users."""
        hidden = inner_members(type(self))
        return [name for name in super().__dir__() if name not in hidden]


def inner_members(kind: type[Any]) -> frozenset[str]:
    """Return the names of the hidden members of a class."""
    return frozenset().union(*(INNER.get(base.__name__, ()) for base in kind.__mro__))
