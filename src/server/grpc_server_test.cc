#include "server/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"

// The server over real gRPC: what clients notice of connections, sizes and health.
namespace fairlead::server {
namespace {

using grpc::ByteBuffer;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr char kEcho[] = "/test.v1.EchoService/Echo";
constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kHealthWatch[] = "/grpc.health.v1.Health/Watch";
// Encoded HealthCheckResponses.
const std::string kServing("\x08\x01", 2), kNotServing("\x08\x02", 2);

ByteBuffer ToBuffer(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}

std::string ToText(const ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) text.append(slice.begin(), slice.end());
  return text;
}

// Sends each message back.
class Echo : public StreamHandler {
 public:
  Echo(std::shared_ptr<ServerStream> stream, std::shared_ptr<std::atomic<bool>> closed)
      : stream_(std::move(stream)), closed_(std::move(closed)) {
    stream_->Read();
  }
  void OnMessage(std::string_view bytes) override {
    auto owner = std::make_shared<const std::string>(bytes);
    stream_->Send({{owner, *owner}});
  }
  void OnSent(bool ok) override {
    if (ok) stream_->Read();
  }
  void OnClosed() override { *closed_ = true; }

 private:
  const std::shared_ptr<ServerStream> stream_;
  const std::shared_ptr<std::atomic<bool>> closed_;  // whether any has been
};

// A call of a client that sends and receives any number of messages.
class Call {
 public:
  using Metadata = std::vector<std::pair<std::string, std::string>>;
  Call(grpc::Channel* channel, const char* path, const Metadata& metadata)
      : Call(channel, path, false, metadata) {}
  Call(grpc::Channel* channel, const char* path, bool compressed = false, const Metadata& metadata = {})
      : stream_((Prepare(compressed, metadata),
                 grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(
                     channel, grpc::internal::RpcMethod(path, grpc::internal::RpcMethod::BIDI_STREAMING),
                     &context_))) {}
  ~Call() { context_.TryCancel(); }
  bool Say(const std::string& text) { return stream_->Write(ToBuffer(text)); }
  bool Hear(std::string* text) {
    ByteBuffer buffer;
    if (!stream_->Read(&buffer)) return false;
    *text = ToText(buffer);
    return true;
  }
  // Whether what is said comes back.
  bool Echoes(const std::string& text) {
    std::string heard;
    return Say(text) && Hear(&heard) && heard == text;
  }
  grpc::Status Finish() { return stream_->Finish(); }
  void Cancel() { context_.TryCancel(); }

