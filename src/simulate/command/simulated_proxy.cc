#include "simulate/command/simulated_proxy.h"

#include <optional>
#include <utility>

#include "base/closest_name.h"
#include "base/labels.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "config/read/proto_reader.h"
#include "config/read/yaml.h"
#include "config/report.h"
#include "envoy/config/core/v3/base.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "proto/messages.h"
#include "simulate/gateway_pods.h"
#include "source/file/read_file.h"

namespace fairlead::simulate {
namespace {

using config::Kind;
using envoy::config::core::v3::Node;

// A workload's addresses and labels, by "NAME.NAMESPACE".
struct Workload {
  std::vector<std::string> addresses;
  LabelMap labels;
  std::string service_account;
  bool router = false;
};

std::optional<Workload> FindWorkload(const LoadedMesh& mesh, const Interned& ns, const Interned& name) {
  if (const auto pod = mesh.objects.find({Kind::kPod, ns, name}); pod != mesh.objects.end()) {
    const auto& spec = pod->second->Spec<config::PodSpec>();
    std::vector<std::string> addresses = spec.pod_ips;
    if (addresses.empty() && !spec.pod_ip.empty()) addresses.push_back(spec.pod_ip);
    return Workload{std::move(addresses), pod->second->meta().labels, spec.service_account,
                    IsRouter(mesh, *pod->second)};
  }
  if (const auto entry = mesh.objects.find({Kind::kWorkloadEntry, ns, name}); entry != mesh.objects.end()) {
    const auto& spec = entry->second->Spec<istio::networking::v1alpha3::WorkloadEntry>();
    Workload workload{{spec.address()}, entry->second->meta().labels, spec.service_account(), false};
    for (const auto& [key, value] : spec.labels()) workload.labels[key] = value;
    return workload;
  }
  return std::nullopt;
}

std::string NoWorkload(const LoadedMesh& mesh, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [key, object] : mesh.objects) {
    if (key.kind == Kind::kPod || key.kind == Kind::kWorkloadEntry)
      known.push_back(StrCat(key.name.str(), ".", key.ns.str()));
  }
  const std::string meant = ClosestName(name, known);
  return StrCat("the mesh has no Pod, WorkloadEntry, Gateway with a Pod, or template of a workload ", name,
                meant.empty() ? "" : StrCat("; did you mean ", meant, "?"));
}

// What the injector makes of a pod.
absl::StatusOr<Node> NodeOfWorkload(const LoadedMesh& mesh, std::string name) {
  // A pod's name may have dots, a namespace's cannot.
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos)
    return absl::InvalidArgumentError(StrCat("\"", name, "\" is neither POD.NAMESPACE nor a node id"));
  std::string ns = name.substr(dot + 1);
  auto workload = FindWorkload(mesh, Interned(ns), Interned(name.substr(0, dot)));
  if (!workload) {
    const config::ConfigPtr pod = PodOfGateway(mesh, Interned(ns), Interned(name.substr(0, dot)));
    if (pod == nullptr) return absl::NotFoundError(NoWorkload(mesh, name));
    workload = FindWorkload(mesh, pod->ns(), pod->name());
    ns = pod->ns().str();
    name = StrCat(pod->name().str(), ".", ns);
  }
  if (workload->addresses.empty()) return absl::NotFoundError(StrCat(name, " has no IP address"));
  const model::Settings& settings = *mesh.snapshot->settings;
  Node node;
  node.set_id(StrCat(workload->router ? "router~" : "sidecar~", workload->addresses.front(), "~", name, "~",
                     ns, ".svc.", settings.domain));
  proto::SetString("NAMESPACE", ns, node.mutable_metadata());
  proto::SetString("CLUSTER_ID", settings.cluster_id, node.mutable_metadata());
  proto::SetString("INSTANCE_IPS", Join(workload->addresses, ","), node.mutable_metadata());
  proto::SetString("SERVICE_ACCOUNT", workload->service_account, node.mutable_metadata());
  auto* labels = (*node.mutable_metadata()->mutable_fields())["LABELS"].mutable_struct_value();
  for (const auto& [key, value] : workload->labels) proto::SetString(key, value, labels);
  return node;
}

absl::StatusOr<Node> NodeOfFile(const std::string& file) {
  const auto text = source::ReadFile(file);
  if (!text.ok()) return text.status();
  const config::YamlDocument document = config::ParseYamlDocument(*text);
  if (!document.problems.empty())
    return absl::InvalidArgumentError(
        StrCat(file, ":", document.problems.front().line, ": ", document.problems.front().message));
  // A whole bootstrap has the node below a key.
  const config::Node root = document.tree.root();
  const config::Node inner = root.Find("node");
  Node node;
  config::Report report{Interned(file)};
  if (!config::ReadProto(inner.IsMapping() ? inner : root, {}, report, &node,
                         config::UnknownFields::kWarning))
    return absl::InvalidArgumentError(ToText(report.Take().front()));
  return node;
}

absl::Status AddLabels(const std::vector<std::string>& labels, Node* node) {
  for (const std::string& pair : labels) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return absl::InvalidArgumentError(StrCat("\"", pair, "\" is not KEY=VALUE"));
    auto* known = (*node->mutable_metadata()->mutable_fields())["LABELS"].mutable_struct_value();
    proto::SetString(pair.substr(0, equals), pair.substr(equals + 1), known);
  }
  return absl::OkStatus();
}

absl::StatusOr<Node> MakeNode(const LoadedMesh& mesh, const ProxyChoice& choice) {
  if (!choice.file.empty()) return NodeOfFile(choice.file);
  if (choice.name.find('~') == std::string::npos) return NodeOfWorkload(mesh, choice.name);
  Node node;
  node.set_id(choice.name);
  proto::SetString("CLUSTER_ID", mesh.snapshot->settings->cluster_id, node.mutable_metadata());
  return node;
}

}  // namespace

absl::StatusOr<model::ProxyPtr> ChooseProxy(const LoadedMesh& mesh, const ProxyChoice& choice) {
  absl::StatusOr<Node> node = MakeNode(mesh, choice);
  if (!node.ok()) return node.status();
  if (absl::Status status = AddLabels(choice.labels, &*node); !status.ok()) return status;
  return model::ParseProxy(*node);
}

}  // namespace fairlead::simulate
