// Calls the service of ../go over gRPC C++'s own xDS. See ../go/main.go for what it reads
// and writes.
#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using Text = google::protobuf::StringValue;
using Json = nlohmann::json;

struct Outcome {
  std::map<std::string, int> answers, errors;
};

class Caller {
 public:
  explicit Caller(const std::string& target)
      : stub_(grpc::CreateChannel(target, grpc::InsecureChannelCredentials())) {}

  Outcome Call(const Json& order) {
    Outcome outcome;
    for (int i = 0, count = order.at("count"); i < count; ++i) CallOnce(order, &outcome);
    return outcome;
  }

 private:
  void CallOnce(const Json& order, Outcome* outcome) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
    for (const auto& [name, value] : order.value("headers", std::map<std::string, std::string>())) {
      context.AddMetadata(name, value);
    }
    const std::string method = "/fairlead.test.Echo/" + order.at("method").get<std::string>();
    grpc::CompletionQueue queue;
    const grpc::Slice empty;  // the encoding of an empty text
    auto call = stub_.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&empty, 1), &queue);
    call->StartCall();
    grpc::ByteBuffer bytes;
    grpc::Status status;
    call->Finish(&bytes, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    Text answer;
    if (status.ok()) status = grpc::SerializationTraits<Text>::Deserialize(&bytes, &answer);
    if (status.ok()) {
      ++outcome->answers[answer.value()];
    } else {
      ++outcome->errors[std::to_string(status.error_code()) + " " + status.error_message()];
    }
  }

  grpc::GenericStub stub_;
};

}  // namespace

int main() {
  std::map<std::string, Caller> callers;
  for (std::string line; std::getline(std::cin, line);) {
    const Json order = Json::parse(line);
    const std::string target = order.at("target");
    const Outcome outcome = callers.try_emplace(target, target).first->second.Call(order);
    std::cout << Json{{"answers", outcome.answers}, {"errors", outcome.errors}}.dump() << std::endl;
  }
}
