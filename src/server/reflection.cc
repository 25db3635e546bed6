#include "server/reflection.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/strings.h"
#include "proto/descriptors.h"
#include "proto/wire.h"
#include "server/answering_method.h"

namespace fairlead::server {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Fields of ServerReflectionRequest and ServerReflectionResponse (src/proto/own/grpc/reflection).
constexpr int kHost = 1, kFileByName = 3, kFileOfSymbol = 4, kFileOfExtension = 5, kExtensionsOfType = 6,
              kListServices = 7;
constexpr int kValidHost = 1, kOriginalRequest = 2, kFiles = 4, kExtensionNumbers = 5, kServices = 6,
              kError = 7;

void AppendNumber(int field, uint64_t value, std::string* out) {
  proto::AppendVarint(static_cast<uint64_t>(field) << 3, out);
  proto::AppendVarint(value, out);
}

std::string ErrorResponse(absl::StatusCode code, const std::string& message) {
  std::string error, out;
  AppendNumber(1, static_cast<uint64_t>(code), &error);
  proto::AppendField(2, message, &error);
  proto::AppendField(kError, error, &out);
  return out;
}

std::string FileResponse(const FileDescriptor* file, const std::string& wanted) {
  if (file == nullptr) return ErrorResponse(absl::StatusCode::kNotFound, StrCat(wanted, " is unknown"));
  google::protobuf::FileDescriptorProto encoded;
  file->CopyTo(&encoded);
  std::string files, out;
  proto::AppendField(1, encoded.SerializeAsString(), &files);
  proto::AppendField(kFiles, files, &out);
  return out;
}

std::string ServicesResponse(const std::vector<std::string>& services) {
  std::string list, out;
  for (const std::string& name : services) {
    std::string service;
    proto::AppendField(1, name, &service);
    proto::AppendField(1, service, &list);
  }
  proto::AppendField(kServices, list, &out);
  return out;
}

// The extensions that the embedded files declare.
std::string ExtensionNumbersResponse(const std::string& type) {
  const auto& pool = proto::WholeApiPool();
  const auto* message = pool.FindMessageTypeByName(type);
  if (message == nullptr) return ErrorResponse(absl::StatusCode::kNotFound, StrCat(type, " is unknown"));
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool.FindAllExtensions(message, &extensions);
  std::string list, out;
  proto::AppendField(1, type, &list);
  for (const auto* extension : extensions) AppendNumber(2, static_cast<uint64_t>(extension->number()), &list);
  proto::AppendField(kExtensionNumbers, list, &out);
  return out;
}

std::string ExtensionFileResponse(const std::string& bytes) {
  UnknownFieldSet request;
  std::string type;
  int number = 0;
  if (!request.ParseFromString(bytes))
    return ErrorResponse(absl::StatusCode::kInvalidArgument, "the extension request cannot be read");
  for (int i = 0; i < request.field_count(); ++i) {
    const UnknownField& field = request.field(i);
    if (field.number() == 1 && field.type() == UnknownField::TYPE_LENGTH_DELIMITED)
      type = field.length_delimited();
    if (field.number() == 2 && field.type() == UnknownField::TYPE_VARINT)
      number = static_cast<int>(field.varint());
  }
  const auto& pool = proto::WholeApiPool();
  const auto* message = pool.FindMessageTypeByName(type);
  const auto* extension = message == nullptr ? nullptr : pool.FindExtensionByNumber(message, number);
  return FileResponse(extension == nullptr ? nullptr : extension->file(), StrCat(type, " ", number));
}

std::string AnswerTo(const UnknownField& question, const std::vector<std::string>& services) {
  const std::string& text = question.length_delimited();
  const auto& pool = proto::WholeApiPool();
  switch (question.number()) {
    case kFileByName:
      return FileResponse(pool.FindFileByName(text), text);
    case kFileOfSymbol:
      return FileResponse(pool.FindFileContainingSymbol(text), text);
    case kFileOfExtension:
      return ExtensionFileResponse(text);
    case kExtensionsOfType:
      return ExtensionNumbersResponse(text);
    case kListServices:
      return ServicesResponse(services);
    default:
      return ErrorResponse(absl::StatusCode::kUnimplemented, StrCat("question ", question.number()));
  }
}

std::vector<std::string> ServicesOf(const std::vector<GrpcMethod>& methods) {
  std::set<std::string> names = {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                 "grpc.reflection.v1alpha.ServerReflection"};
  for (const GrpcMethod& method : methods)
    names.insert(std::string(Split(method.path, '/').at(1)));  // "/service/method"
  return {names.begin(), names.end()};
}

}  // namespace

absl::StatusOr<std::string> Reflect(const std::vector<std::string>& services, const std::string& request) {
  UnknownFieldSet fields;
  if (!fields.ParseFromString(request))
    return absl::InvalidArgumentError("the request is no reflection request");
  std::string host, answer;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
    if (field.number() == kHost) {
      host = field.length_delimited();
    } else {
      answer = AnswerTo(field, services);
    }
  }
  if (answer.empty()) answer = ErrorResponse(absl::StatusCode::kInvalidArgument, "nothing is asked");
  std::string out;
  proto::AppendField(kValidHost, host, &out);
  proto::AppendField(kOriginalRequest, request, &out);
  return out + answer;
}

std::vector<GrpcMethod> ReflectionMethods(const std::vector<GrpcMethod>& methods, Executor* executor) {
  const std::vector<std::string> services = ServicesOf(methods);
  std::vector<GrpcMethod> out;
  for (std::string_view version : {"v1", "v1alpha"}) {
    out.push_back(AnsweringMethod(
        StrCat("/grpc.reflection.", version, ".ServerReflection/ServerReflectionInfo"), Calls::kStreaming,
        [services](const std::string& message, const std::string&) { return Reflect(services, message); },
        executor));
  }
  return out;
}

}  // namespace fairlead::server
