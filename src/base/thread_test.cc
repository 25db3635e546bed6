#include "base/thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <string>

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

TEST(Executor, LateTasksWaitForTheOthersButNotForEver) {
  Executor executor("order", 1);
  std::promise<void> go, done;
  std::string order;
  executor.Submit(Urgency::kUrgent, [&] { go.get_future().wait(); });
  for (int i = 0; i < 40; ++i) executor.Submit(Urgency::kLate, [&] { order += 'l'; });
  for (int i = 0; i < 40; ++i) executor.Submit(Urgency::kPatient, [&] { order += 'p'; });
  for (int i = 0; i < 40; ++i) executor.Submit(Urgency::kUrgent, [&] { order += 'u'; });
  executor.Submit(Urgency::kLate, [&] { done.set_value(); });
  go.set_value();
  done.get_future().wait();
  EXPECT_LT(order.find('l'), 17u);
  EXPECT_LT(order.find('p'), 4u);
  const std::string first = order.substr(0, 80);
  EXPECT_EQ(std::count(first.begin(), first.end(), 'l'), 5) << first;
}

}  // namespace
}  // namespace fairlead
