// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/dlpack.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

using dlpack::Managed;
using dlpack::Tensor;
using dlpack::Versioned;

constexpr std::uint32_t our_major = 1;
constexpr std::uint64_t flag_read_only = 1;

enum Code : std::uint8_t {
  code_signed = 0,
  code_unsigned = 1,
  code_floating = 2,
  code_bfloat = 4,
  code_complex = 5
};

std::uint8_t code_of(DType dtype) {
  if (is_complex(dtype)) return code_complex;
  if (dtype == DType::bfloat16) return code_bfloat;
  if (is_floating(dtype) || is_half(dtype)) return code_floating;
  return is_signed_integer(dtype) ? code_signed : code_unsigned;
}

DType dtype_of(const dlpack::DataType& type) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (type.lanes == 1 && code_of(dtype) == type.code && 8 * size_of(dtype) == type.bits) {
      return dtype;
    }
  }
  throw UsageError(
      fmt::format("kernels cannot work on values of DLPack's type {}, {} bits, {} lanes", type.code,
                  type.bits, type.lanes));
}

/// What a tensor of ours points into.
template <class Holder>
struct Context {
  SharedArray array;
  Holder holder{};
};

Tensor describe(SharedArray& array) {
  return {array.data,
          {array.device_type, array.device_id},
          static_cast<std::int32_t>(array.shape.size()),
          {code_of(array.dtype), static_cast<std::uint8_t>(8 * size_of(array.dtype)), 1},
          array.shape.data(),
          array.strides.data(),
          0};
}

template <class Holder>
Holder* hold(SharedArray array) {
  auto context = std::make_unique<Context<Holder>>();
  context->array = std::move(array);
  Holder& holder = context->holder;
  holder.tensor = describe(context->array);
  holder.deleter = [](Holder* self) {
    const std::unique_ptr<Context<Holder>> dying(static_cast<Context<Holder>*>(self->context));
  };
  holder.context = context.release();
  return &holder;
}

template <class Holder>
SharedArray take_over(Holder* holder) {
  const std::shared_ptr<Holder> owner(holder, [](Holder* dying) {
    if (dying->deleter != nullptr) dying->deleter(dying);
  });
  const Tensor& tensor = holder->tensor;
  SharedArray array;
  array.dtype = dtype_of(tensor.dtype);
  array.owner = owner;
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  array.device_type = tensor.device.type;
  array.device_id = tensor.device.id;
  array.shape.assign(tensor.shape, tensor.shape + tensor.n_dims);
  array.strides.resize(array.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = array.shape.size(); i-- > 0; stride *= array.shape[i]) {
    array.strides[i] = tensor.strides == nullptr ? stride : tensor.strides[i];
  }
  return array;
}

}  // namespace

Managed* share(SharedArray array) {
  return hold<Managed>(std::move(array));
}

Versioned* share_versioned(SharedArray array) {
  const std::uint64_t flags = array.is_read_only ? flag_read_only : 0;
  auto* holder = hold<Versioned>(std::move(array));
  holder->version = {our_major, 0};
  holder->flags = flags;
  return holder;
}

SharedArray take(Managed* tensor) {
  return take_over(tensor);
}

SharedArray take(Versioned* tensor) {
  if (tensor->version.major != our_major) {
    const std::uint32_t found = tensor->version.major;
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
    throw UsageError(
        fmt::format("DLPack {} was offered, but {} is what we read", found, our_major));
  }
  const bool is_read_only = (tensor->flags & flag_read_only) != 0;
  SharedArray array = take_over(tensor);
  array.is_read_only = is_read_only;
  return array;
}

bool is_contiguous(const SharedArray& array) {
  bool is_dense = true;
  std::int64_t stride = 1;
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    if (array.shape[i] == 0) return true;
    if (array.shape[i] > 1 && array.strides[i] != stride) is_dense = false;
    stride *= array.shape[i];
  }
  return is_dense;
}

}  // namespace op2::mesh
