// SPDX-License-Identifier: BSD-3-Clause
#include "api/libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/op2.hpp"
#include "api/report.hpp"
#include "api/shared.hpp"
#include "base/error.hpp"
#include "dispatch/measured.hpp"
#include "libs/some_cblas.hpp"

namespace op2 {
namespace {

using testing::contains;
using testing::message_of;
using Complex = std::complex<double>;

/// Results that the run-time itself never has.
double marked_dot(std::size_t n, const double* /*x*/, const double* /*y*/) {
  return -static_cast<double>(n);
}
Complex marked_complex(std::size_t n, const Complex* x, const Complex* y) {
  Complex sum;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * std::conj(y[i]);
  return sum + Complex{1000.0, 0.0};
}
void marked_axpy(std::size_t /*n*/, double alpha, const double* /*x*/, double* y) {
  y[0] = -alpha;
}

constexpr int n_turns = dispatch::Measured::n_trials + 1;

class Libraries : public ::testing::Test {
 protected:
  Libraries() { api::shared().operations->clear_events(); }
  ~Libraries() override { init({}); }

  static void choose(const std::string& blas) {
    Options options;
    options.backend = "sequential";
    options.blas = blas;
    init(options);
  }
  static std::vector<OperationReport> rows_of(const std::string& operation) {
    std::vector<OperationReport> found = report().operations;
    std::erase_if(found, [&](const OperationReport& one) { return one.operation != operation; });
    return found;
  }

  std::vector<double> x = std::vector<double>(100, 0.5);
  std::vector<double> y = std::vector<double>(100, 2.0);
};

TEST_F(Libraries, OfTheProgramTakeTurnsAndAreReported) {
  LibraryFunctions functions;
  functions.dot_float64 = marked_dot;
  functions.axpy_float64 = marked_axpy;
  functions.dot_complex128 = marked_complex;
  const Library mine("mine", functions);
  EXPECT_EQ(inner(x, y), 100.0);  // no option: nobody is asked, nothing is counted
  EXPECT_TRUE(report().operations.empty());
  choose("mine");
  int n_by_library = 0;
  for (int i = 0; i < 2 * n_turns; ++i) {
    const double sum = inner(x, y);
    EXPECT_TRUE(sum == 100.0 || sum == -100.0);
    n_by_library += sum < 0 ? 1 : 0;
  }
  EXPECT_EQ(n_by_library, n_turns);
  const std::vector<OperationReport> rows = rows_of("dot of float64");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].library, "");
  EXPECT_EQ(rows[0].rejected, "mine: measured in turns");
  EXPECT_EQ(rows[1].library, "mine");
  EXPECT_EQ(rows[1].n_calls, n_turns);
  axpy(3.0, x, y);
  EXPECT_EQ(y[0], -3.0);  // the first turn is the library's
  axpy(3.0, x, x);        // of the same memory: its own
  EXPECT_EQ(x[99], 2.0);
  const std::vector<Complex> z(3, Complex{0.0, 2.0});
  EXPECT_EQ(inner(z, z), Complex(1012.0, 0.0));
  EXPECT_TRUE(contains(report().text(), "dot of complex128", "library", "mine"));
  const std::vector<float> single(3, 1.0F);
  EXPECT_EQ(inner(single, single), 3.0);
  EXPECT_EQ(rows_of("dot of float32")[0].rejected,
            "mine: dtype: there is no function of float32 and float32");
}

TEST_F(Libraries, SayHowManyValuesAreTheLeast) {
  LibraryFunctions functions;
  functions.dot_float64 = marked_dot;
  functions.least = 101;
  const Library mine("mine", functions);
  choose("auto");
  for (int i = 0; i < 3 * n_turns; ++i) EXPECT_NE(inner(x, y), -100.0);
  EXPECT_TRUE(
      contains(report().text(), "mine: length: there are 100 values, and 101 are the least"));
}

TEST_F(Libraries, OfTheSystemAreFound) {
  if (libs::testing::some_cblas() == nullptr) GTEST_SKIP() << "no BLAS for C is installed";
  choose("cblas");
  x.resize(5000, 0.5);  // a length that no other test has measured
  y.resize(5000, 2.0);
  for (int i = 0; i < 2 * n_turns; ++i) EXPECT_EQ(inner(x, y), 5000.0);
  EXPECT_EQ(norm(std::vector<double>{3.0, 4.0}), 5.0);
  EXPECT_EQ(rows_of("dot of float64").size(), 2U);
}

TEST_F(Libraries, ThatDoNotOpenAreErrorsAndChangeNothing) {
  LibraryFunctions functions;
  functions.dot_float64 = marked_dot;
  const Library mine("mine", functions);
  choose("mine");
  EXPECT_TRUE(contains(message_of<ToolchainError>([] { choose("missing.so"); }),
                       "there is no library 'missing.so'", "cblas, mine"));
  EXPECT_EQ(inner(x, y), -100.0);
  choose("");
  EXPECT_EQ(inner(x, y), 100.0);
}

TEST_F(Libraries, MustHaveANameAndAFunction) {
  EXPECT_EQ(message_of<UsageError>([] { const Library none("none", {}); }),
            "Library 'none': there is no function; pass at least one");
  LibraryFunctions functions;
  functions.dot_float64 = marked_dot;
  EXPECT_THROW(Library("", functions), UsageError);
  EXPECT_THROW(Library("cblas", functions), UsageError);
}

}  // namespace
}  // namespace op2
