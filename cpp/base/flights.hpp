// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/patience.hpp"

namespace op2 {

/// @brief Single flight: of all threads that want the same thing at the same time, one makes it.
///
/// @tparam Made What is made; copied to everybody who waited for it.
template <typename Made, typename Key = std::string, typename Hash = std::hash<Key>>
class Flights {
 public:
  /// @param[in] mutex Guards what is known already, and the flights.
  explicit Flights(std::mutex& mutex) : mutex_(mutex) {}

  /// @brief What is known under @p key, or what one thread makes for all.
  ///
  /// An Error is for everybody who waits. Anything else that ends a flight, such as an interrupt,
  /// is only for the thread that it happened to: another one flies.
  /// @param[in] known Returns `std::optional<Made>`; called with the mutex held.
  /// @param[in] joined Called with the mutex held when this thread begins to wait for another's.
  /// @param[in] make Returns `Made`; called without the mutex.
  /// @param[in] keep Takes what was made; called with the mutex held, before anybody looks again.
  /// @param[in] interrupted See InterruptCheck; for the wait.
  template <typename Known, typename Joined, typename Make, typename Keep>
  requires std::same_as<std::invoke_result_t<Known>, std::optional<Made>> &&
      std::same_as<std::invoke_result_t<Make>, Made> && std::invocable<Joined> &&
      std::invocable<Keep, const Made&>
          Made join(const Key& key, const Known& known, const Joined& joined, const Make& make,
                    const Keep& keep, const InterruptCheck& interrupted) {
    for (;;) {
      std::promise<Landing> promise;
      std::shared_future<Landing> flight;
      {
        const std::scoped_lock guard(mutex_);
        if (std::optional<Made> found = known()) return *std::move(found);
        const auto [place, is_first] = flights_.try_emplace(key);
        if (is_first) {
          place->second = promise.get_future().share();
        } else {
          joined();
          flight = place->second;
        }
      }
      if (!flight.valid()) return lead(key, promise, make, keep);
      if (Landing landing = follow(flight, interrupted)) return *std::move(landing);
    }
  }

 private:
  // Nothing: the flight was interrupted, somebody else must fly.
  using Landing = std::optional<Made>;

  template <typename Make, typename Keep>
  Made lead(const Key& key, std::promise<Landing>& promise, const Make& make, const Keep& keep) {
    const auto land = [this, &key] {
      const std::scoped_lock guard(mutex_);
      flights_.erase(key);
    };
    try {
      Made made = make();
      {
        const std::scoped_lock guard(mutex_);
        keep(made);
        flights_.erase(key);
      }
      promise.set_value(made);
      return made;
    } catch (const Error&) {
      land();
      promise.set_exception(std::current_exception());
      throw;
    } catch (...) {
      land();
      promise.set_value(std::nullopt);
      throw;
    }
  }

  static Landing follow(const std::shared_future<Landing>& flight,
                        const InterruptCheck& interrupted) {
    // The leader's own patience ends every flight.
    const Patience endless{std::numeric_limits<double>::infinity(), interrupted};
    Wait wait(endless);
    while (wait.goes_on()) {
      if (flight.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    return flight.get();
  }

  std::mutex& mutex_;
  std::unordered_map<Key, std::shared_future<Landing>, Hash> flights_;
};

}  // namespace op2
