#include "base/cpu_profile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

namespace fairlead {
namespace {

uintptr_t Word(const std::string& bytes, size_t index) {
  uintptr_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof word, sizeof word);
  return word;
}

TEST(CpuProfileTest, HasTheStacksOfBusyThreads) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> turns{0};
  std::thread busy([&] {
    while (!done) ++turns;
  });
  const auto profile = ProfileCpu(std::chrono::milliseconds(300));
  done = true;
  busy.join();
  ASSERT_TRUE(profile.ok()) << profile.status();
  const uintptr_t header[] = {0, 3, 0, 10'000, 0};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(Word(*profile, i), header[i]) << i;
  EXPECT_GE(Word(*profile, 5), 1u) << "how often the first stack was seen";
  EXPECT_GE(Word(*profile, 6), 1u) << "its frames";
  EXPECT_NE(profile->find("[stack]"), std::string::npos) << "what addresses mean";
}

TEST(CpuProfileTest, IsOneAtATime) {
  std::atomic<bool> refused{false};
  std::thread other([&] {
    while (!refused) refused = absl::IsFailedPrecondition(ProfileCpu(std::chrono::milliseconds(1)).status());
  });
  while (!refused) (void)ProfileCpu(std::chrono::milliseconds(50));
  other.join();
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace fairlead
