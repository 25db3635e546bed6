#include "server/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "server/grpc_server.h"
#include "server/http_server.h"

namespace fairlead::server {
namespace {

TEST(ParseAddress, TakesHostsAndPorts) {
  const auto text = [](std::string_view address) {
    const auto parsed = ParseAddress(address);
    return parsed.ok() ? StrCat(parsed->host, " ", parsed->port) : "";
  };
  EXPECT_EQ(text("127.0.0.1:15010"), "127.0.0.1 15010");
  EXPECT_EQ(text("[::1]:80"), "::1 80");
  EXPECT_EQ(text(":8080"), ":: 8080");
  for (const char* bad : {"", ":", "127.0.0.1:", "15010", "a:b", ":65536", ":-1", ":80 ", "localhost:80x"})
    EXPECT_EQ(text(bad), "") << bad;
}

TEST(ListenFailure, SaysWhyAPortCannotBeHad) {
  HttpServer first;
  ASSERT_TRUE(first.Start("127.0.0.1:0").ok());
  const std::string taken = StrCat("127.0.0.1:", first.port());
  HttpServer second;
  EXPECT_EQ(second.Start(taken).message(), StrCat("cannot listen on ", taken, ": Address already in use"));
  GrpcServerOptions options;
  options.addresses = {taken};
  EXPECT_EQ(GrpcServer(options).Start().message(),
            StrCat("cannot listen on ", taken, ": Address already in use"));
}

}  // namespace
}  // namespace fairlead::server
