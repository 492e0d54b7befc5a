// SPDX-License-Identifier: BSD-3-Clause
#include "move/leaves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "base/error.hpp"
#include "move/kernel_type.hpp"
#include "move/types.hpp"
#include "move/values.hpp"

namespace op2::move {
namespace {

/// `n_bytes` constant if positive, so that copies of usual items are a load and a store.
template <std::int64_t n_bytes>
struct CopyKernel {
  Prefix prefix;
  std::int64_t n_any;

  static std::int64_t size(const Prefix* self) {
    if constexpr (n_bytes > 0) return n_bytes;
    return data_of<CopyKernel>(self).n_any;
  }
  static std::int64_t one(const Prefix* self, const Items& items, char* /*scratch*/) {
    std::memcpy(items.to, items.from[0], static_cast<std::size_t>(size(self)));
    return all_fit;
  }
  static std::int64_t at_strides(const Prefix* self, const Items& items, std::int64_t n,
                                 char* /*scratch*/) {
    const std::int64_t bytes = size(self), to_stride = items.to_stride;
    const std::int64_t from_stride = items.from_stride[0];
    char* const to = items.to;
    const char* const from = items.from[0];
    if (to_stride == bytes && from_stride == bytes) {
      if (n > 0) std::memcpy(to, from, static_cast<std::size_t>(n * bytes));
      return all_fit;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<std::size_t>(bytes));
    }
    return all_fit;
  }
  static std::int64_t at_places(const Prefix* self, const Items& items, const Lists& lists,
                                std::int64_t n, char* /*scratch*/) {
    const std::int64_t bytes = size(self), to_stride = items.to_stride;
    const std::int64_t from_stride = items.from_stride[0];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t to = lists.to == nullptr ? i : lists.to[i];
      const std::int64_t from = lists.from == nullptr ? i : lists.from[i];
      std::memcpy(items.to + to * to_stride, items.from[0] + from * from_stride,
                  static_cast<std::size_t>(bytes));
    }
    return all_fit;
  }
};

struct FillKernel {
  Prefix prefix;
  std::int64_t n_bytes;
  std::array<char, 16> value;

  static std::int64_t one(const Prefix* self, const Items& items, char* /*scratch*/) {
    const auto& data = data_of<FillKernel>(self);
    std::memcpy(items.to, data.value.data(), static_cast<std::size_t>(data.n_bytes));
    return all_fit;
  }
};

template <Update update, class T>
T updated(const T& old, const T& given) {
  if constexpr (update == Update::add) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(given));
    } else {
      return old + given;
    }
  } else if constexpr (is_complex_v<T>) {
    return old;  // refused before
  } else {
    if (given != given || old != old) return given != given ? given : old;
    return update == Update::min ? std::min(old, given) : std::max(old, given);
  }
}

template <Update update, class T>
struct UpdateKernel {
  Prefix prefix;

  static std::int64_t one(const Prefix* /*self*/, const Items& items, char* /*scratch*/) {
    const T found = updated<update>(value_at<T>(items.to), value_at<T>(items.from[0]));
    std::memcpy(items.to, &found, sizeof found);
    return all_fit;
  }
  static std::int64_t at_strides(const Prefix* self, const Items& items, std::int64_t n,
                                 char* scratch) {
    if (items.to_stride != 0) return one_by_one<UpdateKernel>(self, items, n, scratch);
    const char* from = items.from[0];
    T total = value_at<T>(items.to);
    if constexpr (update == Update::add && std::is_floating_point_v<T>) {
      double sum = total, lost = 0.0;  // Neumaier's sum
      for (std::int64_t i = 0; i < n; ++i) {
        const double given = value_at<T>(from + i * items.from_stride[0]), larger = sum + given;
        lost += std::abs(sum) >= std::abs(given) ? (sum - larger) + given : (given - larger) + sum;
        sum = larger;
      }
      total = static_cast<T>(std::isfinite(sum) ? sum + lost : sum);
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        total = updated<update>(total, value_at<T>(from + i * items.from_stride[0]));
      }
    }
    std::memcpy(items.to, &total, sizeof total);
    return all_fit;
  }
};

struct CallKernel {
  Prefix prefix;
  op2_launch_v1 launch;
  Outside<void> handle;
  void (*release)(void*);
  std::int64_t item_bytes;
  std::int64_t n_sources;

