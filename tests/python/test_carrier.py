# SPDX-License-Identifier: BSD-3-Clause
"""What must be the same for all objects that hold values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import DataValueError, IndexValueError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["Dat", "Global", "Constant", "Const"])
def carrier(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "Dat":
        yield op2.Dat(op2.Set(2), [1.0, 2.0], name="held")
    elif request.param == "Const":
        const = op2.Const(2, [1.0, 2.0], "held")
        yield const
        const.remove_from_namespace()
    else:
        yield getattr(op2, request.param)(2, [1.0, 2.0], name="held")


def test_the_core_follows_every_write(carrier: Any) -> None:
    versions = [carrier.dat_version]
    assert carrier.data_ro.tolist() == [1, 2]
    versions.append(carrier.dat_version)
    carrier.data[0] = 5
    versions.append(carrier.dat_version)
    carrier.increment_dat_version()
    versions.append(carrier.buffer.version)
    assert versions == [0, 0, 1, 2]


def test_numpy_reads_without_a_copy(carrier: Any) -> None:
    seen = np.asarray(carrier)
    carrier.data[1] = 7
    assert seen.tolist() == [1, 7]
    assert not seen.flags.writeable
    assert np.asarray(carrier, dtype=np.complex64).dtype == np.complex64
    assert np.array(carrier).flags.writeable
    with pytest.raises(DataValueError, match="'held'"):
        carrier.__array__(np.int32, copy=False)


def test_it_is_its_only_component(carrier: Any) -> None:
    assert (carrier[0], carrier.split, list(carrier), len(carrier)) == (
        carrier,
        (carrier,),
        [carrier],
        1,
    )
    with pytest.raises(IndexValueError, match=r"'held'.* got index 1"):
        carrier[1]


def test_what_it_holds(carrier: Any) -> None:
    assert (carrier.name, carrier.dtype, carrier.ctype) == ("held", np.float64, "double")
    assert carrier.nbytes == carrier.buffer.n_bytes == 16
