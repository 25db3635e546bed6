#include "jwks/downloads.h"

#include <gmock/gmock.h>

#include "jwks/key_server_fake.h"

namespace fairlead::jwks {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class DownloadsTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Get(const std::string& url, Downloads::Options options = {},
                                  Clock::duration timeout = seconds(20)) {
    Downloads downloads(std::move(options));
    absl::StatusOr<std::string> outcome = absl::UnknownError("no outcome");
    bool done = false;
    downloads.Get(url, timeout, [&](absl::StatusOr<std::string> got) {
      outcome = std::move(got);
      done = true;
    });
    const Clock::time_point end = Clock::now() + seconds(60);
    while (!done && Clock::now() < end) downloads.Wait(seconds(1));
    return outcome;
  }
  FakeKeyServer server_;
};

TEST_F(DownloadsTest, TheBodyOfAnAnswer) {
  server_.Answer("/keys", "{}");
  EXPECT_EQ(*Get(server_.Url("/keys")), "{}");
  EXPECT_EQ(*Get(server_.Url("/keys")), "{}");
  EXPECT_EQ(server_.asked(), 2);
}

TEST_F(DownloadsTest, AnotherStatusIsAFailure) {
  const absl::Status status = Get(server_.Url("/none")).status();
  EXPECT_EQ(status.message(), "the answer is status 404");
}

TEST_F(DownloadsTest, OtherSchemesAreNotFollowed) {
  for (const char* url :
       {"file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "nonsense://x"}) {
    EXPECT_FALSE(Get(url).ok()) << url;
  }
  server_.Redirect("/r", "file:///etc/passwd");
  EXPECT_FALSE(Get(server_.Url("/r")).ok());
}

TEST_F(DownloadsTest, RedirectsAreFollowedButNotForEver) {
  server_.Redirect("/a", "/b");
  server_.Answer("/b", "found");
  EXPECT_EQ(*Get(server_.Url("/a")), "found");
  server_.Redirect("/loop", "/loop");
  EXPECT_FALSE(Get(server_.Url("/loop")).ok());
}

TEST_F(DownloadsTest, LargeBodiesAreCutOff) {
  server_.Answer("/large", std::string(3000, 'x'));
  Downloads::Options options;
  options.max_bytes = 2999;
  EXPECT_TRUE(absl::IsResourceExhausted(Get(server_.Url("/large"), options).status()));
  options.max_bytes = 3000;
  EXPECT_EQ(Get(server_.Url("/large"), options)->size(), 3000u);
}

TEST_F(DownloadsTest, AServerThatDoesNotAnswerIsGivenUp) {
  server_.Stall("/slow");
  EXPECT_TRUE(absl::IsDeadlineExceeded(Get(server_.Url("/slow"), {}, milliseconds(50)).status()));
}

TEST_F(DownloadsTest, BlockedAddressesAreNotConnectedTo) {
  server_.Answer("/keys", "{}");
  Downloads::Options options;
  options.blocked = fetch::BlockedAddresses({*IpPrefix::Parse("127.0.0.0/8")});
  const absl::Status status = Get(server_.Url("/keys"), options).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  server_.Redirect("/metadata", "http://169.254.169.254/latest");
  EXPECT_TRUE(absl::IsPermissionDenied(Get(server_.Url("/metadata")).status()));
  EXPECT_EQ(server_.asked(), 1) << "the redirect itself";
}

TEST_F(DownloadsTest, SlowOnesDoNotHoldUpOthers) {
  server_.Stall("/slow");
  server_.Answer("/fast", "here");
  Downloads downloads({});
  bool slow = false, fast = false;
  downloads.Get(server_.Url("/slow"), seconds(30), [&](const auto&) { slow = true; });
  downloads.Get(server_.Url("/fast"), seconds(30), [&](const auto& got) { fast = got.ok(); });
  const Clock::time_point end = Clock::now() + seconds(25);
  while (!fast && Clock::now() < end) downloads.Wait(seconds(1));
  EXPECT_TRUE(fast);
  EXPECT_FALSE(slow);
}

TEST_F(DownloadsTest, OthersWaitForTheirTurn) {
  server_.Answer("/keys", "{}");
  Downloads::Options options;
  options.at_a_time = 2;
  Downloads downloads(options);
  int done = 0;
  for (int i = 0; i < 5; ++i) downloads.Get(server_.Url("/keys"), seconds(30), [&](const auto&) { ++done; });
  const Clock::time_point end = Clock::now() + seconds(60);
  while (done < 5 && Clock::now() < end) downloads.Wait(seconds(1));
  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace fairlead::jwks
