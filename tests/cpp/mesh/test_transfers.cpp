// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/transfers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace op2::mesh {
namespace {

Transfer upload(const std::string& what, std::int64_t n_bytes = 8) {
  Transfer transfer;
  transfer.what = what;
  transfer.cause = "par_loop 'res'";
  transfer.n_bytes = n_bytes;
  transfer.nanoseconds = 100;
  return transfer;
}

TEST(Transfers, CountsCopiesOfOneKindTogether) {
  Transfers ledger;
  for (int i = 0; i < 3; ++i) {
    ledger.record(upload("Dat 'q'"));
    ledger.attribute("flow.py:7");
  }
  ledger.record(upload("Dat 'q'"));
  ledger.attribute("flow.py:8");
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].line, "flow.py:7");
  EXPECT_EQ(rows[0].n_copies, 3);
  EXPECT_EQ(rows[0].n_bytes, 24);
  EXPECT_EQ(rows[0].nanoseconds, 300);
  EXPECT_EQ(rows[1].line, "flow.py:8");
}

TEST(Transfers, AttributesTheCopiesOfTheCallingThread) {
  Transfers ledger;
  ledger.record(upload("Dat 'mine'"));
  std::thread([&ledger] { ledger.record(upload("Dat 'theirs'")); }).join();
  ledger.attribute("flow.py:7");
  const auto rows = ledger.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].what, "Dat 'mine'");
  EXPECT_EQ(rows[0].line, "flow.py:7");
  EXPECT_EQ(rows[1].what, "Dat 'theirs'");
  EXPECT_EQ(rows[1].line, "");
}

TEST(Transfers, IsBoundedAndStillCountsEverything) {
  Transfers ledger;
  const int n = static_cast<int>(Transfers::most_kinds) + 2000;
  for (int i = 0; i < n; ++i) ledger.record(upload("Dat '" + std::to_string(i) + "'"));
  ledger.attribute("flow.py:7");
  const auto rows = ledger.rows();
  EXPECT_EQ(rows.size(), Transfers::most_kinds + 1);
  std::int64_t n_copies = 0;
  for (const Transfer& row : rows) n_copies += row.n_copies;
  EXPECT_EQ(n_copies, n);
  EXPECT_EQ(rows.back().what, "(others)");
}

TEST(Transfers, CanBeCleared) {
  Transfers ledger;
  ledger.record(upload("Dat 'q'"));
  ledger.attribute("flow.py:7");
  ledger.record(upload("Dat 'q'"));
  ledger.clear();
  EXPECT_TRUE(ledger.rows().empty());
}

}  // namespace
}  // namespace op2::mesh
