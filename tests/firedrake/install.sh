#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Firedrake for tests, without a build of PETSc: packages, PETSc's headers, Firedrake's extensions.
#
#   PYTHON=python3.12 tests/firedrake/install.sh FOLDER
#   . FOLDER/env.sh && make firedrake PYTHON=FOLDER/venv/bin/python
#
# PETSc and petsc4py are those of the wheel dolfinx-solver-real, which has no headers. PETSc's sources
# of the same version are configured for these, not built. Needs gcc, g++, make, and for checkpoints
# Debian's libhdf5-mpich-dev.
set -euo pipefail
readonly firedrake=2026.10.0 petsc=3.25.6 solver=0.11.0.post0 loopy=2025.2 ufl=2026.2
mkdir -p "${1:?a folder, for about 2 GB}"
cd "$1"
readonly here=$PWD venv=$PWD/venv

say() { printf '==> %s\n' "$*"; }

# sources NAME VERSION: a source package, unpacked; pip would want to build it.
sources() {
  [[ -d $1-$2 ]] || python - "$1" "$2" <<'PY'
import io, re, subprocess, sys, tarfile, urllib.parse, urllib.request

name, version = sys.argv[1:]
asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
index = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
page_of = f"{index or 'https://pypi.org/simple'}/{name}/"
page = urllib.request.urlopen(page_of).read().decode()
(link,) = {l for l in re.findall(r'href="([^"#]+)', page) if l.endswith(f"{name}-{version}.tar.gz")}
packed = urllib.request.urlopen(urllib.parse.urljoin(page_of, link)).read()
tarfile.open(fileobj=io.BytesIO(packed)).extractall(filter="data")
PY
}

say "Python packages"
[[ -d $venv ]] || "${PYTHON:-python3.12}" -m venv "$venv"
export PATH=$venv/bin:$PATH MPICH_CC=gcc MPICH_CXX=g++
pip -q install --no-deps "dolfinx-solver-real==$solver" # asks for an older UFL than Firedrake
pip -q install setuptools cython pybind11 numpy scipy mpich mpi4py "fenics-ufl==$ufl" \
  "firedrake-fiat==${firedrake%.*}" "loopy==$loopy" 'decorator<=4.4.2' 'islpy<2026.2' \
  firedrake-rtree rtree petsctools pyadjoint-ad h5py cachetools immutabledict packaging pkgconfig \
  progress pycparser pytools requests sympy jinja2 tree-sitter tree-sitter-c pcpp tqdm matplotlib \
  pytest pytest-timeout pytest-xdist mpi-pytest
site=$(python -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
readonly site lib=$site/dolfinx_solver/lib

say "PETSc's headers"
sources petsc "$petsc"
if [[ ! -e $here/petsc/include/petscconf.h ]]; then
  (cd "petsc-$petsc" && python ./configure PETSC_ARCH=headers --with-cc="$venv/bin/mpicc" \
    --with-cxx="$venv/bin/mpicxx" --with-fc=0 --with-debugging=0 --with-x=0 \
    --with-blaslapack-lib="$lib/libopenblas.so.0" >configure.out)
  mkdir -p petsc/lib/petsc/conf
  cp -r "petsc-$petsc/include" petsc/
  cp "petsc-$petsc"/headers/include/*.h petsc/include/
  cp "petsc-$petsc/headers/lib/petsc/conf/petscvariables" petsc/lib/petsc/conf/
  readonly packages=blaslapack:hdf5:mathlib:metis:mpi:mumps:pthread:ptscotch:scalapack:superlu_dist
  sed -i "s/\(define PETSC_HAVE_PACKAGES\).*/\1 \":$packages:\"/" petsc/include/petscconf.h
  for file in "$lib"/*.so.*; do
    ln -sf "$file" "petsc/lib/$(basename "${file%%.so*}").so"
    ln -sf "$file" petsc/lib/
  done
fi
printf 'PETSC_DIR = %s\nPETSC_ARCH =\n' "$here/petsc" >"$site/petsc4py/lib/petsc.cfg"

say "Firedrake's extensions"
sources firedrake "$firedrake"
cd "firedrake-$firedrake"
suffix=$(python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
rtree=$(python -c 'import firedrake_rtree as f; print(f.get_library())')
readonly hdf5=/usr/lib/x86_64-linux-gnu/hdf5/mpich
flags=(-O2 -w -shared -fPIC -I"$here/petsc/include" -I"$site/petsc4py/include" -I"$venv/include"
  -I"$(python -c 'import numpy; print(numpy.get_include())')"
  -I"$(python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')")
link=(-L"$here/petsc/lib" -lpetsc "-Wl,-rpath,$lib")
# extension NAME FLAGS...: the module NAME.pyx
extension() {
  local name=$1
  shift
  [[ -e $name$suffix ]] && return
  python -m cython -3 -I "$site" "$name.pyx" 2>/dev/null
  mpicc "${flags[@]}" "$name.c" -o "$name$suffix" "${link[@]}" "$@"
}
for name in dmcommon extrusion_numbering mgimpl patchimpl; do extension "firedrake/cython/$name"; done
extension pyop2/sparsity
extension firedrake/cython/rtree \
  -I"$(python -c 'import firedrake_rtree as f; print(f.get_include())')" "$rtree" \
  -Wl,-rpath,"$(dirname "$rtree")"
if [[ -d $hdf5 ]]; then
  extension firedrake/cython/hdf5interface -I/usr/include/hdf5/mpich -L"$hdf5" -lhdf5
fi
[[ -e tinyasm/_tinyasm$suffix ]] ||
  mpicxx "${flags[@]}" -I"$(python -c 'import pybind11; print(pybind11.get_include())')" \
    tinyasm/*.cpp -o "tinyasm/_tinyasm$suffix" "${link[@]}"

cat >"$here/env.sh" <<END
export PATH=$venv/bin:\$PATH PETSC_DIR=$here/petsc PETSC_ARCH= OMP_NUM_THREADS=1
export MPICH_CC=gcc MPICH_CXX=g++ LD_LIBRARY_PATH=$lib:$venv/lib
END
echo "$here/firedrake-$firedrake" >"$site/firedrake.pth"
say "ready: . $here/env.sh; then install pyop2cxx into $venv"
