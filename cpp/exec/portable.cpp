// SPDX-License-Identifier: BSD-3-Clause
#include "exec/portable.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/canonical.hpp"
#include "base/canonical_reader.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"

namespace op2::exec {
namespace {

constexpr std::array<std::string_view, 8> roles = {"data",  "constant", "map",   "matrix",
                                                   "items", "plan",     "local", "stride"};

/// An enumerator that is written as a number: the version of what is written changes with them.
template <class Enum>
struct Numbered {
  Numbered(Enum& of, std::remove_const_t<Enum> last_one) : value(of), last(last_one) {}
  Enum& value;
  std::remove_const_t<Enum> last;
};

/// A record of equal parts.
template <class Items>
struct List {
  List(std::string_view called, Items& of) : name(called), items(of) {}
  std::string_view name;
  Items& items;
};

template <class T, class Known>
concept Is = std::same_as<std::remove_const_t<T>, Known>;

// Which parts records have, and in which order: said once, for who writes and for who reads them.

void fields(auto& record, Is<abi::CornerMaps> auto& maps) {
  record("numbers", maps.of_elements, maps.of_targets);
}

void fields(auto& record, Is<abi::ListedMatrix> auto& one) {
  record("numbers", one.matrix, one.row_dim, one.col_dim);
}

void fields(auto& record, Is<abi::Parameter> auto& parameter) {
  record("parameter", parameter.name, parameter.type.dtype, parameter.type.is_const,
         parameter.type.is_pointer, parameter.type.lanes, parameter.is_restrict, parameter.role,
         parameter.index, Numbered{parameter.array, abi::PlanArray::summand});
}

void fields(auto& record, Is<DataUse> auto& use) {
  record("use", Numbered{use.access, Access::max}, use.storage, use.seen, use.is_overwritten);
}

void fields(auto& record, Is<abi::Inversion> auto& inversion) {
  record("inversion", inversion.maps, inversion.all_targets, List{"further", inversion.further});
}

void fields(auto& record, Is<abi::ComposedMaps> auto& composed) {
  record("composed", composed.maps, composed.bytes);
}

void fields(auto& record, Is<abi::NoPlan> auto& /*plan*/) {
  record("none");
}

void fields(auto& record, Is<abi::BlocksPlan> auto& plan) {
  record("blocks", plan.conflicts);
}

void fields(auto& record, Is<abi::ColoursPlan> auto& plan) {
  record("colours", plan.conflicts);
}

void fields(auto& record, Is<abi::InversePlan> auto& plan) {
  record("inverse", plan.inversion, plan.composed, plan.has_entries);
}

void fields(auto& record, Is<abi::StagedPlan> auto& plan) {
  record("staged", plan.conflicts, plan.block_size, plan.maps);
}

void fields(auto& record, Is<abi::PaddedPlan> auto& plan) {
  record("padded", plan.inversion, plan.composed, plan.has_entries);
}

void fields(auto& record, Is<abi::PairsPlan> auto& plan) {
  record("pairs", plan.inversion, plan.composed, plan.columns, List{"corners", plan.corners});
}

void fields(auto& record, Is<abi::InterleavedPlan> auto& plan) {
  record("interleaved", plan.map);
}

void fields(auto& record, Is<abi::ColumnsPlan> auto& plan) {
  record("columns", plan.inversion, plan.lanes, plan.composed, plan.are_pairs,
         List{"corners", plan.corners});
}

void fields(auto& record, Is<abi::EntriesPlan> auto& plan) {
  record("entries", plan.block_size, plan.place_bytes, List{"matrices", plan.matrices}, plan.maps);
}

void fields(auto& record, Is<abi::ScratchSpec> auto& scratch) {
  record("scratch", scratch.per_slot, scratch.per_item, scratch.chunk);
}

/// @param[in] launch What a device launches, written by itself; empty on the host.
void fields(auto& record, Is<Executable> auto& executable, Is<std::string> auto& launch) {
  record("executable", executable.name, executable.strategy, executable.is_parallel,
         Numbered{executable.items, abi::Items::groups}, List{"arguments", executable.arguments},
         List{"data", executable.data}, executable.plan, executable.scratch, launch);
}

class RecordWriter {
 public:
  template <class... Parts>
  void operator()(std::string_view name, const Parts&... parts) {
    out_.open(name);
    (part(parts), ...);
    out_.close();
  }

  [[nodiscard]] const std::string& text() const { return out_.str(); }

