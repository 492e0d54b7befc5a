// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/dtype.hpp"

namespace op2::mesh {

/// @brief The structures of DLPack 1.0 through which array libraries pass memory on. They are an
/// ABI, so order and width of the members are not ours to choose.
namespace dlpack {

struct Device {
  std::int32_t type;  ///< 1: host, 2: CUDA, 13: CUDA managed
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;  ///< 0: signed, 1: unsigned, 2: floating, 5: complex
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t n_dims;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in items; null: rows, without gaps
  std::uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct Versioned {
  Version version;
  void* context;
  void (*deleter)(Versioned* self);
  std::uint64_t flags;  ///< 1: read only, 2: a copy
  Tensor tensor;
};

}  // namespace dlpack

/// @brief Memory shared by two libraries.
struct SharedArray {
  std::shared_ptr<void> owner;  ///< keeps the memory alive
  void* data = nullptr;
  int device_type = 0;  ///< DLPack's
  int device_id = 0;
  DType dtype = DType::float64;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< [shape] in items
  bool is_read_only = false;
};

/// @brief Hand memory out. The receiver calls the deleter once.
[[nodiscard]] dlpack::Managed* share(SharedArray array);
[[nodiscard]] dlpack::Versioned* share_versioned(SharedArray array);

/// @brief Take memory over; the deleter is called when the last owner has gone.
/// @throws UsageError for a dtype other than ours, or a version that we cannot read.
[[nodiscard]] SharedArray take(dlpack::Managed* tensor);
[[nodiscard]] SharedArray take(dlpack::Versioned* tensor);

/// @brief Whether the items lie side by side in C order.
[[nodiscard]] bool is_contiguous(const SharedArray& array);

}  // namespace op2::mesh
