#include "gateway_api/conversion/route.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "config/derived_object.h"
#include "config/host_name.h"
#include "config/read/tree_object.h"
#include "gateway_api/conversion/derived_object.h"
#include "gateway_api/conversion/route_matches.h"
#include "gateway_api/conversion/rules.h"
#include "gateway_api/names.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using config::ObjectKey;
using config::SpecOf;
using Hosts = std::vector<std::string>;

// Whether what it routes has a host: connections and datagrams have none before they are taken apart.
bool HasHosts(Kind kind) { return kind != Kind::kTcpRoute && kind != Kind::kUdpRoute; }

bool IsHttp(Kind kind) { return kind == Kind::kHttpRoute || kind == Kind::kGrpcRoute; }

Hosts RouteHosts(const ConfigObject& route) {
  Hosts hosts;
  if (HasHosts(route.kind())) {
    for (Node host : SpecOf(route).Find("hostnames").elements()) hosts.emplace_back(host.text());
  }
  if (hosts.empty()) hosts.emplace_back("*");
  return hosts;
}

// Of the name of a derived object.
std::string_view ProtocolPart(Kind kind) {
  switch (kind) {
    case Kind::kTcpRoute:
      return "~tcp~";
    case Kind::kTlsRoute:
      return "~tls~";
    case Kind::kUdpRoute:
      return "~udp~";
    default:
      return "~";
  }
}

// Of a Service or ServiceEntry that is a parent.
Hosts MeshHosts(const Attachment& attachment, Lookups& lookups) {
  const ObjectKey& key = attachment.parent_key;
  if (key.kind == Kind::kService) return {lookups.ServiceHost(key.name, key.ns)};
  const ConfigPtr entry = lookups.Find(key.kind, key.ns, key.name);
  if (entry == nullptr) return {};
  const auto& hosts = entry->Spec<net::ServiceEntry>().hosts();
  return {hosts.begin(), hosts.end()};
}

// Hosts that both cover (Istio: Names.Intersection).
Hosts Intersection(const Hosts& hosts, const std::string& other) {
  Hosts both;
  const auto add = [&both](const std::string& host) {
    if (std::find(both.begin(), both.end(), host) == both.end()) both.push_back(host);
  };
  for (const std::string& host : hosts) {
    if (config::HostSubsetOf(host, other)) {
      add(host);
    } else if (config::HostSubsetOf(other, host)) {
      add(other);
    }
  }
  return both;
}

void SetServerNames(const Hosts& hosts, net::TLSMatchAttributes* match) {
  match->clear_sni_hosts();
  for (const std::string& host : hosts) match->add_sni_hosts(host);
}

Hosts ServerNames(const net::TLSMatchAttributes& match) {
  return {match.sni_hosts().begin(), match.sni_hosts().end()};
}

// Every rule of one list for a port; a rule without a match gets one.
template <typename Rules>
void SetPort(uint32_t port, Rules* rules) {
  for (auto& rule : *rules) {
    for (auto& match : *rule.mutable_match()) match.set_port(port);
    if (rule.match_size() == 0) rule.add_match()->set_port(port);
  }
}

// In the mesh, a TLSRoute without hosts is for the hosts of its parent.
void FitTlsToMesh(const Hosts& hosts, uint32_t port, net::VirtualService* rules) {
  for (net::TLSRoute& rule : *rules->mutable_tls()) {
    if (rule.match_size() == 1 && ServerNames(rule.match(0)) == Hosts{"*"})
      SetServerNames(hosts, rule.mutable_match(0));
    for (net::TLSMatchAttributes& match : *rule.mutable_match()) {
      if (port != 0) match.set_port(port);
    }
  }
}

// Server names that do not go with the one host are left out.
void FitTlsToHost(const std::string& host, net::VirtualService* rules) {
  for (net::TLSRoute& rule : *rules->mutable_tls()) {
    if (rule.match_size() != 1 || rule.match(0).sni_hosts_size() < 2) continue;
    Hosts fitting = ServerNames(rule.match(0));
    std::erase_if(fitting, [&host](const std::string& name) { return !config::HostsMatch(host, name); });
    SetServerNames(fitting, rule.mutable_match(0));
  }
}

// At a gateway, a rule is for what its server names and the listener's host have in common.
void FitTlsToListener(const std::string& hostname, net::VirtualService* rules) {
  google::protobuf::RepeatedPtrField<net::TLSRoute> fitting;
  for (net::TLSRoute& rule : *rules->mutable_tls()) {
    bool any = rule.match_size() == 0;
    for (net::TLSMatchAttributes& match : *rule.mutable_match()) {
      SetServerNames(Intersection(ServerNames(match), hostname), &match);
      any = any || match.sni_hosts_size() > 0;
    }
    if (any) fitting.Add()->Swap(&rule);
  }
  rules->mutable_tls()->Swap(&fitting);
}

