#include "dns/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "dns/resolver_fake.h"

namespace fairlead::dns {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Replies = std::vector<std::string>;
Replies One(const std::string& query, bool /*tcp*/) { return {MakeReply(query, 1)}; }
Replies None(const std::string& /*query*/, bool /*tcp*/) { return {}; }

std::shared_ptr<const NameTable> TableOf(const std::string& address) {
  return NameTable::Make(MakeTable({{"web.shop.svc.cluster.local", {address, "fd00::1"}, "Kubernetes"}}),
                         {"shop", "shop.svc.cluster.local", {"shop.svc.cluster.local"}})
      .value();
}

// A port that is free for UDP may be taken for TCP.
std::unique_ptr<DnsServer> StartServer(const DnsServerOptions& options) {
  for (int attempt = 1;; ++attempt) {
    auto server = std::make_unique<DnsServer>(options);
    const absl::Status status = server->Start();
    if (status.ok()) return server;
    if (attempt < 20) continue;
    ADD_FAILURE() << status;
    return server;
  }
}

class DnsTransportTest : public testing::TestWithParam<bool> {
 protected:
  DnsTransportTest() { options_.listen = {*SocketAddress::Parse("127.0.0.1", 0)}; }
  SocketAddress Start(std::shared_ptr<const NameTable> table = TableOf("10.0.0.1")) {
    server_ = StartServer(options_);
    if (table != nullptr) server_->SetTable(std::move(table));
    return server_->listens_at().at(0);
  }
  std::string Ask(const SocketAddress& server, const FakeQuery& query) {
    return FakeClient(server, GetParam()).Ask(query);
  }

