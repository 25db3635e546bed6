#include "http2/file_shares.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

namespace fairlead::http2 {
namespace {

TEST(FileShares, AllTogetherLeaveFilesForTheRest) {
  for (const size_t limit : {64u, 256u, 1024u, 3000u, 1u << 20}) {
    const FileShares shares = ShareFiles(limit, 1024);
    const size_t all = shares.streams + shares.http + shares.monitoring + shares.control;
    EXPECT_LE(all, limit - std::min<size_t>(256, limit / 4)) << limit;
    EXPECT_GE(shares.streams, limit / 3) << limit;
    EXPECT_GE(shares.http, std::min<size_t>(1024, limit / 12)) << limit;
  }
  EXPECT_EQ(ShareFiles(1 << 20, 1024).http, 1024u);
  EXPECT_GT(ShareFiles(SIZE_MAX, 1024).streams, size_t{1} << 40);
}

TEST(FileShares, TheSoftLimitIsRaised) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{std::min<rlim_t>(before.rlim_max, 200), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const size_t raised = RaiseFileLimit();
  rlimit after{};
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(raised, after.rlim_cur == RLIM_INFINITY ? SIZE_MAX : after.rlim_cur);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace fairlead::http2