 private:
  void part(const std::string& text) { out_.text(text); }
  void part(bool flag) { out_.flag(flag); }
  void part(std::int64_t number) { out_.number(number); }
  void part(int number) { out_.number(number); }
  void part(DType dtype) { out_.text(op2::name_of(dtype)); }
  void part(abi::Role role) { out_.text(name_of(role)); }
  void part(const std::optional<std::vector<int>>& numbers) {
    out_.flag(numbers.has_value());
    if (numbers) part(*numbers);
  }
  void part(const std::vector<int>& numbers) { part(List{"numbers", numbers}); }
  template <class Enum>
  void part(Numbered<Enum> one) {
    out_.number(static_cast<std::int64_t>(one.value));
  }
  template <class Items>
  void part(List<Items> list) {
    out_.open(list.name);
    for (const auto& one : list.items) part(one);
    out_.close();
  }
  template <class... Kinds>
  void part(const std::variant<Kinds...>& one) {
    out_.number(static_cast<std::int64_t>(one.index()));
    std::visit([this](const auto& kind) { this->part(kind); }, one);
  }
  template <class Record>
  void part(const Record& record) {
    fields(*this, record);
  }

  Canonical out_;
};

class RecordReader {
 public:
  explicit RecordReader(std::string_view text) : in_(text) {}

  template <class... Parts>
  void operator()(std::string_view name, Parts&&... parts) {
    in_.open(name);
    (part(parts), ...);
    in_.close();
  }

  void end() const {
    if (!in_.is_at_end()) in_.fail("nothing more");
  }

 private:
  void part(std::string& text) { text = in_.text(); }
  void part(bool& flag) { flag = in_.flag(); }
  void part(std::int64_t& number) { number = in_.number(); }
  void part(int& number) { number = in_.small(); }
  void part(DType& dtype) { dtype = dtype_from_name(in_.text()); }
  void part(abi::Role& role) {
    const auto* known = std::ranges::find(roles, in_.text());
    if (known == roles.end()) in_.fail("a role before");
    role = static_cast<abi::Role>(known - roles.begin());
  }
  void part(std::optional<std::vector<int>>& numbers) {
    if (in_.flag()) part(numbers.emplace());
  }
  void part(std::vector<int>& numbers) { part(List{"numbers", numbers}); }
  template <class Enum>
  void part(Numbered<Enum> one) {
    const int number = in_.small();
    if (number < 0 || number > static_cast<int>(one.last)) in_.fail("a known number before");
    one.value = static_cast<Enum>(number);
  }
  template <class Items>
  void part(List<Items> list) {
    in_.open(list.name);
    while (!in_.is_at_close()) part(list.items.emplace_back());
    in_.close();
  }
  template <class... Kinds>
  void part(std::variant<Kinds...>& one) {
    const int number = in_.small();
    int at = 0;
    const bool is_known = ((at++ == number && (one = Kinds{}, true)) || ...);
    if (!is_known) in_.fail("a known kind before");
    std::visit([this](auto& kind) { this->part(kind); }, one);
  }
  template <class Record>
  void part(Record& record) {
    fields(*this, record);
  }

  CanonicalReader in_;
};

}  // namespace

std::string_view name_of(abi::Role role) {
  return roles.at(static_cast<std::size_t>(role));
}

std::string canonical(const Executable& executable) {
  RecordWriter writer;
  const std::string launch = executable.device ? canonical(executable.device->launch) : "";
  fields(writer, executable, launch);
  return writer.text();
}

std::shared_ptr<Executable> read_executable(std::string_view text) {
  RecordReader reader(text);
  auto made = std::make_shared<Executable>();
  std::string launch;
  fields(reader, *made, launch);
  reader.end();
  if (!launch.empty()) {
    const LaunchScope scope{made->arguments.size(), made->data.size()};
    made->device =
        std::make_shared<const DeviceCode>(DeviceCode{nullptr, read_launch_program(launch, scope)});
  }
  return made;
}

std::shared_ptr<Executable> read_executable(std::string_view text, std::shared_ptr<Program> program,
                                            std::string_view suffix) {
  auto made = read_executable(text);
  if (made->device == nullptr) throw UsageError("this is no loop of a device");
  LaunchProgram launch = made->device->launch;
  for (LaunchedKernel& kernel : launch.kernels) kernel.name += suffix;
  made->device =
      std::make_shared<const DeviceCode>(DeviceCode{std::move(program), std::move(launch)});
  return made;
}

}  // namespace op2::exec
