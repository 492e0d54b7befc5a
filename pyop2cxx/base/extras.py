# SPDX-License-Identifier: BSD-3-Clause
"""The only imports of optional packages, on first use."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

EXTRAS: Mapping[str, str] = {
    "h5py": "io",
    "meshio": "io",
    "xarray": "ugrid",
    "h5netcdf": "ugrid",
    "pyvista": "pyvista",
    "gmsh": "gmsh",
    "matplotlib": "plot",
    "mpl_toolkits": "plot",
    "tqdm": "demo",
    "scipy": "solve",
    "threadpoolctl": "solve",
    "pyamg": "amg",
    "petsc4py": "petsc",
    "pymetis": "mpi",
    "kahip": "kahip",
    "cupy": "cupy",
    "cupyx": "cupy",
    "mpi4py": "mpi",
    "ml_dtypes": "bfloat16",
    "loopy": "loopy",
    "pymbolic": "loopy",
    "constantdict": "loopy",
    "ufl": "fem",
    "basix": "fem",
    "ffcx": "fem",
}
"""The optional packages, and the extra of pyop2cxx installing each."""


def load(module: str, needed_for: str) -> Any:
    """Import an optional module.

    Args:
        module: Dotted name of the module; the package is a key of `EXTRAS`.
        needed_for: The user's request, for the message.

    Returns:
        The module.

    Raises:
        MissingExtraError: The package is not installed.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A broken installation names another package than requested, and must not be hidden.
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise missing(package, needed_for) from None


def missing(package: str, needed_for: str) -> MissingExtraError:
    """Return an error that names the extra to install.

    Args:
        package: A key of `EXTRAS`.
        needed_for: The user's request.
    """
    return MissingExtraError(
        f"{needed_for} needs {package}, which is not installed; "
        f"pip install 'pyop2cxx[{EXTRAS[package]}]'"
    )


def installed() -> dict[str, bool]:
    """Return whether each optional package could be imported, without importing."""
    return {package: is_installed(package) for package in EXTRAS}


def is_installed(package: str) -> bool:
    """Return whether a package could be imported, without importing.

    Args:
        package: A key of `EXTRAS`.
    """
    return importlib.util.find_spec(package) is not None
