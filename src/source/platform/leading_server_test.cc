#include "source/platform/leading_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LeadingServer Server(const std::string& text, HttpUser user = {}, const std::string& token_file = "") {
  LeadingServer::Options options{.url = *ParseSourceUrl(text, 5050), .platform = {}, .user = std::move(user)};
  options.platform.tls = text.find("tls") != std::string::npos;
  options.platform.token_file = token_file;
  return LeadingServer(std::move(options));
}

TEST(LeadingServerTest, ALeaderKeepsSchemeAndPrefix) {
  LeadingServer server = Server("mesos://a,b:81/prefix?tls");
  EXPECT_EQ(server.base(), "https://a:5050/prefix");
  EXPECT_TRUE(server.Follow("//c:5050/api/v1").ok());
  EXPECT_EQ(server.base(), "https://c:5050/prefix");
  EXPECT_EQ(server.RequestFor("/api/v1")->url, "https://c:5050/prefix/api/v1");
  EXPECT_TRUE(server.Follow("https://d/api/v1").ok());
  EXPECT_EQ(server.base(), "https://d/prefix");
  server.TryNext();
  EXPECT_EQ(server.base(), "https://b:81/prefix");
  server.TryNext();
  EXPECT_EQ(server.base(), "https://a:5050/prefix");
}

TEST(LeadingServerTest, FromTlsNothingLeadsToPlaintext) {
  LeadingServer server = Server("mesos://a?tls");
  EXPECT_THAT(std::string(server.Follow("http://a:5050/api/v1").message()), HasSubstr("is not followed"));
  EXPECT_EQ(server.base(), "https://a:5050");
}

TEST(LeadingServerTest, WhatIsNoUrlIsNotFollowed) {
  LeadingServer server = Server("mesos://a");
  for (const char* location : {"", "/api/v1", "b:5050"})
    EXPECT_FALSE(server.Follow(location).ok()) << location;
}

TEST(LeadingServerTest, RedirectsInARowAreBounded) {
  LeadingServer server = Server("mesos://a,b");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(server.Follow(i % 2 == 0 ? "//b:5050" : "//a:5050").ok());
  EXPECT_FALSE(server.Follow("//b:5050").ok());
  server.Found();
  EXPECT_TRUE(server.Follow("//b:5050").ok());
}

TEST(LeadingServerTest, CredentialsAreForServersOfTheUrl) {
  TestFolder folder;
  folder.Write("secret", "abc\n");
  LeadingServer basic = Server("mesos://a,b", {.user = "me", .password_file = folder / "secret"});
  EXPECT_THAT(basic.RequestFor("/")->headers, Contains("Authorization: Basic bWU6YWJj"));
  EXPECT_TRUE(basic.Follow("//b:5050/api/v1").ok());
  EXPECT_THAT(basic.RequestFor("/")->headers, Contains("Authorization: Basic bWU6YWJj"));
  EXPECT_THAT(std::string(basic.Follow("//c:5050/api/v1").message()), HasSubstr("no master of the URL"));
  EXPECT_THAT(Server("mesos://a", {.token_scheme = "token="}, folder / "secret").RequestFor("/")->headers,
              Contains("Authorization: token=abc"));
  LeadingServer open = Server("mesos://a");
  EXPECT_TRUE(open.Follow("//c:5050/api/v1").ok());
  EXPECT_THAT(open.RequestFor("/")->headers, IsEmpty());
}

TEST(LeadingServerTest, AFileThatIsAbsentIsNamed) {
  const auto request = Server("mesos://a", {.user = "me", .password_file = "/absent/secret"}).RequestFor("/");
  EXPECT_THAT(std::string(request.status().message()), HasSubstr("/absent/secret"));
}

}  // namespace
}  // namespace fairlead::source
