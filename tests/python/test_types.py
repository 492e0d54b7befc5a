# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import importlib

import pytest

from pyop2cxx.data.carrier import DataCarrier
from pyop2cxx.pyop2 import types

MODULES = {
    "access": ["READ", "Access"],
    "dat": ["Dat", "DatView", "MixedDat"],
    "data_carrier": [],
    "dataset": ["DataSet", "GlobalDataSet", "MixedDataSet"],
    "glob": ["Constant", "Global"],
    "halo": ["Halo"],
    "map": ["ComposedMap", "Map", "MixedMap", "PermutedMap"],
    "mat": ["Mat", "Sparsity"],
    "set": ["ExtrudedSet", "GlobalSet", "MixedSet", "Set", "Subset"],
}


@pytest.mark.parametrize("module", MODULES)
def test_pyop2s_modules_hold_the_same_classes(module: str) -> None:
    found = importlib.import_module(f"pyop2cxx.pyop2.types.{module}")
    for name in MODULES[module]:
        assert getattr(found, name) is getattr(types, name)
        assert name in types.__all__


def test_what_has_no_public_name() -> None:
    from pyop2cxx.pyop2.types import data_carrier

    assert data_carrier.DataCarrier is DataCarrier
    assert issubclass(types.Mat, DataCarrier)
