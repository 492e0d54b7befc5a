// SPDX-License-Identifier: BSD-3-Clause
#include "base/flights.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace op2 {
namespace {

/// Something that takes long to make, and what came of it.
struct Workshop {
  std::mutex mutex;
  Flights<int> flights{mutex};
  std::optional<int> shelf;
  int n_joined = 0;
  std::atomic<int> n_made = 0;

  int n_waiting() {
    const std::scoped_lock guard(mutex);
    return n_joined;
  }

  template <typename Make>
  int get(const Make& make) {
    return flights.join(
        "key", [this] { return shelf; }, [this] { ++n_joined; },
        [&] {
          ++n_made;
          return make();
        },
        [this](int made) { shelf = made; }, {});
  }
};

TEST(Flights, WhatIsKnownIsNotMade) {
  Workshop shop;
  shop.shelf = 3;
  EXPECT_EQ(shop.get([] { return 4; }), 3);
  EXPECT_EQ(shop.n_made, 0);
}

TEST(Flights, OneMakesForAll) {
  Workshop shop;
  std::vector<int> got(4);
  std::vector<std::thread> threads;
  for (int& place : got) {
    threads.emplace_back([&shop, &place] {
      place = shop.get([&shop] {
        while (shop.n_waiting() < 3) std::this_thread::yield();
        return 7;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, std::vector<int>(4, 7));
  EXPECT_EQ(shop.n_made, 1);
  EXPECT_EQ(shop.shelf, 7);
}

/// Two threads want the same thing; the first one's attempt ends with @p raise once the other
/// waits.
template <typename Raise>
int two_of_which_the_first_fails(Workshop& shop, const Raise& raise) {
  std::atomic<bool> is_started = false;
  std::atomic<int> n_failed = 0;
  const auto attempt = [&](const auto& make) {
    try {
      shop.get(make);
    } catch (const std::exception&) {
      ++n_failed;
    }
  };
  std::thread first([&] {
    attempt([&]() -> int {
      is_started = true;
      while (shop.n_waiting() < 1) std::this_thread::yield();
      raise();
      return 0;
    });
  });
  while (!is_started) std::this_thread::yield();
  attempt([] { return 9; });
  first.join();
  return n_failed;
}

TEST(Flights, AnErrorIsForAll) {
  Workshop shop;
  EXPECT_EQ(two_of_which_the_first_fails(shop, [] { throw UsageError("no"); }), 2);
  EXPECT_EQ(shop.n_made, 1);
  EXPECT_EQ(shop.get([] { return 5; }), 5);
}

TEST(Flights, AnInterruptIsForTheInterrupted) {
  Workshop shop;
  EXPECT_EQ(two_of_which_the_first_fails(shop, [] { throw std::runtime_error("stop"); }), 1);
  EXPECT_EQ(shop.n_made, 2);
  EXPECT_EQ(shop.shelf, 9);
}

}  // namespace
}  // namespace op2
