#include "agent/upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/certificates_fake.h"
#include "base/strings.h"
#include "http2/server.h"
#include "http2/socket.h"

// Calls over sockets, with TLS.
namespace fairlead::agent {
namespace {

using testing::HasSubstr;

constexpr char kWho[] = "/test.v1.Test/Who";

// Says whom the client's certificate names, and what it hears.
class Who : public http2::StreamHandler {
 public:
  explicit Who(std::shared_ptr<http2::ServerStream> stream) : stream_(std::move(stream)) { stream_->Read(); }
  void OnMessage(std::string_view bytes) override {
    const http2::TlsPeer* tls = stream_->tls();
    Say(StrCat(tls != nullptr && tls->verified ? tls->subject : "nobody", ": ", bytes));
  }
  void OnSent(bool ok) override {
    if (ok) stream_->Read();
  }
  void OnClosed() override {}

 private:
  void Say(std::string text) {
    auto owner = std::make_shared<const std::string>(std::move(text));
    stream_->Send({{owner, *owner}});
  }
  const std::shared_ptr<http2::ServerStream> stream_;
};

class Heard : public UpstreamHandler {
 public:
  void OnReply(std::string message) override {
    Note([&] { reply_ = std::move(message); });
  }
  void OnTaken() override {
    Note([&] { ++taken_; });
  }
  void OnEnd(const absl::Status& status) override {
    Note([&] { end_ = status; });
  }
  // What comes first: a message, or "end: " and why.
  std::string Next() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return reply_ || end_; });
    if (end_) return StrCat("end: ", std::string(end_->message()));
    if (!reply_) return "nothing";
    std::string reply = *std::move(reply_);
    reply_.reset();
    return reply;
  }
  int taken() {
    std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  template <typename Change>
  void Note(const Change& change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> reply_;
  std::optional<absl::Status> end_;
  int taken_ = 0;
};

class UpstreamTest : public testing::Test {
 protected:
  UpstreamTest() {
    const Issued shown = authority_.Issue("server", "spiffe://x,DNS:istiod.test,IP:127.0.0.1");
    auto credentials = *http2::TlsCredentials::Make({});
    EXPECT_TRUE(credentials
                    ->Replace({.certificate_chain = shown.certificate,
                               .private_key = shown.key,
                               .client_roots = authority_.certificate()})
                    .ok());
    http2::ServerOptions options;
    options.methods.push_back({kWho, [](std::shared_ptr<http2::ServerStream> stream) {
                                 return std::make_shared<Who>(std::move(stream));
                               }});
    http2::Listener listener;
    listener.name = "127.0.0.1:0";
    listener.host = "127.0.0.1";
    listener.credentials = credentials;
    options.listeners.push_back(std::move(listener));
    options.loops = 1;
    server_ = std::make_unique<http2::Server>(std::move(options));
    EXPECT_TRUE(server_->Start().ok());
  }
  UpstreamOptions Place(const std::string& name = "") const {
    return {.host = "127.0.0.1",
            .port = server_->ports().front(),
            .tls = true,
            .server_name = name,
            .crl_file = ""};
  }
  // What a call that says "hello" hears first.
  std::string Try(const UpstreamOptions& options, const Secret& own, const std::string& roots) {
    Upstream upstream(options);
    const auto heard = std::make_shared<Heard>();
    const auto call = *upstream.Open(kWho, {own, roots, {}}, heard);
    call->Send("hello");
    return heard->Next();
  }

  AuthorityFake authority_, other_;
  std::unique_ptr<http2::Server> server_;
};

TEST_F(UpstreamTest, EachEndShowsItsCertificate) {
  const Issued own = authority_.Issue("workload", "spiffe://cluster.local/ns/a/sa/b");
  for (const char* name : {"", "istiod.test"}) {
    EXPECT_EQ(Try(Place(name), {own.certificate, own.key, ""}, authority_.certificate()),
              "CN=workload: hello");
    EXPECT_EQ(Try(Place(name), {}, authority_.certificate()), "nobody: hello");
  }
}

TEST_F(UpstreamTest, AServerOfAnotherNameOrAuthorityIsNotBelieved) {
  EXPECT_THAT(Try(Place("other.test"), {}, authority_.certificate()), HasSubstr("hostname mismatch"));
  EXPECT_THAT(Try(Place("127.0.0.2"), {}, authority_.certificate()), HasSubstr("IP address mismatch"));
  EXPECT_THAT(Try(Place(), {}, other_.certificate()), HasSubstr("certificate verify failed"));
  EXPECT_THAT(Try(Place(), {}, "no certificate"), HasSubstr("the servers' roots"));
}

TEST_F(UpstreamTest, AServerThatIsAwayOrSilentEndsTheCall) {
  UpstreamOptions options = Place();
  server_ = nullptr;
  EXPECT_THAT(Try(options, {}, authority_.certificate()), HasSubstr("Connection refused"));
  options.host = "no-such-host.invalid";
  EXPECT_THAT(Try(options, {}, authority_.certificate()), HasSubstr("end: no-such-host.invalid"));
}

TEST_F(UpstreamTest, EachAddressOfANameIsTried) {
  UpstreamOptions options = Place("istiod.test");
  options.host = "localhost";  // ::1, too, where nobody listens
  EXPECT_EQ(Try(options, {}, authority_.certificate()), "nobody: hello");
}

TEST_F(UpstreamTest, WhatIsCancelledOrStoppedSaysNoMore) {
  // Nobody answers: the handshake goes on until it is cancelled.
  http2::Listener listener;
  listener.name = listener.host = "127.0.0.1";
  const auto listening = *http2::Listen(listener);
  UpstreamOptions options = Place();
  options.port = listening.port;
  Upstream upstream(options);
  const auto heard = std::make_shared<Heard>();
  auto cancelled = *upstream.Open(kWho, {{}, authority_.certificate(), {}}, heard);
  const auto stopped = *upstream.Open(kWho, {{}, authority_.certificate(), {}}, heard);
  cancelled->Send("hello");
  cancelled = nullptr;
  upstream.Stop();
  EXPECT_EQ(upstream.Open(kWho, {}, heard).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(heard->taken(), 0);
}

TEST_F(UpstreamTest, MessagesOfOneCallFollowEachOther) {
  Upstream upstream(Place());
  const auto heard = std::make_shared<Heard>();
  const auto call = *upstream.Open(kWho, {{}, authority_.certificate(), {}}, heard);
  for (int i = 0; i < 100; ++i) {
    call->Send(StrCat(i));
    EXPECT_EQ(heard->Next(), StrCat("nobody: ", i));
  }
  EXPECT_EQ(heard->taken(), 100);
  server_ = nullptr;
  EXPECT_THAT(heard->Next(), HasSubstr("end: "));
}

}  // namespace
}  // namespace fairlead::agent
