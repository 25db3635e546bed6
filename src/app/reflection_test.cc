#include <gmock/gmock.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>

#include "app/server_fixture.h"
#include "proto/descriptors.h"

// A client that knows nothing but gRPC's reflection and health protocols, as grpcurl: it learns the schema of
// a method from the server, and calls it with JSON.
namespace fairlead::app {
namespace {

using google::protobuf::Message;
using testing::HasSubstr;

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string ToBytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  for (const auto& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

class Reflection : public ServerTest {
 protected:
  Reflection() { StartServer(); }

  std::string Unary(const std::string& path, const std::string& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    const grpc::internal::RpcMethod method(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
    grpc::ByteBuffer response;
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall(channel_.get(), method, &context, ToBuffer(request), &response);
    EXPECT_TRUE(status.ok()) << path << ": " << status.error_message();
    return ToBytes(response);
  }

  static std::unique_ptr<Message> New(const std::string& type) {
    const auto* descriptor = proto::WholeApiPool().FindMessageTypeByName(type);
    return std::unique_ptr<Message>(proto::WholeApiMessages().GetPrototype(descriptor)->New());
  }

  // A reflection response, as text, to a request in text.
  std::unique_ptr<Message> Ask(const std::string& version, const std::string& question) {
    const std::string package = "grpc.reflection." + version,
                      path = "/" + package + ".ServerReflection/ServerReflectionInfo";
    auto request = New(package + ".ServerReflectionRequest");
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(question, request.get()));
    grpc::ClientContext context;
    const grpc::internal::RpcMethod method(path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING);
    std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
        grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
            channel_.get(), method, &context));
    stream->Write(ToBuffer(request->SerializeAsString()));
    stream->WritesDone();
    grpc::ByteBuffer bytes;
    EXPECT_TRUE(stream->Read(&bytes));
    EXPECT_TRUE(stream->Finish().ok());
    auto response = New(package + ".ServerReflectionResponse");
    EXPECT_TRUE(response->ParseFromString(ToBytes(bytes)));
    return response;
  }

  // The files that a symbol needs, fetched one by one from the server.
  void Learn(const std::string& question, google::protobuf::SimpleDescriptorDatabase* files) {
    const auto response = Ask("v1alpha", question);
    const auto* reflection = response->GetReflection();
    const auto* field = response->GetDescriptor()->FindFieldByName("file_descriptor_response");
    ASSERT_TRUE(reflection->HasField(*response, field)) << question << ": " << response->ShortDebugString();
    const Message& list = reflection->GetMessage(*response, field);
    google::protobuf::FileDescriptorProto file, known;
    ASSERT_TRUE(file.ParseFromString(list.GetReflection()->GetRepeatedString(
        list, list.GetDescriptor()->FindFieldByName("file_descriptor_proto"), 0)));
    files->Add(file);
    for (const std::string& import : file.dependency()) {
      if (!files->FindFileByName(import, &known)) Learn("file_by_filename: '" + import + "'", files);
    }
  }
};

TEST_F(Reflection, ListsTheServicesInBothVersions) {
  for (const char* version : {"v1", "v1alpha"}) {
    const std::string services = Ask(version, "list_services: ''")->DebugString();
    for (const char* name : {"envoy.service.discovery.v3.AggregatedDiscoveryService",
                             "envoy.service.endpoint.v3.EndpointDiscoveryService",
                             "envoy.service.status.v3.ClientStatusDiscoveryService", "grpc.health.v1.Health",
                             "grpc.reflection.v1alpha.ServerReflection"}) {
      EXPECT_THAT(services, HasSubstr(std::string("name: \"") + name + "\"")) << version;
    }
  }
}

TEST_F(Reflection, EveryListedServiceIsDescribed) {
  const auto response = Ask("v1", "host: 'h' list_services: '*'");
  EXPECT_THAT(response->DebugString(), HasSubstr("valid_host: \"h\""));
  const auto* field = response->GetDescriptor()->FindFieldByName("list_services_response");
  const Message& list = response->GetReflection()->GetMessage(*response, field);
  const auto* services = list.GetDescriptor()->FindFieldByName("service");
  const int count = list.GetReflection()->FieldSize(list, services);
  ASSERT_GT(count, 8);
  for (int i = 0; i < count; ++i) {
    const Message& service = list.GetReflection()->GetRepeatedMessage(list, services, i);
    const std::string name =
        service.GetReflection()->GetString(service, service.GetDescriptor()->FindFieldByName("name"));
    EXPECT_THAT(Ask("v1", "file_containing_symbol: '" + name + "'")->DebugString(),
                HasSubstr("file_descriptor_response"))
        << name;
  }
}

TEST_F(Reflection, AMethodCanBeCalledByWhatTheServerTellsOfIt) {
  google::protobuf::SimpleDescriptorDatabase files;
  Learn("file_containing_symbol: 'envoy.service.cluster.v3.ClusterDiscoveryService'", &files);
  Learn("file_containing_symbol: 'envoy.config.cluster.v3.Cluster'", &files);
  google::protobuf::DescriptorPool pool(&files);
  google::protobuf::DynamicMessageFactory messages(&pool);
  const auto* service = pool.FindServiceByName("envoy.service.cluster.v3.ClusterDiscoveryService");
  ASSERT_NE(service, nullptr);
  const auto* method = service->FindMethodByName("FetchClusters");
  ASSERT_NE(method, nullptr);
  std::unique_ptr<Message> request(messages.GetPrototype(method->input_type())->New()),
      response(messages.GetPrototype(method->output_type())->New());
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  std::string(R"({"node": {"id": ")") + kClientNode + "\"}}", request.get())
                  .ok());
  ASSERT_TRUE(response->ParseFromString(Unary(
      "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters", request->SerializeAsString())));
  EXPECT_THAT(response->DebugString(), HasSubstr("reviews.shop.svc.cluster.local"));
}

TEST_F(Reflection, ExtensionsAndMistakes) {
  EXPECT_THAT(Ask("v1", "file_containing_symbol: 'no.such.Thing'")->DebugString(),
              HasSubstr("error_code: 5"));
  EXPECT_THAT(Ask("v1", "file_by_filename: 'no/such.proto'")->DebugString(), HasSubstr("error_code: 5"));
  EXPECT_THAT(Ask("v1", "host: 'h'")->DebugString(), HasSubstr("error_code: 3"));
  EXPECT_THAT(Ask("v1", "all_extension_numbers_of_type: 'envoy.config.cluster.v3.Cluster'")->DebugString(),
              HasSubstr("base_type_name: \"envoy.config.cluster.v3.Cluster\""));
  EXPECT_THAT(Ask("v1",
                  "file_containing_extension { containing_type: 'envoy.config.cluster.v3.Cluster' "
                  "extension_number: 1 }")
                  ->DebugString(),
              HasSubstr("error_code: 5"));
}

TEST_F(Reflection, HealthIsServing) {
  const std::string kServing("\x08\x01", 2);  // HealthCheckResponse{status: SERVING}
  EXPECT_EQ(Unary("/grpc.health.v1.Health/Check", ""), kServing);
  for (const std::string service : {"envoy.service.discovery.v3.AggregatedDiscoveryService",
                                    "envoy.service.cluster.v3.ClusterDiscoveryService"}) {
    const std::string request = StrCat("\x0a", std::string(1, static_cast<char>(service.size())), service);
    EXPECT_EQ(Unary("/grpc.health.v1.Health/Check", request), kServing) << service;
  }
}

}  // namespace
}  // namespace fairlead::app
