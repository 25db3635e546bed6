#include "source/consul/consul_answers.h"

#include <algorithm>
#include <tuple>

#include "base/strings.h"

namespace fairlead::source {
namespace {

using config::JsonFields;
using config::Node;

constexpr int64_t kMostWeight = 65'535;
constexpr size_t kMostTagged = 32;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

// Outputs of checks are long and nobody's business here.
const JsonFields& InstanceFields() {
  static const JsonFields fields = [] {
    JsonFields wanted;
    for (const char* name : {"Node", "Datacenter", "Address", "TaggedAddresses", "Meta", "Locality"})
      wanted.Only({"Node", name});
    for (const char* name : {"ID", "Service", "Tags", "Address", "Port", "TaggedAddresses", "Meta", "Weights",
                             "Kind", "Locality"})
      wanted.Only({"Service", name});
    for (const char* name : {"CheckID", "Status"}) wanted.Only({"Checks", name});
    return wanted;
  }();
  return fields;
}

LabelMap ReadMeta(Node node) {
  LabelMap meta;
  for (const Node::Entry& entry : node.entries()) {
    if (meta.size() == kMostConsulTags) break;
    if (entry.value.IsString()) meta.emplace(entry.key, entry.value.text());
  }
  return meta;
}

bool IsPort(int64_t port) { return port >= 0 && port <= 65'535; }

// The same text may be of a node's address alone, or of a service's with a port.
absl::Status ReadTagged(Node node, int port, ConsulInstance* instance) {
  for (const Node::Entry& entry : node.entries()) {
    if (instance->tagged.size() == kMostTagged) break;
    const bool of_service = entry.value.IsMapping();
    const std::string_view address = of_service ? entry.value.Find("Address").String() : entry.value.String();
    const int64_t own = of_service ? entry.value.Find("Port").Int().value_or(port) : port;
    if (address.empty()) continue;
    if (!IsPort(own)) return Wrong(StrCat("the address ", entry.key, " has the port ", own));
    instance->tagged.emplace(entry.key,
                             std::pair(std::string(address), own == 0 ? port : static_cast<int>(own)));
  }
  return absl::OkStatus();
}

ConsulHealth HealthOf(Node check) {
  const std::string_view id = check.Find("CheckID").String(), status = check.Find("Status").String();
  if (status == "passing") return ConsulHealth::kPassing;
  if (status == "warning") return ConsulHealth::kWarning;
  const bool maintenance = id == "_node_maintenance" || id.starts_with("_service_maintenance");
  return maintenance ? ConsulHealth::kMaintenance : ConsulHealth::kCritical;
}

uint32_t Weight(Node weights, std::string_view name) {
  return static_cast<uint32_t>(std::clamp<int64_t>(weights.Find(name).Int().value_or(1), 0, kMostWeight));
}

absl::StatusOr<ConsulInstance> ReadInstance(Node entry) {
  const Node node = entry.Find("Node"), service = entry.Find("Service");
  ConsulInstance instance;
  instance.node = node.Find("Node").String();
  instance.id = service.Find("ID").String();
  instance.datacenter = AsciiLower(node.Find("Datacenter").String());  // as Consul has it
  instance.kind = service.Find("Kind").String();
  instance.address = service.Find("Address").String(node.Find("Address").String());
  if (instance.address.empty()) instance.address = node.Find("Address").String();
  const int64_t port = service.Find("Port").Int().value_or(0);
  const std::string where = StrCat("instance ", instance.id, " of node ", instance.node);
  if (instance.id.empty() || instance.node.empty()) return Wrong("an instance has no ID or no node");
  if (instance.address.empty()) return Wrong(StrCat(where, " has no address"));
  if (!IsPort(port)) return Wrong(StrCat(where, " has the port ", port));
  instance.port = static_cast<int>(port);
  for (const Node tags : {service.Find("TaggedAddresses"), node.Find("TaggedAddresses")}) {
    if (absl::Status status = ReadTagged(tags, instance.port, &instance); !status.ok())
      return Wrong(StrCat(where, ": ", FromAbsl(status.message())));
  }
  for (const Node tag : service.Find("Tags").elements()) {
    if (instance.tags.size() < kMostConsulTags && tag.IsString()) instance.tags.emplace_back(tag.text());
  }
  std::sort(instance.tags.begin(), instance.tags.end());
  instance.meta = ReadMeta(service.Find("Meta"));
  instance.node_meta = ReadMeta(node.Find("Meta"));
  for (const Node locality : {service.Find("Locality"), node.Find("Locality")}) {
    if (!instance.region.empty()) break;
    instance.region = locality.Find("Region").String();
    instance.zone = locality.Find("Zone").String();
  }
  instance.passing_weight = Weight(service.Find("Weights"), "Passing");
  instance.warning_weight = Weight(service.Find("Weights"), "Warning");
  for (const Node check : entry.Find("Checks").elements())
    instance.health = std::max(instance.health, HealthOf(check));
  return instance;
}

}  // namespace

absl::Status CheckConsulLeader(std::string_view text) {
  const std::string_view address = Trim(text);
  if (address == "\"\"") return absl::FailedPreconditionError("the server knows no leader");
  if (address.size() < 2 || !address.starts_with('"') || !address.ends_with('"'))
    return Wrong("the leader is no text");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadConsulServices(config::JsonReader& reader,
                                                            std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  if (!tree.ok()) return tree.status();
  if (!tree->root().IsMapping()) return Wrong("the list of services is no mapping");
  if (tree->root().size() > kMostConsulServices)
    return Wrong(StrCat("more than ", kMostConsulServices, " services"));
  std::vector<std::string> names;
  for (const Node::Entry& entry : tree->root().entries()) names.emplace_back(entry.key);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::StatusOr<std::vector<ConsulInstance>> ReadConsulInstances(config::JsonReader& reader,
                                                                std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text, &InstanceFields());
  if (!tree.ok()) return tree.status();
  if (!tree->root().IsSequence()) return Wrong("the list of instances is no list");
  if (tree->root().size() > kMostConsulInstances)
    return Wrong(StrCat("more than ", kMostConsulInstances, " instances"));
  std::vector<ConsulInstance> instances;
  instances.reserve(tree->root().size());
  for (const Node entry : tree->root().elements()) {
    absl::StatusOr<ConsulInstance> instance = ReadInstance(entry);
    if (!instance.ok()) return instance.status();
    instances.push_back(*std::move(instance));
  }
  std::sort(instances.begin(), instances.end(), [](const ConsulInstance& a, const ConsulInstance& b) {
    return std::tie(a.datacenter, a.node, a.id) < std::tie(b.datacenter, b.node, b.id);
  });
  return instances;
}

absl::StatusOr<std::map<std::string, std::string>> ReadServiceProtocols(config::JsonReader& reader,
                                                                        std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  if (!tree.ok()) return tree.status();
  if (!tree->root().IsSequence() && !tree->root().IsNull())
    return Wrong("the list of service-defaults is no list");
  if (tree->root().size() > kMostConsulServices)
    return Wrong(StrCat("more than ", kMostConsulServices, " service-defaults"));
  std::map<std::string, std::string> protocols;
  for (const Node entry : tree->root().elements()) {
    const std::string_view protocol = entry.Find("Protocol").String();
    if (!protocol.empty()) protocols.emplace(entry.Find("Name").String(), protocol);
  }
  return protocols;
}

absl::StatusOr<std::string> ReadDefaultProtocol(config::JsonReader& reader, std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  if (!tree.ok()) return tree.status();
  if (!tree->root().IsSequence() && !tree->root().IsNull())
    return Wrong("the list of proxy-defaults is no list");
  for (const Node entry : tree->root().elements()) {
    if (entry.Find("Name").String() == "global")
      return std::string(entry.Find("Config").Find("protocol").String());
  }
  return std::string();
}

}  // namespace fairlead::source