// Rules of a route, for the mesh or for gateways, with the error that came of them.
struct Rules {
  net::VirtualService spec;
  MaybeError error;
};

class PieceMaker {
 public:
  PieceMaker(const ConfigPtr& route, std::shared_ptr<const PickersByRule> pickers, Lookups& lookups)
      : route_(route), pickers_(std::move(pickers)), world_(lookups) {}

  void Add(const Attachment& attachment, const Rules& rules) {
    net::VirtualService spec = rules.spec;
    Hosts hosts = attachment.is_mesh() ? FitToMesh(attachment, &spec) : FitToListener(attachment, &spec);
    if (IsHttp(route_->kind()) && spec.http_size() == 0) return;
    SortByPrecedence(spec.mutable_http());
    spec.add_gateways(attachment.parent.internal_name);
    for (const std::string& host : hosts) {
      if (IsHttp(route_->kind()) && !attachment.OwnsHost(host)) continue;
      AddPiece(attachment, host, spec);
    }
  }
  std::vector<RoutePiecePtr> Take() { return std::move(pieces_); }

 private:
  uint32_t PortOf(const Attachment& attachment) const {
    const Node reference = SpecOf(*route_).Find("parentRefs").At(attachment.reference);
    return static_cast<uint32_t>(reference.Find("port").Unsigned().value_or(0));
  }

  Hosts FitToMesh(const Attachment& attachment, net::VirtualService* spec) {
    Hosts hosts = MeshHosts(attachment, world_);
    const uint32_t port = PortOf(attachment);
    if (port != 0) {
      SetPort(port, spec->mutable_http());
      SetPort(port, spec->mutable_tcp());
    }
    FitTlsToMesh(hosts, port, spec);
    return hosts;
  }

  Hosts FitToListener(const Attachment& attachment, net::VirtualService* spec) {
    const std::string& hostname = attachment.parent.hostname;
    if (route_->kind() != Kind::kTlsRoute || hostname.empty()) return RouteHosts(*route_);
    FitTlsToListener(hostname, spec);
    return Intersection(RouteHosts(*route_), hostname);
  }

  void AddPiece(const Attachment& attachment, const std::string& host, net::VirtualService spec) {
    spec.add_hosts(host);
    if (route_->kind() == Kind::kTlsRoute && attachment.is_mesh()) FitTlsToHost(host, &spec);
    auto piece = std::make_shared<RoutePiece>();
    const std::string_view protocol = ProtocolPart(route_->kind());
    piece->name = StrCat(route_->name().str(), protocol, pieces_.size(), "~", kDerivedName);
    piece->key = IsHttp(route_->kind()) ? StrCat(GroupOf(attachment), "/", host)
                                        : StrCat(route_->ns().str(), "/", piece->name);
    piece->route = route_;
    piece->pickers = pickers_;
    piece->spec = std::make_shared<const net::VirtualService>(std::move(spec));
    pieces_.push_back(std::move(piece));
  }

  // What routes of one host have in common that are merged: the listener, or namespace and port.
  std::string GroupOf(const Attachment& attachment) const {
    if (!attachment.is_mesh()) return attachment.parent.internal_name;
    const uint32_t port = PortOf(attachment);
    return port == 0 ? route_->ns().str() : StrCat(route_->ns().str(), "/", port);
  }

  const ConfigPtr& route_;
  const std::shared_ptr<const PickersByRule> pickers_;
  Lookups& world_;
  std::vector<RoutePiecePtr> pieces_;
};

std::vector<std::pair<ObjectKey, ObjectKey>> NamedBackends(const ConfigObject& route) {
  const GroupKind gateway_kind = GroupKindOf(Kind::kKubernetesGateway);
  std::set<ObjectKey> gateways, backends;
  for (Node parent : SpecOf(route).Find("parentRefs").elements()) {
    if (ReferredKind(parent, gateway_kind) != gateway_kind) continue;
    gateways.insert(
        {Kind::kKubernetesGateway, ReferredNamespace(parent, route.ns()), parent.Find("name").text()});
  }
  for (Node rule : SpecOf(route).Find("rules").elements()) {
    for (Node backend : rule.Find("backendRefs").elements()) {
      const auto kind = KnownKind(ReferredKind(backend, GroupKindOf(Kind::kService)));
      if (kind) backends.insert({*kind, ReferredNamespace(backend, route.ns()), backend.Find("name").text()});
    }
  }
  std::vector<std::pair<ObjectKey, ObjectKey>> named;
  for (const ObjectKey& gateway : gateways) {
    for (const ObjectKey& backend : backends) named.emplace_back(gateway, backend);
  }
  return named;
}