 private:
  void Prepare(bool compressed, const Metadata& metadata) {
    for (const auto& [name, value] : metadata) context_.AddMetadata(name, value);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (compressed) context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  }
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>> stream_;
};

// A wire to a port on loopback, for one connection, that can be cut without either end's hearing of it.
class Wire {
 public:
  explicit Wire(int to) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, to] { Run(to); });
  }
  ~Wire() {
    Cut();
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (const int file : {client_, server_, listener_}) close(file);
  }
  int port() const { return port_; }
  void Cut() { cut_ = true; }

 private:
  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  void Run(int to) {
    client_ = accept(listener_, nullptr, nullptr);
    server_ = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(to);
    if (client_ < 0 || connect(server_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return;
    while (!cut_) {
      pollfd ends[] = {{client_, POLLIN, 0}, {server_, POLLIN, 0}};
      if (poll(ends, 2, 20) <= 0 || cut_) continue;
      for (int i = 0; i < 2; ++i) {
        if (ends[i].revents != 0 && !Pass(ends[i].fd, ends[1 - i].fd)) return;
      }
    }
  }
  static bool Pass(int from, int to) {
    char bytes[1 << 14];
    const ssize_t size = recv(from, bytes, sizeof bytes, 0);
    return size > 0 && send(to, bytes, static_cast<size_t>(size), MSG_NOSIGNAL) == size;
  }

  const int listener_;
  int port_ = 0, client_ = -1, server_ = -1;
  std::atomic<bool> cut_{false};
  std::thread thread_;
};

class GrpcServerTest : public testing::Test {
 protected:
  void Start(const grpc::ChannelArguments& arguments = {}) {
    options_.addresses = {"127.0.0.1:0"};
    options_.methods.push_back({kEcho, [closed = closed_](std::shared_ptr<ServerStream> stream) {
                                  return std::make_shared<Echo>(std::move(stream), closed);
                                }});
    server_ = std::make_unique<GrpcServer>(options_);
    ASSERT_TRUE(server_->Start().ok());
    channel_ = grpc::CreateCustomChannel(StrCat("127.0.0.1:", server_->ports().front()),
                                         grpc::InsecureChannelCredentials(), arguments);
  }
  grpc::Status HealthService(const std::string& service, std::string* answer) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const grpc::internal::RpcMethod method(kHealthCheck, grpc::internal::RpcMethod::NORMAL_RPC);
    ByteBuffer response;
    grpc::Status status = grpc::internal::BlockingUnaryCall(channel_.get(), method, &context,
                                                            ToBuffer(HealthRequest(service)), &response);
    if (status.ok()) *answer = ToText(response);
    return status;
  }
  // An encoded HealthCheckRequest.
  static std::string HealthRequest(const std::string& service) {
    return service.empty() ? "" : StrCat("\x0a", std::string(1, static_cast<char>(service.size())), service);
  }

  GrpcServerOptions options_;
  const std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<GrpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(GrpcServerTest, AnOldConnectionEndsWithItsStreamsAndANewOneServes) {
  options_.keepalive.max_connection_age = milliseconds(300);
  options_.keepalive.max_connection_age_grace = milliseconds(200);
  Start();
  Call call(channel_.get(), kEcho);
  ASSERT_TRUE(call.Echoes("young"));
  std::string nothing;
  EXPECT_FALSE(call.Hear(&nothing));
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Call(channel_.get(), kEcho).Echoes("new"));
}

TEST_F(GrpcServerTest, AStreamEndsWhoseClientHasVanishedWithoutAWord) {
  options_.keepalive.interval = milliseconds(300);
  options_.keepalive.timeout = milliseconds(300);
  Start();
  Wire wire(server_->ports().front());
  const auto channel =
      grpc::CreateChannel(StrCat("127.0.0.1:", wire.port()), grpc::InsecureChannelCredentials());
  Call call(channel.get(), kEcho);
  ASSERT_TRUE(call.Echoes("before"));
  // A client answers pings while it waits for something.
  std::thread listener([&call] {
    std::string nothing;
    call.Hear(&nothing);
  });
  std::this_thread::sleep_for(milliseconds(1000));  // pings that are answered end nothing
  EXPECT_FALSE(*closed_);
  wire.Cut();
  for (int i = 0; i < 6000 && !*closed_; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(*closed_);
  call.Cancel();
  listener.join();
}

TEST_F(GrpcServerTest, ZeroOptionsAreGosDefaults) {
  options_.keepalive = {milliseconds(0), milliseconds(0), milliseconds(0), milliseconds(0)};
  Start();
  Call call(channel_.get(), kEcho);
  // With pings each millisecond, or connections of no age, this would not last.
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(call.Echoes("still there")) << i;
}

TEST_F(GrpcServerTest, ClientsMayPingTwiceAsOftenAsTheServerDoes) {
  options_.keepalive.interval = milliseconds(800);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 500);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 30000);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  Start(arguments);
  Call call(channel_.get(), kEcho);
  ASSERT_TRUE(call.Echoes("before"));
  // Long enough for more pings than a server forgives that thinks them too many.
  std::this_thread::sleep_for(milliseconds(3500));
  EXPECT_TRUE(call.Echoes("after"));
}

TEST_F(GrpcServerTest, AMessageThatIsTooLargeEndsItsStreamAlone) {
  options_.max_receive_size = 10000;
  Start();
  Call other(channel_.get(), kEcho), call(channel_.get(), kEcho);
  EXPECT_TRUE(call.Echoes(std::string(9900, 'x')));
  std::string nothing;
  call.Say(std::string(10100, 'x'));
  EXPECT_FALSE(call.Hear(&nothing));
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(other.Echoes("goes on"));
}

