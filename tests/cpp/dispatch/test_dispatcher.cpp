// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/dispatcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace op2::dispatch {
namespace {

ExecutablePtr executable_called(std::string strategy) {
  exec::Executable executable;
  executable.strategy = std::move(strategy);
  return std::make_shared<const exec::Executable>(std::move(executable));
}

/// A provider that knows some sources and writes down what it is asked.
class Known : public Provider {
 public:
  Known(std::string name, std::map<std::string, ExecutablePtr> known, std::string why = "not mine")
      : name_(std::move(name)), known_(std::move(known)), why_(std::move(why)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Answer find(const Query& query) override {
    asked.push_back(query.source);
    const auto found = known_.find(query.source);
    if (found == known_.end()) return {nullptr, why_};
    return {found->second, ""};
  }

  std::vector<std::string> asked;

 private:
  std::string name_;
  std::map<std::string, ExecutablePtr> known_;
  std::string why_;
};

Query query_for(const std::string& source) {
  return {"res", "signature of " + source, source, "wanted"};
}

TEST(Dispatcher, AsksProvidersInOrderAndStopsAtTheFirst) {
  const ExecutablePtr first = executable_called("direct");
  const auto one = std::make_shared<Known>("one", std::map<std::string, ExecutablePtr>{});
  const auto two =
      std::make_shared<Known>("two", std::map<std::string, ExecutablePtr>{{"a", first}});
  const auto three = std::make_shared<Known>(
      "three", std::map<std::string, ExecutablePtr>{{"a", executable_called("block")}});
  Dispatcher dispatcher;
  for (const auto& provider : {one, two, three}) dispatcher.add(provider);
  EXPECT_EQ(dispatcher.resolve(query_for("a")), first);
  EXPECT_EQ(one->asked, std::vector<std::string>{"a"});
  EXPECT_EQ(two->asked, std::vector<std::string>{"a"});
  EXPECT_TRUE(three->asked.empty());
}

TEST(Dispatcher, AMissIsNullWithEveryReason) {
  Dispatcher dispatcher;
  dispatcher.add(
      std::make_shared<Known>("blas", std::map<std::string, ExecutablePtr>{}, "no such operation"));
  dispatcher.add(std::make_shared<JitTable>(4));
  EXPECT_EQ(dispatcher.resolve(query_for("a")), nullptr);
  const std::vector<Event> expected{
      {"res", "", "wanted", "blas: no such operation; jit: not compiled yet", 1}};
  EXPECT_EQ(dispatcher.events(), expected);
}

TEST(Dispatcher, AMissIsFilledSomehow) {
  Dispatcher dispatcher;
  for (const char* source : {"a", "b", "c"})
    EXPECT_EQ(dispatcher.resolve(query_for(source)), nullptr);
  dispatcher.filled(query_for("a"), "compiled", 2, 5);
  dispatcher.filled(query_for("b"), "compiled", 3, 7);
  const std::vector<Event> expected{{"res", "", "wanted", "", 1},  // nobody said what became of it
                                    {"res", "", "wanted", "", 2, "compiled", 5, 12}};
  EXPECT_EQ(dispatcher.events(), expected);
  dispatcher.filled(query_for("c"), "disk", 1, 3);
  EXPECT_EQ(dispatcher.events(),
            (std::vector<Event>{expected[1], {"res", "", "wanted", "", 1, "disk", 1, 3}}));
  dispatcher.clear_events();
  dispatcher.filled(query_for("a"), "compiled", 2, 5);
  EXPECT_TRUE(dispatcher.events().empty());
}

TEST(Dispatcher, WithoutProvidersNothingIsFound) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.resolve(query_for("a")), nullptr);
  EXPECT_EQ(dispatcher.events(), (std::vector<Event>{{"res", "", "wanted", "", 1}}));
}

TEST(Dispatcher, CountsEqualEvents) {
  const auto table = std::make_shared<JitTable>(4);
  Dispatcher dispatcher;
  dispatcher.add(table);
  (void)dispatcher.resolve(query_for("a"));
  table->insert(query_for("a"), executable_called("block"));
  for (int call = 0; call < 3; ++call) (void)dispatcher.resolve(query_for("a"));
  const std::vector<Event> expected{{"res", "", "wanted", "jit: not compiled yet", 1},
                                    {"res", "jit", "block", "", 3}};
  EXPECT_EQ(dispatcher.events(), expected);
  dispatcher.clear_events();
  EXPECT_TRUE(dispatcher.events().empty());
}

