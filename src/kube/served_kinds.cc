#include "kube/served_kinds.h"

#include <algorithm>

#include "base/strings.h"

namespace fairlead::kube {
namespace {

using config::KindInfo;
using config::Node;

constexpr size_t kMostPaths = 100;

std::string NameOf(std::string_view plural, std::string_view group) {
  return group.empty() ? std::string(plural) : StrCat(plural, ".", group);
}

bool IsEstablished(Node definition) {
  for (Node condition : definition.Find("status").Find("conditions").elements()) {
    if (condition.Find("type").String() == "Established") return condition.Find("status").String() == "True";
  }
  return false;
}

std::string NameOfDefinition(Node definition) {
  return std::string(definition.Find("metadata").Find("name").String());
}

}  // namespace

bool ServedKinds::IsRead(std::string_view group, std::string_view version) const {
  return std::any_of(kinds_.begin(), kinds_.end(), [&](const KindInfo& kind) {
    return kind.group == group &&
           std::find(kind.versions.begin(), kind.versions.end(), version) != kind.versions.end();
  });
}

bool ServedKinds::IsRead(std::string_view name) const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [&](const KindInfo& kind) { return NameOf(kind.plural, kind.group) == name; });
}

bool ServedKinds::AddAggregated(Node document) {
  if (document.Find("kind").String() != "APIGroupDiscoveryList") return false;
  for (Node group : document.Find("items").elements()) {
    const std::string_view group_name = group.Find("metadata").Find("name").String();
    for (Node version : group.Find("versions").elements()) {
      const std::string_view version_name = version.Find("version").String();
      if (!IsRead(group_name, version_name)) continue;
      for (Node resource : version.Find("resources").elements())
        discovered_[NameOf(resource.Find("resource").String(), group_name)].emplace(version_name);
    }
  }
  return true;
}

std::vector<std::string> ServedKinds::PathsOf(Node groups) const {
  std::vector<std::string> paths = {"/api/v1"};
  for (Node group : groups.Find("groups").elements()) {
    const std::string_view name = group.Find("name").String();
    for (Node version : group.Find("versions").elements()) {
      const std::string_view version_name = version.Find("version").String();
      if (IsRead(name, version_name) && paths.size() < kMostPaths)
        paths.push_back(StrCat("/apis/", name, "/", version_name));
    }
  }
  return paths;
}

void ServedKinds::AddResources(Node document) {
  const std::string_view api_version = document.Find("groupVersion").String();
  const size_t slash = api_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  const std::string_view version =
      slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  if (!IsRead(group, version)) return;
  for (Node resource : document.Find("resources").elements())
    discovered_[NameOf(resource.Find("name").String(), group)].emplace(version);
}

// A definition that is not accepted serves nothing.
void ServedKinds::SetDefinition(Node definition) {
  std::string name = NameOfDefinition(definition);
  if (!IsRead(name)) return;
  Versions versions;
  for (Node version : definition.Find("spec").Find("versions").elements()) {
    if (version.Find("served").Bool() && IsEstablished(definition))
      versions.emplace(version.Find("name").String());
  }
  seen_.insert(name);
  defined_[std::move(name)] = std::move(versions);
}

void ServedKinds::RemoveDefinition(Node definition) {
  const std::string name = NameOfDefinition(definition);
  if (!defined_.contains(name)) return;
  defined_[name].clear();
  seen_.erase(name);
}

void ServedKinds::EndDefinitions() {
  for (auto& [name, versions] : defined_) {
    if (!seen_.contains(name)) versions.clear();
  }
}

std::string ServedKinds::ApiVersionOf(const KindInfo& kind) const {
  const std::string name = NameOf(kind.plural, kind.group);
  auto versions = defined_.find(name);
  if (versions == defined_.end()) {
    versions = discovered_.find(name);
    if (versions == discovered_.end()) return "";
  }
  for (const std::string_view version : kind.versions) {
    if (versions->second.contains(version))
      return kind.group.empty() ? std::string(version) : StrCat(kind.group, "/", version);
  }
  return "";
}

std::string CollectionPath(const KindInfo& kind, std::string_view api_version, std::string_view ns) {
  const bool core = api_version.find('/') == std::string_view::npos;
  return StrCat(core ? "/api/" : "/apis/", api_version, "/",
                ns.empty() || !kind.namespaced ? "" : "namespaces/", ns.empty() || !kind.namespaced ? "" : ns,
                ns.empty() || !kind.namespaced ? "" : "/", kind.plural);
}

const config::JsonFields& DefinitionFields() {
  static const auto* fields = [] {
    auto* made = new config::JsonFields;
    made->Only({"metadata", "name"}).Only({"metadata", "resourceVersion"});
    made->Only({"spec", "versions", "name"}).Only({"spec", "versions", "served"});
    made->Only({"status", "conditions", "type"}).Only({"status", "conditions", "status"});
    made->rest = config::JsonFields::Rest::kRead;  // of a watch's errors the code and the message
    return made;
  }();
  return *fields;
}

}  // namespace fairlead::kube
