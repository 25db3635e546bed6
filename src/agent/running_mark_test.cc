#include "agent/running_mark.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "base/strings.h"
#include "source/file/source_fake.h"

namespace fairlead::agent {
namespace {

using namespace std::chrono_literals;

// A process that sets the mark, and runs until SIGTERM or for good.
pid_t StartMarked(const std::string& path, bool stubborn) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (stubborn) signal(SIGTERM, SIG_IGN);
    const auto mark = RunningMark::Set(path);
    const char answer = mark.ok() ? 'y' : 'n';
    static_cast<void>(!write(ready[1], &answer, 1));
    for (;;) pause();
  }
  char answer = 0;
  EXPECT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  close(ready[0]);
  close(ready[1]);
  return child;
}

TEST(RunningMarkTest, OneProcessAtATime) {
  const source::TestFolder folder;
  const std::string path = folder / "run/a.pid";
  std::optional<RunningMark> mark(*RunningMark::Set(path));
  const auto second = RunningMark::Set(path);
  EXPECT_TRUE(absl::IsAlreadyExists(second.status())) << second.status();
  EXPECT_NE(second.status().message().find(StrCat("process ", getpid())), absl::string_view::npos);
  mark.reset();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(RunningMark::Set(path).ok());
}

TEST(RunningMarkTest, AProcessIsEndedByItsMark) {
  const source::TestFolder folder;
  const std::string path = folder / "a.pid";
  EXPECT_TRUE(absl::IsNotFound(EndMarked(path, 1s)));
  const pid_t child = StartMarked(path, /*stubborn=*/false);
  EXPECT_TRUE(EndMarked(path, 20s).ok());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  // The file of a process that could not remove it stands for nobody.
  EXPECT_TRUE(absl::IsNotFound(EndMarked(path, 1s)));
  EXPECT_TRUE(RunningMark::Set(path).ok());
}

TEST(RunningMarkTest, AProcessThatDoesNotEndIsSaid) {
  const source::TestFolder folder;
  const std::string path = folder / "a.pid";
  const pid_t child = StartMarked(path, /*stubborn=*/true);
  EXPECT_TRUE(absl::IsDeadlineExceeded(EndMarked(path, 200ms)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace fairlead::agent