TEST(Dispatcher, ToldByNameAndStrategy) {
  const auto table = std::make_shared<JitTable>(4);
  Dispatcher dispatcher;
  dispatcher.add(table);
  table->insert(query_for("a"), executable_called("block"));
  table->insert(query_for("b"), executable_called("colour"));
  (void)dispatcher.resolve(query_for("a"));
  (void)dispatcher.resolve(query_for("b"));
  Query other = query_for("a");
  other.loop = "update";
  (void)dispatcher.resolve(other);
  const std::vector<Event> expected{{"res", "jit", "block", "", 1},
                                    {"res", "jit", "colour", "", 1},
                                    {"update", "jit", "block", "", 1}};
  EXPECT_EQ(dispatcher.events(), expected);
}

TEST(Dispatcher, ReportsOperationsBesideLoops) {
  Dispatcher dispatcher;
  EXPECT_EQ(dispatcher.resolve(query_for("a")), nullptr);
  dispatcher.operations()->counted("zero", "int32")->add(5);
  Event zero{"zero of int32", "builtin", "", "", 1};
  zero.running = 5;
  EXPECT_EQ(dispatcher.events(), (std::vector<Event>{{"res", "", "wanted", "", 1}, zero}));
  dispatcher.clear_events();
  EXPECT_TRUE(dispatcher.events().empty());
}

TEST(Dispatcher, ResolvesFromSeveralThreads) {
  const auto table = std::make_shared<JitTable>(8);
  Dispatcher dispatcher;
  dispatcher.add(table);
  const auto work = [&dispatcher, &table](int thread) {
    const Query query = query_for(std::to_string(thread));
    for (int round = 0; round < 200; ++round) {
      if (dispatcher.resolve(query) == nullptr) table->insert(query, executable_called("direct"));
    }
  };
  std::thread one(work, 1);
  std::thread two(work, 2);
  one.join();
  two.join();
  std::int64_t n_resolved = 0;
  for (const Event& event : dispatcher.events()) n_resolved += event.n_resolved;
  EXPECT_EQ(n_resolved, 400);
}

bool knows(JitTable& table, const std::string& source) {
  return table.find(query_for(source)).executable != nullptr;
}

TEST(JitTable, FindsByTheWholeSource) {
  JitTable table(4);
  const ExecutablePtr executable = executable_called("direct");
  table.insert({"res", "signature", "key 1"}, executable);
  EXPECT_EQ(table.find({"other name", "other signature", "key 1"}).executable, executable);
  const Provider::Answer miss = table.find({"res", "signature", "key 12"});
  EXPECT_EQ(miss.executable, nullptr);
  EXPECT_EQ(miss.why, "not compiled yet");
}

TEST(JitTable, ForgetsTheLeastRecentlyUsed) {
  JitTable table(2);
  table.insert(query_for("a"), executable_called("direct"));
  table.insert(query_for("b"), executable_called("direct"));
  EXPECT_TRUE(knows(table, "a"));  // now b is the older one
  table.insert(query_for("c"), executable_called("direct"));
  EXPECT_TRUE(knows(table, "a"));
  EXPECT_FALSE(knows(table, "b"));
  EXPECT_TRUE(knows(table, "c"));
}

TEST(JitTable, NeverHoldsMoreThanItsBound) {
  JitTable table(3);
  for (int i = 0; i < 10; ++i) table.insert(query_for(std::to_string(i)), executable_called("x"));
  int known = 0;
  for (int i = 0; i < 10; ++i) known += knows(table, std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(known, 3);
}

TEST(JitTable, AnEvictedExecutableLivesWithItsLoops) {
  JitTable table(1);
  table.insert(query_for("a"), executable_called("owner"));
  const ExecutablePtr held = table.find(query_for("a")).executable;
  table.insert(query_for("b"), executable_called("direct"));
  EXPECT_FALSE(knows(table, "a"));
  EXPECT_EQ(held->strategy, "owner");
  EXPECT_EQ(held.use_count(), 1);
}

TEST(JitTable, TheLastInsertedWins) {
  JitTable table(2);
  const ExecutablePtr second = executable_called("second");
  table.insert(query_for("a"), executable_called("first"));
  table.insert(query_for("a"), second);
  EXPECT_EQ(table.find(query_for("a")).executable, second);
  table.insert(query_for("b"), executable_called("b"));
  EXPECT_TRUE(knows(table, "a"));  // inserting twice took one place
  table.clear();
  EXPECT_FALSE(knows(table, "a"));
  EXPECT_FALSE(knows(table, "b"));
}

TEST(JitTable, WithoutRoomNothingStays) {
  JitTable table(0);
  table.insert(query_for("a"), executable_called("direct"));
  EXPECT_FALSE(knows(table, "a"));
}

}  // namespace
}  // namespace op2::dispatch
