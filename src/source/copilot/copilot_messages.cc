#include "source/copilot/copilot_messages.h"

#include "base/strings.h"
#include "proto/field_reader.h"

namespace fairlead::source {
namespace {

using proto::FieldReader;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

absl::Status DecodeBackend(std::string_view bytes, CopilotBackend* backend) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == 1) backend->address = reader.bytes();
    if (reader.number() == 2) backend->port = static_cast<uint32_t>(reader.varint());
  }
  return reader.ok() ? absl::OkStatus() : Wrong("a backend is malformed");
}

absl::Status DecodeBackends(std::string_view bytes, CopilotRoute* route) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() != 1) continue;
    if (route->backends.size() == kMostCopilotBackends)
      return Wrong(StrCat("a route has more than ", kMostCopilotBackends, " backends"));
    if (absl::Status status = DecodeBackend(reader.bytes(), &route->backends.emplace_back()); !status.ok())
      return status;
  }
  return reader.ok() ? absl::OkStatus() : Wrong("a set of backends is malformed");
}

// Numbers of fields; 0: the message has none such.
struct Fields {
  uint32_t path, vip, backends, process, weight;
};
constexpr Fields kRoute{2, 0, 3, 4, 5}, kInternal{0, 2, 3, 0, 0};

absl::Status DecodeRoute(std::string_view bytes, const Fields& fields, CopilotRoute* route) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    const uint32_t number = reader.number();
    if (number == 1) route->host = reader.bytes();
    if (number == fields.path) route->path = reader.bytes();
    if (number == fields.vip) route->vip = reader.bytes();
    if (number == fields.process) route->process = reader.bytes();
    if (number == fields.weight) route->weight = static_cast<int32_t>(reader.varint());
    if (number != fields.backends) continue;
    if (absl::Status status = DecodeBackends(reader.bytes(), route); !status.ok()) return status;
  }
  return reader.ok() ? absl::OkStatus() : Wrong("a route is malformed");
}

absl::StatusOr<std::vector<CopilotRoute>> Decode(std::string_view bytes, uint32_t list,
                                                 const Fields& fields) {
  std::vector<CopilotRoute> routes;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() != list) continue;
    if (routes.size() == kMostCopilotRoutes)
      return Wrong(StrCat("more than ", kMostCopilotRoutes, " routes"));
    if (absl::Status status = DecodeRoute(reader.bytes(), fields, &routes.emplace_back()); !status.ok())
      return status;
  }
  if (!reader.ok()) return Wrong("the answer is malformed");
  return routes;
}

}  // namespace

absl::StatusOr<std::vector<CopilotRoute>> DecodeCopilotRoutes(std::string_view bytes) {
  return Decode(bytes, 2, kRoute);
}

absl::StatusOr<std::vector<CopilotRoute>> DecodeCopilotInternalRoutes(std::string_view bytes) {
  return Decode(bytes, 1, kInternal);
}

}  // namespace fairlead::source
