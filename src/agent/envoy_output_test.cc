#include "agent/envoy_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/strings.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;

// Time is the test's.
class OutputCopyTest : public testing::Test {
 protected:
  OutputCopyTest() {
    EXPECT_EQ(pipe2(target_, O_CLOEXEC | O_NONBLOCK), 0);
    copy_ = std::make_unique<OutputCopy>(
        target_[1], OutputCopy::Limits{
                        .bytes = 100, .patience = milliseconds(1'000), .line_patience = milliseconds(100)});
    EXPECT_TRUE(copy_->Open().ok());
  }
  ~OutputCopyTest() override {
    for (const int end : target_) close(end);
  }
  void Say(const std::string& text) {
    ASSERT_EQ(write(copy_->write_end(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Fill() {
    while (write(target_[1], "x", 1) == 1) {
    }
  }
  std::string Heard() const {
    std::string all(1 << 17, '\0');
    const ssize_t size = read(target_[0], all.data(), all.size());
    all.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return all;
  }
  void Step(int ms = 0) {
    now_ += milliseconds(ms);
    copy_->Read(now_);
    copy_->Write(now_);
  }

  int target_[2];
  Clock::time_point now_ = Clock::now();
  std::unique_ptr<OutputCopy> copy_;
};

TEST_F(OutputCopyTest, LinesGoWholeUnlessTheirEndIsLongInComing) {
  Say("one\ntw");
  Step();
  EXPECT_EQ(Heard(), "one\n");
  EXPECT_EQ(copy_->ToWrite(now_), -1) << "nothing to wait for but the line's end";
  EXPECT_EQ(copy_->Deadline(now_), now_ + milliseconds(100));
  Say("o\n");
  Step();
  EXPECT_EQ(Heard(), "two\n");
  Say("thr");
  Step();
  Step(100);
  EXPECT_EQ(Heard(), "thr");
}

TEST_F(OutputCopyTest, ATargetThatTakesNothingStopsEnvoyForASecondAndThenLinesAreLost) {
  Fill();
  const std::string line = std::string(49, 'a') + "\n";
  for (int i = 0; i < 3; ++i) Say(line);
  Step();
  EXPECT_EQ(copy_->ToRead(now_), -1) << "full: Envoy waits";
  EXPECT_EQ(copy_->Deadline(now_), now_ + milliseconds(1'000));
  Say(line);
  Step(1'000);
  Say("half a li");
  Step(1);
  EXPECT_EQ(copy_->Deadline(now_), Clock::time_point::max()) << "nobody is waited for any more";
  Heard();
  Step(1);
  EXPECT_EQ(Heard(),
            line + line + line + "fairlead agent: 2 lines of Envoy's are lost: nobody took them in time\n");
  Say("ne\nnew\n");
  Step(1);
  EXPECT_EQ(Heard(), "new\n") << "from the next whole line on";
}

TEST_F(OutputCopyTest, WithoutAReaderAllIsReadAndNothingKept) {
  signal(SIGPIPE, SIG_IGN);
  close(target_[0]);
  target_[0] = -1;
  for (int i = 0; i < 10; ++i) {
    Say(std::string(4'096, 'a') + "\n");
    Step();
    EXPECT_TRUE(copy_->empty());
  }
  EXPECT_EQ(copy_->ToWrite(now_), -1);
}

TEST_F(OutputCopyTest, AnyUserMayOpenThePipeToWrite) {
  struct stat found {};
  ASSERT_EQ(fstat(copy_->write_end(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0622u);
}

TEST(EnvoyOutputTest, WhatIsThereWhenItStopsIsCopied) {
  int target[2];
  ASSERT_EQ(pipe2(target, O_CLOEXEC), 0);
  {
    EnvoyOutput output(target[1], target[1]);
    ASSERT_TRUE(output.Start().ok());
    ASSERT_EQ(write(output.out(), "no end", 6), 6);
    output.Stop();
  }
  char text[16] = {};
  EXPECT_EQ(read(target[0], text, sizeof text), 6);
  EXPECT_STREQ(text, "no end");
  for (const int end : target) close(end);
}

}  // namespace
}  // namespace fairlead::agent