TEST_F(GrpcServerTest, CompressedMessagesAreRead) {
  options_.max_receive_size = 200000;
  Start();
  EXPECT_TRUE(Call(channel_.get(), kEcho, /*compressed=*/true).Echoes(std::string(100000, 'x')));
}

TEST_F(GrpcServerTest, ACompressedMessageMayNotGrowBeyondTheLimit) {
  options_.max_receive_size = 10000;
  Start();
  Call call(channel_.get(), kEcho, /*compressed=*/true);
  std::string nothing;
  call.Say(std::string(1 << 20, 'x'));
  EXPECT_FALSE(call.Hear(&nothing));
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcServerTest, HealthIsOfTheServerAndOfEachService) {
  Start();
  for (const char* service : {"", "test.v1.EchoService"}) {
    std::string answer;
    ASSERT_TRUE(HealthService(service, &answer).ok()) << service;
    EXPECT_EQ(answer, kServing) << service;
  }
  std::string answer;
  EXPECT_EQ(HealthService("test.v1.Nobody", &answer).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcServerTest, WhoWatchesHealthIsToldOfTheDrain) {
  Start();
  Call watch(channel_.get(), kHealthWatch), call(channel_.get(), kEcho);
  std::string answer;
  ASSERT_TRUE(watch.Say(HealthRequest("test.v1.EchoService")) && watch.Hear(&answer));
  EXPECT_EQ(answer, kServing);
  server_->Drain();
  ASSERT_TRUE(watch.Hear(&answer));
  EXPECT_EQ(answer, kNotServing);
  ASSERT_TRUE(HealthService("", &answer).ok());
  EXPECT_EQ(answer, kNotServing);
  EXPECT_TRUE(call.Echoes("goes on"));
}

TEST_F(GrpcServerTest, StoppingEndsStreamsAfterTheGrace) {
  Start();
  Call call(channel_.get(), kEcho);
  ASSERT_TRUE(call.Echoes("before"));
  server_->Stop(milliseconds(50));
  std::string nothing;
  EXPECT_FALSE(call.Hear(&nothing));
  EXPECT_FALSE(call.Finish().ok());
}

TEST_F(GrpcServerTest, WhatIsNoAddressIsAnError) {
  for (const char* address : {"nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1"}) {
    options_.addresses = {address};
    const absl::Status status = GrpcServer(options_).Start();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  }
}

TEST_F(GrpcServerTest, AStreamSaysWhatItsRequestSaid) {
  std::string token, absent = "none", peer;
  bool plaintext = false;
  options_.methods.push_back({"/test.v1.EchoService/Who", [&](std::shared_ptr<ServerStream> stream) {
                                token = stream->Metadata("authorization").value_or("none");
                                absent = stream->Metadata("cookie").value_or("absent");
                                plaintext = stream->tls() == nullptr;
                                peer = stream->peer();
                                return std::make_shared<Echo>(std::move(stream), closed_);
                              }});
  Start();
  Call call(channel_.get(), "/test.v1.EchoService/Who", {{"authorization", "Bearer a"}, {"x", "y"}});
  ASSERT_TRUE(call.Echoes("answered"));
  EXPECT_EQ(token, "Bearer a");
  EXPECT_EQ(absent, "absent");
  EXPECT_TRUE(plaintext);
  EXPECT_THAT(peer, testing::StartsWith("ipv4:127.0.0.1:"));
}

TEST_F(GrpcServerTest, AnUnknownMethodIsRefusedInItsOwnersWords) {
  options_.refuse = [](std::string_view path) { return absl::UnimplementedError(StrCat("no ", path)); };
  Start();
  Call call(channel_.get(), "/test.v1.EchoService/Shout");
  std::string nothing;
  EXPECT_FALSE(call.Hear(&nothing));
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("/test.v1.EchoService/Shout"));
}

}  // namespace
}  // namespace fairlead::server
