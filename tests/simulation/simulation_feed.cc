// Prints a table for a real Envoy: for each proxy what it is sent and what its calls are, with where the
// simulation says that they end.
//
//   simulation_feed TABLE…
//
// {"TABLE": {"PROXY": {"clusters": [], "endpoints": [], "listeners": [], "routes": [],
//                      "calls": [{"line", "call", "application", "outcome": fairlead simulate -o json}]}}}
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/strings.h"
#include "proto/descriptors.h"
#include "simulate/command/simulation_report.h"
#include "tests/simulation/table.h"

namespace fairlead::simulation {
namespace {

using nlohmann::json;

// By the whole API's descriptors: an Any may hold a type that no code of this program uses.
json MessageToJson(const google::protobuf::Message& message) {
  static auto* resolver =
      google::protobuf::util::NewTypeResolverForDescriptorPool("type.googleapis.com", &proto::WholeApiPool());
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::BinaryToJsonString(
      resolver, StrCat("type.googleapis.com/", message.GetDescriptor()->full_name()),
      message.SerializeAsString(), &text, options);
  return status.ok() ? json::parse(text) : json{{"unreadable", status.ToString()}};
}

template <typename Map>
json ListOf(const Map& by_name) {
  json list = json::array();
  for (const auto& [name, message] : by_name) list.push_back(MessageToJson(message));
  return list;
}

json ResourcesToJson(const simulate::ProxyResources& resources) {
  json listeners = json::array();
  for (const auto& one : resources.listeners) listeners.push_back(MessageToJson(one));
  return {{"clusters", ListOf(resources.clusters)},
          {"endpoints", ListOf(resources.endpoints)},
          {"listeners", std::move(listeners)},
          {"routes", ListOf(resources.routes)},
          {"calls", json::array()}};
}

std::string_view NameOf(simulate::Application application) {
  switch (application) {
    case simulate::Application::kHttp10:
      return "HTTP/1.0";
    case simulate::Application::kHttp11:
      return "HTTP/1.1";
    case simulate::Application::kHttp2:
      return "HTTP/2";
    case simulate::Application::kTcp:
      return "TCP";
  }
  return "";
}

absl::Status AddTable(const std::string& name, json* out) {
  const auto mesh = LoadTable(name);
  if (!mesh.ok()) return mesh.status();
  std::map<std::string, Sidecar> sidecars;
  for (const Row& row : ReadTable(name).rows) {
    json& proxy = (*out)[row.proxy];
    if (proxy.is_null()) {
      auto sidecar = SidecarOf(*mesh, row.proxy);
      if (!sidecar.ok()) return sidecar.status();
      proxy = ResourcesToJson(sidecar->resources);
      sidecars[row.proxy] = *std::move(sidecar);
    }
    const Sidecar& sidecar = sidecars[row.proxy];
    const auto sent = Send(*mesh, sidecar, row.call);
    if (!sent.ok()) return sent.status();
    proxy["calls"].push_back(
        {{"line", row.line},
         {"call", row.call},
         {"application", NameOf(sent->call.request.application)},
         {"outcome",
          simulate::ToJson({*mesh, *sidecar.scope->proxy, sent->call.request, sent->outcome, {}})}});
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  json out = json::object();
  for (int i = 1; i < argc; ++i) {
    if (absl::Status status = AddTable(argv[i], &out[argv[i]]); !status.ok()) {
      std::cerr << argv[i] << ": " << FromAbsl(status.message()) << std::endl;
      return 1;
    }
  }
  FlushLogs();
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace fairlead::simulation

int main(int argc, char** argv) { return fairlead::simulation::Main(argc, argv); }
