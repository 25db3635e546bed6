#include "push/stream/unproven_peers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"

namespace fairlead::push {
namespace {

using xds::HeldNames;
using xds::NameSet;

constexpr UnprovenLimits kLimits = {
    .memory = 800'000, .memory_of_service = 8000, .of_stream = 1000, .waiting = 80'000, .large_request = 800};

std::vector<HeldNames> Names(const std::string& prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(StrCat(prefix, i));
  return {{NameSet::Of({names.begin(), names.end()}), false}};
}

class UnprovenPeersTest : public testing::Test {
 protected:
  const std::shared_ptr<UnprovenPeers> peers_ = std::make_shared<UnprovenPeers>(kLimits);
};

TEST_F(UnprovenPeersTest, SmallStreamsAreNotCounted) {
  std::vector<std::unique_ptr<UnprovenPeers::Account>> accounts;
  for (int i = 0; i < 10'000; ++i) {
    accounts.push_back(peers_->Open("a"));
    ASSERT_TRUE(accounts.back()->Hold(1000, {}));
  }
}

TEST_F(UnprovenPeersTest, AnAddressHasHalfAndAllHaveTheWhole) {
  std::vector<std::unique_ptr<UnprovenPeers::Account>> accounts;
  const auto held_by = [&](const char* host) {
    for (int streams = 0;; ++streams) {
      auto account = peers_->Open(host);
      if (!account->Hold(41'000, {})) return streams;
      accounts.push_back(std::move(account));
    }
  };
  EXPECT_EQ(held_by("a"), 10);
  EXPECT_EQ(held_by("b"), 10);
  EXPECT_EQ(held_by("c"), 0);
  accounts.erase(accounts.begin());
  EXPECT_EQ(held_by("c"), 1) << "what a stream held comes back with its end";
}

TEST_F(UnprovenPeersTest, ALargerMeshHasMoreRoom) {
  const auto account = peers_->Open("a");
  EXPECT_FALSE(account->Hold(52'000, {})) << "a stream has a sixteenth";
  peers_->SetServices(10);
  EXPECT_TRUE(account->Hold(52'000, {}));
  EXPECT_TRUE(account->Hold(20'000, {})) << "less than before always fits";
}

TEST_F(UnprovenPeersTest, NamesThatManyAskForAreCountedOnce) {
  std::vector<std::unique_ptr<UnprovenPeers::Account>> accounts;
  const auto names = Names("outbound|80||", 500);  // 32,000 bytes or so
  for (int i = 0; i < 100; ++i) {
    accounts.push_back(peers_->Open("a"));
    ASSERT_TRUE(accounts.back()->Hold(0, names));
    ASSERT_TRUE(accounts.back()->Hold(0, names)) << "or again";
  }
  for (int i = 0; i < 12; ++i) {
    accounts.push_back(peers_->Open("a"));
    ASSERT_TRUE(accounts.back()->Hold(0, Names(StrCat("other-", i, "-"), 500)));
  }
  const auto other = peers_->Open("a");
  EXPECT_FALSE(other->Hold(0, Names("x", 900)));
  accounts.clear();
  EXPECT_TRUE(other->Hold(0, Names("x", 900)));
}

TEST_F(UnprovenPeersTest, OneWhoLeavesDoesNotTakeSharedNamesAlong) {
  auto first = peers_->Open("a");
  auto second = peers_->Open("a");
  const auto names = Names("n", 900);  // 46,000 bytes or so
  ASSERT_TRUE(first->Hold(0, names));
  ASSERT_TRUE(second->Hold(0, names));
  std::vector<std::unique_ptr<UnprovenPeers::Account>> others;
  do {
    others.push_back(peers_->Open("a"));
  } while (others.back()->Hold(40'000, {}));
  first = nullptr;
  EXPECT_FALSE(others.back()->Hold(40'000, {})) << "they are still held";
  second = nullptr;
  EXPECT_TRUE(others.back()->Hold(40'000, {}));
}

TEST_F(UnprovenPeersTest, NamesThatAreAnsweredWhetherKnownOrNotCostMore) {
  auto names = Names("r", 700);
  EXPECT_TRUE(peers_->Open("a")->Hold(0, names));
  names.front().answered = true;
  EXPECT_FALSE(peers_->Open("a")->Hold(0, names));
}

TEST_F(UnprovenPeersTest, LargeRequestsWaitInTurn) {
  const auto first = peers_->Open("a"), second = peers_->Open("a"), other = peers_->Open("b");
  EXPECT_TRUE(first->Wait(32'000));
  EXPECT_FALSE(second->Wait(32'000)) << "half for an address";
  EXPECT_TRUE(second->Wait(800)) << "small ones do not count";
  EXPECT_TRUE(other->Wait(32'000));
  first->NoteTaken();
  EXPECT_TRUE(second->Wait(32'000));
  EXPECT_FALSE(other->Wait(60'000)) << "more than a stream may hold";
}

TEST_F(UnprovenPeersTest, AnAddressThatHasUsedItsTimeComesLate) {
  const auto first = peers_->Open("a"), second = peers_->Open("a"), other = peers_->Open("b");
  const Clock::time_point start{};
  first->Spend(0.1, start);
  EXPECT_FALSE(first->InDebt(start));
  first->Spend(0.4, start);
  EXPECT_TRUE(second->InDebt(start));
  EXPECT_FALSE(other->InDebt(start));
  EXPECT_FALSE(second->InDebt(start + std::chrono::seconds(2)));
}

}  // namespace
}  // namespace fairlead::push
