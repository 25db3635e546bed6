#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/certificates_fake.h"
#include "base/strings.h"
#include "fetch/client.h"
#include "fetch/http2_server_fake.h"
#include "fetch/observer_fake.h"
#include "fetch/whole_answer.h"

// The client over HTTP/2 and TLS.
namespace fairlead::fetch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kNames[] = "spiffe://server,DNS:api.test,IP:127.0.0.1";

struct Watches {
  std::vector<std::unique_ptr<ObserverFake>> observers;
  std::vector<Client::Handle> handles;

  void Start(Client& client, const Request& request) {
    observers.push_back(std::make_unique<ObserverFake>());
    handles.push_back(client.Start(request, observers.back().get()));
  }
  bool UntilAll(const std::function<bool(const ObserverFake&)>& true_now) const {
    return std::all_of(observers.begin(), observers.end(),
                       [&](const auto& observer) { return observer->Until(true_now); });
  }
};

bool Within(const std::function<bool()>& true_now) {
  const auto end = std::chrono::steady_clock::now() + seconds(60);
  while (!true_now() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(2));
  return true_now();
}

class ClientHttp2 : public testing::Test {
 protected:
  Request Asking(const std::string& url) { return {.url = url, .tls = {.roots = authority_.certificate()}}; }
  AuthorityFake authority_;
  Issued own_ = authority_.Issue("server", kNames);
  Client client_;
};

TEST_F(ClientHttp2, ManyStreamsShareFewConnections) {
  Http2ServerFake server(own_);
  Watches watches;
  Client client({.streams_per_connection = 25});
  for (int i = 0; i < 100; ++i) watches.Start(client, Asking(server.Url(StrCat("/watch/", i))));
  EXPECT_TRUE(watches.UntilAll([](const auto& self) { return self.status() == 200; }));
  EXPECT_GE(server.connections(), 4);
  EXPECT_LE(server.connections(), 8);
  EXPECT_EQ(client.connections_opened(), static_cast<uint64_t>(server.connections()));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) server.Say(StrCat("/watch/", i), StrCat("event ", round, " of ", i, ";"));
  }
  for (size_t i = 0; i < 100; ++i) {
    const std::string all = StrCat("event 0 of ", i, ";event 1 of ", i, ";event 2 of ", i, ";");
    EXPECT_TRUE(watches.observers[i]->Until([&](const auto& self) { return self.data() == all; })) << i;
  }
  for (int i = 0; i < 100; ++i) server.End(StrCat("/watch/", i));
  EXPECT_TRUE(watches.UntilAll([](const auto& self) { return self.outcome().has_value(); }));
  for (const auto& observer : watches.observers) EXPECT_TRUE(observer->Done().status.ok());
}

