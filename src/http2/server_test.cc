#include "http2/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/certificates_fake.h"
#include "base/strings.h"
#include "http2/http2_client_fake.h"
#include "http2/socket.h"
#include "http2/socket_client_fake.h"

// Sockets, TLS, threads: a real server, and clients that read and write their own sockets.
namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kEcho[] = "/test.v1.Echo/Echo";

class Echo : public StreamHandler {
 public:
  explicit Echo(std::shared_ptr<ServerStream> stream) : stream_(std::move(stream)) { stream_->Read(); }
  void OnMessage(std::string_view bytes) override {
    auto owner = std::make_shared<const std::string>(bytes);
    stream_->Send({{owner, *owner}});
  }
  void OnSent(bool ok) override {
    if (ok) stream_->Read();
  }
  void OnClosed() override {}

 private:
  const std::shared_ptr<ServerStream> stream_;
};

// Sends its client's names.
class WhoAmI : public StreamHandler {
 public:
  explicit WhoAmI(std::shared_ptr<ServerStream> stream) : stream_(std::move(stream)) {
    const TlsPeer* tls = stream_->tls();
    auto text =
        std::make_shared<const std::string>(tls == nullptr  ? "plaintext"
                                            : tls->verified ? Join(tls->uris, ",") + " " + tls->subject
                                                            : "nobody");
    stream_->Send({{text, *text}});
  }
  void OnMessage(std::string_view) override {}
  void OnSent(bool) override { stream_->Close(absl::OkStatus()); }
  void OnClosed() override {}

 private:
  const std::shared_ptr<ServerStream> stream_;
};

