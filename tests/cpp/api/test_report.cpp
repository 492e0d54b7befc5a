// SPDX-License-Identifier: BSD-3-Clause
#include "api/report.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "api/shared.hpp"

namespace op2 {
namespace {

TEST(Report, HasARowForEachKindOfLoops) {
  const auto timing = std::make_shared<runtime::Timing>();
  timing->n_calls = 3;
  timing->nanoseconds = 2'000'000;
  timing->useful_bytes = 4'000'000;
  api::Shared& all = api::shared();
  all.met[{"reported", "openmp", "colour"}] = {timing, {"Map 'to' leads to an entity twice"}};
  const Report found = report();
  all.met.erase({"reported", "openmp", "colour"});
  const LoopReport* row = nullptr;
  for (const LoopReport& one : found.loops) row = one.loop == "reported" ? &one : row;
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->strategy, "colour");
  EXPECT_EQ(row->n_calls, 3);
  EXPECT_DOUBLE_EQ(row->seconds, 0.002);
  LoopReport chosen = *row;
  chosen.measured = {"measured (exact): 2.0 us"};
  EXPECT_EQ((Report{{chosen}, {"a file is not used"}}.text()),
            "loop      backend  strategy  calls  seconds  plans s  GB/s\n"
            "reported  openmp   colour        3   0.0020   0.0000   2.0\n"
            "  not another form: Map 'to' leads to an entity twice\n"
            "  measured (exact): 2.0 us\n"
            "a file is not used");
  const OperationReport sum{"dot of float64", "", 12, 0.5, "cblas: cost"};
  const OperationReport by{"dot of float64", "libblas.so.3", 3, 0.25};
  EXPECT_EQ((Report{{}, {}, {sum, by}}.text()),
            "loop            backend  strategy      calls  seconds  plans s  GB/s\n"
            "dot of float64  builtin  -                12   0.5000        -     -\n"
            "  not a library: cblas: cost\n"
            "dot of float64  library  libblas.so.3      3   0.2500        -     -");
}

}  // namespace
}  // namespace op2
