// SPDX-License-Identifier: BSD-3-Clause
#include "bind/bind.hpp"

PYBIND11_MODULE(_core, core) {
  core.doc() = "The C++ core of pyop2cxx. Not public: use pyop2cxx.op2.";
  core.attr("__version__") = PYOP2CXX_VERSION;
  // A class must be known before a signature mentions it.
  op2::bind::bind_errors(core);
  op2::bind::bind_base(core);
  op2::bind::bind_mesh(core);
  op2::bind::bind_entities(core);
  op2::bind::bind_msh(core);
  op2::bind::bind_jit(core);
  op2::bind::bind_plan(core);
  op2::bind::bind_sparsity(core);
  op2::bind::bind_cg(core);
  op2::bind::bind_kernel(core);
  op2::bind::bind_lower(core);
  op2::bind::bind_chain(core);
  op2::bind::bind_dense(core);
  op2::bind::bind_solvers(core);
  op2::bind::bind_dispatch(core);
  op2::bind::bind_device(core);
  op2::bind::bind_vendors(core);
  op2::bind::bind_libs(core);
  op2::bind::bind_exchange(core);
  op2::bind::bind_runtime(core);
  op2::bind::bind_graph(core);
}
