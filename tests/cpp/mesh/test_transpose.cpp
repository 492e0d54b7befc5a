// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/transpose.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace op2::mesh {
namespace {

TEST(Transpose, PutsEachItemIntoItsColumnAndBack) {
  for (const int item : {1, 2, 4, 8, 16}) {
    for (const int dim : {1, 2, 3, 4, 7, 64}) {
      for (const std::int64_t n_rows : {0, 1, 63, 64, 65, 5000}) {
        const std::int64_t n_bytes = n_rows * dim * item;
        std::vector<unsigned char> rows(n_bytes);
        for (std::int64_t i = 0; i < n_bytes; ++i)
          rows[i] = static_cast<unsigned char>(i * 7 % 251);
        std::vector<unsigned char> columns(n_bytes);
        std::vector<unsigned char> back(n_bytes);
        const Layout layout{true, dim, item};
        rows_to_columns(columns.data(), rows.data(), n_rows, layout, 3);
        for (std::int64_t row = 0; row < n_rows; ++row) {
          for (int i = 0; i < dim; ++i) {
            for (int byte = 0; byte < item; ++byte) {
              ASSERT_EQ(columns[(i * n_rows + row) * item + byte],
                        rows[(row * dim + i) * item + byte]);
            }
          }
        }
        columns_to_rows(back.data(), columns.data(), n_rows, layout, 2);
        ASSERT_EQ(back, rows);
      }
    }
  }
}

}  // namespace
}  // namespace op2::mesh
