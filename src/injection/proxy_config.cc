#include "injection/proxy_config.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/interned.h"
#include "base/strings.h"
#include "config/read/yaml.h"
#include "config/report.h"
#include "injection/go_proto_json.h"
#include "injection/typed_json.h"
#include "model/mesh_config.h"

namespace fairlead::injection {
namespace {

// What is set above replaces what is below.
void LayOver(const ProxyConfig& upper, ProxyConfig* lower) {
  const auto metadata = lower->proxy_metadata();
  const ProxyConfig::ProxyHeaders headers = lower->proxy_headers();
  const bool had_headers = lower->has_proxy_headers();
  std::vector<const google::protobuf::FieldDescriptor*> given;
  upper.GetReflection()->ListFields(upper, &given);
  for (const auto* field : given) lower->GetReflection()->ClearField(lower, field);
  lower->MergeFrom(upper);
  for (const auto& [name, value] : metadata) lower->mutable_proxy_metadata()->insert({name, value});
  if (!upper.has_proxy_headers() || !had_headers) return;
  ProxyConfig::ProxyHeaders merged = headers;
  merged.MergeFrom(upper.proxy_headers());
  *lower->mutable_proxy_headers() = merged;
}

ProxyConfig FromResource(const istio::networking::v1beta1::ProxyConfig& resource) {
  ProxyConfig proxy;
  if (resource.has_concurrency()) *proxy.mutable_concurrency() = resource.concurrency();
  *proxy.mutable_proxy_metadata() = {resource.environment_variables().begin(),
                                     resource.environment_variables().end()};
  if (resource.has_image()) *proxy.mutable_image() = resource.image();
  return proxy;
}

void ApplyNamespace(const ProxyConfigResources& resources, std::string_view ns, ProxyConfig* proxy) {
  for (const ProxyConfigResource& resource : resources) {
    if (resource.ns != ns || resource.spec->has_selector()) continue;
    LayOver(FromResource(*resource.spec), proxy);
    return;
  }
}

void ApplyWorkload(const ProxyConfigResources& resources, std::string_view ns, const LabelMap& labels,
                   ProxyConfig* proxy) {
  for (const ProxyConfigResource& resource : resources) {
    const auto& selected = resource.spec->selector().match_labels();
    if (resource.ns != ns || selected.empty()) continue;
    if (!SelectorMatches(LabelMap(selected.begin(), selected.end()), labels)) continue;
    LayOver(FromResource(*resource.spec), proxy);
    return;
  }
}

}  // namespace

ProxyConfigResources SortedProxyConfigs(std::vector<config::ConfigPtr> objects) {
  std::erase_if(objects,
                [](const config::ConfigPtr& object) { return object->kind() != config::Kind::kProxyConfig; });
  std::sort(objects.begin(), objects.end(), [](const config::ConfigPtr& a, const config::ConfigPtr& b) {
    return std::tie(a->meta().creation_time, a->name().str(), a->ns().str()) <
           std::tie(b->meta().creation_time, b->name().str(), b->ns().str());
  });
  ProxyConfigResources resources;
  for (const config::ConfigPtr& object : objects) {
    resources.push_back({object->ns().str(), object->SharedSpec<istio::networking::v1beta1::ProxyConfig>()});
  }
  return resources;
}

absl::Status ApplyProxyConfig(std::string_view text, ProxyConfig* proxy) {
  const config::YamlDocument document = config::ParseYamlDocument(text);
  for (const config::YamlProblem& problem : document.problems)
    return absl::InvalidArgumentError(StrCat("yaml: line ", problem.line, ": ", problem.message));
  const config::Node root = document.tree.root();
  if (root.IsNull()) return absl::OkStatus();
  if (const std::string problem = ProtoJsonProblem(ToSortedJson(root), *ProxyConfig::descriptor());
      !problem.empty())
    return absl::InvalidArgumentError(problem);
  config::Report report{Interned("proxy.istio.io/config")};
  if (model::MergeProxyConfig(root, {}, report, proxy)) return absl::OkStatus();
  for (const config::Diagnostic& one : report.Take()) {
    if (one.severity == config::Severity::kError)
      return absl::InvalidArgumentError(StrCat(one.path, ": ", one.message));
  }
  return absl::InvalidArgumentError("no ProxyConfig");
}

ProxyConfig ProxyConfigOf(const ProxyConfig& mesh, std::string_view root_namespace,
                          const ProxyConfigResources& resources, const std::string& ns,
                          const LabelMap& labels, const std::string* annotation) {
  ProxyConfig proxy = mesh;
  if (!root_namespace.empty()) ApplyNamespace(resources, root_namespace, &proxy);
  if (ns != root_namespace) ApplyNamespace(resources, ns, &proxy);
  ProxyConfig annotated;
  if (annotation != nullptr && ApplyProxyConfig(*annotation, &annotated).ok()) LayOver(annotated, &proxy);
  ApplyWorkload(resources, ns, labels, &proxy);
  return proxy;
}

}  // namespace fairlead::injection
