#include "base/after_quiet.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace fairlead {
namespace {

using std::chrono::milliseconds;

class Runs {
 public:
  void Add() {
    {
      std::lock_guard lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  bool Reach(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count_ >= count; });
  }
  int count() const {
    std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(AfterQuietTest, ABurstIsOneRun) {
  Runs runs;
  AfterQuiet watch;
  for (int i = 0; i < 50; ++i) watch.Touch();
  watch.Start({"test", milliseconds(50), std::chrono::seconds(20), [&] { runs.Add(); }});
  for (int i = 0; i < 50; ++i) watch.Touch();
  ASSERT_TRUE(runs.Reach(1));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(runs.count(), 1);
  watch.Touch();
  EXPECT_TRUE(runs.Reach(2));
}

TEST(AfterQuietTest, ChangesWithoutEndDoNotPutItOffForEver) {
  Runs runs;
  AfterQuiet watch;
  watch.Start({"test", std::chrono::seconds(20), milliseconds(100), [&] { runs.Add(); }});
  watch.Touch();
  EXPECT_TRUE(runs.Reach(1));
}

TEST(AfterQuietTest, NothingRunsOnceItIsStopped) {
  Runs runs;
  AfterQuiet watch;
  watch.Start({"test", milliseconds(1), milliseconds(1), [&] { runs.Add(); }});
  watch.Stop();
  watch.Touch();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(runs.count(), 0);
}

}  // namespace
}  // namespace fairlead
