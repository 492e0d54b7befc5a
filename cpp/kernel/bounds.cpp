// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/bounds.hpp"

#include <algorithm>
#include <utility>

#include "kernel/plain.hpp"
#include "kernel/unique_names.hpp"

namespace op2::kernel {
namespace {

class Finder : public RunListener {
 public:
  void subscript(const RunSubscript& met) override {
    if (!met.is_outside()) return;
    OutOfBounds found{.line = met.site.line,
                      .array = user_name(met.array),
                      .parameter = met.parameter,
                      .index = *met.index,
                      .extent = met.extent,
                      .is_guarded = met.is_guarded};
    if (std::ranges::find(found_, found) == found_.end()) found_.push_back(std::move(found));
  }
  void touch(const Expr& /*site*/, const RunObject* /*object*/, bool /*is_set*/) override {}
  void use(const Expr& /*name*/, bool /*is_set*/) override {}
  void compute(const Expr& /*expr*/, bool /*is_known*/) override {}

  std::vector<OutOfBounds> take() { return std::move(found_); }

 private:
  std::vector<OutOfBounds> found_;
};

}  // namespace

std::vector<OutOfBounds> out_of_bounds(const KernelBody& body, const RunInput& input) {
  Finder finder;
  (void)run_kernel(plain(body), input, &finder);
  return finder.take();
}

}  // namespace op2::kernel
