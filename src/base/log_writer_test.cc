#include "base/log_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/clock.h"
#include "base/strings.h"
#include "base/thread_wakes_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;

std::string Notice(size_t lost) { return StrCat("lost ", lost, "\n"); }

TEST(LogWriter, APipeThatNobodyReadsStopsNobody) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  std::signal(SIGPIPE, SIG_IGN);
  size_t lost = 0;
  {
    LogWriter writer(ends[1], Notice);
    const std::string line = std::string(999, 'a') + "\n";
    const auto start = Clock::now();
    for (int i = 0; i < 5000; ++i) lost += writer.Add(line) ? 0 : 1;
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
    EXPECT_FALSE(writer.Drain(milliseconds(50)));
    // The pipe has 64 KiB, one turn of the thread 1 MiB at most, and 1 MiB wait.
    EXPECT_GT(lost, 2500u);
    close(ends[0]);  // so that the thread ends
  }
}

TEST(LogWriter, LostLinesAreTold) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  std::string read_back;
  std::thread reader;
  {
    LogWriter writer(ends[1], Notice);
    const std::string line(LogWriter::kMost - 1, 'a');
    while (writer.Add(line)) writer.Wake();
    const bool another = writer.Add(line);
    reader = std::thread([&] {
      char bytes[1 << 16];
      for (ssize_t n = 0; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
        read_back.append(bytes, static_cast<size_t>(n));
    });
    EXPECT_FALSE(another);
    EXPECT_TRUE(writer.Drain(std::chrono::seconds(10)));
    EXPECT_TRUE(writer.Add("last\n"));
  }
  reader.join();  // the descriptor is closed once everything is written
  EXPECT_TRUE(read_back.ends_with("lost 2\nlast\n")) << read_back.substr(read_back.size() - 20);
  close(ends[0]);
}

TEST(LogWriter, SleepsWhileThereIsNothingToWrite) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  LogWriter writer(ends[1], Notice);
  std::this_thread::sleep_for(milliseconds(100));
  const uint64_t before = SleepsOf("log");
  std::this_thread::sleep_for(milliseconds(2500));
  EXPECT_EQ(SleepsOf("log"), before);
  EXPECT_TRUE(writer.Add("one\n"));
  char bytes[16];
  const auto start = Clock::now();
  while (read(ends[0], bytes, sizeof bytes) <= 0 && Clock::now() < start + std::chrono::seconds(5))
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(3)) << "a line waits a second, without another one";
  close(ends[0]);
}

}  // namespace
}  // namespace fairlead
