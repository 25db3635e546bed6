#include "server/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "base/thread_fake.h"

// By a real HTTP client.
namespace fairlead::server {
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
  httplib::Client silent("127.0.0.1", server_.port());
  ExpectReady();
  ExpectReady();
}

// A thread that waits for an idle client's next request is one less for the others.
TEST_F(HttpServerTest, AConnectionIsOneRequest) {
  StartServer();
  httplib::Client client("127.0.0.1", server_.port());
  client.set_keep_alive(true);
  const auto answer = client.Get("/ready");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->get_header_value("Connection"), "close");
}

int ConnectTo(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// Sends blocks of `text` until the server ends the connection; how many bytes it let be sent.
size_t SendUntilEnd(int port, const std::string& text, size_t most) {
  const int socket = ConnectTo(port);
  size_t sent = 0;
  while (sent < most) {
    const ssize_t now = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (now <= 0) break;
    sent += static_cast<size_t>(now);
  }
  close(socket);
  return sent;
}

TEST_F(HttpServerTest, GiganticHeadersEndTheConnection) {
  StartServer();
  constexpr size_t kMost = 256 << 20;  // far more than buffers between the two take
  const std::string block(1 << 16, 'x');
  EXPECT_LT(SendUntilEnd(server_.port(), block, kMost), kMost) << "a request line without end";
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "x-header: of many\r\n";
  EXPECT_LT(SendUntilEnd(server_.port(), "GET /ready HTTP/1.1\r\n" + lines, kMost), kMost)
      << "headers without end";
  ExpectReady();
}

TEST_F(HttpServerTest, AHeadOfUsualSizeAndALargeBodyAreRead) {
  HttpServer server;
  server.Post("/size", [](const HttpRequest& r) { return HttpResponse{200, std::to_string(r.body.size())}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  httplib::Client client("127.0.0.1", server.port());
  const httplib::Headers headers = {{"x-long", std::string(7000, 'x')}, {"x-other", std::string(7000, 'y')}};
  const auto answer = client.Post("/size", headers, std::string(4 << 20, '\n'), "text/plain");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->body, std::to_string(4 << 20));
}

TEST_F(HttpServerTest, ARequestThatDoesNotArriveEndsItsConnection) {
  HttpServer server({.max_requests = 1, .request_patience = std::chrono::milliseconds(50)});
  server.Get("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  const int slow = ConnectTo(server.port());
  send(slow, "GET /ready", 10, MSG_NOSIGNAL);
  char byte = 0;
  EXPECT_EQ(recv(slow, &byte, 1, 0), 0) << "the server ends it";
  close(slow);
  httplib::Client client("127.0.0.1", server.port());
  client.set_read_timeout(20);
  EXPECT_TRUE(client.Get("/ready"));
}

TEST_F(HttpServerTest, RequestsBeyondTheMostWait) {
  HttpServer server({.max_requests = 1});
  std::promise<void> entered, leave;
  server.Post("/poll", [&](const HttpRequest&) {
    entered.set_value();
    leave.get_future().wait();
    return HttpResponse{304, "", "", "7"};
  });
  server.Get("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  httplib::Client poller("127.0.0.1", server.port()), prober("127.0.0.1", server.port());
  poller.set_read_timeout(60);
  auto poll = std::async(std::launch::async, [&] { return poller.Post("/poll"); });
  entered.get_future().wait();
  prober.set_read_timeout(0, 50000);
  EXPECT_FALSE(prober.Get("/ready")) << "the poll has the only place";
  leave.set_value();
  EXPECT_EQ(poll.get()->get_header_value("Retry-After"), "7");
  prober.set_read_timeout(60);
  EXPECT_TRUE(prober.Get("/ready"));
}

// A probe is answered whatever takes the threads, the places and the queue.
TEST_F(HttpServerTest, ProbesWaitForNobody) {
  HttpServer server({.max_requests = 2, .threads = 1});
  std::promise<void> entered, leave;
  server.Get("/slow", [&](const HttpRequest&) {
    entered.set_value();
    leave.get_future().wait();
    return HttpResponse{200, "done"};
  });
  std::mutex mutex;
  std::vector<HttpReplyPtr> held;
  server.PostLater("/poll", [&](const HttpRequest&, HttpReplyPtr reply) {
    std::lock_guard lock(mutex);
    held.push_back(std::move(reply));
  });
  server.Probe("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  const auto ask = [&](const char* path) {
    return std::async(std::launch::async, [&server, path] {
      httplib::Client client("127.0.0.1", server.port());
      client.set_read_timeout(60);
      return client.Post(path);
    });
  };
  std::vector<std::future<httplib::Result>> polls;
  const auto held_count = [&] {
    std::lock_guard lock(mutex);
    return held.size();
  };
  while (polls.size() < 2) {
    polls.push_back(ask("/poll"));
    while (held_count() < polls.size()) std::this_thread::yield();
  }
  const int waits = ConnectTo(server.port());
  send(waits, "GET /slow HTTP/1.1\r\n\r\n", 22, MSG_NOSIGNAL);
  httplib::Client probe("127.0.0.1", server.port());
  probe.set_read_timeout(20);
  EXPECT_TRUE(probe.Get("/ready"));
  held[0]->Answer({200, "first"});
  EXPECT_EQ(polls[0].get()->body, "first");
  entered.get_future().wait();
  EXPECT_TRUE(probe.Get("/ready"));
  leave.set_value();
  held.clear();
  EXPECT_EQ(polls[1].get()->status, 500) << "nobody can answer it any more";
  close(waits);
}

TEST_F(HttpServerTest, RequestsBeyondThoseThatWaitAreRefused) {
  HttpServer server({.max_requests = 1});
  std::promise<HttpReplyPtr> held;
  server.PostLater("/poll",
                   [&](const HttpRequest&, HttpReplyPtr reply) { held.set_value(std::move(reply)); });
  server.Get("/page", [](const HttpRequest&) { return HttpResponse{200, "page"}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  const int poll = ConnectTo(server.port());
  send(poll, "POST /poll HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 42, MSG_NOSIGNAL);
  const HttpReplyPtr reply = held.get_future().get();
  // One waits, and makes room for another one by going.
  for (int i = 0; i < 3; ++i) {
    httplib::Client waits("127.0.0.1", server.port());
    waits.set_read_timeout(0, 50000);
    EXPECT_FALSE(waits.Get("/page"));
  }
  const int waits = ConnectTo(server.port());
  send(waits, "GET /page HTTP/1.1\r\n\r\n", 22, MSG_NOSIGNAL);
  const auto refused = [&] {
    httplib::Client client("127.0.0.1", server.port());
    client.set_read_timeout(1);
    const auto answer = client.Get("/page");
    return answer && answer->status == 503;
  };
  while (!refused()) std::this_thread::yield();
  reply->Answer({200, ""});
  char bytes[16] = "";
  EXPECT_GT(recv(waits, bytes, 15, 0), 0);
  EXPECT_STREQ(std::string(bytes, 12).c_str(), "HTTP/1.1 200");
  close(waits);
  close(poll);
}

// Those that say nothing, or not enough, by the thousand.
TEST_F(HttpServerTest, SlowConnectionsMakeRoomForOthers) {
  HttpServer server({.max_connections = 50});
  server.Probe("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  std::vector<int> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(ConnectTo(server.port()));
    send(slow.back(), "GET /ready HTTP/1.1\r\nX: ", 24, MSG_NOSIGNAL);
    if (i % 50 != 49) continue;
    httplib::Client probe("127.0.0.1", server.port());
    probe.set_read_timeout(20);
    EXPECT_TRUE(probe.Get("/ready"));
  }
  for (const int socket : slow) close(socket);
}

TEST_F(HttpServerTest, DoesNotStartWithoutAThread) {
  const NoMoreThreads none;
  EXPECT_EQ(server_.Start("127.0.0.1:0").code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace fairlead::server
