// Prints a table for a real Envoy: for each proxy what it is sent and what its calls are, with where the
// simulation says that they end.
//
//   simulation_feed [--follow] TABLE…
//
// {"TABLE": {"PROXY": {"clusters": [], "endpoints": [], "listeners": [], "routes": [],
//                      "calls": [{"line", "call", "application", "outcome": fairlead simulate -o json}]}}}
//
// With --follow a call that reaches sidecars of the mesh is also a call at the first two of them, as it
// arrives there; "from" is then the node id of the proxy that sends it.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/strings.h"
#include "proto/descriptors.h"
#include "simulate/command/server_side.h"
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

constexpr size_t kFollowed = 2;  // servers of one call

// A table's proxies, each with its resources and calls.
class Feed {
 public:
  Feed(const simulate::LoadedMesh& mesh, json* out) : mesh_(mesh), out_(*out) {}

  absl::Status Add(const Row& row, bool follow) {
    const auto sidecar = Of(row.proxy);
    if (!sidecar.ok()) return sidecar.status();
    const auto sent = Send(mesh_, **sidecar, row.call);
    if (!sent.ok()) return sent.status();
    const model::Proxy& client = *(*sidecar)->scope->proxy;
    out_[row.proxy]["calls"].push_back(CallToJson(row, client, sent->call.request, sent->outcome));
    if (!follow || !sent->outcome.reached()) return absl::OkStatus();
    auto servers = simulate::FollowToServers(mesh_, client, sent->call.request, sent->outcome);
    if (servers.size() > kFollowed) servers.resize(kFollowed);
    for (const simulate::ServerSide& server : servers) {
      const auto other = Of(server.proxy);
      if (!other.ok()) return other.status();
      json call = CallToJson(row, *(*other)->scope->proxy, server.request, server.outcome);
      call["from"] = client.id;
      out_[server.proxy]["calls"].push_back(std::move(call));
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<const Sidecar*> Of(const std::string& proxy) {
    const auto found = sidecars_.find(proxy);
    if (found != sidecars_.end()) return &found->second;
    auto sidecar = SidecarOf(mesh_, proxy);
    if (!sidecar.ok()) return sidecar.status();
    out_[proxy] = ResourcesToJson(sidecar->resources);
    return &sidecars_.emplace(proxy, *std::move(sidecar)).first->second;
  }

  json CallToJson(const Row& row, const model::Proxy& proxy, const simulate::SimulatedRequest& request,
                  const simulate::SimulationOutcome& outcome) const {
    return {{"line", row.line},
            {"call", row.call},
            {"application", NameOf(request.application)},
            {"outcome", simulate::ToJson({mesh_, proxy, request, outcome, {}, {}})}};
  }

  const simulate::LoadedMesh& mesh_;
  json& out_;
  std::map<std::string, Sidecar> sidecars_;
};

absl::Status AddTable(const std::string& name, bool follow, json* out) {
  const auto mesh = LoadTable(name);
  if (!mesh.ok()) return mesh.status();
  Feed feed(*mesh, out);
  for (const Row& row : ReadTable(name).rows) {
    if (absl::Status status = feed.Add(row, follow); !status.ok()) return status;
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  json out = json::object();
  const bool follow = argc > 1 && argv[1] == std::string_view("--follow");
  for (int i = follow ? 2 : 1; i < argc; ++i) {
    if (absl::Status status = AddTable(argv[i], follow, &out[argv[i]]); !status.ok()) {
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
