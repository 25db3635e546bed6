#include "http2/guests.h"

#include <gtest/gtest.h>

namespace fairlead::http2 {
namespace {

constexpr size_t kPlain = 0, kTls = 1;

Guests Of(size_t most, size_t most_per_address = SIZE_MAX) {
  return Guests({.most = most, .most_per_address = most_per_address, .identifies = {false, true}});
}

// The one that goes for a newcomer; 0: none does.
uint64_t Left(const Guests::Arrival& arrival) { return arrival.leaves ? arrival.leaves->id : 0; }

TEST(Guests, TheOldestThatIsSilentGoes) {
  Guests guests({.most = 3, .identifies = {false}});
  const uint64_t heard = guests.Arrive(kPlain, "a", 0).id;
  guests.Note(heard, Standing::kHeard);
  const uint64_t silent = guests.Arrive(kPlain, "a", 7).id;
  guests.Arrive(kPlain, "b", 0);
  const auto newcomer = guests.Arrive(kPlain, "a", 0);
  EXPECT_NE(newcomer.id, 0u);
  EXPECT_EQ(Left(newcomer), silent);
  EXPECT_EQ(newcomer.leaves->loop, 7u);
}

TEST(Guests, WhereNoneIsSilentTheAddressWithMostGivesWay) {
  Guests guests({.most = 3, .identifies = {false}});
  const uint64_t first = guests.Arrive(kPlain, "few", 0).id;
  const uint64_t second = guests.Arrive(kPlain, "many", 0).id;
  for (const uint64_t id : {first, second, guests.Arrive(kPlain, "many", 0).id})
    guests.Note(id, Standing::kHeard);
  const auto own = guests.Arrive(kPlain, "many", 0);
  EXPECT_EQ(own.id, 0u) << "it has as many as anybody";
  EXPECT_STREQ(own.limit, "connections");
  EXPECT_EQ(Left(guests.Arrive(kPlain, "other", 0)), second);
}

TEST(Guests, AListenerHasAShareOfItsOwn) {
  Guests guests = Of(8);
  for (int i = 0; i < 20; ++i) guests.Note(guests.Arrive(kPlain, "a", 0).id, Standing::kHeard);
  EXPECT_EQ(guests.Arrive(kPlain, "a", 0).id, 0u);
  for (int i = 0; i < 2; ++i) {
    const auto newcomer = guests.Arrive(kTls, "b", 0);
    EXPECT_NE(newcomer.id, 0u);
    EXPECT_EQ(Left(newcomer), 0u) << "a quarter of eight was kept free";
    guests.Note(newcomer.id, Standing::kProven);
  }
  const auto third = guests.Arrive(kTls, "b", 0);
  EXPECT_EQ(Left(third), 1u) << "what the other has beyond its share";
}

TEST(Guests, WhoHasAnIdentityStays) {
  Guests guests({.most = 2, .identifies = {true}});
  for (int i = 0; i < 2; ++i) guests.Note(guests.Arrive(0, "a", 0).id, Standing::kProven);
  EXPECT_EQ(guests.Arrive(0, "b", 0).id, 0u);
  guests.Leave(1);
  const uint64_t heard = guests.Arrive(0, "b", 0).id;
  guests.Note(heard, Standing::kHeard);
  EXPECT_EQ(Left(guests.Arrive(0, "b", 0)), heard) << "newcomers may have one, who has none does not";
}

TEST(Guests, AnAddressHasALimit) {
  Guests guests = Of(100, 3);
  const uint64_t first = guests.Arrive(kPlain, "a", 0).id;
  for (int i = 0; i < 2; ++i) guests.Arrive(kPlain, "a", 0);
  EXPECT_EQ(Left(guests.Arrive(kPlain, "a", 0)), first);
  EXPECT_EQ(Left(guests.Arrive(kPlain, "b", 0)), 0u);
  for (uint64_t id = 1; id < 10; ++id) guests.Note(id, Standing::kHeard);
  EXPECT_STREQ(guests.Arrive(kPlain, "a", 0).limit, "address");
  for (int i = 0; i < 10; ++i) {
    const uint64_t proven = guests.Arrive(kTls, "a", 0).id;
    EXPECT_NE(proven, 0u);
    guests.Note(proven, Standing::kProven);
  }
  for (int i = 0; i < 10; ++i) EXPECT_NE(guests.Arrive(kPlain, "", 0).id, 0u) << "a unix socket";
}

TEST(Guests, NothingIsLeftOfThoseThatWent) {
  Guests guests = Of(4);
  for (int round = 0; round < 100; ++round) {
    const auto arrival = guests.Arrive(round % 2 == 0 ? kPlain : kTls, "a", 0);
    ASSERT_NE(arrival.id, 0u);
    ASSERT_EQ(Left(arrival), 0u);
    guests.Note(arrival.id, round % 3 == 0 ? Standing::kHeard : Standing::kProven);
    guests.Leave(arrival.id);
    guests.Leave(arrival.id);
    guests.Note(arrival.id, Standing::kProven);
  }
}

}  // namespace
}  // namespace fairlead::http2
