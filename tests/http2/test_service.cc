// gRPC's test service on our transport, for its interop client, h2spec and h2load. What needs a server to
// answer after a client's last message is left out: no method of Fairlead's does that.
//   test_service CERTIFICATE KEY    PEM files; prints the ports of the plaintext and the TLS listener, ends
//   with stdin
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http2/server.h"
#include "test_service.pb.h"

namespace fairlead::http2 {
namespace {

using grpc::testing::EchoStatus;
using grpc::testing::SimpleRequest;
using grpc::testing::SimpleResponse;
using grpc::testing::StreamingOutputCallRequest;
using grpc::testing::StreamingOutputCallResponse;

constexpr char kService[] = "/grpc.testing.TestService/";

struct Answers {
  std::deque<std::string> messages;
  absl::Status status;
  bool ends = false;  // after the messages; else the client goes on
};
using Answer = std::function<Answers(std::string_view request)>;

// Answers each message with some.
class Answering : public StreamHandler {
 public:
  Answering(std::shared_ptr<ServerStream> stream, Answer answer)
      : stream_(std::move(stream)), answer_(std::move(answer)) {
    stream_->Read();
  }
  void OnMessage(std::string_view bytes) override {
    answers_ = answer_(bytes);
    Next();
  }
  void OnSent(bool ok) override {
    if (ok) Next();
  }
  void OnClosed() override {}

 private:
  void Next() {
    if (!answers_.messages.empty()) {
      auto owner = std::make_shared<const std::string>(std::move(answers_.messages.front()));
      answers_.messages.pop_front();
      stream_->Send({{owner, *owner}});
    } else if (answers_.ends || !answers_.status.ok()) {
      stream_->Close(answers_.status);
    } else {
      stream_->Read();
    }
  }

  const std::shared_ptr<ServerStream> stream_;
  const Answer answer_;
  Answers answers_;
};

absl::Status ToStatus(const EchoStatus& status) {
  return {static_cast<absl::StatusCode>(status.code()), status.message()};
}

template <typename Response>
Response WithPayload(int32_t size) {
  Response response;
  response.mutable_payload()->set_body(std::string(static_cast<size_t>(std::max(0, size)), '\0'));
  return response;
}

Answers Unary(std::string_view bytes) {
  SimpleRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return {{}, absl::InvalidArgumentError("no SimpleRequest"), true};
  if (request.response_status().code() != 0) return {{}, ToStatus(request.response_status()), true};
  auto response = WithPayload<SimpleResponse>(request.response_size());
  if (request.fill_server_id()) response.set_server_id("test_service");
  return {{response.SerializeAsString()}, absl::OkStatus(), true};
}

Answers Streaming(std::string_view bytes, bool ends) {
  StreamingOutputCallRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return {{}, absl::InvalidArgumentError("no StreamingOutputCallRequest"), true};
  Answers answers{{}, ToStatus(request.response_status()), ends};
  for (const auto& parameters : request.response_parameters())
    answers.messages.push_back(
        WithPayload<StreamingOutputCallResponse>(parameters.size()).SerializeAsString());
  return answers;
}

Method MethodOf(const char* name, const Answer& answer) {
  return {std::string(kService) + name, [answer](std::shared_ptr<ServerStream> stream) {
            return std::make_shared<Answering>(std::move(stream), answer);
          }};
}

std::string Read(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int Run(const char* certificate, const char* key) {
  auto credentials = TlsCredentials::Make({});
  if (!credentials.ok() ||
      !(*credentials)->Replace({.certificate_chain = Read(certificate), .private_key = Read(key)}).ok())
    return 1;
  ServerOptions options;
  Listener listener;
  listener.host = "127.0.0.1";
  for (auto& [name, shown] : std::vector<std::pair<const char*, std::shared_ptr<TlsCredentials>>>{
           {"plaintext", nullptr}, {"TLS", *credentials}}) {
    listener.name = name;
    listener.credentials = shown;
    options.listeners.push_back(listener);
  }
  options.methods = {
      MethodOf("EmptyCall",
               [](std::string_view) {
                 return Answers{{""}, absl::OkStatus(), true};
               }),
      MethodOf("UnaryCall", Unary),
      MethodOf("StreamingOutputCall", [](std::string_view request) { return Streaming(request, true); }),
      MethodOf("FullDuplexCall", [](std::string_view request) { return Streaming(request, false); }),
      // Reads, and says nothing.
      MethodOf("StreamingInputCall", [](std::string_view) { return Answers{}; }),
  };
  options.refuse = [](std::string_view path) {
    return absl::UnimplementedError("no method " + std::string(path));
  };
  Server server(std::move(options));
  if (const absl::Status status = server.Start(); !status.ok()) {
    std::cerr << status << std::endl;
    return 1;
  }
  std::cout << server.ports()[0] << " " << server.ports()[1] << std::endl;
  for (char c; read(STDIN_FILENO, &c, 1) > 0;) {
  }
  server.Stop(std::chrono::milliseconds(0));
  return 0;
}

}  // namespace
}  // namespace fairlead::http2

int main(int argc, char** argv) { return argc == 3 ? fairlead::http2::Run(argv[1], argv[2]) : 2; }
