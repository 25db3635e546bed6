#include "base/thread.h"

#include <gtest/gtest.h>

#include "base/executor.h"
#include "base/thread_fake.h"

namespace fairlead {
namespace {

TEST(StartThread, Runs) {
  bool ran = false;
  auto thread = StartThread([&ran] { ran = true; });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_TRUE(ran);
}

TEST(StartThread, IsAStatusWhereTheSystemHasNone) {
  const NoMoreThreads none;
  const auto thread = StartThread([] {});
  EXPECT_EQ(thread.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(RequireThread, EndsTheProcessWithAMessage) {
  const auto start = [] {
    const NoMoreThreads none;
    RequireThread([] {}).join();
  };
  EXPECT_EXIT(start(), testing::ExitedWithCode(1), "fairlead: cannot start a thread: ");
  EXPECT_EXIT(
      {
        const NoMoreThreads none;
        const Executor executor("work", 2);
      },
      testing::ExitedWithCode(1), "fairlead: cannot start a thread: ");
}

}  // namespace
}  // namespace fairlead