Rules ConvertFor(bool mesh, const ConfigObject& route, Lookups& lookups, PickersByRule* pickers) {
  Rules rules;
  rules.error = ConvertRules({route, !mesh, lookups}, &rules.spec, pickers);
  return rules;
}

// See kEndpointPickersAnnotation. Of two rules of one name the younger route's counts.
std::string PickersText(const std::vector<RoutePiecePtr>& pieces) {
  PickersByRule all;
  for (const RoutePiecePtr& piece : pieces) {
    for (const net::HTTPRoute& rule : piece->spec->http()) {
      const auto picker = piece->pickers->find(rule.name());
      if (picker != piece->pickers->end()) all.insert_or_assign(picker->first, picker->second);
    }
  }
  std::vector<std::string> lines;
  lines.reserve(all.size());
  for (const auto& [rule, picker] : all)
    lines.push_back(
        StrCat(rule, " ", picker.host, " ", picker.port, " ", picker.fails_open ? "open" : "closed"));
  return Join(lines, "\n");
}

}  // namespace

bool IsRoute(Kind kind) {
  return IsHttp(kind) || kind == Kind::kTcpRoute || kind == Kind::kTlsRoute || kind == Kind::kUdpRoute;
}

MaybeError ConvertRules(const RouteView& view, net::VirtualService* out, PickersByRule* pickers) {
  return IsHttp(view.route.kind()) ? ConvertHttpRules(view, out, pickers) : ConvertLayer4Rules(view, out);
}

RouteConversion ConvertRoute(const ConfigPtr& route, Lookups& lookups) {
  RouteConversion conversion;
  conversion.object = route;
  conversion.attachments = FindAttachments(*route, lookups);
  conversion.named = NamedBackends(*route);
  conversion.pools = NamedPools(*route);
  std::optional<Rules> mesh, gateway;
  auto pickers = std::make_shared<PickersByRule>();
  for (const Attachment& attachment : conversion.attachments) {
    std::optional<Rules>& rules = attachment.is_mesh() ? mesh : gateway;
    if (!rules) rules = ConvertFor(attachment.is_mesh(), *route, lookups, pickers.get());
  }
  if (mesh) conversion.mesh_error = mesh->error;
  if (gateway) conversion.gateway_error = gateway->error;
  std::vector<const Attachment*> accepted;
  for (const Attachment& attachment : conversion.attachments) {
    if (attachment.accepted()) accepted.push_back(&attachment);
  }
  std::stable_sort(accepted.begin(), accepted.end(), [](const Attachment* a, const Attachment* b) {
    return a->parent.internal_name < b->parent.internal_name;
  });
  PieceMaker maker(route, pickers, lookups);
  for (const Attachment* attachment : accepted)
    maker.Add(*attachment, attachment->is_mesh() ? *mesh : *gateway);
  conversion.pieces = maker.Take();
  return conversion;
}

ConfigPtr MergePieces(std::vector<RoutePiecePtr> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const RoutePiecePtr& a, const RoutePiecePtr& b) {
    const config::ObjectMeta &x = a->route->meta(), &y = b->route->meta();
    return std::tie(x.creation_time, x.ns, a->name) < std::tie(y.creation_time, y.ns, b->name);
  });
  const RoutePiece& first = *pieces.front();
  const ConfigObject& oldest = *first.route;
  std::vector<std::string> parents;
  net::VirtualService spec;
  for (const RoutePiecePtr& piece : pieces) {
    const ConfigObject& route = *piece->route;
    parents.push_back(
        StrCat(config::InfoOf(route.kind()).name, "/", route.name().str(), ".", route.ns().str()));
    if (piece == pieces.front()) {
      spec = *piece->spec;
    } else {
      spec.mutable_http()->MergeFrom(piece->spec->http());
    }
  }
  if (pieces.size() > 1) SortByPrecedence(spec.mutable_http());
  LabelMap annotations;
  if (std::string pickers = PickersText(pieces); !pickers.empty())
    annotations.emplace(config::kEndpointPickersAnnotation, std::move(pickers));
  annotations.emplace(config::kParentsAnnotation, Join(parents, ","));
  annotations.emplace(config::kRouteSemanticsAnnotation, config::kGatewaySemantics);
  const std::string name = IsHttp(oldest.kind()) ? ReplaceAll(first.key, "/", "~") : first.name;
  return MakeDerived(Kind::kVirtualService, oldest.ns(), name, oldest, std::move(annotations),
                     std::move(spec));
}

}  // namespace fairlead::gateway_api
