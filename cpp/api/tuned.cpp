// SPDX-License-Identifier: BSD-3-Clause
#include "api/tuned.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <tuple>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/small_file.hpp"
#include "base/trust.hpp"

namespace op2::api {
namespace {

constexpr int tuned_schema = 2;

/// As Python words a way.
std::string way_of(const Json& way) {
  std::string out = fmt::format("{}, {} lanes", way.at("strategy").string, way.at("lanes").text);
  for (const auto& [name, value] : way.at("tuning").members) {
    out += fmt::format(", {} {}", name, value.text);
  }
  return out;
}

TunedFile parsed_tuned(std::string_view compact) {
  const Json whole = read_json(compact);
  if (const Json& schema = whole.at("schema"); schema.text != std::to_string(tuned_schema)) {
    throw UsageError(
        fmt::format("it has schema {}; this version reads {}", schema.text, tuned_schema));
  }
  const Json& entries = whole.at("entries");
  const Json& place = whole.at("place");
  const std::string body = fmt::format(R"({{"entries":{},"place":{}}})", entries.text, place.text);
  if (digest(body) != whole.at("checksum").string) throw UsageError("its checksum is wrong");
  TunedFile found{place.at("backend").string, place.at("device").string, {}};
  for (const Json& one : entries.items) {
    if (one.at("kind").string != "loop") continue;
    found.entries.push_back({one.at("key").string, way_of(one.at("way")),
                             static_cast<int>(one.at("size").number()), one.at("us").number(),
                             one.at("rule_us").number()});
  }
  return found;
}

/// The files of a folder, or the path itself. Not by <filesystem>, whose code is large.
std::vector<std::string> tuned_files_in(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) return {path};
  std::vector<std::string> names;
  while (const dirent* one = ::readdir(folder.get())) {
    const std::string_view name(one->d_name);
    if (name.ends_with(".json") && !name.starts_with('.')) {
      names.push_back(fmt::format("{}/{}", path, name));
    }
  }
  std::ranges::sort(names);
  return names;
}

/// Without links; empty if nothing is there.
std::string absolute_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> found(::realpath(path.c_str(), nullptr), &std::free);
  return found ? std::string(found.get()) : std::string();
}

/// What follows the colon of the first line with this name; empty without the line.
std::string value_of_line(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(name)) continue;
    const std::size_t first = line.find_first_not_of(" \t", name.size());
    if (first == line.npos || line[first] != ':') continue;
    const std::size_t begin = line.find_first_not_of(" \t", first + 1);
    if (begin == line.npos) return "";
    return std::string(line.substr(begin, line.find_last_not_of(" \t") + 1 - begin));
  }
  return "";
}

}  // namespace

Tuned::Tuned(const std::string& path) {
  const std::vector<std::string> names = tuned_files_in(path);
  for (const std::string& name : names) add(name);
  if (names.empty()) {
    problems_.push_back(fmt::format("there are no tuned choices in '{}'", path));
  }
}

void Tuned::add(const std::string& path) {
  try {
    const std::string absolute = absolute_path(path);
    const std::string text = text_of_file(absolute);
    if (text.empty()) throw UsageError("it cannot be read, or is empty");
    const std::string why = why_untrusted(absolute, "the file", Trust::provided);
    if (!why.empty()) throw UsageError(why);
    files_.push_back(parsed_tuned(without_blanks(text)));
  } catch (const std::exception& error) {
    problems_.push_back(fmt::format("tuned choices in '{}' are not used: {}", path, error.what()));
  }
}

std::optional<TunedAnswer> Tuned::find(std::string_view backend, std::string_view device,
                                       std::string_view key, std::int64_t n_elements) const {
  const int size =
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(n_elements, 0)));
  std::optional<TunedAnswer> found;
  std::tuple<bool, int> best;
  for (const TunedFile& file : files_) {
    if (file.backend != backend) continue;
    for (const TunedEntry& one : file.entries) {
      if (one.key != key) continue;
      const bool is_here = file.device == device;
      const std::tuple<bool, int> distance{!is_here, std::abs(one.size - size)};
      if (found && distance >= best) continue;
      const std::string_view near = one.size == size ? "exact" : "size";
      found = TunedAnswer{&one, is_here ? near : "device"};
      best = distance;
    }
  }
  return found;
}

std::string processor_name(const std::string& cpuinfo, const std::string& machine) {
  const std::string model = value_of_line(cpuinfo, "model name");
  if (!model.empty()) return model;
  const std::string implementer = value_of_line(cpuinfo, "CPU implementer");
  const std::string part = value_of_line(cpuinfo, "CPU part");
  if (implementer.empty() || part.empty()) return machine;
  return fmt::format("{} {} {}", machine, implementer, part);
}

std::string processor_name() {
  utsname system{};
  const bool is_known = ::uname(&system) == 0;
  return processor_name(text_of_file("/proc/cpuinfo"), is_known ? system.machine : "");
}

}  // namespace op2::api
