// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "chain/schedule.hpp"
#include "ir/group.hpp"

namespace op2::bind {
void bind_chain(py::module_& core) {
  py::module_ room = core.def_submodule("chain", "Chains of loops; see cpp/chain.");
  bind_block(room);
  py::class_<chain::Entry>(room, "Entry")
      .def(py::init([](const ir::Loop& loop, std::string why_alone, std::string why_no_invert,
                       double n_bytes, std::string why_no_join, int entry_bytes, bool is_empty,
                       int part, int lanes, std::string why_no_lanes, std::string why_no_columns,
                       bool zeroes, int repetition) {
             chain::Entry made{loop,    std::move(why_alone),   std::move(why_no_invert),
                               n_bytes, std::move(why_no_join), entry_bytes};
             made.is_empty = is_empty;
             made.part = part;
             made.lanes = lanes;
             made.why_no_lanes = std::move(why_no_lanes);
             made.why_no_columns = std::move(why_no_columns);
             made.zeroes = zeroes;
             made.repetition = repetition;
             return made;
           }),
           py::arg("loop"), py::arg("why_alone"), py::arg("why_no_invert"), py::arg("n_bytes"),
           py::arg("why_no_join"), py::arg("entry_bytes"), py::arg("is_empty"), py::arg("part"),
           py::arg("lanes"), py::arg("why_no_lanes"), py::arg("why_no_columns"), py::arg("zeroes"),
           py::arg("repetition"));
  room.def("action", &chain::action, py::arg("uses"), py::arg("zeroes"), py::arg("repetition"));
  py::class_<chain::Passes>(room, "Passes")
      .def(py::init<bool, bool, bool, bool, bool, bool, bool, bool>(), py::arg("fuse"),
           py::arg("invert"), py::arg("rename"), py::arg("drop"), py::arg("copy"), py::arg("zero"),
           py::arg("total"), py::arg("rotate"));
  py::class_<chain::Renamed>(room, "Renamed")
      .def_readonly("loop", &chain::Renamed::loop)
      .def_readonly("arg", &chain::Renamed::arg)
      .def_readonly("writes", &chain::Renamed::writes)
      .def_readonly("changes", &chain::Renamed::changes);
  py::class_<chain::Redirected>(room, "Redirected")
      .def_readonly("loop", &chain::Redirected::loop)
      .def_readonly("arg", &chain::Redirected::arg)
      .def_readonly("source_loop", &chain::Redirected::source_loop)
      .def_readonly("source_arg", &chain::Redirected::source_arg)
      .def_readonly("from_second", &chain::Redirected::from_second);
  py::class_<chain::Step>(room, "Step")
      .def_readonly("loops", &chain::Step::loops)
      .def_readonly("inverted", &chain::Step::inverted)
      .def_readonly("renamed", &chain::Step::renamed)
      .def_readonly("dropped", &chain::Step::dropped)
      .def_readonly("zeroed", &chain::Step::zeroed)
      .def_readonly("redirected", &chain::Step::redirected);
  py::class_<chain::Decision>(room, "Decision")
      .def_readonly("passed", &chain::Decision::pass)
      .def_readonly("loops", &chain::Decision::loops)
      .def_readonly("applied", &chain::Decision::applied)
      .def_readonly("why", &chain::Decision::why);
  py::class_<chain::Schedule>(room, "Schedule")
      .def_readonly("steps", &chain::Schedule::steps)
      .def_readonly("decisions", &chain::Schedule::decisions);
  room.def("leaves_zero", &ir::leaves_zero, py::arg("loop"), py::arg("arg"));
  room.def("schedule", &chain::schedule, py::arg("chain"), py::arg("passes"), py::arg("pinned"));
  room.def(
      "group_of",
      [](std::vector<ir::Loop> loops, const std::vector<std::size_t>& inverted,
         const std::vector<int>& dropped, const std::vector<int>& zeroed,
         const std::vector<std::pair<std::size_t, std::size_t>>& apart) {
        return std::make_shared<ir::Loop>(
            chain::group_of(std::move(loops), inverted, dropped, zeroed, apart));
      },
      py::arg("loops"), py::arg("inverted"), py::arg("dropped"), py::arg("zeroed"),
      py::arg("apart"));
}

}  // namespace op2::bind
