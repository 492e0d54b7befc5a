// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/guard.hpp"

#include <algorithm>

namespace op2::mesh {
namespace {

constexpr std::byte untouched{0xA5};

}  // namespace

Guard::Guard(Buffer& buffer, const std::shared_ptr<Device>& device)
    : device_(device), n_inside_(buffer.n_bytes()) {
  if (n_inside_ == 0) return;
  const std::int64_t n_all = n_inside_ + 2 * n_bytes;
  whole_ = device_->allocate(n_all, "guards around " + buffer.what());
  const std::vector<std::byte> pattern(static_cast<std::size_t>(n_all), untouched);
  device_->upload(whole_.get(), 0, pattern.data(), n_all);
  buffer.adopt(device_, device_->part_of(whole_, n_bytes, n_inside_));
  buffer.on_host(Use::write, {"guard", -1, true});
}

std::int64_t Guard::n_changed() const {
  if (n_inside_ == 0) return 0;
  std::vector<std::byte> found(static_cast<std::size_t>(2 * n_bytes));
  device_->download(found.data(), whole_.get(), 0, n_bytes);
  device_->download(found.data() + n_bytes, whole_.get(), n_bytes + n_inside_, n_bytes);
  return std::ranges::count_if(found, [](std::byte one) { return one != untouched; });
}

}  // namespace op2::mesh
