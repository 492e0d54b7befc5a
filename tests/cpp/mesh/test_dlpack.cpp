// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/dlpack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

SharedArray array_of(std::shared_ptr<std::vector<double>> values) {
  SharedArray array;
  array.data = values->data();
  array.owner = std::move(values);
  array.device_type = 2;
  array.device_id = 1;
  array.shape = {3, 2};
  array.strides = {1, 3};
  return array;
}

TEST(Dlpack, DescribesTheMemoryAndKeepsItUntilItIsDeleted) {
  auto values = std::make_shared<std::vector<double>>(6, 1.0);
  const std::weak_ptr<std::vector<double>> watch = values;
  void* const data = values->data();
  dlpack::Managed* tensor = share(array_of(std::move(values)));
  EXPECT_EQ(tensor->tensor.data, data);
  EXPECT_EQ(tensor->tensor.device.type, 2);
  EXPECT_EQ(tensor->tensor.device.id, 1);
  EXPECT_EQ(tensor->tensor.n_dims, 2);
  EXPECT_EQ(tensor->tensor.shape[0], 3);
  EXPECT_EQ(tensor->tensor.strides[1], 3);
  EXPECT_EQ(tensor->tensor.dtype.code, 2);
  EXPECT_EQ(tensor->tensor.dtype.bits, 64);
  EXPECT_EQ(tensor->tensor.dtype.lanes, 1);
  EXPECT_EQ(tensor->tensor.byte_offset, 0U);
  EXPECT_FALSE(watch.expired());
  tensor->deleter(tensor);
  EXPECT_TRUE(watch.expired());
}

TEST(Dlpack, ComesBackAsItWent) {
  auto values = std::make_shared<std::vector<double>>(6, 1.0);
  const std::weak_ptr<std::vector<double>> watch = values;
  SharedArray given = array_of(std::move(values));
  given.is_read_only = true;
  void* const data = given.data;
  {
    const SharedArray taken = take(share_versioned(std::move(given)));
    EXPECT_EQ(taken.data, data);
    EXPECT_EQ(taken.shape, (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(taken.strides, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(taken.dtype, DType::float64);
    EXPECT_TRUE(taken.is_read_only);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Dlpack, KnowsEveryDtype) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    SharedArray array;
    array.dtype = static_cast<DType>(i);
    EXPECT_EQ(take(share(array)).dtype, array.dtype);
  }
}

/// A tensor as another library makes it.
struct Foreign {
  std::array<std::int64_t, 2> shape{2, 3};
  std::array<float, 8> values{};
  int n_deleted = 0;
  dlpack::Versioned tensor{};

  Foreign() {
    tensor.version = {1, 3};
    tensor.context = this;
    tensor.deleter = [](dlpack::Versioned* self) {
      ++static_cast<Foreign*>(self->context)->n_deleted;
    };
    tensor.tensor = {values.data(), {2, 0}, 2, {2, 32, 1}, shape.data(), nullptr, 8};
  }
};

TEST(Dlpack, FillsInWhatOthersLeaveOut) {
  Foreign foreign;
  {
    const SharedArray taken = take(&foreign.tensor);
    EXPECT_EQ(taken.data, &foreign.values[2]);
    EXPECT_EQ(taken.strides, (std::vector<std::int64_t>{3, 1}));
    EXPECT_TRUE(is_contiguous(taken));
    EXPECT_EQ(foreign.n_deleted, 0);
  }
  EXPECT_EQ(foreign.n_deleted, 1);
}

TEST(Dlpack, WhatCannotBeTakenIsDeletedToo) {
  Foreign longer;
  longer.tensor.tensor.dtype.bits = 128;
  EXPECT_THROW((void)take(&longer.tensor), UsageError);
  EXPECT_EQ(longer.n_deleted, 1);
  Foreign future;
  future.tensor.version.major = 2;
  EXPECT_THROW((void)take(&future.tensor), UsageError);
  EXPECT_EQ(future.n_deleted, 1);
}

TEST(Dlpack, KnowsWhatIsContiguous) {
  SharedArray array;
  array.shape = {4, 1, 3};
  array.strides = {3, 77, 1};
  EXPECT_TRUE(is_contiguous(array));
  array.strides = {1, 1, 4};
  EXPECT_FALSE(is_contiguous(array));
  array.shape = {4, 0, 3};
  EXPECT_TRUE(is_contiguous(array));
}

}  // namespace
}  // namespace op2::mesh
