#include "fetch/web_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <thread>

#include "base/strings.h"

namespace fairlead::fetch {
namespace {

class WebRequestTest : public testing::Test {
 protected:
  WebRequestTest() {
    server_.Get("/text", [](const httplib::Request& request, httplib::Response& response) {
      response.set_header("X-Seen", request.get_header_value("Authorization"));
      response.set_content("hello", "text/plain");
    });
    server_.Get("/away",
                [](const httplib::Request&, httplib::Response& response) { response.set_redirect("/text"); });
    server_.Get("/slow", [this](const httplib::Request&, httplib::Response&) {
      while (!stopping_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~WebRequestTest() override {
    stopping_ = true;
    server_.stop();
    thread_.join();
  }
  std::string Url(const std::string& path) const { return StrCat("http://127.0.0.1:", port_, path); }

  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

TEST_F(WebRequestTest, AnAnswerHasItsHeaders) {
  const auto answer = Ask({.url = Url("/away"), .headers = {"Authorization: me"}, .most_redirects = 1});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_THAT(answer->headers, testing::Contains(testing::Pair("x-seen", "me")));
  EXPECT_THAT(answer->headers, testing::Not(testing::Contains(testing::Pair("location", testing::_))));
  EXPECT_EQ(Ask({.url = Url("/away")})->status, 302) << "not followed unless it is asked for";
}

TEST_F(WebRequestTest, WhatIsNoAnswerIsSaid) {
  EXPECT_TRUE(absl::IsResourceExhausted(Ask({.url = Url("/text"), .most_bytes = 4}).status()));
  const BlockedAddresses blocked({*IpPrefix::Parse("127.0.0.0/8")});
  EXPECT_TRUE(absl::IsPermissionDenied(Ask({.url = Url("/text"), .blocked = &blocked}).status()));
  EXPECT_TRUE(
      absl::IsUnavailable(Ask({.url = Url("/slow"), .timeout = std::chrono::milliseconds(50)}).status()));
  EXPECT_TRUE(absl::IsCancelled(Ask({.url = Url("/slow"),
                                     .stopping =
                                         [] {
                                           static const std::atomic<bool> stopping{true};
                                           return &stopping;
                                         }()})
                                    .status()));
}

TEST_F(WebRequestTest, PlaintextStaysOnThisMachineUnlessItIsAllowed) {
  EXPECT_TRUE(absl::IsUnavailable(Ask({.url = StrCat("http://127.0.0.2:", port_, "/text")}).status()));
  // There is nobody at that address, but the protocol is no reason.
  const auto refused = Ask({.url = StrCat("http://127.0.0.2:", port_, "/text"), .plaintext = true});
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("connect"));
}

}  // namespace
}  // namespace fairlead::fetch
