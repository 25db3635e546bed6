#include "cache/recorded.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/byte_cache.h"

namespace fairlead::cache {
namespace {

// Worlds are numbers; what is made in one holds in that one alone.
struct MadeIn {
  int world = 0;
  bool Hold(int other) const { return world == other; }
  uint64_t client_questions() const { return 0; }
  uint64_t client_answers() const { return 0; }
  uint64_t ClientAnswersIn(int) const { return 0; }
};
using Text = std::shared_ptr<const std::string>;
using Cache = RecordedCache<std::string, std::string, MadeIn>;

class RecordedCacheTest : public testing::Test {
 protected:
  // A text in a world, made where none holds.
  Text Get(int world, const std::string& text) {
    return GetMade(world, [&text](const Text&) { return std::make_shared<const std::string>(text); });
  }
  template <typename Make>
  Text GetMade(int world, Make make) {
    const auto record = [&](int in, const Text& like) -> Cache::Result {
      ++made_;
      return {make(like), std::make_shared<const MadeIn>(MadeIn{in})};
    };
    return cache_.Get("key", world, record).value;
  }
  // The text that was given out last where that is equal.
  Text GetLike(int world, const std::string& text) {
    return GetMade(world, [&text](const Text& like) {
      return like != nullptr && *like == text ? like : std::make_shared<const std::string>(text);
    });
  }
  void LetTimePass() {
    for (int i = 0; i < 3; ++i) cache_.Sweep(now_ += std::chrono::minutes(1));
  }