TEST_F(ClientHttp2, CancelClosesTheStreamAlone) {
  Http2ServerFake server(own_);
  Watches watches;
  Client client;
  for (int i = 0; i < 10; ++i) watches.Start(client, Asking(server.Url(StrCat("/watch/", i))));
  EXPECT_TRUE(watches.UntilAll([](const auto& self) { return self.status() == 200; }));
  EXPECT_EQ(server.open_streams(), 10);
  for (size_t i = 0; i < 9; ++i) client.Cancel(watches.handles[i]);
  EXPECT_TRUE(Within([&] { return server.open_streams() == 1; })) << server.open_streams();
  server.Say("/watch/9", "still here");
  EXPECT_TRUE(watches.observers[9]->Until([](const auto& self) { return self.data() == "still here"; }));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(ClientHttp2, AResetEndsOneStream) {
  Http2ServerFake server(own_);
  ObserverFake watch;
  Client client;
  client.Start(Asking(server.Url("/watch")), &watch);
  EXPECT_TRUE(watch.Until([](const auto& self) { return self.status() == 200; }));
  const WholeAnswer reset = AskAndWait(client, Asking(server.Url("/reset")));
  EXPECT_TRUE(absl::IsUnavailable(reset.outcome.status)) << reset.outcome.status;
  server.Say("/watch", "x");
  EXPECT_TRUE(watch.Until([](const auto& self) { return self.data() == "x"; }));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(ClientHttp2, ASilentStreamIsGivenUpAlone) {
  Http2ServerFake server(own_);
  ObserverFake watch;
  Client client;
  client.Start(Asking(server.Url("/watch")), &watch);
  Request silent = Asking(server.Url("/silent"));
  silent.idle_limit = milliseconds(80);
  EXPECT_TRUE(absl::IsDeadlineExceeded(AskAndWait(client, silent).outcome.status));
  server.Say("/watch", "x");
  EXPECT_TRUE(watch.Until([](const auto& self) { return self.data() == "x"; }));
  EXPECT_FALSE(watch.outcome());
}

TEST_F(ClientHttp2, ALargeBodyComesWhole) {
  Http2ServerFake server(own_);
  std::string body(8 << 20, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  server.Say("/large", body);
  server.End("/large");
  Client client;
  Request request = Asking(server.Url("/large"));
  request.most_bytes = body.size();
  const WholeAnswer answer = AskAndWait(client, request);
  EXPECT_TRUE(answer.outcome.status.ok()) << answer.outcome.status;
  EXPECT_TRUE(answer.body == body);
  request.most_bytes = body.size() - 1;
  EXPECT_TRUE(absl::IsResourceExhausted(AskAndWait(client, request).outcome.status));
}

TEST_F(ClientHttp2, OneThatPausesHoldsUpNobody) {
  Http2ServerFake server(own_);
  ObserverFake slow, other;
  Client client;
  std::atomic<Client::Handle> handle{0};
  slow.on_data = [&] { client.Pause(handle); };
  Request request = Asking(server.Url("/slow"));
  request.most_held = 1 << 20;
  request.most_bytes = 8 << 20;
  handle = client.Start(request, &slow);
  client.Start(Asking(server.Url("/other")), &other);
  EXPECT_TRUE(slow.Until([](const auto& self) { return self.status() == 200; }));
  server.Say("/slow", "first");
  EXPECT_TRUE(slow.Until([](const auto& self) { return self.data() == "first"; }));
  server.Say("/slow", std::string(500'000, 's'));
  server.Say("/other", "event");
  EXPECT_TRUE(other.Until([](const auto& self) { return self.data() == "event"; }));
  EXPECT_EQ(slow.data(), "first");
  client.Resume(handle);
  EXPECT_TRUE(Within([&] {
    client.Resume(handle);  // each call pauses it again
    return slow.data().size() == 500'005;
  }));
  client.Pause(handle);
  server.Say("/slow", std::string(3 << 20, 's'));
  server.Say("/other", ", and one more");
  EXPECT_TRUE(other.Until([](const auto& self) { return self.data() == "event, and one more"; }));
  EXPECT_FALSE(slow.outcome()) << "not while it pauses";
  EXPECT_TRUE(Within([&] { return server.open_streams() == 1; })) << "it holds no more than it may";
  while (!slow.outcome()) client.Resume(handle);
  EXPECT_TRUE(absl::IsResourceExhausted(slow.Done().status)) << slow.Done().status;
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(ClientHttp2, Http2IsFoundByTls) {
  Http2ServerFake server(own_);
  Watches watches;
  Client client;
  for (int i = 0; i < 20; ++i) watches.Start(client, Asking(server.Url(StrCat("/watch/", i))));
  EXPECT_TRUE(watches.UntilAll([](const auto& self) { return self.status() == 200; }));
  EXPECT_EQ(server.connections(), 1) << "they wait for the first one's handshake";
  EXPECT_EQ(server.open_streams(), 20);
}

TEST_F(ClientHttp2, ServersAreVerified) {
  Http2ServerFake server(own_);
  server.Say("/", "here");
  server.End("/");
  const auto status = [&](TlsSettings tls) {
    return AskAndWait(client_, {.url = server.Url("/"), .tls = std::move(tls)}).outcome.status;
  };
  EXPECT_TRUE(status({.roots = authority_.certificate()}).ok());
  EXPECT_TRUE(status({.unverified = true}).ok());
  EXPECT_THAT(std::string(status({}).message()), HasSubstr("certificate"));
  const AuthorityFake stranger;
  EXPECT_TRUE(absl::IsUnavailable(status({.roots = stranger.certificate()})));
  EXPECT_TRUE(absl::IsInvalidArgument(status({.roots = "nonsense"})));
  EXPECT_TRUE(absl::IsInvalidArgument(status({.roots_file = "/none"})));
  EXPECT_TRUE(absl::IsUnavailable(status({.more_roots_file = "/none"}))) << "vouches for nobody";
  const std::string path = testing::TempDir() + "/client_http2_test_roots";
  std::ofstream(path) << authority_.certificate();
  EXPECT_TRUE(status({.roots_file = path}).ok());
  EXPECT_TRUE(status({.more_roots_file = path}).ok());
  unlink(path.c_str());
  const Issued other_name = authority_.Issue("server", "spiffe://server,DNS:other.test");
  Http2ServerFake other(other_name);
  EXPECT_TRUE(absl::IsUnavailable(AskAndWait(client_, Asking(other.Url("/"))).outcome.status));
}

TEST_F(ClientHttp2, AnotherNameMayBeVerified) {
  const Issued named = authority_.Issue("server", "spiffe://server,DNS:api.test");
  Http2ServerFake server(named);
  server.End("/x");
  Request request = Asking(server.Url("/x"));
  request.tls.server_name = "api.test";
  const WholeAnswer answer = AskAndWait(client_, request);
  EXPECT_TRUE(answer.outcome.status.ok()) << answer.outcome.status;
  EXPECT_EQ(server.server_name(), "api.test");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].at(":authority"), StrCat("127.0.0.1:", server.port()));
  EXPECT_EQ(server.requests()[0].at(":path"), "/x");
  request.tls.server_name = "else.test";
  EXPECT_TRUE(absl::IsUnavailable(AskAndWait(client_, request).outcome.status));
}

TEST_F(ClientHttp2, ClientsShowTheirCertificates) {
  Http2ServerFake server(own_, &authority_);
  server.End("/");
  Request request = Asking(server.Url("/"));
  EXPECT_TRUE(absl::IsUnavailable(AskAndWait(client_, request).outcome.status));
  for (const std::string name : {"first", "second"}) {  // taken up with the next request
    const Issued shown = authority_.Issue(name, "spiffe://client");
    request.tls.certificate = shown.certificate;
    request.tls.key = shown.key;
    EXPECT_TRUE(AskAndWait(client_, request).outcome.status.ok());
    EXPECT_EQ(server.client(), name);
  }
  const AuthorityFake stranger;
  const Issued strange = stranger.Issue("strange", "spiffe://client");
  request.tls.certificate = strange.certificate;
  request.tls.key = strange.key;
  const absl::Status refused = AskAndWait(client_, request).outcome.status;
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  request.tls.key = "nonsense";
  EXPECT_TRUE(absl::IsInvalidArgument(AskAndWait(client_, request).outcome.status));
}

TEST_F(ClientHttp2, TokensChangeOnAConnectionThatStays) {
  Http2ServerFake server(own_);
  server.End("/");
  Request request = Asking(server.Url("/"));
  std::string token = "first";
  request.bearer = [&token] { return token; };
  EXPECT_TRUE(AskAndWait(client_, request).outcome.status.ok());
  token = "second";
  EXPECT_TRUE(AskAndWait(client_, request).outcome.status.ok());
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].at("authorization"), "Bearer first");
  EXPECT_EQ(requests[1].at("authorization"), "Bearer second");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(ClientHttp2, ConnectionsAreSharedOnlyUnderTheSameTerms) {
  Http2ServerFake server(own_);
  ObserverFake watch;
  Client client;
  client.Start({.url = server.Url("/watch"), .tls = {.unverified = true}}, &watch);
  EXPECT_TRUE(watch.Until([](const auto& self) { return self.status() == 200; }));
  EXPECT_FALSE(AskAndWait(client, {.url = server.Url("/watch")}).outcome.status.ok())
      << "a connection that was believed serves none that is to be verified";
  server.End("/");
  EXPECT_TRUE(AskAndWait(client, Asking(server.Url("/"))).outcome.status.ok());
  EXPECT_GE(server.connections(), 3);
}

}  // namespace
}  // namespace fairlead::fetch
