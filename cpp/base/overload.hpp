// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace op2 {

/// @brief A lambda per alternative of a std::variant; without a catch-all, so a new node breaks the
/// build where the node needs thought.
template <class... Fs>
struct overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overload(Fs...) -> overload<Fs...>;

}  // namespace op2
