// SPDX-License-Identifier: BSD-3-Clause
#include "exec/portable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/canonical.hpp"
#include "base/canonical_reader.hpp"
#include "base/dtype.hpp"

namespace op2::exec {
namespace {

constexpr std::array<std::string_view, 8> roles = {"data",  "constant", "map",   "matrix",
                                                   "items", "plan",     "local", "stride"};

/// Numbers of enumerators are written as they are: the version of what is written changes with
/// them.
template <class Enum>
std::int64_t number_of(Enum value) {
  return static_cast<std::int64_t>(value);
}

void write(Canonical& out, const std::vector<int>& numbers) {
  out.open("numbers");
  for (const int number : numbers) out.number(number);
  out.close();
}

void write(Canonical& out, const abi::Parameter& parameter) {
  out.open("parameter").text(parameter.name).text(name_of(parameter.type.dtype));
  out.flag(parameter.type.is_const).flag(parameter.type.is_pointer).number(parameter.type.lanes);
  out.flag(parameter.is_restrict).text(name_of(parameter.role)).number(parameter.index);
  out.number(number_of(parameter.array)).close();
}

void write(Canonical& out, const DataUse& use) {
  out.open("use").number(number_of(use.access)).text(name_of(use.storage)).text(name_of(use.seen));
  out.flag(use.is_overwritten).close();
}

void write(Canonical& out, const abi::PlanSpec& plan) {
  out.open("plan").number(number_of(plan.kind));
  write(out, plan.conflicts);
  write(out, plan.occurrences);
  out.number(plan.block_size).flag(plan.single_block);
  write(out, plan.staged);
  out.number(plan.interleaved).number(plan.lanes);
  write(out, plan.composed);
  out.number(plan.composed_bytes).flag(plan.pairs).number(plan.columns);
  out.open("corners");
  for (const abi::CornerMaps& maps : plan.corners) {
    write(out, std::vector<int>{maps.of_elements, maps.of_targets});
  }
  out.close().flag(plan.all_targets);
  out.open("further");
  for (const std::vector<int>& maps : plan.further) write(out, maps);
  out.close().open("listed");
  for (const abi::ListedMatrix& one : plan.listed) {
    write(out, std::vector<int>{one.matrix, one.row_dim, one.col_dim});
  }
  out.close().number(plan.place_bytes).close();
}

class ExecutableReader {
 public:
  explicit ExecutableReader(std::string_view text) : in_(text) {}

  std::shared_ptr<Executable> executable() {
    auto made = std::make_shared<Executable>();
    in_.open("executable");
    made->name = in_.text();
    made->strategy = in_.text();
    made->is_parallel = in_.flag();
    made->items = enumerator<abi::Items>(4);
    in_.open("arguments");
    while (!in_.is_at_close()) made->arguments.push_back(parameter());
    in_.close();
    in_.open("data");
    while (!in_.is_at_close()) made->data.push_back(use());
    in_.close();
    made->plan = plan();
    in_.open("scratch");
    made->scratch.per_slot = in_.number();
    made->scratch.per_item = in_.number();
    made->scratch.chunk = in_.number();
    in_.close();
    const std::string launch = in_.text();
    if (!launch.empty()) {
      made->device =
          std::make_shared<const DeviceCode>(DeviceCode{nullptr, read_launch_program(launch)});
    }
    in_.close();
    if (!in_.is_at_end()) in_.fail("nothing more");
    return made;
  }

 private:
  template <class Enum>
  Enum enumerator(int n) {
    const int number = in_.small();
    if (number < 0 || number >= n) in_.fail("a known number before");
    return static_cast<Enum>(number);
  }

  DType dtype() { return dtype_from_name(in_.text()); }

  std::vector<int> numbers() {
    std::vector<int> found;
    in_.open("numbers");
    while (!in_.is_at_close()) found.push_back(in_.small());
    in_.close();
    return found;
  }

  abi::Parameter parameter() {
    abi::Parameter made;
    in_.open("parameter");
    made.name = in_.text();
    made.type.dtype = dtype();
    made.type.is_const = in_.flag();
    made.type.is_pointer = in_.flag();
    made.type.lanes = in_.small();
    made.is_restrict = in_.flag();
    const std::string role = in_.text();
    const auto* known = std::ranges::find(roles, role);
    if (known == roles.end()) in_.fail("a role before");
    made.role = static_cast<abi::Role>(known - roles.begin());
    made.index = in_.small();
    made.array = enumerator<abi::PlanArray>(number_of(abi::PlanArray::summand) + 1);
    in_.close();
    return made;
  }

  DataUse use() {
    DataUse made;
    in_.open("use");
    made.access = enumerator<Access>(number_of(Access::max) + 1);
    made.storage = dtype();
    made.seen = dtype();
    made.is_overwritten = in_.flag();
    in_.close();
    return made;
  }

  abi::ListedMatrix listed() {
    in_.open("numbers");
    abi::ListedMatrix made;
    made.matrix = in_.small();
    made.row_dim = in_.small();
    made.col_dim = in_.small();
    in_.close();
    return made;
  }

  abi::CornerMaps corner_maps() {
    in_.open("numbers");
    abi::CornerMaps made;
    made.of_elements = in_.small();
    made.of_targets = in_.small();
    in_.close();
    return made;
  }

  abi::PlanSpec plan() {
    abi::PlanSpec made;
    in_.open("plan");
    made.kind = enumerator<abi::PlanKind>(number_of(abi::PlanKind::entries) + 1);
    made.conflicts = numbers();
    made.occurrences = numbers();
    made.block_size = in_.small();
    made.single_block = in_.flag();
    made.staged = numbers();
    made.interleaved = in_.small();
    made.lanes = in_.small();
    made.composed = numbers();
    made.composed_bytes = in_.small();
    made.pairs = in_.flag();
    made.columns = in_.small();
    in_.open("corners");
    while (!in_.is_at_close()) made.corners.push_back(corner_maps());
    in_.close();
    made.all_targets = in_.flag();
    in_.open("further");
    while (!in_.is_at_close()) made.further.push_back(numbers());
    in_.close();
    in_.open("listed");
    while (!in_.is_at_close()) made.listed.push_back(listed());
    in_.close();
    made.place_bytes = in_.small();
    in_.close();
    return made;
  }

  CanonicalReader in_;
};

}  // namespace

std::string_view name_of(abi::Role role) {
  return roles.at(static_cast<std::size_t>(role));
}

std::string canonical(const Executable& executable) {
  Canonical out;
  out.open("executable").text(executable.name).text(executable.strategy);
  out.flag(executable.is_parallel).number(number_of(executable.items));
  out.open("arguments");
  for (const abi::Parameter& parameter : executable.arguments) write(out, parameter);
  out.close().open("data");
  for (const DataUse& use : executable.data) write(out, use);
  out.close();
  write(out, executable.plan);
  const abi::ScratchSpec& scratch = executable.scratch;
  out.open("scratch").number(scratch.per_slot).number(scratch.per_item).number(scratch.chunk);
  out.close().text(executable.device ? canonical(executable.device->launch) : "").close();
  return out.str();
}

std::shared_ptr<Executable> read_executable(std::string_view text) {
  return ExecutableReader(text).executable();
}

}  // namespace op2::exec