  DnsServerOptions options_;
  std::unique_ptr<DnsServer> server_;
};
INSTANTIATE_TEST_SUITE_P(Transports, DnsTransportTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Tcp" : "Udp"; });

TEST_P(DnsTransportTest, ANameOfTheTableIsAnswered) {
  const SocketAddress at = Start();
  EXPECT_THAT(RecordsOf(Ask(at, {"web"})), ElementsAre("web 30 A 10.0.0.1"));
  EXPECT_THAT(RecordsOf(Ask(at, {"web", kTypeAaaa})), ElementsAre("web 30 AAAA fd00::1"));
}

TEST_P(DnsTransportTest, AnotherNameIsForwardedWithAnotherIdAndOverTheSameTransport) {
  std::set<std::string> ids;
  std::atomic<int> other_transport{0};
  const FakeResolver resolver([&](const std::string& query, bool tcp) -> Replies {
    if (tcp != GetParam()) ++other_transport;
    ids.insert(query.substr(0, 2));
    return {MakeReply(query, 1)};
  });
  options_.resolvers = {resolver.address()};
  const SocketAddress at = Start();
  for (int i = 0; i < 4; ++i) {
    const std::string answer = Ask(at, {"www.example.com"});
    EXPECT_EQ(answer.substr(0, 2), Two(7));
    EXPECT_THAT(RecordsOf(answer), ElementsAre("www.example.com 60 A 10.0.0.1"));
  }
  EXPECT_EQ(other_transport, 0);
  EXPECT_THAT(ids, SizeIs(4)) << "an id is hard to guess";
}

TEST_P(DnsTransportTest, TheNextResolverIsAskedWhereOneDoesNotAnswer) {
  const FakeResolver silent(None), good(One);
  const SocketAddress nobody = [] { return FakeResolver(None).address(); }();
  options_.resolvers = {silent.address(), nobody, good.address()};
  options_.timeout = milliseconds(200);
  const SocketAddress at = Start();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(RecordsOf(Ask(at, {"www.example.com"})).size(), 1u);
  EXPECT_EQ(good.asked, 6);
}

TEST_P(DnsTransportTest, WithoutAnAnswerTheQueryFailsInTime) {
  const FakeResolver silent(None);
  options_.resolvers = {silent.address()};
  options_.timeout = milliseconds(150);
  const SocketAddress at = Start();
  const auto begin = Clock::now();
  EXPECT_EQ(RcodeOf(Ask(at, {"www.example.com"})), kRcodeServerFailure);
  EXPECT_GE(Clock::now() - begin, milliseconds(140));
  EXPECT_LT(Clock::now() - begin, milliseconds(2'000));
  server_ = nullptr;
  options_.resolvers = {};
  EXPECT_EQ(RcodeOf(Ask(Start(), {"www.example.com"})), kRcodeServerFailure) << "no resolver at all";
}

TEST_P(DnsTransportTest, AllResolversAtOnceAndTheFirstAnswerCounts) {
  const FakeResolver silent(None), slow([](const std::string& query, bool) -> Replies {
    std::this_thread::sleep_for(milliseconds(300));
    return {MakeReply(query, 3)};
  }),
      good(One);
  options_.resolvers = {silent.address(), slow.address(), good.address()};
  options_.parallel = true;
  const SocketAddress at = Start();
  const auto begin = Clock::now();
  EXPECT_EQ(RecordsOf(Ask(at, {"www.example.com"})).size(), 1u);
  EXPECT_LT(Clock::now() - begin, milliseconds(250));
  if (GetParam()) return;  // the others are hung up on, perhaps before they were asked
  const auto end = begin + milliseconds(5'000);
  while ((silent.asked == 0 || slow.asked == 0) && Clock::now() < end)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_GT(silent.asked, 0);
  EXPECT_GT(slow.asked, 0);
}

TEST_P(DnsTransportTest, AReplyOfAnotherQuestionDoesNotCount) {
  const FakeResolver liar([](const std::string& query, bool tcp) -> Replies {
    std::string other_id = MakeReply(query, 1);
    other_id[0] = static_cast<char>(other_id[0] ^ 1);
    if (tcp) return {other_id};
    return {other_id, MakeReply(query.substr(0, 2) + MakeQuery({"evil.example"}).substr(2), 1),
            MakeReply(query, 2)};
  });
  options_.resolvers = {liar.address()};
  const std::string answer = Ask(Start(), {"www.example.com"});
  if (GetParam()) {
    EXPECT_EQ(RcodeOf(answer), kRcodeServerFailure);
  } else {
    EXPECT_EQ(RecordsOf(answer).size(), 2u);
  }
}

TEST_P(DnsTransportTest, EachCodeOfAResolverIsAnAnswer) {
  const FakeResolver resolver(
      [](const std::string& query, bool) -> Replies { return {MakeReply(query, 0, 3)}; });
  options_.resolvers = {resolver.address()};
  EXPECT_EQ(RcodeOf(Ask(Start(), {"none.example"})), 3) << "NXDOMAIN";
}

TEST_P(DnsTransportTest, WithoutATableQueriesFailUnlessTheyAreForwarded) {
  const FakeResolver resolver(One);
  options_.resolvers = {resolver.address()};
  EXPECT_EQ(RcodeOf(Ask(Start(nullptr), {"web"})), kRcodeServerFailure);
  EXPECT_EQ(RcodeOf(Ask(server_->listens_at()[0], {"www.example.com"})), kRcodeServerFailure);
  server_ = nullptr;
  options_.forwards_before_table = true;
  EXPECT_EQ(RecordsOf(Ask(Start(nullptr), {"web"})).size(), 1u);
}

TEST_P(DnsTransportTest, QueriesOfTheServerItselfEnd) {
  // Redirection leads the resolver's address back to the server.
  options_.listen = {*SocketAddress::Parse("127.0.0.1", 0)};
  Start();
  const SocketAddress own = server_->listens_at()[0];
  server_ = nullptr;
  options_.listen = {own};
  options_.resolvers = {own};
  const auto begin = Clock::now();
  EXPECT_EQ(RcodeOf(Ask(Start(), {"www.example.com"})), kRcodeServerFailure);
  EXPECT_LT(Clock::now() - begin, milliseconds(1'000));
}

TEST_P(DnsTransportTest, WaitingQueriesAreBounded) {
  const FakeResolver silent(None);
  options_.resolvers = {silent.address()};
  options_.most_sockets = 3;
  options_.timeout = milliseconds(60'000);
  const FakeClient client(Start(), GetParam());
  for (uint16_t id = 1; id <= 5; ++id) client.Send(MakeQuery({.name = "www.example.com", .id = id}));
  const std::set<std::string> failed = {client.Read().substr(0, 2), client.Read().substr(0, 2)};
  EXPECT_EQ(failed, (std::set<std::string>{Two(4), Two(5)}));
  EXPECT_EQ(client.Read(100), "");
  EXPECT_THAT(RecordsOf(client.Ask({"web"})), ElementsAre("web 30 A 10.0.0.1")) << "the table still answers";
}

TEST_P(DnsTransportTest, ATableChangesUnderManyQueriesAndNoneIsLost) {
  const SocketAddress at = Start();
  std::atomic<bool> over{false};
  std::thread changer([&] {
    for (int i = 0; !over; i = 1 - i) server_->SetTable(TableOf(i == 0 ? "10.0.0.1" : "10.0.0.2"));
  });
  const FakeClient client(at, GetParam());
  std::set<std::string> seen;
  size_t answered = 0;
  const auto end = Clock::now() + std::chrono::seconds(20);
  while ((answered < 3'000 || seen.size() < 2) && Clock::now() < end) {
    for (uint16_t id = 0; id < 16; ++id) client.Send(MakeQuery({.name = "web", .id = id}));
    for (int i = 0; i < 16; ++i) {
      const auto records = RecordsOf(client.Read());
      ASSERT_EQ(records.size(), 1u) << "after " << answered;
      seen.insert(records[0]);
      ++answered;
    }
  }
  over = true;
  changer.join();
  EXPECT_EQ(seen, (std::set<std::string>{"web 30 A 10.0.0.1", "web 30 A 10.0.0.2"}));
}

TEST_P(DnsTransportTest, EveryAddressAnswersWithTheAskedOne) {
  options_.listen = {*SocketAddress::Parse("0.0.0.0", 0)};
  const uint16_t port = Start().port();
  for (const char* host : {"127.0.0.1", "127.0.0.9"})
    EXPECT_THAT(RecordsOf(Ask(*SocketAddress::Parse(host, port), {"web"})), SizeIs(1)) << host;
}

TEST(DnsUdpTest, ATruncatedAnswerIsWholeOverTcp) {
  const FakeResolver resolver([](const std::string& query, bool tcp) -> Replies {
    return {tcp ? MakeReply(query, 100) : MakeReply(query, 0, 0, /*truncated=*/true)};
  });
  DnsServerOptions options;
  options.listen = {*SocketAddress::Parse("127.0.0.1", 0)};
  options.resolvers = {resolver.address()};
  options.forwards_before_table = true;
  const auto server = StartServer(options);
  const SocketAddress at = server->listens_at()[0];
  EXPECT_EQ(FlagOf(FakeClient(at, false).Ask({"large.example"}), ns_f_tc), 1);
  EXPECT_EQ(RecordsOf(FakeClient(at, true).Ask({"large.example"})).size(), 100u);
}

TEST(DnsUdpTest, AResolversAnswerIsCutForItsClient) {
  const FakeResolver resolver(
      [](const std::string& query, bool) -> Replies { return {MakeReply(query, 60)}; });
  DnsServerOptions options;
  options.listen = {*SocketAddress::Parse("127.0.0.1", 0)};
  options.resolvers = {resolver.address()};
  options.forwards_before_table = true;
  const auto server = StartServer(options);
  const FakeClient client(server->listens_at()[0], false);
  const std::string cut = client.Ask({"large.example"});
  EXPECT_LE(cut.size(), kLeastUdp);
  EXPECT_EQ(FlagOf(cut, ns_f_tc), 1);
  EXPECT_EQ(RecordsOf(client.Ask({.name = "large.example", .edns = 4096})).size(), 60u);
}

class DnsTcpTest : public testing::Test {
 protected:
  SocketAddress Start(DnsServerOptions options = {}) {
    options.listen = {*SocketAddress::Parse("127.0.0.1", 0)};
    server_ = StartServer(options);
    server_->SetTable(TableOf("10.0.0.1"));
    return server_->listens_at()[0];
  }
  std::unique_ptr<DnsServer> server_;
};

TEST_F(DnsTcpTest, AConnectionCarriesQueriesInAnyPieces) {
  const FakeClient client(Start(), true);
  std::string bytes;
  for (uint16_t id = 0; id < 300; ++id) {
    const std::string query = MakeQuery({.name = "web", .id = id});
    bytes += Two(query.size()) + query;
  }
  for (size_t at = 0; at < bytes.size(); at += 999)
    static_cast<void>(!send(client.get(), bytes.data() + at, std::min<size_t>(999, bytes.size() - at), 0));
  for (uint16_t id = 0; id < 300; ++id) {
    const std::string answer = client.Read();
    ASSERT_EQ(answer.substr(0, 2), Two(id));
    EXPECT_THAT(RecordsOf(answer), SizeIs(1));
  }
  shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(ReadBytes(client.get(), 1), "") << "the connection ends with its client";
}

TEST_F(DnsTcpTest, QueriesBeforeTheEndAreAnswered) {
  const FakeResolver resolver([](const std::string& query, bool) -> Replies {
    std::this_thread::sleep_for(milliseconds(100));
    return {MakeReply(query, 1)};
  });
  DnsServerOptions options;
  options.resolvers = {resolver.address()};
  const FakeClient client(Start(std::move(options)), true);
  client.Send(MakeQuery({"www.example.com"}));
  shutdown(client.get(), SHUT_WR);
  EXPECT_THAT(RecordsOf(client.Read()), SizeIs(1));
}

TEST_F(DnsTcpTest, ASilentConnectionEnds) {
  DnsServerOptions options;
  options.idle = milliseconds(150);
  const FakeClient client(Start(std::move(options)), true);
  static_cast<void>(!send(client.get(), "\0", 1, 0));
  const auto begin = Clock::now();
  EXPECT_EQ(ReadBytes(client.get(), 1), "");
  EXPECT_LT(Clock::now() - begin, milliseconds(2'000));
}

TEST_F(DnsTcpTest, BeyondTheNumberTheLongestSilentConnectionEnds) {
  DnsServerOptions options;
  options.most_connections = 2;
  const SocketAddress at = Start(std::move(options));
  const FakeClient first(at, true), second(at, true);
  EXPECT_THAT(RecordsOf(first.Ask({"web"})), SizeIs(1));
  EXPECT_THAT(RecordsOf(second.Ask({"web"})), SizeIs(1));
  const FakeClient third(at, true);
  EXPECT_THAT(RecordsOf(third.Ask({"web"})), SizeIs(1));
  EXPECT_EQ(ReadBytes(first.get(), 1), "");
  EXPECT_THAT(RecordsOf(second.Ask({"web"})), SizeIs(1));
}

TEST_F(DnsTcpTest, AClientThatDoesNotReadIsNotReadFrom) {
  const FakeClient client(Start(), true);
  const std::string query = MakeQuery({"web"});
  std::string bytes;
  for (int i = 0; i < 2'000; ++i) bytes += Two(query.size()) + query;
  size_t sent = 0;
  // The buffers of the system on both sides, and the server's own, are finite.
  for (int quiet = 0; quiet < 10 && sent < (256u << 20);) {
    const ssize_t size = send(client.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) {
      sent += static_cast<size_t>(size);
      // What was cut off here is sent on, to keep messages whole.
      bytes = bytes.substr(static_cast<size_t>(size)) + bytes.substr(0, static_cast<size_t>(size));
      quiet = 0;
    } else {
      std::this_thread::sleep_for(milliseconds(20));
      ++quiet;
    }
  }
  EXPECT_LT(sent, 256u << 20);
  EXPECT_THAT(RecordsOf(client.Read()), SizeIs(1));
}

TEST(DnsServerPortTest, APortThatIsTakenIsNamed) {
  const FakeResolver taken(None);
  DnsServerOptions options;
  options.listen = {taken.address()};
  EXPECT_THAT(std::string(DnsServer(options).Start().message()),
              HasSubstr(StrCat("DNS over UDP at ", taken.address().ToString(), ": Address already in use")));
}

TEST(DnsServerPortTest, RequestsAreCounted) {
  const FakeResolver resolver(
      [](const std::string& query, bool) -> Replies { return {MakeReply(query, 0, 3)}; });
  DnsServerOptions options;
  options.listen = {*SocketAddress::Parse("127.0.0.1", 0)};
  options.resolvers = {resolver.address()};
  const auto server = StartServer(options);
  server->SetTable(TableOf("10.0.0.1"));
  auto& all = metrics::GetCounter("istio_agent_dns_requests_total", "");
  auto& forwarded = metrics::GetCounter("istio_agent_dns_upstream_requests_total", "");
  auto& failed = metrics::GetCounter("istio_agent_dns_upstream_failures_total", "");
  const double before_all = all.Value(), before_forwarded = forwarded.Value(), before_failed = failed.Value();
  for (const bool tcp : {false, true}) {
    const FakeClient client(server->listens_at()[0], tcp);
    client.Ask({"web"});
    client.Ask({"none.example"});
  }
  EXPECT_EQ(all.Value() - before_all, 4);
  EXPECT_EQ(forwarded.Value() - before_forwarded, 2);
  EXPECT_EQ(failed.Value() - before_failed, 0);
  EXPECT_THAT(metrics::ToText(), HasSubstr("istio_agent_dns_upstream_request_duration_seconds_bucket"));
}

}  // namespace
}  // namespace fairlead::dns