class Servers : public testing::Test {
 protected:
  void Start() {
    options_.methods.push_back({kEcho, [](std::shared_ptr<ServerStream> stream) {
                                  return std::make_shared<Echo>(std::move(stream));
                                }});
    options_.methods.push_back({"/test.v1.Echo/WhoAmI", [](std::shared_ptr<ServerStream> stream) {
                                  return std::make_shared<WhoAmI>(std::move(stream));
                                }});
    options_.methods.push_back({"/test.v1.Echo/Much", [](std::shared_ptr<ServerStream> stream) {
                                  auto text = std::make_shared<const std::string>(32 << 20, 'x');
                                  stream->Send({{text, *text}});
                                  return std::make_shared<Echo>(std::move(stream));
                                }});
    options_.loops = 2;
    if (options_.listeners.empty()) Listen();
    server_ = std::make_unique<Server>(options_);
    ASSERT_TRUE(server_->Start().ok());
  }
  void Listen(std::shared_ptr<TlsCredentials> credentials = nullptr) {
    Listener listener;
    listener.name = "127.0.0.1:0";
    listener.host = "127.0.0.1";
    listener.credentials = std::move(credentials);
    options_.listeners.push_back(std::move(listener));
  }
  std::unique_ptr<SocketClient> Connect(SSL_CTX* tls = nullptr) {
    return std::make_unique<SocketClient>(server_->ports().front(), tls);
  }
  // Whether what is said comes back.
  static bool Echoes(SocketClient& client, const std::string& text) {
    const int32_t call = client.http2().Call(kEcho);
    client.http2().Say(call, Framed(text));
    return client.Until([&] { return client.http2().Of(call).data == Framed(text); });
  }
  static std::string Who(SocketClient& client) {
    const int32_t call = client.http2().Call("/test.v1.Echo/WhoAmI");
    client.Until([&] { return client.http2().Of(call).closed; });
    const std::string& data = client.http2().Of(call).data;
    return data.size() < 5 ? "" : data.substr(5);
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(Servers, ManyClientsManyStreamsLargeMessages) {
  Start();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto client = Connect();
      for (int k = 0; k < 20; ++k)
        good += Echoes(*client, std::string(static_cast<size_t>(i * 60000 + k), 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 20);
}

TEST_F(Servers, AUnixSocketServes) {
  const std::string path = StrCat("/tmp/fairlead-transport-test-", getpid());
  for (int i = 0; i < 2; ++i) {  // the second time over what the first has left
    Listener listener;
    listener.name = "unix:" + path;
    listener.path = path;
    options_.listeners = {listener};
    Start();
    SocketClient client(path);
    EXPECT_TRUE(Echoes(client, "hello"));
    server_->Stop(milliseconds(0));
    EXPECT_NE(access(path.c_str(), F_OK), 0);
  }
}

TEST_F(Servers, WhatCannotBeListenedOnIsAnError) {
  Start();
  options_.listeners.front().port = server_->ports().front();
  options_.listeners.front().name = "here";
  EXPECT_EQ(Server(options_).Start().message(), "cannot listen on here: Address already in use");
}

TEST_F(Servers, ConnectionsAreListed) {
  Start();
  const auto client = Connect();
  ASSERT_TRUE(Echoes(*client, "hello"));
  const auto all = server_->Connections();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().listener, "127.0.0.1:0");
  EXPECT_THAT(all.front().peer, HasSubstr("ipv4:127.0.0.1:"));
  EXPECT_EQ(all.front().streams, 1u);
  EXPECT_GT(all.front().received, 20u);
  EXPECT_FALSE(all.front().tls);
}

TEST_F(Servers, AMessageIsSentAsItsClientReads) {
  Start();
  SocketClient client(server_->ports().front(), nullptr, 1 << 30);
  const std::string large(3 << 20, 'x');
  const int32_t call = client.http2().Call(kEcho);
  client.http2().Say(call, Framed(large));
  ASSERT_TRUE(client.Until([&] { return client.http2().Of(call).data.size() > 1000; }));
  std::this_thread::sleep_for(milliseconds(50));  // the system's buffers are full: the rest is a position
  ASSERT_TRUE(client.Until([&] { return client.http2().Of(call).data == Framed(large); }));
}

TEST_F(Servers, APeerThatReadsNothingIsCut) {
  options_.limits.stall_timeout = milliseconds(200);
  Start();
  SocketClient client(server_->ports().front(), nullptr, 1 << 30);
  const int32_t call = client.http2().Call("/test.v1.Echo/Much");
  ASSERT_TRUE(client.Until([&] { return client.http2().Of(call).data.size() > 1000; }));
  for (int i = 0; i < 1000 && !server_->Connections().empty(); ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(server_->Connections().empty());
}

TEST_F(Servers, AClientThatSaysNothingIsCut) {
  options_.limits.handshake_timeout = milliseconds(100);
  Start();
  SocketClient silent(server_->ports().front(), nullptr, 65535, /*greets=*/false);
  EXPECT_TRUE(silent.Until([&] { return silent.ended(); }));
  const auto other = Connect();
  EXPECT_TRUE(Echoes(*other, "hello"));
}

// The agent starts Envoy while it serves. What is read of a connection that is gone is an address sanitizer's
// to find.
TEST_F(Servers, AChildThatHoldsAClosedSocketDoesNoHarm) {
  options_.limits.handshake_timeout = milliseconds(100);
  Start();
  const File client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(server_->ports().front()));
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto wait_for = [&](size_t connections) {
    for (int i = 0; i < 1000 && server_->Connections().size() != connections; ++i)
      std::this_thread::sleep_for(milliseconds(10));
    return server_->Connections().size() == connections;
  };
  ASSERT_TRUE(wait_for(1));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    ::close(ends[1]);
    ::_exit(::read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  ASSERT_TRUE(wait_for(0));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(::send(client.get(), "x", 1, MSG_NOSIGNAL), 1) << "the child holds it";
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(Echoes(*Connect(), "hello"));
  ::close(ends[0]);
  ::close(ends[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Servers, OfTooManyHandshakesTheOldestGoes) {
  options_.limits.max_handshakes = 3;
  Start();
  std::vector<std::unique_ptr<SocketClient>> silent;
  silent.reserve(20);
  for (int i = 0; i < 20; ++i)
    silent.push_back(std::make_unique<SocketClient>(server_->ports().front(), nullptr, 65535, false));
  EXPECT_TRUE(silent.front()->Until([&] { return silent.front()->ended(); }));
  const auto client = Connect();
  EXPECT_TRUE(Echoes(*client, "hello"));
  // Those that were told to go are gone after a turn of their loops: three of each remain, and the client.
  for (int i = 0; i < 1000 && server_->Connections().size() > 7; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_LE(server_->Connections().size(), 7u);
}

TEST_F(Servers, ConnectionsBeyondTheMostAreRefused) {
  options_.limits.max_connections = 2;
  Start();
  const auto one = Connect(), two = Connect();
  ASSERT_TRUE(Echoes(*one, "1") && Echoes(*two, "2"));
  const auto three = Connect();
  EXPECT_TRUE(three->Until([&] { return three->ended(); }));
  EXPECT_TRUE(Echoes(*one, "still"));
}

TEST_F(Servers, WhoHasNoCallMakesRoomForOthers) {
  options_.limits.max_connections = 2;
  Start();
  const auto busy = Connect(), idle = Connect();
  ASSERT_TRUE(Echoes(*busy, "1"));
  ASSERT_TRUE(idle->Until([&] { return idle->http2().window_updates() > 0; })) << "it has been greeted";
  const auto third = Connect();
  EXPECT_TRUE(Echoes(*third, "3"));
  EXPECT_TRUE(idle->Until([&] { return idle->ended(); }));
  EXPECT_TRUE(Echoes(*busy, "still"));
}

TEST_F(Servers, AStopLetsCallsEndWithinTheGrace) {
  Start();
  const auto client = Connect();
  const int32_t call = client->http2().Call(kEcho);
  client->http2().Say(call, Framed("a"));
  ASSERT_TRUE(client->Until([&] { return !client->http2().Of(call).data.empty(); }));
  std::thread stop([&] { server_->Stop(std::chrono::seconds(30)); });
  ASSERT_TRUE(client->Until([&] { return client->http2().goaways() == 2; }));
  client->http2().Say(call, Framed("b"));
  ASSERT_TRUE(client->Until([&] { return client->http2().Of(call).data.size() == 12; }));
  client->http2().End(call);
  EXPECT_TRUE(client->Until([&] { return client->ended(); }));
  EXPECT_EQ(client->http2().Status(call), "0");
  stop.join();  // does not wait for the grace
}

TEST_F(Servers, AStopEndsWhatRunsAfterTheGrace) {
  Start();
  const auto client = Connect();
  ASSERT_TRUE(Echoes(*client, "a"));
  std::thread stop([&] { server_->Stop(milliseconds(50)); });
  EXPECT_TRUE(client->Until([&] { return client->ended(); }));
  EXPECT_EQ(client->http2().Status(1), "14");
  stop.join();
}

class TlsServers : public Servers {
 protected:
  void StartTls(TlsOptions options, bool clients, bool required = false) {
    auto credentials = TlsCredentials::Make(std::move(options));
    ASSERT_TRUE(credentials.ok());
    credentials_ = *credentials;
    Replace("server-1", clients, required);
    Listen(credentials_);
    Start();
  }
  void Replace(const std::string& name, bool clients, bool required = false) {
    const Issued own = authority_.Issue(name, "spiffe://cluster.local/ns/istio-system/sa/istiod");
    const absl::Status status = credentials_->Replace(
        {own.certificate, own.key, clients ? authority_.certificate() : "", "", required});
    ASSERT_TRUE(status.ok()) << status;
  }

  AuthorityFake authority_;
  std::shared_ptr<TlsCredentials> credentials_;
};

TEST_F(TlsServers, ServeH2AndNothingElse) {
  StartTls({}, false);
  ClientTls tls(authority_);
  const auto client = Connect(tls.get());
  EXPECT_TRUE(Echoes(*client, std::string(500000, 'x')));
  EXPECT_EQ(Who(*client), "nobody");
  EXPECT_TRUE(server_->Connections().front().tls);
  ClientTls other(authority_);
  SSL_CTX_set_alpn_protos(other.get(), reinterpret_cast<const unsigned char*>("\x08http/1.1"), 9);
  const auto http1 = Connect(other.get());
  EXPECT_TRUE(http1->Until([&] { return http1->ended(); }));
}

TEST_F(TlsServers, AClientsCertificateIsVerifiedAndHandedUp) {
  StartTls({}, true);
  ClientTls tls(authority_);
  const Issued own = authority_.Issue("web", "spiffe://cluster.local/ns/shop/sa/web");
  tls.Use(own);
  const auto client = Connect(tls.get());
  EXPECT_EQ(Who(*client), "spiffe://cluster.local/ns/shop/sa/web CN=web");
  EXPECT_THAT(server_->Connections().front().names, ElementsAre("spiffe://cluster.local/ns/shop/sa/web"));
  // Without one there are no names; one of another authority is refused.
  ClientTls none(authority_);
  EXPECT_EQ(Who(*Connect(none.get())), "nobody");
  AuthorityFake stranger;
  ClientTls false_tls(authority_);
  const Issued false_own = stranger.Issue("web", "spiffe://cluster.local/ns/shop/sa/web");
  false_tls.Use(false_own);
  const auto refused = Connect(false_tls.get());
  EXPECT_TRUE(refused->Until([&] { return refused->ended(); }));
}

TEST_F(TlsServers, ACertificateMayBeRequired) {
  StartTls({}, true, true);
  ClientTls none(authority_);
  const auto refused = Connect(none.get());
  EXPECT_TRUE(refused->Until([&] { return refused->ended(); }));
}

TEST_F(TlsServers, CertificatesAreReplacedWhileConnectionsLive) {
  StartTls({}, false);
  ClientTls tls(authority_);
  const auto before = Connect(tls.get());
  ASSERT_TRUE(Echoes(*before, "a"));
  EXPECT_EQ(before->server_name(), "server-1");
  Replace("server-2", false);
  ClientTls again(authority_);  // that resumes no session
  const auto after = Connect(again.get());
  ASSERT_TRUE(Echoes(*after, "b"));
  EXPECT_EQ(after->server_name(), "server-2");
  EXPECT_TRUE(Echoes(*before, "goes on"));
}

TEST_F(TlsServers, SessionsAreResumedAsLongAsTheSameRootsVouch) {
  StartTls({}, true);
  ClientTls tls(authority_);
  const Issued own = authority_.Issue("web", "spiffe://cluster.local/ns/shop/sa/web");
  tls.Use(own);
  EXPECT_EQ(Who(*Connect(tls.get())), "spiffe://cluster.local/ns/shop/sa/web CN=web");
  ASSERT_TRUE(tls.has_session());
  Replace("server-2", true);  // the server's own certificate is no matter of the session
  {
    const auto resumed = Connect(tls.get());
    EXPECT_EQ(Who(*resumed), "spiffe://cluster.local/ns/shop/sa/web CN=web");
    EXPECT_TRUE(resumed->resumed());
  }
  AuthorityFake other;
  const Issued server = authority_.Issue("server-3", "spiffe://a");
  ASSERT_TRUE(credentials_->Replace({server.certificate, server.key, other.certificate()}).ok());
  const auto refused = Connect(tls.get());
  EXPECT_TRUE(refused->Until([&] { return refused->ended(); })) << "who vouched for it counts no more";
  EXPECT_FALSE(refused->resumed());
}

TEST_F(TlsServers, TheVersionIsTheLeastThatIsTaken) {
  StartTls({.min_version = "TLSV1_3"}, false);
  ClientTls old(authority_);
  SSL_CTX_set_max_proto_version(old.get(), TLS1_2_VERSION);
  const auto refused = Connect(old.get());
  EXPECT_TRUE(refused->Until([&] { return refused->ended(); }));
  ClientTls tls(authority_);
  EXPECT_TRUE(Echoes(*Connect(tls.get()), "hello"));
}

TEST_F(TlsServers, CipherSuitesAreThoseOfTheOptions) {
  StartTls({.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}}, false);
  ClientTls tls(authority_);
  SSL_CTX_set_max_proto_version(tls.get(), TLS1_2_VERSION);
  const auto client = Connect(tls.get());
  ASSERT_TRUE(Echoes(*client, "hello"));
  EXPECT_EQ(client->cipher(), "ECDHE-ECDSA-AES256-GCM-SHA384");
}

TEST(TlsCredentials, NamesWhatCannotBeUsed) {
  EXPECT_TRUE(absl::IsInvalidArgument(TlsCredentials::Make({.min_version = "TLSV9"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TlsCredentials::Make({.cipher_suites = {"TLS_NONE"}}).status()));
  const auto credentials = *TlsCredentials::Make({});
  AuthorityFake authority;
  const Issued one = authority.Issue("one", "spiffe://a"), two = authority.Issue("two", "spiffe://b");
  const auto message = [&](const TlsMaterial& material) {
    return std::string(credentials->Replace(material).message());
  };
  EXPECT_EQ(credentials->Get(), nullptr);
  EXPECT_THAT(message({"", one.key}), HasSubstr("the certificate chain"));
  EXPECT_THAT(message({one.certificate, "no key"}), HasSubstr("the private key"));
  EXPECT_THAT(message({one.certificate, two.key}), HasSubstr("private key"));
  EXPECT_THAT(message({one.certificate, one.key, "no roots"}), HasSubstr("roots"));
  EXPECT_THAT(message({one.certificate, one.key, "", "", true}), HasSubstr("required"));
  EXPECT_EQ(credentials->Get(), nullptr);
  EXPECT_EQ(message({one.certificate, one.key}), "");
  const auto before = credentials->Get();
  EXPECT_NE(message({one.certificate, two.key}), "");
  EXPECT_EQ(credentials->Get(), before) << "what cannot be used replaces nothing";
}

}  // namespace
}  // namespace fairlead::http2
