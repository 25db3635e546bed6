#include <string>
#include <utility>

#include "config/tree.h"
#include "gateway_api/conversion/rules.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::Kind;
using config::Node;
using Destinations = google::protobuf::RepeatedPtrField<net::RouteDestination>;

// Without a backend that has a share connections are refused: they go to a cluster that is nowhere.
void SetNowhere(Destinations* out) {
  net::Destination* destination = out->Add()->mutable_destination();
  destination->set_host("internal.cluster.local");
  destination->set_subset("zero-weight");
  destination->mutable_port()->set_number(65535);
}

struct RuleErrors {
  MaybeError soft, fatal;
};

RuleErrors SetDestinations(const RouteView& view, Node rule, Destinations* out) {
  int64_t total = 0;
  const auto backends = WeightedBackends(rule.Find("backendRefs"), &total);
  RuleErrors errors;
  if (total == 0) {
    SetNowhere(out);
    return errors;
  }
  for (const WeightedBackend& one : backends) {
    const Backend backend = ResolveBackend(view, one.reference);
    if (backend.error) (backend.fatal ? errors.fatal : errors.soft) = backend.error;
    if (backend.fatal) return errors;
    net::RouteDestination* destination = out->Add();
    destination->set_weight(one.weight);
    destination->mutable_destination()->set_host(backend.host);
    if (!backend.host.empty()) destination->mutable_destination()->mutable_port()->set_number(backend.port);
  }
  return errors;
}

// A TLSRoute's rule matches by server name; one that leads nowhere has no match at all.
void SetServerNames(Node hostnames, net::TLSRoute* out) {
  if (out->route_size() == 1 && out->route(0).destination().subset() == "zero-weight") return;
  net::TLSMatchAttributes* match = out->add_match();
  for (Node host : hostnames.elements()) match->add_sni_hosts(std::string(host.text()));
  if (match->sni_hosts_size() == 0) match->add_sni_hosts("*");
}

}  // namespace

MaybeError ConvertLayer4Rules(const RouteView& view, net::VirtualService* out) {
  const bool tls = view.route.kind() == Kind::kTlsRoute;
  const Node spec = view.route.Spec<config::Tree>().Find("spec");
  MaybeError last;
  for (Node rule : spec.Find("rules").elements()) {
    RuleErrors errors =
        SetDestinations(view, rule, tls ? out->add_tls()->mutable_route() : out->add_tcp()->mutable_route());
    if (errors.fatal) {
      out->clear_tls();
      out->clear_tcp();
      return errors.fatal;
    }
    if (tls) SetServerNames(spec.Find("hostnames"), out->mutable_tls(out->tls_size() - 1));
    if (errors.soft) last = std::move(errors.soft);
  }
  return last;
}

}  // namespace fairlead::gateway_api