  Clock::time_point now_ = Clock::now();
  Cache cache_;
  std::atomic<int> made_{0};
};

TEST_F(RecordedCacheTest, WhatHoldsIsGivenOutAndNotMade) {
  const Text first = Get(1, "a");
  EXPECT_EQ(Get(1, "never made"), first);
  const Text second = Get(2, "b");
  EXPECT_EQ(*second, "b");
  EXPECT_EQ(Get(1, "never made"), first) << "an earlier world is back";
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(cache_.size(), 2u);
}

TEST_F(RecordedCacheTest, AMakerIsHandedWhatWasGivenOutLast) {
  std::vector<std::string> likes;
  const auto make = [&likes](const char* text) {
    return [&likes, text](const Text& like) {
      likes.push_back(like == nullptr ? "none" : *like);
      return std::make_shared<const std::string>(text);
    };
  };
  GetMade(1, make("a"));
  GetMade(2, make("b"));
  GetMade(1, make("never made"));
  GetMade(3, make("c"));
  EXPECT_EQ(likes, (std::vector<std::string>{"none", "a", "a"}));
}

TEST_F(RecordedCacheTest, AnEqualValueStaysTheSameObject) {
  const Text first = GetLike(1, "a");
  for (int world = 2; world < 10; ++world) EXPECT_EQ(GetLike(world, "a"), first);
  EXPECT_EQ(made_, 9);
}

TEST_F(RecordedCacheTest, EqualValuesKeepNoEarlierWorlds) {
  Text held = GetLike(0, "a");
  for (int world = 1; world < 1000; ++world) held = GetLike(world, "a");
  EXPECT_LE(cache_.size(), 6u);
  held = nullptr;
  LetTimePass();
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(RecordedCacheTest, WhatSomebodyHasIsKept) {
  std::vector<Text> held;
  for (int world = 0; world < 1000; ++world) held.push_back(Get(world, std::to_string(world)));
  LetTimePass();
  EXPECT_EQ(cache_.size(), held.size());
  EXPECT_EQ(Get(7, "never made"), held[7]);
  held.clear();
  LetTimePass();
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(RecordedCacheTest, OfWhatNobodyHasTheLatestFewAreKept) {
  for (int world = 0; world < 100; ++world) Get(world, std::to_string(world));
  EXPECT_LE(cache_.size(), 6u);
  Get(99, "never made");
  Get(98, "never made");
  EXPECT_EQ(made_, 100);
}

TEST_F(RecordedCacheTest, TimeAndNumberForgetWhatIsNotAskedFor) {
  constexpr auto kIdle = std::chrono::seconds(10);
  Get(1, "a");
  cache_.Sweep(now_, kIdle);
  cache_.Sweep(now_ + std::chrono::seconds(5), kIdle);
  EXPECT_EQ(cache_.size(), 1u) << "not for long";
  Get(1, "a");
  cache_.Sweep(now_ + std::chrono::seconds(12), kIdle);
  cache_.Sweep(now_ + std::chrono::seconds(20), kIdle);
  EXPECT_EQ(cache_.size(), 1u) << "asked for meanwhile";
  cache_.Sweep(now_ + std::chrono::seconds(21), kIdle, /*most=*/0);
  EXPECT_EQ(cache_.size(), 0u) << "too many";
}

TEST_F(RecordedCacheTest, ThreadsThatAskForOneValueMakeItOnce) {
  std::vector<std::thread> threads;
  std::vector<Text> got(8);
  for (Text& text : got) {
    threads.emplace_back([&] {
      text = GetMade(1, [](const Text&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_shared<const std::string>("a");
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made_, 1);
  for (const Text& text : got) EXPECT_EQ(text, got.front());
}

TEST_F(RecordedCacheTest, SweepDoesNotWaitForAMaker) {
  std::promise<void> making, swept;
  std::thread maker([&] {
    GetMade(1, [&](const Text&) {
      making.set_value();
      swept.get_future().wait();
      return std::make_shared<const std::string>("a");
    });
  });
  making.get_future().wait();
  LetTimePass();
  EXPECT_EQ(cache_.size(), 0u);
  swept.set_value();
  maker.join();
  EXPECT_EQ(*Get(1, "never made"), "a");
}

TEST_F(RecordedCacheTest, InShadowADifferenceIsTold) {
  const Text kept = Get(1, "a");
  int mismatches = 0;
  const auto in_shadow = [&](const char* text) {
    const auto record = [&](int in, const Text&) -> Cache::Result {
      return {std::make_shared<const std::string>(text), std::make_shared<const MadeIn>(MadeIn{in})};
    };
    return cache_
        .GetInShadow("key", 1, record, std::equal_to<std::string>(),
                     [&](const std::string&, const std::string& was, const std::string& fresh) {
                       ++mismatches;
                       EXPECT_EQ(was, "a");
                       EXPECT_EQ(fresh, text);
                     })
        .value;
  };
  EXPECT_EQ(in_shadow("a"), kept);
  EXPECT_EQ(mismatches, 0);
  EXPECT_EQ(*in_shadow("b"), "b");
  EXPECT_EQ(mismatches, 1);
}

// A world with a client in it; what is made depends on the client's answer.
struct ClientsWorld {
  int client = 0;
};
struct MadeForClient {
  int client = 0;
  bool Hold(const ClientsWorld& world) const { return world.client == client; }
  uint64_t client_questions() const { return 1; }
  uint64_t client_answers() const { return static_cast<uint64_t>(client); }
  uint64_t ClientAnswersIn(const ClientsWorld& world) const { return static_cast<uint64_t>(world.client); }
};

class ClientsTest : public testing::Test {
 protected:
  using Cache = RecordedCache<std::string, int, MadeForClient>;
  template <typename Meanwhile>
  std::shared_ptr<const int> Get(int client, Meanwhile meanwhile) {
    const auto make = [&](const ClientsWorld& world, const auto&) -> Cache::Result {
      ++made_;
      meanwhile();
      return {std::make_shared<const int>(world.client),
              std::make_shared<const MadeForClient>(MadeForClient{world.client})};
    };
    return cache_.Get("key", ClientsWorld{client}, make).value;
  }
  std::shared_ptr<const int> Get(int client) {
    return Get(client, [] {});
  }

  Cache cache_;
  std::atomic<int> made_{0};
};

TEST_F(ClientsTest, NobodyWaitsForWhatIsMadeForAnotherClient) {
  Get(1);  // from now on it is known what the client is asked
  std::promise<void> making, made_meanwhile;
  std::thread maker([&] {
    Get(2, [&] {
      making.set_value();
      made_meanwhile.get_future().wait();
    });
  });
  making.get_future().wait();
  EXPECT_EQ(*Get(3), 3);
  EXPECT_EQ(*Get(1), 1);
  made_meanwhile.set_value();
  maker.join();
  EXPECT_EQ(made_, 3);
}

TEST_F(ClientsTest, ManyClientsAreServedFromWhatWasMadeOnce) {
  std::vector<std::shared_ptr<const int>> held;
  for (int round = 0; round < 3; ++round)
    for (int client = 0; client < 300; ++client) held.push_back(Get(client));
  EXPECT_EQ(made_, 300);
  EXPECT_EQ(held[0], held[300]);
}

TEST_F(ClientsTest, ClientsThatCameAndWentLeaveALimitedNumber) {
  for (int client = 0; client < 10'000; ++client) Get(client);
  EXPECT_LE(cache_.size(), 130u);
}

// As the generators have them: one cache by what is asked for, below it one by what it is made from.
class TwoCachesTest : public testing::Test {
 protected:
  std::shared_ptr<const std::string> Ask(int world = 0) {
    const auto build = [](int) { return std::make_shared<const std::string>("made"); };
    const auto make = [&](int in, const auto&) -> Recorded<std::string, MadeIn> {
      return {below_.GetOrBuild(1, build), std::make_shared<const MadeIn>(MadeIn{in})};
    };
    return above_.Get(1, world, make).value;
  }
  void LetTimePass() {
    for (int i = 0; i < 3; ++i) {
      now_ += std::chrono::minutes(1);
      above_.Sweep(now_);
      below_.Sweep(now_);
    }
  }

  Clock::time_point now_ = Clock::now();
  RecordedCache<int, std::string, MadeIn> above_;
  ByteCache<int, std::string> below_;
};

TEST_F(TwoCachesTest, WhatSomebodyHasIsKept) {
  const auto held = Ask();
  LetTimePass();
  EXPECT_EQ(Ask(), held);
  EXPECT_EQ(*held, "made");
}

TEST_F(TwoCachesTest, WhatNobodyHasIsForgottenByBoth) {
  Ask();
  Ask(/*world=*/1);
  LetTimePass();
  EXPECT_EQ(above_.size(), 0u);
  EXPECT_EQ(below_.size(), 0u);
}

}  // namespace
}  // namespace fairlead::cache
