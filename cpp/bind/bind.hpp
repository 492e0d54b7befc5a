// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace op2::bind {

namespace py = pybind11;

// One function a room, each in bind_<room>.cpp: bindings only, no logic, no defaults.
void bind_errors(py::module_& core);
void bind_base(py::module_& core);
void bind_mesh(py::module_& core);
void bind_entities(py::module_& core);
void bind_msh(py::module_& core);
void bind_jit(py::module_& core);
void bind_plan(py::module_& core);
void bind_sparsity(py::module_& core);
void bind_cg(py::module_& core);
void bind_kernel(py::module_& core);
void bind_lower(py::module_& core);
void bind_chain(py::module_& core);
void bind_block(py::module_& room);  ///< a part of the room of chains
void bind_graph(py::module_& core);
void bind_dense(py::module_& core);
void bind_solvers(py::module_& core);
void bind_dispatch(py::module_& core);
void bind_device(py::module_& core);
void bind_vendors(py::module_& core);
void bind_libs(py::module_& core);
void bind_exchange(py::module_& core);
void bind_runtime(py::module_& core);

/// Lets Ctrl-C end a wait for a compiler; runs in threads that have released the GIL.
void check_signals();

}  // namespace op2::bind
