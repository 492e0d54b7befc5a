// SPDX-License-Identifier: BSD-3-Clause
#include "exec/sparse_inverse.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

TEST(SparseInverse, MultipliesRunsOfColumns) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8};
  const SparseInverse wide({0, 1, 2, 4}, {0, 1, 0, 1}, 2, values);
  const SparseInverse narrow({0, 1, 2, 4}, {0, 1, 0, 1}, 2,
                             std::vector<float>(values.begin(), values.end()));
  EXPECT_EQ(wide.n_rows(), 3U);
  const std::vector<double> in{1, 10, 100};
  for (const SparseInverse* inverse : {&wide, &narrow}) {
    std::vector<double> out(3, -1);
    inverse->multiply(1, 3, in, out);
    EXPECT_EQ(out, (std::vector<double>{-1, 430, 5 + 60 + 70 + 800}));
    inverse->multiply(0, 1, in, out);
    EXPECT_EQ(out[0], 21);
  }
}

TEST(SparseInverse, RefusesArraysThatDoNotFit) {
  const std::vector<double> two{1, 2};
  EXPECT_THROW(SparseInverse({0, 1}, {0}, 2, two), UsageError);        // a column too many
  EXPECT_THROW(SparseInverse({0, 2}, {0}, 2, two), UsageError);        // a run too few
  EXPECT_THROW(SparseInverse({0, 1, 2}, {0, 2}, 1, two), UsageError);  // no such column
  EXPECT_THROW(SparseInverse({0, 1, 2}, {0, 1}, 0, two), UsageError);
  EXPECT_THROW(SparseInverse({}, {}, 1, std::vector<double>{}), UsageError);
  EXPECT_NO_THROW(SparseInverse({0, 1, 2}, {0, 1}, 1, two));
}

}  // namespace
}  // namespace op2::exec
