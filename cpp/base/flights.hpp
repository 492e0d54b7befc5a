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

/// @brief Single flight: of all threads with the same request at the same time, one makes the
/// result.
///
/// @tparam Made The result; copied to all waiting threads.
template <typename Made, typename Key = std::string, typename Hash = std::hash<Key>>
class Flights {
 public:
  /// @param[in] mutex Guards the known results, and the flights.
  explicit Flights(std::mutex& mutex) : mutex_(mutex) {}

  /// @brief The known result for @p key, or the result made by one thread for all.
  ///
  /// An Error is for all waiting threads. Any other end of a flight, such as an interrupt, is only
  /// for the thread of the flight: another thread flies.
  /// @param[in] known Returns `std::optional<Made>`; called with the mutex held.
  /// @param[in] joined Called with the mutex held when this thread begins to wait for another's.
  /// @param[in] make Returns `Made`; called without the mutex.
  /// @param[in] keep Takes the result; called with the mutex held, before other threads look again.
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
