// SPDX-License-Identifier: BSD-3-Clause
#include "api/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <tuple>

#include "api/shared.hpp"

namespace op2 {

Report report() {
  constexpr double nano = 1e-9;
  Report made;
  api::Shared& all = api::shared();
  const std::lock_guard lock(all.mutex);
  for (const auto& [key, met] : all.met) {
    const runtime::Timing& timing = *met.timing;
    LoopReport& row = made.loops.emplace_back();
    std::tie(row.loop, row.backend, row.strategy) = key;
    row.n_calls = timing.n_calls;
    row.seconds = nano * static_cast<double>(timing.nanoseconds);
    row.plan_seconds = nano * static_cast<double>(timing.plan_nanoseconds);
    row.n_bytes = timing.useful_bytes;
    row.rejected.assign(met.rejected.begin(), met.rejected.end());
    row.measured.assign(met.measured.begin(), met.measured.end());
  }
  if (all.tuned) made.problems = all.tuned->problems();
  made.problems.insert(made.problems.end(), all.missing_libraries.begin(),
                       all.missing_libraries.end());
  for (const dispatch::Event& one : all.operations->events()) {
    made.operations.push_back({one.loop, one.strategy, one.n_resolved,
                               nano * static_cast<double>(one.running), one.rejected});
  }
  return made;
}

std::string Report::text() const {
  constexpr double giga = 1e9;
  std::vector<std::vector<std::string>> rows = {
      {"loop", "backend", "strategy", "calls", "seconds", "plans s", "GB/s"}};
  for (const LoopReport& one : loops) {
    const double rate = static_cast<double>(one.n_bytes) / giga / one.seconds;
    rows.push_back({one.loop, one.backend, one.strategy, std::to_string(one.n_calls),
                    fmt::format("{:.4f}", one.seconds), fmt::format("{:.4f}", one.plan_seconds),
                    fmt::format("{:.1f}", one.seconds > 0 ? rate : 0.0)});
  }
  for (const OperationReport& one : operations) {
    rows.push_back({one.operation, one.library.empty() ? "builtin" : "library",
                    one.library.empty() ? "-" : one.library, std::to_string(one.n_calls),
                    fmt::format("{:.4f}", one.seconds), "-", "-"});
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += r == 0 ? "" : "\n";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& word = rows[r][i];
      const std::string blanks(widths[i] - word.size(), ' ');
      out += fmt::format("{}{}", i == 0 ? "" : "  ", i < 3 ? word + blanks : blanks + word);
    }
    if (r == 0) continue;
    if (r > loops.size()) {
      const std::string& why = operations[r - 1 - loops.size()].rejected;
      if (!why.empty()) out += fmt::format("\n  not a library: {}", why);
      continue;
    }
    for (const std::string& why : loops[r - 1].rejected) {
      out += fmt::format("\n  not another form: {}", why);
    }
    for (const std::string& how : loops[r - 1].measured) out += fmt::format("\n  {}", how);
  }
  for (const std::string& line : problems) out += fmt::format("\n{}", line);
  return out;
}

}  // namespace op2
