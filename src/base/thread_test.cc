#include "base/thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>

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
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the log's threads are there
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

TEST(Executor, NiceThreadsAreNiceAndNoOthers) {
  const int own = getpriority(PRIO_PROCESS, 0);
  std::promise<int> of_a_thread;
  Executor executor("nice", 1, 3);
  executor.Submit(Urgency::kPatient, [&] { of_a_thread.set_value(getpriority(PRIO_PROCESS, 0)); });
  EXPECT_EQ(of_a_thread.get_future().get(), std::min(own + 3, 19));
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

}  // namespace
}  // namespace fairlead
