#include "registration/new_entry.h"

#include <utility>

#include "base/excerpt.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "istio/networking/v1alpha3/workload_group.pb.h"

namespace fairlead::registration {
namespace {

constexpr size_t kLongestName = 253;
// The agent's, which the locality of the node says already; its value is none that a label may have.
constexpr char kLocalityLabel[] = "istio-locality";

using istio::networking::v1alpha3::WorkloadEntry;
using istio::networking::v1alpha3::WorkloadGroup;

// Those of the proxy count before those of the group's metadata, and these before the template's.
LabelMap LabelsOf(const WorkloadGroup& group, const model::Proxy& proxy) {
  LabelMap labels(group.template_().labels().begin(), group.template_().labels().end());
  for (const auto& [key, value] : group.metadata().labels()) labels.insert_or_assign(key, value);
  for (const auto& [key, value] : proxy.metadata.labels) labels.insert_or_assign(key, value);
  if (!proxy.metadata.labels.empty()) labels.erase(kLocalityLabel);
  return labels;
}

LabelMap AnnotationsOf(const WorkloadGroup& group, std::string_view name, const model::Proxy& proxy) {
  LabelMap annotations{{kGroupAnnotation, std::string(name)}};
  for (const auto& [key, value] : group.metadata().annotations()) annotations.insert_or_assign(key, value);
  const auto& config = proxy.metadata.proxy_config;
  if (config != nullptr && config->has_readiness_probe())
    annotations.insert_or_assign(kHealthAnnotation, "true");
  return annotations;
}

}  // namespace

std::string_view ServiceAccountOf(const NewEntry& entry) { return entry.spec->service_account(); }

absl::Status CheckName(const EntryName& name) {
  if (!config::check::IsDns1123Subdomain(name.name))
    return absl::InvalidArgumentError(StrCat("no WorkloadEntry may be called ", Excerpt(name.name)));
  if (!config::check::IsDns1123Label(name.ns) || AsciiLower(name.ns) != name.ns)
    return absl::InvalidArgumentError(StrCat("no namespace may be called ", Excerpt(name.ns)));
  return absl::OkStatus();
}

absl::StatusOr<EntryName> RegisteredName(const model::Proxy& proxy) {
  const model::ProxyMetadata& metadata = proxy.metadata;
  if (metadata.ns.empty())
    return absl::InvalidArgumentError("a proxy with AUTO_REGISTER_GROUP needs the metadata NAMESPACE");
  std::string name =
      StrCat(metadata.auto_register_group, "-", ReplaceAll(proxy.ip_addresses.front(), ":", "-"));
  if (!metadata.network.empty()) StrAppend(&name, "-", metadata.network);
  if (name.size() > kLongestName) name.erase(0, name.size() - kLongestName);
  EntryName out{metadata.ns, std::move(name)};
  if (absl::Status status = CheckName(out); !status.ok()) return status;
  return out;
}

absl::StatusOr<NewEntry> EntryFromGroup(const EntryName& name, const model::Proxy& proxy,
                                        const config::ConfigPtr& group) {
  const auto& written = group->Spec<WorkloadGroup>();
  NewEntry out{name, LabelsOf(written, proxy), AnnotationsOf(written, group->name().str(), proxy), nullptr,
               group};
  for (const auto& [key, value] : out.labels) {
    if (const std::string problem = config::check::LabelProblem(key, value); !problem.empty())
      return absl::InvalidArgumentError(StrCat("label ", Excerpt(key), " of the proxy: ", problem));
  }
  auto spec = std::make_shared<WorkloadEntry>(written.template_());
  spec->set_address(proxy.ip_addresses.front());
  spec->mutable_labels()->clear();
  for (const auto& [key, value] : out.labels) (*spec->mutable_labels())[key] = value;
  if (!proxy.metadata.network.empty()) spec->set_network(proxy.metadata.network);
  if (!proxy.node_locality.empty()) spec->set_locality(proxy.node_locality.ToString());
  out.spec = std::move(spec);
  return out;
}

}  // namespace fairlead::registration
