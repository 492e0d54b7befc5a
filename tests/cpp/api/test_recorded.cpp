// SPDX-License-Identifier: BSD-3-Clause
#include "api/recorded.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "../base/own_path.hpp"
#include "base/error.hpp"

namespace op2::api {
namespace {

class RecordedValues : public ::testing::Test {
 protected:
  ~RecordedValues() override { std::filesystem::remove(path); }

  template <class T>
  bool same(const std::vector<T>& written, const std::vector<T>& values) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(written.data()),
               static_cast<std::streamsize>(written.size() * sizeof(T)));
    return Recorded(path).same("x", values);
  }

  std::string path = testing::own_path("recorded.bin");
};

TEST_F(RecordedValues, AreTheSameUpToRounding) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same<double>({1.0, 1e-30, nan}, {1.0 + 1e-14, 2e-30, nan}));
  EXPECT_FALSE(same<double>({1.0, 2.0}, {1.0, 2.0001}));
  EXPECT_FALSE(same<double>({1.0, 2.0}, {1.0, nan}));
  EXPECT_FALSE(same<double>({nan, 2.0}, {1.0, 2.0}));
  EXPECT_TRUE(same<float>({1.0F}, {1.00001F}));
  EXPECT_FALSE(same<float>({1.0F}, {1.01F}));
  EXPECT_TRUE(same<std::complex<double>>({{0, 1}}, {{1e-15, 1}}));
  EXPECT_FALSE(same<std::complex<double>>({{0, 1}}, {{1, 0}}));
}

TEST_F(RecordedValues, OfIntegersAreTheSameOnly) {
  EXPECT_TRUE(same<std::int64_t>({-7, 1000000}, {-7, 1000000}));
  EXPECT_FALSE(same<std::int64_t>({-7, 1000000}, {-7, 1000001}));
  EXPECT_FALSE(same<std::uint8_t>({0}, {255}));
}

TEST_F(RecordedValues, ThatAreMissingAreAnError) {
  EXPECT_THROW((void)Recorded(path + ".none").next<int>(1), UsageError);
  EXPECT_THROW((void)same<int>({1, 2}, {1, 2, 3}), UsageError);
}

TEST(Checksum, IsThatOfZlib) {
  const std::string text = "123456789";
  EXPECT_EQ(checksum_of(std::span(text)), 0xCBF43926U);
  EXPECT_EQ(checksum_of(std::span(text).last(5), checksum_of(std::span(text).first(4))),
            0xCBF43926U);
}

class TitledValues : public ::testing::Test {
 protected:
  ~TitledValues() override { std::filesystem::remove(path); }

  void write(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  [[nodiscard]] Recorded opened() const { return {path, "graph 1", 9, 0xCBF43926U}; }

  [[nodiscard]] std::string read() const {
    return op2::testing::message_of<UsageError>([this] { (void)opened(); });
  }

  std::string path = testing::own_path("titled.bin");
};

TEST_F(TitledValues, AreReadBehindTheTitle) {
  write("graph 1\n123456789");
  EXPECT_EQ(opened().next<char>(9)[8], '9');
}

TEST_F(TitledValues, ThatAreNotThoseAreNamed) {
  EXPECT_EQ(read(), path + ": it is missing");
  write("graph 0\n123456789");
  EXPECT_EQ(read(), path +
                        ": it is not the file with the title 'graph 1'; it is of another graph, or "
                        "of another version");
  write("gra");
  EXPECT_NE(read().find("it is not the file"), std::string::npos);
  write("graph 1\n12345678");
  EXPECT_EQ(read(), path + ": it should have 9 bytes of values, but has 8");
  write("graph 1\n1234567890");
  EXPECT_EQ(read(), path + ": it should have 9 bytes of values, but has 10");
  write("graph 1\n123456780");
  EXPECT_EQ(read(), path + ": its values were changed after they were written");
}

}  // namespace
}  // namespace op2::api
