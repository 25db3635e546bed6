#include "gateway_api/lookups.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::gateway_api {

using config::ConfigPtr;
using config::Kind;
using config::ObjectKey;

namespace {

constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

}  // namespace

ConfigPtr Lookups::Find(Kind kind, std::string_view ns, std::string_view name) {
  return asker_.Ask<conversion_questions::NamedObject>(kind, Interned(ns), Interned(name));
}

std::vector<ConfigPtr> Lookups::In(Kind kind, std::string_view ns) {
  return asker_.Ask<conversion_questions::NamespaceObjects>(kind, Interned(ns));
}

std::map<std::string, LabelMap, std::less<>> Lookups::Namespaces() {
  std::map<std::string, LabelMap, std::less<>> all;
  for (const ConfigPtr& object : asker_.Ask<conversion_questions::KindObjects>(Kind::kNamespace))
    all[object->name().str()] = object->meta().labels;
  for (const Interned& name : asker_.Ask<conversion_questions::UsedNamespaces>()) all[name.str()];
  for (auto& [name, labels] : all) labels[std::string(kNamespaceNameLabel)] = name;
  return all;
}

ParentsPtr Lookups::ParentsOf(Kind kind, std::string_view ns, std::string_view name) {
  return asker_.Ask<conversion_questions::ListenersOf>(kind, Interned(ns), Interned(name));
}

std::vector<ConfigPtr> Lookups::SetsOf(const ObjectKey& gateway) {
  std::vector<ConfigPtr> found;
  for (const ObjectKey& key : asker_.AskOf<conversion_questions::ListenerSetsOf>(gateway)) {
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

}  // namespace fairlead::gateway_api
