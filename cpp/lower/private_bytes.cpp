// SPDX-License-Identifier: BSD-3-Clause
#include "lower/private_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.hpp"
#include "kernel/walk.hpp"
#include "kir/walk.hpp"

namespace op2::lower {
namespace {

// Threads have 8 MiB as a rule. PoCL keeps up to six copies of an array (measured; Debian 12).
constexpr std::int64_t lane_bytes = std::int64_t{2} << 20;
// What CUDA allows a thread, by its table of technical specifications.
constexpr std::int64_t gpu_lane_bytes = std::int64_t{512} << 10;
constexpr std::int64_t far_too_many = std::int64_t{1} << 40;

std::int64_t times(std::int64_t a, std::int64_t b) {
  return b > 0 && a > far_too_many / b ? far_too_many : a * b;
}

std::int64_t declared_by(const kernel::Stmt& stmt) {
  const auto* node = std::get_if<kernel::Declare>(&stmt.node);
  if (node == nullptr || node->is_static) return 0;
  std::int64_t sum = 0;
  for (const kernel::Variable& variable : node->variables) {
    if (variable.type.is_array()) sum += kernel::bytes_of(variable.type);
  }
  return sum;
}

void add_call(std::int64_t& sum, std::int64_t n_bytes, Calls calls) {
  sum = calls == Calls::inlined ? std::min(sum + n_bytes, far_too_many) : std::max(sum, n_bytes);
}

/// The arrays that a body declares, but not its static tables, and what it calls.
class Arrays {
 public:
  Arrays(const kernel::KernelBody& body, Calls calls) : body_(body), calls_(calls) {}

  std::int64_t of(const kernel::FunctionDef& function) {
    const auto [known, is_new] = bytes_.emplace(function.name, 0);  // 0 for one that calls itself
    if (!is_new) return known->second;
    std::int64_t sum = 0;
    kernel::for_each_body(function.body, [&sum](const kernel::Body& statements) {
      for (const kernel::Stmt& stmt : statements) sum += declared_by(stmt);
    });
    std::int64_t called_sum = 0;
    kernel::for_each_expr_in(function.body, [this, &called_sum](const kernel::Expr& expr) {
      const auto* call = std::get_if<kernel::Call>(&expr.node);
      const kernel::FunctionDef* called =
          call == nullptr ? nullptr : body_.function(call->function);
      if (called != nullptr) add_call(called_sum, of(*called), calls_);
    });
    return bytes_[function.name] = std::min(sum + called_sum, far_too_many);
  }

 private:
  const kernel::KernelBody& body_;
  Calls calls_;
  std::map<std::string, std::int64_t> bytes_;
};

std::int64_t bytes_of(const kir::Decl& decl) {
  if (decl.extent == 0 || decl.storage == kir::Storage::block) return 0;
  const std::int64_t item =
      decl.type.is_pointer ? 8 : static_cast<std::int64_t>(size_of(decl.type.dtype));
  return times(times(item, std::max(decl.type.lanes, 1)), decl.extent);
}

double megabytes(std::int64_t n_bytes) {
  return static_cast<double>(n_bytes) * 1e-6;
}

[[noreturn]] void refuse(const std::string& loop, std::int64_t n_bytes, std::string_view where,
                         std::string_view otherwise) {
  throw UnsupportedError(fmt::format(
      "par_loop '{}': the backend cannot run it: its arrays take {:.1f} MB for one element, and "
      "{}; make the kernel's local arrays smaller, hand them in as a Dat, or {}",
      loop, megabytes(n_bytes), where, otherwise));
}

[[noreturn]] void refuse_on_device(const std::string& loop, std::int64_t n_bytes,
                                   bool is_processor) {
  const std::string where =
      is_processor
          ? fmt::format(
                "the driver of a processor keeps them on the stack of a thread, "
                "where {:.1f} MB are safe",
                megabytes(lane_bytes))
          : fmt::format("a thread of a GPU has {:.1f} MB for them", megabytes(gpu_lane_bytes));
  refuse(loop, n_bytes, where, "run this loop on the host");
}

}  // namespace

std::int64_t private_bytes(const kir::Function& function, const kir::Module& module, Calls calls) {
  std::int64_t sum = 0;
  std::int64_t called = 0;
  kir::for_each_stmt(function.body, [&sum, &called, &module, calls](const kir::Stmt& stmt) {
    if (const auto* decl = std::get_if<kir::Decl>(&stmt.node)) sum += bytes_of(*decl);
    if (const auto* call = std::get_if<kir::CallUser>(&stmt.node)) {
      const kernel::Kernel& kernel = *module.kernels.at(static_cast<std::size_t>(call->kernel));
      if (kernel.body) {
        add_call(called, Arrays(*kernel.body, calls).of(kernel.body->entry()), calls);
      }
    }
    if (const auto* call = std::get_if<kir::Call>(&stmt.node)) {
      const kir::Function& next = kir::function_of(module, call->function);
      add_call(called, private_bytes(next, module, calls), calls);
    }
    sum = std::min(sum, far_too_many);
  });
  return std::min(sum + called, far_too_many);
}

std::int64_t array_bytes(const kernel::KernelBody& body) {
  return Arrays(body, Calls::inlined).of(body.entry());
}

bool fits_on_a_stack(const kir::Module& module) {
  return std::ranges::all_of(module.functions, [&module](const kir::Function& function) {
    return !function.is_kernel || private_bytes(function, module) <= lane_bytes;
  });
}

void limit_lanes(kir::Module& module, bool is_processor, int stack_bytes) {
  for (kir::Function& function : module.functions) {
    if (!function.is_kernel) continue;
    const std::int64_t n_bytes = private_bytes(function, module);
    if (n_bytes > (is_processor ? lane_bytes : gpu_lane_bytes)) {
      refuse_on_device(module.name, n_bytes, is_processor);
    }
    if (!is_processor) continue;
    int n_lanes = 1024;
    while (n_lanes > 1 && n_bytes * n_lanes > stack_bytes) n_lanes /= 2;
    if (n_lanes == 1024) continue;
    if (function.max_lanes == 0 || n_lanes < function.max_lanes) function.max_lanes = n_lanes;
  }
}

std::int64_t host_bytes(const kir::Module& module) {
  std::int64_t most = 0;
  for (const kir::Function& function : module.functions) {
    most = std::max(most, private_bytes(function, module, Calls::one_at_a_time));
  }
  return most;
}

void check_stack(const kir::Module& module, int stack_bytes) {
  const std::int64_t n_bytes = host_bytes(module);
  if (n_bytes <= stack_bytes) return;
  refuse(module.name, n_bytes,
         fmt::format("threads have {:.1f} MB of stack for them as a rule", megabytes(stack_bytes)),
         "where threads have larger stacks (ulimit -s, OMP_STACKSIZE), pass "
         "tuning={'element_stack_bytes': ...}");
}

}  // namespace op2::lower
