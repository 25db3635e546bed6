#include "gateway_api/world.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "gateway_api/names.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::gateway_api {

using config::ConfigPtr;
using config::Kind;
using config::ObjectKey;

bool InRevision(const config::ConfigObject& object) {
  const auto label = object.meta().labels.find(kRevisionLabel);
  return label == object.meta().labels.end() || label->second == kRevision;
}

namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

// Gateways are seen whatever their revision: routes may be moved before them. Core kinds have none.
bool Counts(const ConfigPtr& object) {
  if (object == nullptr) return false;
  if (object->kind() == Kind::kKubernetesGateway) return true;
  const config::KindInfo& info = config::InfoOf(object->kind());
  return info.payload == config::PayloadType::kStruct || InRevision(*object);
}

}  // namespace

ConfigPtr Lookups::Find(Kind kind, std::string_view ns, std::string_view name) {
  const ObjectKey key{kind, ns, name};
  Note(Lookup::About::kObject, key);
  ConfigPtr object = objects_.Find(kind, key.ns, key.name);
  return Counts(object) ? object : nullptr;
}

std::vector<ConfigPtr> Lookups::In(Kind kind, std::string_view ns) {
  const ObjectKey key{kind, ns, ""};
  Note(Lookup::About::kNamespace, key);
  const auto& all = objects_.All(kind);
  std::vector<ConfigPtr> found;
  for (auto at = all.LowerBound({key.ns, Interned()}); at != all.end() && at->first.first == key.ns; ++at) {
    if (Counts(at->second)) found.push_back(at->second);
  }
  return found;
}

std::vector<ConfigPtr> Lookups::All(Kind kind) {
  Note(Lookup::About::kKind, {kind, "", ""});
  std::vector<ConfigPtr> found;
  for (const auto& [name, object] : objects_.All(kind)) {
    if (Counts(object)) found.push_back(object);
  }
  return found;
}

std::map<std::string, LabelMap, std::less<>> Lookups::Namespaces() {
  std::map<std::string, LabelMap, std::less<>> all;
  for (const ConfigPtr& object : All(Kind::kNamespace)) all[object->name().str()] = object->meta().labels;
  for (const Interned& name : derived_.UsedNamespaces()) all[name.str()];
  for (auto& [name, labels] : all) labels[std::string(kNamespaceNameLabel)] = name;
  return all;
}

ParentsPtr Lookups::ParentsOf(Kind kind, std::string_view ns, std::string_view name) {
  const ObjectKey key{kind, ns, name};
  Note(Lookup::About::kParents, key);
  return derived_.ParentsOf(key);
}

std::vector<ConfigPtr> Lookups::SetsOf(const ObjectKey& gateway) {
  Note(Lookup::About::kSets, gateway);
  std::vector<ConfigPtr> found;
  for (const ObjectKey& key : derived_.SetsOf(gateway)) {
    if (ConfigPtr set = Find(key.kind, key.ns, key.name)) found.push_back(std::move(set));
  }
  return found;
}

std::string Lookups::ServiceHost(std::string_view name, std::string_view ns) const {
  return StrCat(name, ".", ns, ".svc.", domain_);
}

bool Lookups::HasService(std::string_view hostname, std::string_view ns) {
  const std::string suffix = StrCat(".", ns, ".svc.", domain_);
  if (hostname.ends_with(suffix) &&
      Has(Kind::kService, ns, hostname.substr(0, hostname.size() - suffix.size())))
    return true;
  for (const ConfigPtr& entry : In(Kind::kServiceEntry, ns)) {
    const auto& hosts = entry->Spec<istio::networking::v1alpha3::ServiceEntry>().hosts();
    if (std::find(hosts.begin(), hosts.end(), hostname) != hosts.end()) return true;
  }
  return false;
}

std::vector<Lookup> Lookups::TakeQuestions() {
  std::sort(questions_.begin(), questions_.end());
  questions_.erase(std::unique(questions_.begin(), questions_.end()), questions_.end());
  return std::move(questions_);
}

}  // namespace fairlead::gateway_api
