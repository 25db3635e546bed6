#include "fetch/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/strings.h"
#include "fetch/observer_fake.h"
#include "fetch/raw_server_fake.h"
#include "fetch/whole_answer.h"

// Over HTTP/1.1: see also client_http2_test.cc, and client_control_test.cc for pauses and cancels.
namespace fairlead::fetch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

TEST(Client, AnAnswerComesAsItIsSent) {
  std::atomic<int> allowed{1};
  RawServerFake server([&](int connection, Stopping stopping) {
    RawServerFake::ReadRequest(connection);
    Send(connection, StrCat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", kChunked));
    for (int i = 0; i < 3 && !stopping; ++i) {
      while (allowed <= i && !stopping) std::this_thread::sleep_for(milliseconds(1));
      Send(connection, Chunk(StrCat("part ", i, ";")));
    }
    Send(connection, "0\r\nTrailer: ignored\r\n\r\n");
  });
  ObserverFake observer;
  Client client;
  client.Start({.url = server.Url("/watch")}, &observer);
  EXPECT_TRUE(observer.Until([](const auto& self) { return self.data() == "part 0;"; }));
  EXPECT_EQ(observer.status(), 200);
  EXPECT_THAT(observer.headers(), testing::ElementsAre(testing::Pair("transfer-encoding", "chunked")));
  allowed = 3;
  EXPECT_TRUE(observer.Done().status.ok()) << observer.Done().status;
  EXPECT_EQ(observer.Done().http_status, 200);
  EXPECT_EQ(observer.Done().address, "127.0.0.1");
  EXPECT_EQ(observer.data(), "part 0;part 1;part 2;");
  EXPECT_EQ(observer.headers_calls(), 1);
}

TEST(Client, HeadersAreShownBeforeTheBody) {
  RawServerFake server(RawServerFake::Answering(kChunked, /*stays=*/true));
  ObserverFake observer;
  Client client;
  const Client::Handle handle = client.Start({.url = server.Url("/")}, &observer);
  EXPECT_TRUE(observer.Until([](const auto& self) { return self.status() == 200; }));
  client.Cancel(handle);
}

TEST(Client, MethodsHeadersAndBodiesAreSent) {
  std::mutex mutex;
  std::string request;
  RawServerFake server([&](int connection, Stopping) {
    std::string text = RawServerFake::ReadRequest(connection);
    char body[5] = "";
    recv(connection, body, 4, MSG_WAITALL);
    const std::lock_guard lock(mutex);
    request = text + body;
    Send(connection, Ok(""));
  });
  Client client;
  const WholeAnswer answer =
      AskAndWait(client, {.method = "PATCH",
                          .url = server.Url("/object?x=1"),
                          .headers = {"Content-Type: application/apply-patch+yaml", "X-A: b"},
                          .body = "kind"});
  EXPECT_TRUE(answer.outcome.status.ok()) << answer.outcome.status;
  const std::lock_guard lock(mutex);
  EXPECT_THAT(request, testing::StartsWith("PATCH /object?x=1 HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/apply-patch+yaml\r\n"));
  EXPECT_THAT(request, HasSubstr("X-A: b\r\n"));
  EXPECT_THAT(request, HasSubstr("User-Agent: fairlead\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(request, testing::Not(HasSubstr("Expect")));
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\nkind"));
}

TEST(Client, WhatCannotBeSentIsRefused) {
  Client client;
  const auto refused = [&](Request request) {
    const absl::Status status = AskAndWait(client, std::move(request)).outcome.status;
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  refused({.url = ""});
  refused({.url = "nonsense"});
  refused({.url = "file:///etc/passwd"});
  refused({.url = "http://127.0.0.1:1/\r\nX: y"});
  refused({.url = "http://example.com/"});  // plaintext that leaves the machine
  refused({.method = "GET /x", .url = "http://127.0.0.1:1/"});
  refused({.url = "http://127.0.0.1:1/", .headers = {"X: y\r\nZ: secret"}});
  refused({.url = "http://127.0.0.1:1/", .headers = {"no colon"}});
  refused({.url = "http://127.0.0.1:1/", .bearer = [] { return "a\nb"; }});
  refused({.url = "https://127.0.0.1:1/", .tls = {.certificate = "x"}});
  EXPECT_THAT(refused({.url = "http://127.0.0.1:1/",
                       .bearer = []() -> absl::StatusOr<std::string> {
                         return absl::InvalidArgumentError("no token today");
                       }}),
              "no token today");
  EXPECT_THAT(refused({.url = "http://127.0.0.1:1/", .bearer_file = "/none/token"}),
              HasSubstr("/none/token"));
}

TEST(Client, TokensAreThoseOfTheMoment) {
  std::mutex mutex;
  std::vector<std::string> requests;
  RawServerFake server([&](int connection, Stopping) {
    const std::string request = RawServerFake::ReadRequest(connection);
    {
      const std::lock_guard lock(mutex);
      requests.push_back(request);
    }
    Send(connection, Ok(""));
  });
  const std::string path = testing::TempDir() + "/client_test_token";
  Client client;
  for (const std::string token : {"first", "second"}) {
    std::ofstream(path) << token << "\n";
    EXPECT_TRUE(AskAndWait(client, {.url = server.Url("/"), .bearer_file = path}).outcome.status.ok());
    EXPECT_TRUE(AskAndWait(client, {.url = server.Url("/"), .bearer = [&] { return token + "!"; }})
                    .outcome.status.ok());
  }
  unlink(path.c_str());
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_THAT(requests[0], HasSubstr("Authorization: Bearer first\r\n"));
  EXPECT_THAT(requests[1], HasSubstr("Authorization: Bearer first!\r\n"));
  EXPECT_THAT(requests[2], HasSubstr("Authorization: Bearer second\r\n"));
  EXPECT_THAT(requests[3], HasSubstr("Authorization: Bearer second!\r\n"));
}

TEST(Client, BodiesAreBounded) {
  RawServerFake server(RawServerFake::Answering(Ok(std::string(100'000, 'x'))));
  Client client;
  const WholeAnswer more = AskAndWait(client, {.url = server.Url("/"), .most_bytes = 99'999});
  EXPECT_TRUE(absl::IsResourceExhausted(more.outcome.status)) << more.outcome.status;
  EXPECT_LE(more.body.size(), 99'999u);
  EXPECT_EQ(AskAndWait(client, {.url = server.Url("/"), .most_bytes = 100'000}).body.size(), 100'000u);
}

TEST(Client, HeadersAreBounded) {
  std::string headers;
  for (int i = 0; i < 200; ++i) StrAppend(&headers, "X-", i, ": ", std::string(1000, 'h'), "\r\n");
  RawServerFake server(
      RawServerFake::Answering(StrCat("HTTP/1.1 200 OK\r\n", headers, "Content-Length: 0\r\n\r\n")));
  Client client;
  const WholeAnswer answer = AskAndWait(client, {.url = server.Url("/")});
  EXPECT_TRUE(answer.outcome.status.ok()) << answer.outcome.status;
  EXPECT_LE(answer.headers.size(), 66u);
  EXPECT_GE(answer.headers.size(), 60u);
}

TEST(Client, RetryAfterIsTold) {
  const auto retry_after = [](const std::string& value) {
    RawServerFake server(RawServerFake::Answering(
        StrCat("HTTP/1.1 429 Too Many\r\nRetry-After: ", value, "\r\nContent-Length: 0\r\n\r\n")));
    Client client;
    const Outcome outcome = AskAndWait(client, {.url = server.Url("/")}).outcome;
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.http_status, 429);
    return outcome.retry_after;
  };
  EXPECT_EQ(retry_after("7"), seconds(7));
  EXPECT_EQ(retry_after("0"), seconds(0));
  EXPECT_EQ(retry_after("999999999"), seconds(86'400));
  EXPECT_EQ(retry_after("Fri, 01 Jan 2010 00:00:00 GMT"), seconds(0));
  EXPECT_EQ(retry_after("Fri, 01 Jan 2100 00:00:00 GMT"), seconds(86'400));
  EXPECT_EQ(retry_after("soon"), std::nullopt);
  EXPECT_EQ(retry_after("-3"), std::nullopt);
}

TEST(Client, BrokenServersAreUnavailable) {
  const auto outcome = [](const std::string& answer) {
    RawServerFake server(RawServerFake::Answering(answer));
    Client client;
    const absl::Status status = AskAndWait(client, {.url = server.Url("/")}).outcome.status;
    EXPECT_TRUE(absl::IsUnavailable(status)) << answer.substr(0, 100) << ": " << status;
  };
  outcome("");
  outcome("garbage\r\n\r\n");
  outcome(std::string(200'000, '\xff'));
  outcome("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  outcome(StrCat(kChunked, "zz\r\n"));
  outcome(StrCat(kChunked, "5\r\nhel"));
  outcome("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n");
  RawServerFake resets([](int connection, Stopping) {
    RawServerFake::ReadRequest(connection);
    const linger now{1, 0};
    setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  });
  Client client;
  EXPECT_TRUE(absl::IsUnavailable(AskAndWait(client, {.url = resets.Url("/")}).outcome.status));
  EXPECT_TRUE(absl::IsUnavailable(AskAndWait(client, {.url = "http://127.0.0.1:1/"}).outcome.status));
  EXPECT_TRUE(absl::IsUnavailable(AskAndWait(client, {.url = "https://nobody.invalid:1/"}).outcome.status));
}

TEST(Client, TimeLimits) {
  RawServerFake hangs([](int connection, Stopping stopping) {
    const std::string request = RawServerFake::ReadRequest(connection);
    if (request.find("/headers") != std::string::npos) Send(connection, kChunked);
    for (int i = 0; request.find("/drip") != std::string::npos && !stopping; ++i) {
      if (i == 0) Send(connection, kChunked);
      Send(connection, Chunk("."));
      std::this_thread::sleep_for(milliseconds(20));
    }
    Linger(stopping);
  });
  Client client;
  const auto message = [&](Request request) {
    const absl::Status status = AskAndWait(client, std::move(request)).outcome.status;
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(message({.url = hangs.Url("/"), .idle_limit = milliseconds(60)}), "no byte within 60 ms");
  EXPECT_EQ(message({.url = hangs.Url("/headers"), .idle_limit = milliseconds(60)}), "no byte within 60 ms");
  EXPECT_EQ(
      message(
          {.url = hangs.Url("/drip"), .idle_limit = milliseconds(5000), .whole_limit = milliseconds(300)}),
      "no whole answer within 300 ms");
  // It does not end a handshake.
  EXPECT_THAT(message({.url = StrCat("https://127.0.0.1:", hangs.port(), "/"),
                       .connect_limit = milliseconds(80),
                       .idle_limit = seconds(20)}),
              testing::AnyOf("no connection within 80 ms", HasSubstr("imeout")));
}

TEST(Client, BytesThatKeepComingAreNotIdle) {
  RawServerFake server([](int connection, Stopping) {
    RawServerFake::ReadRequest(connection);
    Send(connection, kChunked);
    for (int i = 0; i < 15; ++i) {
      Send(connection, Chunk("."));
      std::this_thread::sleep_for(milliseconds(40));
    }
    Send(connection, "0\r\n\r\n");
  });
  Client client;
  const WholeAnswer answer = AskAndWait(client, {.url = server.Url("/"), .idle_limit = milliseconds(400)});
  EXPECT_TRUE(answer.outcome.status.ok()) << answer.outcome.status;
  EXPECT_EQ(answer.body.size(), 15u);
}

TEST(Client, RedirectsAndConnectionsOfBefore) {
  RawServerFake inside(RawServerFake::Answering(Ok("secret")));
  RawServerFake outside(RawServerFake::Answering(
      StrCat("HTTP/1.1 302 Found\r\nLocation: ", inside.Url("/"), "\r\nContent-Length: 0\r\n\r\n")));
  Client client;
  const WholeAnswer as_it_is = AskAndWait(client, {.url = outside.Url("/")});
  EXPECT_EQ(as_it_is.outcome.http_status, 302);
  const WholeAnswer followed = AskAndWait(client, {.url = outside.Url("/"), .most_redirects = 1});
  EXPECT_EQ(followed.outcome.http_status, 200);
  EXPECT_EQ(followed.body, "secret");
  BlockedAddresses blocked;
  blocked.BlockEndpoints([&](const IpAddress&, int port) { return port == inside.port(); });
  const WholeAnswer refused =
      AskAndWait(client, {.url = outside.Url("/"), .most_redirects = 1, .blocked = &blocked});
  EXPECT_TRUE(absl::IsPermissionDenied(refused.outcome.status)) << refused.outcome.status;
}

// A connection that somebody else may have does not serve one who may not.
TEST(Client, BlockedAddressesAreNotAskedOverAnOpenConnection) {
  RawServerFake server([](int connection, Stopping stopping) {
    while (!stopping && !RawServerFake::ReadRequest(connection).empty()) Send(connection, Ok("secret"));
  });
  Client client;  // goes first, and with it its connections
  EXPECT_EQ(AskAndWait(client, {.url = server.Url("/")}).body, "secret");
  EXPECT_EQ(AskAndWait(client, {.url = server.Url("/")}).body, "secret");
  EXPECT_EQ(server.connections(), 1) << "connections are kept";
  const BlockedAddresses blocked({*IpPrefix::Parse("127.0.0.0/8")});
  const WholeAnswer refused = AskAndWait(client, {.url = server.Url("/"), .blocked = &blocked});
  EXPECT_TRUE(absl::IsPermissionDenied(refused.outcome.status)) << refused.outcome.status;
  EXPECT_EQ(refused.body, "");
  EXPECT_EQ(AskAndWait(client, {.url = server.Url("/"), .own_connection = true}).body, "secret");
  EXPECT_EQ(server.connections(), 2);
}

}  // namespace
}  // namespace fairlead::fetch
