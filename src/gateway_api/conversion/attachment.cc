#include "gateway_api/conversion/attachment.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/strings.h"
#include "config/host_name.h"
#include "gateway_api/group_kind.h"
#include "gateway_api/names.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Kind;
using config::Node;

constexpr Kind kMeshKinds[] = {Kind::kHttpRoute, Kind::kGrpcRoute, Kind::kTcpRoute, Kind::kTlsRoute};

const ParentsPtr& MeshParents() {
  static const ParentsPtr parents = [] {
    Parent mesh;
    mesh.internal_name = kMeshGateway;
    for (Kind kind : kMeshKinds) mesh.allowed_kinds.push_back(GroupKindOf(kind));
    return std::make_shared<const Parents>(1, std::move(mesh));
  }();
  return parents;
}

bool MayBeParent(Kind kind) {
  return kind == Kind::kKubernetesGateway || kind == Kind::kListenerSet || kind == Kind::kService ||
         kind == Kind::kServiceEntry;
}

void Refuse(Refusal refusal, std::string message, Attachment* attachment) {
  attachment->refusal = refusal;
  attachment->message = std::move(message);
}

// "namespace/host" in two; without a namespace it is for all.
std::pair<std::string_view, std::string_view> SplitHost(std::string_view host) {
  const size_t slash = host.find('/');
  if (slash == std::string_view::npos) return {"*", host};
  return {host.substr(0, slash), host.substr(slash + 1)};
}

void CheckHosts(Node hostnames, std::string_view route_ns, Attachment* attachment) {
  const Parent& parent = attachment->parent;
  if (parent.hosts.empty()) return;
  std::vector<std::string_view> hosts;
  for (Node host : hostnames.elements()) hosts.push_back(host.text());
  if (hosts.empty()) hosts.push_back("*");
  bool host_matched = false;
  for (std::string_view host : hosts) {
    for (const std::string& allowed : parent.hosts) {
      const auto [ns, pattern] = SplitHost(allowed);
      const bool matches = config::HostsMatch(pattern, host);
      if (matches && (ns == "*" || ns == route_ns)) return;
      host_matched = host_matched || matches;
    }
  }
  if (host_matched) {
    Refuse(Refusal::kNotAllowed,
           StrCat("hostnames matched parent hostname \"", parent.hostname, "\", but namespace \"", route_ns,
                  "\" is not allowed by the parent"),
           attachment);
  } else {
    Refuse(Refusal::kNoHostname, StrCat("no hostnames matched parent hostname \"", parent.hostname, "\""),
           attachment);
  }
}

void CheckListener(const ConfigObject& route, Node reference, Attachment* attachment) {
  const int64_t port = reference.Find("port").Int().value_or(0);
  const std::string_view section = reference.Find("sectionName").text();
  if (port != 0 && port != attachment->parent.port)
    return Refuse(Refusal::kNoMatchingParent, StrCat("port ", port, " not found"), attachment);
  if (!section.empty() && section != attachment->parent.section) {
    return Refuse(Refusal::kNoMatchingParent, StrCat("sectionName \"", section, "\" not found"), attachment);
  }
  CheckHosts(route.Spec<config::Tree>().Find("spec").Find("hostnames"), route.ns(), attachment);
}

void CheckKind(Kind kind, Attachment* attachment) {
  const auto& allowed = attachment->parent.allowed_kinds;
  if (std::find(allowed.begin(), allowed.end(), GroupKindOf(kind)) != allowed.end()) return;
  const config::KindInfo& info = config::InfoOf(kind);
  const bool udp_in_mesh = kind == Kind::kUdpRoute && attachment->is_mesh();
  Refuse(Refusal::kNotAllowed,
         StrCat("kind ", info.group, "/", info.versions.front(), "/", info.name, " is not allowed",
                udp_in_mesh ? ": UDP is routed at gateways alone" : ""),
         attachment);
}

void Check(const ConfigObject& route, Node reference, Lookups& lookups, Attachment* attachment) {
  const config::ObjectKey& key = attachment->parent_key;
  if (!attachment->is_mesh()) {
    CheckListener(route, reference, attachment);
  } else if (!lookups.Has(key.kind, key.ns, key.name)) {
    Refuse(Refusal::kNoMatchingParent,
           StrCat("parent service", key.kind == Kind::kServiceEntry ? " entry" : "", ": \"", key.name.str(),
                  "\" not found"),
           attachment);
  }
  if (attachment->accepted()) CheckKind(route.kind(), attachment);
}

std::vector<std::string> OtherHosts(const Parents& parents, const Parent& parent) {
  std::set<std::string> hosts;
  for (const Parent& other : parents) {
    if (&other != &parent && other.port == parent.port && other.protocol == parent.protocol &&
        other.hostname != parent.hostname)
      hosts.insert(other.hostname);
  }
  return {hosts.begin(), hosts.end()};
}

}  // namespace

std::string_view ReasonOf(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "Accepted";
    case Refusal::kNotAllowed:
      return "NotAllowedByListeners";
    case Refusal::kNoHostname:
      return "NoMatchingListenerHostname";
    case Refusal::kNoMatchingParent:
      return "NoMatchingParent";
  }
  return "";
}

bool Attachment::is_mesh() const { return parent.internal_name == kMeshGateway; }

bool Attachment::OwnsHost(std::string_view host) const {
  const std::string& own = parent.hostname;
  // Only wildcards can be in another listener's way.
  if (!own.empty() && !config::IsWildcard(own)) return true;
  if (!own.empty() && !config::HostsMatch(host, own)) return false;
  return std::none_of(others.begin(), others.end(), [&](const std::string& other) {
    return own.size() <= other.size() && config::HostSubsetOf(host, other);
  });
}

std::string ReferenceText(Node reference, std::string_view own_ns) {
  const GroupKind kind = ReferredKind(reference, GroupKindOf(Kind::kKubernetesGateway));
  return StrCat(kind.group, "/", kind.kind, "/", reference.Find("name").text(), "/",
                reference.Find("sectionName").text(), "/", reference.Find("port").Int().value_or(0), ".",
                ReferredNamespace(reference, own_ns));
}

std::vector<Attachment> FindAttachments(const ConfigObject& route, Lookups& lookups) {
  std::vector<Attachment> found;
  size_t place = 0;
  for (Node reference : route.Spec<config::Tree>().Find("spec").Find("parentRefs").elements()) {
    const size_t number = place++;
    const auto kind = KnownKind(ReferredKind(reference, GroupKindOf(Kind::kKubernetesGateway)));
    if (!kind || !MayBeParent(*kind)) continue;
    const std::string_view name = reference.Find("name").text();
    const std::string_view ns = ReferredNamespace(reference, route.ns());
    const bool of_mesh = *kind == Kind::kService || *kind == Kind::kServiceEntry;
    const ParentsPtr parents = of_mesh ? MeshParents() : lookups.ParentsOf(*kind, ns, name);
    if (parents == nullptr) continue;
    for (const Parent& parent : *parents) {
      Attachment& attachment = found.emplace_back();
      attachment.reference = number;
      attachment.reference_text = ReferenceText(reference, route.ns());
      attachment.parent_key = {*kind, ns, name};
      attachment.parent = parent;
      attachment.others = OtherHosts(*parents, parent);
      Check(route, reference, lookups, &attachment);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Attachment& a, const Attachment& b) {
    return a.reference_text < b.reference_text;
  });
  return found;
}

}  // namespace fairlead::gateway_api
