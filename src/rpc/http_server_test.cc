#include "rpc/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include "base/thread_fake.h"

// By a real HTTP client.
namespace fairlead::rpc {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  void StartServer() {
    server_.Get("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
    ASSERT_TRUE(server_.Start("127.0.0.1:0").ok());
  }
  void ExpectReady() {
    httplib::Client client("127.0.0.1", server_.port());
    client.set_read_timeout(20);
    const auto answer = client.Get("/ready");
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->body, "yes");
  }

  HttpServer server_;
};

TEST_F(HttpServerTest, GoesOnWhereTheSystemHasNoMoreThreads) {
  StartServer();
  const NoMoreThreads none;
  httplib::Client idle("127.0.0.1", server_.port());
  idle.set_keep_alive(true);
  ASSERT_TRUE(idle.Get("/ready"));  // its connection has a thread of its own, until it is idle for too long
  ExpectReady();
  ExpectReady();
}

TEST_F(HttpServerTest, DoesNotStartWithoutAThread) {
  const NoMoreThreads none;
  EXPECT_EQ(server_.Start("127.0.0.1:0").code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace fairlead::rpc