  static void destroy(Prefix* self) {
    const auto& data = data_of<CallKernel>(self);
    if (data.handle.pointer != nullptr && data.release != nullptr) {
      data.release(data.handle.pointer);
    }
  }
  static std::int64_t at_strides(const Prefix* self, const Items& items, std::int64_t n,
                                 char* scratch) {
    const auto& data = data_of<CallKernel>(self);
    bool is_dense = items.to_stride == data.item_bytes;
    for (std::int64_t k = 0; k < data.n_sources; ++k) {
      is_dense = is_dense && items.from_stride[static_cast<std::size_t>(k)] == data.item_bytes;
    }
    return is_dense ? launched(data, items, n) : one_by_one<CallKernel>(self, items, n, scratch);
  }
  static std::int64_t one(const Prefix* self, const Items& items, char* /*scratch*/) {
    return launched(data_of<CallKernel>(self), items, 1);
  }
  static std::int64_t launched(const CallKernel& data, const Items& items, std::int64_t n) {
    std::array<long, 4> error{};
    op2_context_v1 context{};
    context.error = error.data();
    context.n_threads = 1;
    std::array<void*, 1 + most_sources> argv{items.to};
    for (std::size_t k = 0; k < most_sources; ++k) {
      argv[1 + k] = const_cast<char*>(items.from[k]);  // the ABI has one kind of pointer
    }
    const int code =
        data.launch(&context, 0, n, argv.data(), static_cast<unsigned int>(1 + data.n_sources));
    return code == 0 && error[0] == 0 ? all_fit : std::max(error[2], 0L);
  }
};

template <class Kernel>
std::size_t add_leaf(Builder& builder, std::size_t at, Request request, const Kernel& data) {
  builder.ensure_capacity_leaf(at + sizeof(Kernel));
  auto* const kernel = builder.at<Kernel>(at);
  *kernel = data;
  kernel->prefix.function = function_for<Kernel>(request);
  return at + sizeof(Kernel);
}

template <Update update>
void* updating(DType dtype, Request request) {
  void* found = nullptr;
  with_type(dtype, [&found, dtype, request](auto sample) {
    using T = decltype(sample);
    if (update != Update::add && is_complex_v<T>) {
      throw UsageError("complex numbers have no order, so neither a least nor a largest");
    }
    if constexpr (is_half_v<T>) {
      throw UsageError(
          fmt::format("values of {} are neither summed nor compared in memory", name_of(dtype)));
    } else {
      found = function_for<UpdateKernel<update, T>>(request);
    }
  });
  return found;
}

}  // namespace

std::size_t add_copy(Builder& builder, std::size_t at, std::int64_t n_bytes, Request request) {
  builder.note("copy {} bytes", n_bytes);
  switch (n_bytes) {
    case 1:
      return add_leaf(builder, at, request, CopyKernel<1>{{}, 1});
    case 2:
      return add_leaf(builder, at, request, CopyKernel<2>{{}, 2});
    case 4:
      return add_leaf(builder, at, request, CopyKernel<4>{{}, 4});
    case 8:
      return add_leaf(builder, at, request, CopyKernel<8>{{}, 8});
    case 16:
      return add_leaf(builder, at, request, CopyKernel<16>{{}, 16});
    case 32:
      return add_leaf(builder, at, request, CopyKernel<32>{{}, 32});
    default:
      return add_leaf(builder, at, request, CopyKernel<0>{{}, n_bytes});
  }
}

std::size_t add_fill(Builder& builder, std::size_t at, const void* value, std::int64_t n_bytes,
                     Request request) {
  builder.note("fill {} bytes", n_bytes);
  FillKernel data{{}, n_bytes, {}};
  if (n_bytes < 0 || static_cast<std::size_t>(n_bytes) > data.value.size()) {
    throw InternalError(fmt::format("a value of {} bytes", n_bytes));
  }
  std::memcpy(data.value.data(), value, static_cast<std::size_t>(n_bytes));
  return add_leaf(builder, at, request, data);
}

std::size_t add_update(Builder& builder, std::size_t at, DType dtype, Update update,
                       Request request) {
  constexpr std::array words{"add", "min", "max"};
  builder.note("{} {}", words[static_cast<std::size_t>(update)], name_of(dtype));
  auto* const kernel = builder.at<Prefix>(at);  // a trivial leaf: its parent made room
  kernel->function = update == Update::add   ? updating<Update::add>(dtype, request)
                     : update == Update::min ? updating<Update::min>(dtype, request)
                                             : updating<Update::max>(dtype, request);
  return at + sizeof(Prefix);
}

std::size_t add_call(Builder& builder, std::size_t at, const Called& called, Request request) {
  try {
    builder.note("call a compiled function, {} sources", called.n_sources);
    builder.ensure_capacity_leaf(at + sizeof(CallKernel));
  } catch (...) {
    if (called.release != nullptr) called.release(called.handle);
    throw;
  }
  auto* const kernel = builder.at<CallKernel>(at);
  kernel->prefix.destroy = &CallKernel::destroy;  // first: from here on the handle is its own
  kernel->handle = {called.handle};
  kernel->release = called.release;
  kernel->launch = called.launch;
  kernel->item_bytes = called.item_bytes;
  kernel->n_sources = called.n_sources;
  kernel->prefix.function = function_for<CallKernel>(request);
  return at + sizeof(CallKernel);
}

}  // namespace op2::move
