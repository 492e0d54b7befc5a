// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "mesh/map_facts.hpp"
#include "plan/colouring.hpp"
#include "plan/conflict.hpp"
#include "plan/curves.hpp"
#include "plan/inverse.hpp"
#include "plan/permutation.hpp"
#include "plan/plan_cache.hpp"

namespace op2::bind {
namespace {

using MapHolder = std::shared_ptr<mesh::MapTable>;
using Conflicts = std::vector<plan::Conflict>;
using Occurrences = std::vector<plan::Occurrence>;
using release_gil = py::call_guard<py::gil_scoped_release>;

plan::ConflictSet loop_of(std::int64_t n, MapHolder subset, Conflicts conflicts) {
  return {{n, std::move(subset)}, std::move(conflicts)};
}

void bind_map_facts(py::module_& room) {
  py::class_<MapFacts>(room, "MapFacts")
      .def(py::init<int, bool, bool>(), py::arg("index_bytes"), py::arg("injective") = false,
           py::arg("has_negative") = true)
      .def_readonly("index_bytes", &MapFacts::index_bytes)
      .def_readonly("injective", &MapFacts::injective)
      .def_readonly("has_negative", &MapFacts::has_negative)
      .def(
          "__eq__",
          [](const MapFacts& self, const py::object& other) {
            return py::isinstance<MapFacts>(other) && self == other.cast<const MapFacts&>();
          },
          py::arg("other"))
      .def("__hash__", [](const MapFacts& self) {
        return py::hash(py::make_tuple(self.index_bytes, self.injective, self.has_negative));
      });
  room.def("map_facts", &mesh::map_facts, py::arg("map"), py::arg("n"), py::arg("n_threads"),
           release_gil());
  room.def(
      "check_range",
      [](const mesh::MapTable& map, const std::string& name, bool negative_allowed, int n_threads) {
        mesh::check_range(map, name, negative_allowed, n_threads);
      },
      py::arg("map"), py::arg("name"), py::arg("negative_allowed"), py::arg("n_threads"),
      release_gil());
}

void bind_specs(py::module_& room) {
  py::class_<plan::Conflict>(room, "Conflict")
      .def(py::init([](MapHolder map, int slot, int space) {
             return plan::Conflict{std::move(map), slot, space};
           }),
           py::arg("map"), py::arg("slot"), py::arg("space"));
  room.attr("all_slots") = plan::all_slots;
  py::class_<plan::Occurrence>(room, "Occurrence")
      .def(py::init([](MapHolder map, int slot) {
             return plan::Occurrence{std::move(map), slot};
           }),
           py::arg("map"), py::arg("slot"));
  py::enum_<plan::IncidenceOrder>(room, "IncidenceOrder")
      .value("by_element", plan::IncidenceOrder::by_element)
      .value("by_slot", plan::IncidenceOrder::by_slot);
  py::enum_<plan::EntryOrigin>(room, "EntryOrigin")
      .value("element", plan::EntryOrigin::element)
      .value("position", plan::EntryOrigin::position);
  py::class_<plan::InverseSpec>(room, "InverseSpec")
      .def(py::init([](std::int64_t n, MapHolder subset, Occurrences occurrences,
                       plan::IncidenceOrder order, plan::EntryOrigin origin, bool touched_only) {
             return plan::InverseSpec{
                 {n, std::move(subset)}, std::move(occurrences), order, origin, touched_only};
           }),
           py::arg("n"), py::arg("subset").none(true), py::arg("occurrences"), py::arg("order"),
           py::arg("origin"), py::arg("touched_only"));
}

void bind_colourings(py::module_& room) {
  using plan::BlockPlan;
  using plan::ColourStatistics;
  using plan::ElementPlan;
  py::class_<ColourStatistics>(room, "ColourStatistics")
      .def_readonly("n_colours", &ColourStatistics::n_colours)
      .def_readonly("n_items_min", &ColourStatistics::n_items_min)
      .def_readonly("n_items_max", &ColourStatistics::n_items_max)
      .def_readonly("n_touched", &ColourStatistics::n_touched)
      .def_readonly("n_shared", &ColourStatistics::n_shared);
  py::class_<BlockPlan, std::shared_ptr<BlockPlan>>(room, "BlockPlan")
      .def_readonly("block_size", &BlockPlan::block_size)
      .def_property_readonly("block_offset", array_of(&BlockPlan::block_offset))
      .def_property_readonly("colour_offset", array_of(&BlockPlan::colour_offset))
      .def_property_readonly("block_of", array_of(&BlockPlan::block_of))
      .def_readonly("statistics", &BlockPlan::statistics)
      .def_property_readonly("bytes", &BlockPlan::bytes);
  py::class_<ElementPlan, std::shared_ptr<ElementPlan>>(room, "ElementPlan")
      .def_property_readonly("colour_offset", array_of(&ElementPlan::colour_offset))
      .def_property_readonly("elements", array_of(&ElementPlan::elements))
      .def_readonly("statistics", &ElementPlan::statistics)
      .def_property_readonly("bytes", &ElementPlan::bytes);
  room.def(
      "colour_blocks",
      [](std::int64_t n, MapHolder subset, Conflicts conflicts, std::int64_t block_size,
         int n_threads) {
        return plan::colour_blocks(loop_of(n, std::move(subset), std::move(conflicts)), block_size,
                                   n_threads);
      },
      py::arg("n"), py::arg("subset").none(true), py::arg("conflicts"), py::arg("block_size"),
      py::arg("n_threads"), release_gil());
  room.def(
      "colour_elements",
      [](std::int64_t n, MapHolder subset, Conflicts conflicts, int n_threads) {
        return plan::colour_elements(loop_of(n, std::move(subset), std::move(conflicts)),
                                     n_threads);
      },
      py::arg("n"), py::arg("subset").none(true), py::arg("conflicts"), py::arg("n_threads"),
      release_gil());
}

void bind_inverses(py::module_& room) {
  using plan::InverseMap;
  using plan::PaddedInverse;
  py::class_<InverseMap, std::shared_ptr<InverseMap>>(room, "InverseMap")
      .def_readonly("n_targets", &InverseMap::n_targets)
      .def_readonly("n_rows", &InverseMap::n_rows)
      .def_readonly("degree_max", &InverseMap::degree_max)
      .def_property_readonly("rows", array_of(&InverseMap::rows))
      .def_property_readonly("offset", array_of(&InverseMap::offset))
      .def_property_readonly("entries", array_of(&InverseMap::entries))
      .def_property_readonly("degree_mean", &InverseMap::degree_mean)
      .def_property_readonly("bytes", &InverseMap::bytes);
  py::class_<PaddedInverse, std::shared_ptr<PaddedInverse>>(room, "PaddedInverse")
      .def_readonly("n_targets", &PaddedInverse::n_targets)
      .def_readonly("n_rows", &PaddedInverse::n_rows)
      .def_readonly("width", &PaddedInverse::width)
      .def_property_readonly("rows", array_of(&PaddedInverse::rows))
      .def_property_readonly("columns", array_of(&PaddedInverse::columns))
      .def_property_readonly("bytes", &PaddedInverse::bytes);
  room.def("invert", &plan::invert, py::arg("spec"), py::arg("n_threads"), release_gil());
  room.def("pad", &plan::pad, py::arg("inverse"), py::arg("n_threads"), release_gil());
}

/// pybind11 hands out holders of non-const objects; the properties bound above only read.
template <class Plan>
std::shared_ptr<Plan> shared(const std::shared_ptr<const Plan>& plan) {
  return std::const_pointer_cast<Plan>(plan);
}

void bind_cache(py::module_& room) {
  using plan::PlanCache;
  py::class_<PlanCache::Statistics>(room, "CacheStatistics")
      .def_readonly("hits", &PlanCache::Statistics::hits)
      .def_readonly("misses", &PlanCache::Statistics::misses)
      .def_readonly("n_plans", &PlanCache::Statistics::n_plans)
      .def_readonly("bytes", &PlanCache::Statistics::bytes);
  py::class_<PlanCache, std::shared_ptr<PlanCache>>(room, "PlanCache")
      .def(py::init<>())
      .def(
          "blocks",
          [](PlanCache& cache, std::int64_t n, MapHolder subset, Conflicts conflicts,
             std::int64_t block_size, int n_threads) {
            return shared(cache.blocks(loop_of(n, std::move(subset), std::move(conflicts)),
                                       block_size, n_threads));
          },
          py::arg("n"), py::arg("subset").none(true), py::arg("conflicts"), py::arg("block_size"),
          py::arg("n_threads"), release_gil())
      .def(
          "elements",
          [](PlanCache& cache, std::int64_t n, MapHolder subset, Conflicts conflicts,
             int n_threads) {
            return shared(
                cache.elements(loop_of(n, std::move(subset), std::move(conflicts)), n_threads));
          },
          py::arg("n"), py::arg("subset").none(true), py::arg("conflicts"), py::arg("n_threads"),
          release_gil())
      .def(
          "inverse",
          [](PlanCache& cache, const plan::InverseSpec& spec, int n_threads) {
            return shared(cache.inverse(spec, n_threads));
          },
          py::arg("spec"), py::arg("n_threads"), release_gil())
      .def(
          "padded",
          [](PlanCache& cache, const plan::InverseSpec& spec, int n_threads) {
            return shared(cache.padded(spec, n_threads));
          },
          py::arg("spec"), py::arg("n_threads"), release_gil())
      .def(
          "facts",
          [](PlanCache& cache, MapHolder map, std::int64_t n, int n_threads) {
            return cache.facts(std::move(map), n, n_threads);
          },
          py::arg("map"), py::arg("n"), py::arg("n_threads"), release_gil())
      .def("statistics", &PlanCache::statistics, release_gil())
      .def("clear", &PlanCache::clear, release_gil());
}

/// Arrays that go in: contiguous and of exactly this type, so that nothing is copied unseen.
template <class T>
using In = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> span_of(const In<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// Where the bytes of an array of any type are.
py::buffer_info buffer_of(const py::array& array, bool writeable) {
  if ((array.flags() & py::array::c_style) == 0) {
    throw UsageError("renumbering: expected C-contiguous arrays");
  }
  return array.request(writeable);
}

std::span<std::byte> bytes_of(const py::buffer_info& info) {
  return {static_cast<std::byte*>(info.ptr), static_cast<std::size_t>(info.size * info.itemsize)};
}

/// A NumPy array that owns @p values.
template <class T>
py::array_t<T> hand_over(std::vector<T> values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  const auto size = static_cast<py::ssize_t>(held->size());
  const T* data = held->data();
  const py::capsule owner(held.release(),
                          [](void* pointer) { delete static_cast<std::vector<T>*>(pointer); });
  return py::array_t<T>(size, data, owner);
}

/// Call @p f without the GIL.
template <class F>
auto unlocked(const F& f) {
  const py::gil_scoped_release release;
  return f();
}

void bind_orders(py::module_& room) {
  py::enum_<plan::Curve>(room, "Curve")
      .value("hilbert", plan::Curve::hilbert)
      .value("morton", plan::Curve::morton)
      .value("lines", plan::Curve::lines);
  room.def(
      "curve_keys",
      [](plan::Curve curve, const In<double>& coordinates, int dim, int n_threads) {
        const auto points = span_of(coordinates);
        return hand_over(unlocked([curve, points, dim, n_threads] {
          return plan::curve_keys(curve, points, dim, n_threads);
        }));
      },
      py::arg("curve"), py::arg("coordinates"), py::arg("dim"), py::arg("n_threads"));
  room.def(
      "order_by_key",
      [](const In<std::uint64_t>& keys, const In<std::int64_t>& part_offset, int n_threads) {
        const auto key_span = span_of(keys);
        const auto parts = span_of(part_offset);
        return hand_over(unlocked([key_span, parts, n_threads] {
          return plan::order_by_key(key_span, parts, n_threads);
        }));
      },
      py::arg("keys"), py::arg("part_offset"), py::arg("n_threads"));
  room.def(
      "target_keys",
      [](const mesh::MapTable& map, const In<std::int64_t>& new_of_old, int n_threads) {
        const auto numbers = span_of(new_of_old);
        return hand_over(unlocked(
            [&map, numbers, n_threads] { return plan::target_keys(map, numbers, n_threads); }));
      },
      py::arg("map"), py::arg("new_of_old"), py::arg("n_threads"));
  room.def(
      "visitor_keys",
      [](const mesh::MapTable& map, const In<std::int64_t>& old_of_new) {
        const auto order = span_of(old_of_new);
        return hand_over(unlocked([&map, order] { return plan::visitor_keys(map, order); }));
      },
      py::arg("map"), py::arg("old_of_new"));
}

void bind_permutations(py::module_& room) {
  room.def(
      "inverse_permutation",
      [](const In<std::int64_t>& permutation, int n_threads) {
        const auto numbers = span_of(permutation);
        return hand_over(unlocked(
            [numbers, n_threads] { return plan::inverse_permutation(numbers, n_threads); }));
      },
      py::arg("permutation"), py::arg("n_threads"));
  room.def(
      "permute_rows",
      [](const py::array& source, const py::array& target, const In<std::int64_t>& old_of_new,
         int n_threads) {
        const py::buffer_info from = buffer_of(source, false);
        const py::buffer_info to = buffer_of(target, true);
        const auto order = span_of(old_of_new);
        unlocked([&from, &to, order, n_threads] {
          plan::permute_rows(bytes_of(from), bytes_of(to), order, n_threads);
        });
      },
      py::arg("source"), py::arg("target"), py::arg("old_of_new"), py::arg("n_threads"));
  room.def(
      "relabel",
      [](const mesh::MapTable& map, const In<std::int64_t>& old_of_new,
         const In<std::int64_t>& new_of_old, const py::array& values, int n_threads) {
        const py::buffer_info to = buffer_of(values, true);
        const auto order = span_of(old_of_new);
        const auto numbers = span_of(new_of_old);
        unlocked([&map, order, numbers, &to, n_threads] {
          plan::relabel(map, order, numbers, bytes_of(to), n_threads);
        });
      },
      py::arg("map"), py::arg("old_of_new"), py::arg("new_of_old"), py::arg("values"),
      py::arg("n_threads"));
}

}  // namespace

void bind_plan(py::module_& core) {
  py::module_ room = core.def_submodule("plan", "Everything derived from the values of maps.");
  bind_map_facts(room);
  bind_specs(room);
  bind_colourings(room);
  bind_inverses(room);
  bind_cache(room);
  bind_orders(room);
  bind_permutations(room);
}

}  // namespace op2::bind
