// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace op2 {

/// @brief One lambda per alternative of a std::variant; no catch-all where a new node must be
/// thought of, so that it breaks the build.
template <class... Fs>
struct overload : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overload(Fs...) -> overload<Fs...>;

}  // namespace op2
